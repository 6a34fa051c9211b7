//! Components of a shared library, and what is no such library.

use std::process::Command;

use crate::program::{file, json, refusal};

/// The runtime's example of a library, built as a user builds his.
fn library() -> String {
    let arguments = ["build", "-p", "takt-runtime", "--example", "library", "--message-format=json"];
    let built = Command::new(env!("CARGO")).args(arguments).output().expect("cargo");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = String::from_utf8(built.stdout).expect("JSON");
    let file = |line: &str| -> Option<String> {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        (line["target"]["name"] == "library").then(|| line["filenames"][0].as_str().map(str::to_owned))?
    };
    told.lines().find_map(file).expect("a library was built")
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
