//! The asking end: which shares of this user run, and what one of them answers.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};
use takt_host::dirs;
use takt_host::trusted::{Trust, TrustedDir};

use super::{ControlAnswer, ControlRequest, LABEL, SOCKET, line};

/// A share measures the cost of a radio, and waits for its streaming thread.
const PATIENCE: Duration = Duration::from_secs(10);

/// Processes of this user that share a front end now.
///
/// # Errors
/// takt's folder may not be trusted.
pub fn running() -> io::Result<Vec<u32>> {
    let Some(scratch) = scratch()? else { return Ok(Vec::new()) };
    let process = |name: &String| name.strip_prefix("takt-")?.strip_suffix(LABEL)?.strip_suffix('-')?.parse().ok();
    let mut processes: Vec<u32> = scratch.names()?.iter().filter_map(process).collect();
    // A killed one has left its folder.
    processes.retain(|process| connected(*process).is_ok());
    processes.sort_unstable();
    Ok(processes)
}

/// Asks the share that a process runs.
///
/// # Errors
/// There is none, it is not ours, or it does not answer.
pub fn ask(process: u32, request: &ControlRequest) -> io::Result<ControlAnswer> {
    let server = connected(process)?;
    line::write(&server, request, PATIENCE)?;
    Ok(serde_json::from_slice(&line::read(&server, PATIENCE)?)?)
}

fn scratch() -> io::Result<Option<TrustedDir>> {
    Ok(TrustedDir::find(&dirs::scratch_dir(), Trust::Own)?)
}

/// Connects, and does not wait: a full queue would have it wait for ever.
pub(super) fn connected(process: u32) -> io::Result<UnixStream> {
    let folder = scratch()?.map(|scratch| scratch.folder(&format!("takt-{process}-{LABEL}"))).transpose()?.flatten();
    let Some(folder) = folder else { return Err(ErrorKind::NotFound.into()) };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(folder.by_descriptor().join(SOCKET))?)?;
    if sockopt::socket_peercred(&socket)?.uid != rustix::process::geteuid() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let server = UnixStream::from(socket);
    server.set_nonblocking(false)?;
    Ok(server)
}
