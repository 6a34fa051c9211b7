//! Values of orders, before anything is computed with them: an order of a tenant is as hostile as any.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use takt_graph::limits::{COMPONENTS, FILE_BYTES, SLOT_MAX_NS, SLOT_MIN_NS, WORKERS, is_name};

use crate::clock::PtpEpoch;
use crate::message::{Adopt, Change, MOST_AGENT_BYTES, Order, Request, Start, StartAgent};
use crate::quorum::Ballot;

/// Characters of the name of a run, or a manager: a waveform's or a node's, and what tells one from others.
const LONG_NAME: usize = 192;

/// Bytes of a file's name.
const FILE_NAME: usize = 4096;

/// Nodes of a run.
const NODES: usize = WORKERS;

/// Slots that a packet may take from one node to another.
const HOP_SLOTS: std::ops::RangeInclusive<u32> = 1..=64;

/// Highest real-time priority of workers: the kernel's own threads are above.
const FIFO_PRIORITY: u8 = 98;

/// How long ahead a run may be begun, ns: an hour.
const AHEAD_NS: u64 = 3_600_000_000_000;

/// Slots that any run may have: at 1 µs nine years.
const SLOTS: u64 = 1 << 48;

/// Cores of an agent.
const CORES: u32 = 1 << 16;

/// Bytes for an agent, in base64.
const AGENT_INPUT: usize = MOST_AGENT_BYTES.div_ceil(3) * 4;

/// A value that can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {value}, and must be {must}")]
#[allow(missing_docs, reason = "the message says it")]
pub struct OutOfRange {
    pub what: &'static str,
    pub value: String,
    pub must: String,
}

/// Whether all values of an order are in range. That what it names is there is for who executes it to find.
pub(crate) fn check(request: &Request) -> Result<(), OutOfRange> {
    match request {
        Request::Open(order) => of_order(order),
        Request::Prepare { after, order } => of_ballot(after).and_then(|()| of_order(order)),
        Request::Start(start) => of_start(start),
        Request::Change(change) => of_change(change),
        Request::Progress { run } | Request::Recall { run } => of_run(run),
        Request::Adopt(adopt) => of_adopt(adopt),
        Request::Stop { run, manager } => {
            of_run(run).and_then(|()| manager.as_ref().map_or(Ok(()), |manager| of_manager(manager)))
        }
        Request::StartAgent(wanted) => of_start_agent(wanted),
        Request::WriteAgent(write) => at_most("the length of the input", write.input.len(), AGENT_INPUT),
        Request::Describe | Request::Moment => Ok(()),
    }
}

fn of_start_agent(wanted: &StartAgent) -> Result<(), OutOfRange> {
    at_most("the length of the version", wanted.version.len(), LONG_NAME)?;
    within("cores", wanted.cores.unwrap_or(1), 1..=CORES)
}

fn of_order(order: &Order) -> Result<(), OutOfRange> {
    of_run(&order.run)?;
    at_most("the length of the file's name", order.file.len(), FILE_NAME)?;
    at_most("the length of the file", order.text.len(), FILE_BYTES)?;
    at_most("the number of changed parameters", order.set.len(), COMPONENTS)?;
    at_most("the number of workers", order.workers.len(), WORKERS)?;
    let components = order.workers.iter().map(|worker| worker.components.len()).sum();
    at_most("the number of components", components, COMPONENTS)?;
    of_manager(&order.manager)?;
    order.workers.iter().try_for_each(|worker| name("the node of a worker", &worker.node))?;
    if let Some(slot_ns) = order.slot_ns {
        within("slot_ns", slot_ns, SLOT_MIN_NS..=SLOT_MAX_NS)?;
    }
    within("placing", order.placing, 1..=u32::MAX - 1)?;
    within("hop_slots", order.hop_slots, HOP_SLOTS)?;
    within("fifo_priority", order.fifo_priority, 0..=FIFO_PRIORITY)?;
    within("slots", order.slots.unwrap_or(0), 0..=SLOTS)
}

