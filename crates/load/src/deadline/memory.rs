//! Memory that the processes share: a few cells, each with a subframe and all that becomes of it.
//!
//! A cell is written by one process at a time: by the interface while it is free, then by the physical layer, then by the
//! higher layer, then read by the interface, which frees it. Turns are handed over by a byte in a pipe and by the cell's
//! state, which is written last (release) and read first (acquire). Everything else is relaxed: words, never references.
//!
//! While the interface still fills a cell, the physical layer may read what is filled: the count of samples is written after
//! them (release) and read before them (acquire), and only grows. If the rest of a subframe is lost, the interface takes the
//! cell back without asking: a layer that still reads it reads nonsense at worst, and never finds that subframe whole.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use num_complex::Complex;
use takt_base::Complex32;
use takt_dsp::tdscdma::{ANSWER_SAMPLES, BlockAnswer, SAMPLES};
use takt_runtime::isolated::Map;
use takt_wire::sample::full_scale;

/// Subframes that may be on their way at once: 20 ms.
const CELLS: u64 = 4;
/// Payload bits a word.
const BITS: usize = 64;

/// Words of a cell that are instants of this host, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    InKernel = 1,
    Complete,
    Posted,
    PhysicalWoke,
    PhysicalDone,
    HigherWoke,
    HigherDone,
}

const ANSWER: usize = 10;
const BLOCK_GOOD: usize = 11;
const FILLED: usize = 12;
const HALTED: usize = 13;
const PAYLOAD: Range<usize> = 16..48;
const BLOCK: Range<usize> = 64..64 + SAMPLES / 2;
const BURST: usize = ANSWER_SAMPLES / 2;
const ACK: Range<usize> = BLOCK.end..BLOCK.end + BURST;
const NACK: Range<usize> = ACK.end..ACK.end + BURST;
const CELL_WORDS: usize = NACK.end.next_multiple_of(16);

#[derive(Debug)]
pub(super) struct Cells(Map);

#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a>(&'a [AtomicU64]);

impl Cells {
    pub(super) fn create() -> io::Result<(Cells, OwnedFd)> {
        let (map, file) = Map::create(CELLS as usize * CELL_WORDS)?;
        Ok((Cells(map), file))
    }

    /// Opens cells that another process created, by the path of its descriptor.
    pub(super) fn open(path: &Path) -> io::Result<Cells> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        let map = Map::of(&file)?;
        if map.len() < CELLS as usize * CELL_WORDS {
            return Err(io::Error::other("shared memory of another size"));
        }
        Ok(Cells(map))
    }

    pub(super) fn of(&self, number: u64) -> Cell<'_> {
        let start = (number % CELLS) as usize * CELL_WORDS;
        // `create` and `open` make sure that all cells are there.
        Cell(self.0.get(start..start + CELL_WORDS).unwrap_or_default())
    }
}

