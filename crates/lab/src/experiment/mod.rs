//! Questions as files: what varies, what is fixed, how often, in which order, and what counts.
//!
//! ```text
//! file.toml --> Experiment --> points --> blocks of rounds --> records in the store
//!               (checked)     (matrix)    (seeded order)       (one a round)
//! ```
//!
//! A file is checked as a whole before anything runs: an unknown word, a rate the radio does not have, a missing
//! setting is a [`FileError`] that points at the place. The words it may use are data ([`settings`]).
//!
//! ```
//! use takt_lab::experiment::{Depth, Experiment};
//! let text = r#"
//! question = "How does the loss grow with the rate?"
//! [factors]
//! rate_sps = [5e6, 25e6]
//! mode = ["rx", "duplex"]
//! [fixed]
//! workload = { kind = "rate", duration = "2s" }
//! [rounds]
//! count = { full = 10, quick = 2 }
//! order = { seed = 7 }
//! "#;
//! let sweep = Experiment::parse("sweep", text)?;
//! assert_eq!(sweep.points(Depth::Quick).len(), 4);
//! # Ok::<(), takt_lab::experiment::FileError>(())
//! ```

mod count;
mod error;
mod file;
mod library;
mod matrix;
mod need;
mod node;
mod on_node;
mod only;
mod order;
mod part;
pub mod settings;

pub use error::FileError;
pub use file::{Experiment, Rounds, Rules, Stop, Study, Valid};
pub use library::{named, names};
pub(crate) use matrix::label;
pub use matrix::{Point, plain};
pub use need::{Need, NeedError};
pub use only::NoSuchPoint;
pub use order::blocks;
pub use part::{Factor, Part};

use serde::{Deserialize, Serialize};

/// How much of an experiment is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Every level, every round.
    Full,
    /// The levels and rounds that the file names for a quick look.
    Quick,
}

impl Depth {
    /// `full` or `quick`, as in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.pick("full", "quick")
    }

    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Depth::Full => full,
            Depth::Quick => quick,
        }
    }
}