fn of_adopt(adopt: &Adopt) -> Result<(), OutOfRange> {
    of_run(&adopt.run)?;
    of_ballot(&adopt.after)?;
    of_ballot(&adopt.next.ballot)?;
    at_most("the number of voters", adopt.next.voters.len(), NODES + 1)?;
    adopt.next.voters.iter().try_for_each(|voter| of_manager(voter))
}

fn of_ballot(ballot: &Ballot) -> Result<(), OutOfRange> {
    within("placing", ballot.placing, 1..=u32::MAX - 1)?;
    of_manager(&ballot.manager)
}

/// A manager's name has its node's in it.
fn of_manager(text: &str) -> Result<(), OutOfRange> {
    long_name("the manager", text)
}

fn of_start(start: &Start) -> Result<(), OutOfRange> {
    of_beat(&start.run, &start.reference, &start.samples, start.epoch_ns)?;
    of_ptp(start.ptp.as_ref())?;
    within("in_ns", start.in_ns, 0..=AHEAD_NS)
}

fn of_change(change: &Change) -> Result<(), OutOfRange> {
    of_beat(&change.run, &change.reference, &change.samples, change.epoch_ns)?;
    of_ptp(change.ptp.as_ref())?;
    within("at", change.at, 0..=SLOTS)
}

/// Whose clock sets the beat, since when, and where samples go.
fn of_beat(
    run: &str,
    reference: &str,
    samples: &BTreeMap<String, SocketAddr>,
    epoch_ns: Option<u64>,
) -> Result<(), OutOfRange> {
    of_run(run)?;
    name("the reference", reference)?;
    at_most("the number of nodes", samples.len(), NODES)?;
    samples.keys().try_for_each(|node| name("a node", node))?;
    within("epoch_ns", epoch_ns.unwrap_or(0), 0..=u64::MAX / 2)
}

fn of_ptp(epoch: Option<&PtpEpoch>) -> Result<(), OutOfRange> {
    let Some(PtpEpoch { epoch_ptp_ns, bound_ns, .. }) = epoch else { return Ok(()) };
    within("epoch_ptp_ns", *epoch_ptp_ns, 0..=u64::MAX / 2)?;
    within("bound_ns", *bound_ns, 0..=AHEAD_NS)
}

fn of_run(run: &str) -> Result<(), OutOfRange> {
    long_name("the run", run)
}

/// A part of a key of Zenoh's: nothing in it may mean more than itself.
fn long_name(what: &'static str, text: &str) -> Result<(), OutOfRange> {
    let good = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if good && (1..=LONG_NAME).contains(&text.len()) {
        return Ok(());
    }
    Err(bad(what, format!("{:?}", short(text)), format!("1 to {LONG_NAME} letters, digits, `-`, `_`, `.`")))
}

fn name(what: &'static str, text: &str) -> Result<(), OutOfRange> {
    let must = || "1 to 64 letters, digits, `-`, `_`".to_owned();
    if is_name(text) { Ok(()) } else { Err(bad(what, format!("{:?}", short(text)), must())) }
}

fn at_most(what: &'static str, have: usize, most: usize) -> Result<(), OutOfRange> {
    if have <= most { Ok(()) } else { Err(bad(what, have.to_string(), format!("{most} at most"))) }
}

fn within<T: PartialOrd + std::fmt::Display>(
    what: &'static str,
    value: T,
    range: std::ops::RangeInclusive<T>,
) -> Result<(), OutOfRange> {
    let must = || format!("{} to {}", range.start(), range.end());
    if range.contains(&value) { Ok(()) } else { Err(bad(what, value.to_string(), must())) }
}

fn bad(what: &'static str, value: String, must: String) -> OutOfRange {
    OutOfRange { what, value, must }
}

fn short(text: &str) -> String {
    takt_graph::limits::shortened(text)
}