impl Cell<'_> {
    fn get(self, at: usize) -> u64 {
        self.0.get(at).map_or(0, |word| word.load(Relaxed))
    }

    fn put(self, at: usize, value: u64) {
        if let Some(word) = self.0.get(at) {
            word.store(value, Relaxed);
        }
    }

    pub(super) fn is_free(self) -> bool {
        self.0.first().is_some_and(|state| state.load(Acquire) == 0)
    }

    pub(super) fn holds(self, number: u64) -> bool {
        self.0.first().is_some_and(|state| state.load(Acquire) == number + 1)
    }

    /// Begins to put subframe `number` into it.
    pub(super) fn claim(self, number: u64) {
        self.fill_to(0);
        self.put(HALTED, 0);
        self.hand_on(number);
    }

    /// So many samples of the subframe are in it.
    pub(super) fn fill_to(self, samples: usize) {
        if let Some(filled) = self.0.get(FILLED) {
            filled.store(samples as u64, Release);
        }
    }

    /// How many samples of the subframe are in it; never more than there are.
    pub(super) fn filled(self) -> usize {
        self.0.get(FILLED).map_or(0, |filled| filled.load(Acquire)).min(SAMPLES as u64) as usize
    }

    /// Hands it on, with subframe `number` in it.
    pub(super) fn hand_on(self, number: u64) {
        if let Some(state) = self.0.first() {
            state.store(number + 1, Release);
        }
    }

    pub(super) fn free(self) {
        if let Some(state) = self.0.first() {
            state.store(0, Release);
        }
    }

    pub(super) fn stamp(self, at: At, ns: i64) {
        self.put(at as usize, ns.cast_unsigned());
    }

    /// All instants, in the order of [`At`].
    pub(super) fn stamps(self) -> [i64; 7] {
        std::array::from_fn(|n| self.get(At::InKernel as usize + n).cast_signed())
    }

    /// Adds to the time for which the cores that worked on it stood still meanwhile.
    pub(super) fn add_halted(self, halted: Duration) {
        self.put(HALTED, self.get(HALTED).saturating_add(halted.as_nanos() as u64));
    }

    pub(super) fn halted(self) -> Duration {
        Duration::from_nanos(self.get(HALTED))
    }

    pub(super) fn decide(self, answer: BlockAnswer) {
        self.put(ANSWER, u64::from(answer == BlockAnswer::Ack));
    }

    pub(super) fn decided(self) -> BlockAnswer {
        if self.get(ANSWER) == 1 { BlockAnswer::Ack } else { BlockAnswer::Nack }
    }

    /// Notes what the CRC says of the block.
    pub(super) fn put_good(self, good: bool) {
        self.put(BLOCK_GOOD, u64::from(good));
    }

    pub(super) fn is_good(self) -> bool {
        self.get(BLOCK_GOOD) == 1
    }

    pub(super) fn put_payload(self, bits: &[u8]) {
        for (at, bits) in PAYLOAD.zip(bits.chunks(BITS)) {
            self.put(at, bits.iter().rev().fold(0, |word, &bit| (word << 1) | u64::from(bit & 1)));
        }
    }

    pub(super) fn payload(self, bits: &mut [u8]) {
        for (at, bits) in PAYLOAD.zip(bits.chunks_mut(BITS)) {
            let word = self.get(at);
            bits.iter_mut().enumerate().for_each(|(n, bit)| *bit = ((word >> n) & 1) as u8);
        }
    }

    /// Samples from the place `first` on, which is even.
    pub(super) fn put_block(self, first: usize, samples: &[Complex<i16>]) {
        for (at, pair) in BLOCK.skip(first / 2).zip(samples.chunks(2)) {
            self.put(at, pack(pair));
        }
    }

    /// The samples from the place `first` on, which is even; full scale 1.
    pub(super) fn block(self, first: usize, samples: &mut [Complex32]) {
        let one = 1.0 / full_scale::SC16;
        for (at, pair) in BLOCK.skip(first / 2).zip(samples.chunks_mut(2)) {
            for (sample, raw) in pair.iter_mut().zip(unpack(self.get(at))) {
                *sample = Complex32::new(f32::from(raw.re) * one, f32::from(raw.im) * one);
            }
        }
    }

    pub(super) fn put_burst(self, answer: BlockAnswer, samples: &[Complex<i16>]) {
        for (at, pair) in burst(answer).zip(samples.chunks(2)) {
            self.put(at, pack(pair));
        }
    }

    pub(super) fn burst(self, answer: BlockAnswer, samples: &mut [Complex<i16>]) {
        for (at, pair) in burst(answer).zip(samples.chunks_mut(2)) {
            pair.iter_mut().zip(unpack(self.get(at))).for_each(|(sample, raw)| *sample = raw);
        }
    }
}

fn burst(answer: BlockAnswer) -> Range<usize> {
    if answer == BlockAnswer::Ack { ACK } else { NACK }
}

