//! Sample rates: the 255 factors, their rate words, scale words, and the gains that follow.
//!
//! A rate is the master clock divided by a whole number, which the device splits into a CIC filter and up to two
//! half-band filters. A CIC filter's gain is not a power of two; the **scale word** (18 bits, 2^17 = 1) corrects it. If
//! the correction would exceed 1 the host halves the word and takes back the factor 2 itself. That happens at 57
//! receive and 61 transmit factors: a device that ignored the word would be wrong by 2 there.

use super::MASTER_CLOCK_HZ;
use crate::sample::{Format, full_scale};

/// Which way samples flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Device to host.
    Rx,
    /// Host to device.
    Tx,
}

/// A factor the device can decimate or interpolate by: 2 to 128, even to 256, multiples of 4 to 512.
///
/// ```
/// use takt_wire::n200::rate::Factor;
/// assert_eq!(Factor::nearest(26e6).unwrap().rate_sps(), 25e6);
/// let around = Factor::around(22e6);
/// assert_eq!(around.map(|f| f.map(Factor::rate_sps)), [Some(20e6), Some(25e6)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(u16);

impl Factor {
    /// The smallest: 50 MS/s.
    pub const MIN: Factor = Factor(2);
    /// The largest: 195 312.5 S/s.
    pub const MAX: Factor = Factor(512);

    /// `None` if the device has no such factor.
    #[must_use]
    pub const fn new(factor: u32) -> Option<Self> {
        let legal = match factor {
            2..=128 => true,
            129..=256 => factor.is_multiple_of(2),
            257..=512 => factor.is_multiple_of(4),
            _ => false,
        };
        if legal { Some(Self(factor as u16)) } else { None }
    }

    /// All 255, the fastest rate first.
    pub fn all() -> impl DoubleEndedIterator<Item = Factor> + Clone {
        (2..=512).filter_map(Factor::new)
    }

    /// The factor itself: ticks a sample.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0 as u32
    }

    /// The sample rate it gives, in samples per second.
    #[must_use]
    pub fn rate_sps(self) -> f64 {
        f64::from(MASTER_CLOCK_HZ) / f64::from(self.0)
    }

    /// The factor whose rate is nearest, as UHD rounds; the faster one in the middle. `None` if `rate_sps` is not a
    /// positive number.
    #[must_use]
    pub fn nearest(rate_sps: f64) -> Option<Self> {
        let away = |factor: &Factor| (factor.rate_sps() - rate_sps).abs();
        if !(rate_sps > 0.0 && rate_sps.is_finite()) {
            return None;
        }
        Self::all().min_by(|a, b| away(a).total_cmp(&away(b)))
    }

    /// The factor of exactly this rate, to within a millionth of it.
    #[must_use]
    pub fn exact(rate_sps: f64) -> Option<Self> {
        Self::nearest(rate_sps).filter(|factor| (factor.rate_sps() / rate_sps - 1.0).abs() < 1e-6)
    }

    /// The nearest legal rates not above and not below a request, in this order; `None` where there is none.
    #[must_use]
    pub fn around(rate_sps: f64) -> [Option<Self>; 2] {
        let below = Self::all().find(|factor| factor.rate_sps() <= rate_sps);
        let above = Self::all().rev().find(|factor| factor.rate_sps() >= rate_sps);
        [below, above]
    }

    /// The rate word for this factor, as UHD writes it.
    #[must_use]
    pub fn rate_word(self, direction: Direction) -> RateWord {
        let factor = self.get();
        let (cic, halves) = match (factor % 4, factor % 2, direction) {
            (0, ..) => (factor / 4, RateWord::A | RateWord::B),
            (_, 0, Direction::Rx) if factor == 2 => (1, RateWord::B),
            (_, 0, _) => (factor / 2, RateWord::A),
            _ => (factor, 0),
        };
        RateWord(halves | cic)
    }

    /// Scale word and host factor for a stream at this rate.
    #[must_use]
    pub fn scaling(self, direction: Direction, format: Format) -> Scaling {
        let adjustment = 1.0 / cic_gain(direction, self.rate_word(direction).cic());
        // The word must not exceed 1; above it UHD halves it (its adjustment never exceeds 2 / 1.65).
        let share = if adjustment > 1.0 { 2.0 } else { 1.0 };
        let (device, host) = match (format, direction) {
            (Format::Sc16, Direction::Rx) => (1.0, 1.0 / FULL_SCALE),
            (Format::Sc16, Direction::Tx) => (1.0, FULL_SCALE),
            // The device clips to 8 bits without a shift, so the word is 256 times smaller.
            (Format::Sc8, Direction::Rx) => (1.0 / 256.0, 256.0 / FULL_SCALE),
            // The byte becomes the upper half of the sample.
            (Format::Sc8, Direction::Tx) => (1.0, FULL_SCALE / 256.0),
        };
        let target = ONE * adjustment * device / share;
        let word = target.round();
        Scaling { word: word as u32, host_factor: target / word * share * host }
    }
}

/// 1.0 in a scale word.
const ONE: f64 = 131_072.0;
/// Host floats of magnitude 1 are 16-bit integers of this magnitude.
const FULL_SCALE: f64 = full_scale::SC16 as f64;
/// Gain of the CORDIC that shifts the frequency.
const CORDIC_GAIN: f64 = 1.65;

/// Contents of a rate register: CIC factor in bits 7:0, half-band filters in bits 8 and 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWord(pub u32);

impl RateWord {
    const A: u32 = 1 << 8;
    const B: u32 = 1 << 9;

    /// Factor of the CIC filter.
    #[must_use]
    pub const fn cic(self) -> u8 {
        self.0 as u8
    }

    /// The whole factor, in ticks a sample. 0 if the CIC factor is 0, which no host writes and no device can run at;
    /// may be a product that is no [`Factor`].
    #[must_use]
    pub fn factor(self) -> u32 {
        let half = |bit| if self.0 & bit != 0 { 2 } else { 1 };
        u32::from(self.cic()) * half(Self::A) * half(Self::B)
    }
}

/// How a stream is scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// For the device's scale register.
    pub word: u32,
    /// Host side. RX: integer on the wire times this is the float. TX: float times this is the integer on the wire.
    /// 32767 counts as 1.0; rounding of the word and the factor 2 of the rates that need it are taken back.
    pub host_factor: f64,
}

/// Gain of an ideal decimator or interpolator with this CIC factor and scale word, as the device's filters have it:
/// 1, or 1/2 where the host halves the word, up to rounding; 1/256 of that for an sc8 receive stream.
#[must_use]
pub fn device_gain(direction: Direction, cic: u8, scale_word: u32) -> f64 {
    cic_gain(direction, cic) * f64::from(scale_word & 0x3_FFFF) / ONE
}

/// Gain of CORDIC and CIC filter, the power of two that the device shifts away taken out. A CIC factor of 0 counts as 1.
fn cic_gain(direction: Direction, cic: u8) -> f64 {
    let stages = match direction {
        Direction::Rx => 4,
        Direction::Tx => 3,
    };
    let gain = u64::from(cic.max(1)).pow(stages);
    CORDIC_GAIN * gain as f64 / gain.next_power_of_two() as f64
}
