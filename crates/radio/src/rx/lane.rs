//! One channel's datagrams, in the order of their time: what has arrived and is not consumed yet.
//!
//! A block points into the engine's batch for as long as that is held, and into memory of the lane afterwards. Nothing
//! here allocates after [`Lane::new`]; when a lane is full, the oldest block gives way.
//!
//! Every datagram passes [`Lane::accept`] and [`Lane::take`]. Only the first of a batch, and one behind a loss or a message,
//! is judged by [`Lane::head`]: one that follows the datagram before it needs no judgement ([`Lane::follows`]).

use std::collections::VecDeque;

use takt_base::MonoNs;
use takt_packet::{Datagram, RxBatch};

use super::shape::Shape;
use super::source::{Message, Reading, Source};

/// Blocks a lane can keep beyond the life of a batch: what one channel may be ahead of another.
const KEPT: usize = 64;
/// How far back a datagram can be put in its place, in datagrams. One further back is no swap on the way.
const SWAP: u64 = 32;

/// Memory that holds a block's datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the engine's batch, at this index.
    Batch(usize),
    /// In the lane's own memory, at this slot.
    Kept(usize),
}

/// The samples of one datagram.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Time of the first sample that is left.
    tick: u64,
    /// Samples left.
    samples: u64,
    /// Place of the first in the datagram, bytes.
    at: usize,
    /// Its number.
    number: u16,
    end_of_burst: bool,
    /// When the kernel received it, if the engine says.
    arrived: Option<MonoNs>,
    /// Its time stamp has been judged, and is believed.
    believed: bool,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Block(Block),
    Message { tick: u64, message: Message },
}

/// Head of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// Nothing that can be used without more datagrams.
    Empty,
    /// The radio has something to say. It is taken off the lane.
    Message { tick: u64, message: Message },
    /// Samples, at or after where the stream is.
    Samples { tick: u64, count: u64 },
    /// Samples that follow those before without a loss, though their time does not: the radio's clock was set.
    Retimed,
}

/// The facts about the samples taken off a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// When the kernel received the datagram, if the engine says.
    pub(super) arrived: Option<MonoNs>,
    /// That was the end of the block, and of a burst.
    pub(super) burst_ended: bool,
}

enum Verdict {
    Believed,
    Stale,
    Damaged,
    Retimed,
    /// The block behind has to be seen first.
    Unsure,
}

/// Counts of a lane. Monotonic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) datagrams: u64,
    /// Not what a receive port of this stream sends, or cut short, or with an impossible time stamp.
    pub(super) bad: u64,
    /// Not there, by the time stamps of those that are.
    pub(super) missing: u64,
    /// Gaps of which the datagrams' numbers say something else.
    pub(super) uncorroborated: u64,
    /// Came after a later one, and was put in its place.
    pub(super) reordered: u64,
    /// Came too late to be put in its place, or twice.
    pub(super) stale: u64,
    /// Gave way because another channel was too far behind.
    pub(super) crowded_out: u64,
}

/// One channel.
pub(super) struct Lane {
    shape: Shape,
    items: VecDeque<Item>,
    kept: Vec<u8>,
    free: Vec<usize>,
    /// Time at which the next datagram should begin, if that is known.
    next_tick: Option<u64>,
    /// The number it should carry.
    next_number: u16,
    tally: Tally,
}

