//! How late an emulated radio was itself: takt's own question and answer, on a port beside those of an N200.
//!
//! No radio has this port, since only an emulator is ever late. A reply is never longer than its request, so that nobody can
//! make an emulator send more than it was sent: a request is as long as the longest reply. Big-endian words; what they mean:
//! `docs/internals/emulator.md`, "Lateness on port 49180".

use std::num::NonZeroU32;

use crate::{WireError, words};

/// Port at which an emulator answers. No port of an N200, its serial lines (49170 to 49173) included.
pub const PORT: u16 = 49180;

const MAGIC: u32 = 0x544C_4147; // "TLAG"
/// Version in the upper half, kind of packet in the lower.
const REQUEST: u32 = 0x0002_0000;
const REPLY: u32 = 0x0002_0001;
/// A flag of a reply.
const MORE: u32 = 1;
const DROPS_KNOWN: u32 = 2;
const SPEED: u32 = 4;
/// Speed of a reply without that flag, as of emulators older than it: that of the wall's clock.
const WALL_MILLIONTHS: u32 = 1_000_000;
/// Slowest and fastest.
const SPEEDS: std::ops::RangeInclusive<u32> = 1_000..=100_000_000;

/// "How late were you? Send the late spans that ended at this instant or later."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LagRequest {
    /// Comes back in the reply.
    pub id: u32,
    /// Monotonic clock of the emulator's machine, nanoseconds.
    pub since_ns: u64,
}

impl LagRequest {
    /// Size of a request, and of the longest reply.
    pub const BYTES: usize = 512;

    /// # Errors
    /// `Short` below 512 bytes; `Field` if it is no request of this version. The padding may hold anything.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let what = "lag request";
        let have = datagram.len();
        let datagram = datagram.get(..Self::BYTES).ok_or(WireError::Short { what, need: Self::BYTES, have })?;
        let ([magic, kind, id, _, high, low], _) = words::read(datagram, what)?;
        expect(magic, kind, REQUEST, "0x20000")?;
        Ok(Self { id, since_ns: words::join(high, low) })
    }

    /// Writes 512 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let have = out.len();
        let room = out.get_mut(..Self::BYTES);
        let room = room.ok_or(WireError::Short { what: "lag request", need: Self::BYTES, have })?;
        room.fill(0);
        let [high, low] = words::split(self.since_ns);
        words::write(room, "lag request", [MAGIC, REQUEST, self.id, 0, high, low])?;
        Ok(Self::BYTES)
    }
}

/// Reply of an emulator. Counts are since it was started; instants are of its machine's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LagReply {
    /// The request's.
    pub id: u32,
    /// Above this a host could have noticed, microseconds.
    pub limit_us: u32,
    /// When it reported so, nanoseconds.
    pub now_ns: u64,
    /// Ticks of the radio's clock in a second.
    pub clock_hz: NonZeroU32,
    /// The radio's clock, less the machine's in such ticks at the radio's speed, modulo 2^64.
    pub clock_offset_ticks: u64,
    /// Seconds of the radio in a second of its machine, in millionths: 1000 to 100 000 000.
    pub speed_millionths: u32,
    /// Datagrams sent.
    pub datagrams: u64,
    /// Datagrams that left later than the limit, or never.
    pub over_limit: u64,
    /// Largest lag, microseconds.
    pub max_us: u64,
    /// Datagrams from hosts that found a receive buffer full; `None`: the kernel does not say.
    pub receive_buffer_drops: Option<u64>,
    /// Later spans than these were requested too: request those that ended after the last of these.
    pub more: bool,
    /// When it was later than the limit, in order.
    pub spans: LagSpans,
}

impl LagReply {
    const HEAD_BYTES: usize = 76;

