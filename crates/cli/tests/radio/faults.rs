//! Every isolated fault of the emulator, and the one letter it must become in `takt rate`.
//!
//! On a busy machine a datagram may be lost for real. It is never blamed on the fault: what the receive buffer dropped
//! is known, and such a run is repeated.

use serde_json::Value;

use crate::software::{Radio, json, number};

/// Repetitions where the machine itself lost datagrams.
const TRIES: usize = 5;

/// What came of streaming past faults.
struct Past {
    /// The document of `takt rate`.
    outcome: Value,
    /// What the radio itself counted.
    radio: Value,
    /// How often the faults struck.
    struck: u64,
}

impl Past {
    fn count(&self, key: &str) -> u64 {
        number(&self.outcome, key)
    }

    /// Letters and losses beside those `expected` are 0, and these are what they should be.
    fn shows(&self, expected: &[(&str, u64)]) {
        const ALL: [&str; 13] = [
            "/rx/overflows",
            "/rx/sequence_errors",
            "/rx/dropped",
            "/rx/lost_datagrams",
            "/rx/late",
            "/rx/bad_datagrams",
            "/rx/stale_datagrams",
            "/rx/reordered_datagrams",
            "/rx/uncorroborated_gaps",
            "/rx/lost_by_place/takt_datagrams",
            "/tx/underflows",
            "/tx/sequence_errors",
            "/tx/late",
        ];
        for key in ALL {
            let wanted = expected.iter().find(|(name, _)| *name == key).map_or(0, |(_, count)| *count);
            assert_eq!(self.count(key), wanted, "{key} of {:#}\n{:#}", self.outcome, self.radio);
        }
    }
}

/// Streams past faults, from the radio's first datagram on.
fn past(addr: &'static str, faults: &[&str], way: &[&str]) -> Past {
    for _ in 0..TRIES {
        let options: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
        let radio = Radio::at(addr, &options);
        let out = radio.takt(&[&["rate", "--duration", "1500ms", "--warm-up", "0s", "--json"], way].concat());
        let outcome = json(&out);
        let summary = radio.summary();
        let device = &summary["devices"][0];
        let struck = device["faults"].as_object().expect("a map").values().filter_map(Value::as_u64).sum();
        let places = &outcome["rx"]["lost_by_place"];
        let dropped_here = places["receive_buffer_datagrams"].as_u64().unwrap_or(0); // none when nothing is received
        let dropped_there = number(device, "/datagrams/receive_buffer_drops");
        if dropped_here + dropped_there == 0 {
            return Past { outcome, radio: device.clone(), struck };
        }
    }
    panic!("this machine loses datagrams on loopback at 1 MS/s, {TRIES} times in a row")
}

#[test]
fn without_a_fault_there_is_no_letter() {
    let past = past("127.0.4.40", &[], &["--rx", "1M", "--tx", "1M"]);
    past.shows(&[]);
    assert_eq!(past.struck, 0);
}

#[test]
fn d_every_lost_datagram_is_one_of_its_samples() {
    let past = past("127.0.4.41", &["lose:rx,every=100,limit=5"], &["--rx", "1M"]);
    assert_eq!(past.struck, 5);
    past.shows(&[("/rx/sequence_errors", 5), ("/rx/dropped", 5 * 363), ("/rx/lost_datagrams", 5)]);
    assert_eq!(past.count("/rx/lost_by_place/path_datagrams"), 5);
}

#[test] // UHD sees nothing of 16 and 32, and one datagram of 17
fn d_a_run_of_losses_is_one_of_its_length() {
    for run in [2, 16, 17, 32] {
        let past = past("127.0.4.42", &[&format!("lose:rx,at=300,run={run}")], &["--rx", "1M"]);
        assert_eq!(past.struck, run);
        past.shows(&[("/rx/sequence_errors", 1), ("/rx/dropped", run * 363), ("/rx/lost_datagrams", run)]);
    }
}

