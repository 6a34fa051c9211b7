//! The door of a running waveform: `takt execinfo` and `takt variable` look in and turn its knobs while `takt run` runs.
//!
//! An abstract Unix socket, `takt/UID/PID`: it vanishes with the process, so nothing is left behind by a kill. Whoever
//! knocks must be the same user or root. One line of JSON in, one out; the slot loop never notices.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Longest line, bytes.
const LINE: u64 = 1 << 20;

/// A visitor that says nothing for so long is sent away.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is asked of a running waveform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request {
    /// How often its components ran, how long it took, what they missed.
    Execinfo,
    /// All variables with their values.
    Variables,
    /// Set a variable at the next slot edge.
    Set {
        /// The component.
        component: String,
        /// The variable.
        variable: String,
        /// As typed.
        value: String,
    },
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// As asked.
    Good(Json),
    /// Why not, and what would be right.
    Refused {
        /// Why not.
        why: String,
        /// What would be right.
        fix: String,
    },
}

/// The door, held open by the process that runs the waveform.
pub struct ControlSocket {
    listener: UnixListener,
}

impl ControlSocket {
    /// Opens it.
    ///
    /// # Errors
    /// The kernel has no such sockets, or this process has one already.
    pub fn open() -> std::io::Result<ControlSocket> {
        let name = format!("{}{}", prefix(), std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        listener.set_nonblocking(true)?;
        Ok(ControlSocket { listener })
    }

    /// Lets in who waits, and answers one question each. Returns at once when nobody waits.
    pub fn attend(&self, mut answer: impl FnMut(Request) -> Answer) {
        while let Ok((visitor, _)) = self.listener.accept() {
            // Somebody who leaves early harms nobody but himself.
            let _ = serve(visitor, &mut answer);
        }
    }
}

fn serve(mut visitor: UnixStream, answer: &mut impl FnMut(Request) -> Answer) -> std::io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(&visitor)?;
    if !peer.uid.is_root() && peer.uid != rustix::process::getuid() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    visitor.set_nonblocking(false)?;
    visitor.set_read_timeout(Some(PATIENCE))?;
    visitor.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&visitor).take(LINE)).read_line(&mut line)?;
    let reply = match serde_json::from_str(&line) {
        Ok(request) => answer(request),
        Err(error) => {
            Answer::Refused { why: error.to_string(), fix: "takt of the same version on both sides".to_owned() }
        }
    };
    let mut reply = serde_json::to_string(&reply)?;
    reply.push('\n');
    visitor.write_all(reply.as_bytes())
}

/// Processes of this user that run a waveform now.
pub fn running() -> Vec<u32> {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let prefix = format!("@{}", prefix());
    let mut all: Vec<u32> =
        table.lines().filter_map(|line| line.rsplit_once(prefix.as_str())?.1.trim().parse().ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Asks the waveform that a process runs.
///
/// # Errors
/// There is none, it is not ours, or it does not answer.
pub fn ask(process: u32, request: &Request) -> std::io::Result<Answer> {
    let address = SocketAddr::from_abstract_name(format!("{}{process}", prefix()))?;
    let mut door = UnixStream::connect_addr(&address)?;
    // Anybody may take a name that is free.
    if rustix::net::sockopt::socket_peercred(&door)?.uid != rustix::process::getuid() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    door.set_read_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    door.write_all(line.as_bytes())?;
    let mut reply = String::new();
    BufReader::new(door.take(LINE)).read_line(&mut reply)?;
    Ok(serde_json::from_str(&reply)?)
}

/// Root sees its own; a user's waveforms are his.
fn prefix() -> String {
    format!("takt/{}/", rustix::process::getuid().as_raw())
}
