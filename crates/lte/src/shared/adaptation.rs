//! Which modulation and coding scheme suits a channel: signal-to-noise ratios measured with this encoder and decoder, and the
//! efficiencies of TS 36.213 table 7.2.3-1.

use takt_dsp::lte::Modulation;

use super::mcs::Mcs;
use super::size::transport_block_bits;
use crate::Cqi;

/// The rate of wrong first transmissions at the ratios of [`Mcs::threshold_db`].
pub const TARGET_BLOCK_ERROR_RATE: f32 = 0.1;
/// Elements of a resource block where they were measured: two symbols of control channels, no synchronisation, no broadcast.
pub const REFERENCE_ELEMENTS_OF_BLOCK: usize = 138;
/// Resource blocks where they were measured.
const REFERENCE_BLOCKS: usize = 25;
/// The highest code rate of a first transmission: a terminal need not decode above (TS 36.213 section 7.1.7).
const HIGHEST_RATE: f32 = 0.931;

/// By index: the ratio in dB at which a tenth of the first transmissions is wrong, with 25 blocks of 138 elements, white
/// Gaussian noise, a known channel and 8 iterations. They are 0.0 to 0.6 dB below the table of RaPlaT for the same efficiencies.
///
/// `TAKT_LONG_TESTS=1 cargo test -p takt-lte --test together bler:: -- --nocapture` measures them.
#[rustfmt::skip]
const THRESHOLDS_DB: [f32; Mcs::COUNT as usize] = [
    -6.26, -5.08, -4.32, -3.18, -2.14, -1.34, -0.53, 0.52, 1.20, 2.16, // QPSK
    2.94, 3.30, 4.04, 4.99, 6.01, 6.87, 7.45, // 16QAM
    8.29, 8.54, 9.76, 10.47, 11.14, 11.85, 13.09, 13.96, 14.47, 15.50, 15.94, 18.57, // 64QAM
];

impl Mcs {
    /// The ratio of signal to noise in dB at which a tenth of the first transmissions of a downlink index 0 to 28 is wrong, in
    /// white Gaussian noise with a known channel. Blocks of fewer bits than the 25 resource blocks of this table need more.
    #[must_use]
    pub fn threshold_db(index: u8) -> Option<f32> {
        THRESHOLDS_DB.get(usize::from(index)).copied()
    }

    /// The same for another allocation, of `blocks` resource blocks and `elements` elements, from the efficiency that the
    /// index has there: a straight line through the two nearest indices of the same constellation. `None` if its code rate is
    /// above 0.931.
    #[must_use]
    pub fn required_snr_db(index: u8, blocks: usize, elements: usize) -> Option<f32> {
        let (modulation, i_tbs) = Mcs::downlink(index)?;
        let efficiency = transport_block_bits(i_tbs, blocks) as f32 / elements as f32;
        if !(efficiency > 0.0 && efficiency <= HIGHEST_RATE * modulation.bits() as f32) {
            return None;
        }
        let same = || (0..Mcs::COUNT).filter(|&other| Mcs::downlink(other).is_some_and(|(one, _)| one == modulation));
        let above = same().find(|&other| reference_efficiency(other) >= efficiency).or(same().next_back())?;
        let above = above.max(same().next()? + 1);
        let [low, high] =
            [above - 1, above].map(|index| (reference_efficiency(index), THRESHOLDS_DB[usize::from(index)]));
        Some(low.1 + (efficiency - low.0) * (high.1 - low.1) / (high.0 - low.0))
    }

    /// The downlink index that carries most at `snr_db`, with a tenth of the first transmissions wrong at most; 0 if none does.
    #[must_use]
    pub fn best(snr_db: f32) -> u8 {
        most_bits(|index| THRESHOLDS_DB[usize::from(index)] <= snr_db)
    }

    /// The downlink index that carries most with no higher efficiency and no larger constellation than a terminal's channel
    /// quality indicator stands for; 0 if none does. `None` for 0, out of range, and for what is no indicator.
    #[must_use]
    pub fn for_cqi(cqi: u8) -> Option<u8> {
        let quality = Cqi::new(cqi)?;
        let (efficiency, largest) = (quality.efficiency(), quality.modulation());
        let suits = |(modulation, _): (Modulation, u8)| modulation.bits() <= largest.bits();
        Some(most_bits(|index| reference_efficiency(index) <= efficiency && Mcs::downlink(index).is_some_and(suits)))
    }
}

/// The index with most bits among those that will do; if two have as many, the one that needs less.
fn most_bits(will_do: impl Fn(u8) -> bool) -> u8 {
    let value = |index: &u8| (reference_efficiency(*index), -THRESHOLDS_DB[usize::from(*index)]);
    let better = |one: &u8, other: &u8| value(one).partial_cmp(&value(other)).unwrap_or(std::cmp::Ordering::Equal);
    (0..Mcs::COUNT).filter(|&index| will_do(index)).max_by(better).unwrap_or(0)
}

/// Bits an element of an index where the thresholds were measured.
fn reference_efficiency(index: u8) -> f32 {
    let bits = Mcs::downlink(index).map_or(0, |(_, i_tbs)| transport_block_bits(i_tbs, REFERENCE_BLOCKS));
    bits as f32 / (REFERENCE_BLOCKS * REFERENCE_ELEMENTS_OF_BLOCK) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_index_rises_with_the_channel() {
        let found = [-20.0, -6.2, 2.5, 3.0, 7.0, 8.4, 30.0].map(Mcs::best);
        // At 3.0 dB index 10 would do as well as 9, and at 8.4 dB 17 as well as 16, but they carry no more.
        assert_eq!(found, [0, 0, 9, 9, 15, 16, 28]);
        assert_eq!((Mcs::best(f32::NAN), Mcs::best(f32::INFINITY), Mcs::best(f32::NEG_INFINITY)), (0, 28, 0));
        let all: Vec<u8> = (-100..250).map(|tenths| Mcs::best(tenths as f32 / 10.0)).collect();
        assert!(all.is_sorted());
    }

    #[test]
    fn an_indicator_chooses_its_constellation_and_about_its_rate() {
        let found: Vec<u8> = (1..=15).filter_map(Mcs::for_cqi).collect();
        assert_eq!(found, [0, 0, 2, 4, 6, 9, 12, 14, 16, 19, 22, 23, 26, 27, 28]);
        assert_eq!([0, 16, 255].map(Mcs::for_cqi), [None; 3]);
    }

    #[test]
    fn another_allocation_needs_more_where_fewer_elements_carry_as_much() {
        for index in 0..Mcs::COUNT {
            let required = |elements| Mcs::required_snr_db(index, 25, elements).unwrap();
            assert!((required(3450) - Mcs::threshold_db(index).unwrap()).abs() < 1e-3, "index {index}");
            assert!(required(3750) < required(3450) && required(3450) < required(3300), "index {index}");
        }
        // Three symbols of control channels: a rate of 0.97.
        assert_eq!(Mcs::required_snr_db(28, 25, 3150), None);
        for (index, blocks, elements) in [(29, 25, 3450), (0, 0, 100), (0, 25, 0), (0, 0, 0), (255, 111, 1)] {
            assert_eq!(Mcs::required_snr_db(index, blocks, elements), None);
        }
    }
}
