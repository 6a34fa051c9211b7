//! The interface of a stream goes down and comes back, or is removed; the radio behind it falls silent for longer than its
//! credit lasts. Over every engine, both ways, with an X310's long frames.

use std::thread;
use std::time::Duration;

use crate::cable::{Cable, Ends};
use crate::software::{Radio, has, json, number, refusal};
use crate::watched::Unless::Delayed;
use crate::watched::{Wrong, untrue};
use crate::witness::{Run, judge};

const OVER_SOCKETS: [&str; 3] = ["socket", "mmsg", "uring"];
const OF_THE_INTERFACE: &[&str] = if cfg!(feature = "dpdk") { &["xdp", "dpdk"] } else { &["xdp"] };
/// 2 MiB to be played are 105 ms at 5 MS/s, and 4 MiB on their way to the host 210.
const OUTAGE: Duration = Duration::from_millis(400);

/// Streams both ways while something happens to the cable.
fn stream(cable: &Cable, engine: &str, radio: &[&str], happens: impl FnOnce(&Ends) + Send) -> Run {
    // The event falls into the measured time.
    let counts = ["--warm-up", "0s", "--duration", "3s", "--json"];
    let args = [&["rate", "--rx", "5M", "--tx", "5M", "--engine", engine], &counts[..]].concat();
    let radio = Radio::behind(&cable.path, "x310", radio);
    let ends = cable.ends();
    thread::scope(|scope| {
        scope.spawn(move || {
            ends.wait_for_a_stream();
            happens(&ends);
        });
        Run::of(radio, &args)
    })
}

/// Half of three seconds came and left, all samples are accounted for, and it says that it was not clean.
fn went_on(engine: &str, run: &Run) -> Vec<Wrong> {
    let outcome = json(&run.out);
    assert_eq!(run.out.status.code(), Some(1), "{engine}: {outcome:#}");
    let received = ["samples", "dropped", "unsent_samples"].map(|key| number(&outcome, &format!("/rx/{key}")));
    assert_eq!(received.iter().sum::<u64>(), 15_000_000, "{engine}: {outcome:#}");
    untrue(
        Delayed,
        &[
            ("half of three seconds were received", received[0] > 7_500_000),
            ("half of three seconds were sent", number(&outcome, "/tx/samples") > 7_500_000),
            ("no datagram is taken for damaged", number(&outcome, "/rx/bad_datagrams") == 0),
        ],
    )
}

#[test]
fn a_stream_goes_on_when_its_interface_was_down() {
    let Some(cable) = Cable::lay("down", "9000") else { return };
    for engine in OVER_SOCKETS.iter().chain(OF_THE_INTERFACE) {
        let goes_down = |ends: &Ends| {
            ends.take_down();
            thread::sleep(OUTAGE);
            ends.bring_up();
        };
        judge(Duration::from_millis(200), || stream(&cable, engine, &[], goes_down), |run| went_on(engine, run));
    }
}

#[test]
fn a_stream_past_the_sockets_goes_on_after_an_outage_that_takes_all_credit() {
    let Some(cable) = Cable::lay("outage", "9000") else { return };
    for engine in OF_THE_INTERFACE {
        judge(
            Duration::from_millis(200),
            || stream(&cable, engine, &["--fault", "stall:all,at=+500ms,for=400ms"], |_| ()),
            |run| went_on(engine, run),
        );
    }
}

#[test]
fn a_stream_ends_with_the_reason_when_its_interface_is_removed() {
    for engine in OVER_SOCKETS.iter().chain(OF_THE_INTERFACE) {
        let Some(cable) = Cable::lay("removed", "9000") else { return };
        let run = stream(&cable, engine, &[], Ends::remove);
        let why = refusal(&run.out);
        if OF_THE_INTERFACE.contains(engine) {
            has(&why, &[&format!("interface {} is gone", cable.path.host.interface)]);
        } else {
            has(&why, &["can't stream any more", "no longer answers"]);
        }
    }
}
