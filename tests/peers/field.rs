//! Cases that people reported elsewhere, tried on both radios: rows 34 to 43 of `docs/internals/acceptance.md`.
//!
//! The programs in `field/` are our own, in UHD's Python API. They check what they receive themselves.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;

use serde_json::Value;
use takt_host::capability::{CapabilitySet, own};

use crate::alone::{no_errors, received};
use crate::emulator::{Emulator, Site};
use crate::peer::{Attempt, Run, find};
use crate::row::Row;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/field");

/// Debian's package has the module here.
const MODULE: &str = "/usr/lib/python3/dist-packages/uhd";

fn n200(number: u8) -> Row {
    Row { model: "n200", number, needs: &["python3", "benchmark_rate"], emulator: &[] }
}

fn x310(number: u8) -> Row {
    Row { model: "x310", number: 200 + number, ..n200(number) }
}

/// Whether UHD's Python API is installed.
fn has_api(row: &Row) -> bool {
    let there = Path::new(MODULE).is_dir();
    if !there {
        takt_testing::skip(format!("row {}: python3-uhd is not installed   (./test installs it)", row.number));
    }
    there
}

/// Runs one of the programs without the right to real-time priority. UHD gives that to its threads where it may, and one of
/// those before an X310 spins.
fn python(attempt: &Attempt, program: &str, arguments: &str) -> Run {
    python_at("1", attempt, program, arguments)
}

/// The same before a radio of this speed.
fn python_at(speed: &str, attempt: &Attempt, program: &str, arguments: &str) -> Run {
    let program = format!("/usr/bin/env SPEED={speed} /usr/bin/python3 -B \"{PROGRAMS}/{program}\" {arguments}");
    let line = format!("--rtprio=0:0 {program}");
    if own().contains(CapabilitySet::SYS_NICE | CapabilitySet::SETPCAP) {
        let without = "--bounding-set=-sys_nice --inh-caps=-sys_nice prlimit";
        attempt.run_ordinarily("setpriv", &format!("{without} {line}"))
    } else {
        attempt.run_ordinarily("prlimit", &line)
    }
}

/// The last line of `timed.py`.
const IN_TIME: &str = "every change at its sample";

fn receiver_is_retuned(row: Row, runs: &str) {
    if !has_api(&row) {
        return;
    }
    let row = Row { emulator: &["--source", "loopback"], ..row };
    row.judged_by(|attempt| python(attempt, "timed.py", &format!("ADDR {runs}")).ok()?.says(IN_TIME).map(drop));
}

/// The rates of `timed.py`, and what their recordings have behind their names.
const RATES: [(&str, &str); 2] = [("390625", ""), ("1000000", "-2")];

fn transmitter_is_retuned(row: Row) {
    if !has_api(&row) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let sink = format!("sigmf:path={},format=sc16", folder.path().join("sent").display());
    let site = Site::loopback(&[row.number]);
    let start = || Emulator::start(&site, row.model, &["--source", "loopback", "--sink", sink.as_str()]);
    let said = RefCell::new(None);
    row.judged_before(&site.addrs[0], start, |attempt| {
        let runs = RATES.map(|(rate, _)| format!("tx:{rate}:10")).join(" ");
        let run = python(attempt, "timed.py", &format!("ADDR {runs}")).ok()?.says(IN_TIME)?;
        *said.borrow_mut() = Some(run.text);
        Ok(0)
    });
    // None if it was skipped, or not judged.
    let Some(said) = said.take() else { return };
    for (rate, behind) in RATES {
        let meta = folder.path().join(format!("sent{}{behind}.sigmf-meta", slot(&row)));
        let (commanded, recorded) = (commanded(&said, rate), recorded(&meta));
        let alike = commanded.iter().zip(&recorded).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 0.5);
        assert!(
            commanded.len() == 10 && recorded.len() == 10 && alike,
            "{} at {rate} S/s recorded {recorded:?}\n{said}",
            row.model
        );
    }
}

/// An X310 has a sink for each slot.
fn slot(row: &Row) -> &'static str {
    if row.model == "x310" { "-a" } else { "" }
}

