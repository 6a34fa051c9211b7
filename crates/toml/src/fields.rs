//! A table of a file, key by key.

use std::ops::{Range, RangeInclusive};

use takt_base::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::entry::{self, Entry, mistyped};
use crate::problem::{Problem, Wrong};
use crate::shortened;

/// The keys and values of a table.
pub type Table<'a> = DeTable<'a>;

/// The whole text as a table.
///
/// # Errors
/// It is no TOML.
pub fn document<P: From<Problem>>(text: &str) -> Result<Spanned<Table<'_>>, Wrong<P>> {
    DeTable::parse(text).map_err(|error| {
        Wrong::new(error.span().unwrap_or(0..0), Problem::Toml { message: error.message().to_owned() })
    })
}

/// A table, and what it is the table of.
#[derive(Clone, Debug)]
pub struct Fields<'t, 'a> {
    /// In words, for messages: "the file", "a link".
    pub of: String,
    pub table: &'t Table<'a>,
    /// Its place; what is missing in it is missing there.
    pub span: Range<usize>,
}

impl<'t, 'a> Fields<'t, 'a> {
    /// Those of the whole file.
    #[must_use]
    pub fn file(document: &'t Spanned<Table<'a>>, text: &str) -> Fields<'t, 'a> {
        Fields { of: "the file".to_owned(), table: document.get_ref(), span: 0..text.len().min(1) }
    }

    /// Those of a value that must be a table.
    ///
    /// # Errors
    /// It is none.
    pub fn of<P: From<Problem>>(of: &str, entry: &'t Entry<'a>) -> Result<Fields<'t, 'a>, Wrong<P>> {
        match entry.get_ref() {
            DeValue::Table(table) => Ok(Fields { of: of.to_owned(), table, span: entry.span() }),
            _ => mistyped(of, entry, "a table"),
        }
    }

    /// That all its keys are known.
    ///
    /// # Errors
    /// One is not.
    pub fn know<P: From<Problem>>(&self, known: &[&'static str]) -> Result<(), Wrong<P>> {
        let Some((key, _)) = self.table.iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref())) else {
            return Ok(());
        };
        let nearest = nearest(key.get_ref(), known.iter().copied()).map(str::to_owned);
        let known = known.iter().map(|&key| key.to_owned()).collect();
        let problem = Problem::Key { of: self.of.clone(), key: shortened(key.get_ref()), nearest, known };
        Err(Wrong::new(key.span(), problem))
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// It is not.
    pub fn required<P: From<Problem>>(&self, key: &'static str) -> Result<&'t Entry<'a>, Wrong<P>> {
        let missing = || Wrong::new(self.span.clone(), Problem::NoKey { of: self.of.clone(), key });
        self.table.get(key).ok_or_else(missing)
    }

    /// That not both keys are there.
    ///
    /// # Errors
    /// They are.
    pub fn not_both<P: From<Problem>>(&self, first: &'static str, second: &'static str) -> Result<(), Wrong<P>> {
        if !self.table.contains_key(first) || !self.table.contains_key(second) {
            return Ok(());
        }
        Err(Wrong::new(self.span_of(second), Problem::Both { of: self.of.clone(), first, second }))
    }

