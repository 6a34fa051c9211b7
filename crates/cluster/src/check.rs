//! Values of orders, before anything is computed with them: an order of a tenant is as hostile as any. And what a waveform
//! takes of a node, before anything of it is made.

use std::collections::BTreeMap;

use takt_bridge::Bridges;
use takt_graph::limits::{COMPONENTS, FILE_BYTES, SLOT_MAX_NS, SLOT_MIN_NS, WORKERS, is_name};
use takt_graph::{Catalogue, Direction, Graph, Kind, Length, PortId, Share};
use takt_runtime::SessionOptions;

use crate::clock::PtpEpoch;
use crate::message::{Adopt, Change, MOST_AGENT_BYTES, Order, Request, Start, StartAgent};
use crate::quorum::{Ballot, NAME_BYTES, is_member};
use crate::sealed::Sealed;
use crate::tenant::Tenant;

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
#[error("{what} is {value}, but must be {must}")]
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
    at_most("the length of the version", wanted.version.len(), NAME_BYTES)?;
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
    of_beat(&start.run, &start.reference, &start.statements, start.epoch_ns)?;
    of_ptp(start.ptp.as_ref())?;
    within("in_ns", start.in_ns, 0..=AHEAD_NS)
}

fn of_change(change: &Change) -> Result<(), OutOfRange> {
    of_beat(&change.run, &change.reference, &change.statements, change.epoch_ns)?;
    of_ballot(&change.next)?;
    of_ptp(change.ptp.as_ref())?;
    within("at", change.at, 0..=SLOTS)
}

/// Checks the reference, the first slot's time, and what nodes have stated. The texts themselves are read where they
/// are needed.
fn of_beat(
    run: &str,
    reference: &str,
    statements: &BTreeMap<String, Sealed>,
    epoch_ns: Option<u64>,
) -> Result<(), OutOfRange> {
    of_run(run)?;
    name("the reference", reference)?;
    at_most("the number of nodes", statements.len(), NODES)?;
    statements.keys().try_for_each(|node| name("a node", node))?;
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

fn long_name(what: &'static str, text: &str) -> Result<(), OutOfRange> {
    if is_member(text) {
        return Ok(());
    }
    Err(bad(what, format!("{:?}", short(text)), format!("1 to {NAME_BYTES} letters, digits, `-`, `_`, `.`")))
}

fn name(what: &'static str, text: &str) -> Result<(), OutOfRange> {
    let must = || "1 to 64 letters, digits, `-` or `_`".to_owned();
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

/// Why a node does not make a waveform that passes the checks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unmade {
    #[error(
        "component `{component}` is a `{kind}`, which may open files of the node; `{tenant}` is a tenant and may not"
    )]
    Files { component: String, kind: String, tenant: Tenant },
    #[error(
        "component `{component}` is isolated, in a process that no quota counts; `{tenant}` is a tenant and may not"
    )]
    Isolated { component: String, tenant: Tenant },
    #[error("links, bridges and buffers take {needed_mib} MiB here; at most {allowed_mib} MiB are allowed")]
    Memory { needed_mib: u64, allowed_mib: u64 },
}

impl Unmade {
    /// The fix.
    pub(crate) fn fix(&self) -> String {
        match self {
            Unmade::Files { component, .. } => {
                format!(
                    "remove `{component}` from the waveform, or run it with a folder of the operator, who may open files"
                )
            }
            Unmade::Isolated { component, .. } => format!("remove `isolated = true` from `{component}`"),
            Unmade::Memory { .. } => "give shorter packets, smaller delays, or smaller buffers".to_owned(),
        }
    }
}

