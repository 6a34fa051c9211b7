//! Components of a shared library, and what is no such library.

use std::path::Path;
use std::process::Command;

use crate::program::{TAKT, file, json, refusal};

/// The runtime's example of a library. A test run that builds examples leaves it beside the program; otherwise it is built
/// as such a run would, so that nothing is built twice.
fn library() -> String {
    let built = Path::new(TAKT).with_file_name("examples").join("liblibrary.so");
    if !built.exists() {
        let features: &[&str] = if cfg!(feature = "parquet") { &["--features", "takt/full"] } else { &[] };
        let arguments = [&["test", "--no-run", "--workspace", "--example", "library"], features].concat();
        let cargo = Command::new(env!("CARGO")).args(arguments).output().expect("cargo");
        assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    }
    built.to_str().expect("text").to_owned()
}

#[test]
fn components_of_a_library_are_listed_and_run_by_name() {
    let library = library();
    let saxpy = json(&["component", "list", "library-saxpy", "--library", &library]);
    assert_eq!(saxpy["params"][0]["name"], "a");
    let (_folder, path) = file(
        br#"
name = "loaded"
slot = "1 ms"
chain = ["source", "saxpy", "sink"]
[component.source]
type = "library-source"
[component.saxpy]
type = "library-saxpy"
a = 2.0
[component.sink]
type = "library-sink"
"#,
    );
    let run = json(&["run", &path, "--slots", "20", "--clock", "free", "--library", &library]);
    assert_eq!((&run["slots"], &run["misses"]), (&20.into(), &0.into()));
    assert!(refusal(&["run", &path, "--slots", "1"]).contains("unknown component type `library-source`"));
}

#[test]
fn what_is_no_library_is_told_with_what_would_be() {
    let said = refusal(&["component", "list", "--library", "/nowhere/lib.so"]);
    assert!(said.contains("can't load /nowhere/lib.so") && said.contains("No such file"), "{said}");
    let (_folder, path) = file(b"no library");
    let said = refusal(&["component", "list", "--library", &path]);
    assert!(said.contains("crate-type = [\"cdylib\"]"), "{said}");
}
