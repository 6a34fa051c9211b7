//! Frames lent in both directions: plain arrays of entries over one arena, the same for every engine.

use std::net::SocketAddr;

use takt_base::MonoNs;

use crate::{EngineError, PortIndex};

/// How long a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    Poll,
    /// Until this instant of the engine's clock (the monotonic clock; virtual in tests).
    Until(MonoNs),
}

/// One received datagram, borrowed from its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The local port it came to.
    pub port: PortIndex,
    /// Its sender.
    pub source: SocketAddr,
    /// When the kernel received it, on the engine's clock; `None` where the engine has no stamps.
    pub arrived: Option<MonoNs>,
    /// Its payload, cut to [`crate::Limits::max_payload_bytes`].
    pub bytes: &'a [u8],
    /// Whether it was longer than that, so that `bytes` is only its beginning.
    pub truncated: bool,
}

/// Place of a received datagram in the arena. Written by engines, checked when read.
#[derive(Clone, Copy, Debug)]
pub struct RxEntry {
    /// The local port it came to.
    pub port: PortIndex,
    /// Its sender.
    pub source: SocketAddr,
    /// Kernel arrival stamp.
    pub arrived: Option<MonoNs>,
    /// First byte in the arena.
    pub offset: usize,
    /// Bytes.
    pub len: usize,
    /// Whether the datagram was longer than its frame.
    pub truncated: bool,
}

/// Result of one receive call.
#[derive(Clone, Copy, Debug)]
pub struct RxBatch<'a> {
    arena: &'a [u8],
    entries: &'a [RxEntry],
}

impl<'a> RxBatch<'a> {
    /// For engines: `entries` that reach outside `arena` read as empty datagrams, never beyond it.
    #[must_use]
    pub fn new(arena: &'a [u8], entries: &'a [RxEntry]) -> RxBatch<'a> {
        RxBatch { arena, entries }
    }

    /// Datagrams in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the wait ran out with nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The datagrams, in the order they took effect.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Datagram<'a>> + use<'a> {
        let arena = self.arena;
        self.entries.iter().map(move |entry| datagram(arena, entry))
    }

    /// Datagram `index` of the batch, counted from 0.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<Datagram<'a>> {
        self.entries.get(index).map(|entry| datagram(self.arena, entry))
    }
}

/// Inlined, so that a caller who wants only the bytes does not pay for the rest.
#[inline]
fn datagram<'a>(arena: &'a [u8], entry: &RxEntry) -> Datagram<'a> {
    Datagram {
        port: entry.port,
        source: entry.source,
        arrived: entry.arrived,
        bytes: entry.offset.checked_add(entry.len).and_then(|end| arena.get(entry.offset..end)).unwrap_or(&[]),
        truncated: entry.truncated,
    }
}

/// A frame filled and waiting to be sent.
#[derive(Clone, Copy, Debug)]
pub struct TxEntry {
    /// The local port it leaves from.
    pub port: PortIndex,
    /// Destination; `None` = the port's connected peer.
    pub to: Option<SocketAddr>,
    /// First byte in the arena.
    pub offset: usize,
    /// Bytes filled.
    pub len: usize,
}

/// How an engine gets frames out. Implemented by engines, called by [`TxBatch::send`].
pub trait Transmit {
    /// Sends `entries` in order from `arena`; returns how many were dealt with (see [`TxBatch::send`]).
    /// Fails if the port is gone for good.
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError>;
}

/// Writable frames, lent by the engine. Frame n starts at `n * stride` of the arena.
pub struct TxBatch<'a> {
    arena: &'a mut [u8],
    stride: usize,
    entries: &'a mut Vec<TxEntry>,
    room: usize,
    engine: &'a mut dyn Transmit,
}

