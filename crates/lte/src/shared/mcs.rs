//! Modulation and coding schemes by their index, TS 36.213 tables 7.1.7.1-1 and 8.6.1-1.

use takt_dsp::lte::Modulation;

/// The tables of modulation and coding schemes.
///
/// ```
/// use takt_dsp::lte::Modulation;
/// assert_eq!(takt_lte::Mcs::downlink(28), Some((Modulation::Qam64, 26)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Mcs;

impl Mcs {
    /// How many indices stand for a transport block size. Those above, to 31, are of retransmissions.
    pub const COUNT: u8 = 29;

    /// Modulation and I_TBS of an index 0 to 28 in the downlink (TS 36.213 table 7.1.7.1-1).
    #[must_use]
    pub fn downlink(index: u8) -> Option<(Modulation, u8)> {
        match index {
            0..=9 => Some((Modulation::Qpsk, index)),
            10..=16 => Some((Modulation::Qam16, index - 1)),
            17..=28 => Some((Modulation::Qam64, index - 2)),
            _ => None,
        }
    }

    /// Modulation of an index 29 to 31 in the downlink: a retransmission, whose size the first grant told.
    #[must_use]
    pub fn downlink_retransmission(index: u8) -> Option<Modulation> {
        match index {
            29 => Some(Modulation::Qpsk),
            30 => Some(Modulation::Qam16),
            31 => Some(Modulation::Qam64),
            _ => None,
        }
    }

    /// Modulation and I_TBS of an index 0 to 28 in the uplink, for a terminal that may send 64QAM (TS 36.213 table 8.6.1-1).
    #[must_use]
    pub fn uplink(index: u8) -> Option<(Modulation, u8)> {
        match index {
            0..=10 => Some((Modulation::Qpsk, index)),
            11..=20 => Some((Modulation::Qam16, index - 1)),
            21..=28 => Some((Modulation::Qam64, index - 2)),
            _ => None,
        }
    }

    /// Redundancy version of an index 29 to 31 in the uplink: a retransmission, whose size and modulation the first grant told.
    #[must_use]
    pub fn uplink_redundancy_version(index: u8) -> Option<u8> {
        matches!(index, 29..=31).then(|| index - 28)
    }
}
