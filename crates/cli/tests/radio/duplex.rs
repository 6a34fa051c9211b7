//! Both ways over engine `xdp`, whose one queue of the interface two streams share.

use std::time::Duration;

use crate::cable::Cable;
use crate::software::{Radio, json, number};
use crate::watched::Unless::{Delayed, Lost};
use crate::watched::{Wrong, untrue};
use crate::witness::{Run, judge};

/// Streams both ways over a cable with this longest packet, samples a second, and counts to the sample.
fn both_ways(label: &str, [model, radio_engine]: [&str; 2], mtu: &str, rate: u64) {
    let Some(cable) = Cable::lay(label, mtu) else { return };
    let sps = rate.to_string();
    let args = ["rate", "--rx", &sps, "--tx", &sps, "--duration", "500ms", "--engine", "xdp", "--json"];
    judge(
        Duration::from_millis(50),
        || Run::of(Radio::behind(&cable.path, model, &["--engine", radio_engine]), &args),
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
    both_ways("duplex", ["n200", "mmsg"], "1500", 1_000_000);
}

#[test]
fn an_x310_streams_both_ways_with_long_frames() {
    // At a lower rate its buffer lasts longer than a send waits.
    both_ways("long", ["x310", "mmsg"], "9000", 5_000_000);
}

#[test]
fn a_radio_past_the_sockets_has_the_frames_that_its_interface_carries() {
    both_ways("radio-short", ["x310", "xdp"], "1500", 5_000_000);
    both_ways("radio-long", ["x310", "xdp"], "9000", 5_000_000);
}
