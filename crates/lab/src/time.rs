//! Wall-clock stamps for people: UTC, RFC 3339, whole seconds.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now: `2026-11-21T10:04:12Z`.
#[must_use]
pub fn utc_now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc_of(since.as_secs())
}

/// A Unix time as RFC 3339. The civil calendar of days since 1970, era by era of 400 years, as in Howard Hinnant's
/// "chrono-compatible low-level date algorithms".
#[must_use]
pub fn utc_of(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let shifted = days + 719_468; // days since 0000-03-01
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::utc_of;

    /// Expected values: `date -u -d @N +%FT%TZ` of GNU coreutils.
    #[test]
    fn unix_times_become_the_dates_that_date_prints() {
        for (unix_s, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_795_255_452, "2026-11-21T10:04:12Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc_of(unix_s), date);
        }
    }
}
