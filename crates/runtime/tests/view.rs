//! A view of a run: what it shows is what the report says, and it shows misses with their culprit.

mod common;

use common::{assign, chain, check, of, registry, spec, waveform};
use takt_base::Stop;
use takt_graph::{Latency, MissPolicy};
use takt_runtime::{Culprit, Session, SessionOptions};

const SLOTS: u64 = 200;

/// a -> x -> y on two workers; x panics in slot 5.
fn session(watched: bool) -> Session {
    let x = spec("x", "stall").param("slot", 5).param("us", 0).param("panics", true).on_miss(MissPolicy::Skip);
    let graph = check(&chain(waveform(), [spec("a", "source"), x, spec("y", "watch")]));
    let plan = assign(&graph, &[0, 0, 1], Latency::Compact);
    let options = SessionOptions { slots: Some(SLOTS), watched, ..SessionOptions::default() };
    Session::open(&graph, &plan, &registry(), options).expect("a session")
}

#[test]
fn a_view_shows_what_the_report_says() {
    let mut running = session(true).start_paused(&Stop::new()).expect("workers");
    let mut view = running.view().expect("it was asked for");
    assert!(running.view().is_none(), "there is one");
    let before = view.look();
    assert_eq!((before.slots, before.misses, before.recent.len()), (0, 0, 0));
    assert_eq!(before.components[0].feeds, ["x"]);
    let report = running.join();
    let look = view.look();
    assert!(look.slots >= SLOTS, "{}", look.slots);
    assert!(look.lateness.is_empty(), "there is no clock");
    for (seen, reported) in look.components.iter().zip(&report.components) {
        assert_eq!(seen.counts.name, reported.name);
        assert_eq!((seen.counts.executions, seen.counts.missed), (reported.executions, reported.missed));
    }
    assert_eq!(of(&report, "x").faults, 1);
    let [miss, ..] = &look.recent[..] else { panic!("a miss") };
    assert_eq!(miss.component, "x");
    assert!(matches!(&miss.culprit, Culprit::Component { component, .. } if component == "x"), "{miss:?}");
    assert!(look.misses > 0);
}

#[test]
fn nobody_watches_unless_it_was_asked_for() {
    let mut running = session(false).start_paused(&Stop::new()).expect("workers");
    assert!(running.view().is_none());
    assert_eq!(of(&running.join(), "a").executions, SLOTS);
}
