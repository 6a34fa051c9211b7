//! What a node lets in, and what it does not: through the function that takes what comes from the network.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::clock::{PtpEpoch, SlotClock};
use takt_cluster::gate::{Admitted, Gate, MOST_BYTES, MOST_BYTES_UNSIGNED, Refused, WINDOW};
use takt_cluster::message::{Adopt, Change, Moment, Order, Request, Start, StartAgent, WorkerOrder, WriteAgent};
use takt_cluster::quorum::{Ballot, Quorum};
use takt_cluster::seal::Signer;
use takt_cluster::tenant::Tenant;
use takt_cluster::{Folder, Settings};
use takt_graph::Latency;

/// When all of this happens, by the node's clock.
const NOW_NS: u64 = 1_000_000_000_000;

fn settings() -> Settings {
    toml::from_str("cluster = 'lab'\nnode = 'x'").expect("settings")
}

/// A folder of an authority in `out`: who signs with it, and the authority.
fn folder(out: &Path, name: &str, grant: &Grant) -> (Signer, String) {
    issue(out, "lab", &[name.to_owned()], &settings(), grant).expect("a folder");
    let text = |file: &str| std::fs::read_to_string(out.join(name).join(file)).expect("a file");
    (Signer::new(text(Folder::CERTIFICATE), &text(Folder::KEY)).expect("a key"), text(Folder::AUTHORITY))
}

fn grant(tenant: &str) -> Grant {
    Grant { tenant: Tenant::named(tenant), ..Grant::default() }
}

/// A gate of node a, and tenant blue.
fn world() -> (Gate, Signer) {
    static FILES: OnceLock<[String; 3]> = OnceLock::new();
    let [certificate, key, authority] = FILES.get_or_init(|| {
        let out = tempfile::tempdir().expect("a folder");
        folder(out.path(), "blue", &grant("blue"));
        [Folder::CERTIFICATE, Folder::KEY, Folder::AUTHORITY]
            .map(|file| std::fs::read_to_string(out.path().join("blue").join(file)).expect("a file"))
    });
    let gate = Gate::new("lab", "a", authority).expect("an authority");
    (gate, Signer::new(certificate.clone(), key).expect("a key"))
}

fn stop() -> Request {
    Request::Stop { run: "utran-7".to_owned(), manager: None }
}

fn prepare(order: Order) -> Request {
    Request::Prepare { after: Ballot::new(1, "m"), order: Box::new(order) }
}

fn adopt(next: Ballot, voters: Vec<String>) -> Request {
    let next = Quorum { ballot: next, voters };
    Request::Adopt(Adopt { run: "utran-7".to_owned(), after: Ballot::new(1, "m"), next })
}

fn signed(signer: &Signer, moment: Moment, order: &Request) -> Vec<u8> {
    signer.message("lab", "a", moment, order).expect("random numbers")
}

fn admit(gate: &mut Gate, message: &[u8]) -> Result<Admitted, Refused> {
    gate.admit(message, NOW_NS, SystemTime::now())
}

/// Gives an order now.
fn give(gate: &mut Gate, signer: &Signer, order: &Request) -> Result<Admitted, Refused> {
    let message = signed(signer, gate.moment(NOW_NS), order);
    admit(gate, &message)
}

/// Why an order is refused that is given now.
fn refused(gate: &mut Gate, signer: &Signer, order: &Request) -> String {
    give(gate, signer, order).expect_err("it is not let in").to_string()
}

/// Why a message is refused.
fn refusal(gate: &mut Gate, message: &[u8]) -> String {
    let why = admit(gate, message).expect_err("it is not let in");
    assert!(!why.fix().is_empty());
    why.to_string()
}

fn document(message: &[u8]) -> Value {
    serde_json::from_slice(message).expect("JSON")
}

fn bytes(document: &Value) -> Vec<u8> {
    serde_json::to_vec(document).expect("JSON")
}

#[test]
fn an_order_is_taken_once_and_says_whose_it_is() {
    let (mut gate, blue) = world();
    let message = signed(&blue, gate.moment(NOW_NS), &stop());
    let tenant = Tenant::named("blue").expect("a name");
    assert_eq!(admit(&mut gate, &message).expect("let in"), Admitted::Order(tenant, stop()));
    assert_eq!(refusal(&mut gate, &message), "an order of `blue` that came before");
    let again = signed(&blue, gate.moment(NOW_NS), &stop());
    assert!(admit(&mut gate, &again).is_ok(), "the same order, given anew");
}