impl Lane {
    /// A lane for batches of up to `batch` datagrams.
    pub(super) fn new(shape: Shape, batch: usize) -> Lane {
        Lane {
            shape,
            items: VecDeque::with_capacity(KEPT + batch),
            kept: vec![0; KEPT * shape.frame_bytes],
            free: (0..KEPT).collect(),
            next_tick: None,
            next_number: 0,
            tally: Tally::default(),
        }
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    /// Forgets what was received.
    pub(super) fn clear(&mut self) {
        while !self.items.is_empty() {
            self.pop();
        }
    }

    /// The next datagram should begin at `tick`; `None`: nobody knows.
    pub(super) fn expect(&mut self, tick: Option<u64>) {
        self.next_tick = tick;
    }

    /// Takes in the datagram at `index` of the batch, which came to `channel` of `source`.
    #[inline]
    pub(super) fn accept(&mut self, index: usize, datagram: &Datagram<'_>, channel: usize, source: &mut dyn Source) {
        self.tally.datagrams += 1;
        let item = match source.read(channel, datagram.bytes) {
            Some(Reading::Samples { tick, number, end_of_burst, at, count }) if !datagram.truncated => {
                let samples = self.shape.samples_there(count, datagram.bytes.len().saturating_sub(at));
                let (arrived, place) = (datagram.arrived, Place::Batch(index));
                Item::Block(Block { tick, samples, at, number, end_of_burst, arrived, believed: false, place })
            }
            Some(Reading::Housekeeping) => return,
            Some(Reading::Message { tick, message }) => Item::Message { tick, message },
            _ => {
                self.tally.bad += 1;
                return;
            }
        };
        if self.items.len() == self.items.capacity() {
            self.pop();
            self.tally.crowded_out += 1;
        }
        self.insert(item);
    }

    /// Behind everything earlier. Datagrams that the network swapped come into order again here if they came in one
    /// batch; those of later batches would have to be waited for.
    #[inline]
    fn insert(&mut self, item: Item) {
        let Item::Block(Block { tick, .. }) = item else { return self.items.push_back(item) };
        let span = SWAP * self.shape.datagram_ticks();
        let later = |queued: &Item| match queued {
            Item::Block(queued) => queued.tick > tick && queued.tick - tick <= span,
            Item::Message { .. } => false,
        };
        let swapped = self.items.back().is_some_and(later);
        if swapped {
            let behind = self.items.iter().rev().take_while(|queued| later(queued)).count();
            self.tally.reordered += 1;
            self.items.insert(self.items.len() - behind, item);
        } else {
            self.items.push_back(item);
        }
    }

    /// Copies what still lies in `batch` into memory of the lane, before the engine takes the batch back.
    pub(super) fn keep(&mut self, batch: RxBatch<'_>) {
        let mut at = 0;
        while let Some(item) = self.items.get(at) {
            match *item {
                Item::Block(Block { place: Place::Batch(index), .. }) => match self.free.pop() {
                    Some(slot) => {
                        self.copy(slot, batch.get(index).map_or(&[], |datagram| datagram.bytes));
                        if let Some(Item::Block(block)) = self.items.get_mut(at) {
                            block.place = Place::Kept(slot);
                        }
                        at += 1;
                    }
                    // Every slot is taken by older blocks, of which the oldest goes: another channel is 64 datagrams behind.
                    None => {
                        self.pop();
                        self.tally.crowded_out += 1;
                        at = at.saturating_sub(1);
                    }
                },
                _ => at += 1,
            }
        }
    }

    fn copy(&mut self, slot: usize, bytes: &[u8]) {
        let room = self.kept.get_mut(slot * self.shape.frame_bytes..).unwrap_or(&mut []);
        let len = bytes.len().min(room.len()).min(self.shape.frame_bytes);
        room[..len].copy_from_slice(&bytes[..len]);
    }

    /// The next block, event or gap of the lane. Samples before `from` are skipped. `jump`: a gap of any length is
    /// expected. `next_run`: where the run after this one begins, if one is queued.
    pub(super) fn head(&mut self, from: u64, jump: bool, next_run: Option<u64>) -> Head {
        loop {
            let block = match self.items.front() {
                None => return Head::Empty,
                Some(&Item::Message { tick, message }) => {
                    self.pop();
                    return Head::Message { tick, message };
                }
                Some(Item::Block(block)) => *block,
            };
            if !block.believed {
                let verdict = match next_run {
                    Some(first) if block.tick == first => Verdict::Believed,
                    _ => self.judge(&block, from, jump),
                };
                match verdict {
                    Verdict::Believed => self.believe(),
                    Verdict::Stale => {
                        self.tally.stale += 1;
                        self.pop();
                        continue;
                    }
                    Verdict::Damaged => {
                        self.tally.bad += 1;
                        self.pop();
                        continue;
                    }
                    Verdict::Retimed => return Head::Retimed,
                    Verdict::Unsure => return Head::Empty,
                }
            }
            if block.tick >= from {
                return Head::Samples { tick: block.tick, count: block.samples };
            }
            self.consume((from - block.tick).div_ceil(self.shape.ticks_per_sample));
        }
    }

    /// Whether to believe a block's time stamp, which may be the one thing in it that is damaged: a stream that followed
    /// it would be lost for good. A gap is believed if whole datagrams are missing and the numbers say the same, or
    /// if the block behind goes on from it.
    fn judge(&self, block: &Block, from: u64, jump: bool) -> Verdict {
        if block.samples == 0 {
            return Verdict::Damaged;
        }
        let Some(next) = self.next_tick else { return Verdict::Believed };
        if block.tick == next || (jump && (block.tick < from || block.tick > next)) {
            return Verdict::Believed;
        }
        let counted = self.shape.counted(self.next_number, block.number);
        let ahead = block.tick.checked_sub(next);
        match ahead {
            Some(gap) if self.shape.whole_datagrams(gap).is_some_and(|missing| self.shape.agrees(missing, counted)) => {
                return Verdict::Believed;
            }
            None if counted != 0 => return Verdict::Stale,
            _ => {}
        }
        let end = block.tick.saturating_add(block.samples * self.shape.ticks_per_sample);
        match (self.items.get(1), ahead.is_some()) {
            (None, _) => Verdict::Unsure,
            (Some(Item::Block(behind)), _) if behind.tick == end && counted == 0 => Verdict::Retimed,
            (Some(Item::Block(behind)), true) if behind.tick == end => Verdict::Believed,
            // A stream that ended says so; nothing more will come.
            (Some(Item::Message { .. }), true) => Verdict::Believed,
            (_, true) => Verdict::Damaged,
            (_, false) => Verdict::Stale,
        }
    }

    /// The head block's time stamp holds.
    fn believe(&mut self) {
        if let Some(Item::Block(block)) = self.items.front_mut() {
            block.believed = true;
        }
    }

    /// Counts what is missing up to `until`, where the stream goes on, or up to the head block if that is earlier; returns
    /// how many datagrams.
    pub(super) fn miss(&mut self, until: u64) -> u64 {
        let (end, number) = match self.items.front() {
            Some(Item::Block(head)) if head.tick <= until => (head.tick, Some(head.number)),
            _ => (until, None),
        };
        let gap = end.saturating_sub(self.next_tick.unwrap_or(end));
        if gap == 0 {
            return 0;
        }
        let missing = gap.div_ceil(self.shape.datagram_ticks());
        if let Some(number) = number {
            let counted = self.shape.counted(self.next_number, number);
            let agrees = self.shape.whole_datagrams(gap).is_some_and(|missing| self.shape.agrees(missing, counted));
            self.tally.uncorroborated += u64::from(!agrees);
            self.next_number = number;
        }
        self.next_tick = Some(end);
        self.tally.missing += missing;
        missing
    }

    /// Samples of the head block if they go on at `at`, where the stream stands, and need no judgement: [`Lane::head`] would
    /// say the same of them, whatever else it is told. 0: only `head` can tell.
    #[inline]
    pub(super) fn follows(&self, at: u64) -> u64 {
        let Some(Item::Block(block)) = self.items.front() else { return 0 };
        let holds = block.believed || self.next_tick == Some(block.tick);
        if block.tick == at && holds { block.samples } else { 0 }
    }

    /// Takes `samples` off the head block, at most what it has, and gives their bytes to `put`.
    #[inline]
    pub(super) fn take(&mut self, samples: u64, batch: RxBatch<'_>, put: impl FnOnce(&[u8])) -> Taken {
        let Some(Item::Block(block)) = self.items.front() else { return Taken::default() };
        let bytes = match block.place {
            Place::Batch(index) => batch.get(index).map_or(&[][..], |datagram| datagram.bytes),
            Place::Kept(slot) => self.kept.get(slot * self.shape.frame_bytes..).unwrap_or(&[]),
        };
        let end = block.at + samples.min(block.samples) as usize * self.shape.sample_bytes;
        put(bytes.get(block.at..end).unwrap_or(&[]));
        let arrived = block.arrived;
        Taken { arrived, burst_ended: self.consume(samples) }
    }

    /// Takes `samples` off the head block, at most what it has. `true`: that was the end of it and of a burst.
    #[inline]
    fn consume(&mut self, samples: u64) -> bool {
        let Some(Item::Block(block)) = self.items.front_mut() else { return false };
        let samples = samples.min(block.samples);
        block.tick = block.tick.saturating_add(samples * self.shape.ticks_per_sample);
        block.samples -= samples;
        block.at += samples as usize * self.shape.sample_bytes;
        if block.samples > 0 {
            // The time stamp held for those that were taken, so it does for the rest.
            block.believed = true;
            return false;
        }
        let (end, number, end_of_burst) = (block.tick, block.number, block.end_of_burst);
        self.next_tick = Some(end);
        self.next_number = number.wrapping_add(1) & self.shape.last_number;
        self.pop();
        end_of_burst
    }

    /// Drops the head.
    #[inline]
    fn pop(&mut self) {
        if let Some(Item::Block(Block { place: Place::Kept(slot), .. })) = self.items.pop_front() {
            self.free.push(slot);
        }
    }
}