impl<'a> TxBatch<'a> {
    /// For engines. `entries` must have been created with room for `room` entries, so that pushing never allocates.
    #[must_use]
    pub fn new(
        arena: &'a mut [u8],
        stride: usize,
        entries: &'a mut Vec<TxEntry>,
        room: usize,
        engine: &'a mut dyn Transmit,
    ) -> TxBatch<'a> {
        entries.clear();
        let room = room.min(entries.capacity()).min(arena.len().checked_div(stride).unwrap_or(0));
        TxBatch { arena, stride, entries, room, engine }
    }

    /// Frames that can still be pushed.
    #[must_use]
    pub fn room(&self) -> usize {
        self.room - self.entries.len()
    }

    /// Frames pushed so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lets `fill` write one frame (it sees the whole frame and returns how many bytes count; more than fit are cut).
    /// `false`, without calling it, when no frame is left.
    pub fn push(&mut self, port: PortIndex, to: Option<SocketAddr>, fill: impl FnOnce(&mut [u8]) -> usize) -> bool {
        if self.room() == 0 {
            return false;
        }
        let offset = self.entries.len() * self.stride;
        let frame = &mut self.arena[offset..offset + self.stride];
        let len = fill(frame).min(self.stride);
        self.entries.push(TxEntry { port, to, offset, len });
        true
    }

    /// Sends what was pushed, in order; returns how many datagrams are dealt with: taken by the kernel before `wait` ran
    /// out, or refused by it for their own destination's sake (no route, forbidden, port 0), which
    /// [`crate::Counters::undeliverable_datagrams`] counts. The rest, the last ones pushed, was not sent.
    /// An ICMP refusal is no reason to stop: it is in [`crate::Engine::refused`]. Fails if the port is gone for good.
    pub fn send(self, wait: Wait) -> Result<usize, EngineError> {
        if self.entries.is_empty() {
            return Ok(0);
        }
        self.engine.transmit(self.arena, self.entries, wait)
    }
}

#[cfg(test)]
mod tests {
    use takt_base::MonoNs;

    use super::*;

    fn entry(offset: usize, len: usize) -> RxEntry {
        let source = SocketAddr::from(([127, 0, 0, 1], 7));
        RxEntry { port: PortIndex(0), source, arrived: Some(MonoNs(1)), offset, len, truncated: false }
    }

    #[test]
    fn an_entry_that_reaches_outside_the_arena_reads_as_an_empty_datagram() {
        let entries = [entry(0, 4), entry(2, 3), entry(usize::MAX, 2), entry(4, 0), entry(5, 0)];
        let batch = RxBatch::new(b"abcd", &entries);
        let bytes: Vec<&[u8]> = batch.iter().map(|d| d.bytes).collect();
        assert_eq!(bytes, [&b"abcd"[..], b"", b"", b"", b""]);
        assert_eq!(batch.get(0).map(|d| d.bytes), Some(&b"abcd"[..]));
        assert_eq!(batch.get(5), None);
    }

    /// Remembers what it was given; takes at most two.
    struct Taken(Vec<Vec<u8>>);

    impl Transmit for Taken {
        fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], _: Wait) -> Result<usize, EngineError> {
            self.0.extend(entries.iter().take(2).map(|e| arena[e.offset..e.offset + e.len].to_vec()));
            Ok(entries.len().min(2))
        }
    }

    #[test]
    fn frames_are_lent_one_after_another_and_no_more_than_there_are() {
        let (mut arena, mut entries, mut taken) = ([0xa5; 12], Vec::with_capacity(8), Taken(Vec::new()));
        let mut batch = TxBatch::new(&mut arena, 4, &mut entries, 8, &mut taken);
        assert_eq!(batch.room(), 3, "twelve bytes hold three frames of four");
        for n in 1..=3 {
            assert!(batch.push(PortIndex(0), None, |frame| {
                frame.fill(n);
                usize::from(n) * 3
            }));
        }
        assert!(!batch.push(PortIndex(0), None, |_| unreachable!("no frame is left")));
        assert_eq!((batch.room(), batch.len()), (0, 3));
        assert_eq!(batch.send(Wait::Poll).unwrap(), 2);
        assert_eq!(taken.0, [vec![1; 3], vec![2; 4]], "more than fits is cut to the frame");
    }

    #[test]
    fn frames_of_no_bytes_are_no_frames() {
        let (mut entries, mut taken) = (Vec::with_capacity(8), Taken(Vec::new()));
        let mut batch = TxBatch::new(&mut [], 0, &mut entries, 8, &mut taken);
        assert!(!batch.push(PortIndex(0), None, |_| 0));
        assert_eq!(batch.send(Wait::Poll).unwrap(), 0);
    }
}
