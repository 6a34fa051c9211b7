#![no_main]
//! Control messages of a cluster, through the function that takes what comes to a node: bytes of strangers, texts that a tenant
//! has signed, and orders that it has; and heartbeats. Without Zenoh: what it carries is bytes.

use std::sync::LazyLock;
use std::time::SystemTime;

use takt_cluster::certificates::{Grant, issue};
use takt_cluster::gate::{Admitted, Gate, Refused};
use takt_cluster::message::{Request, WriteAgent};
use takt_cluster::quorum::{Heartbeat, Quorum, Uncounted, View};
use takt_cluster::seal::Signer;
use takt_cluster::tenant::Tenant;
use takt_cluster::{Folder, Settings};

/// A tenant's certificate and key, and the authority that vouches for it.
static FILES: LazyLock<[String; 3]> = LazyLock::new(|| {
    let out = std::env::temp_dir().join(format!("takt-fuzz-control-{}", std::process::id()));
    let settings: Settings = serde_json::from_str(r#"{"cluster": "lab", "node": "blue"}"#).expect("settings");
    let grant = Grant { tenant: Tenant::named("blue"), ..Grant::default() };
    issue(&out, "lab", &["blue".to_owned()], &settings, &grant).expect("a folder");
    let text = |name: &str| std::fs::read_to_string(out.join("blue").join(name)).expect("a file");
    let files = [Folder::CERTIFICATE, Folder::KEY, Folder::AUTHORITY].map(text);
    std::fs::remove_dir_all(&out).expect("it is ours");
    files
});

thread_local! {
    static BLUE: Signer = Signer::new(FILES[0].clone(), &FILES[1]).expect("a key");
}

fn gate() -> Gate {
    Gate::new("lab", "a", &FILES[2]).expect("an authority")
}

fn admit(gate: &mut Gate, message: &[u8]) -> Result<Admitted, Refused> {
    let done = gate.admit(message, 1000, SystemTime::now());
    if let Err(why) = &done {
        assert!(!why.to_string().is_empty() && !why.fix().is_empty());
    }
    done
}

/// Nobody's bytes are an order.
fn stranger(bytes: &[u8]) {
    if let Ok(admitted) = admit(&mut gate(), bytes) {
        assert!(matches!(admitted, Admitted::Question(question) if question.is_question()));
    }
}

/// A text of a tenant is no order either, unless it is for this life of the node, of which the fuzzer knows nothing.
fn text(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let message = BLUE.with(|blue| blue.seal(text.to_owned())).expect("random numbers").message();
        assert!(admit(&mut gate(), &message).is_err());
    }
}

/// An order of a tenant is let in as it is, once, or its values are out of range.
fn order(bytes: &[u8]) {
    let Ok(order) = serde_json::from_slice::<Request>(bytes) else { return };
    let mut gate = gate();
    let moment = gate.moment(1000);
    let message = BLUE.with(|blue| blue.message("lab", "a", moment, &order)).expect("random numbers");
    match admit(&mut gate, &message) {
        Ok(admitted) => {
            assert_eq!(admitted, Admitted::Order(Tenant::named("blue").expect("a name"), order));
            assert!(matches!(admit(&mut gate, &message), Err(Refused::Replayed { .. })));
        }
        Err(why) => assert!(
            matches!(why, Refused::Range { .. } | Refused::NoOrder { .. } | Refused::NoAgent { .. }),
            "{why}"
        ),
    }
}

/// A tenant's word to its agent is let in once, as it is.
fn word(bytes: &[u8]) {
    let Ok(Request::WriteAgent(write)) = serde_json::from_slice::<Request>(bytes) else { return };
    let mut gate = gate();
    let agent = gate.add_agent(&Tenant::named("blue").expect("a name")).expect("random numbers");
    let order = Request::WriteAgent(WriteAgent { agent, ..write });
    let moment = gate.moment(1000);
    let message = BLUE.with(|blue| blue.numbered("lab", "a", (moment, 0), &order)).expect("random numbers");
    match admit(&mut gate, &message) {
        Ok(admitted) => {
            assert_eq!(admitted, Admitted::Order(Tenant::named("blue").expect("a name"), order));
            assert!(matches!(admit(&mut gate, &message), Err(Refused::Replayed { .. })));
        }
        Err(why) => assert!(matches!(why, Refused::Range { .. }), "{why}"),
    }
}

/// A heartbeat counts once, and prolongs no lease by more than a lease.
fn heartbeat(bytes: &[u8]) {
    let Ok(heartbeat) = serde_json::from_slice::<Heartbeat>(bytes) else { return };
    let voters = vec!["a".to_owned(), heartbeat.from.clone()];
    let quorums = [Quorum { ballot: heartbeat.supports.clone(), voters }];
    let mut view = View::new("a", heartbeat.supports.clone(), 100);
    if view.take(heartbeat.clone(), 1000).is_ok() {
        assert_eq!(view.take(heartbeat, 1000), Err(Uncounted::Replayed));
        assert!(view.lease(&quorums, 1000).is_none_or(|until_ns| until_ns <= 1100));
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    heartbeat(bytes);
    stranger(bytes);
    text(bytes);
    order(bytes);
    word(bytes);
});
