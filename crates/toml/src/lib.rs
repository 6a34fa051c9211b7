//! Files that people write, read strictly: every key is known, every value has a range, and whatever is wrong has a place and a fix.
//!
//! ```
//! use takt_toml::{Fields, FilePlace, Problem, Source, Wrong, document};
//!
//! let source = Source::new("beat.toml", "slot_us = 0\n", 1 << 20);
//! let table = document::<Problem>(&source.text).unwrap();
//! let file = Fields::file(&table, &source.text);
//! let wrong: Wrong<Problem> = file.whole("slot_us", 1..=1000).unwrap_err();
//! assert_eq!(wrong.problem.to_string(), "`slot_us` can't be 0");
//! assert_eq!(wrong.problem.fix(), "give a whole number from 1 to 1000");
//! assert_eq!(FilePlace::new(&source.into(), wrong.span).to_string(), "beat.toml:1:11");
//! ```

mod entry;
mod fields;
mod place;
mod problem;

pub use entry::{Entry, boolean, finite, integer, list, mistyped, number, string};
pub use fields::{Fields, Table, document};
pub use place::{FilePlace, Source};
pub use problem::{Problem, Wrong};

/// Characters of a text that a message carries at most.
pub const SHOWN_CHARS: usize = 64;

/// As much of a text as a message carries.
#[must_use]
pub fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}
