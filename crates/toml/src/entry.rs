//! One value of a file, and what it must be.

use toml::Spanned;
use toml::de::DeValue;

use crate::problem::{Problem, Wrong};
use crate::shortened;

/// A value, and where it stands.
pub type Entry<'a> = Spanned<DeValue<'a>>;

/// A text.
///
/// # Errors
/// It is none; so for all of these.
pub fn string<'t, P: From<Problem>>(key: &str, value: &'t Entry<'_>) -> Result<&'t str, Wrong<P>> {
    if let DeValue::String(text) = value.get_ref() { Ok(text) } else { mistyped(key, value, "a text in quotes") }
}

/// True or false.
///
/// # Errors
/// It is neither.
pub fn boolean<P: From<Problem>>(key: &str, value: &Entry<'_>) -> Result<bool, Wrong<P>> {
    if let DeValue::Boolean(yes) = value.get_ref() { Ok(*yes) } else { mistyped(key, value, "true or false") }
}

/// A whole number, in any of TOML's bases.
///
/// # Errors
/// It is none, or has more than 64 bits.
pub fn integer<P: From<Problem>>(key: &str, value: &Entry<'_>) -> Result<i64, Wrong<P>> {
    let read = match value.get_ref() {
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix()).ok(),
        _ => None,
    };
    read.map_or_else(|| mistyped(key, value, "a whole number"), Ok)
}

/// A number with a point or an exponent; neither infinite nor none.
///
/// # Errors
/// It is no such number.
pub fn finite<P: From<Problem>>(key: &str, value: &Entry<'_>) -> Result<f64, Wrong<P>> {
    let read = match value.get_ref() {
        DeValue::Float(digits) => digits.as_str().parse().ok().filter(|x: &f64| x.is_finite()),
        _ => None,
    };
    read.map_or_else(|| mistyped(key, value, "a finite number"), Ok)
}

/// A number, whole or not.
///
/// # Errors
/// It is none, or not finite.
pub fn number<P: From<Problem>>(key: &str, value: &Entry<'_>) -> Result<f64, Wrong<P>> {
    match value.get_ref() {
        DeValue::Integer(_) => integer(key, value).map(|n| n as f64),
        _ => finite(key, value),
    }
}

/// A list; `expected` says of what.
///
/// # Errors
/// It is none.
pub fn list<'t, 'a, P: From<Problem>>(
    key: &str,
    value: &'t Entry<'a>,
    expected: &str,
) -> Result<&'t [Entry<'a>], Wrong<P>> {
    if let DeValue::Array(list) = value.get_ref() { Ok(list) } else { mistyped(key, value, expected) }
}

/// The value is not what is expected there.
///
/// # Errors
/// Always.
pub fn mistyped<T, P: From<Problem>>(key: &str, value: &Entry<'_>, expected: &str) -> Result<T, Wrong<P>> {
    let got = match value.get_ref() {
        DeValue::String(text) => format!("{:?}", shortened(text)),
        DeValue::Integer(digits) => digits.to_string(),
        DeValue::Float(digits) => digits.to_string(),
        DeValue::Boolean(yes) => yes.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    };
    let problem = Problem::Value { key: key.to_owned(), got, expected: expected.to_owned() };
    Err(Wrong::new(value.span(), problem))
}
