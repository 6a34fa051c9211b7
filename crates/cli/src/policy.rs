//! `--policy`: the scheduling policy of takt's own threads.

use std::convert::Infallible;
use std::str::FromStr;

use takt_host::policy::PolicySpec;

/// What these threads can run under: `other`, or `fifo:PRIORITY` (sched(7)).
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
