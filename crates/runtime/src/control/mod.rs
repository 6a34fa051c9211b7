//! The control socket of a running waveform, which `takt execinfo`, `takt variable` and `takt map --apply` use while `takt run` runs:
//! [`serve`] answers at one end, [`ask`] asks at the other.
//!
//! An abstract Unix socket, `takt/UID/PID`: it vanishes with the process, so nothing is left behind by a kill. If
//! somebody else has bound that name, it has a number behind it that nobody could know before. The client must be the
//! same user or root, and speaks to sockets of the same user alone. One line of JSON in, one out; the slot loop never
//! notices.

mod find;
mod in_force;
mod live;
mod serve;

use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use find::{Foreign, FoundSockets, ask, running};
pub use in_force::{InForce, UnansweredError, answer_of};
pub use live::LiveRun;
pub use serve::serve;

/// Longest line, bytes.
const LINE: u64 = 1 << 20;

/// A client that says nothing for so long is dropped.
const PATIENCE: Duration = Duration::from_secs(2);

/// Requests to a running waveform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request {
    /// How often its components ran, how long it took, what they missed.
    Execinfo,
    /// All variables with their values.
    Variables,
    /// Set a variable at the next slot edge.
    Set {
        /// Component that has the variable.
        component: String,
        /// Its name.
        variable: String,
        /// The value, as a person writes it.
        value: String,
    },
    /// Execute its components elsewhere from the next slot edge on.
    Place {
        /// Components of each worker, by name; each once.
        workers: Vec<Vec<String>>,
    },
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum RequestAnswer {
    /// The requested facts.
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
        ControlSocket::named(&format!("{}{}", prefix(), std::process::id()))
    }

    /// The same under that name, or one that begins with it where another user has taken it.
    fn named(name: &str) -> std::io::Result<ControlSocket> {
        let bind = |name: String| UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?);
        let taken = |error: &std::io::Error| error.kind() == ErrorKind::AddrInUse && !is_ours(name);
        let listener = match bind(name.to_owned()) {
            Err(error) if taken(&error) => bind(format!("{name}/{:016x}", unguessable()))?,
            other => other?,
        };
        listener.set_nonblocking(true)?;
        Ok(ControlSocket { listener })
    }

    /// Accepts the clients that wait, and answers one question each. Returns at once when none waits.
    fn attend(&self, mut answer: impl FnMut(Request) -> RequestAnswer) {
        while let Ok((client, _)) = self.listener.accept() {
            // A client that leaves early harms only itself.
            let _ = reply(client, &mut answer);
        }
    }
}

fn reply(mut client: UnixStream, answer: &mut impl FnMut(Request) -> RequestAnswer) -> std::io::Result<()> {
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
        Err(error) => RequestAnswer::Refused {
            why: error.to_string(),
            fix: "use the same version of takt on both sides".to_owned(),
        },
    };
    let mut line = serde_json::to_string(&reply)?;
    line.push('\n');
    client.write_all(line.as_bytes())
}

/// Whether a process of this user has bound a name: another run of this very process, as a rule.
fn is_ours(name: &str) -> bool {
    find::connected(name).is_ok_and(|(_, uid)| uid == rustix::process::getuid())
}

/// A number that the kernel drew: keys of the standard library's hash tables come from it.
fn unguessable() -> u64 {
    std::hash::RandomState::new().hash_one(std::process::id())
}

/// Root sees its own waveforms, and so does each user.
fn prefix() -> String {
    format!("takt/{}/", rustix::process::getuid().as_raw())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use takt_testing::wait_for;

    use super::*;

    /// Another user binds a name, and accepts nothing.
    struct Squatter(std::process::Child);

    impl Squatter {
        fn at(name: &str) -> Squatter {
            let script = format!(
                "import os, socket, sys\nos.setgid(65534)\nos.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\n\
                 s.bind(b'\\0{name}')\ns.listen(4)\nprint('ready', flush=True)\nsys.stdin.read()"
            );
            let mut python = Command::new("python3");
            let mut child =
                python.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3");
            let mut ready = String::new();
            BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut ready).expect("text");
            assert_eq!(ready, "ready\n");
            Squatter(child)
        }
    }

    impl Drop for Squatter {
        fn drop(&mut self) {
            // It may have ended.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test] // a name that another user had bound was taken for a waveform, so that `takt execinfo` found two, or one that is none
    fn a_name_that_another_user_has_bound_is_skipped_and_named_and_keeps_nobody_from_his_own() {
        if !rustix::process::getuid().is_root() {
            return takt_testing::skip("run as root: another user is to bind a name");
        }
        if Command::new("python3").arg("--version").output().is_err() {
            return takt_testing::skip("install python3");
        }
        let process = std::process::id();
        let name = format!("{}{process}", prefix());
        let squatter = Squatter::at(&name);
        let found = running();
        assert!(!found.processes.contains(&process), "{found:?}");
        let foreign = found.foreign.iter().find(|foreign| foreign.name == name).expect("it is named");
        assert_eq!(foreign.to_string(), format!("skipped socket @{name}: user 65534 has bound it"));
        assert_eq!(ask(process, &Request::Execinfo).unwrap_err().kind(), ErrorKind::PermissionDenied);
        // Its queue is full by now, and a connection would wait for ever.
        let full = wait_for("a full queue", || find::connected(&name).err().map(|_| running()));
        assert!(full.foreign.iter().any(|foreign| foreign.name == name), "{full:?}");

        let socket = ControlSocket::open().expect("another name");
        let client = std::thread::spawn(move || ask(process, &Request::Variables));
        wait_for("an answer", || {
            socket.attend(|request| RequestAnswer::Good(serde_json::to_value(request).expect("JSON")));
            client.is_finished().then_some(())
        });
        let answer = client.join().expect("no panic").expect("an answer");
        assert_eq!(answer, RequestAnswer::Good(serde_json::json!({ "ask": "variables" })));
        assert!(running().processes.contains(&process));
        drop(squatter);
    }
}
