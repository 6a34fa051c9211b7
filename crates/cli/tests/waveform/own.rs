//! A program of one's own: takt with components that takt itself does not have.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{TAKT, chain, refusal, report, text};

/// `examples/own.rs`. A test run that builds examples leaves it beside takt; otherwise it is built as such a run would, so that
/// nothing is built twice.
fn own(arguments: &[&str]) -> Output {
    let program = Path::new(TAKT).with_file_name("examples").join("own");
    if !program.exists() {
        let features: &[&str] = if cfg!(feature = "parquet") { &["--features", "takt/full"] } else { &[] };
        let arguments = [&["test", "--no-run", "--workspace", "--example", "own"], features].concat();
        let cargo = Command::new(env!("CARGO")).args(arguments).output().expect("cargo");
        assert!(cargo.status.success(), "{}", text(&cargo.stderr));
    }
    Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("it starts")
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let out = own(&[arguments, &["--json"]].concat());
    assert_eq!(out.status.code(), Some(0), "{arguments:?}: {}", report(&out));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[test]
fn components_of_ones_own_are_listed_and_run_by_name() {
    assert_eq!(json(&["component", "list", "gain"])["params"][0]["name"], "gain_db");
    let components = [("aerial", "aerial", ""), ("gain", "gain", "gain_db = 6.0"), ("sink", "null-sink", "")];
    let (_folder, path) = chain("own", "1 ms", &components);
    let run = json(&["run", &path, "--slots", "3", "--clock", "free"]);
    assert_eq!([&run["slots"], &run["misses"]], [3, 0]);
    assert!(refusal(&["run", &path, "--slots", "1"]).contains("there is no component type `aerial`"), "takt has none");
}

/// The guide begins with it. The compiler checks it, since it stands in the example too.
#[test]
fn a_component_of_eight_lines_stands_in_the_documentation() {
    let page = include_str!("../../../../docs/how-to/write-a-component.md");
    let example = include_str!("../../examples/own.rs");
    let block = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of Rust");
    assert!(block.lines().count() <= 8 && block.starts_with("use takt_runtime::component;\n"), "{block}");
    let (_, component) = block.split_once('\n').expect("lines");
    assert!(component.contains("fn half(") && example.contains(component), "{component}");
    assert_eq!(json(&["component", "list", "half"])["summary"], "Halves each number.");
}

#[test]
fn a_component_whose_packets_break_is_reported_first_and_the_answer_is_no() {
    let (_folder, path) = chain("broken", "1 ms", &[("aerial", "aerial", ""), ("sink", "null-sink", "")]);
    let run = |more: &[&str]| {
        let out = own(&[&["run", &path, "--clock", "free"], more].concat());
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
