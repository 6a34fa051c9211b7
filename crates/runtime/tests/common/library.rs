//! `examples/library.rs`, built as a library, as this program is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Where it is.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| beside_this_program().unwrap_or_else(by_cargo))
}

/// What Cargo has made together with this program, unless a source is newer.
fn beside_this_program() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.parent()?.join("examples");
    let library = folder.join("liblibrary.so");
    let built = changed(&library)?;
    // As for make: the file, a colon, and all sources it was made of.
    let sources = std::fs::read_to_string(folder.join("liblibrary.d")).ok()?;
    let mut sources = sources.split_once(':')?.1.split_whitespace();
    sources.all(|source| changed(Path::new(source)).is_some_and(|source| source <= built)).then_some(library)
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// Where only this test is run: takes as long as its dependencies, if they are built with other features.
fn by_cargo() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let package = ["-p", "takt-runtime", "--example", "library", "--message-format=json"];
    let built = Command::new(cargo).args(["build", "--profile", profile]).args(package).output();
    let built = built.expect("cargo is where it was");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let lines = String::from_utf8(built.stdout).expect("JSON");
    let file = |line: &str| -> Option<PathBuf> {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = line["target"]["kind"][0] == "example" && line["target"]["name"] == "library";
        is_it.then(|| line["filenames"][0].as_str().map(PathBuf::from))?
    };
    lines.lines().find_map(file).expect("a library was built")
}
