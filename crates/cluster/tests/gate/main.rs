//! Messages that a node lets in, and those that it does not: through the function that takes what comes from the
//! network.

mod hostile;
mod support;

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use support::*;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::gate::{Admitted, Gate, WINDOW};
use takt_cluster::message::{Moment, Request, StartAgent, WriteAgent};
use takt_cluster::tenant::Tenant;

#[test]
fn an_order_is_taken_once_and_says_whose_it_is() {
    let (mut gate, blue) = world();
    let message = signed(&blue, gate.moment(NOW_NS), &stop());
    let tenant = Tenant::named("blue").expect("a name");
    assert_eq!(admit(&mut gate, &message).expect("let in"), Admitted::Order(tenant, stop()));
    assert_eq!(refusal(&mut gate, &message), "an order of `blue` arrived a second time");
    let again = signed(&blue, gate.moment(NOW_NS), &stop());
    assert!(admit(&mut gate, &again).is_ok(), "the same order, given anew");
}

fn write(agent: u64) -> Request {
    Request::WriteAgent(WriteAgent { agent, input: String::new(), end: false })
}

#[test]
fn what_is_written_to_an_agent_is_taken_once_in_order_and_of_its_lab_alone() {
    let (mut gate, blue) = world();
    let life = gate.moment(0).life;
    let message = |agent: u64, life: u64, number: u64| {
        let moment = Moment { life, at_ns: 0 };
        blue.numbered("lab", "a", (moment, number), &write(agent)).expect("random numbers")
    };
    let none = "`blue` has no agent of that number here; an agent ends after 10 s without a message of its lab";
    assert_eq!(refusal(&mut gate, &message(7, life, 0)), none);
    let agent = gate.add_agent(&Tenant::named("blue").expect("a name")).expect("random numbers");
    let first = message(agent, life, 0);
    assert!(matches!(admit(&mut gate, &first), Ok(Admitted::Order(_, order)) if order == write(agent)));
    assert_eq!(refusal(&mut gate, &first), "an order of `blue` arrived a second time");
    assert_eq!(
        refusal(&mut gate, &message(agent, life, 2)),
        "message 2 to an agent of `blue` is out of order: 1 was expected"
    );
    assert_eq!(
        refusal(&mut gate, &message(agent, life ^ 1, 1)),
        "an order of `blue` was meant for this node before its restart"
    );
    let elsewhere = blue.numbered("lab", "b", (Moment { life, at_ns: 0 }, 1), &write(agent)).expect("random numbers");
    assert_eq!(refusal(&mut gate, &elsewhere), "an order of `blue` was meant for node `b` of cluster `lab`");
    let long = Request::WriteAgent(WriteAgent { agent, input: "x".repeat(400_000), end: false });
    let long = blue.numbered("lab", "a", (Moment { life, at_ns: 0 }, 1), &long).expect("random numbers");
    assert!(refusal(&mut gate, &long).contains("the length of the input is 400000, but must be"));
    // There is no bound on how many there are: nothing is kept of them.
    for number in 1..1100 {
        assert!(admit(&mut gate, &message(agent, life, number)).is_ok(), "{number}");
    }
    let of_red = gate.add_agent(&Tenant::named("red").expect("a name")).expect("random numbers");
    assert_eq!(refusal(&mut gate, &message(of_red, life, 0)), none);
    gate.remove_agent(agent);
    assert_eq!(refusal(&mut gate, &message(agent, life, 1100)), none);
    let many = Request::StartAgent(StartAgent { version: "1".to_owned(), cores: Some(0) });
    assert_eq!(refused(&mut gate, &blue, &many), "order `start_agent` of `blue`: cores is 0, but must be 1 to 65536");
}

/// Anybody can make (r, -s) of an ECDSA signature (r, s), and it holds as well.
#[test]
fn another_signature_that_holds_makes_no_other_order() {
    let (mut gate, blue) = world();
    let mut message = document(&signed(&blue, gate.moment(NOW_NS), &stop()));
    let mut other = message.clone();
    let signature = STANDARD.decode(message["order"]["signature"].as_str().expect("a text")).expect("base64");
    other["order"]["signature"] = json!(STANDARD.encode(negated(&signature)));
    assert!(admit(&mut gate, &bytes(&other)).is_ok(), "the other one holds");
    assert_eq!(refusal(&mut gate, &bytes(&message)), "an order of `blue` arrived a second time");
    message["order"]["signature"] = json!("");
    assert!(refusal(&mut gate, &bytes(&message)).contains("differs from what"));
}

