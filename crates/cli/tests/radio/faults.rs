//! Effects of the emulator's faults on `takt rate`: its letters, its counts and its words. That each fault becomes its
//! letter one for one is tested on the virtual clock, in `crates/radio/tests/together/letters.rs`.

use std::time::Duration;

use serde_json::Value;

use crate::software::{Radio, number, text};
use crate::watched::Unless::{Delayed, Lost};
use crate::watched::{Wrong, untrue};
use crate::witness::{Run, judge};

/// Half of what the start is ahead: a shorter delay makes nothing late, and no buffer runs dry.
const BEARABLE: Duration = Duration::from_millis(50);

/// Letters, losses and oddities of `takt rate`.
const ALL: &str = "/rx/overflows /rx/sequence_errors /rx/dropped /rx/lost_datagrams /rx/late /rx/bad_datagrams \
    /rx/stale_datagrams /rx/reordered_datagrams /rx/uncorroborated_gaps /rx/lost_by_place/takt_datagrams \
    /tx/underflows /tx/sequence_errors /tx/late";

/// Streams past faults, from the radio's first datagram on.
fn rate(host: u8, faults: &[&str], args: &[&str]) -> Run {
    let options: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
    Run::of(Radio::at(host, &options), &[&["rate", "--warm-up", "0s"], args].concat())
}

/// Counts that a delay may raise.
const OF_DELAY: [&str; 3] = ["/rx/late", "/tx/late", "/tx/underflows"];

/// Counts of the document that differ from `expected`; those not named there are 0.
fn others(document: &Value, expected: &[(&str, u64)]) -> Vec<Wrong> {
    let wanted = |key: &str| expected.iter().find(|(name, _)| *name == key).map_or(0, |(_, count)| *count);
    let others =
        ALL.split(' ').map(|key| (key, number(document, key), wanted(key))).filter(|(_, got, want)| got != want);
    let wrong = |(key, got, want): (&str, u64, u64)| Wrong {
        what: format!("{key} is {got}, not {want}"),
        unless: if got > want && OF_DELAY.contains(&key) { Delayed } else { Lost },
    };
    others.map(wrong).collect()
}

#[test]
fn without_a_fault_there_is_no_letter() {
    let args = ["--rx", "1M", "--tx", "1M", "--duration", "700ms", "--json"];
    judge(BEARABLE, || rate(40, &[], &args), |run| others(&run.document(), &[]));
}

/// One of each, at datagrams far enough from each other. UHD sees nothing of sixteen that are lost.
const OF_RECEPTION: [&str; 7] = [
    "lose:rx,at=300,run=16",
    "lose:rx,at=400",
    "reorder:rx,at=500",
    "duplicate:rx,at=600",
    "corrupt:rx,at=700,where=length",
    "corrupt:rx,at=800,where=payload",
    "overflow:rx,at=1000,for=1ms",
];

#[test]
fn d_and_o_are_as_many_as_were_injected_and_what_is_put_right_is_no_letter() {
    let args = ["--rx", "1M", "--duration", "1s", "--json"];
    judge(BEARABLE, || rate(41, &OF_RECEPTION, &args), wrong_of_reception);
}

fn wrong_of_reception(run: &Run) -> Vec<Wrong> {
    let document = run.document();
    if number(&document, "/rx/datagrams") < 1100 {
        return untrue(Delayed, &[("the stream is long enough for all faults", false)]);
    }
    let in_radio = number(&document, "/rx/lost_by_place/radio_samples");
    // Two that change places are put right where they are read together. If a delay came between them, one is lost
    // first, and then stale.
    let apart = u64::from(number(&document, "/rx/reordered_datagrams") == 0);
    let lost = 18 + apart;
    let expected = [
        ("/rx/sequence_errors", 3 + apart),
        ("/rx/lost_datagrams", lost),
        ("/rx/dropped", lost * 363 + in_radio),
        ("/rx/reordered_datagrams", 1 - apart),
        ("/rx/stale_datagrams", 1 + apart),
        ("/rx/bad_datagrams", 1),
        ("/rx/overflows", 1),
    ];
    let claims = [
        ("every fault struck", run.struck() == 16 + 6),
        ("the path lost them", number(&document, "/rx/lost_by_place/path_datagrams") == lost),
        ("the radio overflowed once", number(run.device(), "/rx/0/overflows") == 1 && in_radio > 0),
    ];
    let delayed = [
        ("two that changed places are put right", apart == 0),
        ("the stream went on", number(&document, "/rx/samples") > 700_000),
    ];
    join([others(&document, &expected), untrue(Lost, &claims), untrue(Delayed, &delayed)])
}

