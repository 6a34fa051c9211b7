//! In which order rounds are run.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The order of points in each block: a block holds every point once, so that whatever drifts in the host hits all
/// points alike. A function of its arguments alone: a run that resumes computes the same order again, and a longer run
/// begins as a shorter one.
///
/// ```
/// use takt_lab::experiment::blocks;
/// let order = blocks(5, 3, 7);
/// assert_eq!(order, blocks(5, 3, 7));
/// assert_eq!(order[..2], blocks(5, 2, 7));
/// assert_ne!(order[0], order[1]);
/// ```
#[must_use]
pub fn blocks(points: usize, count: u32, seed: u64) -> Vec<Vec<usize>> {
    (0..count).map(|block| shuffled(points, seed, block)).collect()
}

fn shuffled(points: usize, seed: u64, block: u32) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(block.into());
    let mut order: Vec<usize> = (0..points).collect();
    order.shuffle(&mut random);
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::blocks;

    proptest! {
        #[test]
        fn each_block_holds_each_point_once(points in 0_usize..200, count in 1_u32..5, seed: u64) {
            for block in blocks(points, count, seed) {
                let mut sorted = block.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..points).collect::<Vec<_>>());
            }
        }

        #[test]
        fn a_longer_run_begins_as_a_shorter_one(points in 1_usize..50, seed: u64) {
            prop_assert_eq!(&blocks(points, 7, seed)[..3], &blocks(points, 3, seed)[..]);
        }
    }

    /// Over many blocks each point stands in each place about as often as any other: 4 sigma of a binomial.
    #[test]
    fn no_point_has_a_place_of_its_own() {
        let (points, count) = (8, 4000);
        let mut counts = vec![[0_u32; 8]; points];
        for block in blocks(points, count, 20_261_121) {
            for (place, &point) in block.iter().enumerate() {
                counts[point][place] += 1;
            }
        }
        let expected = f64::from(count) / points as f64;
        let sigma = (expected * (1.0 - 1.0 / points as f64)).sqrt();
        for places in counts {
            for times in places {
                assert!((f64::from(times) - expected).abs() < 4.0 * sigma, "{times} times, expected {expected}");
            }
        }
    }
}
