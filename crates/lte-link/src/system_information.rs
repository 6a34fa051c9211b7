//! System information: the broadcast of a base station beside its master information, in a form of takt's own.
//!
//! It is a block for [`Rnti::SI`](crate::Rnti::SI), assigned in the common search space, in subframe 5 of each even frame. Its
//! redundancy versions over four transmissions are 0, 2, 3, 1, as those of SIB1: TS 36.321 section 5.3.1.
//!
//! | byte | field | range |
//! | --- | --- | --- |
//! | 0 | version of this form | 1 |
//! | 1 to 4 | instance: drawn when the base station starts | |
//! | 5 | PRACH configuration, format 0 | 0 to 15 |
//! | 6, 7 | logical root sequence | 0 to 837 |
//! | 8 | zero correlation zone | 0 to 15 |
//! | 9 | first resource block of PRACH | at most blocks - 6 |
//! | 10 | preambles for random access | 1 to 64 |
//! | 11 | subframes of the window of an answer | 2 to 10 |
//! | 12 | subframes until contention must be resolved | 8 to 64 |
//! | 13 | attempts of random access | 1 to 200 |
//! | 14 | dB between two attempts | 0, 2, 4, 6 |
//! | 15 | transmissions of message 3 | 1 to 8 |
//! | 16 | resource blocks of PUCCH on each edge | 1 to 4, two thirds left for PUSCH |
//! | 17 | bytes of the name | 0 to 24 |
//! | 18 .. | name, UTF-8 without control characters | |
//!
//! Bytes after the name are padding.

use serde::{Deserialize, Serialize};
use takt_lte::{Bandwidth, PrachConfig, Tti};

use crate::ParseError;

/// The form's version.
const VERSION: u8 = 1;
/// Bytes before the name.
const FIXED: usize = 18;
/// The most bytes of a name.
pub(crate) const NAME_LEN: usize = 24;

/// The broadcast configuration of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemInformation {
    /// Drawn when the base station starts: with another one, all attachments are gone.
    pub instance: u32,
    /// Place and form of preambles.
    pub prach: PrachConfig,
    /// Preambles 0 to this, exclusive, are for random access: 1 to 64.
    pub preambles: u8,
    /// Subframes of the window in which a preamble is answered, from the third after it: 2 to 10.
    pub response_window: u8,
    /// Subframes after message 3 in which contention must be resolved: 8 to 64.
    pub contention_window: u8,
    /// Attempts of random access before a long wait: 1 to 200.
    pub attempts: u8,
    /// Decibels by which an attempt is stronger than the one before: 0, 2, 4 or 6.
    pub ramp_step_db: u8,
    /// Transmissions of message 3: 1 to 8.
    pub message3_transmissions: u8,
    /// Resource blocks of PUCCH on each edge of the band: 1 to 4.
    pub pucch_blocks: u8,
    /// Name of the network: up to 24 bytes, no control characters.
    pub name: String,
}

impl SystemInformation {
    /// The usual settings of a bandwidth.
    #[must_use]
    pub fn for_bandwidth(bandwidth: Bandwidth) -> SystemInformation {
        let first_block = if bandwidth == Bandwidth::Prb6 { 0 } else { 2 };
        SystemInformation {
            instance: 0,
            prach: PrachConfig {
                config_index: 3,
                root_sequence: 128,
                zero_correlation_zone: 11,
                frequency_offset_blocks: first_block,
            },
            preambles: 52,
            response_window: 10,
            contention_window: 48,
            attempts: 20,
            ramp_step_db: 2,
            message3_transmissions: 4,
            pucch_blocks: 1,
            name: "takt".to_owned(),
        }
    }

    /// Whether the broadcast is sent in this subframe.
    #[must_use]
    pub fn is_sent_in(tti: Tti) -> bool {
        tti.subframe() == 5 && tti.frame().is_multiple_of(2)
    }

    /// The redundancy version in a subframe with [`Self::is_sent_in`]. 0 begins a new series of four that can be combined.
    #[must_use]
    pub fn redundancy_version(tti: Tti) -> u8 {
        [0, 2, 3, 1][usize::from(tti.frame() / 2 % 4)]
    }

