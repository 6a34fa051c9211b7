//! A node's gate, a tenant, and orders of its.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

use serde_json::Value;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::clock::{PtpEpoch, SlotClock};
use takt_cluster::gate::{Admitted, Gate, Refused};
use takt_cluster::message::{Adopt, Change, Moment, Order, Request, Start, WorkerOrder};
use takt_cluster::quorum::{Ballot, Quorum};
use takt_cluster::seal::Signer;
use takt_cluster::tenant::Tenant;
use takt_cluster::{Folder, Settings};
use takt_graph::Latency;

/// When all of this happens, by the node's clock.
pub(crate) const NOW_NS: u64 = 1_000_000_000_000;

pub(crate) fn settings() -> Settings {
    toml::from_str("cluster = 'lab'\nnode = 'x'").expect("settings")
}

/// A folder of an authority in `out`: who signs with it, and the authority.
pub(crate) fn folder(out: &Path, name: &str, grant: &Grant) -> (Signer, String) {
    issue(out, "lab", &[name.to_owned()], &settings(), grant).expect("a folder");
    (signer(out, name), text(out, name, Folder::AUTHORITY))
}

/// Signer with a folder that is there.
pub(crate) fn signer(out: &Path, name: &str) -> Signer {
    Signer::new(text(out, name, Folder::CERTIFICATE), &text(out, name, Folder::KEY)).expect("a key")
}

fn text(out: &Path, name: &str, file: &str) -> String {
    std::fs::read_to_string(out.join(name).join(file)).expect("a file")
}

pub(crate) fn grant(tenant: &str) -> Grant {
    Grant { tenant: Tenant::named(tenant), ..Grant::default() }
}

/// A gate of node a, and tenant blue.
pub(crate) fn world() -> (Gate, Signer) {
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

pub(crate) fn stop() -> Request {
    Request::Stop { run: "utran-7".to_owned(), manager: None }
}

pub(crate) fn prepare(order: Order) -> Request {
    Request::Prepare { after: Ballot::new(1, "m"), order: Box::new(order) }
}

pub(crate) fn adopt(next: Ballot, voters: Vec<String>) -> Request {
    let next = Quorum { ballot: next, voters };
    Request::Adopt(Adopt { run: "utran-7".to_owned(), after: Ballot::new(1, "m"), next })
}

pub(crate) fn signed(signer: &Signer, moment: Moment, order: &Request) -> Vec<u8> {
    signer.message("lab", "a", moment, order).expect("random numbers")
}

pub(crate) fn admit(gate: &mut Gate, message: &[u8]) -> Result<Admitted, Refused> {
    gate.admit(message, NOW_NS, SystemTime::now())
}

/// Gives an order now.
pub(crate) fn give(gate: &mut Gate, signer: &Signer, order: &Request) -> Result<Admitted, Refused> {
    let message = signed(signer, gate.moment(NOW_NS), order);
    admit(gate, &message)
}

/// Why an order is refused that is given now.
pub(crate) fn refused(gate: &mut Gate, signer: &Signer, order: &Request) -> String {
    give(gate, signer, order).expect_err("it is not let in").to_string()
}

/// Why a message is refused.
pub(crate) fn refusal(gate: &mut Gate, message: &[u8]) -> String {
    let why = admit(gate, message).expect_err("it is not let in");
    assert!(!why.fix().is_empty());
    why.to_string()
}

pub(crate) fn document(message: &[u8]) -> Value {
    serde_json::from_slice(message).expect("JSON")
}

pub(crate) fn bytes(document: &Value) -> Vec<u8> {
    serde_json::to_vec(document).expect("JSON")
}

pub(crate) fn order() -> Order {
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

pub(crate) fn start() -> Start {
    Start {
        run: "utran-7".to_owned(),
        reference: "a".to_owned(),
        in_ns: 1_000_000,
        epoch_ns: None,
        ptp: None,
        statements: BTreeMap::new(),
    }
}

pub(crate) fn change() -> Change {
    let Start { run, reference, epoch_ns, ptp, statements, .. } = start();
    Change { run, next: Ballot::new(2, "manager-7"), at: 100, reference, epoch_ns, ptp, statements }
}

pub(crate) const PTP: PtpEpoch = PtpEpoch { epoch_ptp_ns: 1_800_000_000_000_000_000, grandmaster: 7, bound_ns: 5_000 };
