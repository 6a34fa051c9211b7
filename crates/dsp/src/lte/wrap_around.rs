//! Decoding the tail-biting convolutional code: Viterbi's algorithm, some turns round the block.
//!
//! Each turn begins with the metrics that the one before left, so that its beginning knows the end. Its end does not know the
//! beginning: the state in which the best path ends is often wrong, the one in which that path began hardly ever. So the path
//! that ends in that state is the answer, if it begins there too. Metrics are 16 bits, renormalised every few steps: two paths
//! into one state differ by at most what six steps can bring, 2 * 6 * 3 * 128.

use super::tail_biting::{GENERATORS, MEMORY};
use crate::butterflies;
use crate::simd::vectorised;

const STATES: usize = 1 << MEMORY;
const BUTTERFLIES: usize = STATES / 2;

type Metrics = [i16; STATES];
type Signs = [[i16; BUTTERFLIES]; 3];

/// Turns at most, and paths of a turn that are followed back. More change nothing that a measurement shows.
const TURNS: usize = 3;
const PATHS: usize = 3;

/// Steps between renormalisations: 32 of them move a metric by 12,288 at most, on top of a spread of 4,608.
const RENORMALISE: usize = 32;

/// A decoder for [`tail_biting_encode`](super::tail_biting_encode).
#[derive(Clone, Debug)]
pub struct TailBitingDecoder {
    signs: Box<Signs>,
    /// For each step and state, whether the better path came from the odd predecessor.
    decisions: Box<[[u8; STATES]]>,
}

impl TailBitingDecoder {
    /// For blocks of up to `longest` bits.
    pub fn new(longest: usize) -> TailBitingDecoder {
        let signs = Box::new(GENERATORS.map(butterflies::branch_signs));
        TailBitingDecoder { signs, decisions: vec![[0; STATES]; longest].into() }
    }

    /// Decodes the soft values of the three streams, one after the other. Says whether the path found ends where it began; the
    /// block is a guess if not.
    ///
    /// # Panics
    /// If the block is longer than the decoder was made for, or `coded` not three times as long.
    pub fn decode(&mut self, coded: &[i8], block: &mut [u8]) -> bool {
        assert!(block.len() <= self.decisions.len(), "a block of {} bits: too long", block.len());
        assert_eq!(coded.len(), 3 * block.len(), "soft values of three streams");
        let mut metrics = [0; STATES];
        (0..TURNS).any(|turn| {
            self.turn(coded, block.len(), &mut metrics);
            let mut end = (0..STATES).max_by_key(|&state| metrics[state]).unwrap_or(0);
            // The first turn's beginning knows nothing: only the best path of all counts there.
            (0..if turn == 0 { 1 } else { PATHS }).any(|_| {
                let begin = self.trace(end, block);
                std::mem::replace(&mut end, begin) == begin
            })
        })
    }

    /// Goes once round the block.
    fn turn(&mut self, coded: &[i8], steps: usize, metrics: &mut Metrics) {
        let (mut before, mut after) = (*metrics, [0; STATES]);
        for (n, decisions) in self.decisions[..steps].iter_mut().enumerate() {
            if n % RENORMALISE == 0 {
                let level = before[0];
                before.iter_mut().for_each(|metric| *metric -= level);
            }
            let llrs = std::array::from_fn(|stream| coded[stream * steps + n].into());
            step(&self.signs, &llrs, &before, &mut after, decisions);
            std::mem::swap(&mut before, &mut after);
        }
        *metrics = before;
    }

    /// Follows the decisions back from a last state, and says the first.
    fn trace(&self, last: usize, block: &mut [u8]) -> usize {
        let steps = block.iter_mut().zip(&self.decisions).rev();
        steps.fold(last, |state, (bit, decisions)| {
            *bit = (state >> (MEMORY - 1)) as u8;
            ((2 * state) & (STATES - 1)) | usize::from(decisions[state])
        })
    }
}

vectorised!(fn step(
    signs: &Signs, llrs: &[i16; 3], before: &Metrics, after: &mut Metrics, decisions: &mut [u8; STATES],
) = step_scalar);

