//! The control socket of a running waveform, which `takt execinfo`, `takt variable` and `takt map --apply` use while `takt run` runs:
//! [`serve`] answers at one end, [`ask`] asks at the other.
//!
//! An abstract Unix socket, `takt/UID/PID`: it vanishes with the process, so nothing is left behind by a kill. The client must
//! be the same user or root. One line of JSON in, one out; the slot loop never notices.

mod serve;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use serve::serve;

/// Longest line, bytes.
const LINE: u64 = 1 << 20;

/// A client that says nothing for so long is dropped.
const PATIENCE: Duration = Duration::from_secs(2);

/// What can be asked of a waveform that runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request {
    /// How often its components ran, how long it took, what they missed.
    Execinfo,
    /// All variables with their values.
    Variables,
    /// Set a variable at the next slot edge.
    Set {
        /// Whose.
        component: String,
        /// Its name.
        variable: String,
        /// The value, as a person writes it.
        value: String,
    },
    /// Execute its components elsewhere from the next slot edge on.
    Place {
        /// Of each worker, by name; each component once.
        workers: Vec<Vec<String>>,
    },
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Answer {
    /// What was asked for.
    Good(Json),
    /// Why there is no answer.
    Refused { why: String, fix: String },
}

/// In the process that runs the waveform.
struct ControlSocket {
    listener: UnixListener,
}

impl ControlSocket {
    /// Errors: the kernel has no such sockets, or this process has one already.
    fn open() -> std::io::Result<ControlSocket> {
        let name = format!("{}{}", prefix(), std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        listener.set_nonblocking(true)?;
        Ok(ControlSocket { listener })
    }

    /// Accepts the clients that wait, and answers one question each. Returns at once when none waits.
    fn attend(&self, mut answer: impl FnMut(Request) -> Answer) {
        while let Ok((client, _)) = self.listener.accept() {
            // A client that leaves early harms only itself.
            let _ = reply(client, &mut answer);
        }
    }
}

fn reply(mut client: UnixStream, answer: &mut impl FnMut(Request) -> Answer) -> std::io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(&client)?;
    if !peer.uid.is_root() && peer.uid != rustix::process::getuid() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    client.set_nonblocking(false)?;
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&client).take(LINE)).read_line(&mut line)?;
    let reply = match serde_json::from_str(&line) {
        Ok(request) => answer(request),
        Err(error) => {
            Answer::Refused { why: error.to_string(), fix: "takt of the same version on both sides".to_owned() }
        }
    };
    let mut line = serde_json::to_string(&reply)?;
    line.push('\n');
    client.write_all(line.as_bytes())
}

/// Processes of this user that run a waveform now.
#[must_use]
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
    let mut server = UnixStream::connect_addr(&address)?;
    // Anybody may take a name that is free.
    if rustix::net::sockopt::socket_peercred(&server)?.uid != rustix::process::getuid() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    server.set_read_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    server.write_all(line.as_bytes())?;
    let mut reply = String::new();
    BufReader::new(server.take(LINE)).read_line(&mut reply)?;
    Ok(serde_json::from_str(&reply)?)
}

/// Root sees its own waveforms, and so does each user.
fn prefix() -> String {
    format!("takt/{}/", rustix::process::getuid().as_raw())
}
