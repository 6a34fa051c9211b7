//! Sources, sinks and faults as text: `kind:key=value,key=value`.
//!
//! In a source or a sink the first value may stand without its key (`file:/tmp/x.sc16,loop=true`), a flag without its value
//! (`loop`). A value with a comma in it stands in quotes: `path="a,b.sc16"`, and there `\"` is a quote and `\\` a backslash.
//! A fault is stricter ([`Grammar::strict`]).

use std::borrow::Cow;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use takt_base::{nearest, parse_number};
use takt_dsp::file::{Datatype, SampleFormat};

/// A mistake in the text of a source, a sink or a fault: its place, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// "source", "sink" or "fault".
    pub what: &'static str,
    pub text: String,
    /// The part that is wrong, in bytes; empty where something is missing.
    pub at: Range<usize>,
    /// The right text there.
    pub expected: String,
    remedy: Box<Remedy>,
}

/// All else that is known of a wrong text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Remedy {
    /// No source, sink or fault has this name.
    is_unknown: bool,
    reason: Option<Reason>,
    /// The likely meaning of the part that is wrong.
    meant: Option<String>,
    /// A whole text that would be right.
    example: Option<String>,
    /// The fix where nothing else is expected there.
    way: Option<&'static str>,
    /// Alternatives, behind the example.
    others: &'static str,
    /// The file whose format is missing.
    unformatted: Option<PathBuf>,
}

/// Why a text is wrong, where the message does not say it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
struct Reason(String);

impl SpecError {
    /// The text to write instead.
    #[must_use]
    pub fn fix(&self) -> String {
        match (self.instead(), self.remedy.way) {
            (Some(text), _) => format!("give --{} {text}{}", self.what, self.remedy.others),
            (None, Some(way)) => way.to_owned(),
            (None, None) => format!("give {}", self.expected),
        }
    }

    /// A whole text that would be right, where one is known.
    #[must_use]
    pub fn instead(&self) -> Option<String> {
        let Some(meant) = &self.remedy.meant else { return self.remedy.example.clone() };
        let (before, after) = (self.text.get(..self.at.start), self.text.get(self.at.end..));
        Some(format!("{}{meant}{}", before.unwrap_or(""), after.unwrap_or("")))
    }

    /// Why the text is wrong, where the message does not say it.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.remedy.reason.as_ref().map(|reason| reason.0.as_str())
    }

    /// The file whose sample format is missing, if that is what is wrong.
    pub(crate) fn unformatted(&self) -> Option<&Path> {
        self.remedy.unformatted.as_deref()
    }

    fn fixed_by(mut self, way: &'static str) -> SpecError {
        self.remedy.way = Some(way);
        self
    }

    /// Place of the error, counted in characters from 1.
    fn character(&self) -> usize {
        self.text.get(..self.at.start).map_or(1, |before| before.chars().count() + 1)
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpecError { what, text, at, expected, remedy } = self;
        match text.get(at.clone()).unwrap_or_default() {
            got if remedy.is_unknown => write!(f, "unknown {what} `{got}`")?,
            "" if at.start == text.len() => write!(f, "{what} `{text}` needs {expected}")?,
            "" => write!(f, "{what} `{text}` (character {}) needs {expected}", self.character())?,
            got => write!(f, "{what} `{text}`: `{got}` (character {}) is not {expected}", self.character())?,
        }
        match &remedy.meant {
            Some(meant) => write!(f, "; did you mean `{meant}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SpecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.remedy.reason.as_ref().map(|reason| reason as &(dyn std::error::Error + 'static))
    }
}

/// Texts that may be written.
pub(crate) struct Grammar {
    /// "source", "sink" or "fault".
    pub(crate) what: &'static str,
    pub(crate) kinds: &'static [Kind],
    /// The kinds, for messages: "lose, delay and reboot".
    pub(crate) names: &'static str,
    /// A text that is right.
    pub(crate) example: &'static str,
    /// The main value stands first, without its key; whatever follows is `key=value`, without quotes. Messages guess nothing.
    pub(crate) strict: bool,
}

/// A kind of source, sink or fault: its name, its keys, and the key whose value may stand first without it.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) main: &'static str,
    pub(crate) keys: &'static [&'static str],
}

