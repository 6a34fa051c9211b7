//! Programs of this machine that environments are made with.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use takt_host::leftovers::Run;

/// Folders of system programs that a user's PATH may lack.
const ALSO: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// The first file of that name that may be executed; a path is a name that leads to itself.
pub(super) fn find(name: impl AsRef<Path>) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(ALSO.map(PathBuf::from));
    folders.map(|folder| folder.join(&name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Calls programs for a run. Each is recorded and carries its mark, even one that only prints its version: if the run is
/// killed meanwhile, `takt clean` ends it.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    mark: (String, String),
    /// `None`: nobody's.
    run: Option<Run>,
}

impl Caller {
    pub(super) fn of(run: &Run) -> Caller {
        let (name, value) = run.mark();
        Caller { mark: (name.to_owned(), value.to_owned()), run: Some(run.clone()) }
    }

    /// Records that the run starts this program, or that one that it calls does.
    pub(super) fn starts(&self, program: &Path) {
        if let Some(Err(error)) = self.run.as_ref().map(|run| run.starts(program)) {
            tracing::warn!("a killed run will leave {} behind: {error}", program.display());
        }
    }

    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let (name, value) = self.mark();
        let program = program.as_ref();
        // A program that is not there is not started either.
        if let Some(file) = find(program) {
            self.starts(&file);
        }
        let mut command = Command::new(program);
        command.env(name, value);
        command
    }

    /// Its output when called with `arguments`; `None` if it can't be called or fails.
    pub(super) fn says(&self, program: &Path, arguments: &[&str]) -> Option<String> {
        let Output { status, stdout, .. } = self.command(program).args(arguments).output().ok()?;
        status.success().then(|| String::from_utf8_lossy(&stdout).into_owned())
    }

    /// The variable that every process of the run carries.
    pub(super) fn mark(&self) -> (&str, &str) {
        (&self.mark.0, &self.mark.1)
    }

    #[cfg(test)]
    pub(super) fn stranger() -> Caller {
        Caller { mark: ("TAKT_RUN".into(), "nobody".into()), run: None }
    }
}

/// The first thing in a text that looks like a version: `1.1.5+ds1` gives `1.1.5`.
pub(super) fn version(text: &str) -> Option<&str> {
    let word = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let found = text.split_whitespace().find(word)?;
    let end = found.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(found.len());
    found.get(..end).map(|version| version.trim_end_matches('.'))
}

/// The last lines of what a program printed, for an error.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(8);
    let last: Vec<String> = lines[from..].iter().map(|line| line.chars().take(LONGEST).collect()).collect();
    if last.is_empty() { "(nothing)".into() } else { last.join("\n") }
}

/// Characters of a line that are shown.
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_off_what_runtimes_say() {
        assert_eq!(version("runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1"), Some("1.1.5"));
        assert_eq!(version("crun version 1.8.1\ncommit: f8a0"), Some("1.8.1"));
        assert_eq!(version("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)"), Some("7.2.22"));
        assert_eq!(version("no number"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn whatever_is_called_carries_the_mark() {
        let said = Caller::stranger().says(Path::new("/bin/sh"), &["-c", "echo $TAKT_RUN"]);
        assert_eq!(said.as_deref(), Some("nobody\n"));
        assert_eq!(Caller::stranger().says(Path::new("/bin/false"), &[]), None);
    }

    #[test]
    fn a_program_is_a_file_that_may_be_executed() {
        assert!(find("sh").is_some_and(|sh| sh.ends_with("sh")));
        assert_eq!(find("takt-no-such-program"), None);
        assert!(!is_program(Path::new("/etc/passwd")) && !is_program(Path::new("/")));
    }

    #[test]
    fn the_last_lines_are_few_and_short() {
        let text = (0..100).map(|n| format!("{n} {}\n\n", "x".repeat(1000))).collect::<String>();
        let last = last_lines(&text);
        assert_eq!(last.lines().count(), 8);
        assert!(last.starts_with("92 ") && last.lines().all(|line| line.len() <= LONGEST));
        assert_eq!(last_lines("\n \n"), "(nothing)");
    }
}
