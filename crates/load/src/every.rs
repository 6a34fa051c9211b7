//! [`Every`]: so much of every so long, as text.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::parse_duration;

/// A span that is taken from every period: `4ms every 5ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Every {
    /// Time taken, longer than 0 and shorter than the period.
    pub taken: Duration,
    /// From one to the next, at most 10 s.
    pub period: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{got}\" is not a span of a period; give one such as \"4ms every 5ms\", the first shorter than the second, which is at \
     most 10s"
)]
pub struct EveryError {
    pub got: String,
}

const LONGEST: Duration = Duration::from_secs(10);

impl Every {
    /// Share of the time that is taken, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        self.taken.as_secs_f64() / self.period.as_secs_f64()
    }
}

impl FromStr for Every {
    type Err = EveryError;

    fn from_str(text: &str) -> Result<Every, EveryError> {
        let error = || EveryError { got: text.to_owned() };
        let (taken, period) = text.split_once(" every ").ok_or_else(error)?;
        let [taken, period] = [taken, period].map(|span| parse_duration(span.trim()).unwrap_or_default());
        let fits = !taken.is_zero() && taken < period && period <= LONGEST;
        if fits { Ok(Every { taken, period }) } else { Err(error()) }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} every {:?}", self.taken, self.period)
    }
}

impl TryFrom<String> for Every {
    type Error = EveryError;

    fn try_from(text: String) -> Result<Every, EveryError> {
        text.parse()
    }
}

impl From<Every> for String {
    fn from(every: Every) -> String {
        every.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_a_period_is_read_and_written() {
        let every: Every = "4.5ms every 5ms".parse().unwrap();
        assert_eq!((every.taken, every.period), (Duration::from_micros(4500), Duration::from_millis(5)));
        assert!((every.share() - 0.9).abs() < 1e-12);
        assert_eq!(every.to_string().parse(), Ok(every));
    }

    #[test]
    fn what_takes_all_or_nothing_is_refused() {
        for text in
            ["", "5ms", "0s every 5ms", "5ms every 5ms", "6ms every 5ms", "1s every 11s", "5 every 10ms", "x every y"]
        {
            let error = text.parse::<Every>().unwrap_err().to_string();
            assert!(error.contains("4ms every 5ms") && error.contains(text), "{error}");
        }
    }
}