/// Changes that `timed.py` commanded: the sample at which each is due, and the frequency of the DSP from then on.
fn commanded(said: &str, rate: &str) -> Vec<(u64, f64)> {
    let begins = format!("change tx {rate} ");
    let change = |line: &str| {
        let mut words = line.strip_prefix(&begins)?.split(' ');
        Some((words.next()?.parse::<u64>().ok()?, words.next()?.parse::<f64>().ok()?))
    };
    said.lines().filter_map(change).collect()
}

/// Captures of a recording after the first: where each begins, and how much higher its frequency is than the first's.
fn recorded(meta: &Path) -> Vec<(u64, f64)> {
    let text = fs::read(meta).unwrap_or_else(|error| panic!("{}: {error}", meta.display()));
    let meta: Value = serde_json::from_slice(&text).expect("JSON");
    let captures = meta["captures"].as_array().expect("a list").iter();
    let all: Vec<(u64, f64)> = captures
        .map(|capture| {
            let begins = capture["core:sample_start"].as_u64().expect("a sample");
            (begins, capture["core:frequency"].as_f64().expect("a frequency"))
        })
        .collect();
    all.iter().skip(1).map(|(begins, hz)| (*begins, hz - all[0].1)).collect()
}

fn integers_pass(row: Row) {
    if !has_api(&row) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let in_folder = |name: &str| folder.path().join(name).display().to_string();
    // Every integer as I, and its complement as Q.
    let all: Vec<u8> = (i16::MIN..=i16::MAX).flat_map(|k| [k.to_le_bytes(), (!k).to_le_bytes()]).flatten().collect();
    fs::write(in_folder("all.sc16"), &all).expect("it is ours");
    let source = format!("file:path={},loop", in_folder("all.sc16"));
    let sink = format!("file:path={}", in_folder("sent.sc16"));
    let site = Site::loopback(&[row.number]);
    let start = || Emulator::start(&site, row.model, &["--source", source.as_str(), "--sink", sink.as_str()]);
    let passed = Cell::new(false);
    row.judged_before(&site.addrs[0], start, |attempt| {
        let arguments = format!("ADDR {}", in_folder("all.sc16"));
        python(attempt, "integers.py", &arguments).ok()?.says("every integer came and was sent")?;
        passed.set(true);
        Ok(0)
    });
    if passed.get() {
        let sent = fs::read(in_folder(&format!("sent{}.sc16", slot(&row)))).expect("a file");
        assert!(sent == all, "{}: {}", row.model, first_difference(&sent, &all));
    }
}

fn first_difference(sent: &[u8], all: &[u8]) -> String {
    let wrong = sent.chunks(4).zip(all.chunks(4)).position(|(sent, all)| sent != all);
    format!("{} bytes of {}, the first wrong sample is {wrong:?}", sent.len(), all.len())
}

fn captures_are_complete(row: Row) {
    if has_api(&row) {
        let complete = "every capture is complete";
        row.judged_by(|attempt| python(attempt, "captures.py", "ADDR 1000").ok()?.says(complete).map(drop));
    }
}

/// Rows 34 to 37 in short, before a radio whose time passes at another speed: what is exact is exact at any.
fn is_exact_at(speed: &'static str, row: Row) {
    if !has_api(&row) {
        return;
    }
    let emulator = ["--source", "loopback", "--speed", speed];
    let site = Site::loopback(&[row.number]);
    let start = || Emulator::start(&site, row.model, &emulator);
    row.judged_before(&site.addrs[0], start, |attempt| {
        let runs = "ADDR rx:1000000:5 tx:1000000:5 rx:1000000:50";
        python_at(speed, attempt, "timed.py", runs).ok()?.says(IN_TIME)?;
        let captures = python_at(speed, attempt, "captures.py", "ADDR 200");
        captures.ok()?.says("every capture is complete").map(|_| 0)
    });
}

