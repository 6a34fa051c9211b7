//! What is wrong with the file of an air, where, and what would be right.
#![allow(missing_docs, reason = "names and messages say it")]

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::text::SpecError;

/// The file is no air. The message says what, [`Self::fix`] what would be right, [`Self::place`] where.
#[derive(Clone, Debug, PartialEq)]
pub struct AirError {
    pub problem: Box<Problem>,
    pub place: Place,
}

impl AirError {
    /// What would be right.
    #[must_use]
    pub fn fix(&self) -> String {
        self.problem.fix()
    }
}

impl fmt::Display for AirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

/// The problem speaks through this error; its cause speaks for itself.
impl std::error::Error for AirError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.problem.source()
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: String,
    pub text: Arc<str>,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// From 1.
    pub line: usize,
    /// Characters, from 1.
    pub column: usize,
}

impl Place {
    /// Where these bytes of the text are. A parser may point behind the end, or into a character: that is cut off.
    pub(super) fn new(file: &str, text: &str, span: Range<usize>) -> Place {
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let (start, end) = (floor(span.start), floor(span.end.max(span.start)));
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Place { file: file.to_owned(), text: text.into(), span: start..end, line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Everything that can be wrong with the file of an air.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is no TOML.
    #[error("no TOML: {message}")]
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
    /// A value is of the wrong type or out of range.
    #[error("`{key}` can't be {got}")]
    Value {
        key: String,
        got: String,
        /// What can.
        expected: String,
    },
    #[error("{count} {what}, and at most {max} are taken")]
    TooMany { what: &'static str, count: usize, max: usize },
    /// Two keys that say the same.
    #[error("{of} has `{first}` and `{second}`")]
    Both { of: String, first: &'static str, second: &'static str },
    #[error("two radios have the {what} {value}")]
    Duplicate { what: &'static str, value: String },
    #[error("two links lead from {from} to {to}")]
    TwoLinks { from: String, to: String },
    #[error("no radio is called `{name}`")]
    NoRadio {
        name: String,
        /// The radio meant, if one is near.
        nearest: Option<String>,
    },
    #[error("`{radio}`, an {model}, has no channel {channel}")]
    NoChannel { radio: String, model: &'static str, channel: String, channels: usize },
    /// What only the other model has.
    #[error("an {model} has no `{key}`")]
    Unfit { key: String, model: &'static str },
    /// The text of a source, a sink or a fault.
    #[error("`{key}`")]
    Spec {
        key: &'static str,
        #[source]
        source: SpecError,
    },
}

impl Problem {
    fn fix(&self) -> String {
        let or = |nearest: &Option<String>, otherwise: String| match nearest {
            Some(near) => format!("did you mean `{near}`?"),
            None => otherwise,
        };
        match self {
            Problem::Toml { .. } => "mend the syntax: https://toml.io".to_owned(),
            Problem::Key { nearest, known, .. } => or(nearest, format!("there are {}", known.join(", "))),
            Problem::NoKey { key, .. } => format!("add `{key}`"),
            Problem::Value { expected, .. } => expected.clone(),
            Problem::TooMany { max, .. } => format!("at most {max}"),
            Problem::Both { .. } => "remove one of them".to_owned(),
            Problem::Duplicate { what, .. } => format!("each has its own {what}"),
            Problem::TwoLinks { .. } => "make one a tap of the other".to_owned(),
            Problem::NoRadio { nearest, .. } => or(nearest, "add a [[radio]] with that `name`".to_owned()),
            Problem::NoChannel { channels: 1, .. } => "0, or the name alone".to_owned(),
            Problem::NoChannel { .. } => "0 for slot A or 1 for slot B".to_owned(),
            Problem::Unfit { key, .. } => format!("remove `{key}`"),
            Problem::Spec { key, source } => match &source.meant {
                Some(meant) => {
                    let SpecError { text, at, .. } = source;
                    let (before, after) = (text.get(..at.start), text.get(at.end..));
                    format!("{key} = \"{}{meant}{}\"", before.unwrap_or(""), after.unwrap_or(""))
                }
                None => format!("give {} there", source.expected),
            },
        }
    }
}
