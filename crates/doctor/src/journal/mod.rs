//! The journal of changed settings: one line per change, written and synced before the change.
//!
//! ```text
//! {"takt_journal":{"version":1}}
//! {"changes":{"number":0,"unix_ms":1795223309000,"boot_id":"…","rule":"socket-buffer-small","scope":"host",
//!             "setting":{"sysctl":"net.core.rmem_max"},"was":"4194304","becomes":"50000000"}}
//! {"settled":{"number":0,"how":"restored"}}
//! ```
//!
//! A line lacks its end if takt or the host went down while writing it. Its change was not made, since takt changes a setting
//! only after the line is on disk. The reader skips it, and the next line replaces it. Any other line that takt does not
//! understand makes the whole file unusable: takt then changes neither the file nor the kernel.

mod entry;
mod error;
mod text;

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use takt_host::Host;
use takt_host::dirs;
use takt_host::lock::LockedFile;

pub use entry::{Along, Entry, How, Scope};
pub use error::JournalError;
pub use text::Contents;

use self::text::{HEADER, Line, parse};

/// The journal, open for changes by only one process at a time.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: LockedFile,
    pub(crate) contents: Contents,
}

#[must_use]
pub fn journal_path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

const NAME: &str = "journal.jsonl";

/// Reads the journal of `host` in `dir` without locking it. Without a journal, no change is in force.
pub fn read(host: &Host, dir: &Path) -> Result<Contents, JournalError> {
    let bytes = match dirs::find_notes(host, dir)? {
        Some(notes) => notes.read(NAME)?,
        None => None,
    };
    bytes.map_or_else(|| Ok(Contents::default()), |bytes| parse(&journal_path(dir), &bytes))
}

/// The changes in the journal in `dir` that are in force on `host`. Changes of an earlier boot, and of another host that shares
/// the folder, are not.
pub fn in_force(dir: &Path, host: &Host) -> Result<Vec<Entry>, JournalError> {
    let boot_id = boot_id(host);
    let mut standing = read(host, dir)?.standing;
    standing.retain(|entry| entry.boot_id == boot_id);
    Ok(standing)
}

/// The id of this boot.
pub(crate) fn boot_id(host: &Host) -> Option<String> {
    host.read_opt("/proc/sys/kernel/random/boot_id")
}

impl Journal {
    /// Opens the journal of `host` in `dir`, creates both if necessary, and locks it until dropped.
    pub(crate) fn open(host: &Host, dir: &Path) -> Result<Journal, JournalError> {
        let notes = dirs::make_notes(host, dir)?;
        let path = journal_path(dir);
        let io = |doing| {
            let path = path.clone();
            move |source| JournalError::Io { doing, path, source }
        };
        let locked = LockedFile::try_now(notes.kept(NAME)?).map_err(io("locking"))?;
        let Ok(mut file) = locked else { return Err(JournalError::Busy { path }) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io("reading"))?;
        let contents = parse(&path, &bytes)?;
        // The name itself must be on disk before anything depends on the file.
        notes.sync()?;
        Ok(Journal { path, file, contents })
    }

    /// Records that a setting is about to change, and returns when that is on disk.
    pub(crate) fn changes(&mut self, entry: Entry) -> Result<u64, JournalError> {
        let number = self.contents.next;
        let entry = Entry { number, ..entry };
        self.append(&Line::Changes(entry.clone()))?;
        self.contents.next += 1;
        self.contents.standing.push(entry);
        Ok(number)
    }

    /// Records that an entry needs no undoing any more.
    pub(crate) fn settled(&mut self, number: u64, how: How) -> Result<(), JournalError> {
        self.append(&Line::Settled { number, how })?;
        self.contents.standing.retain(|entry| entry.number != number);
        Ok(())
    }

    fn append(&mut self, line: &Line) -> Result<(), JournalError> {
        let mut write = || -> io::Result<u64> {
            let mut text = String::new();
            if self.contents.end == 0 {
                text.push_str(HEADER);
            } else if self.contents.unended {
                text.push('\n');
            }
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
            // Overwrites an unfinished line.
            self.file.set_len(self.contents.end)?;
            self.file.seek(SeekFrom::Start(self.contents.end))?;
            self.file.write_all(text.as_bytes())?;
            self.file.sync_all()?;
            Ok(self.contents.end + text.len() as u64)
        };
        match write() {
            Ok(end) => {
                self.contents.end = end;
                self.contents.unended = false;
                self.contents.torn_bytes = 0;
                Ok(())
            }
            Err(source) => Err(JournalError::Io { doing: "writing", path: self.path.clone(), source }),
        }
    }
}

#[cfg(test)]
mod testing {
    use super::{Entry, Scope};
    use crate::setting::Setting;

