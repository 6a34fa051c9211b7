//! Civil time in UTC: seconds since 1970 as a date, and RFC 3339 text in both directions.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A second of UTC. As text: `2026-11-21T10:04:12Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Utc {
    pub year: u64,
    pub month: u64,
    pub day: u64,
    pub hour: u64,
    pub minute: u64,
    pub second: u64,
}

impl Utc {
    /// The second that is now.
    #[must_use]
    pub fn now() -> Utc {
        Utc::of(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }

    /// So many seconds after the beginning of 1970.
    #[must_use]
    pub fn of(unix_s: u64) -> Utc {
        let (days, second) = (unix_s / 86_400, unix_s % 86_400);
        let (year, month, day) = date(days);
        Utc { year, month, day, hour: second / 3600, minute: second / 60 % 60, second: second % 60 }
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Utc { year, month, day, hour, minute, second } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Nanoseconds since 1970; `None` if this host's clock stands before that, or after 2554.
#[must_use]
pub fn utc_ns_now() -> Option<u64> {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// Nanoseconds since 1970 as text, with nine decimals.
///
/// ```
/// assert_eq!(takt_base::utc_text(951_782_400_000_000_001), "2000-02-29T00:00:00.000000001Z");
/// ```
#[must_use]
pub fn utc_text(unix_ns: u64) -> String {
    let (second, ns) = (Utc::of(unix_ns / 1_000_000_000).to_string(), unix_ns % 1_000_000_000);
    format!("{}.{ns:09}Z", second.trim_end_matches('Z'))
}

/// Nanoseconds since 1970 of such a text, any number of decimals (those beyond nine fall away), a leap second counted as
/// the second after. `None` if it is not one, has another zone than Z, or lies before 1970 or after 2554.
#[must_use]
pub fn utc_ns(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let days = days(numbers(date, '-', [4, 2, 2])?)?;
    let [h, m, s] = numbers(clock, ':', [2, 2, 2])?;
    if h > 23 || m > 59 || s > 60 || fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let ns = fraction.bytes().chain(std::iter::repeat(b'0')).take(9).fold(0, |ns, b| ns * 10 + u64::from(b - b'0'));
    (days * 86_400 + h * 3600 + m * 60 + s).checked_mul(1_000_000_000)?.checked_add(ns)
}

fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[u64; N]> {
    let mut parts = text.split(between);
    let mut out = [0; N];
    for (out, digits) in out.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        *out = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

/// Days from 0000-03-01 to 1970-01-01. A year begins in March here, so that a leap day is the last of its year.
const EPOCH: u64 = 719_468;

/// The date so many days after 1970-01-01: `civil_from_days` of Howard Hinnant's "chrono-compatible low-level date
/// algorithms".
fn date(days: u64) -> (u64, u64, u64) {
    let (era, day_of_era) = ((days + EPOCH) / 146_097, (days + EPOCH) % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

/// Days from 1970-01-01 to a date; `None` before, and of a date that no calendar has.
fn days([year, month, day]: [u64; 3]) -> Option<u64> {
    let (of_march, from_march) = if month < 3 { (year.checked_sub(1)?, month + 9) } else { (year, month - 3) };
    let leap_days = of_march / 4 - of_march / 100 + of_march / 400;
    // 153 days are five months, from March as from August.
    let days = (of_march * 365 + leap_days + (153 * from_march + 2) / 5 + day).checked_sub(EPOCH + 1)?;
    (date(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unix_times_have_the_text_that_date_prints() {
        // `date -u -d @N +%FT%TZ` of GNU coreutils.
        for (unix_s, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_795_255_452, "2026-11-21T10:04:12Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Utc::of(unix_s).to_string(), text);
            assert_eq!(utc_ns(text), Some(unix_s * 1_000_000_000));
            assert_eq!(utc_text(unix_s * 1_000_000_000), text.replace('Z', ".000000000Z"));
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "Z",
            "2024-02-30T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "1970-01-00T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T00:00:00",
            "1969-12-31T00:00:00Z",
            "2024-1-1T0:0:0Z",
            "2024-01-01T00:00:00.Z",
            "9999-01-01T00:00:00Z",
            "2024-01-01T00:00:00.é1Z",
        ] {
            assert_eq!(utc_ns(text), None, "{text}");
        }
        assert_eq!(utc_ns("1970-01-01T00:00:01.5Z"), Some(1_500_000_000));
        assert_eq!(utc_ns("1970-01-01T00:00:00.1234567899Z"), Some(123_456_789));
    }

    proptest! {
        #[test]
        fn every_instant_survives_the_way_through_text(ns in any::<u64>()) {
            prop_assert_eq!(utc_ns(&utc_text(ns)), Some(ns));
        }

        #[test]
        fn no_text_panics(text in "[0-9TZ:.-]{0,40}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z|.*") {
            let _ = utc_ns(&text);
        }
    }
}
