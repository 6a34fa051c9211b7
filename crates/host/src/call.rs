//! How this program is called, as a person can type it: every fix that names a command of takt's own is made here.
//!
//! A shell finds `takt` in the folders of `PATH`, and `target/release/takt` is in none. `sudo` looks in folders of its
//! own (`secure_path` in sudoers), so that it does not find what lies in `~/.cargo/bin` either. A program that would not be
//! found by its name is called by its whole path, in quotes where a shell needs them. Root needs no sudo, and a container
//! often has none.
//!
//! ```
//! // `takt clean`, or `/home/ada/takt/target/release/takt clean`
//! let command = takt_host::call::takt("clean");
//! assert!(command.ends_with(" clean"));
//! ```

use std::env;
use std::fmt::Display;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Fix that a library gives if the same call needs root's rights. The program knows what was typed and puts that call
/// in place of these words: [`sudo_again`].
pub const WITH_SUDO: &str = "run this command with sudo";

/// Folders in which `sudo` looks: of Debian and Ubuntu, and of Fedora and its kin. Which are in force only root may read, so a
/// name counts as found where both find it.
const SECURE_PATHS: [&str; 2] =
    ["/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin", "/sbin:/bin:/usr/sbin:/usr/bin"];

#[must_use]
pub fn takt(arguments: impl Display) -> String {
    let path = env::var("PATH").unwrap_or_default();
    format!("{} {arguments}", name_of(&own_program(), &[&path]))
}

/// A command of this program that needs root's rights.
#[must_use]
pub fn sudo_takt(arguments: impl Display) -> String {
    let name = || name_of(&own_program(), &SECURE_PATHS);
    if is_root() { takt(arguments) } else { format!("sudo {} {arguments}", name()) }
}

#[must_use]
pub fn again() -> String {
    takt(own_arguments())
}

/// The call that runs now, with root's rights; `None` if it has them.
#[must_use]
pub fn sudo_again() -> Option<String> {
    (!is_root()).then(|| sudo_takt(own_arguments()))
}

/// One word for a shell: in quotes if it holds anything that a shell would not leave as it is.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn own_arguments() -> String {
    env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// The file of this program. One that was built anew since it was started is called by the same path.
fn own_program() -> PathBuf {
    let file = env::current_exe().unwrap_or_else(|_| PathBuf::from("takt")); // no /proc: its name is all that is left
    let text = file.to_string_lossy();
    text.strip_suffix(" (deleted)").map_or_else(|| file.clone(), PathBuf::from)
}

/// The name alone if it leads to `program` by each of these lists of folders, else the whole path.
fn name_of(program: &Path, lists: &[&str]) -> String {
    let name = program.file_name().unwrap_or_default();
    let leads_here = |list: &&str| {
        let files = env::split_paths(list).map(|folder| folder.join(name));
        files.into_iter().find(|file| may_be_called(file)).is_some_and(|file| is_same(&file, program))
    };
    let typed = if lists.iter().all(leads_here) { Path::new(name) } else { program };
    quoted(&typed.to_string_lossy())
}

fn may_be_called(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn is_same(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).ok().zip(fs::canonicalize(other).ok()).is_some_and(|(one, other)| one == other)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let file = folder.path().join(name);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn list(folders: &[&tempfile::TempDir]) -> String {
        env::join_paths(folders.iter().map(|folder| folder.path())).unwrap().into_string().unwrap()
    }

    #[test]
    fn a_program_that_its_name_leads_to_is_called_by_its_name() {
        let (here, linked, other) = (folder(&["takt"]), folder(&[]), folder(&["takt"]));
        let program = here.path().join("takt");
        symlink(&program, linked.path().join("takt")).unwrap();
        let whole = program.to_str().unwrap();
        assert_eq!(name_of(&program, &[&list(&[&here])]), "takt");
        assert_eq!(name_of(&program, &[&list(&[&linked, &other])]), "takt", "a link leads to it");
        assert_eq!(name_of(&program, &[&list(&[&other, &here])]), whole, "another one is found first");
        assert_eq!(name_of(&program, &["/takt/none"]), whole);
        assert_eq!(name_of(&program, &[""]), whole);
    }

    #[test]
    fn a_name_that_not_every_sudo_finds_is_not_typed() {
        let (here, other) = (folder(&["takt"]), folder(&[]));
        let program = here.path().join("takt");
        assert_eq!(name_of(&program, &[&list(&[&here]), &list(&[&other])]), program.to_str().unwrap());
        assert_eq!(name_of(&program, &[&list(&[&here]), &list(&[&other, &here])]), "takt");
    }

    #[test]
    fn what_may_not_be_executed_is_no_program() {
        let (data, here) = (folder(&["takt"]), folder(&["takt"]));
        fs::set_permissions(data.path().join("takt"), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(name_of(&here.path().join("takt"), &[&list(&[&data, &here])]), "takt");
    }

    #[test]
    fn a_shell_reads_each_word_as_it_was() {
        for word in
            ["clean", "--runs=/a/b", "", "it's here", "a b", "$HOME", "*", "a\nb", "~", "µ", "#x", r"back\slash"]
        {
            let said = std::process::Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output();
            assert_eq!(String::from_utf8_lossy(&said.unwrap().stdout), word);
        }
        assert_eq!(quoted("/usr/bin/takt"), "/usr/bin/takt");
    }

    #[test]
    fn sudo_is_for_those_who_are_not_root() {
        assert_eq!(sudo_takt("clean").starts_with("sudo "), !is_root());
        assert_eq!(sudo_again().is_some(), !is_root());
        assert!(takt("clean").ends_with(" clean"));
    }
}
