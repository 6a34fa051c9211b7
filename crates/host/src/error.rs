//! Errors of reading a host.

use std::io;

/// A fact of the host that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file is absent, forbidden, or does not end.
    #[error("takt can't read {path}")]
    Io {
        /// The file, as named on the host.
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("{path} holds `{got}`; expected: {expected}")]
    Malformed {
        /// The file, as named on the host.
        path: String,
        expected: &'static str,
        /// The beginning of what was found.
        got: String,
    },
}

impl ReadError {
    /// A file that says `text`, where something else was expected.
    #[must_use]
    pub fn malformed(path: impl Into<String>, expected: &'static str, text: &str) -> ReadError {
        ReadError::Malformed { path: path.into(), expected, got: text.chars().take(40).collect() }
    }
}

/// An error and why, and why that, in one line.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        text = format!("{text}: {why}");
        cause = why.source();
    }
    text
}