/// A host is killed while it streams both ways; the next one finds the radio free, and streams without an error. An X310 is
/// free once the claim of the first has lapsed, 2 s after it was renewed: until then UHD passes over such a radio.
fn next_host_streams(row: &Row) {
    row.judged_by(|attempt| {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let said = folder.path().join("said").display().to_string();
        let program = find("benchmark_rate").ok_or("benchmark_rate is gone")?.display().to_string();
        let streams = format!("{program} --args addr=ADDR --rx_rate 1e6 --tx_rate 1e6");
        // A program writes to a file in blocks: by the line it says when it streams.
        let script = format!(
            "stdbuf -oL {streams} --duration 60 > {said} 2>&1 & host=$!; until grep -q Testing {said}; do sleep 0.1; done; \
             sleep 1; kill -KILL $host || exit 1; wait $host; sleep 3; {streams} --duration 2"
        );
        let run = no_errors(attempt.run("sh", &format!("-c \"{script}\"")))?;
        received(run, 2e6).map(drop)
    });
}

/// One after the other: none of the programs may wait long for a core.
mod alone {
    use super::{
        captures_are_complete, integers_pass, is_exact_at, n200, next_host_streams, receiver_is_retuned,
        transmitter_is_retuned, x310,
    };
    use crate::alone::{benchmark, no_errors, received, within};
    use crate::row::Row;

    const TENS: &str = "rx:390625:10 rx:1000000:10";
    const QUEUED: &str = "rx:390625:150";

    #[test] // it changed with the packet, before its time
    fn row_34_a_receiver_is_retuned_at_its_sample() {
        receiver_is_retuned(n200(34), TENS);
    }

    #[test]
    fn row_x34_a_receiver_is_retuned_at_its_sample() {
        receiver_is_retuned(x310(34), TENS);
    }

    #[test] // it changed with the next packet
    fn row_35_a_transmitter_is_retuned_at_its_sample() {
        transmitter_is_retuned(n200(35));
    }

    #[test]
    fn row_x35_a_transmitter_is_retuned_at_its_sample() {
        transmitter_is_retuned(x310(35));
    }

    #[test]
    fn row_36_queued_tunes_are_at_their_samples() {
        receiver_is_retuned(n200(36), QUEUED);
    }

    #[test]
    fn row_x36_queued_tunes_are_at_their_samples() {
        receiver_is_retuned(x310(36), QUEUED);
    }

    #[test]
    fn row_37_finite_captures_are_complete() {
        captures_are_complete(n200(37));
    }

    #[test]
    fn row_x37_finite_captures_are_complete() {
        captures_are_complete(x310(37));
    }

    #[test] // half of them were off by one
    fn row_38_integers_pass_unchanged() {
        integers_pass(n200(38));
    }

    #[test]
    fn row_x38_integers_pass_unchanged() {
        integers_pass(x310(38));
    }

    #[test]
    fn row_39_the_host_after_one_that_was_killed() {
        next_host_streams(&n200(39));
    }

    #[test]
    fn row_x39_the_host_after_one_that_was_killed() {
        next_host_streams(&x310(39));
    }

    #[test]
    fn row_41_timed_rows_are_exact_at_a_tenth_of_the_speed() {
        is_exact_at("0.1", n200(41));
    }

    #[test]
    fn row_x41_timed_rows_are_exact_at_a_tenth_of_the_speed() {
        is_exact_at("0.1", x310(41));
    }

    #[test]
    fn row_42_timed_rows_are_exact_at_half_the_speed() {
        is_exact_at("0.5", n200(42));
    }

    #[test]
    fn row_x42_timed_rows_are_exact_at_half_the_speed() {
        is_exact_at("0.5", x310(42));
    }

    #[test]
    fn row_43_timed_rows_are_exact_at_twice_the_speed() {
        is_exact_at("2", n200(43));
    }

    #[test]
    fn row_x43_timed_rows_are_exact_at_twice_the_speed() {
        is_exact_at("2", x310(43));
    }

    #[test] // all streams ended: UHD renews its claim 2.0005 s after it did last, and the claim lapsed at 2 s
    fn row_x40_an_answer_of_the_firmware_is_lost() {
        let row = Row { emulator: &["--fault", "lose:control,at=+3s,limit=1"], ..x310(40) };
        row.judged_by(|attempt| {
            let run = no_errors(benchmark(attempt, 8, "--rx_rate 1e6 --tx_rate 1e6"))?;
            let run = received(run, 8e6)?.says("reply timed out")?;
            // And what the radio's buffer of 2 MiB takes.
            within(run, "Num transmitted samples:", [8e6 * 0.98, 8e6 * 1.02 + 524_288.0]).map(drop)
        });
    }
}
