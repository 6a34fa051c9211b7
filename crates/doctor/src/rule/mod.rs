//! A rule as data.

mod kernels;
mod proof;
mod topic;

use takt_host::Host;
use takt_host::ReadError;

pub use kernels::KernelRange;
pub use proof::{Measure, Proof};
pub use topic::Topic;

use super::setting::{Change, SettingError};

/// How a rule looks: it reads and never writes. A fact that cannot be read where it should be is an error, which is
/// reported as not visible and never as fine.
pub type Probe = fn(&Host) -> Result<Finding, ReadError>;

/// One thing in a host that can stand between a radio and its deadline.
#[derive(Debug)]
pub struct Rule {
    /// Stable name, in reports, JSON and `--only`.
    pub id: &'static str,
    /// Which part of a host it looks at.
    pub topic: Topic,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Why it hurts a radio, one sentence.
    pub mechanism: &'static str,
    /// What is looked at, and from which value on it stands.
    pub looks_at: &'static str,
    /// Kernels it holds for; on others the answer is "not known here", never silence.
    pub kernels: KernelRange,
    /// How to look.
    pub probe: Probe,
    /// What it costs.
    pub effect: Effect,
    /// What mends it.
    pub fix: Fix,
    /// How `takt doctor --prove` finds out what mending it is worth here.
    pub proof: Proof,
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nothing in the way.
    Fine {
        /// What was seen.
        seen: String,
    },
    /// It stands in the way.
    Stands {
        /// What was seen.
        seen: String,
        /// What would not stand in the way.
        wanted: String,
    },
    /// Not in the way of takt, and worth knowing for other programs.
    Notice {
        /// What was seen.
        seen: String,
        /// Whom it concerns.
        note: String,
    },
    /// This host does not show it.
    NotVisible {
        /// Why not.
        why: String,
    },
}

/// What a rule's subject costs.
#[derive(Debug)]
pub struct Effect {
    /// What is known of it, and where that was measured.
    pub known: &'static str,
    /// What it costs on this host, if that can be measured in a fraction of a second without disturbing anything. `None`
    /// from the function: the measurement was not possible.
    pub here: Option<fn(&Host) -> Option<String>>,
}

/// What mends it, and who has to agree.
#[derive(Debug)]
pub enum Fix {
    /// Nobody pays: `--fix` makes the changes after one question.
    Safe(fn(&Host) -> Result<Vec<Change>, SettingError>),
    /// Somebody else pays: `--fix` makes them if the rule was named or a person says yes to it.
    Consent {
        /// The changes.
        plan: fn(&Host) -> Result<Vec<Change>, SettingError>,
        /// Who pays, and how.
        who_may_pay: &'static str,
    },
    /// Firmware, hardware, files of the system's own, the owner's decision: said, never done. One line a way.
    Advice(fn(&Host) -> Vec<String>),
}
