//! What is wrong with the text of a fault.

use std::fmt;
use std::ops::Range;

/// What is wrong with the text of a fault: where, what stands there, what could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultError {
    /// The whole text.
    pub text: String,
    /// The part that is wrong, in bytes; empty where something is missing.
    pub at: Range<usize>,
    /// What would be right there.
    pub expected: String,
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FaultError { text, at, expected } = self;
        match text.get(at.clone()).filter(|got| !got.is_empty()) {
            Some(got) => write!(f, "fault `{text}`: `{got}` (character {}) is not {expected}", self.character()),
            None => write!(f, "fault `{text}`: character {} lacks {expected}", self.character()),
        }
    }
}

impl std::error::Error for FaultError {}

impl FaultError {
    /// Where it goes wrong, counted in characters from 1.
    fn character(&self) -> usize {
        self.text.get(..self.at.start).map_or(1, |before| before.chars().count() + 1)
    }
}
