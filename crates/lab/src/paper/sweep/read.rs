//! What a round says, as one number.

use serde::Deserialize;
use serde_json::Value;
use takt_host::accounting::Usage;

use crate::store::RoundRow;

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
pub(in crate::paper) fn to_host(round: &RoundRow, pointer: &str) -> Option<f64> {
    way(round, "from_server", pointer)
}

/// Datagrams that the host side sent.
pub(in crate::paper) fn from_host(round: &RoundRow, pointer: &str) -> Option<f64> {
    way(round, "to_server", pointer)
}

/// A count of a sample stream, for each second of the measured part.
pub(in crate::paper) fn rate(round: &RoundRow, pointer: &str) -> Option<f64> {
    let result = result(round)?;
    Some(result.pointer(pointer)?.as_f64()? / result.get("wall_s")?.as_f64()?)
}

/// Cores kept busy by the host side and by what carries its datagrams: all that the machine did, less other programs,
/// the lab itself, and the programs of the radio's side. Process accounts alone would leave out the kernel's part, which is
/// where a bridge or a virtual machine costs.
pub(in crate::paper) fn cpu_cores(round: &RoundRow) -> Option<f64> {
    let machine = &round.record.as_ref()?.machine;
    let usage = Usage::deserialize(machine.get("usage")?).ok()?;
    let other: Vec<u64> = machine.pointer("/sides/radio")?.as_array()?.iter().filter_map(Value::as_u64).collect();
    let of_radio = usage.companions.iter().filter(|process| other.contains(&u64::from(process.pid)));
    let not_ours: u64 =
        of_radio.map(|process| process.cpu_ns).sum::<u64>() + usage.process.cpu_ns + usage.foreign_task_cpu_ns;
    Some(usage.machine.busy_ns().saturating_sub(not_ours) as f64 / usage.wall_ns.max(1) as f64)
}
