//! A burst: two data fields around a midamble, TS 25.221 section 5A.2.2.

use num_complex::Complex32;

use super::Cell;
use super::channel::{Channel, EARLY, Estimator, TAPS};
use super::codes::{SPREADING, Symbols, despread, spread};
use super::layout::{DATA_CHIPS, MIDAMBLE_CHIPS, SLOT_CHIPS};
use super::parts::Parts;
use crate::simd::vectorised;

/// Symbols of a code in a burst.
pub(super) const SYMBOLS: usize = 2 * DATA_CHIPS / SPREADING;

/// Bits of a code in a burst.
pub(super) const CODE_BITS: usize = 2 * SYMBOLS;

/// Chips of both data fields.
const DATA: usize = 2 * DATA_CHIPS;

/// Start of the second data field.
const SECOND: usize = DATA_CHIPS + MIDAMBLE_CHIPS;

/// Writes bursts of a cell.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    scrambling: Symbols,
    midamble: [Complex32; MIDAMBLE_CHIPS],
}

impl Writer {
    pub(super) fn new(cell: Cell) -> Writer {
        Writer { scrambling: cell.scrambling(), midamble: cell.midamble() }
    }

    /// Writes the burst whose n-th symbols are `symbols(n)`, times `gain`, to the chips of a slot.
    pub(super) fn write(&self, gain: f32, mut symbols: impl FnMut(usize) -> Symbols, slot: &mut [Complex32]) {
        let (first, rest) = slot.split_at_mut(DATA_CHIPS);
        let (midamble, rest) = rest.split_at_mut(MIDAMBLE_CHIPS);
        let (second, guard) = rest.split_at_mut(DATA_CHIPS);
        midamble.copy_from_slice(&self.midamble);
        guard.fill(0.0.into());
        let fields = first.chunks_exact_mut(SPREADING).chain(second.chunks_exact_mut(SPREADING));
        for (n, chips) in fields.enumerate() {
            let sent = spread(&symbols(n), &self.scrambling);
            chips.iter_mut().zip(sent).for_each(|(chip, sent)| *chip = gain * sent);
        }
    }
}

/// Reads bursts of a cell.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    scrambling: Symbols,
    estimator: Estimator,
    /// The slot's chips, with room for early and late paths on both sides.
    padded: Parts<{ SLOT_CHIPS + TAPS }>,
    /// The data fields, paths combined.
    combined: Parts<DATA>,
}

impl Reader {
    pub(super) fn new(cell: Cell) -> Reader {
        let (scrambling, estimator) = (cell.scrambling(), Estimator::new(cell));
        Reader { scrambling, estimator, padded: Parts::ZERO, combined: Parts::ZERO }
    }

    /// Hands the symbols of a slot's burst to `take`, in order, weighted with the power of the channel; answers the channel.
    pub(super) fn read(&mut self, slot: &[Complex32], mut take: impl FnMut(usize, &Symbols)) -> Channel {
        let channel = self.estimator.estimate(slot);
        for (i, chip) in slot.iter().enumerate() {
            (self.padded.re[EARLY + i], self.padded.im[EARLY + i]) = (chip.re, chip.im);
        }
        combine(&channel.taps, &self.padded, &mut self.combined);
        let Parts { re, im } = &self.combined;
        let symbols = re.as_chunks::<SPREADING>().0.iter().zip(im.as_chunks::<SPREADING>().0);
        for (n, (re, im)) in symbols.enumerate() {
            let chips = std::array::from_fn(|i| Complex32::new(re[i], im[i]));
            take(n, &despread(chips, &self.scrambling));
        }
        channel
    }
}

vectorised!(fn combine(
    taps: &[Complex32; TAPS], slot: &Parts<{ SLOT_CHIPS + TAPS }>, out: &mut Parts<DATA>,
) = combine_scalar);

/// `out[n]` = the sum of conj(tap t) times the chip t after n, over the chips of both data fields.
#[inline(always)]
fn combine_scalar(taps: &[Complex32; TAPS], slot: &Parts<{ SLOT_CHIPS + TAPS }>, out: &mut Parts<DATA>) {
    *out = Parts::ZERO;
    for (t, tap) in taps.iter().enumerate().filter(|(_, tap)| tap.norm_sqr() > 0.0) {
        for (field, from) in [0, SECOND].into_iter().enumerate() {
            let (xs, ys) = (&slot.re[from + t..][..DATA_CHIPS], &slot.im[from + t..][..DATA_CHIPS]);
            let (res, ims) =
                (&mut out.re[field * DATA_CHIPS..][..DATA_CHIPS], &mut out.im[field * DATA_CHIPS..][..DATA_CHIPS]);
            for (((re, im), x), y) in res.iter_mut().zip(ims).zip(xs).zip(ys) {
                *re += tap.re * x + tap.im * y;
                *im += tap.re * y - tap.im * x;
            }
        }
    }
}
