//! Time of day as SigMF writes it: RFC 3339 in UTC, `2026-11-21T01:18:00.123456789Z`.

/// Nanoseconds since 1970 as text, with nine decimals.
///
/// ```
/// assert_eq!(takt_dsp::sigmf::utc_text(951_782_400_000_000_001), "2000-02-29T00:00:00.000000001Z");
/// ```
#[must_use]
pub fn utc_text(unix_ns: u64) -> String {
    let (seconds, ns) = (unix_ns / 1_000_000_000, unix_ns % 1_000_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date_of(days);
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{ns:09}Z")
}

/// Nanoseconds since 1970 of such a text, any number of decimals (those beyond nine fall away), a leap second counted as
/// the second after. `None` if it is not one, has another zone than Z, or lies before 1970 or after 2554.
#[must_use]
pub fn utc_ns(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [h, m, s] = numbers(clock, ':', [2, 2, 2])?;
    let legal = year >= 1970 && (1..=12).contains(&month) && day >= 1 && day <= month_days(year, month);
    if !legal || h > 23 || m > 59 || s > 60 || fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let ns = fraction.bytes().chain(std::iter::repeat(b'0')).take(9).fold(0, |ns, b| ns * 10 + u64::from(b - b'0'));
    let seconds = days_before(year, month, day) * 86_400 + h * 3600 + m * 60 + s;
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
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

fn month_days(year: u64, month: u64) -> u64 {
    let next = if month == 12 { days_before(year + 1, 1, 1) } else { days_before(year, month + 1, 1) };
    next - days_before(year, month, 1)
}

/// Days from 1970-01-01 to a date. Years begin in March, so that a leap day is the last of its year.
fn days_before(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 153 days are five months, from March as from August.
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The date so many days after 1970-01-01.
fn date_of(days: u64) -> (u64, u64, u64) {
    // A year too far at most.
    let year = (1970..=1970 + days / 365).rev().find(|&year| days_before(year, 1, 1) <= days).unwrap_or(1970);
    let month = (1..=12).rev().find(|&month| days_before(year, month, 1) <= days).unwrap_or(1);
    (year, month, days - days_before(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_instants_have_their_text() {
        // From `date -u -d @SECONDS +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (951_868_799, "2000-02-29T23:59:59.000000000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000000000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000000Z"),
        ] {
            assert_eq!(utc_text(seconds * 1_000_000_000), text);
            assert_eq!(utc_ns(text), Some(seconds * 1_000_000_000));
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "Z",
            "2024-02-30T00:00:00Z",
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
        fn no_text_panics(text in "[0-9TZ:.-]{0,40}|.*") {
            let _ = utc_ns(&text);
        }
    }
}
