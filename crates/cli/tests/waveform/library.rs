//! Components of a shared library, and what is no such library.

use std::path::Path;
use std::process::Command;

use crate::program::{TAKT, chain, file, has, json, refusal, takt, text};

/// The runtime's example of a library. A test run that builds examples leaves it beside the program; otherwise it is built
/// as such a run would, so that nothing is built twice.
fn library() -> String {
    let built = Path::new(TAKT).with_file_name("examples").join("liblibrary.so");
    if !built.exists() {
        let features: &[&str] = if cfg!(feature = "parquet") { &["--features", "takt/full"] } else { &[] };
        let arguments = [&["test", "--no-run", "--workspace", "--example", "library"], features].concat();
        let cargo = Command::new(env!("CARGO")).args(arguments).output().expect("cargo");
        assert!(cargo.status.success(), "{}", text(&cargo.stderr));
    }
    built.to_str().expect("text").to_owned()
}

#[test]
fn components_of_a_library_are_listed_and_run_by_name() {
    let library = library();
    let saxpy = json(&["component", "list", "library-saxpy", "--library", &library]);
    assert_eq!(saxpy["params"][0]["name"], "a");
    let components =
        [("source", "library-source", ""), ("saxpy", "library-saxpy", "a = 2.0"), ("sink", "library-sink", "")];
    let (_folder, path) = chain("loaded", "1 ms", &components);
    let run = json(&["run", &path, "--slots", "20", "--clock", "free", "--library", &library]);
    assert_eq!([&run["slots"], &run["misses"]], [20, 0]);
    assert!(refusal(&["run", &path, "--slots", "1"]).contains("unknown component type `library-source`"));
}

#[test]
fn a_library_whose_packets_break_is_reported_first_and_the_answer_is_no() {
    let library = library();
    let components = [("aerial", "library-aerial", ""), ("sink", "library-sink", "")];
    let (_folder, path) = chain("broken", "1 ms", &components);
    let run = |more: &[&str]| {
        let out = takt(&[&["run", &path, "--clock", "free", "--library", &library], more].concat());
        assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    let said = run(&["--slots", "6"]);
    let lines: Vec<&str> = said.lines().collect();
    let broken = "2 packets of component `aerial`, output `out`, were broken: the first had 3 items in slot 3, where its \
                  shape says 4.";
    assert_eq!(
        lines[1], "No: 2 packets broken; no slot of 6 was missed.",
        "behind the line that says what runs: {said}"
    );
    let said = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("packets  {broken} fix      give 4 items or none")), "{said}");

    let document: serde_json::Value = serde_json::from_str(&run(&["--slots", "8", "--json"])).expect("JSON");
    assert_eq!([&document["misses"], &document["broken_packets"], &document["dropped_packets"]], [1, 2, 0]);
    let aerial = &document["components"][0];
    assert_eq!([&aerial["missed"], &aerial["lost"]], [1, 1]);
    let first = serde_json::json!({ "slot": 3, "items": 3, "declared_items": 4 });
    let output = serde_json::json!({ "name": "out", "dropped_packets": 0, "broken_packets": 2, "first_broken": first });
    assert_eq!(aerial["outputs"], serde_json::json!([output]));
}

#[test]
fn what_is_no_library_is_reported_with_what_would_be() {
    let said = refusal(&["component", "list", "--library", "/nowhere/lib.so"]);
    assert!(said.contains("can't load /nowhere/lib.so") && said.contains("No such file"), "{said}");
    let (_folder, path) = file(b"no library");
    has(&refusal(&["component", "list", "--library", &path]), &["crate-type = [\"cdylib\"]"]);
}
