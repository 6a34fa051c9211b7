//! Lines of JSON over a stream: bounded, and read with an eye on whether anybody still wants them.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::NodesError;

/// How often a reader looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Longest request: the text of a waveform, and as much again.
pub(super) const REQUEST_BYTES: usize = 2 * takt_graph::limits::FILE_BYTES;
/// Longest reply: the histograms of a thousand components.
pub(super) const REPLY_BYTES: usize = 64 << 20;

pub(super) struct Lines {
    stream: TcpStream,
    /// Read, and not yet used.
    ahead: Vec<u8>,
}

impl Lines {
    pub(super) fn over(stream: TcpStream) -> io::Result<Lines> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LOOK))?;
        stream.set_nodelay(true)?;
        Ok(Lines { stream, ahead: Vec::new() })
    }

    /// The other end.
    pub(super) fn other(&self) -> io::Result<IpAddr> {
        self.stream.peer_addr().map(|at| at.ip())
    }

    pub(super) fn write(&mut self, message: &impl Serialize) -> Result<(), NodesError> {
        let mut line = serde_json::to_vec(message).map_err(|error| NodesError::Line(error.into()))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(NodesError::Line)
    }

    /// The next line, of at most so many bytes; `None`: the other end has closed, or `give_up` says so.
    pub(super) fn read<T: DeserializeOwned>(
        &mut self,
        most_bytes: usize,
        give_up: &dyn Fn() -> bool,
    ) -> Result<Option<T>, NodesError> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.ahead[searched..].iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.ahead.drain(..=searched + at).collect();
                return parse(&line).map(Some);
            }
            searched = self.ahead.len();
            if searched > most_bytes {
                return Err(NodesError::Line(io::Error::other(format!("a line of more than {most_bytes} bytes"))));
            }
            let mut room = [0; 16 << 10];
            match self.stream.read(&mut room) {
                Ok(0) => return Ok(None),
                Ok(len) => self.ahead.extend_from_slice(&room[..len]),
                Err(error) if is_pause(&error) && give_up() => return Ok(None),
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(NodesError::Line(error)),
            }
        }
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, NodesError> {
    serde_json::from_slice(line).map_err(|error| NodesError::Line(error.into()))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn lines_come_one_by_one_and_one_that_is_too_long_is_refused() {
        let listener = TcpListener::bind((takt_testing::loopback(9), 0)).unwrap();
        let mut other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut lines = Lines::over(listener.accept().unwrap().0).unwrap();
        other.write_all(b"1\n2\n3").unwrap();
        let mut next = || lines.read::<u32>(4, &|| true);
        assert_eq!((next().unwrap(), next().unwrap(), next().unwrap()), (Some(1), Some(2), None));
        other.write_all(b"4567").unwrap();
        assert!(next().is_err());
    }
}
