//! A component that can't be isolated is refused, with what would be right.

use std::process::Command;

use takt_graph::{Graph, Kind, Latency, Plan, Shape, Waveform};
use takt_runtime::{Component, Io, Isolation, OpenError, Registration, Registry, Session, SessionOptions};

use super::setup::{chain, check, children, options, registry, spec, waveform};

pub(super) const TESTS: super::Tests = tests![
    a_component_refuses_its_parameters_from_its_own_process,
    processors_that_do_not_exist_are_refused,
    a_process_that_dies_at_once_is_reported,
    a_type_that_only_this_process_knows_can_t_be_isolated,
    a_program_that_never_asks_does_not_start_itself_for_ever,
];

fn refusal(waveform: &Waveform, registry: &Registry) -> (String, String) {
    let graph = Graph::check(waveform, registry).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::single(&graph, Latency::Compact);
    match Session::open(&graph, &plan, registry, options(10)).err().expect("refused") {
        OpenError::Component { source, .. } => (source.what, source.fix),
        other => panic!("{other}"),
    }
}

fn with_average(window: i64) -> Waveform {
    let average = spec("p", "float-average").param("window", window).isolated();
    chain(waveform(), [spec("a", "float-source"), average, spec("z", "float-sink")])
}

fn a_component_refuses_its_parameters_from_its_own_process() {
    assert_eq!(refusal(&with_average(13), &registry()), ("thirteen is refused".into(), "take 12 or 14".into()));
    assert_eq!(children(), []);
}

fn processors_that_do_not_exist_are_refused() {
    let graph = check(&with_average(2));
    let isolation = Isolation { cores: vec![4000], ..Isolation::default() };
    let options = SessionOptions { isolation, ..options(10) };
    let refused = Session::open(&graph, &Plan::single(&graph, Latency::Compact), &registry(), options).err();
    let Some(OpenError::Component { source, .. }) = refused else { panic!("{refused:?}") };
    assert!(source.what.starts_with("its process can't run on CPUs [4000]: "), "{}", source.what);
    assert!(source.fix.starts_with("use CPUs that it may run on: ["), "{}", source.fix);
}

fn a_process_that_dies_at_once_is_reported() {
    let mut waveform = with_average(2);
    waveform.components[2] = spec("z", "stillborn").isolated();
    let (what, fix) = refusal(&waveform, &registry());
    assert!(what.starts_with("its process ended before it was ready: signal: 6"), "{what}");
    assert!(fix.contains("standard error"), "{fix}");
}

struct Unknown;

impl Component for Unknown {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

fn a_type_that_only_this_process_knows_can_t_be_isolated() {
    let mut all = registry();
    let registration = Registration {
        kind: || Kind::new("unknown", "Added by hand."),
        shape: |_| Ok(Shape::new()),
        make: |_| Ok(Box::new(Unknown)),
    };
    all.add(registration).expect("a name of its own");
    let (what, fix) = refusal(&waveform().with(spec("u", "unknown").isolated()), &all);
    assert_eq!(what, "the process of an isolated component does not know component type `unknown`");
    assert!(fix.contains("#[component]"), "{fix}");
}

/// As a program would that never asks whether it is to be a component's process.
#[expect(clippy::print_stdout, reason = "for its parent")]
pub(super) fn forgetful() {
    let (what, fix) = refusal(&with_average(2), &registry());
    println!("{what}; {fix}");
}

fn a_program_that_never_asks_does_not_start_itself_for_ever() {
    let output = Command::new("/proc/self/exe").arg("forgetful").env("TAKT_ISOLATED_COMPONENT", "1").output();
    let output = String::from_utf8(output.expect("starts").stdout).expect("text");
    assert!(output.contains("serve_if_asked() first thing in main"), "{output}");
}
