//! [`Estimate`]: a figure that cannot be had without its doubt.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A figure with its doubt. Only the estimators of this crate make one; `Display` prints all of it:
/// `1.42 [1.38, 1.47] (95 %, t, n = 10)`.
///
/// Always true: point, low and high are finite, `low <= point <= high`, `0 < level < 1`, `n >= 1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Estimate {
    point: f64,
    low: f64,
    high: f64,
    level: f64,
    n: usize,
    method: Method,
}

/// How the interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Student's t on the rounds.
    T,
    /// Student's t on the logarithms of paired rounds; the point is a geometric mean of ratios.
    LogT,
    /// Student's t on the logarithms of two sets of rounds that are not paired, after Welch.
    Welch,
    /// Fieller's interval for a ratio of means.
    Fieller,
    /// Between ordered rounds.
    OrderStatistics,
    /// Exact binomial interval.
    ClopperPearson,
}

/// An estimate read from a file breaks one of its rules.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("an estimate can't have point {point}, interval {low} to {high}, level {level} and {n} rounds")]
pub struct EstimateError {
    /// The stated point.
    pub point: f64,
    /// The stated lower end.
    pub low: f64,
    /// The stated upper end.
    pub high: f64,
    /// The stated level.
    pub level: f64,
    /// The stated number of rounds.
    pub n: usize,
}

impl Estimate {
    /// `None` unless everything that is "always true" holds.
    pub(crate) fn new(point: f64, low: f64, high: f64, level: f64, n: usize, method: Method) -> Option<Self> {
        let finite = point.is_finite() && low.is_finite() && high.is_finite();
        let sound = finite && low <= point && point <= high && level > 0.0 && level < 1.0 && n >= 1;
        sound.then_some(Self { point, low, high, level, n, method })
    }

    /// The best single value, in the unit of the rounds.
    pub fn point(&self) -> f64 {
        self.point
    }

    /// Lower end of the interval, in the unit of the rounds.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Upper end of the interval, in the unit of the rounds.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The same with an interval that reaches up to `high` at least, for what is known besides the rounds: those that saw no
    /// failure at all are alike, and Student's t takes their mean for exact. `None` if `high` is not finite.
    ///
    /// ```
    /// let none = takt_stats::mean(&[0.0; 5], 0.95).unwrap();
    /// assert_eq!((none.low(), none.high()), (0.0, 0.0));
    /// assert_eq!(none.reaching(0.03).unwrap().high(), 0.03);
    /// ```
    pub fn reaching(self, high: f64) -> Option<Self> {
        Self::new(self.point, self.low, self.high.max(high), self.level, self.n, self.method)
            .filter(|_| high.is_finite())
    }

    /// How often such an interval holds the truth, 0 to 1; 0.95 = 95 %.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Rounds (never slots or packets) that went in.
    pub fn n(&self) -> usize {
        self.n
    }

    /// How the interval was found.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The same knowledge in another quantity, for a monotone `f`: units, reciprocals ("headroom = capacity / need").
    /// A falling `f` swaps the ends. `None` if `f` leaves the finite numbers or is not monotone on the three values.
    ///
    /// ```
    /// let needed = takt_stats::mean(&[0.24, 0.25, 0.26], 0.95).unwrap();   // cores
    /// let headroom = needed.map(|cores| 1.0 / cores).unwrap();
    /// assert_eq!(headroom.point(), 4.0);
    /// assert!(headroom.low() < 4.0 && 4.0 < headroom.high());
    /// ```
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Option<Self> {
        let (a, b) = (f(self.low), f(self.high));
        Self::new(f(self.point), a.min(b), a.max(b), self.level, self.n, self.method)
    }

    /// The same in another unit: point and interval times `factor`.
    ///
    /// ```
    /// let ns = takt_stats::mean(&[1200.0, 1300.0, 1400.0], 0.95).unwrap();
    /// assert_eq!(ns.scaled(1e-3).unwrap().point(), 1.3);   // µs
    /// ```
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        self.map(|x| x * factor)
    }

    /// Part of it where the quantity lies between `low` and `high` for certain, as a share lies between 0 and 1. An
    /// interval that is cut so holds the truth as often. `None` if the point lies outside.
    ///
    /// ```
    /// let lost_share = takt_stats::mean(&[0.0, 0.0, 0.01], 0.95).unwrap();
    /// assert!(lost_share.low() < 0.0);
    /// assert_eq!(lost_share.within((0.0, 1.0)).unwrap().low(), 0.0);
    /// ```
    pub fn within(&self, (low, high): (f64, f64)) -> Option<Self> {
        Self::new(self.point, self.low.max(low), self.high.min(high), self.level, self.n, self.method)
    }

    /// Decimals that show the interval to one significant digit of its half width; at most 12.
    pub fn decimals(&self) -> usize {
        let half_width = (self.high - self.low) / 2.0;
        let scale = if half_width > 0.0 { half_width } else { self.point.abs() / 1000.0 };
        if scale > 0.0 { (-scale.log10().floor()).clamp(0.0, 12.0) as usize } else { 0 }
    }
}

