//! The answering end: the socket, whom it answers, and how it goes away.

use std::io::{self, ErrorKind};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use takt_host::cleaning::remove_scratch;
use takt_host::dirs;
use takt_host::leftovers::{Leftover, LeftoversError, Registration, Registry};
use takt_host::trusted::{Trust, TrustError, TrustedDir};

use super::{ControlAnswer, ControlRequest, LABEL, SOCKET, line};

/// Time that a client has for its line, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Clients that are answered at a look, so that notes are shown between them.
const AT_A_LOOK: usize = 8;

/// Why there is no control socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    #[error(transparent)]
    Record(#[from] LeftoversError),
    #[error(transparent)]
    Folder(#[from] TrustError),
    #[error("takt can't open a socket in {folder}")]
    Socket {
        folder: String,
        #[source]
        source: io::Error,
    },
}

/// In the process that shares.
pub(crate) struct ControlSocket {
    listener: UnixListener,
    name: String,
    /// Until the folder is gone.
    registration: Option<Registration>,
}

impl ControlSocket {
    pub(crate) fn open() -> Result<ControlSocket, SocketError> {
        let run = Registry::system().begin("share")?;
        let name = run.name(LABEL);
        let registration = run.will_create(Leftover::Scratch { name: name.clone() })?;
        let path = dirs::make_scratch(&name)?;
        let folder = TrustedDir::open(&path, Trust::Own)?;
        let failed = |source| SocketError::Socket { folder: path.display().to_string(), source };
        let listener = bound(&folder.by_descriptor().join(SOCKET)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(ControlSocket { listener, name, registration: Some(registration) })
    }

    /// Answers clients that wait, one question each. Returns at once when none waits.
    pub(crate) fn attend(&self, mut answer: impl FnMut(ControlRequest) -> ControlAnswer) {
        for _ in 0..AT_A_LOOK {
            let Ok((client, _)) = self.listener.accept() else { return };
            // A client that leaves early harms only itself.
            let _ = reply(&client, &mut answer);
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // If it can't be removed, the record stays, and `takt clean` says why.
        if remove_scratch(&self.name).is_ok() {
            let _ = self.registration.take().map(Registration::released);
        }
    }
}

/// Another process of this number may have left its socket, which nobody answers any more.
fn bound(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => match UnixStream::connect(path) {
            Err(refused) if refused.kind() == ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)
            }
            _ => Err(error),
        },
        bound => bound,
    }
}

fn reply(client: &UnixStream, answer: &mut impl FnMut(ControlRequest) -> ControlAnswer) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(client)?;
    if !peer.uid.is_root() && peer.uid != rustix::process::geteuid() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    client.set_nonblocking(false)?;
    let request = line::read(client, PATIENCE)?;
    let answer = match serde_json::from_slice(&request) {
        Ok(request) => answer(request),
        Err(error) => ControlAnswer::Refused {
            why: format!("the request is not understood: {error}"),
            fix: "use the same version of takt on both sides".to_owned(),
        },
    };
    line::write(client, &answer, PATIENCE)
}
