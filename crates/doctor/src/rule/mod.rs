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

/// How a rule looks: it reads and never writes. A fact that cannot be read is an error, which the report calls not visible,
/// never fine.
pub type Probe = fn(&Host) -> Result<Finding, ReadError>;

/// One thing on a host that can keep a radio from its deadlines.
#[derive(Debug)]
pub struct Rule {
    /// Stable name for reports, JSON and `--only`.
    pub id: &'static str,
    pub topic: Topic,
    /// The subject, in a few words.
    pub title: &'static str,
    /// Why it hurts a radio, in one to three sentences.
    pub mechanism: &'static str,
    /// The facts that the rule reads, and the values that are a problem or a notice.
    pub looks_at: &'static str,
    /// Kernels it applies to; on others the verdict is "unknown", never silence.
    pub kernels: KernelRange,
    pub probe: Probe,
    /// The known cost, and where it was measured. Empty for a note, whose mechanism says it.
    pub known: &'static str,
    /// Measures the cost on this host, if that takes a fraction of a second and disturbs nothing. The function returns `None`
    /// if it could not measure.
    pub here: Option<fn(&Host) -> Option<String>>,
    pub fix: Fix,
    /// How `takt doctor --prove` measures the effect of the fix on this host.
    pub proof: Proof,
}

impl Rule {
    /// The common values of most rules: Linux 5.4 and newer, no measurement on the host, advice only. The other fields are
    /// placeholders; a test finds a rule that does not set its own.
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
        fix: Fix::Advice(Instructions::Always(&[])),
        proof: Proof::ADVICE,
    };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// No problem.
    Fine {
        observed: String,
    },
    /// It keeps a radio from its deadlines; `wanted` would not.
    Problem {
        observed: String,
        wanted: String,
    },
    /// No problem for takt, but other programs may be affected; `note` says which.
    Notice {
        observed: String,
        note: String,
    },
    NotVisible {
        why: String,
    },
}

/// How to fix a problem, and who has to agree.
#[derive(Debug)]
pub enum Fix {
    /// No side effects: `--fix` makes the changes after one question.
    Safe(fn(&Host) -> Result<Vec<Change>, SettingError>),
    /// Side effects: `--fix` makes the changes if you name the rule or answer the question with yes.
    Consent { plan: fn(&Host) -> Result<Vec<Change>, SettingError>, affects: &'static str },
    /// Firmware, hardware, system files, or a decision of the owner: takt gives instructions and never changes it.
    Advice(Instructions),
}

/// Alternative instructions, one per line.
#[derive(Debug)]
pub enum Instructions {
    /// The same on every host.
    Always(&'static [&'static str]),
    /// They depend on the host; there may be none.
    On(fn(&Host) -> Vec<String>),
}

impl Instructions {
    pub(crate) fn on(&self, host: &Host) -> Vec<String> {
        match self {
            Instructions::Always(all) => all.iter().map(|&one| one.to_owned()).collect(),
            Instructions::On(advise) => advise(host),
        }
    }
}
