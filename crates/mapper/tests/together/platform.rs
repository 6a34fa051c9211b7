//! Platform files: what is read, what is refused and with which words, and that no bytes do harm.

use proptest::prelude::*;
use takt_mapper::{Capacities, ClassSpec, Operations, PerWork, Platform, PlatformSpec, Prices};

const PAGE: &str = include_str!("../../../../docs/reference/platform.md");

const FILE: &str = r#"
name = "pc-and-board"

[class.zen5]
slot_ns = 1000
call_ns = 40
capacities = { mac_per_s = 2.1e9 }

[class.a53.capacities]
mac_per_s = 2.5e8
work_per_s = { integer = 1e9, float = 1e8, integer_vector = 4e9, float_vector = 1e9, table = 1e9, memory = 2e9, branch = 1e8 }

[[node]]
name = "pc"
bytes_per_s = 1e10
cores = [{ class = "zen5", cpus = [0, 1, 2] }]

[[node]]
name = "board"
cores = [{ class = "a53", cpus = [0, 3] }]

[[link]]
between = ["board", "pc"]
bytes_per_s = 1.1e8
delay_slots = 2
"#;

#[test]
fn a_file_gives_nodes_cores_classes_and_links() {
    let platform = Platform::parse("lab.toml", FILE).expect("a platform");
    assert_eq!((platform.name(), platform.nodes().len(), platform.cores().len()), ("pc-and-board", 2, 5));
    assert_eq!((platform.core_name(4).as_str(), platform.class_of(4).name.as_str()), ("board:3", "a53"));
    assert_eq!(platform.links()[0].nodes, [0, 1]);
    assert_eq!(platform.links()[0].delay_slots, 2);
    assert_eq!(platform.class_of(0).spec.slot_ns, 1000);
}

#[test]
fn what_a_calibration_writes_is_read_again() {
    let capacities =
        Capacities { mac_per_s: 2.1e9, work_per_s: Some(PerWork::from_fn(|work| f64::from(work as u8) + 1e9)) };
    let prices = Some(Prices(Operations::from_array(std::array::from_fn(|kind| 0.25 + kind as f64))));
    let class = ClassSpec { slot_ns: 900, call_ns: 0, capacities: Some(capacities), prices };
    let spec = PlatformSpec::host("zen5", class, &[0, 2]);
    let platform = Platform::parse("host.toml", &spec.to_toml()).expect("a platform");
    assert_eq!(platform, spec.check().expect("a platform"));
}

#[test]
fn every_file_of_the_reference_page_is_read() {
    let files: Vec<&str> = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(files.len() >= 2);
    for file in files {
        Platform::parse("platform.md", file).unwrap_or_else(|error| panic!("{error} in\n{file}"));
    }
}

/// The error about the file with one text replaced: place, problem, fix.
fn refusal(old: &str, new: &str) -> String {
    assert!(FILE.contains(old), "{old}");
    let error = Platform::parse("lab.toml", &FILE.replacen(old, new, 1)).expect_err("refused");
    format!("{} {error}: {}", error.place.as_ref().expect("from a file"), error.fix())
}

