//! The ways to wait, and their names.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::parse_duration;

/// How a thread waits until an instant. Written `nanosleep`, `timerfd`, `hybrid`, `hybrid:50us` or `spin`, on the command
/// line, in experiments and in records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Method {
    /// `clock_nanosleep` until the instant itself: one system call.
    #[default]
    Nanosleep,
    /// A timer read as a file: two system calls, and what a program with an event loop does.
    TimerFd,
    /// `clock_nanosleep` until `spin` before the instant, then reading the clock over and over.
    Hybrid {
        /// How long it spins if the sleep ends on time. Costs that much of a processor a period.
        spin: Duration,
    },
    /// Reading the clock over and over: the soonest, and a whole processor. A real-time thread that spins is stopped for
    /// 50 ms of each second unless throttling is off: sched(7).
    Spin,
}

impl Method {
    /// Spin of a hybrid that names none: more than most sleeps end late on an idle machine.
    pub const SPIN: Duration = Duration::from_micros(100);

    /// The longest spin of a hybrid: beyond it spinning should be called so.
    pub const LONGEST_SPIN: Duration = Duration::from_millis(100);

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Nanosleep => "nanosleep",
            Method::TimerFd => "timerfd",
            Method::Hybrid { .. } => "hybrid",
            Method::Spin => "spin",
        }
    }

    /// How long before the instant it stops sleeping; `None`: it never sleeps.
    #[must_use]
    pub fn awake_before(self) -> Option<Duration> {
        match self {
            Method::Nanosleep | Method::TimerFd => Some(Duration::ZERO),
            Method::Hybrid { spin } => Some(spin),
            Method::Spin => None,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Hybrid { spin } => write!(f, "hybrid:{}ns", spin.as_nanos()),
            other => f.write_str(other.name()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a timer; expected: nanosleep, timerfd, hybrid, hybrid:50us (spin up to 100 ms) or spin")]
pub struct MethodError {
    pub got: String,
}

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Method, MethodError> {
        let error = || MethodError { got: text.to_owned() };
        match text.split_once(':') {
            Some(("hybrid", spin)) => {
                let spin = parse_duration(spin).ok().filter(|&spin| spin <= Method::LONGEST_SPIN).ok_or_else(error)?;
                Ok(Method::Hybrid { spin })
            }
            None if text == "nanosleep" => Ok(Method::Nanosleep),
            None if text == "timerfd" => Ok(Method::TimerFd),
            None if text == "hybrid" => Ok(Method::Hybrid { spin: Method::SPIN }),
            None if text == "spin" => Ok(Method::Spin),
            _ => Err(error()),
        }
    }
}

impl TryFrom<String> for Method {
    type Error = MethodError;
    fn try_from(text: String) -> Result<Method, MethodError> {
        text.parse()
    }
}

impl From<Method> for String {
    fn from(method: Method) -> String {
        method.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_method_is_its_name_everywhere() {
        for method in [Method::Nanosleep, Method::TimerFd, Method::Spin, Method::Hybrid { spin: Method::SPIN }] {
            assert_eq!(method.to_string().parse(), Ok(method));
            let json = serde_json::to_string(&method).unwrap();
            assert_eq!(serde_json::from_str::<Method>(&json).unwrap(), method);
        }
        assert_eq!("hybrid".parse(), Ok(Method::Hybrid { spin: Duration::from_micros(100) }));
        assert_eq!("hybrid:0".parse(), Ok(Method::Hybrid { spin: Duration::ZERO }));
    }

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        for text in ["", "sleep", "hybrid:", "hybrid:1h", "spin:5us", "Hybrid"] {
            let error = text.parse::<Method>().unwrap_err();
            assert!(error.to_string().contains("nanosleep, timerfd, hybrid"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_spin_survives_being_written(spin_ns in 0u64..=100_000_000) {
            let method = Method::Hybrid { spin: Duration::from_nanos(spin_ns) };
            prop_assert_eq!(method.to_string().parse(), Ok(method));
        }
    }
}