    /// Place of a key's value; of the table, if the key is not there.
    #[must_use]
    pub fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or(self.span.clone(), Spanned::span)
    }

    /// The value of a key, as `read` has it; `None` where the key is not there.
    fn given<T, P>(
        &self,
        key: &str,
        read: impl FnOnce(&'t Entry<'a>) -> Result<T, Wrong<P>>,
    ) -> Result<Option<T>, Wrong<P>> {
        self.table.get(key).map(read).transpose()
    }

    /// A text.
    ///
    /// # Errors
    /// It is none; so for all of these.
    pub fn text<P: From<Problem>>(&self, key: &str) -> Result<Option<&'t str>, Wrong<P>> {
        self.given(key, |entry| entry::string(key, entry))
    }

    /// A text that `parse` understands; `expected` says what that is.
    ///
    /// # Errors
    /// It does not.
    pub fn parsed<T, P: From<Problem>>(
        &self,
        key: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Wrong<P>> {
        self.given(key, |entry| parse(entry::string(key, entry)?).map_or_else(|| mistyped(key, entry, expected), Ok))
    }

    /// True or false.
    ///
    /// # Errors
    /// It is neither.
    pub fn flag<P: From<Problem>>(&self, key: &str) -> Result<Option<bool>, Wrong<P>> {
        self.given(key, |entry| entry::boolean(key, entry))
    }

    /// A whole number of a range.
    ///
    /// # Errors
    /// It is none, or outside.
    pub fn whole<P: From<Problem>>(&self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, Wrong<P>> {
        self.given(key, |entry| {
            let read = match entry.get_ref() {
                DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
                _ => None,
            };
            let expected = || format!("a whole number from {} to {}", range.start(), range.end());
            read.filter(|number| range.contains(number)).map_or_else(|| mistyped(key, entry, &expected()), Ok)
        })
    }

    /// A number of a range, whole or not.
    ///
    /// # Errors
    /// It is none, or outside.
    pub fn number<P: From<Problem>>(&self, key: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, Wrong<P>> {
        self.given(key, |entry| {
            let read = entry::number::<Problem>(key, entry).ok();
            let expected = || format!("a number from {} to {}", range.start(), range.end());
            read.filter(|number| range.contains(number)).map_or_else(|| mistyped(key, entry, &expected()), Ok)
        })
    }

    /// A table in the table.
    ///
    /// # Errors
    /// It is none.
    pub fn table<P: From<Problem>>(&self, key: &str) -> Result<Option<Fields<'t, 'a>>, Wrong<P>> {
        self.given(key, |entry| match entry.get_ref() {
            DeValue::Table(table) => Ok(Fields { of: format!("`{key}` of {}", self.of), table, span: entry.span() }),
            _ => mistyped(key, entry, "a table"),
        })
    }

    /// A list of at most `max` of `what`; empty where the key is not there.
    ///
    /// # Errors
    /// It is none, or longer.
    pub fn list<P: From<Problem>>(
        &self,
        key: &str,
        what: &'static str,
        max: usize,
        expected: &str,
    ) -> Result<&'t [Entry<'a>], Wrong<P>> {
        let list = self.given(key, |entry| entry::list(key, entry, expected))?.unwrap_or_default();
        let Some(beyond) = list.get(max) else { return Ok(list) };
        Err(Wrong::new(beyond.span(), Problem::TooMany { what, count: list.len() as u64, max: max as u64 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fault of that text when `read` reads it: `column message | fix`.
    fn wrong(text: &str, read: impl Fn(&Fields<'_, '_>) -> Result<(), Wrong<Problem>>) -> String {
        let table = document::<Problem>(text).expect("TOML");
        match read(&Fields::file(&table, text)) {
            Ok(()) => "fine".to_owned(),
            Err(wrong) => format!("{} {} | {}", wrong.span.start, wrong.problem, wrong.problem.fix()),
        }
    }

    #[test]
    fn what_is_wrong_has_a_place_and_a_fix() {
        let cases = [
            (
                wrong("gian = 1", |file| file.know(&["gain", "to"])),
                "0 unknown key `gian` in the file | did you mean `gain`?",
            ),
            (
                wrong("qqq = 1", |file| file.know(&["gain", "to"])),
                "0 unknown key `qqq` in the file | use one of: gain, to",
            ),
            (wrong("a = 1", |file| file.required("gain").map(drop)), "0 the file has no `gain` | add `gain`"),
            (
                wrong("a = 1\nb = 2", |file| file.not_both("a", "b")),
                "10 the file has both `a` and `b` | remove one of them",
            ),
            (wrong("a = 1", |file| file.text("a").map(drop)), "4 `a` can't be 1 | give a text in quotes"),
            (wrong("a = 'x'", |file| file.flag("a").map(drop)), "4 `a` can't be \"x\" | give true or false"),
            (
                wrong("a = -1", |file| file.whole("a", 0..=9).map(drop)),
                "4 `a` can't be -1 | give a whole number from 0 to 9",
            ),
            (
                wrong("a = inf", |file| file.number("a", 0.0..=9.0).map(drop)),
                "4 `a` can't be inf | give a number from 0 to 9",
            ),
            (wrong("a = 1", |file| file.table("a").map(drop)), "4 `a` can't be 1 | give a table"),
            (
                wrong("a = {}", |file| file.list("a", "things", 2, "a list").map(drop)),
                "4 `a` can't be a table | give a list",
            ),
            (
                wrong("a = [1,2,3]", |file| file.list("a", "things", 2, "a list").map(drop)),
                "9 3 things are too many; at most 2 are allowed | give at most 2",
            ),
            (wrong("a = 0x1F", |file| file.whole("a", 31..=31).map(drop)), "fine"),
            (wrong("", |file| file.list("a", "things", 2, "a list").map(drop)), "fine"),
        ];
        for (got, expected) in cases {
            assert_eq!(got, expected);
        }
        assert!(document::<Problem>("a = ").is_err());
    }
}
