//! A real node goes over to another placing, or refuses to and goes on as it is.

mod node;

use std::collections::BTreeMap;

use serde_json::Value;
use takt_base::Stop;
use takt_cluster::Control;
use takt_cluster::message::{Change, Opened, Order, Progress, Request, Start, Started};
use takt_cluster::quorum::Ballot;
use takt_cluster::seal::Sealed;
use takt_graph::{Kind, Shape};
use takt_runtime::{Component, Io, Registration};
use takt_testing::loopback;

struct Idle;

impl Component for Idle {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

fn idle() -> Registration {
    Registration {
        kind: || Kind::new("idle", "Does nothing."),
        shape: |_| Ok(Shape::new()),
        make: |_| Ok(Box::new(Idle)),
    }
}

fn placing(number: u32) -> Box<Order> {
    let order = node::order("r", "idle");
    Box::new(Order { placing: number, slots: None, ..*order })
}

/// Change to placing `number`, from the clock of `reference`, as nodes have `stated`.
fn change(number: u32, reference: &str, at: u64, stated: BTreeMap<String, Sealed>) -> Request {
    Request::Change(Change {
        run: "r".to_owned(),
        next: Ballot::new(number, "manager-1"),
        at,
        reference: reference.to_owned(),
        epoch_ns: Some(1),
        ptp: None,
        statements: stated,
    })
}

#[test]
fn a_change_that_is_refused_leaves_the_run_as_it_is_and_one_that_comes_late_says_from_which_slot_it_holds() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = node::member(place.path(), "a", 1, &[]);
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let _ends = node::Ends(&stop);
        node::begin(scope, &folder, &stop, idle());
        let control = Control::open(&node::member(place.path(), "m", 2, &[node::at(1)]), false).expect("it joins");
        takt_testing::wait_for("the node", || control.present().ok()?.contains(&"a".to_owned()).then_some(()));
        let ask = |request: &Request| control.ask::<Value>("a", request, node::PATIENCE);
        let progress = || -> Progress {
            control.ask("a", &Request::Progress { run: "r".to_owned() }, node::PATIENCE).expect("it is there")
        };

        let opened: Opened = control.ask("a", &Request::Open(placing(1)), node::PATIENCE).expect("opened");
        let statements = BTreeMap::from([("a".to_owned(), opened.statement)]);
        let (run, reference) = ("r".to_owned(), "a".to_owned());
        ask(&Request::Start(Start { run, reference, in_ns: 0, epoch_ns: None, ptp: None, statements }))
            .expect("started");
        let prepare = |before: u32| {
            let after = Ballot::new(before, "manager-1");
            ask(&Request::Prepare { after, order: placing(before + 1) }).expect("ready");
        };

        prepare(1);
        // At that clock nobody listens.
        node::member(place.path(), "elsewhere", 3, &[]);
        let nobody = format!("{}:9", loopback(3)).parse().expect("an address");
        let stated = node::statement("elsewhere", "r", 2, [nobody, nobody]);
        let stated = node::signer(place.path(), "elsewhere").state(&stated).expect("random numbers");
        let stated = BTreeMap::from([("elsewhere".to_owned(), stated)]);
        let refused = node::why(ask(&change(2, "elsewhere", 1, stated)));
        assert!(refused.contains("the clock of `elsewhere` does not answer"), "{refused}");
        let then = progress();
        assert!(then.end.is_none(), "{then:?}");
        takt_testing::wait_for("further slots", || (progress().slot > then.slot + 10).then_some(()));

        prepare(2);
        let late: Started =
            control.ask("a", &change(3, "a", 1, BTreeMap::new()), node::PATIENCE).expect("it goes over");
        assert!(late.from_slot > then.slot + 10, "{late:?}");
        prepare(3);
        let at = progress().slot + 1_000_000;
        let early: Started =
            control.ask("a", &change(4, "a", at, BTreeMap::new()), node::PATIENCE).expect("it goes over");
        assert_eq!(early.from_slot, at);
        let ended: Progress =
            control.ask("a", &Request::Stop { run: "r".to_owned(), manager: None }, node::PATIENCE).expect("it ends");
        let report = ended.end.expect("a report").report;
        assert_eq!(report["components"][0]["name"], "one", "{report}");
    });
}
