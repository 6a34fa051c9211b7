//! Faults of a file as a file, and their remedies.

use std::ops::Range;

/// Fault of any file, whatever it is about.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// It is no TOML.
    #[error("not valid TOML: {message}")]
    Toml { message: String },
    /// There is no such key.
    #[error("unknown key `{key}` in {of}")]
    Key {
        of: String,
        key: String,
        /// The key meant, if one is near.
        nearest: Option<String>,
        known: Vec<String>,
    },
    /// A key must be given and is not.
    #[error("{of} has no `{key}`")]
    NoKey { of: String, key: &'static str },
    /// Two keys that exclude each other.
    #[error("{of} has both `{first}` and `{second}`")]
    Both { of: String, first: &'static str, second: &'static str },
    /// A value is of the wrong type or out of range.
    #[error("`{key}` can't be {got}")]
    Value {
        key: String,
        got: String,
        /// The possible contents.
        expected: String,
    },
    /// More than is taken.
    #[error("{count} {what} are too many; at most {max} are allowed")]
    TooMany { what: &'static str, count: u64, max: u64 },
}

impl Problem {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            Problem::Toml { .. } => "fix the syntax: https://toml.io".to_owned(),
            Problem::Key { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            Problem::Key { known, .. } => format!("use one of: {}", known.join(", ")),
            Problem::NoKey { key, .. } => format!("add `{key}`"),
            Problem::Both { .. } => "remove one of them".to_owned(),
            Problem::Value { expected, .. } => format!("give {expected}"),
            Problem::TooMany { max, .. } => format!("give at most {max}"),
        }
    }
}

/// The fault, and which bytes of the text it is about; the file's name comes later.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong<P> {
    pub problem: Box<P>,
    pub span: Range<usize>,
}

impl<P> Wrong<P> {
    /// A problem there.
    pub fn new(span: Range<usize>, problem: impl Into<P>) -> Wrong<P> {
        Wrong { problem: Box::new(problem.into()), span }
    }
}