fn pack(pair: &[Complex<i16>]) -> u64 {
    let word =
        |sample: &Complex<i16>| u64::from(sample.re.cast_unsigned()) | (u64::from(sample.im.cast_unsigned()) << 16);
    pair.iter().rev().fold(0, |packed, sample| (packed << 32) | word(sample))
}

fn unpack(word: u64) -> [Complex<i16>; 2] {
    let half = |at: u32| ((word >> at) as u16).cast_signed();
    [Complex::new(half(0), half(16)), Complex::new(half(32), half(48))]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn integer(part: f32) -> i16 {
        (part * full_scale::SC16).round() as i16
    }

    #[test]
    fn a_cell_changes_hands_and_holds_one_subframe_at_a_time() {
        let (cells, file) = Cells::create().unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        let other = Cells::open(Path::new(&path)).unwrap();
        assert!(cells.of(9).is_free());
        cells.of(9).stamp(At::HigherDone, -5);
        cells.of(9).claim(9);
        cells.of(9).add_halted(Duration::from_nanos(40));
        other.of(9).add_halted(Duration::from_nanos(2));
        assert_eq!(cells.of(9).halted(), Duration::from_nanos(42));
        assert!(other.of(9).holds(9) && !other.of(13).holds(13) && !other.of(9).is_free());
        assert_eq!(other.of(9).stamps()[6], -5);
        other.of(9).free();
        assert!(cells.of(13).is_free());
        cells.of(13).claim(13);
        assert_eq!(cells.of(13).halted(), Duration::ZERO, "another subframe's");
        assert!(Cells::open(Path::new("/dev/null")).is_err());
    }

    #[test]
    fn what_is_filled_can_be_read_before_the_rest_is_there() {
        let (cells, _file) = Cells::create().unwrap();
        let cell = cells.of(3);
        let samples: Vec<Complex<i16>> = (0..SAMPLES as i16).map(|n| Complex::new(n, -n)).collect();
        cell.claim(3);
        assert!(cell.holds(3) && cell.filled() == 0);
        let mut out = vec![Complex32::default(); SAMPLES];
        for part in [0..3750, 3750..5500, 5500..SAMPLES] {
            cell.put_block(part.start, &samples[part.clone()]);
            cell.fill_to(part.end);
            cell.block(part.start, &mut out[part.clone()]);
            assert_eq!(cell.filled(), part.end);
        }
        let back: Vec<i16> = out.iter().map(|x| integer(x.re)).collect();
        assert_eq!(back, (0..SAMPLES as i16).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn what_is_put_in_comes_out(raw in proptest::collection::vec(any::<(i16, i16)>(), SAMPLES),
                                    bits in proptest::collection::vec(0_u8..2, 1..1873)) {
            let (cells, _file) = Cells::create().unwrap();
            let cell = cells.of(0);
            let samples: Vec<Complex<i16>> = raw.iter().map(|&(re, im)| Complex::new(re, im)).collect();
            cell.put_block(0, &samples);
            cell.put_payload(&bits);
            let mut out = vec![Complex32::default(); SAMPLES];
            cell.block(0, &mut out);
            for (x, raw) in out.iter().zip(&samples) {
                prop_assert_eq!((integer(x.re), integer(x.im)), (raw.re, raw.im));
            }
            let mut again = vec![2; bits.len()];
            cell.payload(&mut again);
            prop_assert_eq!(again, bits);
            cell.put_burst(BlockAnswer::Ack, &samples[..ANSWER_SAMPLES]);
            cell.put_burst(BlockAnswer::Nack, &[Complex::new(0, 0); ANSWER_SAMPLES]);
            let mut sent = vec![Complex::new(1, 1); ANSWER_SAMPLES];
            cell.burst(BlockAnswer::Ack, &mut sent);
            prop_assert_eq!(&sent[..], &samples[..ANSWER_SAMPLES]);
            cell.burst(BlockAnswer::Nack, &mut sent);
            prop_assert!(sent.iter().all(|x| *x == Complex::new(0, 0)));
        }
    }
}
