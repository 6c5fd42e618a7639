//! Identifiers. One type each, so that none can stand in for another.

use std::fmt;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Position of an entry in the journal; the first is 0.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The position after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Declares a fixed-size identifier: bytes in the journal, lower-case hexadecimal in text.
macro_rules! bytes_id {
    ($(#[$doc:meta])* $name:ident, $len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $len]);

        impl $name {
            /// The value with every byte zero, which no digest takes in practice.
            pub const ZERO: Self = Self([0; $len]);

            /// Parses lower-case hexadecimal of exactly the right length.
            pub fn parse(text: &str) -> Option<Self> {
                let bytes = HEXLOWER.decode(text.as_bytes()).ok()?;
                Some(Self(bytes.try_into().ok()?))
            }

            /// Takes raw bytes of exactly the right length.
            pub fn from_slice(bytes: &[u8]) -> Option<Self> {
                Some(Self(bytes.try_into().ok()?))
            }

            /// The first eight hexadecimal digits, for people.
            pub fn short(&self) -> String {
                self.to_string().chars().take(8).collect()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&HEXLOWER.encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_bytes(&self.0)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = String::deserialize(deserializer)?;
                    Self::parse(&text).ok_or_else(|| {
                        de::Error::custom(format_args!(
                            concat!("expected {} hexadecimal digits, found `{}`"),
                            $len * 2,
                            text
                        ))
                    })
                } else {
                    let bytes = serde_bytes::ByteBuf::deserialize(deserializer)?;
                    Self::from_slice(&bytes).ok_or_else(|| {
                        de::Error::invalid_length(bytes.len(), &concat!($len, " bytes"))
                    })
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": format!("^[0-9a-f]{{{}}}$", $len * 2)
                })
            }
        }
    };
}

bytes_id!(
    /// Names an event: BLAKE3 of its body, in the context `rp 2026 event id v1`.
    EventId, 32);
bytes_id!(
    /// Names a public key: SHA-256 of `rp-key/1`, a line feed and the key.
    Kid, 32);
bytes_id!(
    /// An Ed25519 public key as it stands in the journal.
    PublicKey, 32);
bytes_id!(
    /// An Ed25519 signature as it stands in a payload.
    SignatureBytes, 64);
bytes_id!(
    /// A 32-byte digest: a request, a root, a leaf, cut bytes.
    Digest, 32);
bytes_id!(
    /// A caller's idempotency key, hashed to 16 bytes.
    Idem, 16);

impl Digest {
    /// BLAKE3 of some bytes.
    pub fn b3(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

/// Declares an ASCII identifier made by `parse` alone.
macro_rules! name_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Parses an identifier: 1 to 64 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
            ///
            /// # Errors
            ///
            /// The offending text with its code points, so that look-alikes can be told apart.
            pub fn parse(text: &str) -> Result<Self, String> {
                crate::text::identifier(text).map(|()| Self(text.to_owned()))
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(|why| de::Error::custom(crate::text::BadText(why)))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
                })
            }
        }
    };
}

name_id!(
    /// Names a key for people; unique in its journal.
    KeyName);
name_id!(
    /// Names a role that a key may hold.
    Role);
name_id!(
    /// Names a claim within its round: `C1`, `C4_v2`.
    ClaimId);
name_id!(
    /// Names a milestone within its round's plan: `M0`, `M1`.
    MilestoneId);
name_id!(
    /// Names an experiment run within its round: `A1`, `A1_t2`.
    RunId);
name_id!(
    /// Names a behavior within the program: `B1`.
    BehaviorId);
name_id!(
    /// Names a verify variant within its claim: `model-swap-llama32-3b`.
    VariantTag);
name_id!(
    /// Names a figure within its claim.
    FigureId);
name_id!(
    /// Names a constraint item within its round: `H1`, `N2`.
    ConstraintId);
