//! Gain from each of several measures, alone and together: experiments in which every combination is tried.

use serde::Serialize;

use crate::{Estimate, mean};

/// Effect of a factor, or of several together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The factors, by their numbers: one for a main effect, more for an interaction.
    pub factors: Vec<usize>,
    /// In the unit of the values. For a main effect: the mean with the factor at its second level less the mean at its
    /// first. For an interaction of two: half of what the effect of one differs by between the levels of the other; and
    /// so on for more.
    pub estimate: Estimate,
}

/// Effects of a two-level factorial design, main effects and interactions of every order.
///
/// Each block holds every combination once, so that what drifts hits all alike: value `i` of a block is of the combination in
/// which factor `f` is at its second level if bit `f` of `i` is set. A block gives one value of each effect (by F. Yates, The
/// Design and Analysis of Factorial Experiments, 1937); the interval is Student's t over blocks. The order is that of the
/// combinations' bits: A, B, AB, C, AC, BC, ABC.
///
/// `None` below two blocks, without a factor, for more than ten, for blocks that do not hold every combination, or values
/// that are not finite.
///
/// ```
/// // Misses of 100: a priority alone mends most, a cap alone little, both together no more than the priority.
/// let blocks = [[40.0, 4.0, 30.0, 4.0], [44.0, 2.0, 36.0, 2.0], [42.0, 3.0, 33.0, 3.0]];
/// let blocks: Vec<&[f64]> = blocks.iter().map(|block| &block[..]).collect();
/// let effects = takt_stats::factorial(&blocks, 2, 0.95).unwrap();
/// assert_eq!(effects[0].factors, [0]);
/// assert_eq!(effects[0].estimate.point(), -34.5);
/// assert_eq!((effects[2].factors.as_slice(), effects[2].estimate.point()), (&[0, 1][..], 4.5));
/// ```
pub fn factorial(blocks: &[&[f64]], factors: usize, level: f64) -> Option<Vec<Effect>> {
    let combinations = 1_usize.checked_shl(u32::try_from(factors).ok()?).filter(|_| (1..=10).contains(&factors))?;
    if blocks.iter().any(|block| block.len() != combinations) {
        return None;
    }
    let of_blocks: Vec<Vec<f64>> = blocks.iter().map(|block| contrasts(block)).collect();
    let effect = |bits: usize| {
        let values: Vec<f64> = of_blocks.iter().filter_map(|contrasts| contrasts.get(bits)).copied().collect();
        let factors = (0..factors).filter(|factor| bits >> factor & 1 == 1).collect();
        Some(Effect { factors, estimate: mean(&values, level)? })
    };
    (1..combinations).map(effect).collect()
}

/// Yates' algorithm: as many passes as factors, each of sums and differences of neighbours.
fn contrasts(block: &[f64]) -> Vec<f64> {
    let mut values = block.to_vec();
    let mut passes = block.len();
    while passes > 1 {
        let sums = values.chunks_exact(2).map(|pair| pair.iter().sum::<f64>());
        let differences =
            values.chunks_exact(2).map(|pair| pair.iter().rev().copied().reduce(|b, a| b - a).unwrap_or(0.0));
        values = sums.chain(differences).collect();
        passes /= 2;
    }
    let half = block.len() as f64 / 2.0;
    values.iter().map(|value| value / half).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition: an effect is the difference of two such effects, one for each level of the next factor, halved.
    fn by_definition(block: &[f64], factors: &[usize], fixed: usize, free: usize) -> f64 {
        match factors {
            [] => {
                let of = |i: &usize| i & !free == fixed & !free;
                let values: Vec<f64> = (0..block.len()).filter(of).map(|i| block[i]).collect();
                values.iter().sum::<f64>() / values.len() as f64
            }
            [first, rest @ ..] => {
                let bit = 1 << first;
                let at = |fixed: usize| by_definition(block, rest, fixed, free & !bit);
                let difference = at(fixed | bit) - at(fixed & !bit);
                if rest.is_empty() { difference } else { difference / 2.0 }
            }
        }
    }

    proptest! {
        #[test]
        fn effects_are_what_their_definition_says(
            factors in 1_usize..5,
            values in proptest::collection::vec(-100.0_f64..100.0, 64),
        ) {
            let size = 1 << factors;
            let blocks: Vec<&[f64]> = values.chunks_exact(size).take(4).collect();
            let effects = factorial(&blocks, factors, 0.95).unwrap();
            prop_assert_eq!(effects.len(), size - 1);
            for effect in &effects {
                let of = |block: &&[f64]| by_definition(block, &effect.factors, 0, size - 1);
                let brute = blocks.iter().map(of).sum::<f64>() / blocks.len() as f64;
                prop_assert!((effect.estimate.point() - brute).abs() < 1e-9, "{effect:?} {brute}");
            }
        }

        #[test]
        fn what_adds_up_has_no_interaction(base in -9.0_f64..9.0, a in -9.0_f64..9.0, b in -9.0_f64..9.0) {
            let block = [base, base + a, base + b, base + a + b];
            let effects = factorial(&[&block, &block], 2, 0.95).unwrap();
            prop_assert!((effects[0].estimate.point() - a).abs() < 1e-9);
            prop_assert!((effects[1].estimate.point() - b).abs() < 1e-9);
            prop_assert!(effects[2].estimate.point().abs() < 1e-9);
        }
    }

    #[test] // G. E. P. Box, W. G. Hunter, J. S. Hunter, Statistics for Experimenters, 1978, table 10.1: pilot plant
    fn the_pilot_plant_of_box_hunter_and_hunter() {
        let yields = [60.0, 72.0, 54.0, 68.0, 52.0, 83.0, 45.0, 80.0];
        let effects = factorial(&[&yields, &yields], 3, 0.95).unwrap();
        let points: Vec<f64> = effects.iter().map(|effect| effect.estimate.point()).collect();
        assert_eq!(points, [23.0, -5.0, 1.5, 1.5, 10.0, 0.0, 0.5]);
    }

    #[test]
    fn what_is_not_whole_has_no_effects() {
        let block = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(factorial(&[&block], 2, 0.95), None);
        assert_eq!(factorial(&[&block, &block[..3]], 2, 0.95), None);
        assert_eq!(factorial(&[&block, &block], 0, 0.95), None);
        assert_eq!(factorial(&[&block, &[1.0, f64::NAN, 3.0, 4.0]], 2, 0.95), None);
    }
}
