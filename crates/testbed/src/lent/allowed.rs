//! Whether a lab elsewhere may give an option: the rules of [`takt_load::lent`], by what this agent was granted.

use std::net::SocketAddr;
use std::sync::OnceLock;

use serde_json::Value;
use takt_agent::Failure;
use takt_host::affinity::own_cpus;
use takt_host::memory::own_limit;
use takt_load::lent::LentOptions;
use takt_load::lent::LentRule::{self, Any, Cores, Document, List, Loopback, Never, Sockets, UpTo, Word};
use takt_packet::EngineKind;

use super::refused;

/// A server of datagram load.
pub(super) const SERVER: LentOptions = &[
    ("bind", Loopback),
    ("engine", Sockets),
    ("aggregate", Any),
    ("busy_poll", Any),
    ("buffer_bytes", LentRule::SOCKET_BUFFER),
    ("cpus", Cores),
    // At a real-time priority it could keep the agent from its core for good.
    ("priority", LentRule::Absent),
    ("once", Any),
];

/// Whether all options of `of` are allowed.
pub(super) fn check(of: &str, allowed: LentOptions, options: &Value) -> Result<(), Failure> {
    let Some(options) = options.as_object() else { return Err(refused(&format!("run {of} without options"))) };
    for (key, value) in options {
        let Some((_, rule)) = allowed.iter().find(|(name, _)| name == key) else {
            return Err(refused(&format!("take option `{key}` of {of}")));
        };
        check_one(of, key, *rule, value)?;
    }
    Ok(())
}

fn check_one(of: &str, key: &str, rule: LentRule, value: &Value) -> Result<(), Failure> {
    // An option that is not given has the workload's own default.
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
        LentRule::Absent => no("omit it"),
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
        Document(allowed) => check(of, allowed, value),
    }
}

/// Whether what an option takes is within the memory that was granted: `takt agent --memory`. `None`: the quota names none.
pub(super) fn fits(of: &str, key: &str, bytes: u64, granted: Option<u64>) -> Result<(), Failure> {
    match granted {
        Some(most) if bytes > most => {
            let (takes, has) = (bytes.div_ceil(1 << 20), most >> 20);
            Err(Failure {
                fix: Some(format!("lower {key}, or raise memory_mib in the node's cluster.toml")),
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
