//! Many blocks at once.
mod lanes;
mod pass;
mod quantise;
mod trellis;

pub(super) use lanes::{ByteLanes, OfBytes};
#[cfg(test)]
pub(super) use pass::passed_on;

use super::code::{Code, decoder};
use super::lanes::{Lanes, Task};
use super::row::{Row, rows};
use super::simd::Level;
use super::spread::{TILE, transposed};
use crate::{lte, umts};
use pass::{Borders, InOrder, Interleaved, Pass, Room, Tails};
use quantise::Take;

/// The decoder of blocks of one length, many at a time: max-log-MAP on bytes, a lane for each block. So 64 are decoded in the time
/// of one with AVX-512, 32 with AVX2, 16 without.
///
/// Faster than [`Decoder`](super::Decoder) when there are enough blocks, and as good but for some 0.02 to 0.05 dB. Soft values
/// are scaled block by block, so only their ratios count. A block's bits depend on its own soft values and the number of
/// iterations alone, not on the blocks beside it. Nothing is allocated after it was built.
///
/// ```
/// use takt_dsp::{turbo::BatchDecoder, umts};
/// let mut decoder = BatchDecoder::umts(40)?;
/// let received = [20; 3 * 132]; // three blocks of zeros
/// let mut decided = [7; 3 * 40];
/// decoder.decode(&received, 4, &mut decided);
/// assert_eq!(decided, [0; 3 * 40]);
/// # Ok::<_, umts::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchDecoder {
    code: Code,
    level: Level,
    pi: Box<[u16]>,
    /// Room for [`TILE`] coded blocks.
    scaled: Box<[[i8; TILE]]>,
    /// Systematic LLRs, and with what the last decoder passed on.
    soft: Box<[[Row; 2]]>,
    /// Parities of the first decoder, of the second, and tails.
    parities: Box<[Row]>,
    /// Soft values of both decoders together.
    llrs: Box<[Row]>,
    room: Room,
    borders: [Borders; 2],
}

decoder!(BatchDecoder);

impl BatchDecoder {
    fn new(code: Code, pi: Vec<u16>) -> BatchDecoder {
        let bits = pi.len();
        let tiles = bits.div_ceil(TILE);
        BatchDecoder {
            code,
            level: Level::best(),
            pi: pi.into(),
            scaled: vec![[0; TILE]; TILE * (3 * tiles + 1)].into(),
            soft: vec![[Row::ZERO; 2]; tiles * TILE].into(),
            parities: rows((2 * tiles + 1) * TILE),
            llrs: rows(bits),
            room: Room::new(),
            borders: std::array::from_fn(|_| Borders::new(bits)),
        }
    }

    /// K.
    pub fn block_len(&self) -> usize {
        self.pi.len()
    }

    /// Decides on any number of blocks after `iterations`, each of which runs both constituent decoders; at least one is made.
    ///
    /// `llrs`: blocks of 3 K + 12, one after the other, positive for 0, as the encoder of the standard orders them. `decided`: as
    /// many blocks of K bits.
    ///
    /// # Panics
    /// If `llrs` is not a number of blocks, or `decided` not the same number.
    pub fn decode(&mut self, llrs: &[i8], iterations: usize, decided: &mut [u8]) {
        self.each_batch(llrs, decided, |decoder, level, _, llrs, decided| {
            decoder.take(level, llrs);
            for _ in 1..iterations {
                decoder.iterate::<false>(level);
            }
            decoder.iterate::<true>(level);
            decoder.decide(level, decided, |_| true);
        });
    }

    /// The same, but after each iteration `accept` is asked about every block whether its bits will do, with the number of the
    /// block from 0, until they do. When they do for all blocks that are decoded together, no further iteration is made. Answers
    /// whether they did for all.
    ///
    /// # Panics
    /// If a slice is not of its length.
    pub fn decode_until(
        &mut self,
        llrs: &[i8],
        iterations: usize,
        decided: &mut [u8],
        mut accept: impl FnMut(usize, &[u8]) -> bool,
    ) -> bool {
        let (bits, mut all) = (self.block_len(), true);
        self.each_batch(llrs, decided, |decoder, level, first, llrs, decided| {
            decoder.take(level, llrs);
            let mut open = u64::MAX >> (64 - decided.len() / bits);
            for _ in 0..iterations.max(1) {
                decoder.iterate::<true>(level);
                decoder.decide(level, decided, |i| open >> i & 1 == 1);
                for (i, block) in decided.chunks(bits).enumerate() {
                    if open >> i & 1 == 1 && accept(first + i, block) {
                        open ^= 1 << i;
                    }
                }
                if open == 0 {
                    break;
                }
            }
            all &= open == 0;
        });
        all
    }

