//! How wide a carrier is, and how it is sampled: TS 36.211 sections 5.6, 6.2 and 6.12, TS 36.104 table 5.6-1.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Subcarriers of a resource block.
pub const SUBCARRIERS_OF_BLOCK: usize = 12;
/// Symbols of a subframe with the normal cyclic prefix.
pub const SYMBOLS: usize = 14;
/// Symbols of a slot with the normal cyclic prefix.
pub const SYMBOLS_OF_SLOT: usize = 7;
/// Between two subcarriers.
pub const SUBCARRIER_SPACING_HZ: f64 = 15e3;

/// The transmission bandwidth of a carrier, in resource blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Bandwidth {
    /// 1.4 MHz.
    Prb6,
    /// 3 MHz.
    Prb15,
    /// 5 MHz.
    Prb25,
    /// 10 MHz.
    Prb50,
    /// 15 MHz.
    Prb75,
    /// 20 MHz.
    Prb100,
}

impl Bandwidth {
    /// All that the standard has, the narrowest first.
    pub const ALL: [Bandwidth; 6] = [Self::Prb6, Self::Prb15, Self::Prb25, Self::Prb50, Self::Prb75, Self::Prb100];

    /// Resource blocks.
    #[must_use]
    pub fn blocks(self) -> usize {
        match self {
            Self::Prb6 => 6,
            Self::Prb15 => 15,
            Self::Prb25 => 25,
            Self::Prb50 => 50,
            Self::Prb75 => 75,
            Self::Prb100 => 100,
        }
    }

    /// Subcarriers, without the empty one in the middle of a downlink.
    #[must_use]
    pub fn subcarriers(self) -> usize {
        self.blocks() * SUBCARRIERS_OF_BLOCK
    }

    /// Points of the Fourier transform at the standard rate.
    fn standard_fft_len(self) -> usize {
        match self {
            Self::Prb6 => 128,
            Self::Prb15 => 256,
            Self::Prb25 => 512,
            Self::Prb50 => 1024,
            Self::Prb75 => 1536,
            Self::Prb100 => 2048,
        }
    }
}

impl TryFrom<u8> for Bandwidth {
    type Error = Error;

    fn try_from(blocks: u8) -> Result<Bandwidth, Error> {
        Self::ALL.into_iter().find(|one| one.blocks() == usize::from(blocks)).ok_or(Error::Bandwidth { blocks })
    }
}

impl From<Bandwidth> for u8 {
    fn from(bandwidth: Bandwidth) -> u8 {
        bandwidth.blocks() as u8
    }
}

impl FromStr for Bandwidth {
    type Err = Error;

    fn from_str(text: &str) -> Result<Bandwidth, Error> {
        Bandwidth::try_from(text.parse::<u8>().unwrap_or(0))
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.blocks())
    }
}

/// How many samples a second carry a carrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// The rate of the standard: 1.92 MS/s for 6 resource blocks to 30.72 MS/s for 100.
    #[default]
    Standard,
    /// Three quarters of it, as srsRAN has it by default; two thirds for 75 resource blocks, 15.36 MS/s. From 25 on: below, a
    /// prefix is no whole number.
    ThreeQuarters,
}

/// A carrier's symbols in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numerology {
    /// Subcarriers in use.
    pub subcarriers: usize,
    /// Points of the Fourier transform: samples of a symbol without its prefix.
    pub fft_len: usize,
    /// Samples of the first prefix of a slot.
    pub first_prefix: usize,
    /// Samples of each other prefix.
    pub prefix: usize,
}

impl Numerology {
    /// # Errors
    /// If the rate does not exist for this bandwidth.
    pub fn new(bandwidth: Bandwidth, sampling: Sampling) -> Result<Numerology, Error> {
        let fft_len = match sampling {
            Sampling::Standard => bandwidth.standard_fft_len(),
            Sampling::ThreeQuarters if bandwidth == Bandwidth::Prb75 => 1024,
            Sampling::ThreeQuarters => bandwidth.standard_fft_len() / 4 * 3,
        };
        if !(fft_len * 9).is_multiple_of(128) {
            return Err(Error::ThreeQuarters { bandwidth });
        }
        // 160 and 144 of 2048 samples.
        let (first_prefix, prefix) = (fft_len * 10 / 128, fft_len * 9 / 128);
        Ok(Numerology { subcarriers: bandwidth.subcarriers(), fft_len, first_prefix, prefix })
    }

    /// Samples a second.
    #[must_use]
    pub fn rate_sps(&self) -> f64 {
        self.fft_len as f64 * SUBCARRIER_SPACING_HZ
    }

    /// Samples of a slot, 0.5 ms.
    #[must_use]
    pub fn slot_len(&self) -> usize {
        SYMBOLS_OF_SLOT * self.fft_len + self.first_prefix + 6 * self.prefix
    }

    /// Samples of a subframe, 1 ms.
    #[must_use]
    pub fn subframe_len(&self) -> usize {
        2 * self.slot_len()
    }

    /// Samples of a frame, 10 ms.
    #[must_use]
    pub fn frame_len(&self) -> usize {
        10 * self.subframe_len()
    }

    /// Samples of the prefix of symbol 0 to 13 of a subframe.
    #[must_use]
    pub fn prefix_of(&self, symbol: usize) -> usize {
        if symbol.is_multiple_of(SYMBOLS_OF_SLOT) { self.first_prefix } else { self.prefix }
    }

    /// Samples of a subframe before symbol 0 to 13 without its prefix.
    #[must_use]
    pub fn begin_of(&self, symbol: usize) -> usize {
        let (slot, within) = (symbol / SYMBOLS_OF_SLOT, symbol % SYMBOLS_OF_SLOT);
        slot * self.slot_len() + self.first_prefix + within * (self.fft_len + self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subframe_is_a_millisecond_at_every_rate() {
        for bandwidth in Bandwidth::ALL {
            for sampling in [Sampling::Standard, Sampling::ThreeQuarters] {
                let Ok(one) = Numerology::new(bandwidth, sampling) else {
                    assert!(bandwidth < Bandwidth::Prb25 && sampling == Sampling::ThreeQuarters);
                    continue;
                };
                assert_eq!(one.subframe_len() as f64, one.rate_sps() * 1e-3);
                assert!(one.fft_len > one.subcarriers);
                let lens: usize = (0..SYMBOLS).map(|symbol| one.prefix_of(symbol) + one.fft_len).sum();
                assert_eq!(lens, one.subframe_len());
                assert_eq!(one.begin_of(13) + one.fft_len, one.subframe_len());
            }
        }
        let widest = Numerology::new(Bandwidth::Prb100, Sampling::Standard).unwrap();
        assert_eq!((widest.rate_sps(), widest.first_prefix, widest.prefix), (30.72e6, 160, 144));
        assert_eq!(Numerology::new(Bandwidth::Prb6, Sampling::Standard).unwrap().rate_sps(), 1.92e6);
    }

    #[test]
    fn a_bandwidth_that_the_standard_lacks_is_refused() {
        assert_eq!("25".parse(), Ok(Bandwidth::Prb25));
        let said = "24".parse::<Bandwidth>().unwrap_err().to_string();
        assert!(said.contains("24") && said.contains("6, 15, 25, 50, 75 or 100"), "{said}");
    }
}
