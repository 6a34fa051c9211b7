//! Options that a lab elsewhere may give, of each workload and service, and their values. What is not listed here is refused, so an
//! option that takt gets later is refused until somebody has thought about it.

use std::net::SocketAddr;
use std::sync::OnceLock;

use serde_json::Value;
use takt_agent::Failure;
use takt_host::affinity::own_cpus;
use takt_host::memory::own_limit;
use takt_load::Kind;
use takt_packet::EngineKind;

use super::refused;

/// Values of an option that are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// All that the workload takes: it neither acts beyond the granted cores and memory, nor on other machines.
    Any,
    /// This word alone.
    Word(&'static str),
    /// `false` alone, for this reason.
    Never(&'static str),
    /// Packet engines over kernel sockets: others take the interface of the node.
    Sockets,
    /// Some of the cores that were granted.
    Cores,
    /// An address on the loopback interface.
    Loopback,
    /// A number up to that; of each unit the workload takes so many bytes, which must fit in the memory that was granted.
    UpTo { most: u64, bytes_each: u64 },
    /// A list of up to so many.
    List(usize),
    /// The options of a waveform.
    Waveform,
}

use Rule::{Any, Cores, List, Loopback, Never, Sockets, UpTo, Waveform, Word};

/// Options by name.
pub(super) type Allowed = &'static [(&'static str, Rule)];

const TRANSMIT: Rule = Never("the node's owner has not agreed to transmit with that radio");
const FORCE: Rule = Never("another host may be using that radio");
/// Kernel memory of a socket.
const BUFFER: Rule = UpTo { most: 64 << 20, bytes_each: 1 };

pub(super) const RATE: Allowed = &[
    ("addr", Any),
    ("model", Any),
    ("rx_sps", Any),
    ("tx_sps", Any),
    ("duration", Any),
    ("warm_up", Any),
    ("engine", Sockets),
    ("format", Any),
    ("rx_channels", List(2)),
    ("tx_channels", List(2)),
    ("frame_bytes", UpTo { most: 9000, bytes_each: 1 }),
    ("samples_per_datagram", UpTo { most: 9000, bytes_each: 4 }),
    ("aggregate", Any),
    ("coalesce", Any),
    ("busy_poll", Any),
    ("call_datagrams", UpTo { most: 96, bytes_each: 16 << 10 }),
    ("recv_buffer_bytes", BUFFER),
    ("counter", Any),
    ("threads", Any),
    ("cpus", Cores),
    ("priority", Any),
    ("reference", Any),
    ("transmit", TRANSMIT),
    ("force", FORCE),
];

const ROUND_TRIP: Allowed = &[
    ("addr", Any),
    ("model", Any),
    ("rate_sps", Any),
    ("delays", List(64)),
    ("duration", Any),
    ("warm_up", Any),
    ("block_samples", UpTo { most: 1 << 20, bytes_each: 16 }),
    ("engine", Sockets),
    ("cpus", Cores),
    ("priority", Any),
    ("force", FORCE),
    ("transmit", TRANSMIT),
];

const UDP: Allowed = &[
    // The other side is the agent beside this one.
    ("server", Loopback),
    ("direction", Any),
    ("payload_bytes", Any),
    ("sizes", List(64)),
    ("datagrams_per_s", Any),
    ("ramp_from_per_s", Any),
    ("burst", Any),
    ("datagrams", Any),
    ("duration", Any),
    ("warm_up", Any),
    ("flows", Any),
    ("interval", Any),
    ("engine", Sockets),
    ("generator", Word("engine")),
    ("aggregate", Any),
    ("busy_poll", Any),
    ("buffer_bytes", BUFFER),
    ("cpus", Cores),
];

const WAVEFORM: Allowed = &[
    ("waveform", Any),
    ("text", Any),
    ("components", UpTo { most: 1024, bytes_each: 1 << 10 }),
    // The runtime counts what links and buffers take before it makes any.
    ("packet", Any),
    ("slot", Any),
    ("duration", Any),
    ("warm_up", Any),
    ("slots", Any),
    ("workers", UpTo { most: 64, bytes_each: 1 << 20 }),
    ("latency", Any),
    ("clock", Any),
    ("policy", Any),
    ("hash", Any),
    ("watch_memory", Any),
];

const CALIBRATION: Allowed = &[("waveform", Waveform)];

const INTERFACE: Allowed = &[
    // A ring of four, and what they are copied from and to.
    ("packet_bytes", UpTo { most: 128 << 20, bytes_each: 8 }),
    ("count", Any),
    ("reader", Any),
];

const ROLES: Allowed = &[("slot", Any), ("duration", Any), ("components", UpTo { most: 1024, bytes_each: 1 << 10 })];

