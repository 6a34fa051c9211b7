//! [`Metric`]: what a time rests on, and how far such times were from the truth where both were known.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Basis on which a component's time on a core is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// It was measured on a core of this class.
    Measured,
    /// It is the component's declared budget.
    Budget,
    /// Its instructions were counted, and have prices on this class.
    Instructions,
    /// Those of the same component with other parameters or packets were, and it takes so many times as long as that.
    Scaled,
    /// Multiply-accumulates a second of both classes: the metric of the ALOE paper.
    Mac,
}

/// How far predictions were from what was measured then: |predicted - measured| / measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedError {
    /// Mean over components.
    pub mean: f64,
    /// 95 % interval of the mean, from here
    pub low: f64,
    /// to here.
    pub high: f64,
}

impl Metric {
    /// Error of a prediction by this metric; `None` where nothing is predicted. From the data of peers/prediction:
    /// components of takt on an x86-64, predicted and measured on an emulated AArch64.
    ///
    /// ```
    /// use takt_mapper::Metric;
    /// let (counted, mac) = (Metric::Instructions.expected_error().unwrap(), Metric::Mac.expected_error().unwrap());
    /// assert!(counted.high < mac.low);
    /// assert_eq!(Metric::Measured.expected_error(), None);
    /// ```
    #[must_use]
    pub fn expected_error(self) -> Option<ExpectedError> {
        static READ: OnceLock<BTreeMap<Metric, ExpectedError>> = OnceLock::new();
        // Broken data gives nothing, which a test would see.
        READ.get_or_init(|| toml::from_str(include_str!("errors.toml")).unwrap_or_default()).get(&self).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_predict_says_how_far_off_it_was() {
        for metric in [Metric::Instructions, Metric::Scaled, Metric::Mac] {
            let error = metric.expected_error().expect("peers/prediction/run --again writes it");
            assert!(0.0 < error.low && error.low <= error.mean && error.mean <= error.high, "{metric:?}");
        }
        assert_eq!((Metric::Measured.expected_error(), Metric::Budget.expected_error()), (None, None));
    }
}