/// `(r, s)` in ASN.1 as `(r, n - s)`.
fn negated(signature: &[u8]) -> Vec<u8> {
    const ORDER: [u8; 32] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
        0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ];
    let r = &signature[2..4 + usize::from(signature[3])];
    let s = &signature[6 + usize::from(signature[3])..];
    let mut number = [0; 32];
    let digits = &s[s.len().saturating_sub(32)..];
    number[32 - digits.len()..].copy_from_slice(digits);
    let mut borrow = 0;
    let mut other: Vec<u8> = ORDER
        .iter()
        .zip(number)
        .rev()
        .map(|(&n, s)| {
            let difference = i16::from(n) - i16::from(s) - borrow;
            borrow = i16::from(difference < 0);
            difference.rem_euclid(256) as u8
        })
        .collect();
    other.reverse();
    let other: Vec<u8> = other.into_iter().skip_while(|&byte| byte == 0).collect();
    let sign = if other[0] >= 0x80 { vec![0] } else { Vec::new() };
    let s = [&[2, (sign.len() + other.len()) as u8][..], &sign, &other].concat();
    [&[0x30, (r.len() + s.len()) as u8][..], r, &s].concat()
}

#[test]
fn an_order_is_for_one_node_one_life_of_it_and_a_minute() {
    let (mut gate, blue) = world();
    let moment = gate.moment(NOW_NS);
    let of = |cluster: &str, node: &str, moment| blue.message(cluster, node, moment, &stop()).expect("random numbers");
    assert_eq!(
        refusal(&mut gate, &of("lab", "b", moment)),
        "an order of `blue` was meant for node `b` of cluster `lab`"
    );
    assert_eq!(
        refusal(&mut gate, &of("home", "a", moment)),
        "an order of `blue` was meant for node `a` of cluster `home`"
    );
    let earlier = world().0.moment(NOW_NS);
    assert_eq!(
        refusal(&mut gate, &of("lab", "a", earlier)),
        "an order of `blue` was meant for this node before its restart"
    );
    let ahead = Moment { at_ns: NOW_NS + 1, ..moment };
    assert!(refusal(&mut gate, &of("lab", "a", ahead)).ends_with("a time that is in the future on this node"));
    let window = WINDOW.as_nanos() as u64;
    let late = Moment { at_ns: NOW_NS - window - 1_000_000_000, ..moment };
    let why = refusal(&mut gate, &of("lab", "a", late));
    assert_eq!(why, "an order of `blue` was signed 61 s ago; at most 60 s are allowed");
    let just = Moment { at_ns: NOW_NS - window, ..moment };
    assert!(admit(&mut gate, &of("lab", "a", just)).is_ok());
}

#[test]
fn an_order_is_no_longer_remembered_only_when_it_is_too_late_anyway() {
    let (mut gate, blue) = world();
    let message = signed(&blue, gate.moment(NOW_NS), &stop());
    assert!(admit(&mut gate, &message).is_ok());
    let window = WINDOW.as_nanos() as u64;
    for later in [1, window / 2, window, window + 1, 2 * window, u64::MAX - NOW_NS] {
        let other = signed(&blue, gate.moment(NOW_NS + later), &stop());
        assert!(gate.admit(&other, NOW_NS + later, SystemTime::now()).is_ok());
        assert!(gate.admit(&message, NOW_NS + later, SystemTime::now()).is_err(), "{later} ns later");
    }
}

#[test]
fn a_tenant_that_gives_too_many_orders_keeps_no_other_out() {
    let out = tempfile::tempdir().expect("a folder");
    let (blue, authority) = folder(out.path(), "blue", &grant("blue"));
    let (red, _) = folder(out.path(), "red", &grant("red"));
    let mut gate = Gate::new("lab", "a", &authority).expect("an authority");
    let moment = gate.moment(NOW_NS);
    for _ in 0..1024 {
        assert!(admit(&mut gate, &signed(&blue, moment, &stop())).is_ok());
    }
    assert_eq!(refusal(&mut gate, &signed(&blue, moment, &stop())), "`blue` gave more than 1024 orders in 60 s");
    assert!(admit(&mut gate, &signed(&red, moment, &stop())).is_ok());
    let later = NOW_NS + WINDOW.as_nanos() as u64 + 1;
    let message = signed(&blue, gate.moment(later), &stop());
    assert!(gate.admit(&message, later, SystemTime::now()).is_ok());
}

