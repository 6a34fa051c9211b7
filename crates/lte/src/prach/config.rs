//! A cell's settings of random access: TS 36.211 tables 5.7.1-2 and 5.7.2-2, section 5.7.3.

use serde::{Deserialize, Serialize};

use super::roots::ROOTS;
use super::{PREFIX_TS, SEQUENCE_LEN, SYMBOL_TS, SYMBOLS_OF_SEQUENCE};
use crate::{Bandwidth, Error, Numerology, SUBCARRIERS_OF_BLOCK, Tti};

/// Resource blocks of an opportunity.
const BLOCKS: usize = 6;
/// Subcarriers of 1.25 kHz below the first of a preamble, phi.
const GUARD: usize = 7;
/// Cyclic shifts N_CS of a zero correlation zone, sets without restriction; 0 is no shift at all.
const SHIFTS: [u16; 16] = [0, 13, 15, 18, 22, 26, 32, 38, 46, 59, 76, 93, 119, 167, 279, 419];
/// Subframes of each configuration with format 0, a bit each.
const SUBFRAMES: [u16; 16] = [
    1 << 1,
    1 << 4,
    1 << 7,
    1 << 1,
    1 << 4,
    1 << 7,
    1 << 1 | 1 << 6,
    1 << 2 | 1 << 7,
    1 << 3 | 1 << 8,
    1 << 1 | 1 << 4 | 1 << 7,
    1 << 2 | 1 << 5 | 1 << 8,
    1 << 3 | 1 << 6 | 1 << 9,
    0b01_0101_0101,
    0b10_1010_1010,
    0b11_1111_1111,
    1 << 9,
];
/// Configurations that hold in even frames only.
const EVEN_FRAMES: [u8; 4] = [0, 1, 2, 15];

/// Random access as a cell's system information states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrachConfig {
    /// Logical root sequence of preamble 0, 0 to 837: `rootSequenceIndex`.
    pub root_sequence: u16,
    /// Which cyclic shift parts the preambles of a root, 0 to 15: `zeroCorrelationZoneConfig`. It bounds the delay.
    pub zero_correlation_zone: u8,
    /// The lowest of the six resource blocks: `prach-FrequencyOffset`.
    pub frequency_offset_blocks: u8,
    /// Which subframes have an opportunity, 0 to 15: `prach-ConfigIndex`, those of format 0.
    pub config_index: u8,
}

impl PrachConfig {
    /// Whether a terminal may begin a preamble in this subframe.
    ///
    /// # Panics
    /// If the configuration index is above 15.
    #[must_use]
    pub fn is_opportunity(&self, tti: Tti) -> bool {
        let frame = tti.frame().is_multiple_of(2) || !EVEN_FRAMES.contains(&self.config_index);
        frame && SUBFRAMES[usize::from(self.config_index)] >> tti.subframe() & 1 == 1
    }

    /// # Errors
    /// If a setting is beyond the standard's, or the six resource blocks leave the carrier.
    pub fn check(&self, bandwidth: Bandwidth) -> Result<(), Error> {
        let most = (bandwidth.blocks() - BLOCKS) as u16;
        for (setting, value, most) in [
            ("the root sequence", self.root_sequence, ROOTS - 1),
            ("the zero correlation zone", self.zero_correlation_zone.into(), 15),
            ("the frequency offset", self.frequency_offset_blocks.into(), most),
            ("the configuration index", self.config_index.into(), 15),
        ] {
            if value > most {
                return Err(Error::RandomAccess { setting, value, most });
            }
        }
        Ok(())
    }

    /// N_CS, points of the sequence; 0 is no shift.
    pub(super) fn shift(&self) -> usize {
        SHIFTS[usize::from(self.zero_correlation_zone)].into()
    }
}

/// The place of a preamble in samples and in their Fourier transform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Samples of the prefix.
    pub(super) prefix: usize,
    /// Samples of the sequence, and points of its transform.
    pub(super) len: usize,
    /// The transform's point of the sequence's first subcarrier; the others follow, modulo `len`.
    first: usize,
}