/// A text taken apart, every key known to its kind and there once.
pub(crate) struct Words<'a> {
    grammar: &'static Grammar,
    text: &'a str,
    pub(crate) kind: &'static Kind,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    pub(crate) fn read(grammar: &'static Grammar, text: &'a str) -> Result<Words<'a>, SpecError> {
        let name = text.split(':').next().unwrap_or(text);
        // A part of the text even where it is empty, so that an error can point at it.
        let rest = &text[text.len().min(name.len() + 1)..];
        let Some(kind) = grammar.kinds.iter().find(|kind| kind.name == name) else {
            return Err(grammar.unknown(text, name));
        };
        let mut words = Words { grammar, text, kind, pairs: vec![] };
        for piece in pieces(rest, !grammar.strict) {
            words.add(piece)?;
        }
        Ok(words)
    }

    fn add(&mut self, piece: &'a str) -> Result<(), SpecError> {
        let Kind { main, keys, .. } = *self.kind;
        let first = self.pairs.is_empty() && !main.is_empty();
        // A key is a word: what has anything else before its `=` is a value, such as a path.
        let is_key = |key: &str| self.grammar.strict || key.bytes().all(|byte| byte.is_ascii_lowercase());
        let pair = match piece.split_once('=') {
            _ if first && self.grammar.strict => {
                self.pairs.push((main, piece));
                return Ok(());
            }
            _ if piece.is_empty() => return Ok(()),
            Some(pair) if is_key(pair.0) => pair,
            _ if self.grammar.strict => return Err(self.wrong(piece, "key=value", &[])),
            _ if keys.contains(&piece) => (piece, ""),
            _ if first => (main, piece),
            _ => return Err(self.wrong_key(piece)),
        };
        if !keys.contains(&pair.0) {
            return Err(self.wrong_key(pair.0));
        }
        if self.find(pair.0).is_some() {
            return Err(self.wrong(pair.0, "allowed twice", &[]).fixed_by("give each key once"));
        }
        self.pairs.push(pair);
        Ok(())
    }

    fn wrong_key(&self, got: &str) -> SpecError {
        let Kind { name, keys, .. } = *self.kind;
        let of = if self.grammar.strict { format!("this {}", self.grammar.what) } else { name.to_owned() };
        match keys {
            [] => self.wrong(got, &format!("wanted: {name} has no keys"), &[]).fixed_by("remove it"),
            keys => self.wrong(got, &format!("a key of {of}: {}", keys.join(", ")), keys),
        }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn find(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    /// The value of a key, if it is there, as `parse` understands it; `expected` says what that is.
    pub(crate) fn value<T>(
        &self,
        key: &str,
        expected: &str,
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<Option<T>, SpecError> {
        self.word(key, expected, &[], parse)
    }

    /// A value that is one of a few words.
    pub(crate) fn word<T>(
        &self,
        key: &str,
        expected: &str,
        words: &[&str],
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<Option<T>, SpecError> {
        let Some(text) = self.find(key) else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| self.wrong(text, expected, words))
    }

    /// A number within a range; `expected` says what it is, with its range.
    pub(crate) fn number(
        &self,
        key: &str,
        range: RangeInclusive<f64>,
        expected: &str,
    ) -> Result<Option<f64>, SpecError> {
        self.value(key, expected, |text| {
            let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
            parse_number(digits).ok().map(|number| sign * number).filter(|number| range.contains(number))
        })
    }

    pub(crate) fn whole_number(&self, key: &str) -> Result<Option<u64>, SpecError> {
        self.value(key, "a whole number", |text| text.parse().ok())
    }

    /// Whether a flag is set.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, SpecError> {
        let flag = self.word(key, "true or false", &["true", "false"], |text| match text {
            "false" | "no" | "0" => Some(false),
            "" | "true" | "yes" | "1" => Some(true),
            _ => None,
        })?;
        Ok(flag.unwrap_or(false))
    }

    /// A path that has to be there, without its quotes; `example` is one.
    pub(crate) fn path(&self, expected: &str, example: &str) -> Result<PathBuf, SpecError> {
        if let Some(value) = self.find("path").map(unquote).filter(|value| !value.is_empty()) {
            return Ok(value.into_owned().into());
        }
        let mut error = self.lacks(expected, "");
        error.remedy.example = Some(format!("{}:{example}", self.kind.name));
        Err(error)
    }

    /// The format of a file of samples, if it is named.
    pub(crate) fn format(&self) -> Result<Option<SampleFormat>, SpecError> {
        let names = SampleFormat::ALL.map(SampleFormat::name);
        self.word("format", &names.join(", "), &names, |name| name.parse().ok())
    }

    /// The format of the file at this path, named or by its extension.
    pub(crate) fn format_of(&self, path: &Path) -> Result<SampleFormat, SpecError> {
        let format = self.format()?.or_else(|| SampleFormat::of_path(path));
        format.ok_or_else(|| self.lacks_format(path))
    }

    /// The same of a file that is only read: it may have any type of SigMF.
    pub(crate) fn datatype_of(&self, path: &Path) -> Result<Datatype, SpecError> {
        let names = SampleFormat::ALL.map(SampleFormat::name);
        let expected = format!("{} or a SigMF type such as cu8", names.join(", "));
        let own = |name: &str| name.parse::<SampleFormat>().ok().map(Datatype::from);
        let named = self.word("format", &expected, &names, |name| own(name).or_else(|| name.parse().ok()))?;
        named.or_else(|| Datatype::of_path(path)).ok_or_else(|| self.lacks_format(path))
    }

    fn lacks_format(&self, path: &Path) -> SpecError {
        let mut error = self.lacks("a sample format", "format=sc16");
        error.remedy.reason = Some(Reason("the file name has no known suffix".to_owned()));
        error.remedy.others = "   (or sc8, fc32)";
        error.remedy.unformatted = Some(path.to_owned());
        error
    }

    /// Something is missing: `expected` says what, and `addition` would do, unless it is empty.
    pub(crate) fn lacks(&self, expected: &str, addition: &str) -> SpecError {
        let mut error = self.wrong(&self.text[self.text.len()..], expected, &[]);
        if !addition.is_empty() {
            let text = self.text.trim_end_matches(',');
            let separator = match text.find(':') {
                None => ":",
                Some(at) if at + 1 == text.len() => "",
                Some(_) => ",",
            };
            error.remedy.example = Some(format!("{text}{separator}{addition}"));
        }
        error
    }

    /// `piece`, a part of the text, is not what could stand there; it may have been meant as one of a few words.
    pub(crate) fn wrong(&self, piece: &str, expected: &str, words: &[&str]) -> SpecError {
        self.grammar.wrong(self.text, piece, expected.to_owned(), nearest(piece, words.iter().copied()))
    }
}

impl Grammar {
    fn wrong(&self, text: &str, piece: &str, expected: String, meant: Option<&str>) -> SpecError {
        let start = (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
        let at = start..start + piece.len();
        let meant = meant.filter(|_| !self.strict).map(str::to_owned);
        let remedy = Box::new(Remedy { meant, ..Remedy::default() });
        SpecError { what: self.what, text: text.to_owned(), at, expected, remedy }
    }

    /// No kind has this name, with which the text begins.
    fn unknown(&self, text: &str, name: &str) -> SpecError {
        let Grammar { what, names, example, .. } = self;
        let nearest = nearest(name, self.kinds.iter().map(|kind| kind.name));
        let mut error = self.wrong(text, name, (*names).to_owned(), nearest);
        error.remedy.is_unknown = true;
        error.remedy.reason = Some(Reason(format!("the {what}s are {names}")));
        error.remedy.example = Some((*example).to_owned());
        error
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

/// Text between the commas that are not in quotes.
fn pieces(text: &str, quotes: bool) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |letter| {
        let ends = letter == ',' && !quoted;
        quoted ^= quotes && letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped && quoted;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_survives_its_quotes(value in "[ -~é]{1,20}", other in "[a-z,]{0,5}") {
            let text = format!("{},{other}", quote(&value));
            let first = pieces(&text, true).next().unwrap();
            if !value.starts_with('"') && !value.ends_with('"') || value.contains(['"', ',', '\\']) {
                prop_assert_eq!(unquote(first), value);
            }
        }
    }
}
