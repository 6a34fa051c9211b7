//! Sources and sinks as text: `kind:key=value,key=value`.
//!
//! The first value may stand without its key (`file:/tmp/x.sc16,loop=true`), a flag without its value (`loop`). A value with
//! a comma in it stands in quotes: `path="a,b.sc16"`, and there `\"` is a quote and `\\` a backslash.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Range, RangeInclusive};

use takt_base::{nearest, parse_number};

/// What is wrong with the text of a source or a sink: where, what stands there, what could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// "source" or "sink".
    pub what: &'static str,
    /// The whole text.
    pub text: String,
    /// The part that is wrong, in bytes; empty where something is missing.
    pub at: Range<usize>,
    /// What would be right there.
    pub expected: String,
    /// What was probably meant.
    pub meant: Option<String>,
}

impl SpecError {
    /// What to write instead.
    #[must_use]
    pub fn fix(&self) -> String {
        match &self.meant {
            Some(meant) => {
                let (before, after) = (self.text.get(..self.at.start), self.text.get(self.at.end..));
                format!("--{} {}{meant}{}", self.what, before.unwrap_or(""), after.unwrap_or(""))
            }
            None => format!("give {} there", self.expected),
        }
    }

    /// Where it goes wrong, counted in characters from 1.
    fn character(&self) -> usize {
        self.text.get(..self.at.start).map_or(1, |before| before.chars().count() + 1)
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpecError { what, text, at, expected, meant } = self;
        match text.get(at.clone()).filter(|got| !got.is_empty()) {
            Some(got) => write!(f, "{what} `{text}`: `{got}` (character {}) is not {expected}", self.character())?,
            None => write!(f, "{what} `{text}`: character {} lacks {expected}", self.character())?,
        }
        match meant {
            Some(meant) => write!(f, "; did you mean `{meant}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SpecError {}

/// A kind of source or sink: its name, its keys, and the key whose value may stand first without it.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) main: &'static str,
    pub(crate) keys: &'static [&'static str],
}

/// A text taken apart, every key known to its kind and there once.
pub(crate) struct Words<'a> {
    what: &'static str,
    text: &'a str,
    pub(crate) kind: &'static Kind,
    /// Key, value, and where the value stands.
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    pub(crate) fn read(what: &'static str, text: &'a str, kinds: &'static [Kind]) -> Result<Words<'a>, SpecError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some(kind) = kinds.iter().find(|kind| kind.name == name) else {
            let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
            return Err(wrong(
                what,
                text,
                name,
                format!("a {what}: {}", names.join(", ")),
                nearest(name, names.iter().copied()),
            ));
        };
        let mut words = Words { what, text, kind, pairs: vec![] };
        for (index, piece) in pieces(rest).filter(|piece| !piece.is_empty()).enumerate() {
            // A key is a word: what has anything else before its `=` is a value, such as a path.
            let pair = match piece.split_once('=').filter(|(key, _)| key.bytes().all(|b| b.is_ascii_lowercase())) {
                Some(pair) => pair,
                None if kind.keys.contains(&piece) => (piece, ""),
                None if index == 0 && !kind.main.is_empty() => (kind.main, piece),
                None => return Err(words.wrong_key(piece)),
            };
            if !kind.keys.contains(&pair.0) {
                return Err(words.wrong_key(pair.0));
            }
            if words.pairs.iter().any(|(key, _)| *key == pair.0) {
                return Err(wrong(what, text, pair.0, "allowed twice".to_owned(), None));
            }
            words.pairs.push(pair);
        }
        Ok(words)
    }

    fn wrong_key(&self, got: &str) -> SpecError {
        let Kind { name, keys, .. } = self.kind;
        let expected = match keys {
            [] => format!("wanted: {name} has no keys"),
            keys => format!("a key of {name}: {}", keys.join(", ")),
        };
        wrong(self.what, self.text, got, expected, nearest(got, keys.iter().copied()))
    }

    fn find(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    /// A number within a range; `expected` says what it is, with its range.
    pub(crate) fn number(
        &self,
        key: &str,
        range: RangeInclusive<f64>,
        expected: &str,
    ) -> Result<Option<f64>, SpecError> {
        let Some(text) = self.find(key) else { return Ok(None) };
        let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
        match parse_number(digits).map(|number| sign * number) {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => Err(wrong(self.what, self.text, text, expected.to_owned(), None)),
        }
    }

    /// A whole number.
    pub(crate) fn count(&self, key: &str, expected: &str) -> Result<Option<u64>, SpecError> {
        let Some(text) = self.find(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| wrong(self.what, self.text, text, expected.to_owned(), None))
    }

    /// Whether a flag is set.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, SpecError> {
        match self.find(key) {
            None | Some("false" | "no" | "0") => Ok(false),
            Some("" | "true" | "yes" | "1") => Ok(true),
            Some(other) => {
                Err(wrong(self.what, self.text, other, "true or false".to_owned(), nearest(other, ["true", "false"])))
            }
        }
    }

    /// One of a few words.
    pub(crate) fn word<T>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Option<T>,
        names: &[&str],
    ) -> Result<Option<T>, SpecError> {
        let Some(text) = self.find(key) else { return Ok(None) };
        match parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(wrong(self.what, self.text, text, names.join(", "), nearest(text, names.iter().copied()))),
        }
    }

    /// A value that has to be there, without its quotes.
    pub(crate) fn required(&self, key: &str, expected: &str) -> Result<String, SpecError> {
        match self.find(key).map(unquote).filter(|value| !value.is_empty()) {
            Some(value) => Ok(value.into_owned()),
            None => Err(self.lacks(expected)),
        }
    }

    /// Something is missing.
    pub(crate) fn lacks(&self, expected: &str) -> SpecError {
        let end = self.text.len();
        let (what, text) = (self.what, self.text.to_owned());
        SpecError { what, text, at: end..end, expected: expected.to_owned(), meant: None }
    }
}

/// A value as [`Words`] reads it back.
pub(crate) fn quote(value: &str) -> Cow<'_, str> {
    if value.contains([',', '"', '\\']) {
        Cow::Owned(format!("\"{}\"", value.replace('\\', r"\\").replace('"', "\\\"")))
    } else {
        Cow::Borrowed(value)
    }
}

fn unquote(value: &str) -> Cow<'_, str> {
    let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else {
        return Cow::Borrowed(value);
    };
    let mut out = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        out.push(if letter == '\\' { letters.next().unwrap_or('\\') } else { letter });
    }
    Cow::Owned(out)
}

/// What stands between the commas that are not in quotes.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |letter| {
        let ends = letter == ',' && !quoted;
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped && quoted;
        ends
    })
}

/// `piece` is a part of `text`.
fn wrong(what: &'static str, text: &str, piece: &str, expected: String, meant: Option<&str>) -> SpecError {
    let inside = (piece.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    let start = inside.filter(|start| start + piece.len() <= text.len()).unwrap_or(0);
    let at = start..start + piece.len();
    SpecError { what, text: text.to_owned(), at, expected, meant: meant.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_survives_its_quotes(value in "[ -~é]{1,20}", other in "[a-z,]{0,5}") {
            let text = format!("{},{other}", quote(&value));
            let first = pieces(&text).next().unwrap();
            if !value.starts_with('"') && !value.ends_with('"') || value.contains(['"', ',', '\\']) {
                prop_assert_eq!(unquote(first), value);
            }
        }
    }
}
