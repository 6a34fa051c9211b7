//! Numbers as people read them: units, prefixes, grouped digits, intervals.
//!
//! Values are kept in base units (samples a second, seconds, shares of 1) and scaled here, once, for the eye. Groups of
//! digits, and numbers and their units, are joined by no-break spaces; a back end that cannot show them writes spaces.

use serde::{Serialize, Serializer};
use takt_base::shown;

use crate::figure::Reading;

/// Joins what must stay on one line.
pub(crate) const NBSP: char = '\u{a0}';

/// Quantity of a number, and how it is scaled for reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    symbol: &'static str,
    scaling: Scaling,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scaling {
    /// By powers of 1000, with a prefix: k, M, G, m, µ, n.
    Prefix,
    #[default]
    Plain,
    /// A share of 1, shown in per cent.
    Percent,
}

/// The factor and the text of a scaled unit: 1e-6 and `MS/s`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scaled {
    pub(crate) factor: f64,
    pub(crate) symbol: String,
}

impl Unit {
    pub const SAMPLES_PER_S: Self = Self::prefixed("S/s");
    pub const SECONDS: Self = Self::prefixed("s");
    pub const DATAGRAMS_PER_S: Self = Self::prefixed("datagrams/s");
    pub const BITS_PER_S: Self = Self::prefixed("b/s");
    /// Bytes, never scaled: a datagram of 1472 B is not one of 1.5 kB.
    pub const BYTES: Self = Self::plain("B");
    pub const CORES: Self = Self::plain("cores");
    /// How many times something else.
    pub const TIMES: Self = Self::plain("x");
    /// A number of things; the label says which.
    pub const COUNT: Self = Self::plain("");
    /// A share, 0 to 1, shown in per cent.
    pub const SHARE: Self = Self { symbol: "%", scaling: Scaling::Percent };

    pub const fn prefixed(symbol: &'static str) -> Self {
        Self { symbol, scaling: Scaling::Prefix }
    }

    pub const fn plain(symbol: &'static str) -> Self {
        Self { symbol, scaling: Scaling::Plain }
    }

    /// Name of the unscaled unit, as in CSV headers and JSON: `S/s`, `s`, `share`.
    pub fn base(&self) -> &'static str {
        if self.scaling == Scaling::Percent { "share" } else { self.symbol }
    }

    /// The scaling that suits values up to `largest`.
    pub(crate) fn scaled_for(&self, largest: f64) -> Scaled {
        let (factor, prefix) = match self.scaling {
            Scaling::Plain => (1.0, ""),
            Scaling::Percent => (100.0, ""),
            Scaling::Prefix => shown::prefix(largest),
        };
        Scaled { factor, symbol: format!("{prefix}{}", self.symbol) }
    }

    /// A value with its unit, to `digits` significant digits, needless zeros dropped: `14.29 MS/s`, `0.3 %`, `1472 B`.
    ///
    /// ```
    /// use takt_page::Unit;
    /// assert_eq!(Unit::SAMPLES_PER_S.show(25e6, 4), "25\u{a0}MS/s");
    /// assert_eq!(Unit::SHARE.show(0.0031, 2), "0.31\u{a0}%");
    /// assert_eq!(Unit::SECONDS.show(0.00041, 2), "410\u{a0}µs");
    /// ```
    pub fn show(&self, value: f64, digits: usize) -> String {
        let scaled = self.scaled_for(value);
        join(&significant(value * scaled.factor, digits), &scaled.symbol)
    }

    /// A figure with its interval: `47 % [45, 49]`; three digits where there is none, or one of no width (rounds that
    /// were all alike, as when nothing was lost in any: "0 [0, 0]" would claim what nobody knows).
    pub fn show_reading(&self, reading: &Reading) -> String {
        let Some(interval) = reading.interval.filter(|i| i.low < i.high) else { return self.show(reading.point, 3) };
        let scaled = self.scaled_for(reading.point);
        let [point, low, high] = [reading.point, interval.low, interval.high].map(|x| x * scaled.factor);
        let d = decimals_for(point, (high - low) / 2.0);
        let [point, low, high] = [point, low, high].map(|x| grouped(x, d));
        format!("{}{NBSP}[{low},{NBSP}{high}]", join(&point, &scaled.symbol))
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.base())
    }
}

