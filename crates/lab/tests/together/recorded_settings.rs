//! A record keeps the settings of its point and the options that they become. Stored runs have the same, byte for byte.

use std::net::Ipv4Addr;
use std::path::Path;
use std::{env, fs};

use serde_json::{Value, json};
use takt_lab::experiment::{Depth, Experiment, Point, named, names};
use takt_load::Target;

const GOLDEN: &str = "tests/golden/recorded_settings.txt";

/// Each kind of workload, with settings that are not at their defaults.
const EVERY: &str = include_str!("../golden/every_workload.toml");

fn record(point: &Point) -> String {
    let target = Target {
        addr: Ipv4Addr::new(192, 168, 10, 2),
        device: None,
        transmit: false,
        host_cpus: &[0, 1, 2],
        cable_bps: point.place.path.as_ref().and_then(|path| path.cable_bps),
    };
    let options = point.workload.options(&target);
    let options = options.unwrap_or_else(|failure| Value::String(failure.to_string()));
    json!({ "point": point.settings, "workload": options }).to_string()
}

/// FNV-1a, 64 bits.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn in_short(name: &str, depth: Depth) -> String {
    let experiment = Experiment::parse(name, &named(name).unwrap()).unwrap();
    let records: Vec<String> = experiment.points(depth).iter().map(record).collect();
    format!("{name} {}: {} points, {:016x}\n", depth.name(), records.len(), digest(&records.join("\n")))
}

#[test]
fn a_record_has_the_settings_and_options_that_stored_runs_have() {
    let mut text: String =
        names().flat_map(|name| [Depth::Full, Depth::Quick].map(|depth| in_short(name, depth))).collect();
    let every = Experiment::parse("every", EVERY).unwrap_or_else(|error| panic!("{}: {error}", error.place()));
    for point in every.points(Depth::Full) {
        text += &format!("{}\n{}\n", point.label(), record(&point));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if env::var_os("TAKT_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap();
    for (now, then) in text.lines().zip(golden.lines()) {
        assert_eq!(now, then);
    }
    assert_eq!(text.lines().count(), golden.lines().count());
}
