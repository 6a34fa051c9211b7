//! Quantities as people type them: `25M`, `25e6`, `10s`, `64KiB`.

use std::time::Duration;

/// A quantity that could not be understood: what was read, and what would have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not {expected}")]
pub struct QuantityError {
    /// The text as given.
    pub got: String,
    /// The expected form, with examples.
    pub expected: &'static str,
}

/// Splits `text` into its number and the suffix behind it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    // The longest prefix that is a number: `1e6` must not end at the `e`, `1k` must end at the `k`.
    let end = (1..=text.len()).rev().find(|&n| text.is_char_boundary(n) && text[..n].parse::<f64>().is_ok())?;
    let number: f64 = text[..end].parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| (number, text[end..].trim()))
}

/// A non-negative number with an optional decimal multiplier: `25e6`, `25M`, `1.5k`, `3G`. No unit: the flag names it.
///
/// # Errors
/// If the text is no such number.
///
/// ```
/// assert_eq!(takt_base::parse_number("25M"), Ok(25e6));
/// assert!(takt_base::parse_number("25MHz").is_err());
/// ```
pub fn parse_number(text: &str) -> Result<f64, QuantityError> {
    let scaled = split(text).and_then(|(number, suffix)| {
        let factor = match suffix {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            _ => return None,
        };
        Some(number * factor)
    });
    scaled.ok_or_else(|| QuantityError { got: text.to_owned(), expected: "a number such as 25e6, 25M, 1.5k or 3G" })
}

/// A span of time with its unit: `10s`, `500ms`, `20us`, `2min`, `1h`; a bare number means seconds.
///
/// # Errors
/// If the text is no such span.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let span = split(text).and_then(|(number, suffix)| {
        let seconds = match suffix {
            "" | "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        Duration::try_from_secs_f64(number * seconds).ok()
    });
    span.ok_or_else(|| QuantityError { got: text.to_owned(), expected: "a time such as 10s, 500ms, 20us or 2min" })
}

/// A number of bytes: `1472`, `64KiB`, `4MiB`, `50MB`.
///
/// # Errors
/// If the text is no such number, or not a whole one.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let bytes = split(text).and_then(|(number, suffix)| {
        let factor = match suffix {
            "" | "B" => 1.0,
            "kB" | "k" | "K" => 1e3,
            "MB" | "M" => 1e6,
            "GB" | "G" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            _ => return None,
        };
        let bytes = number * factor;
        // 2^53: beyond it a double no longer counts single bytes.
        (bytes.fract() == 0.0 && bytes <= 9_007_199_254_740_992.0).then_some(bytes as u64)
    });
    bytes.ok_or_else(|| QuantityError { got: text.to_owned(), expected: "a size such as 1472, 64KiB or 50MB" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_exponents_and_multipliers() {
        for (text, value) in [("25e6", 25e6), ("25M", 25e6), ("1.5k", 1500.0), (" 0 ", 0.0), ("1e6", 1e6), ("3 G", 3e9)]
        {
            assert_eq!(parse_number(text), Ok(value), "{text}");
        }
        for text in ["", "M", "-1", "nan", "inf", "25 MHz", "1e", "1..2", "é"] {
            assert!(parse_number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_carry_their_unit() {
        assert_eq!(parse_duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_duration("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("20us"), Ok(Duration::from_micros(20)));
        assert!(parse_duration("1e300h").is_err());
        assert!(parse_duration("10 parsec").is_err());
    }

    #[test]
    fn bytes_are_whole() {
        assert_eq!(parse_bytes("64KiB"), Ok(65_536));
        assert_eq!(parse_bytes("1.5kB"), Ok(1500));
        assert!(parse_bytes("0.5").is_err());
        assert!(parse_bytes("1e17").is_err());
    }

    #[test]
    fn an_error_says_what_was_read_and_what_was_wanted() {
        let error = parse_duration("soon").unwrap_err();
        assert_eq!(error.to_string(), "`soon` is not a time such as 10s, 500ms, 20us or 2min");
    }
}
