//! Decoding the convolutional code: Viterbi's algorithm on soft values.
//!
//! A state is the last eight bits, the newest highest; a step is 128 [`butterflies`]. Metrics are 16 bits and renormalised every
//! few steps: two paths that lead to one state differ by at most what eight steps can bring, 2 * 8 * 3 * 128.

use super::{Coding, ConvolutionalRate};
use crate::butterflies;
use crate::simd::vectorised;

/// A maximum-likelihood decoder for the code blocks of the standard, up to 504 bits.
///
/// ```
/// use takt_dsp::umts::{ConvolutionalRate, Viterbi, convolutional_encode};
/// let sent = [1, 0, 1, 1, 0, 1];
/// let mut coded = [0; 3 * (6 + 8)];
/// convolutional_encode(ConvolutionalRate::Third, &sent, &mut coded);
/// let mut llrs = coded.map(|bit| if bit == 0 { 20 } else { -20 });
/// llrs[3..9].fill(0); // two steps lost
/// let mut received = [0; 6];
/// Viterbi::new(ConvolutionalRate::Third).decode(&llrs, &mut received);
/// assert_eq!(received, sent);
/// ```
#[derive(Clone, Debug)]
pub struct Viterbi {
    rate: ConvolutionalRate,
    /// The signs of G0, G1, G2 on the upper branch into states 0 .. 127: 1 for an output of 0, -1 for 1, 0 for none.
    branches: Box<Branches>,
    /// For each step and state, whether the better path came from the odd predecessor.
    decisions: Box<[[u8; STATES]]>,
}

/// Z, section 4.2.2.2.
const LONGEST: usize = Coding::Convolutional(ConvolutionalRate::Third).longest_block();

const STATES: usize = 256;
const BUTTERFLIES: usize = STATES / 2;

type Metrics = [i16; STATES];
type Branches = [[i16; BUTTERFLIES]; 3];

impl Viterbi {
    /// A decoder for the code of `rate`.
    pub fn new(rate: ConvolutionalRate) -> Viterbi {
        let mut branches = Box::new([[0; BUTTERFLIES]; 3]);
        for (signs, generator) in branches.iter_mut().zip(generators(rate)) {
            *signs = butterflies::branch_signs(*generator);
        }
        Viterbi { rate, branches, decisions: vec![[0; STATES]; LONGEST + 8].into() }
    }

    /// Decodes `llrs` (positive = 0, 0 = unknown) of a block that began and ended in state 0, as
    /// [`convolutional_encode`](super::convolutional_encode) leaves it.
    ///
    /// # Panics
    /// If the block is longer than 504 bits, or `llrs` has not 2 or 3 values for each of its bits and 8 more.
    pub fn decode(&mut self, llrs: &[i8], block: &mut [u8]) {
        let (steps, outputs) = (block.len() + 8, generators(self.rate).len());
        assert!(block.len() <= LONGEST, "a code block of {} bits: {LONGEST} at most", block.len());
        assert_eq!(llrs.len(), outputs * steps, "soft values of the coded bits and the tail's");
        let mut metrics = [[0; STATES]; 2];
        metrics[0] = [UNREACHED; STATES];
        metrics[0][0] = 0;
        for (n, (llrs, decisions)) in llrs.chunks_exact(outputs).zip(&mut self.decisions).enumerate() {
            let [before, after] = &mut metrics;
            let llrs = std::array::from_fn(|i| llrs.get(i).map_or(0, |&llr| llr.into()));
            step(&self.branches, &llrs, before, after, decisions);
            if n % RENORMALISE == RENORMALISE - 1 {
                let level = after[0];
                after.iter_mut().for_each(|metric| *metric -= level);
            }
            metrics.swap(0, 1);
        }
        let mut state = 0;
        for n in (0..steps).rev() {
            if let Some(bit) = block.get_mut(n) {
                *bit = (state >> 7) as u8;
            }
            state = ((2 * state) & (STATES - 1)) | usize::from(self.decisions[n][state]);
        }
    }
}

/// Below what the best path to any state can lose in eight steps, so that no path from elsewhere than state 0 survives.
const UNREACHED: i16 = -8 * 2 * 3 * 128 - 1;

/// Steps between renormalisations: 32 of them move a metric by 12,288 at most, on top of a spread of 6,145.
const RENORMALISE: usize = 32;

vectorised!(fn step(
    branches: &Branches, llrs: &[i16; 3], before: &Metrics, after: &mut Metrics, decisions: &mut [u8; STATES],
) = step_scalar);

#[inline(always)]
fn step_scalar(
    branches: &Branches,
    llrs: &[i16; 3],
    before: &Metrics,
    after: &mut Metrics,
    decisions: &mut [u8; STATES],
) {
    butterflies::step(branches, llrs, before, after, decisions);
}

