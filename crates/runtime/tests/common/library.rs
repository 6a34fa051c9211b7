//! `examples/library.rs`, built as a library, optimised if this program is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where it is.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let mut build = Command::new(cargo);
        build.args([
            "build",
            "--profile",
            profile,
            "-p",
            "takt-runtime",
            "--example",
            "library",
            "--message-format=json",
        ]);
        let built = build.output().expect("cargo is where it was");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let told = String::from_utf8(built.stdout).expect("JSON");
        let file = |line: &str| -> Option<PathBuf> {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            let is_it = line["target"]["kind"][0] == "example" && line["target"]["name"] == "library";
            is_it.then(|| line["filenames"][0].as_str().map(PathBuf::from))?
        };
        told.lines().find_map(file).expect("a library was built")
    })
}