#[test]
fn a_loss_is_reported_in_words_and_by_the_status() {
    let args = ["--rx", "1M", "--duration", "500ms"];
    judge(BEARABLE, || rate(42, &OF_RECEPTION[..1], &args), wrong_in_words);
}

fn wrong_in_words(run: &Run) -> Vec<Wrong> {
    let said = text(&run.out.stdout);
    let has = |words: &str| said.contains(words);
    let claims = [
        ("status 1", run.out.status.code() == Some(1)),
        ("its letter", has("O 0, D 1, L ")),
        ("its place", has("of 16 datagrams: path 16,")),
        ("the answer", said.starts_with("No: 5808 samples lost")),
    ];
    join([untrue(Lost, &claims), untrue(Delayed, &[("no other letter", has("D 1, L 0, timeouts 0"))])])
}

#[test] // the radio plays on from its buffer, runs dry once, and goes on when it can say so again
fn s_and_u_are_as_many_as_were_injected() {
    // The datagrams on their way may last half a second. The first sample comes 100 ms before what counts begins, which
    // a delay may put off. The last loss is reported half a second after the stall has begun, and keeps the radio
    // supplied for another half.
    let faults = ["lose:tx,every=50,after=+400ms,limit=5", "stall:flow,at=+700ms,for=1200ms"];
    let args = ["--tx", "500k", "--duration", "2200ms", "--json"];
    judge(BEARABLE, || rate(43, &faults, &args), wrong_of_transmission);
}

fn wrong_of_transmission(run: &Run) -> Vec<Wrong> {
    let document = run.document();
    let of_radio = |key: &str| number(run.device(), key);
    let claims =
        [("the radio counts the same", of_radio("/tx/sequence_errors") == 5 && of_radio("/tx/underflows") >= 1)];
    let delayed = [
        // A sender that is late has nothing to wait with.
        ("the radio took nothing for a while", number(&document, "/tx/timeouts") >= 1),
        ("the radio ran dry once", of_radio("/tx/underflows") == 1),
        ("the stream went on", number(&document, "/tx/samples") > 500_000),
    ];
    let wrong = others(&document, &[("/tx/sequence_errors", 5), ("/tx/underflows", 1)]);
    join([wrong, untrue(Lost, &claims), untrue(Delayed, &delayed)])
}

#[test]
fn l_is_every_datagram_and_every_stream_command_after_its_time() {
    // The first call, 96 datagrams, carries the time of the start, 100 ms ahead; the start's three writes take 120 ms.
    // The datagrams on their way may last more than a second, and the reports come well after the measured time has
    // begun.
    let faults = ["delay:tx,every=1,by=600ms", "delay:requests,every=1,by=40ms"];
    let args = ["--rx", "1M", "--tx", "200k", "--duration", "1s", "--json"];
    judge(BEARABLE, || rate(44, &faults, &args), wrong_of_lateness);
}

fn wrong_of_lateness(run: &Run) -> Vec<Wrong> {
    let document = run.document();
    let of_radio = |key: &str| number(run.device(), key);
    let claims = [("the radio counts the same", of_radio("/tx/late") == 96 && of_radio("/rx/0/late") == 1)];
    let started = [("the stream starts all the same", number(&document, "/rx/samples") > 300_000)];
    let wrong = others(&document, &[("/tx/late", 96), ("/rx/late", 1)]);
    join([wrong, untrue(Lost, &claims), untrue(Delayed, &started)])
}

fn join<const N: usize>(wrong: [Vec<Wrong>; N]) -> Vec<Wrong> {
    wrong.into_iter().flatten().collect()
}
