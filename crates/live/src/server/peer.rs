//! One reader, as the process sees it: lines in, lines out, and no more patience than it deserves.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use takt_base::MonoNs;

use crate::limits::{EVERY_MAX_MS, EVERY_MIN_MS, LINE_IN, LINE_OUT, TAPS};
use crate::{End, Line, Request};

/// A reader that does not say how often it wants to look, or takes nothing, for so long is dropped.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Requests of a reader in a second.
const REQUESTS: u32 = 64;
const SECOND: Duration = Duration::from_secs(1);

/// Why a reader is dropped: what it is told, if it still listens.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gone(pub(super) Option<String>);

impl From<io::Error> for Gone {
    fn from(_: io::Error) -> Gone {
        Gone(None)
    }
}

pub(super) struct Peer {
    stream: UnixStream,
    input: Vec<u8>,
    /// Bytes that the socket has not taken yet.
    output: Vec<u8>,
    since: MonoNs,
    /// `None`: it has not said.
    every: Option<Duration>,
    due: MonoNs,
    /// Since when it has taken nothing of what waits.
    stuck: Option<MonoNs>,
    /// Start of a second, and the requests in it.
    requests: (MonoNs, u32),
    /// Outputs that it wants to see.
    taps: Vec<String>,
}

impl Peer {
    pub(super) fn new(stream: UnixStream, hello: &[u8], now: MonoNs) -> io::Result<Peer> {
        stream.set_nonblocking(true)?;
        Ok(Peer {
            stream,
            input: Vec::new(),
            output: hello.to_vec(),
            since: now,
            every: None,
            due: MonoNs::NEVER,
            stuck: None,
            requests: (now, 0),
            taps: Vec::new(),
        })
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.output.is_empty()
    }

    /// When it wants the next snapshot.
    pub(super) fn due(&self) -> MonoNs {
        self.due
    }

    /// When it has to be looked at, whatever it does.
    pub(super) fn deadline(&self) -> MonoNs {
        let silent = if self.every.is_none() { self.since + PATIENCE } else { MonoNs::NEVER };
        self.stuck.map_or(silent, |since| (since + PATIENCE).min(silent))
    }

    /// Whether it deserves no more patience.
    pub(super) fn check(&self, now: MonoNs) -> Result<(), Gone> {
        if self.stuck.is_some_and(|since| now >= since + PATIENCE) {
            return Err(Gone(None));
        }
        if self.every.is_none() && now >= self.since + PATIENCE {
            return Err(Gone(Some("the reader did not say how often it wants to look; send {\"every_ms\":50}".into())));
        }
        Ok(())
    }

    /// Its request. A line that is too long, or says nothing that a reader may say, ends the connection.
    pub(super) fn requests(&mut self, now: MonoNs) -> Result<Vec<Request>, Gone> {
        let mut bytes = [0; LINE_IN];
        match self.stream.read(&mut bytes) {
            Ok(0) => return Err(Gone(None)),
            Ok(read) => self.input.extend(&bytes[..read]),
            Err(error) if is_passing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let mut all = Vec::new();
        while let Some(end) = self.input.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            if line.len() > LINE_IN {
                break;
            }
            all.push(self.request(&line, now)?);
        }
        if self.input.len() >= LINE_IN {
            return Err(Gone(Some(format!("a line is longer than {LINE_IN} bytes"))));
        }
        Ok(all)
    }

    fn request(&mut self, line: &[u8], now: MonoNs) -> Result<Request, Gone> {
        let (begun, count) = self.requests;
        self.requests = if now >= begun + SECOND { (now, 1) } else { (begun, count + 1) };
        if self.requests.1 > REQUESTS {
            return Err(Gone(Some(format!("more than {REQUESTS} requests in a second"))));
        }
        let request = serde_json::from_slice(line);
        let request = request.map_err(|error| Gone(Some(format!("a line is no request: {error}"))))?;
        match request {
            Request::EveryMs(every) if !(EVERY_MIN_MS..=EVERY_MAX_MS).contains(&every) => {
                Err(Gone(Some(format!("every_ms is {every}; expected: {EVERY_MIN_MS} to {EVERY_MAX_MS}"))))
            }
            Request::Taps(outputs) if outputs.len() > TAPS => {
                Err(Gone(Some(format!("taps names {} outputs; expected: {TAPS} at most", outputs.len()))))
            }
            request => Ok(request),
        }
    }