/// G0, G1 (G2) with the newest bit highest (TS 25.212 section 4.2.3.1, Figure 3).
pub(super) const fn generators(rate: ConvolutionalRate) -> &'static [u32] {
    match rate {
        ConvolutionalRate::Half => &[0o561, 0o753],
        ConvolutionalRate::Third => &[0o557, 0o663, 0o711],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umts::convolutional_encode;
    use proptest::prelude::*;

    const RATES: [ConvolutionalRate; 2] = [ConvolutionalRate::Half, ConvolutionalRate::Third];

    fn correlation(coded: &[u8], llrs: &[i8]) -> i32 {
        coded.iter().zip(llrs).map(|(&bit, &llr)| if bit == 0 { i32::from(llr) } else { -i32::from(llr) }).sum()
    }

    #[test]
    fn every_length_comes_back_from_one_decoder() {
        for rate in RATES {
            let mut decoder = Viterbi::new(rate);
            for length in 0..=504 {
                let sent: Vec<u8> = (0..length).map(|i| (i * i / 3 + length) as u8 & 1).collect();
                let mut coded = vec![0; Coding::Convolutional(rate).coded_len(length)];
                convolutional_encode(rate, &sent, &mut coded);
                for strength in [1, 127] {
                    let llrs: Vec<i8> = coded.iter().map(|&bit| if bit == 0 { strength } else { -strength }).collect();
                    let mut received = vec![7; length];
                    decoder.decode(&llrs, &mut received);
                    assert_eq!(received, sent, "{length} bits of {strength}");
                }
            }
        }
    }

    proptest! {
        /// No code word of a short block is nearer than the one decided for: all are tried.
        #[test]
        fn the_likeliest_block_is_decided_for(
            rate in prop::sample::select(&RATES[..]),
            length in 0usize..8,
            values in prop::collection::vec(any::<i8>(), 48),
        ) {
            let llrs = &values[..Coding::Convolutional(rate).coded_len(length)];
            let mut coded = vec![0; llrs.len()];
            let mut gain = |block: &[u8]| {
                convolutional_encode(rate, block, &mut coded);
                correlation(&coded, llrs)
            };
            let best = (0..1 << length).map(|word| gain(&(0..length).map(|i| word >> i & 1).collect::<Vec<u8>>())).max();
            let mut decided = vec![7; length];
            Viterbi::new(rate).decode(llrs, &mut decided);
            prop_assert_eq!(Some(gain(&decided)), best);
        }

        /// Against the same algorithm in wide numbers, a state at a time: long blocks of extremes.
        #[test]
        fn metrics_of_16_bits_decide_as_wide_ones_do(
            rate in prop::sample::select(&RATES[..]),
            length in 0usize..500,
            seed in any::<u64>(),
            extreme in any::<bool>(),
        ) {
            let mut noise = seed | 1;
            let llrs: Vec<i8> = (0..Coding::Convolutional(rate).coded_len(length)).map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let value = (noise >> 56) as i8;
                if extreme { if value < 0 { -128 } else { 127 } } else { value }
            }).collect();
            let mut decided = vec![7; length];
            Viterbi::new(rate).decode(&llrs, &mut decided);
            let mut coded = vec![0; llrs.len()];
            convolutional_encode(rate, &decided, &mut coded);
            prop_assert_eq!(correlation(&coded, &llrs), best_gain(rate, &llrs));
        }

        #[test]
        fn the_wide_step_gives_the_bits_of_the_narrow_one(
            llrs in prop::array::uniform3(-128i16..=127), seed in any::<u32>(),
        ) {
            let before: Metrics = std::array::from_fn(|s| ((s as u32).wrapping_mul(seed) >> 20) as i16);
            let viterbi = Viterbi::new(ConvolutionalRate::Third);
            let (mut wide, mut narrow) = ([[0; STATES]; 2], [[7; STATES]; 2]);
            let (mut wide_from, mut narrow_from) = ([0; STATES], [7; STATES]);
            step(&viterbi.branches, &llrs, &before, &mut wide[0], &mut wide_from);
            step_scalar(&viterbi.branches, &llrs, &before, &mut narrow[0], &mut narrow_from);
            prop_assert_eq!((wide[0], wide_from), (narrow[0], narrow_from));
        }
    }

    /// Gain of the best path from state 0 to state 0.
    fn best_gain(rate: ConvolutionalRate, llrs: &[i8]) -> i32 {
        let outputs = generators(rate);
        let steps = llrs.len() / outputs.len();
        let mut gains = vec![None; STATES];
        gains[0] = Some(0);
        for (n, llrs) in llrs.chunks(outputs.len()).enumerate() {
            let mut next = vec![None; STATES];
            for (state, gain) in gains.iter().enumerate().filter_map(|(s, gain)| gain.map(|gain| (s, gain))) {
                for bit in 0..if n + 8 < steps { 2 } else { 1 } {
                    let registers = (bit << 8 | state) as u32;
                    let coded: Vec<u8> = outputs.iter().map(|g| ((registers & g).count_ones() & 1) as u8).collect();
                    let place: &mut Option<i32> = &mut next[registers as usize >> 1];
                    *place = (*place).max(Some(gain + correlation(&coded, llrs)));
                }
            }
            gains = next;
        }
        gains[0].unwrap()
    }
}
