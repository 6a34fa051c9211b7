//! Messages that are none, too long, out of range, or changed on their way.

use proptest::prelude::*;
use serde_json::json;
use takt_cluster::clock::PtpEpoch;
use takt_cluster::gate::{Admitted, MOST_BYTES, MOST_BYTES_UNSIGNED, Refused};
use takt_cluster::message::{Change, Order, Request, Start, WorkerOrder};
use takt_cluster::quorum::Ballot;
use takt_cluster::tenant::Tenant;

use crate::support::*;

#[test]
fn what_is_no_message_is_refused() {
    let (mut gate, blue) = world();
    let order = document(&signed(&blue, gate.moment(NOW_NS), &stop()));
    let deep = format!("{}{}", r#"{"protocol":3,"body":"#, "[".repeat(5_000));
    let both = bytes(&json!({"protocol": 3, "body": {"ask": "describe"}, "order": order["order"]}));
    let more = bytes(&json!({"protocol": 3, "order": order["order"], "note": "hello"}));
    let no_sealed = bytes(&json!({"protocol": 3, "order": {"text": "x"}}));
    let bad: [&[u8]; 18] = [
        b"",
        b"{}",
        b"null",
        b"[3]",
        b"\xff\xfe",
        b"{\"protocol\":3,\"body\":{\"ask\":\"\xff\"}}",
        br#"{"protocol":3}"#,
        br#"{"protocol":3,"body":null}"#,
        br#"{"protocol":-1,"body":{"ask":"describe"}}"#,
        br#"{"protocol":1e99,"body":{"ask":"describe"}}"#,
        br#"{"protocol":4294967297,"body":{"ask":"describe"}}"#,
        br#"{"protocol":3,"body":{"ask":"fly"}}"#,
        br#"{"protocol":3,"body":{"ask":"progress","run":"x","more":1}}"#,
        br#"{"protocol":3,"protocol":3,"body":{"ask":"describe"}}"#,
        deep.as_bytes(),
        &both,
        &more,
        &no_sealed,
    ];
    for message in bad {
        let why = refusal(&mut gate, message);
        assert!(
            why.starts_with("the message can't be read: ") || why.starts_with("the message must have exactly one of"),
            "{why} of {}",
            String::from_utf8_lossy(message)
        );
    }
    let other = br#"{"protocol": 7, "body": {"ask": "something new"}}"#;
    assert_eq!(refusal(&mut gate, other), "it speaks version 7 of the protocol; this takt speaks version 3");
}

#[test]
fn what_is_long_is_not_parsed() {
    let (mut gate, blue) = world();
    let long = vec![b'['; MOST_BYTES + 1];
    assert_eq!(
        refusal(&mut gate, &long),
        "the message has 4194305 bytes; a message with a signature may have at most 4194304"
    );
    let run = "x".repeat(MOST_BYTES_UNSIGNED);
    let message = bytes(&json!({"protocol": 3, "body": {"ask": "progress", "run": run}}));
    let why = refusal(&mut gate, &message);
    assert!(why.ends_with("a message without a signature may have at most 16384"), "{why}");
    // The largest waveform that takt reads travels.
    let text = "# \"\\\n".repeat((1 << 20) / 5);
    let message = signed(&blue, gate.moment(NOW_NS), &Request::Open(Box::new(Order { text, ..order() })));
    assert!(matches!(admit(&mut gate, &message), Ok(Admitted::Order(..))), "{} bytes", message.len());
}

#[test]
fn values_that_can_t_be_are_named() {
    let (mut gate, blue) = world();
    let worker = |node: &str| WorkerOrder { node: node.to_owned(), cpu: u32::MAX, components: Vec::new() };
    let open = |order: Order| Request::Open(Box::new(order));
    let bad = [
        (open(Order { run: String::new(), ..order() }), "the run is"),
        (open(Order { run: "a\nb".to_owned(), ..order() }), "the run is"),
        (open(Order { run: "x".repeat(193), ..order() }), "the run is"),
        (open(Order { placing: 0, ..order() }), "placing is 0"),
        (open(Order { slot_ns: Some(0), ..order() }), "slot_ns is 0"),
        (open(Order { slot_ns: Some(u64::MAX), ..order() }), "slot_ns is 18446744073709551615"),
        (open(Order { hop_slots: 0, ..order() }), "hop_slots is 0"),
        (open(Order { hop_slots: u32::MAX, ..order() }), "hop_slots is 4294967295"),
        (open(Order { fifo_priority: 99, ..order() }), "fifo_priority is 99, but must be 0 to 98"),
        (open(Order { slots: Some(u64::MAX), ..order() }), "slots is"),
        (open(Order { manager: "a/b".to_owned(), ..order() }), "the manager is \"a/b\""),
        (open(Order { workers: vec![worker("*")], ..order() }), "the node of a worker is \"*\""),
        (open(Order { workers: vec![worker("a"); 1025], ..order() }), "the number of workers is 1025"),
        (open(Order { text: "x".repeat((1 << 20) + 1), ..order() }), "the length of the file is"),
        (open(Order { set: vec![String::new(); 5000], ..order() }), "the number of changed parameters is 5000"),
        (prepare(Order { hop_slots: 65, ..order() }), "order `prepare` of `blue`: hop_slots is 65"),
        (Request::Start(Start { in_ns: u64::MAX, ..start() }), "in_ns is"),
        (Request::Start(Start { epoch_ns: Some(u64::MAX), ..start() }), "epoch_ns is"),
        (Request::Start(Start { ptp: Some(PtpEpoch { epoch_ptp_ns: u64::MAX, ..PTP }), ..start() }), "epoch_ptp_ns is"),
        (Request::Change(Change { ptp: Some(PtpEpoch { bound_ns: u64::MAX, ..PTP }), ..change() }), "bound_ns is"),
        (Request::Start(Start { reference: "..".to_owned(), ..start() }), "the reference is"),
        (Request::Change(Change { at: u64::MAX, ..change() }), "at is"),
        (Request::Stop { run: "\u{1b}[2J".to_owned(), manager: None }, "the run is"),
        (Request::Stop { run: "x".to_owned(), manager: Some("a/b".to_owned()) }, "the manager is \"a/b\""),
        (adopt(Ballot::new(0, "m"), vec![]), "placing is 0"),
        (adopt(Ballot::new(2, "*"), vec![]), "the manager is \"*\""),
        (adopt(Ballot::new(2, "m"), vec!["b".to_owned(); 2000]), "the number of voters is 2000"),
        (Request::Recall { run: String::new() }, "the run is"),
    ];
    for (order, what) in bad {
        let message = signed(&blue, gate.moment(NOW_NS), &order);
        let why = refusal(&mut gate, &message);
        assert!(why.starts_with("order `") && why.contains(what) && why.contains("must be"), "{why}");
    }
    for good in [open(order()), Request::Start(start()), Request::Change(change()), stop()] {
        assert!(give(&mut gate, &blue, &good).is_ok(), "{good:?}");
    }
}

/// Changes of an attacker on the way to an order: the number of a byte, and what it becomes.
fn mutations() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
}

