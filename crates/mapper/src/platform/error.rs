//! Faults of a platform: problem, place and remedy.

use std::fmt;

use takt_base::Mistyped;
use takt_graph::FilePlace;

/// The platform is none as it stands. The message says what, [`Self::fix`] what would be right, [`Self::place`] where.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformError {
    pub problem: Box<PlatformProblem>,
    /// Its place; `None` for a platform that was not read from a file.
    pub place: Option<FilePlace>,
}

impl fmt::Display for PlatformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for PlatformError {}

impl PlatformError {
    #[must_use]
    pub fn fix(&self) -> String {
        self.problem.fix()
    }
}

/// Everything that can be wrong with a platform.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlatformProblem {
    /// A value is of another type than its key's, or a word that is none of those there are.
    #[error("{} is not allowed here", slip.found)]
    Mistyped {
        /// The contents that stand there, and those that could.
        slip: Mistyped,
    },
    /// It is no TOML, or a key is unknown or missing.
    #[error("{message}")]
    Toml { message: String },
    #[error("the platform has {count} {what}; at most {max} are allowed")]
    TooMany { what: &'static str, count: usize, max: usize },
    #[error("the platform has no cores")]
    Empty,
    #[error("`{name}` is not a valid name")]
    Name { name: String },
    #[error("{what} `{name}` is defined twice")]
    Duplicate { what: &'static str, name: String },
    #[error("no {what} is called `{name}`")]
    Unknown { what: &'static str, name: String, nearest: Option<String>, known: Vec<String> },
    #[error("`{key}` can't be {got}")]
    Value { key: &'static str, got: String, expected: &'static str },
    #[error("a link leads from node `{name}` to itself")]
    Loop { name: String },
}

impl PlatformProblem {
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            PlatformProblem::Mistyped { slip } => format!("give {}", slip.expected),
            PlatformProblem::Toml { .. } => "see docs/reference/platform.md for every key, with an example".to_owned(),
            PlatformProblem::TooMany { max, what, .. } => format!("give at most {max} {what}"),
            PlatformProblem::Empty => {
                "add a [[node]] with name = \"pc\" and cores = [{ class = \"zen5\", cpus = [0, 1] }]".to_owned()
            }
            PlatformProblem::Name { .. } => "give 1 to 64 letters, digits, `-` or `_`".to_owned(),
            PlatformProblem::Duplicate { what, .. } => format!("define each {what} only once"),
            PlatformProblem::Unknown { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            PlatformProblem::Unknown { known, .. } if known.is_empty() => {
                "remove it: the platform defines none".to_owned()
            }
            PlatformProblem::Unknown { known, .. } => format!("use one of: {}", known.join(", ")),
            PlatformProblem::Value { expected, .. } => format!("give {expected}"),
            PlatformProblem::Loop { .. } => {
                "link two different nodes; set `bytes_per_s` of the node for traffic between its own cores".to_owned()
            }
        }
    }
}