    pub(super) fn entry(rule: &str, was: &str, becomes: &str) -> Entry {
        Entry {
            number: 0,
            unix_ms: 1_795_223_309_000,
            boot_id: Some("boot".to_owned()),
            rule: rule.to_owned(),
            scope: Scope::Host,
            setting: Setting::Sysctl("net.core.rmem_max".to_owned()),
            was: was.to_owned(),
            becomes: becomes.to_owned(),
            along: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use takt_host::testing::Tree;

    use super::testing::entry;
    use super::*;

    fn three_changes(dir: &Path) {
        let mut journal = Journal::open(&Host::this(), dir).unwrap();
        journal.changes(entry("a", "1", "2")).unwrap();
        journal.changes(entry("b", "2", "3")).unwrap();
        journal.settled(1, How::Restored).unwrap();
        journal.changes(entry("c", "2", "4")).unwrap();
    }

    fn rules(contents: &Contents) -> Vec<&str> {
        contents.standing.iter().map(|entry| entry.rule.as_str()).collect()
    }

    #[test]
    fn what_was_written_stands_until_it_is_settled() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(&Host::this(), dir.path()).unwrap(), Contents::default());
        three_changes(dir.path());
        let contents = read(&Host::this(), dir.path()).unwrap();
        assert_eq!(rules(&contents), ["a", "c"]);
        assert_eq!(contents.standing[1].number, 2);
    }

    #[test]
    fn only_what_was_changed_since_the_host_was_started_is_in_force() {
        let dir = tempfile::tempdir().unwrap();
        three_changes(dir.path());
        let of = |boot: &str| {
            let tree = Tree::new().with("/proc/sys/kernel/random/boot_id", boot);
            in_force(dir.path(), &tree.host()).unwrap().len()
        };
        assert_eq!((of("boot\n"), of("later\n")), (2, 0));
        assert!(in_force(dir.path(), &Tree::new().host()).unwrap().is_empty(), "another host, which does not say");
    }

    #[test]
    fn only_one_takt_at_a_time_may_write() {
        let dir = tempfile::tempdir().unwrap();
        let first = Journal::open(&Host::this(), dir.path()).unwrap();
        assert!(matches!(Journal::open(&Host::this(), dir.path()), Err(JournalError::Busy { .. })));
        drop(first);
        Journal::open(&Host::this(), dir.path()).unwrap();
    }

    #[test]
    fn cut_at_any_byte_it_keeps_every_whole_line_and_can_be_continued() {
        let dir = tempfile::tempdir().unwrap();
        three_changes(dir.path());
        let path = journal_path(dir.path());
        let whole = fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&i| whole[i] == b'\n').collect();
        // Standing after the header and after each of the four lines.
        let expected: [&[&str]; 5] = [&[], &["a"], &["a", "b"], &["a"], &["a", "c"]];
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            // A line is whole when all but its end is there.
            let lines = ends.iter().filter(|&&end| end <= length).count();
            let wanted = expected[lines.saturating_sub(1)];
            assert_eq!(rules(&read(&Host::this(), dir.path()).unwrap()), wanted, "cut at {length}");

            let mut journal = Journal::open(&Host::this(), dir.path()).unwrap();
            journal.changes(entry("next", "5", "6")).unwrap();
            drop(journal);
            let after = read(&Host::this(), dir.path()).unwrap();
            assert_eq!(rules(&after), [wanted, &["next"]].concat(), "continued after a cut at {length}");
            assert_eq!(after.torn_bytes, 0);
        }
    }

    #[test]
    fn a_damaged_line_is_named_and_the_file_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        three_changes(dir.path());
        let path = journal_path(dir.path());
        let damaged = fs::read_to_string(&path).unwrap().replacen("\"rule\":\"b\"", "\"rule\":b", 1);
        fs::write(&path, &damaged).unwrap();
        for error in
            [read(&Host::this(), dir.path()).unwrap_err(), Journal::open(&Host::this(), dir.path()).unwrap_err()]
        {
            assert!(matches!(&error, JournalError::Corrupt { line: 3, got, .. } if got.contains("changes")), "{error}");
            assert!(error.to_string().contains("journal.jsonl line 3"), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    }

    #[test]
    fn a_file_of_another_user_or_of_a_newer_takt_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = journal_path(dir.path());
        for foreign in ["hello", "hello\n", "{\"changes\":1}\n", "\n", "{}\n"] {
            fs::write(&path, foreign).unwrap();
            assert!(
                matches!(Journal::open(&Host::this(), dir.path()), Err(JournalError::Foreign { .. })),
                "{foreign:?}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
        }
        fs::write(&path, "{\"takt_journal\":{\"version\":2}}\n").unwrap();
        assert!(matches!(Journal::open(&Host::this(), dir.path()), Err(JournalError::Version { version: 2, .. })));
    }
}
