//! The channel of a subframe out of its pilots.
//!
//! Pilots over what was sent are the channel at their places, and noise. First the mean delay goes: a window that is late by
//! half a prefix turns the phase so fast that smoothing would destroy the channel. Then the noise is measured, and with it
//! the filters are chosen, over frequency and then over time ([`super::channel`]). Over time the mean rotation is taken off
//! too. Both are put back at the end, so that the gains are those of the received elements.

use std::f64::consts::PI;

use num_complex::{Complex32, Complex64};

use super::band;
use super::channel::{OverFrequency, OverTime, class_of, seconds_of};
use super::drift::frequency_hz;
use super::noise::NoiseFilter;
use super::sequence::{REFERENCE_SYMBOLS, SPACING, comb, pilots};
use crate::{Bandwidth, CellId, Numerology, ResourceGrid, SYMBOLS, Sampling, Tti};

/// An axis of an element above this, or one that is no number, counts as nothing received: its square must stay finite.
const LARGEST: f32 = 1e15;

/// The channel that a subframe's pilots show. All fields are finite for any input.
#[derive(Clone, Debug)]
pub struct ChannelEstimate {
    /// The channel at each element: received = gain times sent, plus noise.
    pub gains: ResourceGrid,
    /// Power of the noise in each received element.
    pub noise_power: f32,
    /// Power of a received pilot without its noise; elements of power 1 arrive with this power.
    pub signal_power: f32,
    /// How late the signal is, by the mean delay of its paths, in samples. Found within a twelfth of the transform's length.
    pub timing_samples: f32,
    /// How far the received carrier is above the nominal one, from the phases of symbols. Found within 1.75 kHz.
    pub frequency_hz: f32,
}

impl ChannelEstimate {
    /// The ratio of signal to noise of a pilot in dB, -30 to 60.
    #[must_use]
    pub fn snr_db(&self) -> f32 {
        let ratio = self.signal_power / self.noise_power.max(f32::MIN_POSITIVE);
        (10.0 * ratio.max(1e-3).log10()).min(60.0)
    }
}

/// Estimates the channel of one cell. Subframes are independent of each other.
pub struct ChannelEstimator {
    id: CellId,
    bandwidth: Bandwidth,
    fft_len: usize,
    /// The filters of the two combs: that of symbols 0 and 7, and that of symbols 4 and 11.
    combs: [(OverFrequency, NoiseFilter); 2],
    over_time: OverTime,
    /// Each row is a symbol with pilots.
    pilots: [Vec<Complex32>; 4],
    rows: [Vec<Complex32>; 4],
    ramp: Vec<Complex32>,
    estimate: ChannelEstimate,
}

impl ChannelEstimator {
    /// Counts timing in samples of the standard rate.
    #[must_use]
    pub fn new(id: CellId, bandwidth: Bandwidth) -> ChannelEstimator {
        let standard = Numerology::new(bandwidth, Sampling::Standard).expect("the standard rate always exists");
        ChannelEstimator::with_numerology(id, bandwidth, &standard)
    }

    /// Counts timing in samples of this numerology.
    ///
    /// # Panics
    /// If the numerology is of another bandwidth.
    #[must_use]
    pub fn with_numerology(id: CellId, bandwidth: Bandwidth, numerology: &Numerology) -> ChannelEstimator {
        let subcarriers = bandwidth.subcarriers();
        assert_eq!(numerology.subcarriers, subcarriers, "subcarriers of the numerology and of the bandwidth");
        let combs = [0, 4].map(|symbol| {
            let comb = comb(id, symbol);
            let over_frequency = OverFrequency::new(comb, subcarriers);
            let noise = NoiseFilter::new(comb, &over_frequency.windows);
            (over_frequency, noise)
        });
        let row = |len: usize| [(); 4].map(|()| vec![Complex32::default(); len]);
        ChannelEstimator {
            id,
            bandwidth,
            fft_len: numerology.fft_len,
            over_time: OverTime::new(&combs[0].0),
            combs,
            pilots: row(subcarriers / SPACING),
            rows: row(subcarriers),
            ramp: vec![Complex32::default(); subcarriers],
            estimate: ChannelEstimate {
                gains: ResourceGrid::new(bandwidth),
                noise_power: 0.0,
                signal_power: 0.0,
                timing_samples: 0.0,
                frequency_hz: 0.0,
            },
        }
    }

