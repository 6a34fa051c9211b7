//! Between chips and the samples of an N200: 1.28 Mcps and 1.25 MS/s, 128 to 125.
//!
//! Both grids lie on ticks of 160 MHz, a sample every 128, a chip every 125, and both begin with the subframe. The band is that of the
//! samples: what chips have beyond 500 kHz fades, and is gone at 625 kHz. That leaves a pulse of some seven chips, which the
//! receiver finds as paths of its channel; it costs half a decibel with one code, and with 16 codes what the tests say.

use num_complex::Complex32;
use takt_base::Tick;

use super::layout::{ANSWER_SAMPLES, ANSWER_SLOT, CHIPS, DEADLINE_CHIP, SAMPLES, SLOT_CHIPS, traffic_slot};
use crate::{Grid, Resampler};

/// Ticks from sample to sample.
const SAMPLE_STEP: u32 = 128;

/// Ticks from chip to chip.
const CHIP_STEP: u32 = 125;

/// Converts whole subframes and answers, each by itself: what lies outside is taken for silence. Without delay.
pub struct Converter {
    to_chips: Resampler,
    to_samples: Resampler,
}

impl Converter {
    /// With both filters.
    #[must_use]
    pub fn new() -> Converter {
        let mut converter = Converter { to_chips: Resampler::new(), to_samples: Resampler::new() };
        // The taps are made with the first call.
        let (mut samples, mut chips) = ([Complex32::default(); SAMPLES], [Complex32::default(); CHIPS]);
        converter.to_chips(&samples, &mut chips);
        converter.to_samples(&chips, &mut samples);
        converter
    }

    /// The chips of a subframe's samples.
    ///
    /// # Panics
    /// If there are not [`SAMPLES`] and [`CHIPS`].
    pub fn to_chips(&mut self, samples: &[Complex32], chips: &mut [Complex32]) {
        assert_eq!((samples.len(), chips.len()), (SAMPLES, CHIPS), "a subframe");
        let (from, to) = (Place::SUBFRAME, Place::chips(0));
        convert(&mut self.to_chips, from, samples, to, chips);
    }

    /// The chips of traffic slot `number` alone, the same that [`to_chips`](Converter::to_chips) gives, as soon as the first
    /// [`slot_samples`] samples of the subframe are there.
    ///
    /// # Panics
    /// If there are fewer samples, there is no such slot, or there are not [`SLOT_CHIPS`] chips.
    pub fn slot_to_chips(&mut self, number: usize, samples: &[Complex32], chips: &mut [Complex32]) {
        assert_eq!(chips.len(), SLOT_CHIPS, "a slot");
        let samples = &samples[..slot_samples(number)];
        convert(&mut self.to_chips, Place::SUBFRAME, samples, Place::chips(traffic_slot(number).start), chips);
    }

    /// The samples of a subframe's chips.
    ///
    /// # Panics
    /// If there are not [`CHIPS`] and [`SAMPLES`].
    pub fn to_samples(&mut self, chips: &[Complex32], samples: &mut [Complex32]) {
        assert_eq!((samples.len(), chips.len()), (SAMPLES, CHIPS), "a subframe");
        let (from, to) = (Place::chips(0), Place::SUBFRAME);
        convert(&mut self.to_samples, from, chips, to, samples);
    }

    /// An answer's samples, from the deadline on; the chips of its slot are `burst`.
    ///
    /// # Panics
    /// If there are not [`SLOT_CHIPS`] and [`ANSWER_SAMPLES`].
    pub fn answer_to_samples(&mut self, burst: &[Complex32], samples: &mut [Complex32]) {
        assert_eq!((burst.len(), samples.len()), (SLOT_CHIPS, ANSWER_SAMPLES), "an answer");
        let (from, to) = (Place::chips(traffic_slot(ANSWER_SLOT).start), Place::ANSWER);
        convert(&mut self.to_samples, from, burst, to, samples);
    }

    /// The chips of the answer's slot, of samples from the deadline on.
    ///
    /// # Panics
    /// If there are not [`ANSWER_SAMPLES`] and [`SLOT_CHIPS`].
    pub fn answer_to_chips(&mut self, samples: &[Complex32], burst: &mut [Complex32]) {
        assert_eq!((burst.len(), samples.len()), (SLOT_CHIPS, ANSWER_SAMPLES), "an answer");
        let (from, to) = (Place::ANSWER, Place::chips(traffic_slot(ANSWER_SLOT).start));
        convert(&mut self.to_chips, from, samples, to, burst);
    }
}

impl Default for Converter {
    fn default() -> Converter {
        Converter::new()
    }
}

/// How many of a subframe's samples the chips of traffic slot `number` are made of: those before it ends, and what the filter
/// reaches beyond.
///
/// # Panics
/// If there is no such slot.
///
/// ```
/// use takt_dsp::tdscdma::{SAMPLES, slot_samples};
/// assert_eq!([3, 6].map(slot_samples), [3745, SAMPLES]);
/// ```
#[must_use]
pub fn slot_samples(number: usize) -> usize {
    let last_chip = Tick((traffic_slot(number).end as u64 - 1) * u64::from(CHIP_STEP));
    let grid = Grid { first: Tick(0), step: SAMPLE_STEP, len: SAMPLES as u64 };
    let reach = Resampler::half_span(grid, 0.0, Tick(0), CHIP_STEP);
    SAMPLES.min(((last_chip + reach).0 / u64::from(SAMPLE_STEP)) as usize + 1)
}

/// A place in a subframe, on one of its grids.
#[derive(Clone, Copy)]
struct Place {
    first: Tick,
    step: u32,
}

impl Place {
    /// The samples of a subframe.
    const SUBFRAME: Place = Place { first: Tick(0), step: SAMPLE_STEP };

    /// The samples of an answer.
    const ANSWER: Place = Place { first: Tick(DEADLINE_CHIP as u64 * CHIP_STEP as u64), step: SAMPLE_STEP };

    fn chips(first: usize) -> Place {
        Place { first: Tick(first as u64 * u64::from(CHIP_STEP)), step: CHIP_STEP }
    }
}

fn convert(resampler: &mut Resampler, from: Place, x: &[Complex32], to: Place, y: &mut [Complex32]) {
    let grid = Grid { first: from.first, step: from.step, len: x.len() as u64 };
    y.fill(0.0.into());
    resampler.add(grid, 0.0, to.first, to.step, y, |at, block| {
        block.copy_from_slice(&x[at as usize..][..block.len()]);
    });
}