impl Place {
    pub(super) fn new(numerology: &Numerology, config: &PrachConfig) -> Place {
        let len = SYMBOLS_OF_SEQUENCE * numerology.fft_len;
        // k_0 in subcarriers of 15 kHz from the middle of the carrier, then K (k_0 + 1/2) + phi.
        let begin = usize::from(config.frequency_offset_blocks) * SUBCARRIERS_OF_BLOCK;
        let above = SYMBOLS_OF_SEQUENCE * begin + SYMBOLS_OF_SEQUENCE / 2 + GUARD;
        let below = SYMBOLS_OF_SEQUENCE * numerology.subcarriers / 2;
        Place { prefix: PREFIX_TS * numerology.fft_len / SYMBOL_TS, len, first: (len + above - below) % len }
    }

    /// The transform's points as two runs: the sequence's subcarriers from 0, and where they go on at point 0.
    pub(super) fn runs(&self) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let end = self.first + SEQUENCE_LEN;
        (self.first..end.min(self.len), 0..end.saturating_sub(self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sampling;

    const CONFIG: PrachConfig =
        PrachConfig { root_sequence: 0, zero_correlation_zone: 1, frequency_offset_blocks: 0, config_index: 0 };

    #[test]
    fn opportunities_are_those_of_the_table() {
        let subframes = |config_index: u8, frame: u16| -> Vec<u8> {
            let config = PrachConfig { config_index, ..CONFIG };
            (0..10).filter(|&subframe| config.is_opportunity(Tti::of(frame, subframe))).collect()
        };
        assert_eq!((subframes(0, 2), subframes(0, 3)), (vec![1], vec![]));
        assert_eq!((subframes(2, 2), subframes(5, 3)), (vec![7], vec![7]));
        assert_eq!((subframes(15, 4), subframes(15, 5)), (vec![9], vec![]));
        assert_eq!((subframes(7, 1), subframes(11, 1)), (vec![2, 7], vec![3, 6, 9]));
        assert_eq!((subframes(12, 1), subframes(13, 1)), (vec![0, 2, 4, 6, 8], vec![1, 3, 5, 7, 9]));
        assert_eq!(subframes(14, 1).len(), 10);
        // Opportunities of two frames, from the table's density: 0.5 a frame to 10.
        let of_two = (0..16).map(|index| subframes(index, 0).len() + subframes(index, 1).len());
        assert_eq!(of_two.collect::<Vec<_>>(), [1, 1, 1, 2, 2, 2, 4, 4, 4, 6, 6, 6, 10, 10, 20, 1]);
    }

    #[test]
    fn what_the_standard_lacks_is_refused() {
        assert_eq!(CONFIG.check(Bandwidth::Prb6), Ok(()));
        let wrong = [
            PrachConfig { root_sequence: 838, ..CONFIG },
            PrachConfig { zero_correlation_zone: 16, ..CONFIG },
            PrachConfig { frequency_offset_blocks: 20, ..CONFIG },
            PrachConfig { config_index: 16, ..CONFIG },
        ];
        for config in wrong {
            let said = config.check(Bandwidth::Prb25).unwrap_err().to_string();
            assert!(said.contains("at most"), "{said}");
        }
        assert_eq!(PrachConfig { frequency_offset_blocks: 19, ..CONFIG }.check(Bandwidth::Prb25), Ok(()));
    }

    #[test]
    fn a_preamble_lies_in_the_middle_of_its_blocks() {
        for bandwidth in Bandwidth::ALL {
            for offset in [0, bandwidth.blocks() / 2 - 3, bandwidth.blocks() - 6] {
                let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
                let config = PrachConfig { frequency_offset_blocks: offset as u8, ..CONFIG };
                let place = Place::new(&numerology, &config);
                // The middle subcarrier lies at the middle of the blocks: 1.25 kHz a point.
                let (first, _) = place.runs();
                let middle = (first.start + 419) % place.len;
                let signed = if middle > place.len / 2 { middle as f64 - place.len as f64 } else { middle as f64 };
                let blocks = offset as f64 + 3.0 - bandwidth.blocks() as f64 / 2.0;
                assert_eq!(signed * 1.25e3, blocks * 180e3, "{bandwidth} {offset}");
                assert_eq!(place.len as f64 / numerology.rate_sps(), 0.8e-3);
            }
        }
    }
}
