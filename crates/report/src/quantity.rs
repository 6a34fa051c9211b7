//! Numbers as people read them: units, prefixes, grouped digits, intervals.
//!
//! Values are kept in base units (samples a second, seconds, shares of 1) and scaled here, once, for the eye. Groups of
//! digits, and numbers and their units, are joined by no-break spaces; a back end that cannot show them writes spaces.

use serde::{Serialize, Serializer};

use crate::figure::Reading;

/// Joins what must stay on one line.
pub(crate) const NBSP: char = '\u{a0}';

/// What a number counts, and how it is scaled for reading.
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
            Scaling::Prefix => prefix_for(largest.abs()),
        };
        Scaled { factor, symbol: format!("{prefix}{}", self.symbol) }
    }

    /// A value with its unit, to `digits` significant digits, needless zeros dropped: `14.29 MS/s`, `0.3 %`, `1472 B`.
    ///
    /// ```
    /// use takt_report::Unit;
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
/// assert_eq!(takt_report::count(249_986_932), "249\u{a0}986\u{a0}932");
/// ```
pub fn count(n: u64) -> String {
    group(&n.to_string())
}

/// A duration as people say it: `1 min 52 s`, `3.4 s`, `2 h 05 min`.
///
/// ```
/// assert_eq!(takt_report::duration(112.0), "1\u{a0}min\u{a0}52\u{a0}s");
/// ```
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_owned();
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) if seconds < 10.0 => format!("{}{NBSP}s", trim_zeros(format!("{seconds:.1}"))),
        (0, 0, s) => format!("{s}{NBSP}s"),
        (0, min, s) => format!("{min}{NBSP}min{NBSP}{s:02}{NBSP}s"),
        (h, min, _) => format!("{h}{NBSP}h{NBSP}{min:02}{NBSP}min"),
    }
}

fn prefix_for(magnitude: f64) -> (f64, &'static str) {
    const PREFIXES: [(f64, &str); 7] =
        [(1e-9, "G"), (1e-6, "M"), (1e-3, "k"), (1.0, ""), (1e3, "m"), (1e6, "µ"), (1e9, "n")];
    if magnitude == 0.0 || !magnitude.is_finite() {
        return (1.0, "");
    }
    // 999.6 rounds to 1000 in three digits: it belongs to the next prefix
    PREFIXES.into_iter().find(|(factor, _)| magnitude * factor >= 0.9995).unwrap_or((1e9, "n"))
}

/// Decimals that show half an interval's width to one significant digit.
fn decimals_for(point: f64, half_width: f64) -> usize {
    let scale = if half_width > 0.0 { half_width } else { point.abs() / 100.0 };
    if scale > 0.0 && scale.is_finite() { (-scale.log10().floor()).clamp(0.0, 9.0) as usize } else { 0 }
}

/// To `digits` significant digits, digits grouped, zeros behind the point dropped.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "unknown".to_owned() };
    }
    let magnitude = value.abs().log10().floor();
    let decimals = (digits as f64 - 1.0 - magnitude).clamp(0.0, 12.0) as usize;
    trim_zeros(grouped(value, decimals))
}

/// With a fixed number of decimals and grouped digits; 1.50e15 where that would be endless.
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    if value.abs() >= BEYOND_DIGITS {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    let text = if text.trim_start_matches(['-', '0', '.']).is_empty() { text.replace('-', "") } else { text };
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", group(whole)),
        None => group(&text),
    }
}

/// From here on digits are no longer all known, and nobody would read them.
const BEYOND_DIGITS: f64 = 1e15;

fn group(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |d| ("-", d));
    if digits.len() <= 4 {
        return format!("{sign}{digits}");
    }
    let mut out = sign.to_owned();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(NBSP);
        }
        out.push(digit);
    }
    out
}

fn join(number: &str, symbol: &str) -> String {
    if symbol.is_empty() { number.to_owned() } else { format!("{number}{NBSP}{symbol}") }
}

fn trim_zeros(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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

    #[test]
    fn durations_read_as_spoken() {
        for (s, want) in [(3.44, "3.4 s"), (59.6, "1 min 00 s"), (112.0, "1 min 52 s"), (7500.0, "2 h 05 min")] {
            assert_eq!(plain(&duration(s)), want);
        }
        assert_eq!(duration(f64::NAN), "unknown");
    }
}