fn write(agent: u64) -> Request {
    Request::WriteAgent(WriteAgent { agent, input: String::new(), end: false })
}

#[test]
fn what_is_said_to_an_agent_is_taken_once_in_order_and_of_its_lab_alone() {
    let (mut gate, blue) = world();
    let life = gate.moment(0).life;
    let message = |agent: u64, life: u64, number: u64| {
        let moment = Moment { life, at_ns: 0 };
        blue.numbered("lab", "a", (moment, number), &write(agent)).expect("random numbers")
    };
    let none = "no agent of `blue` is here by that number: 10 s without a message of its lab end it";
    assert_eq!(refusal(&mut gate, &message(7, life, 0)), none);
    let agent = gate.add_agent(&Tenant::named("blue").expect("a name")).expect("random numbers");
    let first = message(agent, life, 0);
    assert!(matches!(admit(&mut gate, &first), Ok(Admitted::Order(_, order)) if order == write(agent)));
    assert_eq!(refusal(&mut gate, &first), "an order of `blue` that came before");
    assert_eq!(refusal(&mut gate, &message(agent, life, 2)), "message 2 to an agent of `blue`, where 1 is next");
    assert_eq!(refusal(&mut gate, &message(agent, life ^ 1, 1)), "an order of `blue` for an earlier life of this node");
    let elsewhere = blue.numbered("lab", "b", (Moment { life, at_ns: 0 }, 1), &write(agent)).expect("random numbers");
    assert_eq!(refusal(&mut gate, &elsewhere), "an order of `blue` for node `b` of cluster `lab`");
    let long = Request::WriteAgent(WriteAgent { agent, input: "x".repeat(400_000), end: false });
    let long = blue.numbered("lab", "a", (Moment { life, at_ns: 0 }, 1), &long).expect("random numbers");
    assert!(refusal(&mut gate, &long).contains("the length of the input is 400000, and must be"));
    // There is no bound on how many there are: nothing is kept of them.
    for number in 1..1100 {
        assert!(admit(&mut gate, &message(agent, life, number)).is_ok(), "{number}");
    }
    let of_red = gate.add_agent(&Tenant::named("red").expect("a name")).expect("random numbers");
    assert_eq!(refusal(&mut gate, &message(of_red, life, 0)), none);
    gate.remove_agent(agent);
    assert_eq!(refusal(&mut gate, &message(agent, life, 1100)), none);
    let many = Request::StartAgent(StartAgent { version: "1".to_owned(), cores: Some(0) });
    assert_eq!(refused(&mut gate, &blue, &many), "order `start_agent` of `blue`: cores is 0, and must be 1 to 65536");
}

