//! What is wrong with a platform, where, and what would be right.

use std::fmt;

use takt_base::Mistyped;
use takt_graph::Place;

/// The platform is none as it stands. The message says what, [`Self::fix`] what would be right, [`Self::place`] where.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformError {
    /// What is wrong.
    pub problem: Box<PlatformProblem>,
    /// Where; `None` for a platform that was not read from a file.
    pub place: Option<Place>,
}

impl fmt::Display for PlatformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for PlatformError {}

impl PlatformError {
    /// What would be right.
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
    #[error("{} can't stand here", slip.found)]
    Mistyped {
        /// What stands there, and what could.
        slip: Mistyped,
    },
    /// It is no TOML, or a key is unknown or missing.
    #[error("{message}")]
    Toml {
        /// What the parser says.
        message: String,
    },
    /// There is more of something than takt takes.
    #[error("{count} {what}, and at most {max} are taken")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// So many.
        count: usize,
        /// At most.
        max: usize,
    },
    /// There is no core.
    #[error("the platform has no cores")]
    Empty,
    /// A name is no name.
    #[error("`{name}` is no name")]
    Name {
        /// What stands there.
        name: String,
    },
    /// Something is there twice.
    #[error("{what} `{name}` is there twice")]
    Duplicate {
        /// What.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A name is not known.
    #[error("no {what} is called `{name}`")]
    Unknown {
        /// What is meant.
        what: &'static str,
        /// What stands there.
        name: String,
        /// The name meant, if one is near.
        nearest: Option<String>,
        /// Those there are.
        known: Vec<String>,
    },
    /// A figure is out of range.
    #[error("`{key}` can't be {got}")]
    Value {
        /// The key.
        key: &'static str,
        /// What stands there.
        got: String,
        /// What can.
        expected: &'static str,
    },
    /// A link has one end.
    #[error("a link leads from node `{name}` to itself")]
    Loop {
        /// The node.
        name: String,
    },
}

impl PlatformProblem {
    /// What would be right.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            PlatformProblem::Mistyped { slip } => slip.expected.clone(),
            PlatformProblem::Toml { .. } => "docs/reference/platform.md has every key, with an example".to_owned(),
            PlatformProblem::TooMany { max, what, .. } => format!("at most {max} {what}"),
            PlatformProblem::Empty => {
                "[[node]] with name = \"pc\" and cores = [{ class = \"zen5\", cpus = [0, 1] }]".to_owned()
            }
            PlatformProblem::Name { .. } => "1 to 64 letters, digits, - and _".to_owned(),
            PlatformProblem::Duplicate { what, .. } => format!("name each {what} once"),
            PlatformProblem::Unknown { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            PlatformProblem::Unknown { known, .. } if known.is_empty() => "there is none".to_owned(),
            PlatformProblem::Unknown { known, .. } => format!("there are {}", known.join(", ")),
            PlatformProblem::Value { expected, .. } => (*expected).to_owned(),
            PlatformProblem::Loop { .. } => {
                "between its own cores a node's `bytes_per_s` is what counts; a link joins two nodes".to_owned()
            }
        }
    }
}