#[test]
fn an_error_has_a_place_and_a_fix() {
    let cases = [
        (("class = \"a53\"", "class = \"a54\""), "lab.toml:20:20 no class is called `a54`: did you mean `a53`?"),
        (("[\"board\", \"pc\"]", "[\"board\", \"x\"]"), "lab.toml:23:21 no node is called `x`: use one of: pc, board"),
        (
            ("[\"board\", \"pc\"]", "[\"pc\", \"pc\"]"),
            "lab.toml:23:11 a link leads from node `pc` to itself: link two different nodes; set `bytes_per_s` of the \
             node for traffic between its own cores",
        ),
        (("[0, 1, 2]", "[0, 1, 0]"), "lab.toml:16:42 core `pc:0` is defined twice: define each core only once"),
        (("name = \"board\"", "name = \"pc\""), "lab.toml:19:8 node `pc` is defined twice: define each node only once"),
        (
            ("bytes_per_s = 1.1e8", "bytes_per_s = -1"),
            "lab.toml:24:15 `bytes_per_s` can't be -1: give bytes per second, at least 1",
        ),
        (
            ("bytes_per_s = 1e10", "bytes_per_s = nan"),
            "lab.toml:15:15 `bytes_per_s` can't be NaN: give bytes per second, at least 1",
        ),
        (
            ("delay_slots = 2", "delay_slots = 0"),
            "lab.toml:25:15 `delay_slots` can't be 0: give a whole number of slots from 1 to 4096",
        ),
        (("table = 1e9", "table = 0.0"), "lab.toml:11:94 `table` can't be 0: give operations per second, at least 1"),
        (
            ("name = \"pc-and-board\"", "name = \"pc and board\""),
            "lab.toml:2:8 `pc and board` is not a valid name: give 1 to 64 letters, digits, `-` or `_`",
        ),
        (
            ("slot_ns = 1000", "slot_ns = 9000000000"),
            "lab.toml:5:11 `slot_ns` can't be 9000000000: give at most a second",
        ),
        (
            ("slot_ns = 1000", "slot_ns = \"1us\""),
            "lab.toml:5:11 \"1us\" is not allowed here: give a whole number, not negative",
        ),
        (("mac_per_s = 2.1e9", "mac_per_s = \"2G\""), "lab.toml:7:28 \"2G\" is not allowed here: give a number"),
        (
            ("{ mac_per_s = 2.1e9 }", "2.1e9"),
            "lab.toml:7:14 2100000000.0 is not allowed here: give a table such as { mac_per_s = 2.1e9 }",
        ),
        (
            ("[{ class = \"zen5\", cpus = [0, 1, 2] }]", "[0, 1, 2]"),
            "lab.toml:16:10 0 is not allowed here: give a table such as { class = \"zen5\", cpus = [0, 1] }",
        ),
        (("[0, 1, 2]", "3"), "lab.toml:16:35 3 is not allowed here: give a list"),
        (("[\"board\", \"pc\"]", "[\"pc\"]"), "lab.toml:23:11 length 1 is not allowed here: give a list of length 2"),
        (("name = \"board\"", "name = 5"), "lab.toml:19:8 5 is not allowed here: give a text in quotation marks"),
    ];
    for ((old, new), expected) in cases {
        assert_eq!(refusal(old, new), expected);
    }
    let unknown = refusal("slot_ns", "slot_us");
    assert!(unknown.starts_with("lab.toml:5:1 unknown field `slot_us`, expected one of"), "{unknown}");
    assert!(refusal("delay_slots = 2", "delay_slots = ").starts_with("lab.toml:25:"));
    let none = Platform::parse("x", "name = \"x\"\nclass = {}\nnode = []\n").expect_err("no cores");
    assert_eq!((none.to_string().as_str(), none.place.expect("a place").line), ("the platform has no cores", 3));
}

#[test]
fn prices_are_of_every_kind_of_instruction() {
    let refusal = refusal("slot_ns = 1000", "slot_ns = 1000\nprices = { integer = 0.5, load = 1.0 }");
    assert!(
        refusal.starts_with("lab.toml:6:10 `prices` can't be 0: give nanoseconds for each kind of instruction"),
        "{refusal}"
    );
}

#[test]
fn what_is_too_much_is_refused_before_it_is_built() {
    let long = "#".repeat(300_000);
    assert!(Platform::parse("x", &long).expect_err("refused").to_string().contains("bytes"));
    let cpus: Vec<String> = (0..2000).map(|cpu| cpu.to_string()).collect();
    let many = FILE.replace("[0, 1, 2]", &format!("[{}]", cpus.join(",")));
    assert_eq!(
        Platform::parse("x", &many).expect_err("refused").to_string(),
        "the platform has 1025 cores; at most 1024 are allowed"
    );
    let deep = format!("name = {}1{}", "[".repeat(50_000), "]".repeat(50_000));
    assert!(Platform::parse("x", &deep).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_a_platform_or_refused_with_a_place_inside_them(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        harmless(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn so_is_a_file_with_anything_cut_out_put_in_or_doubled(
        cuts in prop::collection::vec((0..FILE.len(), 0..40_usize, prop::sample::select(vec!["", "[", "]", "\"", "=", "nan", "-1", "1e999", "\n", "pc", "{", "9999999999999999999"])), 1..4)
    ) {
        let mut text = FILE.to_owned();
        for (at, length, new) in cuts {
            let at = at.min(text.len());
            text.replace_range(at..(at + length).min(text.len()), new);
        }
        harmless(&text)?;
    }
}

fn harmless(text: &str) -> Result<(), TestCaseError> {
    match Platform::parse("x.toml", text) {
        Ok(platform) => prop_assert!(!platform.cores().is_empty()),
        Err(error) => {
            prop_assert!(!error.to_string().is_empty() && !error.fix().is_empty());
            let place = error.place.expect("from a file");
            prop_assert!(place.source.text.get(place.span).is_some() && place.line >= 1 && place.column >= 1);
        }
    }
    Ok(())
}