#[inline(always)]
fn step_scalar(signs: &Signs, llrs: &[i16; 3], before: &Metrics, after: &mut Metrics, decisions: &mut [u8; STATES]) {
    butterflies::step(signs, llrs, before, after, decisions);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::tail_biting_encode;
    use num_complex::Complex32;
    use proptest::prelude::*;
    use takt_base::Tick;

    fn encoded(block: &[u8]) -> Vec<u8> {
        let mut coded = vec![0; 3 * block.len()];
        tail_biting_encode(block, &mut coded);
        coded
    }

    fn correlation(block: &[u8], llrs: &[i8]) -> i32 {
        encoded(block)
            .iter()
            .zip(llrs)
            .map(|(&bit, &llr)| if bit == 0 { i32::from(llr) } else { -i32::from(llr) })
            .sum()
    }

    fn decided(llrs: &[i8]) -> (Vec<u8>, bool) {
        let mut block = vec![7; llrs.len() / 3];
        let joined = TailBitingDecoder::new(block.len()).decode(llrs, &mut block);
        (block, joined)
    }

    /// Gain of the likeliest code word: for each state, the best path from it and back to it.
    fn best_gain(llrs: &[i8]) -> i32 {
        let steps = llrs.len() / 3;
        let sign =
            |registers: usize, stream: usize| 1 - 2 * ((registers as u32 & GENERATORS[stream]).count_ones() & 1) as i32;
        let from = |first: usize| {
            let mut gains = [i32::MIN / 2; STATES];
            gains[first] = 0;
            for k in 0..steps {
                let came = |state: usize, oldest: usize| {
                    let registers = 2 * state + oldest;
                    let gain = (0..3).map(|stream| sign(registers, stream) * i32::from(llrs[stream * steps + k]));
                    gains[registers % STATES] + gain.sum::<i32>()
                };
                gains = std::array::from_fn(|state| came(state, 0).max(came(state, 1)));
            }
            gains[first]
        };
        (0..STATES).map(from).max().unwrap_or(0)
    }

    /// At a rate of noise at which a good decoder errs in one block of ten.
    #[test]
    fn nearly_every_block_in_noise_is_the_likeliest_one() {
        const BLOCKS: usize = 300;
        let mut noise = vec![Complex32::default(); BLOCKS * 60];
        crate::noise(3, 2.0, Tick(0), 1, &mut noise);
        let (mut wrong, mut worse) = (0, 0);
        for (n, noise) in noise.chunks(60).enumerate() {
            let sent: Vec<u8> = (0..40).map(|i| (((n + 3) * (i + 1) * (i + 5) / 7) & 1) as u8).collect();
            let levels = noise.iter().flat_map(|value| [value.re, value.im]);
            let llrs: Vec<i8> = encoded(&sent)
                .iter()
                .zip(levels)
                .map(|(&bit, x)| (20.0 * (0.9 * (1.0 - 2.0 * f32::from(bit)) + x)) as i8)
                .collect();
            let (block, _) = decided(&llrs);
            wrong += u32::from(block != sent);
            worse += u32::from(correlation(&block, &llrs) < best_gain(&llrs));
        }
        assert!(wrong < 60 && worse < 10, "{wrong} blocks wrong, {worse} not the likeliest, of {BLOCKS}");
    }

    proptest! {
        #[test]
        fn every_block_comes_back(block in prop::collection::vec(0u8..2, 6..600), strength in 1i8..=127) {
            let llrs: Vec<i8> = encoded(&block).iter().map(|&bit| if bit == 0 { strength } else { -strength }).collect();
            prop_assert_eq!(decided(&llrs), (block, true));
        }

        #[test]
        fn any_soft_values_decode_to_bits(values in prop::collection::vec(prop::sample::select(&[-128i8, 127, 0, 1][..]), 18..1500)) {
            let (block, _) = decided(&values[..values.len() / 3 * 3]);
            prop_assert!(block.iter().all(|&bit| bit < 2));
        }

        #[test]
        fn the_wide_step_gives_the_bits_of_the_narrow_one(llrs in prop::array::uniform3(-128i16..=127), seed in any::<u32>()) {
            let before: Metrics = std::array::from_fn(|s| ((s as u32).wrapping_mul(seed) >> 20) as i16);
            let signs = TailBitingDecoder::new(6).signs;
            let (mut wide, mut narrow) = ([[0; STATES]; 2], [[7; STATES]; 2]);
            let (mut wide_from, mut narrow_from) = ([0; STATES], [7; STATES]);
            step(&signs, &llrs, &before, &mut wide[0], &mut wide_from);
            step_scalar(&signs, &llrs, &before, &mut narrow[0], &mut narrow_from);
            prop_assert_eq!((wide[0], wide_from), (narrow[0], narrow_from));
        }
    }
}
