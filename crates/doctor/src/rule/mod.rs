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
    pub topic: Topic,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Why it hurts a radio, one sentence.
    pub mechanism: &'static str,
    /// What is looked at, and from which value on it stands.
    pub looks_at: &'static str,
    /// Kernels it holds for; on others the answer is "not known here", never silence.
    pub kernels: KernelRange,
    pub probe: Probe,
    /// What is known of its cost, and where that was measured.
    pub known: &'static str,
    /// What it costs on this host, if that can be measured in a fraction of a second without disturbing anything. `None`
    /// from the function: the measurement was not possible.
    pub here: Option<fn(&Host) -> Option<String>>,
    pub fix: Fix,
    /// How `takt doctor --prove` finds out what the fix is worth here.
    pub proof: Proof,
}

impl Rule {
    /// What most rules have in common: they hold from Linux 5.4 on, are not measured on the host, and give advice. The other
    /// fields have no use; a test finds a rule that does not give its own.
    pub(crate) const COMMON: Rule = Rule {
        id: "",
        topic: Topic::Sockets,
        title: "",
        mechanism: "",
        looks_at: "",
        kernels: KernelRange::from(5, 4),
        probe: |_| unreachable!("a rule has a probe"),
        known: "",
        here: None,
        fix: Fix::Advice(Ways::Always(&[])),
        proof: Proof::ADVICE,
    };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nothing in the way.
    Fine {
        observed: String,
    },
    /// It stands in the way; `wanted` would not.
    Stands {
        observed: String,
        wanted: String,
    },
    /// Not in the way of takt, and worth knowing for other programs; `note` says for which.
    Notice {
        observed: String,
        note: String,
    },
    NotVisible {
        why: String,
    },
}

/// What removes the obstacle, and who has to agree.
#[derive(Debug)]
pub enum Fix {
    /// Nobody pays: `--fix` makes the changes after one question.
    Safe(fn(&Host) -> Result<Vec<Change>, SettingError>),
    /// Another party pays: `--fix` makes them if the rule was named or a person says yes to it.
    Consent { plan: fn(&Host) -> Result<Vec<Change>, SettingError>, who_may_pay: &'static str },
    /// Firmware, hardware, files of the system's own, the owner's decision: takt says it and never does it.
    Advice(Ways),
}

/// Ways out, one a line.
#[derive(Debug)]
pub enum Ways {
    /// The same on every host.
    Always(&'static [&'static str]),
    /// They depend on the host; there may be none.
    On(fn(&Host) -> Vec<String>),
}

impl Ways {
    pub(crate) fn on(&self, host: &Host) -> Vec<String> {
        match self {
            Ways::Always(ways) => ways.iter().map(|&way| way.to_owned()).collect(),
            Ways::On(ways) => ways(host),
        }
    }
}