#[test]
fn nothing_of_an_order_can_be_changed() {
    let (mut gate, blue) = world();
    let message = signed(&blue, gate.moment(NOW_NS), &stop());
    let mut other = document(&message);
    let text = other["order"]["text"].as_str().expect("a text").replace("utran-7", "utran-8");
    other["order"]["text"] = json!(text);
    assert_eq!(refusal(&mut gate, &bytes(&other)), "an order differs from what `blue` signed");
    for signature in ["", "AAAA", "no base64!", &"A".repeat(10_000)] {
        let mut other = document(&message);
        other["order"]["signature"] = json!(signature);
        assert!(
            refusal(&mut gate, &bytes(&other)).starts_with("an order differs from what `blue` signed"),
            "{signature}"
        );
    }
    // The tenant is what the certificate says: with another's certificate the signature does not hold.
    let out = tempfile::tempdir().expect("a folder");
    let (red, authority) = folder(out.path(), "red", &grant("red"));
    folder(out.path(), "green", &grant("green"));
    let mut gate = Gate::new("lab", "a", &authority).expect("an authority");
    let mut other = document(&signed(&red, gate.moment(NOW_NS), &stop()));
    other["order"]["certificate"] = json!(std::fs::read_to_string(out.path().join("green/node.pem")).expect("a file"));
    assert_eq!(refusal(&mut gate, &bytes(&other)), "an order differs from what `green` signed");
}

#[test]
fn certificates_count_that_the_own_authority_gave_and_that_are_valid_now() {
    let (mut gate, _) = world();
    let out = tempfile::tempdir().expect("a folder");
    let (stranger, authority) = folder(out.path(), "stranger", &grant("blue"));
    let why = refused(&mut gate, &stranger, &stop());
    assert_eq!(why, "this node does not trust the certificate of an order: another authority signed it");
    let mut gate = Gate::new("lab", "a", &authority).expect("an authority");
    let (now, day) = (SystemTime::now(), Duration::from_secs(86_400));
    let of = |name: &str, from, until| {
        folder(out.path(), name, &Grant { from: Some(from), until: Some(until), ..grant("blue") }).0
    };
    let expired = of("expired", now - 2 * day, now - day);
    let why = refused(&mut gate, &expired, &stop());
    assert!(
        why.starts_with("this node does not trust the certificate of an order: ") && why.contains("expired"),
        "{why}"
    );
    let early = of("early", now + day, now + 2 * day);
    let why = refused(&mut gate, &early, &stop());
    assert!(why.contains("not valid yet"), "{why}");
    issue(out.path(), "office", &["elsewhere".to_owned()], &settings(), &grant("blue")).expect("a folder");
    let why = refused(&mut gate, &signer(out.path(), "elsewhere"), &stop());
    assert_eq!(why, "this node does not trust the certificate of an order: it is of no member of cluster `lab`");
    let good = of("good", now - day, now + day);
    assert!(give(&mut gate, &good, &stop()).is_ok());
    for certificate in ["", "no PEM", &"A".repeat(20_000), &authority] {
        let mut other = document(&signed(&good, gate.moment(NOW_NS), &stop()));
        other["order"]["certificate"] = json!(certificate);
        assert!(
            refusal(&mut gate, &bytes(&other)).starts_with("this node does not trust the certificate of an order: ")
        );
    }
}

#[test]
fn a_certificate_without_a_tenant_is_the_operators() {
    let out = tempfile::tempdir().expect("a folder");
    let (operator, authority) = folder(out.path(), "n", &Grant::default());
    let mut gate = Gate::new("lab", "a", &authority).expect("an authority");
    let message = signed(&operator, gate.moment(NOW_NS), &stop());
    assert_eq!(admit(&mut gate, &message).expect("let in"), Admitted::Order(Tenant::operator(), stop()));
}

#[test]
fn questions_are_of_any_member_and_orders_of_none_without_a_signature() {
    let (mut gate, blue) = world();
    for question in [json!({"ask": "describe"}), json!({"ask": "moment"}), json!({"ask": "progress", "run": "x"})] {
        let message = bytes(&json!({"protocol": 3, "body": question}));
        assert!(matches!(admit(&mut gate, &message), Ok(Admitted::Question(_))), "{question}");
    }
    let message = bytes(&json!({"protocol": 3, "body": {"ask": "stop", "run": "utran-7"}}));
    assert_eq!(refusal(&mut gate, &message), "order `stop` has no signature");
    let message = signed(&blue, gate.moment(NOW_NS), &Request::Describe);
    assert_eq!(refusal(&mut gate, &message), "`blue` signed a query as if it were an order");
}
