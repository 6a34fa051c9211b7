//! `--policy` and `--cores`: the scheduling policy of takt's own threads, and where they run.

use std::convert::Infallible;
use std::str::FromStr;

use takt_host::affinity::AffinityError;
use takt_host::placement::{Placement, PlacementError};
use takt_host::policy::{PolicyError, PolicySpec};

use crate::Problem;

/// Flags of a command with one thread that streams.
#[derive(Clone, Debug, clap::Args)]
pub struct StreamingThread {
    /// Cores for the streaming thread [default: any].
    #[arg(long, value_name = "CORES", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Scheduling policy of the streaming thread: other, or fifo:PRIORITY.
    // The type is written out so that `other` is a value, and not the lack of one.
    #[arg(long = "policy", value_name = "POLICY", default_value = "other", value_parser = PolicySpec::fifo_priority)]
    priority: std::option::Option<u8>,
}

impl StreamingThread {
    pub fn placement(self) -> Placement {
        Placement { cpus: self.cores, priority: self.priority }
    }
}

/// Why a streaming thread could not be placed.
pub fn placement_refused(error: PlacementError) -> Problem {
    match error {
        PlacementError::Affinity(error) => cores_refused(error),
        PlacementError::Policy(error) => policy_refused(error),
        error => Problem::new("can't start a streaming thread").why(error),
    }
}

pub fn policy_refused(error: PolicyError) -> Problem {
    let fix = error.fix().unwrap_or_else(|| "omit --policy".to_owned());
    Problem::new("a streaming thread can't have that policy").why(error).fix(fix)
}

pub fn cores_refused(error: AffinityError) -> Problem {
    Problem::new("a streaming thread can't have that CPU").why(error).fix("give --cores with CPUs of this host")
}

/// Policies under which the workers of a waveform can run: `other`, or `fifo:PRIORITY` (sched(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Other,
    Fifo(u8),
}

impl FromStr for Policy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Policy, &'static str> {
        PolicySpec::fifo_priority(text).map(|priority| priority.map_or(Policy::Other, Policy::Fifo))
    }
}

/// Refuses `--priority`, which older versions had.
pub fn priority_is_policy(value: &str) -> Result<Infallible, String> {
    let policy = if value == "none" { "other".to_owned() } else { format!("fifo:{value}") };
    Err(format!("it is called --policy {policy} now"))
}

/// Refuses `--cpus`, which older versions had.
pub fn cpus_is_cores(value: &str) -> Result<Infallible, String> {
    Err(format!("it is called --cores {value} now"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_other_or_fifo() {
        assert_eq!("other".parse(), Ok(Policy::Other));
        assert_eq!("fifo:60".parse(), Ok(Policy::Fifo(60)));
        for wrong in ["60", "fifo:0", "fifo:100", "rr:50", "other:5", "deadline:2ms", ""] {
            assert!(wrong.parse::<Policy>().is_err(), "{wrong}");
        }
    }
}
