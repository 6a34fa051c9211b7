//! Acknowledgements of the uplink: TS 36.212 section 5.3.5, TS 36.211 section 6.9, TS 36.213 section 9.1.2.
//!
//! Up to eight acknowledgements share the twelve elements of a group, each with a sequence of its own.

use num_complex::Complex32;
use takt_dsp::lte::Gold;

use super::pcfich;
use crate::{CellId, Tti};

/// Elements of a group of acknowledgements.
pub(super) const LEN: usize = 12;

/// An acknowledgement below this share of the amplitude of a reference signal is none. TS 36.101 section 8.5.1.1 sends one at 0.63 of
/// it beside two others, and with 0.25 too many are missed.
const LEAST_LEVEL: f32 = 0.1;

/// The place of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: usize,
    sequence: usize,
}

impl Place {
    /// The place for a transmission that began in resource block `first_block`, and whose grant had this cyclic shift.
    pub(super) fn of(first_block: u8, cyclic_shift: u8, groups: usize) -> Place {
        let (block, shift) = (usize::from(first_block), usize::from(cyclic_shift & 7));
        Place { group: (block + shift) % groups, sequence: (block / groups + shift) % 8 }
    }

    /// The symbols of a negative acknowledgement. A positive one has the opposite sign.
    pub(super) fn symbols(self, id: CellId, tti: Tti) -> [Complex32; LEN] {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let bits = Gold::new(pcfich::c_init(id, tti)).next_word();
        std::array::from_fn(|i| {
            let sign = 1.0 - 2.0 * (bits >> i & 1) as f32;
            self.spread(i % 4) * sign * Complex32::new(half, half)
        })
    }

    /// w of table 6.9.1-2: Walsh sequences, the upper four on the imaginary axis.
    fn spread(self, chip: usize) -> Complex32 {
        let sign = [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [1.0, -1.0, -1.0, 1.0]]
            [self.sequence % 4][chip];
        if self.sequence < 4 { Complex32::new(sign, 0.0) } else { Complex32::new(0.0, sign) }
    }

    /// Whether it is positive, from y h* and |h|^2 of its group; `None` if there is hardly anything.
    pub(super) fn detect(
        self,
        id: CellId,
        tti: Tti,
        received: &[Complex32; LEN],
        weights: &[f32; LEN],
    ) -> Option<bool> {
        let sent = self.symbols(id, tti);
        let sum: f32 = received.iter().zip(&sent).map(|(received, sent)| (received * sent.conj()).re).sum();
        let level = sum / weights.iter().sum::<f32>();
        (level.abs() > LEAST_LEVEL).then_some(level < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight a group, all different: each is read in spite of the seven others.
    #[test]
    fn the_acknowledgements_of_a_group_do_not_disturb_each_other() {
        let (id, tti) = (CellId::new(17).unwrap(), Tti::of(3, 6));
        let places: Vec<Place> = (0..8).map(|sequence| Place { group: 0, sequence }).collect();
        for pattern in 0..256 {
            let mut sum = [Complex32::default(); LEN];
            for (n, place) in places.iter().enumerate() {
                let sign = if pattern >> n & 1 == 1 { -1.0 } else { 1.0 };
                sum.iter_mut().zip(place.symbols(id, tti)).for_each(|(sum, symbol)| *sum += symbol * sign);
            }
            for (n, place) in places.iter().enumerate() {
                assert_eq!(place.detect(id, tti, &sum, &[1.0; LEN]), Some(pattern >> n & 1 == 1));
            }
        }
        assert_eq!(places[0].detect(id, tti, &[Complex32::default(); LEN], &[1.0; LEN]), None);
        assert_eq!(places[0].detect(id, tti, &[Complex32::new(f32::NAN, 1.0); LEN], &[0.0; LEN]), None);
    }

    /// The formulas of 36.213 section 9.1.2 for 50 resource blocks, 7 groups.
    #[test]
    fn neighbours_have_places_of_their_own() {
        assert_eq!(Place::of(0, 0, 7), Place { group: 0, sequence: 0 });
        assert_eq!(Place::of(15, 0, 7), Place { group: 1, sequence: 2 });
        assert_eq!(Place::of(49, 3, 7), Place { group: 3, sequence: 2 });
        let mut places: Vec<Place> = (0..50).map(|block| Place::of(block, 0, 7)).collect();
        places.sort_unstable_by_key(|place| (place.group, place.sequence));
        places.dedup();
        assert_eq!(places.len(), 50);
    }
}