    /// It wants to see these outputs.
    pub(super) fn tap(&mut self, outputs: Vec<String>) {
        self.taps = outputs;
    }

    /// Outputs that it wants to see.
    pub(super) fn taps(&self) -> &[String] {
        &self.taps
    }

    /// It gets a snapshot now, and then at this interval.
    pub(super) fn pace(&mut self, every_ms: u32, now: MonoNs) {
        self.every = Some(Duration::from_millis(every_ms.into()));
        self.due = now;
    }

    /// Hands over the snapshot that was due. A reader that has not taken the last one goes without: it is a state, and the next
    /// one says all that this one says.
    pub(super) fn snapshot(&mut self, line: &[u8], now: MonoNs) -> Result<(), Gone> {
        let every = self.every.unwrap_or(PATIENCE);
        // One that came late does not bring a crowd of others.
        self.due = (self.due + every).max(now + every / 2);
        if self.has_waiting() { self.flush(now) } else { self.answer(line, now) }
    }

    /// Queues a line and writes what the socket takes.
    pub(super) fn answer(&mut self, line: &[u8], now: MonoNs) -> Result<(), Gone> {
        if self.output.len() + line.len() > 2 * LINE_OUT {
            return Err(Gone(None));
        }
        self.output.extend(line);
        self.flush(now)
    }

    pub(super) fn flush(&mut self, now: MonoNs) -> Result<(), Gone> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(taken) => {
                    self.output.drain(..taken);
                    self.stuck = None;
                }
                Err(error) if is_passing(&error) => {
                    self.stuck = self.stuck.or(Some(now));
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.stuck = None;
        Ok(())
    }

    /// Says why, as far as the socket takes it behind whole lines, and closes.
    pub(super) fn end(mut self, why: &str, now: MonoNs) {
        if self.flush(now).is_ok() && !self.has_waiting() {
            // It is dropped either way.
            let _ = self.stream.write(&line_of(&Line::End(End { why: why.to_owned() })));
        }
    }
}

