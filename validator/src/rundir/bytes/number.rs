//! Numbers: integers of any length, told apart from doubles, and printed as the protocol prints them.

/// A number, with the difference between integers and others kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// An integer that counts and amounts can hold.
    Int(i128),
    /// A longer integer, as its digits: kept for hashing, never calculated with.
    Long(String),
    /// A finite double.
    Double(f64),
}

/// Most digits of an integer: the reference's reader stops there.
pub(super) const DIGITS_MAX: usize = 4300;

impl Number {
    /// The number as a double; infinite if it is longer than doubles reach.
    pub fn double(&self) -> Option<f64> {
        match self {
            Self::Int(number) => number.to_string().parse().ok(),
            Self::Long(digits) => digits.parse().ok(),
            Self::Double(double) => Some(*double),
        }
    }

    /// Whether two numbers are one, whatever their notation.
    #[expect(clippy::float_cmp, reason = "the protocol compares doubles exactly")]
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Double(left), Self::Double(right)) => left == right,
            (Self::Double(double), integer) | (integer, Self::Double(double)) => {
                // A whole double prints its exact digits, however long.
                let digits = format!("{double:.0}");
                let digits = if digits == "-0" { "0" } else { &digits };
                double.fract() == 0.0 && digits == integer.print()
            }
            (left, right) => left == right,
        }
    }

    /// The canonical text.
    pub fn print(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Long(digits) => digits.clone(),
            Self::Double(double) => python_float(*double),
        }
    }
}

/// Prints a finite double as the shortest decimal that reads back, in the notation of C.3: positional from
/// 1e-4 to below 1e16, else scientific with a sign and at least two digits of exponent.
pub fn python_float(double: f64) -> String {
    let shortest = format!("{double:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    if !(-4..16).contains(&exponent) {
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{direction}{:02}", exponent.unsigned_abs());
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let places = usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
    if exponent < 0 {
        let zeros = "0".repeat(places.saturating_sub(1));
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole: String = digits.chars().chain(std::iter::repeat('0')).take(places + 1).collect();
    let rest: String = digits.chars().skip(places + 1).collect();
    let rest = if rest.is_empty() { "0" } else { &rest };
    format!("{sign}{whole}.{rest}")
}