/// MiB that a share of a waveform of `owner` takes, if it may be made. The whole waveform of a tenant opens no file and has no
/// process of its own: a share of another node may come here when that one is lost.
pub(crate) fn of_waveform(owner: &Tenant, graph: &Graph, share: &Share, kinds: &impl Catalogue) -> Result<u32, Unmade> {
    if *owner != Tenant::operator() {
        // The node's key is one of the files that the node may read.
        let opens = |kind: &str| kinds.kind(kind).is_none_or(Kind::may_open_files);
        if let Some(component) = graph.components().iter().find(|component| opens(&component.kind)) {
            let (component, kind) = (component.name.clone(), component.kind.clone());
            return Err(Unmade::Files { component, kind, tenant: owner.clone() });
        }
        if let Some(component) = graph.components().iter().find(|component| component.isolated) {
            return Err(Unmade::Isolated { component: component.name.clone(), tenant: owner.clone() });
        }
    }
    let (needed, allowed) = (memory_bytes(share, kinds), SessionOptions::default().memory_max_bytes);
    let (needed_mib, allowed_mib) = (needed.div_ceil(1 << 20), allowed >> 20);
    if needed > allowed {
        return Err(Unmade::Memory { needed_mib, allowed_mib });
    }
    Ok(u32::try_from(needed_mib).unwrap_or(u32::MAX))
}

/// Most that a share sends to other nodes, bits a second of UDP payloads: the longest packet on each link in each slot.
pub(crate) fn samples_bits_per_s(share: &Share) -> u64 {
    let sends = share.bridges.iter().filter(|bridge| bridge.direction == Direction::Send);
    let bytes: u64 = sends.flat_map(takt_bridge::datagrams).map(|bytes| bytes as u64).fold(0, u64::saturating_add);
    let per_second = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(share.graph.slot_ns().max(1));
    u64::try_from(per_second).unwrap_or(u64::MAX)
}