    /// The last estimate.
    #[must_use]
    pub fn latest(&self) -> &ChannelEstimate {
        &self.estimate
    }

    /// The cell whose pilots it looks for.
    #[must_use]
    pub fn id(&self) -> CellId {
        self.id
    }

    /// Estimates from the pilots of a received subframe, whose elements may hold anything.
    ///
    /// # Panics
    /// If the grid is of another bandwidth.
    pub fn estimate(&mut self, tti: Tti, received: &ResourceGrid) -> &ChannelEstimate {
        assert_eq!(received.subcarriers(), self.bandwidth.subcarriers(), "subcarriers of grid and estimator");
        self.read_pilots(tti, received);
        let slope = band::slope(&self.pilots);
        band::ramp(slope, &mut self.ramp);
        self.take_delay_off();
        self.measure_power();
        let class = class_of(self.estimate.signal_power / self.estimate.noise_power.max(f32::MIN_POSITIVE));
        for (at, (pilots, row)) in self.pilots.iter().zip(&mut self.rows).enumerate() {
            self.combs[at % 2].0.apply(class, pilots, row);
        }
        let frequency = frequency_hz(&self.rows);
        self.fill_gains(class, frequency);
        self.estimate.timing_samples = (slope * self.fft_len as f64 / (2.0 * PI)) as f32;
        self.estimate.frequency_hz = frequency as f32;
        &self.estimate
    }

    /// Divides what was received on pilots by what was sent.
    fn read_pilots(&mut self, tti: Tti, received: &ResourceGrid) {
        for (row, symbol) in self.pilots.iter_mut().zip(REFERENCE_SYMBOLS) {
            let elements = received.symbol(symbol).iter().skip(comb(self.id, symbol)).step_by(SPACING);
            let sent = pilots(self.id, self.bandwidth, tti, symbol);
            for ((pilot, element), sent) in row.iter_mut().zip(elements).zip(sent) {
                // Not a number is not below it either.
                let sane = element.re.abs() < LARGEST && element.im.abs() < LARGEST;
                *pilot = if sane { element * sent.conj() } else { Complex32::default() };
            }
        }
    }

    fn take_delay_off(&mut self) {
        for (row, symbol) in self.pilots.iter_mut().zip(REFERENCE_SYMBOLS) {
            let turns = self.ramp.iter().skip(comb(self.id, symbol)).step_by(SPACING);
            row.iter_mut().zip(turns).for_each(|(pilot, turn)| *pilot *= turn.conj());
        }
    }

    fn measure_power(&mut self) {
        let (mut noise, mut all) = (0.0, 0.0);
        for (at, row) in self.pilots.iter().enumerate() {
            noise += self.combs[at % 2].1.power(row) / 4.0;
            all += row.iter().map(Complex32::norm_sqr).sum::<f32>() / (4 * row.len()) as f32;
        }
        self.estimate.noise_power = noise;
        self.estimate.signal_power = (all - noise).max(0.0);
    }

    /// Interpolates over time without delay and rotation, and puts both back.
    fn fill_gains(&mut self, class: usize, frequency: f64) {
        let turn = |symbol: usize, sign: f64| {
            let turn = Complex64::from_polar(1.0, sign * 2.0 * PI * frequency * seconds_of(symbol));
            Complex32::new(turn.re as f32, turn.im as f32)
        };
        for (row, symbol) in self.rows.iter_mut().zip(REFERENCE_SYMBOLS) {
            let back = turn(symbol, -1.0);
            row.iter_mut().zip(&self.ramp).for_each(|(value, ramp)| *value *= ramp * back);
        }
        let [first, second, third, fourth] = &self.rows;
        for symbol in 0..SYMBOLS {
            let ([a, b, c, d], turn) = (self.over_time.weights(class, symbol), turn(symbol, 1.0));
            let rows = first.iter().zip(second).zip(third).zip(fourth);
            let gains = self.estimate.gains.symbol_mut(symbol).iter_mut();
            gains.zip(rows).for_each(|(gain, (((one, two), three), four))| {
                *gain = (one * a + two * b + three * c + four * d) * turn;
            });
        }
    }
}