impl AsFd for Peer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// A line with its end.
pub(super) fn line_of(line: &Line) -> Vec<u8> {
    // A document of numbers, texts and lists has no value that JSON refuses: `bounded` has removed those.
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: MonoNs = MonoNs(1_000_000_000);

    fn peer() -> (Peer, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Peer::new(ours, b"", NOW).unwrap(), theirs)
    }

    fn asked(text: &[u8]) -> Result<Vec<Request>, Gone> {
        let (mut peer, mut reader) = peer();
        reader.write_all(text).unwrap();
        peer.requests(NOW)
    }

    #[test]
    fn a_line_that_is_no_request_ends_the_connection() {
        assert_eq!(asked(b"{\"every_ms\":50}\n"), Ok(vec![Request::EveryMs(50)]));
        assert_eq!(asked(b"{\"every_ms\":50}"), Ok(vec![]), "not a whole line yet");
        for bad in [&b"\n"[..], b"hello\n", b"\xff\n", b"{\"every_ms\":15}\n", b"{\"every_ms\":1001}\n", b"[[[[[[\n"] {
            assert!(matches!(asked(bad), Err(Gone(Some(_)))), "{bad:?}");
        }
        let many = format!("{{\"taps\":{:?}}}\n", vec!["a.b"; TAPS + 1]);
        assert_eq!(asked(many.as_bytes()), Err(Gone(Some("taps names 9 outputs; expected: 8 at most".into()))));
        let long = asked(&vec![b'x'; LINE_IN]).unwrap_err();
        assert!(long.0.is_some_and(|why| why.contains("longer than 4096 bytes")));
    }

    #[test]
    fn a_line_may_come_in_parts() {
        let (mut peer, mut reader) = peer();
        for part in [&b"{\"every"[..], b"_ms\":", b"100}"] {
            reader.write_all(part).unwrap();
            assert_eq!(peer.requests(NOW), Ok(vec![]));
        }
        reader.write_all(b"\n{\"every_ms\":50}\n").unwrap();
        assert_eq!(peer.requests(NOW), Ok(vec![Request::EveryMs(100), Request::EveryMs(50)]));
        drop(reader);
        assert_eq!(peer.requests(NOW), Err(Gone(None)));
    }

    #[test]
    fn a_reader_that_asks_without_end_is_dropped() {
        let (mut peer, mut reader) = peer();
        let many = b"{\"every_ms\":50}\n".repeat(REQUESTS as usize);
        reader.write_all(&many).unwrap();
        assert_eq!(peer.requests(NOW).map(|all| all.len()), Ok(REQUESTS as usize));
        reader.write_all(b"{\"every_ms\":50}\n").unwrap();
        assert!(peer.requests(NOW).is_err());
        let (mut peer, mut reader) = self::peer();
        reader.write_all(&many).unwrap();
        peer.requests(NOW).unwrap();
        reader.write_all(b"{\"every_ms\":50}\n").unwrap();
        assert!(peer.requests(NOW + SECOND).is_ok(), "another second");
    }

    #[test]
    fn a_reader_that_takes_nothing_goes_without_and_is_dropped() {
        let (mut peer, _reader) = peer();
        peer.pace(50, NOW);
        let line = vec![b'x'; LINE_OUT];
        peer.snapshot(&line, NOW).unwrap();
        assert!(peer.has_waiting(), "a socket holds less than a megabyte");
        let waiting = peer.output.len();
        peer.snapshot(&line, NOW + Duration::from_millis(50)).unwrap();
        assert_eq!(peer.output.len(), waiting, "nothing piles up");
        assert_eq!(peer.deadline(), NOW + PATIENCE);
        assert!(peer.check(NOW + PATIENCE / 2).is_ok());
        assert_eq!(peer.check(NOW + PATIENCE), Err(Gone(None)));
    }

    #[test]
    fn a_reader_that_reads_again_gets_whole_lines() {
        let (mut peer, mut reader) = peer();
        peer.pace(50, NOW);
        let line = [vec![b'x'; LINE_OUT - 1], vec![b'\n']].concat();
        peer.snapshot(&line, NOW).unwrap();
        let mut read = vec![0; LINE_OUT];
        let thread = std::thread::spawn(move || reader.read_exact(&mut read).map(|()| (read, reader)));
        takt_testing::wait_for("the whole line", || {
            peer.flush(NOW).unwrap();
            (!peer.has_waiting()).then_some(())
        });
        let (read, _reader) = thread.join().unwrap().unwrap();
        assert!(read == line && peer.check(NOW + PATIENCE).is_ok());
    }

    #[test]
    fn snapshots_come_at_the_interval_that_was_asked_for() {
        let (mut peer, _reader) = peer();
        assert_eq!(peer.due(), MonoNs::NEVER);
        peer.pace(100, NOW);
        let ms = |n: u64| NOW + Duration::from_millis(n);
        assert_eq!(peer.due(), NOW);
        peer.snapshot(b"\n", ms(3)).unwrap();
        assert_eq!(peer.due(), ms(100), "a late one does not move the rest");
        peer.snapshot(b"\n", ms(950)).unwrap();
        assert_eq!(peer.due(), ms(1000), "nor does one that is very late bring those it left out");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever comes, in whatever parts: it is a request or the end, and no more than a line is kept.
        #[test]
        fn no_bytes_of_a_reader_are_kept_without_bound(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..2000), 1..20),
        ) {
            let (mut peer, mut reader) = peer();
            for part in parts {
                reader.write_all(&part).unwrap();
                let asked = peer.requests(NOW);
                prop_assert!(peer.input.len() < 2 * LINE_IN);
                if asked.is_err() {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_silent_reader_is_told_what_to_say() {
        let (peer, _reader) = peer();
        assert_eq!(peer.deadline(), NOW + PATIENCE);
        let gone = peer.check(NOW + PATIENCE).unwrap_err();
        assert!(gone.0.is_some_and(|why| why.contains("every_ms")));
    }
}