/// A whole number with grouped digits: `249 986 932`. Four digits stay together: `9000`.
///
/// ```
/// assert_eq!(takt_page::count(249_986_932), "249\u{a0}986\u{a0}932");
/// ```
pub fn count(n: u64) -> String {
    unbroken(&shown::count(n))
}

/// A duration as people say it: `1 min 52 s`, `3.4 s`, `2 h 05 min`.
///
/// ```
/// assert_eq!(takt_page::duration(112.0), "1\u{a0}min\u{a0}52\u{a0}s");
/// ```
pub fn duration(seconds: f64) -> String {
    unbroken(&shown::duration(seconds))
}

/// Decimals that show half an interval's width to one significant digit.
fn decimals_for(point: f64, half_width: f64) -> usize {
    let scale = if half_width > 0.0 { half_width } else { point.abs() / 100.0 };
    if scale > 0.0 && scale.is_finite() { (-scale.log10().floor()).clamp(0.0, 9.0) as usize } else { 0 }
}

/// [`shown::significant`], never broken.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    unbroken(&shown::significant(value, digits))
}

/// [`shown::grouped`], never broken.
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    unbroken(&shown::grouped(value, decimals))
}

fn join(number: &str, symbol: &str) -> String {
    if symbol.is_empty() { number.to_owned() } else { format!("{number}{NBSP}{symbol}") }
}

/// A sentence whose numbers stay with their units.
pub(crate) fn with_units(text: &str) -> String {
    const UNITS: [&str; 10] = ["%", "ns", "µs", "ms", "s", "MS/s", "Mb/s", "Gb/s", "B", "KiB"];
    let mut out = String::with_capacity(text.len());
    for (n, word) in text.split(' ').enumerate() {
        let is_unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        let broken = !(is_unit && out.ends_with(|c: char| c.is_ascii_digit() || c == ']'));
        out.push_str(if n == 0 {
            ""
        } else if broken {
            " "
        } else {
            "\u{a0}"
        });
        out.push_str(word);
    }
    out
}

pub(crate) fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        text.replace(NBSP, " ")
    }

    #[test]
    fn numbers_take_the_prefix_that_suits_them() {
        let show = |value, digits| plain(&Unit::SAMPLES_PER_S.show(value, digits));
        assert_eq!(show(14_285_714.29, 4), "14.29 MS/s");
        assert_eq!(show(390_625.0, 4), "390.6 kS/s");
        assert_eq!(show(999_600.0, 3), "1 MS/s");
        assert_eq!(show(0.0, 3), "0 S/s");
        assert_eq!(plain(&Unit::SECONDS.show(3e-9, 2)), "3 ns");
        assert_eq!(plain(&Unit::BYTES.show(1472.0, 4)), "1472 B");
        assert_eq!(plain(&Unit::COUNT.show(-1_234_567.0, 9)), "-1 234 567");
        assert_eq!(plain(&Unit::SECONDS.show(f64::NAN, 2)), "unknown s");
    }

    #[test]
    fn intervals_share_prefix_and_decimals_with_their_point() {
        let reading = |point, low, high| Reading::with_interval(point, low, high, 0.95, 10);
        assert_eq!(plain(&Unit::SHARE.show_reading(&reading(0.47, 0.45, 0.49))), "47 % [45, 49]");
        assert_eq!(plain(&Unit::TIMES.show_reading(&reading(3.8, 3.5, 4.1))), "3.8 x [3.5, 4.1]");
        let rate = reading(290_123.0, 281_400.0, 297_900.0);
        assert_eq!(plain(&Unit::DATAGRAMS_PER_S.show_reading(&rate)), "290 kdatagrams/s [281, 298]");
        assert_eq!(plain(&Unit::SHARE.show_reading(&reading(0.0, 0.0, 0.0))), "0 %");
        assert_eq!(plain(&Unit::SHARE.show_reading(&reading(-1e-9, -1e-4, 1e-4))), "0.00 % [-0.01, 0.01]");
    }
}
