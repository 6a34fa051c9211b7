//! A node that makes slow components for one run answers all others meanwhile. The node is real, and so is what travels.

mod node;

use std::sync::{Arc, Condvar, Mutex};

use node::{Ends, PATIENCE, at, begin, member, order, why};
use serde_json::Value;
use takt_base::Stop;
use takt_cluster::Control;
use takt_cluster::message::{NodeFacts, Opened, Request};
use takt_graph::{Kind, Shape};
use takt_runtime::{Component, Io, Registration};

/// How many components are being made, and whether they may be done.
static MAKING: (Mutex<(usize, bool)>, Condvar) = (Mutex::new((0, false)), Condvar::new());

struct Slow;

impl Component for Slow {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

fn slow() -> Registration {
    Registration {
        kind: || Kind::new("slow", "Takes its time to be made."),
        shape: |_| Ok(Shape::new()),
        make: |_| {
            let (state, changed) = &MAKING;
            let mut state = state.lock().expect("nobody panics with it");
            state.0 += 1;
            changed.notify_all();
            drop(changed.wait_while(state, |(_, done)| !*done).expect("the same"));
            Ok(Box::new(Slow))
        },
    }
}

fn let_them_be_made() {
    let (state, changed) = &MAKING;
    state.lock().expect("nobody panics with it").1 = true;
    changed.notify_all();
}

/// Lets components be made, also where the test fails.
struct Made;

impl Drop for Made {
    fn drop(&mut self) {
        let_them_be_made();
    }
}

#[test]
fn a_run_that_takes_long_to_open_keeps_nobody_from_being_answered() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = member(place.path(), "a", 1, &[]);
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let _ends = (Made, Ends(&stop));
        begin(scope, &folder, &stop, slow());
        let control = Control::open(&member(place.path(), "m", 2, &[at(1)]), false).expect("it joins");
        takt_testing::wait_for("the node", || control.present().ok()?.contains(&"a".to_owned()).then_some(()));
        let control = Arc::new(control);
        let ask = |request: &Request| control.ask::<Value>("a", request, PATIENCE);

        let by = Arc::clone(&control);
        let first = scope.spawn(move || by.ask::<Opened>("a", &Request::Open(order("first", "slow")), PATIENCE));
        let (state, changed) = &MAKING;
        drop(changed.wait_while(state.lock().expect("ours"), |(making, _)| *making == 0).expect("ours"));

        // It has its core and its name from now on, and can be stopped.
        let facts: NodeFacts = control.ask("a", &Request::Describe, PATIENCE).expect("it answers");
        assert_eq!((facts.busy, facts.tenants[0].has.runs), (vec![0], 1));
        assert!(why(ask(&Request::Open(order("second", "slow")))).contains("core 0 is not free"));
        assert!(why(ask(&Request::Open(order("first", "slow")))).contains("run `first` exists already"));
        let stop_of = |manager: &str| Request::Stop { run: "first".to_owned(), manager: Some(manager.to_owned()) };
        assert!(why(ask(&stop_of("another"))).contains("manager-1 watches over run `first`, not another"));
        assert_eq!(ask(&stop_of("manager-1")).expect("it will not begin")["end"], Value::Null);

        let_them_be_made();
        assert!(why(first.join().expect("no panic")).contains("run `first` was stopped before it was open"));
        let facts: NodeFacts = control.ask("a", &Request::Describe, PATIENCE).expect("it answers");
        assert!(facts.busy.is_empty(), "the core is free again");
        ask(&Request::Open(order("first", "slow"))).expect("the name is free again");
    });
}
