//! Faults in the file of a shared front end: problem, place and remedy.

use std::fmt;

use takt_toml::FilePlace;

/// The file is no plan. The message says what, [`Self::fix`] what would be right, [`Self::place`] where.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareFileError {
    /// The problem.
    pub problem: Box<ShareFileProblem>,
    /// Its place in the file.
    pub place: FilePlace,
}

impl ShareFileError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        self.problem.fix()
    }
}

impl fmt::Display for ShareFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

/// The problem speaks through this error.
impl std::error::Error for ShareFileError {}

/// Everything that can be wrong with the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareFileProblem {
    /// As any file can be wrong.
    #[error(transparent)]
    File(#[from] takt_toml::Problem),
    /// Two radios can't be told apart.
    #[error("two radios have the same {what}, {value}")]
    Duplicate {
        /// Name, address or serial.
        what: &'static str,
        /// The value that both have.
        value: String,
    },
    /// Nobody would share it.
    #[error("the file has no radio")]
    NoRadio,
    /// No N200 has that rate.
    #[error("`rate` can't be {got_sps}: a rate is 100 MS/s divided by a whole number from 4 to 512")]
    Rate {
        /// Samples per second.
        got_sps: f64,
        /// The nearest below and above.
        nearest_sps: [f64; 2],
    },
}

impl ShareFileProblem {
    fn fix(&self) -> String {
        match self {
            ShareFileProblem::File(problem) => problem.fix(),
            ShareFileProblem::Duplicate { what, .. } => format!("give each radio its own {what}"),
            ShareFileProblem::NoRadio => "add a [[radio]] with `name` and `addr`".to_owned(),
            ShareFileProblem::Rate { nearest_sps: [below, above], .. } if below == above => {
                format!("set rate = {below}")
            }
            ShareFileProblem::Rate { nearest_sps: [below, above], .. } => format!("set rate = {below} or {above}"),
        }
    }
}
