//! Places in a file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::problem::{Problem, Wrong};

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, as it was given.
    pub name: String,
    /// Its text; empty if it was too long to be kept.
    pub text: String,
}

impl Source {
    /// A file of `max_bytes` at most; of a longer one only the name is kept.
    #[must_use]
    pub fn new(name: &str, text: &str, max_bytes: usize) -> Source {
        let text = if text.len() > max_bytes { "" } else { text };
        Source { name: name.to_owned(), text: text.to_owned() }
    }

    /// That the text has `max_bytes` at most.
    ///
    /// # Errors
    /// It has more.
    pub fn short_enough<P: From<Problem>>(text: &str, max_bytes: usize) -> Result<(), Wrong<P>> {
        if text.len() <= max_bytes {
            return Ok(());
        }
        Err(Wrong::new(0..0, Problem::TooMany { what: "bytes", count: text.len() as u64, max: max_bytes as u64 }))
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    pub source: Arc<Source>,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// From 1.
    pub line: usize,
    /// Characters, from 1.
    pub column: usize,
}

impl FilePlace {
    /// Place of these bytes of the text. A parser may point behind the end, or into a character: that is cut off.
    #[must_use]
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> FilePlace {
        let text = &source.text;
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let (start, end) = (floor(span.start), floor(span.end.max(span.start)));
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        FilePlace { source: Arc::clone(source), span: start..end, line, column }
    }
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source.name, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// A file is hostile, and so may be what a parser says of it: no span panics, and what it cuts out is text.
        #[test]
        fn any_span_has_a_place(text in "\\PC{0,20}\n?\\PC{0,20}", start in 0_usize..99, length in 0_usize..99) {
            let source = Arc::new(Source::new("x.toml", &text, 1000));
            let place = FilePlace::new(&source, start..start + length);
            proptest::prop_assert!(text.get(place.span.clone()).is_some());
            let before = &text[..place.span.start];
            proptest::prop_assert_eq!(place.line, before.split('\n').count());
        }
    }

    #[test]
    fn a_file_that_is_too_long_is_refused_and_not_kept() {
        assert!(Source::short_enough::<Problem>("1234", 4).is_ok());
        let wrong = Source::short_enough::<Problem>("12345", 4).unwrap_err();
        assert_eq!(wrong.problem.to_string(), "5 bytes are too many; at most 4 are allowed");
        assert_eq!(Source::new("x.toml", "12345", 4).text, "");
    }
}