/// Memory of a share, bytes: its links, the packet that each output keeps, its bridges, and what components say they take.
fn memory_bytes(share: &Share, kinds: &impl Catalogue) -> u64 {
    let (graph, plan) = (&share.graph, &share.plan);
    let mut all = vec![Bridges::memory_bytes(share)];
    for (index, link) in graph.links().iter().enumerate() {
        let history = graph.components()[link.to.component].shape.inputs[link.to.port].history;
        let packet = (link.lengths.max + u64::from(history)) * link.item.bytes() as u64;
        // As the runtime's rings: a packet that is written, those under way, and between workers one that is read.
        let packets = u64::from(plan.delay(index)) + 1 + u64::from(plan.crosses(link));
        all.push(packets.next_power_of_two().saturating_mul(packet));
    }
    let inputs: BTreeMap<PortId, u64> = graph.links().iter().map(|link| (link.to, link.lengths.max)).collect();
    for (component, node) in graph.components().iter().enumerate() {
        for output in &node.shape.outputs {
            let items = match output.length {
                Length::Fixed(items) | Length::UpTo(items) => u64::from(items),
                Length::Ratio { num, den, of } => {
                    let input = inputs.get(&PortId { component, port: of }).copied().unwrap_or(0);
                    input.saturating_mul(u64::from(num)) / u64::from(den.max(1))
                }
            };
            all.push(items.saturating_mul(output.item.bytes() as u64));
        }
        all.extend(kinds.kind(&node.kind).map(|kind| kind.memory_bytes(&node.params)));
    }
    all.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use takt_graph::{ComponentSpec, Latency, Plan, Waveform};
    use takt_runtime::Registry;

    use super::*;

    /// Answer of `a`'s node to a waveform of two components; `z` is on another node where they are `apart`.
    fn asked(owner: &Tenant, [a, z]: [&ComponentSpec; 2], apart: bool) -> Result<u32, Unmade> {
        takt_phy::link();
        let kinds = Registry::of_program().unwrap();
        let waveform = Waveform::new("w", Duration::from_millis(1)).with(a.clone()).with(z.clone()).chain(["a", "z"]);
        let graph = Graph::check(&waveform, &kinds).unwrap();
        let plan = Plan::assign(&graph, &[0, usize::from(apart)], Latency::Fixed).unwrap();
        let share = Share::of(&graph, &plan, &[0, 1][..plan.workers().len()], 0, 0).unwrap();
        of_waveform(owner, &graph, &share, &kinds)
    }

    fn file(name: &str, kind: &str) -> ComponentSpec {
        // Nothing opens it here.
        ComponentSpec::new(name, kind).param("path", "/etc/takt/cluster/node.key").param("item", "byte")
    }

    #[test]
    fn what_a_tenant_orders_opens_no_file_and_what_the_operator_orders_may() {
        let (blue, operator) = (Tenant::named("blue").unwrap(), Tenant::operator());
        let (counter, sink) = (ComponentSpec::new("a", "counter"), ComponentSpec::new("z", "counter-sink"));
        let (reads, writes) = (file("a", "file-source"), file("z", "file-sink"));
        let why = asked(&blue, [&reads, &sink], false).unwrap_err();
        assert_eq!(
            why.to_string(),
            "component `a` is a `file-source`, which may open files of the node; `blue` is a tenant and may not"
        );
        assert_eq!(
            why.fix(),
            "remove `a` from the waveform, or run it with a folder of the operator, who may open files"
        );
        assert!(asked(&blue, [&counter, &writes], false).is_err());
        assert!(asked(&blue, [&counter, &writes], true).is_err(), "the other node may be lost");
        assert!(asked(&blue, [&counter, &sink], true).is_ok());
        for waveform in [[&reads, &sink], [&counter, &writes]] {
            assert!(asked(&operator, waveform, false).is_ok());
        }
    }

    #[test]
    fn what_a_tenant_orders_has_no_process_of_its_own_and_what_the_operator_orders_may() {
        let (blue, operator) = (Tenant::named("blue").unwrap(), Tenant::operator());
        let isolated = [&ComponentSpec::new("a", "counter"), &ComponentSpec::new("z", "counter-sink").isolated()];
        let why = asked(&blue, isolated, true).unwrap_err();
        assert_eq!(
            why.to_string(),
            "component `z` is isolated, in a process that no quota counts; `blue` is a tenant and may not"
        );
        assert_eq!(why.fix(), "remove `isolated = true` from `z`");
        assert!(asked(&operator, isolated, true).is_ok());
    }

    #[test]
    fn what_a_share_may_send_is_known_before_it_sends_anything() {
        takt_phy::link();
        let kinds = Registry::of_program().unwrap();
        let counter = ComponentSpec::new("a", "counter").param("items", 1000);
        let waveform = Waveform::new("w", Duration::from_millis(1)).with(counter);
        let waveform = waveform.with(ComponentSpec::new("z", "counter-sink")).chain(["a", "z"]);
        let graph = Graph::check(&waveform, &kinds).unwrap();
        let plan = Plan::assign(&graph, &[0, 1], Latency::Fixed).unwrap();
        let of = |node| samples_bits_per_s(&Share::of(&graph, &plan, &[0, 1], node, 0).unwrap());
        let item = graph.links()[0].item.bytes();
        // Datagrams of 1448 bytes of items at most, with 24 around them, in each of 1000 slots a second.
        let datagrams = (1000 * item).div_ceil(1448);
        assert_eq!(of(0), ((1000 * item + 24 * datagrams) * 8 * 1000) as u64);
        assert_eq!(of(1), 0, "it only receives");
    }

    #[test]
    fn memory_is_counted_with_bridges_and_buffers_before_any_is_taken() {
        let operator = Tenant::operator();
        // Packets of 1 MiB.
        let (counter, sink) = (ComponentSpec::new("a", "counter").param("items", 1 << 20), file("z", "file-sink"));
        // One packet that the output keeps; a link of two, or one in the link and eight in the bridge.
        assert_eq!(asked(&operator, [&counter, &ComponentSpec::new("z", "counter-sink")], false), Ok(1 + 2));
        assert_eq!(asked(&operator, [&counter, &sink], true), Ok(1 + 1 + 8));
        // The usual buffer has 4 MiB.
        assert_eq!(asked(&operator, [&counter, &sink], false), Ok(1 + 2 + 4));
        let why = asked(&operator, [&counter, &sink.param("buffer", 1_i64 << 32)], false).unwrap_err();
        assert_eq!(why.to_string(), "links, bridges and buffers take 4099 MiB here; at most 4096 MiB are allowed");
    }
}