    /// # Errors
    /// `Short` if the spans or the speed that it states are not there; `Field` if it is no reply of this version, states more
    /// spans than one holds, a span ends before it begins, a clock stands still, or no emulator has such a speed. More bytes
    /// are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let what = "lag reply";
        let (head, mut rest) = words::read::<19>(datagram, what)?;
        let [magic, kind, id, limit_us, now @ .., flags, count, clock_hz] = head;
        expect(magic, kind, REPLY, "0x20001")?;
        let [n1, n0, o1, o0, d1, d0, l1, l0, m1, m0, r1, r0] = now;
        let clock_hz = NonZeroU32::new(clock_hz).ok_or(WireError::field("clock", 0_u64, "above 0 Hz"))?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > LagSpans::MAX {
            return Err(WireError::field("late spans", count as u64, "at most 27"));
        }
        let tells_speed = flags & SPEED != 0;
        let (need, have) = (Self::bytes(count, tells_speed), datagram.len());
        if have < need {
            return Err(WireError::Short { what, need, have });
        }
        let mut spans = LagSpans::NONE;
        for _ in 0..count {
            let ([f1, f0, t1, t0], after) = words::read(rest, what)?;
            let [from, to] = [words::join(f1, f0), words::join(t1, t0)];
            if to < from {
                return Err(WireError::field("end of a late span", to, "its begin or later"));
            }
            spans.push([from, to]);
            rest = after;
        }
        let speed_millionths = if tells_speed { words::read::<1>(rest, what)?.0[0] } else { WALL_MILLIONTHS };
        if !SPEEDS.contains(&speed_millionths) {
            return Err(WireError::field("speed", speed_millionths, "1000 to 100000000 millionths"));
        }
        Ok(Self {
            id,
            limit_us,
            now_ns: words::join(n1, n0),
            clock_hz,
            clock_offset_ticks: words::join(o1, o0),
            speed_millionths,
            datagrams: words::join(d1, d0),
            over_limit: words::join(l1, l0),
            max_us: words::join(m1, m0),
            receive_buffer_drops: (flags & DROPS_KNOWN != 0).then_some(words::join(r1, r0)),
            more: flags & MORE != 0,
            spans,
        })
    }

    /// Writes 76 bytes, 16 for each span, and 4 for a speed other than the wall's. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let spans = self.spans.as_slice();
        let speed = Some(self.speed_millionths).filter(|&speed| speed != WALL_MILLIONTHS);
        let (need, have) = (Self::bytes(spans.len(), speed.is_some()), out.len());
        let room = out.get_mut(..need).ok_or(WireError::Short { what: "lag reply", need, have })?;
        let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let flags = flag(self.more, MORE)
            | flag(self.receive_buffer_drops.is_some(), DROPS_KNOWN)
            | flag(speed.is_some(), SPEED);
        let counts = [
            self.now_ns,
            self.clock_offset_ticks,
            self.datagrams,
            self.over_limit,
            self.max_us,
            self.receive_buffer_drops.unwrap_or(0),
        ];
        let fields = [MAGIC, REPLY, self.id, self.limit_us]
            .into_iter()
            .chain(counts.into_iter().flat_map(words::split))
            .chain([flags, spans.len() as u32, self.clock_hz.get()])
            .chain(spans.iter().flatten().copied().flat_map(words::split))
            .chain(speed);
        words::put(room, fields);
        Ok(need)
    }

    /// Size of a reply with so many spans.
    fn bytes(spans: usize, tells_speed: bool) -> usize {
        Self::HEAD_BYTES + spans * LagSpans::SPAN_BYTES + if tells_speed { 4 } else { 0 }
    }
}

/// Late spans of one reply: begin and end of each, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LagSpans {
    spans: [[u64; 2]; LagSpans::MAX],
    count: usize,
}

impl LagSpans {
    /// As many as a reply holds.
    pub const MAX: usize = 27;
    /// No span at all.
    pub const NONE: LagSpans = LagSpans { spans: [[0; 2]; LagSpans::MAX], count: 0 };
    const SPAN_BYTES: usize = 16;

    /// The first of these spans, as many as a reply holds. None ends before it begins.
    pub fn first_of(spans: impl IntoIterator<Item = [u64; 2]>) -> LagSpans {
        let mut first = LagSpans::NONE;
        spans.into_iter().take(Self::MAX).for_each(|span| first.push(span));
        first
    }

    /// The spans.
    #[must_use]
    pub fn as_slice(&self) -> &[[u64; 2]] {
        self.spans.get(..self.count).unwrap_or(&[])
    }

    fn push(&mut self, span: [u64; 2]) {
        if let Some(free) = self.spans.get_mut(self.count) {
            *free = span;
            self.count += 1;
        }
    }
}

fn expect(magic: u32, kind: u32, want: u32, name: &'static str) -> Result<(), WireError> {
    if magic != MAGIC {
        return Err(WireError::field("lag magic", magic, "0x544c4147"));
    }
    if kind != want {
        return Err(WireError::field("lag version and kind", kind, name));
    }
    Ok(())
}