proptest! {
    #[test]
    fn no_bytes_are_an_order(message in prop::collection::vec(any::<u8>(), 0..512)) {
        let (mut gate, _) = world();
        prop_assert!(!matches!(admit(&mut gate, &message), Ok(Admitted::Order(..))));
    }

    /// A good order changed on the way is refused, or the same order still.
    #[test]
    fn no_changed_order_is_another_order(changes in mutations(), cut in any::<prop::sample::Index>(), short: bool) {
        let (mut gate, blue) = world();
        let good = Request::Open(Box::new(order()));
        let mut message = signed(&blue, gate.moment(NOW_NS), &good);
        if short {
            message.truncate(cut.index(message.len()));
        } else {
            for (at, byte) in changes {
                let at = at.index(message.len());
                message[at] = byte;
            }
        }
        if let Ok(admitted) = admit(&mut gate, &message) {
            prop_assert_eq!(admitted, Admitted::Order(Tenant::named("blue").expect("a name"), good));
        }
    }

    /// Whatever a tenant signs: it is let in with values in range, or refused with a reason.
    #[test]
    fn what_a_tenant_signs_is_as_hostile_as_any(
        run in ".{0,200}", node in ".{0,80}", numbers: [u64; 4], small: [u32; 3], priority: u8,
    ) {
        let (mut gate, blue) = world();
        let [slot_ns, slots, in_ns, at] = numbers;
        let [placing, hop_slots, cpu] = small;
        let worker = WorkerOrder { node: node.clone(), cpu, components: vec![run.clone()] };
        let order = Order {
            run: run.clone(), placing, slot_ns: Some(slot_ns), slots: Some(slots), hop_slots,
            fifo_priority: priority, workers: vec![worker], ..order()
        };
        for request in [
            Request::Open(Box::new(order)),
            Request::Start(Start { run: run.clone(), in_ns, ..start() }),
            Request::Change(Change { run, at, reference: node, ..change() }),
        ] {
            let message = signed(&blue, gate.moment(NOW_NS), &request);
            match admit(&mut gate, &message) {
                Ok(admitted) => prop_assert_eq!(admitted, Admitted::Order(Tenant::named("blue").expect("a name"), request)),
                Err(why) => prop_assert!(matches!(why, Refused::Range { .. }), "{}", why),
            }
        }
    }
}