/// `point [low, high] (level, method, n)`; decimals follow the interval's width, or the format's precision if given.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let d = f.precision().unwrap_or_else(|| self.decimals());
        let Self { point, low, high, method, n, .. } = self;
        let level = percent(self.level);
        write!(f, "{point:.d$} [{low:.d$}, {high:.d$}] ({level} %, {method}, n = {n})")
    }
}

/// The name as it is printed: `t`, `t of logs`, `Welch`, `Fieller`, `order statistics`, `Clopper-Pearson`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::T => "t",
            Self::LogT => "t of logs",
            Self::Welch => "Welch",
            Self::Fieller => "Fieller",
            Self::OrderStatistics => "order statistics",
            Self::ClopperPearson => "Clopper-Pearson",
        })
    }
}

/// A share as a percentage without needless digits: 0.95 is `95`, 0.999 is `99.9`.
pub(crate) fn percent(share: f64) -> String {
    format!("{}", (share * 1e6).round() / 1e4)
}

/// An estimate as it is read; the check stands in `TryFrom`.
#[derive(Deserialize)]
struct Raw {
    point: f64,
    low: f64,
    high: f64,
    level: f64,
    n: usize,
    method: Method,
}

impl TryFrom<Raw> for Estimate {
    type Error = EstimateError;

    fn try_from(r: Raw) -> Result<Self, EstimateError> {
        let Raw { point, low, high, level, n, method } = r;
        Self::new(point, low, high, level, n, method).ok_or(EstimateError { point, low, high, level, n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(point: f64, low: f64, high: f64) -> Estimate {
        Estimate::new(point, low, high, 0.95, 10, Method::T).expect("sound")
    }

    #[test]
    fn display_shows_as_many_decimals_as_the_interval_is_worth() {
        assert_eq!(estimate(1.4249, 1.3811, 1.4702).to_string(), "1.42 [1.38, 1.47] (95 %, t, n = 10)");
        assert_eq!(estimate(3.8, 3.5, 4.1).to_string(), "3.8 [3.5, 4.1] (95 %, t, n = 10)");
        assert_eq!(estimate(290_123.4, 281_000.1, 297_000.9).to_string(), "290123 [281000, 297001] (95 %, t, n = 10)");
        assert_eq!(estimate(0.0, 0.0, 0.0).to_string(), "0 [0, 0] (95 %, t, n = 10)");
        assert_eq!(format!("{:.1}", estimate(1.4249, 1.3811, 1.4702)), "1.4 [1.4, 1.5] (95 %, t, n = 10)");
    }

    #[test]
    fn a_falling_map_swaps_the_ends_and_a_pole_gives_none() {
        let e = estimate(2.0, 1.0, 4.0).map(|x| 1.0 / x).expect("finite");
        assert_eq!((e.low(), e.point(), e.high()), (0.25, 0.5, 1.0));
        assert_eq!(estimate(0.0, -1.0, 1.0).map(|x| 1.0 / x), None);
        assert_eq!(estimate(0.0, -1.0, 2.0).map(|x| x * x), None, "not monotone here");
    }

    #[test]
    fn json_carries_all_and_refuses_what_is_no_estimate() {
        let e = estimate(1.5, 1.0, 2.0);
        let json = serde_json::to_string(&e).expect("plain");
        assert_eq!(json, r#"{"point":1.5,"low":1.0,"high":2.0,"level":0.95,"n":10,"method":"t"}"#);
        assert_eq!(serde_json::from_str::<Estimate>(&json).expect("same"), e);
        let inverted = json.replace("1.0", "1.9");
        assert!(serde_json::from_str::<Estimate>(&inverted).expect_err("low above point").to_string().contains("1.9"));
    }
}
