//! Both ways over engine `xdp`, whose one queue of the interface two streams share.

use std::path::Path as FilePath;
use std::time::Duration;

use takt_host::leftovers::Registry;
use takt_testbed::net::{Build, Path, PathSpec};
use takt_testing::skip;

use crate::software::{Radio, TAKT, json, number};
use crate::watched::Unless::{Delayed, Lost};
use crate::watched::{Wrong, untrue};
use crate::witness::{Run, judge};

/// Streams both ways over a cable with this longest packet, samples a second, and counts to the sample.
fn both_ways(label: &'static str, model: &str, mtu: &str, rate: u64) {
    let dir = tempfile::tempdir().expect("a folder");
    let records = Registry::at(dir.path()).begin("test").expect("records");
    let with = Build { run: &records, label, program: FilePath::new(TAKT), cpus: &[] };
    let mut spec = PathSpec::named("direct").expect("a path");
    spec.set("mtu", mtu).expect("an option");
    let path = match Path::build(&spec, &with) {
        Ok(path) => path,
        Err(error) => return skip(format!("{error}   ({})", error.fix().unwrap_or_default())),
    };
    path.finish_checksums().expect("ethtool's settings");
    let sps = rate.to_string();
    let args = ["rate", "--rx", &sps, "--tx", &sps, "--duration", "500ms", "--engine", "xdp", "--json"];
    judge(
        Duration::from_millis(50),
        || Run::of(Radio::behind(&path, model), &args),
        |run| {
            let outcome = json(&run.out);
            assert_eq!(outcome["engine"]["path"], "native XDP, copied", "{outcome:#}");
            let of = |keys: &[&str]| keys.iter().map(|key| number(&outcome, key)).collect::<Vec<_>>();
            assert_eq!(number(&outcome, "/rx/expected_samples"), rate / 2);
            let accounted = of(&["/rx/samples", "/rx/dropped", "/rx/unsent_samples"]);
            assert_eq!(accounted.iter().sum::<u64>(), rate / 2, "{outcome:#}");
            let missing = of(&["/rx/dropped", "/tx/sequence_errors"]);
            let mut wrong: Vec<Wrong> = untrue(Lost, &[("nothing was lost either way", missing == [0, 0])]);
            wrong.extend(untrue(Delayed, &[("clean", outcome["clean"] == true)]));
            wrong
        },
    );
}

#[test]
fn an_n200_streams_both_ways_over_one_xdp_queue() {
    both_ways("duplex", "n200", "1500", 1_000_000);
}

#[test]
fn an_x310_streams_both_ways_with_long_frames() {
    // At a lower rate its buffer lasts longer than a send waits.
    both_ways("long", "x310", "9000", 5_000_000);
}
