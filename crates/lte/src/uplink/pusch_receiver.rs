//! The PUSCH to soft values of the code word: an MMSE equaliser on each subcarrier, the inverse transform, demodulation, and TS
//! 36.212 section 5.2.2.8 backwards.

use std::f32::consts::{FRAC_1_SQRT_2, TAU};

use num_complex::Complex32;
use takt_dsp::lte::{demodulate, descramble, scramble};
use takt_fft::FftDirection;

use super::config::DATA_SYMBOLS;
use super::interleaver::{ack_position, deinterleave};
use super::pusch_channel::{Channel, Estimate};
use super::pusch_transmitter::{c_init, data_symbol};
use super::reference::{REFERENCE_SYMBOL, References};
use super::transforms::Transforms;
use super::{PuschAllocation, UplinkConfig};
use crate::{Error, Numerology, ResourceGrid, SYMBOLS_OF_SLOT, Tti};

/// A soft value of 1 is a log-likelihood ratio of 1/4, so that 127 is one of 32.
const SOFT_OF_LLR: f32 = 4.0;

/// Standard deviations that what is no acknowledgement exceeds in 1 of 100 cases on one side.
const ACK_DEVIATIONS: f32 = 2.326;

/// How a PUSCH was received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PuschQuality {
    /// Signal to noise ratio of the symbols after the equaliser and the inverse transform. -30 dB if nothing is there.
    pub snr_db: f32,
    /// How late the signal is, in samples, against the transform of the demodulator.
    pub timing_samples: f32,
    /// How much higher its frequency is, from the turn between the slots: within 1 kHz.
    pub frequency_hz: f32,
    /// Mean power of the signal on an element, in the grid's scale.
    pub power: f32,
    /// Mean power of noise on an element.
    pub noise_power: f32,
    /// The acknowledgement, true for "right". None: none was asked for, or the terminal sent none.
    pub ack: Option<bool>,
}

impl PuschQuality {
    const NOTHING: PuschQuality =
        PuschQuality { snr_db: -30.0, timing_samples: 0.0, frequency_hz: 0.0, power: 0.0, noise_power: 0.0, ack: None };

    /// The timing advance command that corrects the timing, 0 to 63, of which 31 changes nothing: TS 36.213 section 4.2.3.
    #[must_use]
    pub fn timing_command(&self, numerology: &Numerology) -> u8 {
        let steps = f64::from(self.timing_samples) * 30.72e6 / numerology.rate_sps() / 16.0;
        (31.0 + steps.round()).clamp(0.0, 63.0) as u8
    }
}

/// Receives one PUSCH after the other.
pub struct PuschReceiver {
    config: UplinkConfig,
    fft_len: usize,
    references: References,
    transforms: Transforms,
    channel: Channel,
    gains: Vec<Complex32>,
    symbol: Vec<Complex32>,
    /// The equalised elements of each data symbol, and the noise among them.
    symbols: Vec<Complex32>,
    noise: [f32; DATA_SYMBOLS],
    llrs: Vec<i8>,
    sequence: Vec<u8>,
}

impl PuschReceiver {
    /// Plans all numbers of blocks. `numerology` only gives the unit of timing.
    ///
    /// # Errors
    /// If the configuration has a value that the standard lacks.
    pub fn new(config: &UplinkConfig, numerology: &Numerology) -> Result<PuschReceiver, Error> {
        config.check()?;
        let bandwidth = config.cell.bandwidth;
        let carriers = bandwidth.subcarriers();
        Ok(PuschReceiver {
            config: *config,
            fft_len: numerology.fft_len,
            references: References::new(config),
            transforms: Transforms::new(bandwidth, FftDirection::Inverse),
            channel: Channel::new(carriers),
            gains: vec![Complex32::default(); carriers],
            symbol: vec![Complex32::default(); carriers],
            symbols: vec![Complex32::default(); DATA_SYMBOLS * carriers],
            noise: [0.0; DATA_SYMBOLS],
            llrs: vec![0; DATA_SYMBOLS * carriers * 6],
            sequence: vec![0; DATA_SYMBOLS * carriers * 6],
        })
    }

