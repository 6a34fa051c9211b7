//! Readers of one number from a round.

use serde::Deserialize;
use serde_json::Value;
use takt_host::accounting::{ProcessCpu, Usage};
use takt_lab::nodes::{NodeFigures, of_round};
use takt_lab::store::RoundRow;
use takt_testbed::environment::EnvironmentKind;
use takt_testbed::net::CARDS;

fn result(round: &RoundRow) -> Option<&Value> {
    Some(&round.record.as_ref()?.result)
}

/// A figure of one way of a datagram load; both ways at once are in one document.
fn way(round: &RoundRow, name: &str, pointer: &str) -> Option<f64> {
    let result = result(round)?;
    let ways = [Some(result), result.get("from_server")];
    let of = |way: &&Value| way.get("direction").and_then(Value::as_str) == Some(name);
    ways.into_iter().flatten().find(of)?.pointer(pointer)?.as_f64()
}

/// Datagrams that the host side received.
pub(crate) fn to_host(round: &RoundRow, pointer: &str) -> Option<f64> {
    way(round, "from_server", pointer)
}

/// Datagrams that the host side sent.
pub(crate) fn from_host(round: &RoundRow, pointer: &str) -> Option<f64> {
    way(round, "to_server", pointer)
}

/// A count of a sample stream, for each second of the measured part.
pub(crate) fn rate(round: &RoundRow, pointer: &str) -> Option<f64> {
    let result = result(round)?;
    Some(result.pointer(pointer)?.as_f64()? / result.get("wall_s")?.as_f64()?)
}

/// Share that did not come of the samples that a radio sent.
pub(crate) fn dropped_share(round: &RoundRow) -> Option<f64> {
    let of = |pointer: &str| result(round)?.pointer(pointer)?.as_f64();
    let (dropped, samples) = (of("/rx/dropped")?, of("/rx/samples")?);
    (dropped + samples > 0.0).then(|| dropped / (dropped + samples))
}

/// Resource usage of the machine in a round.
fn usage(round: &RoundRow) -> Option<Usage> {
    Usage::deserialize(round.record.as_ref()?.machine.get("usage")?).ok()
}

/// The processes of one side, `host` or `radio`.
fn side<'a>(round: &RoundRow, usage: &'a Usage, name: &str) -> Option<Vec<&'a ProcessCpu>> {
    let pids = round.record.as_ref()?.machine.pointer(&format!("/sides/{name}"))?.as_array()?;
    let is = |process: &&ProcessCpu| pids.iter().any(|pid| pid.as_u64() == Some(u64::from(process.pid)));
    Some(usage.companions.iter().filter(is).collect())
}

fn cores(busy_ns: u64, usage: &Usage) -> f64 {
    busy_ns as f64 / usage.wall_ns.max(1) as f64
}

/// Cores kept busy by the host side and by what carries its datagrams: all that the machine did, less other programs,
/// the lab itself, and the programs of the radio's side. Process accounts alone would leave out the kernel's part, which is
/// where a bridge or a virtual machine costs. The machine's is sampled in ticks, the processes' exact: where ticks missed
/// what the host side's own processes surely used, that is what counts.
pub(crate) fn cpu_cores(round: &RoundRow) -> Option<f64> {
    let usage = usage(round)?;
    let of = |name| Some(side(round, &usage, name)?.iter().map(|process| process.cpu_ns).sum::<u64>());
    let not_ours = of("radio")? + usage.process.cpu_ns + usage.foreign_task_cpu_ns;
    let ours = usage.machine.busy_ns().saturating_sub(not_ours).max(of("host").unwrap_or_default());
    Some(cores(ours, &usage))
}

/// Cores that the threads of a virtual machine's processors used, as this machine saw it. They bear no name that tells
/// them, but are all but the first of their process, which moves the datagrams.
pub(crate) fn guest_cores(round: &RoundRow) -> Option<f64> {
    if round.record.as_ref()?.in_force.get("environment")? != EnvironmentKind::Vm.name() {
        return None;
    }
    let usage = usage(round)?;
    let processes = side(round, &usage, "host")?;
    let threads = processes.iter().flat_map(|p| p.threads.iter().filter(|thread| thread.tid != p.pid));
    Some(cores(threads.map(|thread| thread.cpu_ns).sum(), &usage))
}

/// Share of a processor, of the guest's where there is one, that the busiest thread of a sample stream used: 1 is full.
pub(crate) fn stream_busy(round: &RoundRow) -> Option<f64> {
    Some(*stream_threads(round)?.first()?)
}

/// The same of all its other threads together.
pub(crate) fn others_busy(round: &RoundRow) -> Option<f64> {
    Some(stream_threads(round)?.get(1..)?.iter().fold(0.0, |sum, share| sum + share))
}

/// Shares of a processor that the threads of a sample stream used, the busiest first.
fn stream_threads(round: &RoundRow) -> Option<Vec<f64>> {
    let result = result(round)?;
    let wall_s = result.get("wall_s")?.as_f64()?;
    let threads = result.pointer("/cpu/threads")?.as_array()?;
    let mut shares: Vec<f64> =
        threads.iter().filter_map(|thread| Some(thread.get("seconds")?.as_f64()? / wall_s)).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    Some(shares)
}

/// The same of the thread that is the host's end of a datagram load, while it sends.
pub(crate) fn end_busy(round: &RoundRow) -> Option<f64> {
    busy(result(round)?, "client", "")
}

/// Share of a processor that one end of a load, `client` or `server`, used while it sent.
pub(super) fn busy(result: &Value, end: &str, way: &str) -> Option<f64> {
    let number = |pointer: &str| result.pointer(pointer)?.as_f64();
    Some(number(&format!("/cpu/{end}/thread_s"))? / number(&format!("{way}/sent/span_s"))?)
}

/// Processor time of the host's end for a datagram sent or received, seconds. The path between the ends is in it. On
/// one machine the system call that sends carries a datagram over bridges and pairs to the receiver's socket.
pub(crate) fn per_datagram(round: &RoundRow) -> Option<f64> {
    Some(result(round)?.pointer("/cpu/client_ns_per_datagram")?.as_f64()? * 1e-9)
}

/// Cores that one side of a load kept busy, `host` or `radio`: its processes, and the kernel threads that work off what it
/// receives.
pub(crate) fn side_cores(round: &RoundRow, name: &str) -> Option<f64> {
    let usage = usage(round)?;
    let side = side(round, &usage, name)?;
    Some(cores(side.iter().map(|process| process.cpu_ns).sum(), &usage))
}

/// Cores that the nodes between the ends kept busy; `None` if the work of one is done by the process that sends to it. The
/// work of a card is its router's.
pub(crate) fn hop_cores(round: &RoundRow) -> Option<f64> {
    nodes(round)?.iter().filter(|node| !CARDS.contains(&node.node.as_str())).map(|node| node.cpu_cores).sum()
}

/// How much of its processor limit the node on the path that has one used.
pub(crate) fn limit_used(round: &RoundRow) -> Option<f64> {
    nodes(round)?.into_iter().find_map(|node| node.limit_used)
}

/// Share that nodes of the path dropped, of what the host sent, on the way to the radio.
pub(crate) fn lost_on_path(round: &RoundRow) -> Option<f64> {
    let nodes = nodes(round)?;
    let lost: u64 = nodes.iter().map(|node| node.to_radio.lost_frames()).sum();
    Some(lost as f64 / nodes.first()?.to_radio.in_frames.max(1) as f64)
}

fn nodes(round: &RoundRow) -> Option<Vec<NodeFigures>> {
    Some(of_round(round.record.as_ref()?))
}