    /// Calls `decode` with what is decoded together, the instructions for it, and the number of its first block.
    fn each_batch(
        &mut self,
        llrs: &[i8],
        decided: &mut [u8],
        mut decode: impl FnMut(&mut BatchDecoder, Level, usize, &[i8], &mut [u8]),
    ) {
        let (coded_len, bits) = (self.coded_len(), self.block_len());
        let blocks = llrs.len() / coded_len;
        assert_eq!(llrs.len(), blocks * coded_len, "coded blocks are of the length that the decoder was made for");
        assert_eq!(decided.len(), blocks * bits, "room for the bits of the blocks");
        let mut first = 0;
        while first < blocks {
            let level = self.level.for_blocks(blocks - first);
            let end = blocks.min(first + level.blocks());
            decode(
                self,
                level,
                first,
                &llrs[first * coded_len..end * coded_len],
                &mut decided[first * bits..end * bits],
            );
            first = end;
        }
    }

    /// Starts on as many blocks as `level` decodes at once, at most.
    fn take(&mut self, level: Level, llrs: &[i8]) {
        let (bits, coded_len) = (self.pi.len(), self.coded_len());
        let BatchDecoder { code, scaled, soft, parities, borders, .. } = self;
        for (n, coded) in llrs.chunks(TILE * coded_len).enumerate() {
            level.run(Take { code: *code, bits, coded, scaled, soft, parities, first: n * TILE });
        }
        borders.iter_mut().for_each(Borders::clear);
        let ends = borders.each_mut().map(|borders| &mut borders.end);
        level.run(Tails { parities, skip: 2 * bits.next_multiple_of(TILE), ends });
    }

    /// An iteration: each constituent decoder once. The second one `DECIDES`.
    fn iterate<const DECIDES: bool>(&mut self, level: Level) {
        let BatchDecoder { pi, soft, room, llrs, parities, borders: [first, second], .. } = self;
        let (steps, skip) = (pi.len(), pi.len().next_multiple_of(TILE));
        let (order, borders) = (InOrder(0), first);
        level.run(Pass::<_, false> { order, steps, parities, skip: 0, soft, llrs, room, borders });
        let (order, borders) = (Interleaved(pi), second);
        level.run(Pass::<_, DECIDES> { order, steps, parities, skip, soft, llrs, room, borders });
    }

    /// The bits of each block that is `open`.
    fn decide(&self, level: Level, decided: &mut [u8], open: impl Fn(usize) -> bool) {
        level.run(Decide { llrs: &self.llrs, bits: self.pi.len(), decided, open });
    }
}

/// The bits of each block from LLRs, a row a bit.
struct Decide<'a, F> {
    llrs: &'a [Row],
    bits: usize,
    decided: &'a mut [u8],
    open: F,
}

impl<F: Fn(usize) -> bool> Task for Decide<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (llrs, pitch): (&[[i8; TILE]], _) = (bytemuck::cast_slice(self.llrs), L::Bytes::BLOCKS / TILE);
        for (column, blocks) in self.decided.chunks_mut(TILE * self.bits).enumerate() {
            for t in (0..self.bits).step_by(TILE) {
                // The last tile overlaps its neighbour.
                let t = t.min(self.bits - TILE);
                let rows = &llrs[pitch * t..][..pitch * TILE];
                let lines = transposed(l, rows[column % pitch..].iter().step_by(pitch));
                for (i, (block, line)) in blocks.chunks_exact_mut(self.bits).zip(lines).enumerate() {
                    let llrs: [i8; TILE] = bytemuck::cast(line);
                    if (self.open)(column * TILE + i) {
                        *block[t..].first_chunk_mut().unwrap() = llrs.map(|llr| llr.cast_unsigned() >> 7);
                    }
                }
            }
        }
    }
}