    /// Writes the soft values of the code word, in units of a quarter. They are 0 in place of an acknowledgement that was found.
    ///
    /// # Panics
    /// If the allocation is none of this carrier, if `llrs` has not [`PuschAllocation::coded_bits`] values, or if the grid has
    /// another bandwidth.
    pub fn receive(
        &mut self,
        tti: Tti,
        rnti: u16,
        allocation: &PuschAllocation,
        with_ack: bool,
        received: &ResourceGrid,
        llrs: &mut [i8],
    ) -> PuschQuality {
        let bandwidth = self.config.cell.bandwidth;
        allocation.check(bandwidth).expect("an allocation of this carrier");
        assert_eq!(llrs.len(), allocation.coded_bits(), "soft values of the code word");
        assert_eq!(received.subcarriers(), bandwidth.subcarriers(), "bandwidth of the grid");
        if !self.holds_a_signal(allocation, received) {
            llrs.fill(0);
            return PuschQuality::NOTHING;
        }
        let estimate = self.estimate(tti, allocation, received);
        self.equalise(allocation, received, &estimate);
        let scrambling = c_init(self.config.cell.id.get(), rnti, tti);
        let ack = if with_ack { self.find_ack(allocation, scrambling) } else { None };
        self.demodulate(allocation, scrambling, ack.is_some(), llrs);
        self.quality(&estimate, ack)
    }

    /// Whether powers and their products are numbers that f32 has.
    fn holds_a_signal(&self, allocation: &PuschAllocation, received: &ResourceGrid) -> bool {
        let (first, carriers) = (allocation.first_subcarrier(), allocation.subcarriers());
        let of_symbol =
            |symbol| received.symbol(symbol)[first..][..carriers].iter().map(Complex32::norm_sqr).sum::<f32>();
        let in_range = |power: &f32| (1e-24..1e24).contains(power);
        let references = [REFERENCE_SYMBOL, REFERENCE_SYMBOL + SYMBOLS_OF_SLOT].map(of_symbol);
        references.iter().all(in_range) && in_range(&(0..crate::SYMBOLS).map(of_symbol).sum())
    }

    fn estimate(&mut self, tti: Tti, allocation: &PuschAllocation, received: &ResourceGrid) -> Estimate {
        let (first, carriers) = (allocation.first_subcarrier(), allocation.subcarriers());
        for slot in 0..2 {
            let reference = &mut self.symbol[..carriers];
            self.references.write(allocation, tti.first_slot() + slot, reference);
            let symbol = &received.symbol(slot * SYMBOLS_OF_SLOT + REFERENCE_SYMBOL)[first..];
            let raw = self.channel.raw_mut(slot, carriers);
            raw.iter_mut().zip(symbol).zip(reference).for_each(|((raw, y), sent)| *raw = y * sent.conj());
        }
        self.channel.estimate(carriers)
    }

    /// Fills `symbols` with what was sent, without bias, and `noise` with the variance of what is not.
    fn equalise(&mut self, allocation: &PuschAllocation, received: &ResourceGrid, estimate: &Estimate) {
        let (first, carriers) = (allocation.first_subcarrier(), allocation.subcarriers());
        // 60 dB is as good as it gets: f32 ends not far from there.
        let noise = estimate.noise + estimate.gain_noise + 1e-6 * estimate.power + f32::MIN_POSITIVE;
        for (at, symbols) in self.symbols.chunks_exact_mut(carriers).take(DATA_SYMBOLS).enumerate() {
            let gains = &mut self.gains[..carriers];
            self.channel.gains(estimate, data_symbol(at), gains);
            let elements = &received.symbol(data_symbol(at))[first..];
            let lost = noise * divide_by_channel(elements, gains, noise, symbols);
            self.transforms.apply(symbols);
            // The equaliser leaves 1 - lost of the symbols; the rest of them, and noise, make lost (1 - lost).
            let lost = (lost / carriers as f32).clamp(1e-7, 0.9999);
            let restored = 1.0 / (1.0 - lost);
            symbols.iter_mut().for_each(|symbol| *symbol *= restored);
            self.noise[at] = lost * restored;
        }
    }

