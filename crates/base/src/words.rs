//! Grammar of what people read: numbers of things, lists, sentences.

use std::fmt::Display;

/// So many of them.
///
/// ```
/// use takt_base::words::plural;
/// assert_eq!((plural(1, "round"), plural(20, "round")), ("1 round".into(), "20 rounds".into()));
/// ```
#[must_use]
pub fn plural<N: Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{end}")
}

/// `a`, `a and b`, `a, b and c`.
///
/// ```
/// assert_eq!(takt_base::words::list(&["rx", "tx", "duplex"]), "rx, tx and duplex");
/// ```
#[must_use]
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        few => few.concat(),
    }
}

/// With the first letter in upper case, but for the name of takt.
///
/// ```
/// assert_eq!(takt_base::words::capital("none is late"), "None is late");
/// assert_eq!(takt_base::words::capital("takt saw none"), "takt saw none");
/// ```
#[must_use]
pub fn capital(words: &str) -> String {
    if words.strip_prefix("takt").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
        return words.to_owned();
    }
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// With a capital and a full stop.
///
/// ```
/// assert_eq!(takt_base::words::sentence("nothing was lost"), "Nothing was lost.");
/// ```
#[must_use]
pub fn sentence(words: &str) -> String {
    capital(words.trim_end_matches('.')) + "."
}
