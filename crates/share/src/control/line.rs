//! One line of JSON over a socket, bounded in length and in time.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde::Serialize;

/// Longest line, bytes: the state of 256 radios is a third of it.
const LONGEST: usize = 1 << 20;

/// Reads a line, without its end, within this time.
pub(super) fn read(mut from: &UnixStream, within: Duration) -> io::Result<Vec<u8>> {
    let until = Instant::now() + within;
    let (mut line, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        from.set_read_timeout(Some(left(until)?))?;
        let length = match from.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        let read = piece.get(..length).unwrap_or_default();
        if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            line.extend(read.iter().take(end));
            return Ok(line);
        }
        line.extend(read);
        if length == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if line.len() > LONGEST {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("a line has more than {LONGEST} bytes")));
        }
    }
}

/// Writes one, each piece of it within this time.
pub(super) fn write(mut to: &UnixStream, what: &impl Serialize, within: Duration) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.set_write_timeout(Some(within))?;
    to.write_all(&line)
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}