#[test]
fn o_every_overflow_is_one_and_the_stream_goes_on() {
    let past = past("127.0.4.43", &["overflow:rx,every=1000,for=1ms,limit=3"], &["--rx", "1M"]);
    assert_eq!((past.struck, number(&past.radio, "/rx/0/overflows")), (3, 3));
    let lost = past.count("/rx/lost_by_place/radio_samples");
    assert!(lost > 0 && past.count("/rx/samples") > 1_000_000);
    past.shows(&[("/rx/overflows", 3), ("/rx/dropped", lost)]);
}

#[test]
fn s_every_datagram_the_radio_misses_is_one() {
    let past = past("127.0.4.44", &["lose:tx,every=100,limit=5"], &["--tx", "1M"]);
    assert_eq!((past.struck, number(&past.radio, "/tx/sequence_errors")), (5, 5));
    past.shows(&[("/tx/sequence_errors", 5)]);
}

#[test] // the radio plays on from its buffer, runs dry once, and goes on when it can say so again
fn u_silent_flow_control_is_one_underflow() {
    let past = past("127.0.4.45", &["stall:flow,at=900ms,for=400ms"], &["--tx", "1M"]);
    assert_eq!(number(&past.radio, "/tx/underflows"), 1);
    past.shows(&[("/tx/underflows", 1)]);
    assert!(past.count("/tx/timeouts") >= 1 && past.count("/tx/samples") > 1_000_000, "{:#}", past.outcome);
}

#[test] // all that was in the radio and on the way is gone; without a rule for it the window would stay shut for ever
fn u_and_s_a_stalled_way_out_is_one_of_each_and_sending_goes_on() {
    let past = past("127.0.4.46", &["stall:tx,at=700ms,for=400ms"], &["--tx", "1M"]);
    assert!(past.struck >= 712, "{}", past.struck);
    past.shows(&[("/tx/underflows", 1), ("/tx/sequence_errors", 1)]);
    let played = number(&past.radio, "/tx/samples");
    assert!(played > 700_000, "{played}: {:#}", past.outcome);
}

#[test]
fn l_every_datagram_after_its_time_is_one() {
    // The first call, 96 datagrams, carries the time of the start, 100 ms ahead.
    let past = past("127.0.4.47", &["delay:tx,every=1,by=150ms"], &["--tx", "1M"]);
    assert_eq!(number(&past.radio, "/tx/late"), 96);
    past.shows(&[("/tx/late", 96)]);
}

#[test]
fn l_a_stream_command_after_its_time_is_one_and_the_stream_starts_all_the_same() {
    // Its three writes take 120 ms; the start is 100 ms ahead.
    let past = past("127.0.4.48", &["delay:requests,every=1,by=40ms"], &["--rx", "1M"]);
    assert_eq!(number(&past.radio, "/rx/0/late"), 1);
    past.shows(&[("/rx/late", 1)]);
    assert!(past.count("/rx/samples") > 500_000);
}

#[test]
fn swapped_datagrams_are_put_in_order() {
    let past = past("127.0.4.49", &["reorder:rx,every=100,limit=5"], &["--rx", "1M"]);
    assert_eq!(past.struck, 5);
    past.shows(&[("/rx/reordered_datagrams", 5)]);
}

#[test]
fn doubled_datagrams_count_once() {
    let past = past("127.0.4.50", &["duplicate:rx,every=100,limit=5"], &["--rx", "1M"]);
    assert_eq!(past.struck, 5);
    past.shows(&[("/rx/stale_datagrams", 5)]);
}

#[test]
fn damaged_datagrams_are_lost_and_counted_apart() {
    let past = past("127.0.4.51", &["corrupt:rx,every=100,where=length,limit=5"], &["--rx", "1M"]);
    assert_eq!(past.struck, 5);
    let lost =
        [("/rx/sequence_errors", 5), ("/rx/dropped", 5 * 363), ("/rx/lost_datagrams", 5), ("/rx/bad_datagrams", 5)];
    past.shows(&lost);
}

#[test] // the datagram's own checksum is right: nothing below the samples' meaning can tell
fn damaged_samples_are_nobodys_letter() {
    let past = past("127.0.4.52", &["corrupt:rx,every=100,where=payload,limit=5"], &["--rx", "1M"]);
    assert_eq!(past.struck, 5);
    past.shows(&[]);
}