    /// The acknowledgement is sent on two opposite corners of the constellation. Data there would be a random walk.
    fn find_ack(&mut self, allocation: &PuschAllocation, scrambling: u32) -> Option<bool> {
        let (rows, group) = (allocation.subcarriers(), allocation.modulation.bits());
        let sequence = &mut self.sequence[..allocation.coded_bits()];
        sequence.fill(0);
        scramble(scrambling, sequence);
        let (mut sum, mut variance) = (0.0, 0.0);
        for at in 0..self.config.ack_symbols(allocation) {
            let position = ack_position(at, rows);
            let symbol = self.symbols[position];
            let sign = if sequence[position * group] == 0 { 1.0 } else { -1.0 };
            sum += sign * (symbol.re + symbol.im) * FRAC_1_SQRT_2;
            variance += (1.0 + self.noise[position / rows]) / 2.0;
        }
        (sum.abs() > ACK_DEVIATIONS * variance.sqrt()).then_some(sum < 0.0)
    }

    fn demodulate(&mut self, allocation: &PuschAllocation, scrambling: u32, with_ack: bool, llrs: &mut [i8]) {
        let (rows, group) = (allocation.subcarriers(), allocation.modulation.bits());
        let sent = &mut self.llrs[..llrs.len()];
        let symbols = self.symbols.chunks_exact(rows);
        for ((sent, symbols), noise) in sent.chunks_exact_mut(rows * group).zip(symbols).zip(self.noise) {
            demodulate(allocation.modulation, SOFT_OF_LLR / noise, symbols, None, sent);
        }
        descramble(scrambling, sent);
        if with_ack {
            let symbols = self.config.ack_symbols(allocation);
            (0..symbols).for_each(|at| sent[ack_position(at, rows) * group..][..group].fill(0));
        }
        deinterleave(sent, rows, group, llrs);
    }

    fn quality(&self, estimate: &Estimate, ack: Option<bool>) -> PuschQuality {
        let noise = self.noise.iter().sum::<f32>() / DATA_SYMBOLS as f32;
        PuschQuality {
            snr_db: -10.0 * noise.log10(),
            timing_samples: -estimate.slope / TAU * self.fft_len as f32,
            frequency_hz: estimate.turn * SYMBOLS_OF_SLOT as f32 / TAU / 0.5e-3,
            power: estimate.power,
            noise_power: estimate.noise,
            ack,
        }
    }
}

/// Subcarriers that are equalised at once: a number that every allocation is a multiple of.
const AT_ONCE: usize = 12;

/// Writes each element times its gain's conjugate over the power of gain and noise, and answers the sum of these divisors'
/// reciprocals.
fn divide_by_channel(elements: &[Complex32], gains: &[Complex32], noise: f32, symbols: &mut [Complex32]) -> f32 {
    let mut sums = [0.0; AT_ONCE];
    let parts = elements.as_chunks::<AT_ONCE>().0.iter().zip(gains.as_chunks::<AT_ONCE>().0);
    for (symbols, (elements, gains)) in symbols.as_chunks_mut::<AT_ONCE>().0.iter_mut().zip(parts) {
        let over: [f32; AT_ONCE] = std::array::from_fn(|at| 1.0 / (gains[at].norm_sqr() + noise));
        for at in 0..AT_ONCE {
            symbols[at] = elements[at] * gains[at].conj() * over[at];
            sums[at] += over[at];
        }
    }
    sums.iter().sum()
}
