//! One block at a time.

use super::code::{Code, decoder};
use super::exchange::{Again, Decide, Form, Found, Route, Shape, With};
use super::pass::{Borders, Pass};
use super::row::{LANES, Row, States, rows};
use super::simd::Level;
use super::spread::Take;
use crate::{lte, umts};

/// Steps of a window, at least: shorter blocks are cut into fewer windows.
const LEAST_STEPS: usize = 48;
/// Steps of training. With 8, twice as many blocks are wrong after 4 iterations; with 32, as many as with 24.
const TRAINING: usize = 24;

/// The decoder of blocks of one length, one at a time: max-log-MAP on 16-bit integers, the block cut into up to 32 windows that
/// are gone through together.
///
/// Only ratios of soft values count, not their scale; best is a mean magnitude of 10 to 30. Bits depend on the soft values and
/// the number of iterations alone. Nothing is allocated after it was built; the time of an iteration does not depend on the
/// values.
///
/// ```
/// use takt_dsp::{crc::Crc, turbo::Decoder, umts};
/// let (mut block, mut coded) = (vec![0; 3856], vec![0; 11_580]);
/// umts::crc_attach(Crc::Crc16, &[1; 3840], &mut block);
/// umts::TurboEncoder::new(3856)?.encode(&block, &mut coded);
/// let received: Vec<i8> = coded.iter().map(|&bit| if bit == 0 { 20 } else { -20 }).collect();
///
/// let (mut decoder, mut decided) = (Decoder::umts(3856)?, vec![0; 3856]);
/// let used = decoder.decode_until(&received, 8, &mut decided, |block| umts::crc_check(Crc::Crc16, block));
/// assert_eq!((used, &decided), (Some(1), &block));
/// # Ok::<_, umts::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    code: Code,
    block_bits: usize,
    level: Level,
    shape: Shape,
    /// To the interleaved block, and back.
    routes: [Route; 2],
    /// Streams, from where their windows go to their lanes.
    room: Box<[i8]>,
    /// The received LLRs: systematic, and the parity of each encoder.
    received: [Box<[Row]>; 3],
    /// Inputs of the decoders beside the parities.
    x: [Box<[Row]>; 2],
    /// The systematic LLRs with what the first decoder passed on.
    with_first: Box<[Row]>,
    /// Findings of the second, in the order of its block and in that of the first.
    second: [Box<[Row]>; 2],
    kept: Box<[States]>,
    borders: [Borders; 2],
    words: Box<[u32]>,
}

decoder!(Decoder);

impl Decoder {
    fn new(code: Code, pi: Vec<u16>) -> Decoder {
        let windows = 1 << (pi.len() / LEAST_STEPS).clamp(1, LANES).ilog2();
        let steps = pi.len().div_ceil(windows);
        let shape = Shape { windows, steps, unused: windows * steps - pi.len() };
        let routes = Route::both(&pi, shape);
        Decoder {
            code,
            block_bits: pi.len(),
            level: Level::best(),
            shape,
            room: vec![0; 3 * windows * steps].into(),
            received: std::array::from_fn(|_| rows(steps)),
            x: [rows(steps), routes[0].room(steps)],
            with_first: rows(steps),
            second: [rows(steps), routes[1].room(steps)],
            kept: vec![[Row::ZERO; 8]; steps / 2 + 2].into(),
            borders: [Borders::NEW; 2],
            words: vec![0; steps].into(),
            routes,
        }
    }

    /// K.
    pub fn block_len(&self) -> usize {
        self.block_bits
    }

    /// Decides on a block after `iterations`, each of which runs both constituent decoders; at least one is made.
    ///
    /// `llrs`: 3 K + 12, positive for 0, as the encoder of the standard orders them ([`umts::TurboEncoder`],
    /// [`lte::TurboEncoder`]). `decided`: K bits.
    ///
    /// # Panics
    /// If either is not of that length.
    pub fn decode(&mut self, llrs: &[i8], iterations: usize, decided: &mut [u8]) {
        self.take(llrs);
        for n in 0..iterations.max(1) {
            self.iterate(n);
        }
        self.decide(decided);
    }

    /// The same, but after each iteration `accept` is asked whether the bits will do, which a CRC tells. Answers after how many
    /// iterations they did, or `None`; `decided` is what was decided last.
    ///
    /// # Panics
    /// If either slice is not of its length.
    pub fn decode_until(
        &mut self,
        llrs: &[i8],
        iterations: usize,
        decided: &mut [u8],
        mut accept: impl FnMut(&[u8]) -> bool,
    ) -> Option<usize> {
        self.take(llrs);
        (0..iterations.max(1)).find_map(|n| {
            self.iterate(n);
            self.decide(decided);
            accept(decided).then_some(n + 1)
        })
    }

    /// Starts on a block.
    fn take(&mut self, llrs: &[i8]) {
        assert_eq!(llrs.len(), self.coded_len(), "the coded block is of the length that the decoder was made for");
        let Decoder { code, shape, room, received: rows, .. } = self;
        self.level.run(Take { code: *code, shape: *shape, coded: llrs, room, rows });
        for (which, borders) in self.borders.iter_mut().enumerate() {
            borders.start(self.code.tail(self.block_bits, which).map(|(x, p)| (llrs[x], llrs[p])));
        }
    }

    /// An iteration: each constituent decoder once.
    fn iterate(&mut self, n: usize) {
        let [systematic, first, second] = &self.received;
        let [x, interleaved] = &mut self.x;
        let [found, found_back] = &mut self.second;
        let Shape { windows, steps, unused } = self.shape;
        let [forth, back] = &self.routes;
        let [borders, borders_interleaved] = &mut self.borders;
        if n > 0 {
            self.level.run(Again { systematic, found: found_back, x });
        }
        let kept = &mut self.kept;
        let (form, output, carried) = (With(systematic), &mut self.with_first, &mut *interleaved);
        let (x, p) = (if n > 0 { x } else { systematic }, first);
        let training = TRAINING;
        let pass = Pass { x, p, form, output, carry: (), carried, kept, borders, windows, unused, training };
        run(self.level, forth, pass);
        let (form, output, carried) = (Found, found, found_back);
        let (x, p, borders) = (&interleaved[..steps], second, borders_interleaved);
        let pass = Pass { x, p, form, output, carry: (), carried, kept, borders, windows, unused, training };
        run(self.level, back, pass);
    }

    /// Joint decision of both constituent decoders.
    fn decide(&mut self, decided: &mut [u8]) {
        assert_eq!(decided.len(), self.block_bits, "room for the bits of a block");
        self.level.run(Decide {
            shape: self.shape,
            with_first: &self.with_first,
            found: &self.second[1],
            words: &mut self.words,
            decided,
        });
    }
}

/// A pass whose results take `route`.
fn run<F: Form>(level: Level, route: &Route, pass: Pass<'_, (), F>) {
    match route {
        Route::Rows(rows) => level.run(pass.carried_by(rows)),
        Route::Cells(cells) => level.run(pass.carried_by(cells)),
    }
}