const WAKEUP: Allowed = &[
    ("duration", Any),
    ("warm_up", Any),
    ("interval", Any),
    ("policy", Any),
    ("timer", Any),
    ("tick_hz", Any),
    ("slack", Any),
    ("idle", Any),
    ("cores", Cores),
    ("load", Any),
    ("limit", Any),
];

/// A server of datagram load.
pub(super) const SERVER: Allowed = &[
    ("bind", Loopback),
    ("engine", Sockets),
    ("aggregate", Any),
    ("busy_poll", Any),
    ("buffer_bytes", BUFFER),
    ("cpus", Cores),
    ("once", Any),
];

/// Options of a workload; `None`: the workload itself is refused. It reads files of the node, or reaches other machines from it.
pub(super) fn of_workload(kind: Kind) -> Option<Allowed> {
    match kind {
        Kind::Udp => Some(UDP),
        Kind::Rate => Some(RATE),
        Kind::RoundTrip => Some(ROUND_TRIP),
        Kind::Waveform | Kind::LongestPacket => Some(WAVEFORM),
        Kind::Interface => Some(INTERFACE),
        Kind::Roles => Some(ROLES),
        Kind::Calibration => Some(CALIBRATION),
        Kind::Wakeup => Some(WAKEUP),
        Kind::Deadline | Kind::WaveformTwoNodes | Kind::LongestPacketTwoNodes => None,
    }
}

/// Whether all options of `of` are allowed.
pub(super) fn check(of: &str, allowed: Allowed, options: &Value) -> Result<(), Failure> {
    let Some(options) = options.as_object() else { return Err(refused(&format!("run {of} without options"))) };
    for (key, value) in options {
        let Some((_, rule)) = allowed.iter().find(|(name, _)| name == key) else {
            return Err(refused(&format!("take option `{key}` of {of}")));
        };
        check_one(of, key, *rule, value)?;
    }
    Ok(())
}

fn check_one(of: &str, key: &str, rule: Rule, value: &Value) -> Result<(), Failure> {
    // What is not given has the workload's own default.
    if value.is_null() {
        return Ok(());
    }
    let no = |why: &str| Err(refused(&format!("take `{key} = {}` of {of}: {why}", shortened(value))));
    match rule {
        Any => Ok(()),
        Word(word) if value == word => Ok(()),
        Word(word) => no(&format!("give {word:?}")),
        Never(_) if *value == Value::Bool(false) => Ok(()),
        Never(why) => no(why),
        Sockets if is_over_sockets(value) => Ok(()),
        Sockets => no("give socket, mmsg or uring: other engines take the interface of the node"),
        Cores if value.as_array().is_some_and(|cores| cores.iter().all(is_granted)) => Ok(()),
        Cores => no(&format!("give some of the cores that were granted, {:?}", granted())),
        Loopback if is_on_loopback(value) => Ok(()),
        Loopback => no("give an address of the loopback interface"),
        List(most) if value.as_array().is_some_and(|list| list.len() <= most) => Ok(()),
        List(most) => no(&format!("give a list of at most {most}")),
        UpTo { most, bytes_each } => match value.as_u64() {
            Some(number) if number <= most => fits(of, key, number.saturating_mul(bytes_each), own_limit()),
            _ => no(&format!("give at most {most}")),
        },
        Waveform => check(of, WAVEFORM, value),
    }
}

/// Whether what an option takes is within the memory that was granted: `takt agent --memory`. `None`: the quota names none.
pub(super) fn fits(of: &str, key: &str, bytes: u64, granted: Option<u64>) -> Result<(), Failure> {
    match granted {
        Some(most) if bytes > most => {
            let (takes, has) = (bytes.div_ceil(1 << 20), most >> 20);
            Err(Failure {
                fix: Some(format!("a lower {key}, or a higher memory_mib in the node's cluster.toml")),
                ..refused(&format!("take {takes} MiB for `{key}` of {of}: it was granted {has} MiB"))
            })
        }
        _ => Ok(()),
    }
}

/// The cores that the node has granted.
pub(super) fn granted() -> &'static [usize] {
    static GRANTED: OnceLock<Vec<usize>> = OnceLock::new();
    GRANTED.get_or_init(own_cpus)
}

fn is_granted(core: &Value) -> bool {
    core.as_u64().is_some_and(|core| granted().iter().any(|&own| own as u64 == core))
}

fn is_over_sockets(engine: &Value) -> bool {
    let engine = engine.as_str().and_then(|text| text.parse::<EngineKind>().ok());
    engine.is_some_and(|engine| EngineKind::OVER_SOCKETS.contains(&engine))
}

fn is_on_loopback(at: &Value) -> bool {
    let at = at.as_str().and_then(|text| text.parse::<SocketAddr>().ok());
    at.is_some_and(|at| at.ip().to_canonical().is_loopback())
}

/// A value in a message.
fn shortened(value: &Value) -> String {
    takt_graph::limits::shortened(&value.to_string())
}
