//! Values of a setting, and what is refused.

use std::fmt;

use serde_json::{Value, json};
use takt_base::{nearest, parse_duration};

/// Values that a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    Word(&'static [&'static str]),
    /// A whole number in this range.
    Whole(i64, i64),
    /// A time such as `"2s"`, longer than 0 and at most an hour.
    Span,
    /// As `Span`, or `"0s"`.
    SpanOrNone,
    /// A domain that belongs to one kind of setting alone.
    Domain(&'static dyn Domain),
}

/// The values that a setting can have, where words, whole numbers and times do not say it.
pub trait Domain: fmt::Debug + Sync {
    /// Its values, in a few words; alternatives stand with `|` between them.
    fn shown(&self) -> String;

    /// The value as it goes into the record.
    ///
    /// # Errors
    /// The words that could stand there.
    fn accept(&self, value: &Value) -> Result<Value, String>;
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Takes::Word(words) => f.write_str(&words.join(" | ")),
            Takes::Whole(low, high) => write!(f, "{low} to {high}"),
            Takes::Span => f.write_str("a time up to 1h"),
            Takes::SpanOrNone => f.write_str("a time up to 1h, or 0s"),
            Takes::Domain(domain) => f.write_str(&domain.shown()),
        }
    }
}

impl Takes {
    pub(super) fn accept(self, value: &Value) -> Result<Value, String> {
        match self {
            Takes::Word(words) => match value.as_str() {
                Some(word) if words.contains(&word) => Ok(json!(word)),
                other => {
                    let known = format!("give one of: {}", words.join(", "));
                    Err(word_remedy(other.unwrap_or_default(), words, known))
                }
            },
            Takes::Whole(low, high) => match value.as_i64() {
                Some(n) if (low..=high).contains(&n) => Ok(json!(n)),
                _ => Err(format!("give a whole number from {low} to {high}")),
            },
            Takes::Span => span(value, 1),
            Takes::SpanOrNone => span(value, 0),
            Takes::Domain(domain) => domain.accept(value),
        }
    }
}

fn span(value: &Value, shortest_ns: u128) -> Result<Value, String> {
    let span = value.as_str().and_then(|text| parse_duration(text).ok());
    match span.filter(|span| (shortest_ns..=HOUR_NS).contains(&span.as_nanos())) {
        Some(_) => Ok(value.clone()),
        None => Err("give a time up to an hour, such as \"2s\" or \"500ms\"".into()),
    }
}

/// The known word that is nearest, or else `otherwise`.
#[must_use]
pub fn word_remedy(word: &str, known: &[&'static str], otherwise: String) -> String {
    nearest(word, known.iter().copied()).map_or(otherwise, |near| format!("did you mean \"{near}\"?"))
}

/// The value if it is `word` or `read` understands it, or else `remedy`.
pub fn word_or(
    value: &Value,
    word: &str,
    read: impl Fn(&Value) -> Option<Value>,
    remedy: impl Into<String>,
) -> Result<Value, String> {
    if value == word { Ok(value.clone()) } else { read(value).ok_or_else(|| remedy.into()) }
}

const HOUR_NS: u128 = 3_600_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(takes: Takes, value: impl Into<Value>) -> Result<Value, String> {
        takes.accept(&value.into())
    }

    #[test]
    fn a_slip_of_the_pen_is_corrected_and_a_foreign_word_gets_the_list() {
        let mode = Takes::Word(&["rx", "tx", "duplex"]);
        assert_eq!(accept(mode, "duplex"), Ok(json!("duplex")));
        assert_eq!(accept(mode, "dupelx").unwrap_err(), "did you mean \"duplex\"?");
        assert_eq!(accept(mode, "sideways").unwrap_err(), "give one of: rx, tx, duplex");
        assert_eq!(accept(mode, 3).unwrap_err(), "give one of: rx, tx, duplex");
    }

    #[test]
    fn ranges_are_kept() {
        let bytes = Takes::Whole(16, 8972);
        assert_eq!(accept(bytes, 1472), Ok(json!(1472)));
        assert!(accept(bytes, 15).is_err() && accept(bytes, 8973).is_err() && accept(bytes, 1472.5).is_err());
        assert!(accept(Takes::Span, "0s").is_err() && accept(Takes::Span, "2h").is_err());
        assert!(accept(Takes::Span, "1h").is_ok() && accept(Takes::SpanOrNone, "0s").is_ok());
    }
}
