//! A rule as data.

use super::setting::{Change, SettingError};
use crate::error::ReadError;
use crate::host::Host;

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

/// The part of a host a rule looks at: a section of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Kernel buffers and queues for datagrams.
    Sockets,
    /// What this process may do.
    Permissions,
    /// Processors and who uses them.
    Processors,
    /// The kernel's own manners.
    Kernel,
    /// Clocks and timers.
    Timers,
    /// Memory.
    Memory,
    /// Interrupts.
    Interrupts,
    /// Network cards and what filters behind them.
    Network,
    /// Control groups this process is in.
    Groups,
    /// Containers and virtual machines.
    Virtual,
    /// Power and heat.
    Power,
}

impl Topic {
    /// The section's heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Topic::Sockets => "Socket buffers and queues",
            Topic::Permissions => "Permissions",
            Topic::Processors => "Processors",
            Topic::Kernel => "The kernel",
            Topic::Timers => "Clocks and timers",
            Topic::Memory => "Memory",
            Topic::Interrupts => "Interrupts",
            Topic::Network => "Network cards",
            Topic::Groups => "Control groups",
            Topic::Virtual => "Containers and virtual machines",
            Topic::Power => "Power and heat",
        }
    }
}

/// How the worth of a change is found out on the host itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// This is measured with the change and without it, in turns.
    By(Measure),
    /// It can't be, and why.
    Not(&'static str),
}

impl Proof {
    /// For advice: takt does not make the change, so it can't be measured with and without it.
    pub const ADVICE: Proof = Proof::Not("takt does not make this change, so it can't measure with and without it");
    /// For changes of what loopback does not pass.
    pub const BEHIND_THE_CARD: Proof = Proof::Not(
        "it shows only on datagrams that come through the card: compare `takt rate --addr RADIO` before and after",
    );
}

/// What is measured to prove a change. Less is better in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// How late 99 % of wake-ups every millisecond are at most, ns.
    WakeUp,
    /// The same of threads of normal priority beside two busy loops a CPU, ns.
    WakeUpLoaded,
    /// Longest time a real-time thread that never sleeps stands still, ns.
    SpinGap,
    /// Share of datagrams at 25 MS/s that are lost over loopback while the reader pauses for 0.1 s, with the largest buffer
    /// that may be had.
    LossOfLargest,
    /// The same with the buffer that a program gets without asking.
    LossOfDefault,
    /// Time of a 1472-byte datagram that arrives over loopback, flat out, ns.
    Datagram,
    /// Time of one reading of the clock, ns.
    ClockReading,
}

impl Measure {
    /// What it says, for people.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Measure::WakeUp => "lateness that 99 % of wake-ups every millisecond do not exceed",
            Measure::WakeUpLoaded => {
                "lateness that 99 % of wake-ups of ordinary threads beside two busy loops a CPU do not exceed"
            }
            Measure::SpinGap => "longest standstill of a real-time thread that never sleeps",
            Measure::LossOfLargest => {
                "datagrams lost at 25 MS/s over loopback while the reader pauses for 0.1 s, largest buffer"
            }
            Measure::LossOfDefault => {
                "datagrams lost at 25 MS/s over loopback while the reader pauses for 0.1 s, default buffer"
            }
            Measure::Datagram => "time of a 1472-byte datagram over loopback, flat out",
            Measure::ClockReading => "time of one reading of the clock",
        }
    }

    /// Whether its values are shares of one; the others are nanoseconds.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Measure::LossOfLargest | Measure::LossOfDefault)
    }
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

/// Kernels a rule was seen to hold for, by major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelRange {
    /// The first.
    pub from: (u32, u32),
    /// The first that it no longer holds for.
    pub below: Option<(u32, u32)>,
}

impl KernelRange {
    /// Every kernel from `from` on.
    #[must_use]
    pub const fn from(major: u32, minor: u32) -> KernelRange {
        KernelRange { from: (major, minor), below: None }
    }

    /// Whether a release such as `6.18.44-x` is in the range; `None` if it is no release.
    #[must_use]
    pub fn holds(&self, release: &str) -> Option<bool> {
        let mut parts = release.split(['.', '-', '+']).map(|part| part.parse::<u32>().ok());
        let version = (parts.next()??, parts.next()??);
        Some(version >= self.from && self.below.is_none_or(|below| version < below))
    }
}

impl std::fmt::Display for KernelRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.below {
            None => write!(f, "Linux {}.{} and newer", self.from.0, self.from.1),
            Some((major, minor)) => write!(f, "Linux {}.{} to before {major}.{minor}", self.from.0, self.from.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        let range = KernelRange { from: (5, 4), below: Some((6, 12)) };
        for (release, holds) in [
            ("5.3.18-default", Some(false)),
            ("5.4.0", Some(true)),
            ("6.1.0-18-amd64", Some(true)),
            ("6.9-rc1", Some(true)),
            ("6.12.1+", Some(false)),
            ("6.18.44-fc-v669", Some(false)),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(range.holds(release), holds, "{release}");
        }
    }
}