/// Of an ECDSA signature (r, s) anybody can make (r, -s), which holds as well.
#[test]
fn another_signature_that_holds_makes_no_other_order() {
    let (mut gate, blue) = world();
    let mut message = document(&signed(&blue, gate.moment(NOW_NS), &stop()));
    let mut other = message.clone();
    let signature = STANDARD.decode(message["order"]["signature"].as_str().expect("a text")).expect("base64");
    other["order"]["signature"] = json!(STANDARD.encode(negated(&signature)));
    assert!(admit(&mut gate, &bytes(&other)).is_ok(), "the other one holds");
    assert_eq!(refusal(&mut gate, &bytes(&message)), "an order of `blue` that came before");
    message["order"]["signature"] = json!("");
    assert!(refusal(&mut gate, &bytes(&message)).contains("not signed"));
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
    assert_eq!(refusal(&mut gate, &of("lab", "b", moment)), "an order of `blue` for node `b` of cluster `lab`");
    assert_eq!(refusal(&mut gate, &of("home", "a", moment)), "an order of `blue` for node `a` of cluster `home`");
    let earlier = world().0.moment(NOW_NS);
    assert_eq!(refusal(&mut gate, &of("lab", "a", earlier)), "an order of `blue` for an earlier life of this node");
    let ahead = Moment { at_ns: NOW_NS + 1, ..moment };
    assert!(refusal(&mut gate, &of("lab", "a", ahead)).ends_with("a moment that this node has not reached"));
    let window = WINDOW.as_nanos() as u64;
    let late = Moment { at_ns: NOW_NS - window - 1_000_000_000, ..moment };
    let why = refusal(&mut gate, &of("lab", "a", late));
    assert_eq!(why, "an order of `blue` that was signed 61 s ago, and 60 s are the most");
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
    assert_eq!(refusal(&mut gate, &signed(&blue, moment, &stop())), "1024 orders of `blue` in 60 s");
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
    assert_eq!(refusal(&mut gate, &bytes(&other)), "an order that `blue` has not signed as it came");
    for signature in ["", "AAAA", "no base64!", &"A".repeat(10_000)] {
        let mut other = document(&message);
        other["order"]["signature"] = json!(signature);
        assert!(refusal(&mut gate, &bytes(&other)).starts_with("an order that `blue` has not signed"), "{signature}");
    }
    // The tenant is what the certificate says: with another's certificate the signature does not hold.
    let out = tempfile::tempdir().expect("a folder");
    let (red, authority) = folder(out.path(), "red", &grant("red"));
    folder(out.path(), "green", &grant("green"));
    let mut gate = Gate::new("lab", "a", &authority).expect("an authority");
    let mut other = document(&signed(&red, gate.moment(NOW_NS), &stop()));
    other["order"]["certificate"] = json!(std::fs::read_to_string(out.path().join("green/node.pem")).expect("a file"));
    assert_eq!(refusal(&mut gate, &bytes(&other)), "an order that `green` has not signed as it came");
}

#[test]
fn certificates_count_that_the_own_authority_gave_and_that_are_valid_now() {
    let (mut gate, _) = world();
    let out = tempfile::tempdir().expect("a folder");
    let (stranger, authority) = folder(out.path(), "stranger", &grant("blue"));
    let why = refused(&mut gate, &stranger, &stop());
    assert_eq!(why, "the certificate of an order: of another authority");
    let mut gate = Gate::new("lab", "a", &authority).expect("an authority");
    let (now, day) = (SystemTime::now(), Duration::from_secs(86_400));
    let of = |name: &str, from, until| {
        folder(out.path(), name, &Grant { from: Some(from), until: Some(until), ..grant("blue") }).0
    };
    let expired = of("expired", now - 2 * day, now - day);
    let why = refused(&mut gate, &expired, &stop());
    assert!(why.starts_with("the certificate of an order: ") && why.contains("expired"), "{why}");
    let early = of("early", now + day, now + 2 * day);
    let why = refused(&mut gate, &early, &stop());
    assert!(why.contains("not valid yet"), "{why}");
    let good = of("good", now - day, now + day);
    assert!(give(&mut gate, &good, &stop()).is_ok());
    for certificate in ["", "no PEM", &"A".repeat(20_000), &authority] {
        let mut other = document(&signed(&good, gate.moment(NOW_NS), &stop()));
        other["order"]["certificate"] = json!(certificate);
        assert!(refusal(&mut gate, &bytes(&other)).starts_with("the certificate of an order: "));
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
        let message = bytes(&json!({"protocol": 1, "body": question}));
        assert!(matches!(admit(&mut gate, &message), Ok(Admitted::Question(_))), "{question}");
    }
    let message = bytes(&json!({"protocol": 1, "body": {"ask": "stop", "run": "utran-7"}}));
    assert_eq!(refusal(&mut gate, &message), "order `stop` without a signature");
    let message = signed(&blue, gate.moment(NOW_NS), &Request::Describe);
    assert_eq!(refusal(&mut gate, &message), "`blue` signed a question as an order");
}

