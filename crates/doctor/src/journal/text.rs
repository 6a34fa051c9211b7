//! The text of a journal: its lines, and the state that they add up to. Untrusted input.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Entry, How, JournalError};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    TaktJournal { version: u32 },
    Changes(Entry),
    Settled { number: u64, how: How },
}

pub(super) const HEADER: &str = "{\"takt_journal\":{\"version\":1}}\n";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Changes not settled, oldest first.
    pub standing: Vec<Entry>,
    /// Bytes of an unfinished last line, which the reader skips.
    pub torn_bytes: usize,
    pub(super) next: u64,
    /// The offset of the next line.
    pub(super) end: u64,
    /// The last line lacks its line end although it is whole.
    pub(super) unended: bool,
}

/// Parses a journal; `path` is for messages.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Contents, JournalError> {
    let mut contents = Contents::default();
    let mut at = 0usize;
    for (index, raw) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let ended = raw.ends_with(b"\n");
        let line = match understand(path, index, raw) {
            Ok(line) => line,
            // Only the last piece lacks its end. The header is written together with the first entry.
            Err(_) if !ended && (index > 0 || HEADER.as_bytes().starts_with(raw)) => {
                contents.torn_bytes = raw.len();
                break;
            }
            Err(error) => return Err(error),
        };
        match line {
            Line::TaktJournal { .. } => {}
            Line::Changes(entry) => {
                contents.next = contents.next.max(entry.number.saturating_add(1));
                contents.standing.push(entry);
            }
            Line::Settled { number, .. } => contents.standing.retain(|entry| entry.number != number),
        }
        at += raw.len();
        contents.unended = !ended;
    }
    contents.end = at as u64;
    Ok(contents)
}

fn understand(path: &Path, index: usize, raw: &[u8]) -> Result<Line, JournalError> {
    let path = || path.to_owned();
    match (serde_json::from_slice::<Line>(raw), index) {
        (Ok(Line::TaktJournal { version: 1 }), 0) => Ok(Line::TaktJournal { version: 1 }),
        (Ok(Line::TaktJournal { version }), 0) => Err(JournalError::Version { path: path(), version }),
        (_, 0) => Err(JournalError::Foreign { path: path() }),
        (Ok(line @ (Line::Changes(_) | Line::Settled { .. })), _) => Ok(line),
        _ => {
            let got = String::from_utf8_lossy(raw).trim_end().chars().take(60).collect();
            Err(JournalError::Corrupt { path: path(), line: index + 1, got })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::entry;
    use super::*;

    proptest! {
        #[test]
        fn hostile_bytes_never_panic_and_never_become_entries(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(contents) = parse(Path::new("j"), &bytes) {
                prop_assert!(contents.standing.is_empty());
            }
        }

        #[test]
        fn damage_in_one_line_never_becomes_another_change(at in 0usize..600, value in any::<u8>()) {
            let line = serde_json::to_string(&Line::Changes(entry("a", "1", "2"))).unwrap();
            let mut bytes = format!("{HEADER}{line}\n").into_bytes();
            let place = at % bytes.len();
            bytes[place] = value;
            if let Ok(contents) = parse(Path::new("j"), &bytes) {
                prop_assert!(contents.standing.len() <= 1);
            }
        }
    }
}
