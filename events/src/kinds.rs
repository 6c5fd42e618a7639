//! The `kinds!` macro: one line an event kind, and what a kind's table row says.

/// What the table says of one event kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The wire name, `segment.past-tense`.
    pub name: &'static str,
    /// The version of the payload's type.
    pub version: u64,
    /// The domain that owns the kind.
    pub domain: &'static str,
    /// One line on what it records.
    pub about: &'static str,
    /// The roles of which the signing key must hold one. `@field` stands for the agent of the stage that
    /// the payload's `field` names: `@stage` with `"stage":"verify"` is `verify-agent`.
    pub owners: &'static [&'static str],
    /// The code given to a key that holds none of them.
    pub owner_code: &'static str,
}

impl Kind {
    /// The payload field that names the stage whose agent owns the event, if ownership depends on one.
    pub fn stage_field(&self) -> Option<&'static str> {
        self.owners.iter().find_map(|owner| owner.strip_prefix('@'))
    }

    /// Decides whether a key with these roles may sign this kind; `stage` is the text under
    /// [`Kind::stage_field`].
    pub fn may_be_signed_by(&self, roles: &[crate::Role], stage: Option<&str>) -> bool {
        let holds = |wanted: &str| roles.iter().any(|role| role.as_str() == wanted);
        self.owners.iter().any(|owner| {
            if owner.starts_with('@') {
                stage.is_some_and(|stage| holds(&format!("{stage}-agent")))
            } else {
                holds(owner)
            }
        })
    }

    /// The owning roles for people: `orchestrator, or the agent of the payload's stage`.
    pub fn owners_text(&self) -> String {
        let each = |owner: &&str| match owner.strip_prefix('@') {
            None => (*owner).to_owned(),
            Some(field) => format!("the agent of the payload's `{field}`"),
        };
        self.owners.iter().map(each).collect::<Vec<_>>().join(", or ")
    }
}

/// Declares one domain's events: the variant and payload type, the wire name, its version, the roles that
/// may sign it and the code that others get.
///
/// Makes `enum Event`, `KINDS`, and on `Event`: `kind`, `read` (from JSON), `decode` and `encode`
/// (MessagePack), `to_json` and `schema`.
macro_rules! kinds {
    (
        $(#![$enum_doc:meta])*
        domain $domain:literal;
        $(
            #[doc = $about:literal]
            $variant:ident($payload:ty) = $name:literal v $version:literal
                by [$($owner:literal),+ $(,)?] else $owner_code:literal;
        )+
    ) => {
        $(#[$enum_doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event {
            $(#[doc = $about] $variant(Box<$payload>),)+
        }

        /// Every kind of this domain, in the order of its specification.
        pub static KINDS: &[$crate::Kind] = &[$($crate::Kind {
            name: $name,
            version: $version,
            domain: $domain,
            about: $about.trim_ascii(),
            owners: &[$($owner),+],
            owner_code: $owner_code,
        }),+];

        impl Event {
            /// The table row of this event's kind.
            pub fn kind(&self) -> &'static $crate::Kind {
                let name = match self { $(Self::$variant(_) => $name,)+ };
                KINDS.iter().find(|kind| kind.name == name).expect("the macro writes both")
            }

            /// Reads a payload from strict JSON; `None` if the kind is not of this domain.
            ///
            /// # Errors
            ///
            /// The shape codes of [`crate::json::Json::read`].
            pub fn read(
                name: &str,
                data: &$crate::json::Json,
            ) -> Option<Result<Self, $crate::Refusal>> {
                match name {
                    $($name => Some(data.read::<$payload>().map(|body| Self::$variant(Box::new(body)))),)+
                    _ => None,
                }
            }

            /// Reads a payload from its signed bytes; `None` if the kind is not of this domain.
            ///
            /// # Errors
            ///
            /// A sentence on the first field that does not fit.
            pub fn decode(name: &str, data: &[u8]) -> Option<Result<Self, String>> {
                match name {
                    $($name => Some(
                        rmp_serde::from_slice::<$payload>(data)
                            .map(|body| Self::$variant(Box::new(body)))
                            .map_err(|error| error.to_string()),
                    ),)+
                    _ => None,
                }
            }

            /// Encodes the payload in the strict profile.
            ///
            /// # Errors
            ///
            /// A payload nested too deep or with a forbidden character.
            pub fn encode(&self) -> Result<Vec<u8>, $crate::profile::ProfileError> {
                match self { $(Self::$variant(body) => $crate::profile::encode_typed(&**body),)+ }
            }

            /// The payload as JSON text, decimals as written.
            pub fn to_json(&self) -> Box<serde_json::value::RawValue> {
                let raw = match self { $(Self::$variant(body) => serde_json::value::to_raw_value(&**body),)+ };
                raw.expect("our payload types serialize")
            }

            /// The JSON Schema of a kind's payload; `None` if the kind is not of this domain.
            pub fn schema(name: &str) -> Option<schemars::Schema> {
                match name {
                    $($name => Some(schemars::schema_for!($payload)),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use kinds;
