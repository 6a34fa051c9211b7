//! A view of a run: what it shows is what the report says, and it shows misses with their culprit.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;
mod common;

use common::{assign, chain, check, of, registry, result, spec, waveform};
use num_complex::Complex;
use takt_base::{MonoNs, Stop};
use takt_graph::{Latency, MissPolicy, Value};
use takt_runtime::{Culprit, Session, SessionOptions, component};

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

/// Gives points on both sides of the imaginary axis.
#[component]
fn points(#[port(length = Length::Fixed(100))] mut output: Out<Complex<f32>>) {
    for (n, point) in output.iter_mut().enumerate() {
        *point = Complex::new(if n % 2 == 0 { 3.0 } else { -3.0 }, 0.0);
    }
}

/// Counts what its worker allocates from its second slot on.
#[derive(Default)]
struct Plane {
    first: Option<u64>,
    last: u64,
}

#[component]
impl Plane {
    fn new() -> Plane {
        Plane::default()
    }
    fn tick(&mut self, slot: u64, _input: In<Complex<f32>>) {
        self.last = allocations::count();
        if slot >= 1 {
            self.first.get_or_insert(self.last);
        }
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("allocations", ((self.last - self.first.unwrap_or(0)) as i64).into())]
    }
}

#[test]
fn an_output_is_shown_if_somebody_asks_and_its_worker_allocates_nothing() {
    let graph = check(
        &chain(waveform(), [spec("a", "points"), spec("b", "plane")])
            .with(spec("c", "source"))
            .with(spec("d", "sink"))
            .link("c", "d"),
    );
    let plan = assign(&graph, &[0, 0, 0, 0], Latency::Compact);
    let options = SessionOptions { slots: Some(SLOTS), watched: true, ..SessionOptions::default() };
    let session = Session::open(&graph, &plan, &registry(), options).expect("a session");
    let mut running = session.start_paused(&Stop::new()).expect("workers");
    let mut view = running.view().expect("it was asked for");
    assert_eq!(view.outputs(), ["a.out"], "bytes are no points");
    view.show(&["a.out".to_owned(), "b.none".to_owned()]);
    assert_eq!(view.signals(MonoNs(1)), (vec![], vec![]), "nothing has passed");
    let report = running.join();
    assert_eq!(result(&report, "b", "allocations"), &0.into());
    let (spectra, points) = view.signals(MonoNs(2));
    let ([spectrum], [points]) = (&spectra[..], &points[..]) else { panic!("{spectra:?} {points:?}") };
    assert_eq!((spectrum.name.as_str(), spectrum.span_hz), ("a.out", 1e5), "100 items in 1 ms");
    assert_eq!(points.points.len(), 256);
    assert!(points.points.iter().all(|&[i, q]| i.abs() == 1.0 && q == 0.0), "{points:?}");
    view.show(&[]);
    assert_eq!(view.signals(MonoNs(3)), (vec![], vec![]));
}

#[test]
fn nobody_watches_unless_it_was_asked_for() {
    let mut running = session(false).start_paused(&Stop::new()).expect("workers");
    assert!(running.view().is_none());
    assert_eq!(of(&running.join(), "a").executions, SLOTS);
}
