//! A policy as people write it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::parse_duration;

use super::Policy;

/// A policy by its name, before the period of its thread is known: `other`, `other:-5` (nice), `fifo:50`, `rr:50`, or
/// `deadline:2ms` (run time a period).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PolicySpec {
    Other(i8),
    Fifo(u8),
    RoundRobin(u8),
    Deadline(Duration),
}

impl PolicySpec {
    /// The priority of `fifo:PRIORITY`; `None` of `other`. For threads that have no other policy.
    pub fn fifo_priority(text: &str) -> Result<Option<u8>, &'static str> {
        match text.parse() {
            Ok(PolicySpec::Other(0)) => Ok(None),
            Ok(PolicySpec::Fifo(priority)) => Ok(Some(priority)),
            _ => Err("expected other, or fifo:PRIORITY with a priority from 1 to 99"),
        }
    }

    /// The policy of a thread that works once a period; DEADLINE may take until the period's end.
    #[must_use]
    pub fn with_period(self, period: Duration) -> Policy {
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        match self {
            PolicySpec::Other(nice) => Policy::Other { nice: nice.into() },
            PolicySpec::Fifo(priority) => Policy::Fifo { priority },
            PolicySpec::RoundRobin(priority) => Policy::RoundRobin { priority },
            PolicySpec::Deadline(runtime) => {
                Policy::Deadline { runtime_ns: ns(runtime), deadline_ns: ns(period), period_ns: ns(period) }
            }
        }
    }

    /// Whether a thread under it runs before all that are not.
    #[must_use]
    pub fn is_real_time(self) -> bool {
        !matches!(self, PolicySpec::Other(_))
    }
}

impl Default for PolicySpec {
    fn default() -> PolicySpec {
        PolicySpec::Other(0)
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicySpec::Other(0) => write!(f, "other"),
            PolicySpec::Other(nice) => write!(f, "other:{nice}"),
            PolicySpec::Fifo(priority) => write!(f, "fifo:{priority}"),
            PolicySpec::RoundRobin(priority) => write!(f, "rr:{priority}"),
            PolicySpec::Deadline(runtime) => write!(f, "deadline:{}ns", runtime.as_nanos()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{got}` is not a policy; expected: other, other:NICE (-20 to 19), fifo:PRIORITY or rr:PRIORITY (1 to 99), or \
     deadline:RUNTIME (such as deadline:200us)"
)]
pub struct PolicySpecError {
    pub got: String,
}

impl FromStr for PolicySpec {
    type Err = PolicySpecError;

    fn from_str(text: &str) -> Result<PolicySpec, PolicySpecError> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        let priority = || value?.parse().ok().filter(|priority| (1..=99).contains(priority));
        let spec = match name {
            "other" => match value {
                None => Some(PolicySpec::Other(0)),
                Some(nice) => nice.parse().ok().filter(|nice| (-20..=19).contains(nice)).map(PolicySpec::Other),
            },
            "fifo" => priority().map(PolicySpec::Fifo),
            "rr" => priority().map(PolicySpec::RoundRobin),
            "deadline" => value
                .and_then(|runtime| parse_duration(runtime).ok())
                .filter(|runtime| (SHORTEST..=LONGEST).contains(runtime))
                .map(PolicySpec::Deadline),
            _ => None,
        };
        spec.ok_or_else(|| PolicySpecError { got: text.to_owned() })
    }
}

/// The kernel's shortest run time: sched(7).
const SHORTEST: Duration = Duration::from_nanos(1024);
/// Longer periods than the kernel's longest, 2^22 µs, are no periods.
const LONGEST: Duration = Duration::from_micros(1 << 22);

impl TryFrom<String> for PolicySpec {
    type Error = PolicySpecError;
    fn try_from(text: String) -> Result<PolicySpec, PolicySpecError> {
        text.parse()
    }
}

impl From<PolicySpec> for String {
    fn from(spec: PolicySpec) -> String {
        spec.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_its_name_everywhere() {
        for spec in ["other", "other:-20", "other:19", "fifo:1", "rr:99", "deadline:2000000ns"] {
            let parsed: PolicySpec = spec.parse().unwrap();
            assert_eq!(parsed.to_string(), spec);
            assert_eq!(serde_json::to_string(&parsed).unwrap(), format!("\"{spec}\""));
        }
        assert_eq!("other:0".parse(), Ok(PolicySpec::default()));
        assert_eq!("deadline:2ms".parse(), Ok(PolicySpec::Deadline(Duration::from_millis(2))));
    }

    #[test]
    fn a_wrong_policy_lists_the_right_ones() {
        for text in
            ["", "fifo", "fifo:0", "fifo:100", "rr:x", "other:20", "deadline", "deadline:1us", "batch", "FIFO:1"]
        {
            let error = text.parse::<PolicySpec>().unwrap_err();
            assert!(error.to_string().contains("fifo:PRIORITY"), "{error}");
        }
    }

    #[test]
    fn a_period_completes_deadline_and_changes_nothing_else() {
        let period = Duration::from_millis(5);
        assert_eq!(PolicySpec::Fifo(50).with_period(period), Policy::Fifo { priority: 50 });
        let deadline = PolicySpec::Deadline(Duration::from_millis(2)).with_period(period);
        let whole = Policy::Deadline { runtime_ns: 2_000_000, deadline_ns: 5_000_000, period_ns: 5_000_000 };
        assert_eq!(deadline, whole);
    }
}