#[test]
fn what_is_no_message_is_refused() {
    let (mut gate, blue) = world();
    let order = document(&signed(&blue, gate.moment(NOW_NS), &stop()));
    let deep = format!("{}{}", r#"{"protocol":1,"body":"#, "[".repeat(5_000));
    let both = bytes(&json!({"protocol": 1, "body": {"ask": "describe"}, "order": order["order"]}));
    let more = bytes(&json!({"protocol": 1, "order": order["order"], "note": "hello"}));
    let no_sealed = bytes(&json!({"protocol": 1, "order": {"text": "x"}}));
    let bad: [&[u8]; 18] = [
        b"",
        b"{}",
        b"null",
        b"[1]",
        b"\xff\xfe",
        b"{\"protocol\":1,\"body\":{\"ask\":\"\xff\"}}",
        br#"{"protocol":1}"#,
        br#"{"protocol":1,"body":null}"#,
        br#"{"protocol":-1,"body":{"ask":"describe"}}"#,
        br#"{"protocol":1e99,"body":{"ask":"describe"}}"#,
        br#"{"protocol":4294967297,"body":{"ask":"describe"}}"#,
        br#"{"protocol":1,"body":{"ask":"fly"}}"#,
        br#"{"protocol":1,"body":{"ask":"progress","run":"x","more":1}}"#,
        br#"{"protocol":1,"protocol":1,"body":{"ask":"describe"}}"#,
        deep.as_bytes(),
        &both,
        &more,
        &no_sealed,
    ];
    for message in bad {
        let why = refusal(&mut gate, message);
        assert!(why.starts_with("no message: "), "{why} of {}", String::from_utf8_lossy(message));
    }
    let other = br#"{"protocol": 7, "body": {"ask": "something new"}}"#;
    assert_eq!(refusal(&mut gate, other), "it speaks version 7 of the protocol, and this takt 1");
}

#[test]
fn what_is_long_is_not_parsed() {
    let (mut gate, blue) = world();
    let long = vec![b'['; MOST_BYTES + 1];
    assert_eq!(
        refusal(&mut gate, &long),
        "a message of 4194305 bytes, and 4194304 are the most of one with a signature"
    );
    let run = "x".repeat(MOST_BYTES_UNSIGNED);
    let message = bytes(&json!({"protocol": 1, "body": {"ask": "progress", "run": run}}));
    let why = refusal(&mut gate, &message);
    assert!(why.ends_with("and 16384 are the most of one without a signature"), "{why}");
    // The largest waveform that takt reads travels.
    let text = "# \"\\\n".repeat((1 << 20) / 5);
    let message = signed(&blue, gate.moment(NOW_NS), &Request::Open(Box::new(Order { text, ..order() })));
    assert!(matches!(admit(&mut gate, &message), Ok(Admitted::Order(..))), "{} bytes", message.len());
}

fn order() -> Order {
    let worker = WorkerOrder { node: "a".to_owned(), cpu: 1, components: vec!["source".to_owned()] };
    Order {
        run: "utran-7".to_owned(),
        placing: 1,
        file: "utran.toml".to_owned(),
        text: "name = 'utran'".to_owned(),
        slot_ns: None,
        set: Vec::new(),
        latency: Latency::Fixed,
        hop_slots: 2,
        slots: Some(1000),
        fifo_priority: 50,
        manager: "manager-7".to_owned(),
        first_stream: 112,
        slot_clock: SlotClock::Own,
        workers: vec![worker],
    }
}

fn start() -> Start {
    Start {
        run: "utran-7".to_owned(),
        reference: "a".to_owned(),
        clock: "10.0.0.1:7000".parse().expect("an address"),
        in_ns: 1_000_000,
        epoch_ns: None,
        ptp: None,
        samples: BTreeMap::new(),
    }
}

fn change() -> Change {
    let Start { run, reference, clock, epoch_ns, ptp, samples, .. } = start();
    Change { run, at: 100, reference, clock, epoch_ns, ptp, samples }
}

const PTP: PtpEpoch = PtpEpoch { epoch_ptp_ns: 1_800_000_000_000_000_000, grandmaster: 7, bound_ns: 5_000 };

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
        (open(Order { fifo_priority: 99, ..order() }), "fifo_priority is 99, and must be 0 to 98"),
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

/// Says what a person has done to an order: the number of a byte, and what it becomes.
fn mutations() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
}

proptest! {
    #[test]
    fn no_bytes_are_an_order(message in prop::collection::vec(any::<u8>(), 0..512)) {
        let (mut gate, _) = world();
        prop_assert!(!matches!(admit(&mut gate, &message), Ok(Admitted::Order(..))));
    }

    /// What a good order becomes on the way is refused, or the same order still.
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