    /// The bytes of the broadcast.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.instance.to_be_bytes());
        bytes.push(self.prach.config_index);
        bytes.extend_from_slice(&self.prach.root_sequence.to_be_bytes());
        bytes.extend_from_slice(&[self.prach.zero_correlation_zone, self.prach.frequency_offset_blocks]);
        bytes.extend_from_slice(&[self.preambles, self.response_window, self.contention_window, self.attempts]);
        bytes.extend_from_slice(&[self.ramp_step_db, self.message3_transmissions, self.pucch_blocks]);
        bytes.push(self.name.len().min(NAME_LEN) as u8);
        bytes.extend(self.name.bytes().take(NAME_LEN));
        bytes
    }

    /// # Errors
    /// If the bytes end early, or a field is out of range.
    pub fn parse(bytes: &[u8], bandwidth: Bandwidth) -> Result<SystemInformation, ParseError> {
        let short = ParseError::Short { what: "system information", have: bytes.len() };
        let (&fixed, rest) = bytes.split_first_chunk::<FIXED>().ok_or(short)?;
        let [version, i0, i1, i2, i3, config_index, r0, r1, zone, first_block, preambles, window, rest_of @ ..] = fixed;
        let [contention_window, attempts, ramp_step_db, message3_transmissions, pucch_blocks, name_len] = rest_of;
        if version != VERSION {
            return Err(ParseError::Field {
                what: "version of system information",
                value: version.into(),
                expected: "1",
            });
        }
        let name = rest.get(..usize::from(name_len)).ok_or(short)?;
        let name = std::str::from_utf8(name).ok().filter(|_| usize::from(name_len) <= NAME_LEN);
        let expected = "up to 24 bytes of UTF-8";
        let name = name.ok_or(ParseError::Field { what: "name of the network", value: name_len.into(), expected })?;
        let information = SystemInformation {
            instance: u32::from_be_bytes([i0, i1, i2, i3]),
            prach: PrachConfig {
                config_index,
                root_sequence: u16::from_be_bytes([r0, r1]),
                zero_correlation_zone: zone,
                frequency_offset_blocks: first_block,
            },
            preambles,
            response_window: window,
            contention_window,
            attempts,
            ramp_step_db,
            message3_transmissions,
            pucch_blocks,
            name: name.to_owned(),
        };
        information.check(bandwidth)?;
        Ok(information)
    }

    /// # Errors
    /// The first field that is out of range.
    pub(crate) fn check(&self, bandwidth: Bandwidth) -> Result<(), ParseError> {
        let blocks = bandwidth.blocks() as u64;
        let prach = &self.prach;
        let rules: [(&'static str, u64, bool, &'static str); 12] = [
            ("prach.config_index", prach.config_index.into(), prach.config_index <= 15, "0 to 15"),
            ("prach.root_sequence", prach.root_sequence.into(), prach.root_sequence <= 837, "0 to 837"),
            (
                "prach.zero_correlation_zone",
                prach.zero_correlation_zone.into(),
                prach.zero_correlation_zone <= 15,
                "0 to 15",
            ),
            (
                "prach.frequency_offset_blocks",
                prach.frequency_offset_blocks.into(),
                u64::from(prach.frequency_offset_blocks) + 6 <= blocks,
                "up to 6 below the blocks",
            ),
            ("preambles", self.preambles.into(), (1..=64).contains(&self.preambles), "1 to 64"),
            (
                "response_window",
                self.response_window.into(),
                (2..=10).contains(&self.response_window),
                "2 to 10 subframes",
            ),
            (
                "contention_window",
                self.contention_window.into(),
                (8..=64).contains(&self.contention_window),
                "8 to 64 subframes",
            ),
            ("attempts", self.attempts.into(), (1..=200).contains(&self.attempts), "1 to 200"),
            ("ramp_step_db", self.ramp_step_db.into(), [0, 2, 4, 6].contains(&self.ramp_step_db), "0, 2, 4 or 6 dB"),
            (
                "message3_transmissions",
                self.message3_transmissions.into(),
                (1..=8).contains(&self.message3_transmissions),
                "1 to 8",
            ),
            (
                "pucch_blocks",
                self.pucch_blocks.into(),
                (1..=4).contains(&self.pucch_blocks) && 6 * u64::from(self.pucch_blocks) <= blocks,
                "1 to 4, at most a sixth of the band",
            ),
            (
                "bytes of the name",
                self.name.len() as u64,
                self.name.len() <= NAME_LEN && !self.name.chars().any(char::is_control),
                "up to 24, no control characters",
            ),
        ];
        match rules.into_iter().find(|&(_, _, right, _)| !right) {
            Some((what, value, _, expected)) => Err(ParseError::Field { what, value, expected }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn information_comes_back_and_no_prefix_does() {
        for bandwidth in Bandwidth::ALL {
            let said = SystemInformation { instance: 0xdead_beef, ..SystemInformation::for_bandwidth(bandwidth) };
            let bytes = said.bytes();
            assert_eq!(SystemInformation::parse(&bytes, bandwidth).as_ref(), Ok(&said));
            let padded = [&bytes[..], &[0; 9]].concat();
            assert_eq!(SystemInformation::parse(&padded, bandwidth), Ok(said));
            for end in 0..bytes.len() {
                assert!(SystemInformation::parse(&bytes[..end], bandwidth).is_err());
            }
        }
    }

    #[test]
    fn preambles_have_their_subframes() {
        let settings =
            |config_index| PrachConfig { config_index, ..SystemInformation::for_bandwidth(Bandwidth::Prb6).prach };
        let in_two_frames = |index| (0..20).filter(|&n| settings(index).is_opportunity(Tti::new(n))).count();
        let counts: Vec<usize> = (0..16).map(in_two_frames).collect();
        assert_eq!(counts, [1, 1, 1, 2, 2, 2, 4, 4, 4, 6, 6, 6, 10, 10, 20, 1]);
    }

    #[test]
    fn each_field_is_checked() {
        let right = SystemInformation::for_bandwidth(Bandwidth::Prb6).bytes();
        for (at, wrong) in [
            (0, 2),
            (5, 16),
            (6, 4),
            (8, 16),
            (9, 1),
            (10, 65),
            (11, 11),
            (12, 7),
            (13, 0),
            (14, 3),
            (15, 9),
            (16, 2),
            (17, 25),
            (18, 7),
        ] {
            let mut bytes = right.clone();
            bytes[at] = wrong;
            bytes.resize(60, b'x');
            assert!(SystemInformation::parse(&bytes, Bandwidth::Prb6).is_err(), "byte {at} = {wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..60), n in 0usize..6) {
            if let Some(first) = bytes.first_mut() {
                *first = VERSION;
            }
            if let Ok(said) = SystemInformation::parse(&bytes, Bandwidth::ALL[n]) {
                prop_assert_eq!(SystemInformation::parse(&said.bytes(), Bandwidth::ALL[n]), Ok(said));
            }
        }
    }
}
