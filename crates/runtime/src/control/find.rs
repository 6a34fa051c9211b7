//! The asking end: which waveforms of this user run, and what one of them answers.
//!
//! Any user may bind any abstract name, also one that takt would. So each socket shows whose it is, by its process's user as the
//! kernel knows it (`SO_PEERCRED`), before anything is said to it.

use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};
use rustix::process::{Uid, getuid};

use super::{LINE, PATIENCE, Request, RequestAnswer, prefix};

/// Sockets with the name of a control socket of this user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSockets {
    /// Processes of this user that run a waveform now.
    pub processes: Vec<u32>,
    /// Sockets that somebody else has bound there: they are left alone.
    pub foreign: Vec<Foreign>,
}

/// Somebody else's socket with such a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its name.
    pub name: String,
    /// The user who bound it; `None`: it takes no connection.
    pub uid: Option<u32>,
}

impl fmt::Display for Foreign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Foreign { name, uid } = self;
        match uid {
            Some(uid) => write!(out, "skipped socket @{name}: user {uid} has bound it"),
            None => write!(out, "skipped socket @{name}: it takes no connection"),
        }
    }
}

/// Waveforms of this user that run now, and what only has the name of one.
#[must_use]
pub fn running() -> FoundSockets {
    let mut found = FoundSockets::default();
    for (process, name) in names() {
        match connected(&name) {
            Ok((_, uid)) if uid == getuid() => found.processes.push(process),
            Ok((_, uid)) => found.foreign.push(Foreign { name, uid: Some(uid.as_raw()) }),
            // It has ended since.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(_) => found.foreign.push(Foreign { name, uid: None }),
        }
    }
    found.processes.dedup();
    found
}

/// Asks the waveform that a process runs.
///
/// # Errors
/// There is none, it is not ours, or it does not answer.
pub fn ask(process: u32, request: &Request) -> std::io::Result<RequestAnswer> {
    let mut why = ErrorKind::ConnectionRefused.into();
    for (_, name) in names().into_iter().filter(|(of, _)| *of == process) {
        match connected(&name) {
            Ok((server, uid)) if uid == getuid() => return ask_over(server, request),
            Ok(_) => why = ErrorKind::PermissionDenied.into(),
            Err(error) => why = error,
        }
    }
    Err(why)
}

fn ask_over(mut server: UnixStream, request: &Request) -> std::io::Result<RequestAnswer> {
    server.set_read_timeout(Some(PATIENCE))?;
    server.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    server.write_all(line.as_bytes())?;
    let mut reply = String::new();
    BufReader::new(server.take(LINE)).read_line(&mut reply)?;
    Ok(serde_json::from_str(&reply)?)
}

/// Names of sockets as [`super::ControlSocket`] binds them, with the process that each one names.
fn names() -> Vec<(u32, String)> {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let prefix = prefix();
    let name = |line: &str| {
        let at = line.find(&format!("@{prefix}"))?;
        let name = line.get(at + 1..)?.trim_end();
        let rest = name.strip_prefix(&prefix)?;
        let process = rest.split('/').next()?.parse().ok()?;
        // A name that somebody else writes there is shown to people: no more than takt itself would bind.
        rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'/').then(|| (process, name.to_owned()))
    };
    let mut all: Vec<(u32, String)> = table.lines().filter_map(name).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Connects, and says whose socket that is. Does not wait: who accepts nothing would have it wait for ever.
pub(super) fn connected(name: &str) -> std::io::Result<(UnixStream, Uid)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    let uid = sockopt::socket_peercred(&socket)?.uid;
    let server = UnixStream::from(socket);
    server.set_nonblocking(false)?;
    Ok((server, uid))
}
