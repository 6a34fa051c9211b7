//! Record of what did not run, what was not judged and what was tried again: on standard error, and in the record that
//! `./test` reads.

use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{Write, stderr};
use std::panic::Location;
use std::path::Path;

/// Says that a test did not run, and what it lacks, with the fix.
///
/// # Panics
/// With `TAKT_NO_SKIP=1`: where everything was installed, a skip is a failure.
#[track_caller]
pub fn skip(why: impl Display) {
    let why = why.to_string();
    assert!(!refused(env::var("TAKT_NO_SKIP").ok().as_deref()), "skipped, and TAKT_NO_SKIP is set: {why}");
    say("SKIPPED", &why, Location::caller());
}

/// Says that a test ran and that its outcome is worth nothing, and what the witness saw. It neither passes nor fails;
/// `./test` counts such outcomes against a limit.
#[track_caller]
pub fn not_judged(why: impl Display) {
    say("NOT JUDGED", &why.to_string(), Location::caller());
}

/// Says that a test passed, but not at its first attempt, and which attempt it was.
#[track_caller]
pub fn repeated(what: impl Display) {
    say("REPEATED", &what.to_string(), Location::caller());
}

fn refused(no_skip: Option<&str>) -> bool {
    no_skip.is_some_and(|value| !value.is_empty() && value != "0")
}

fn say(kind: &str, why: &str, at: &Location<'_>) {
    let line = line(kind, why, at);
    // Past the harness, which keeps what a test that passes prints. A test has nobody to tell when that fails.
    let _ = stderr().write_all(line.as_bytes());
    if let Some(record) = env::var_os("TAKT_TEST_RECORD") {
        append(Path::new(&record), &line);
    }
}

/// One line: kind, test, place, reason.
fn line(kind: &str, why: &str, at: &Location<'_>) -> String {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a thread without a name");
    let why = why.lines().collect::<Vec<_>>().join("; ");
    format!("{kind}: {test} ({}:{}): {why}\n", at.file(), at.line())
}

/// One write each, so that lines of processes that run side by side stay whole.
fn append(record: &Path, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(record);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("TAKT_TEST_RECORD={}: {error}", record.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_refused_where_the_variable_says_so() {
        for (value, want) in [(None, false), (Some(""), false), (Some("0"), false), (Some("1"), true)] {
            assert_eq!(refused(value), want, "{value:?}");
        }
    }

    #[test]
    fn a_reason_of_several_lines_is_one_line_of_the_record() {
        let line = line("SKIPPED", "first\nsecond", Location::caller());
        assert!(line.starts_with("SKIPPED: ") && line.ends_with("): first; second\n"), "{line}");
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn a_record_grows_by_a_line() {
        let record = std::env::temp_dir().join(format!("takt-test-record-{}", std::process::id()));
        append(&record, "one\n");
        append(&record, "two\n");
        let text = std::fs::read_to_string(&record);
        let _ = std::fs::remove_file(&record);
        assert_eq!(text.ok().as_deref(), Some("one\ntwo\n"));
    }
}
