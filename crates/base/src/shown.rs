//! Numbers as people read them: significant digits, digits in groups, the prefix that suits, a unit.

/// The factor and the prefix that suit a magnitude: `1e6` and `µ` for 3e-6.
#[must_use]
pub fn prefix(magnitude: f64) -> (f64, &'static str) {
    const PREFIXES: [(f64, &str); 7] =
        [(1e-9, "G"), (1e-6, "M"), (1e-3, "k"), (1.0, ""), (1e3, "m"), (1e6, "µ"), (1e9, "n")];
    if magnitude == 0.0 || !magnitude.is_finite() {
        return (1.0, "");
    }
    // 999.6 rounds to 1000 in three digits: it belongs to the next prefix
    PREFIXES.into_iter().find(|(factor, _)| magnitude.abs() * factor >= 0.9995).unwrap_or((1e9, "n"))
}

/// A value in its base unit, three digits and a prefix.
///
/// ```
/// use takt_base::shown::scaled;
/// assert_eq!((scaled(14_285_714.29, "S/s"), scaled(0.0, "b/s")), ("14.3 MS/s".into(), "0 b/s".into()));
/// ```
#[must_use]
pub fn scaled(value: f64, unit: &str) -> String {
    let (factor, prefix) = prefix(value);
    format!("{} {prefix}{unit}", significant(value * factor, 3))
}

/// A time, from seconds: every time in a text is written by this.
///
/// ```
/// use takt_base::shown::time;
/// assert_eq!([4.1e-4, 2.0, 1.2345e-5, 1230.0].map(time), ["410 µs", "2 s", "12.3 µs", "20 min 30 s"]);
/// ```
#[must_use]
pub fn time(seconds: f64) -> String {
    // no one thinks in thousands of seconds
    if seconds >= 999.5 { duration(seconds) } else { scaled(seconds, "s") }
}

/// A time, from nanoseconds.
#[must_use]
pub fn time_ns(ns: u64) -> String {
    time(ns as f64 * 1e-9)
}

/// How long something takes, as people say it: `1 min 52 s`, `3.4 s`, `2 h 05 min`.
///
/// ```
/// assert_eq!(takt_base::shown::duration(112.0), "1 min 52 s");
/// assert_eq!(takt_base::shown::duration([0.0; 0].iter().sum()), "0 s");
/// ```
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_owned();
    }
    // The sum of no seconds at all is -0.
    let seconds = seconds.abs();
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) if seconds < 10.0 => format!("{} s", trim_zeros(format!("{seconds:.1}"))),
        (0, 0, s) => format!("{s} s"),
        (0, min, s) => format!("{min} min {s:02} s"),
        (h, min, _) => format!("{h} h {min:02} min"),
    }
}

/// A share in per cent, to two digits; what is not all is never shown as all.
///
/// ```
/// use takt_base::shown::percent;
/// assert_eq!([0.31, 0.0025, 0.9996, 1.0, 0.0].map(percent), ["31 %", "0.25 %", "99.96 %", "100 %", "0 %"]);
/// ```
#[must_use]
pub fn percent(share: f64) -> String {
    let of = |digits| significant(share * 100.0, digits);
    let digits = (2..9).find(|&digits| share >= 1.0 || of(digits) != "100").unwrap_or(9);
    format!("{} %", of(digits))
}

/// A whole number with grouped digits: `249 986 932`. Four digits stay together: `9000`.
///
/// ```
/// assert_eq!(takt_base::shown::count(249_986_932), "249 986 932");
/// ```
#[must_use]
pub fn count(n: u64) -> String {
    group(&n.to_string())
}

/// To so many significant digits, digits grouped, zeros behind the point dropped.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "unknown".to_owned() };
    }
    let magnitude = value.abs().log10().floor();
    let decimals = (digits as f64 - 1.0 - magnitude).clamp(0.0, 12.0) as usize;
    trim_zeros(grouped(value, decimals))
}

/// With a fixed number of decimals and grouped digits; 1.50e15 where that would be endless.
#[must_use]
pub fn grouped(value: f64, decimals: usize) -> String {
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
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

fn trim_zeros(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three_where_there_are_more_than_four() {
        assert_eq!([0, 999, 1000, 12_345_678].map(count), ["0", "999", "1000", "12 345 678"]);
    }

    #[test]
    fn durations_read_as_spoken() {
        for (s, want) in [(3.44, "3.4 s"), (59.6, "1 min 00 s"), (112.0, "1 min 52 s"), (7500.0, "2 h 05 min")] {
            assert_eq!(duration(s), want);
        }
        assert_eq!(duration(f64::NAN), "unknown");
    }
}
