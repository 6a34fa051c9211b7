//! Faults in the file of an air: problem, place and remedy.
#![allow(missing_docs, reason = "names and messages say it")]

use std::fmt;

use takt_toml::FilePlace;

use crate::text::SpecError;

/// The file is no air. The message says what, [`Self::fix`] what would be right, [`Self::place`] where.
#[derive(Clone, Debug, PartialEq)]
pub struct AirError {
    pub problem: Box<Problem>,
    pub place: FilePlace,
}

impl AirError {
    /// The fix.
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

/// Everything that can be wrong with the file of an air.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// As any file can be wrong.
    #[error(transparent)]
    File(#[from] takt_toml::Problem),
    #[error("two radios have the same {what}, {value}")]
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
    /// A key that only the other model has.
    #[error("an {model} has no `{key}`")]
    Unfit { key: String, model: &'static str },
    /// The text of a source, a sink or a fault.
    #[error("the value of `{key}` is wrong")]
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
            Problem::File(problem) => problem.fix(),
            Problem::Duplicate { what, .. } => format!("give each radio its own {what}"),
            Problem::TwoLinks { .. } => "make one a tap of the other".to_owned(),
            Problem::NoRadio { nearest, .. } => or(nearest, "add a [[radio]] with that `name`".to_owned()),
            Problem::NoChannel { channels: 1, .. } => "use 0, or the name alone".to_owned(),
            Problem::NoChannel { .. } => "use 0 for slot A or 1 for slot B".to_owned(),
            Problem::Unfit { key, .. } => format!("remove `{key}`"),
            Problem::Spec { key, source } => match source.instead() {
                // One of a list.
                Some(text) if *key == "faults" => format!("write \"{text}\""),
                Some(text) => format!("set {key} = \"{text}\""),
                None => source.fix(),
            },
        }
    }
}
