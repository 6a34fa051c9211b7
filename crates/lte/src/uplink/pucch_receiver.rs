//! The PUCCH to requests, acknowledgements and reports, or to "nothing was sent".
//!
//! A block has several terminals at once, on other cyclic shifts and covers, so nothing is estimated but along the own sequence.
//! Each slot has a channel of its own, that does not change within the slot. For each word that may have been sent, the energy
//! along it is compared with noise. Under noise alone their ratio has a known distribution, so thresholds follow from the
//! probability of a false alarm; they hold at any scale of the grid.

use num_complex::Complex32;

use super::UplinkConfig;
use super::block_code::BLOCK_CODE_BITS;
use super::pucch_resource::{DATA_OF_1, DATA_OF_2, FREE_COVER, Place, REFERENCES_OF_1, Resources, report_c_init};
use super::pucch_transmitter::{factors_of_1, report_values};
use crate::{Error, ResourceGrid, SUBCARRIERS_OF_BLOCK, SYMBOLS_OF_SLOT, Tti};

/// Energy over noise that two slots without a signal exceed in 1 of 100 cases. The noise of format 1 is the mean of 24 values, and
/// t is exceeded with probability x^24 (1 + 24 (1 - x)), x = 24 / (24 + t). TS 36.104 section 8.3.1 asks for 1 %.
const ACK_THRESHOLD: f32 = 7.48;
/// In 1 of 1000 cases: requests are looked for where mostly none is sent, and a false one costs a grant.
const REQUEST_THRESHOLD: f32 = 11.0;
/// The least share of a block's energy. A stronger terminal on the next cyclic shift but one that is a quarter of a prefix late
/// leaks 1/78 of its energy, and no cover takes that away.
const LEAST_SHARE: f32 = 1.0 / 64.0;
/// Share of the energy on 14 symbols that one of the 16 words has, without a signal, in less than 1 of 100 cases: a word has more
/// than b with probability (1 - b)^12 (1 + 12 b).
const REPORT_THRESHOLD: f32 = 0.545;

/// How a PUCCH was received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PucchQuality {
    /// Signal to noise ratio of an element.
    pub snr_db: f32,
    /// Power of the signal on an element, in the grid's scale.
    pub power: f32,
}

/// Receives resources one after the other.
pub struct PucchReceiver {
    cell: u16,
    resources: Resources,
}

impl PucchReceiver {
    /// # Errors
    /// If the configuration has a value that the standard lacks.
    pub fn new(config: &UplinkConfig) -> Result<PucchReceiver, Error> {
        config.check()?;
        Ok(PucchReceiver { cell: config.cell.id.get(), resources: Resources::new(config) })
    }

    /// Whether a scheduling request was sent on a resource n^(1): format 1. Without one, 1 of 1000 is seen.
    ///
    /// # Panics
    /// If the grid is one of another bandwidth, as the others.
    #[must_use]
    pub fn request(&self, tti: Tti, resource: u16, received: &ResourceGrid) -> Option<PucchQuality> {
        let Energies { plus, noise, floor, .. } = self.format_1(tti, resource, received)?;
        (plus > floor.max(REQUEST_THRESHOLD * noise)).then(|| quality(plus, noise))
    }

    /// The acknowledgement on a resource n^(1), true for "right", or none if nothing was sent: format 1a. If nothing was sent, 1
    /// of 100 is seen as "right", and 1 of 100 as "wrong".
    #[must_use]
    pub fn acknowledgement(&self, tti: Tti, resource: u16, received: &ResourceGrid) -> Option<(bool, PucchQuality)> {
        let Energies { plus, minus, noise, floor } = self.format_1(tti, resource, received)?;
        let most = plus.max(minus);
        (most > floor.max(ACK_THRESHOLD * noise)).then(|| (minus > plus, quality(most, noise)))
    }

    /// The CQI on a resource n^(2), or none if nothing was sent: format 2. If nothing was sent, less than 1 of 100 is seen.
    #[must_use]
    pub fn report(&self, tti: Tti, rnti: u16, resource: u16, received: &ResourceGrid) -> Option<(u8, PucchQuality)> {
        let places = self.resources.format_2(resource);
        let symbols = [0, 1].map(|slot| self.along(tti, slot, &places[slot], received));
        let all: f32 = symbols.iter().flatten().map(Complex32::norm_sqr).sum();
        if !is_a_number(all) {
            return None;
        }
        let c_init = report_c_init(self.cell, rnti, tti);
        let (mut best, mut most) = (0, -1.0);
        for cqi in 0..16 {
            let energy = report_energy(cqi, c_init, &symbols);
            if energy > most {
                (best, most) = (cqi, energy);
            }
        }
        // The rest is 12 values of noise, so there is always a little.
        let noise = (all - most).max(1e-6 * all) / 12.0;
        (most > REPORT_THRESHOLD * all).then(|| (best, quality(most, noise)))
    }

    /// A slot's symbols along the sequence of a resource, scaled so that noise keeps its power.
    fn along(&self, tti: Tti, slot: usize, place: &Place, received: &ResourceGrid) -> [Complex32; SYMBOLS_OF_SLOT] {
        let scale = 1.0 / (SUBCARRIERS_OF_BLOCK as f32).sqrt();
        std::array::from_fn(|symbol| {
            let sequence = self.resources.sequence(tti, slot, symbol, place.shift);
            let elements = &received.symbol(slot * SYMBOLS_OF_SLOT + symbol)[place.block * SUBCARRIERS_OF_BLOCK..];
            elements.iter().zip(sequence).map(|(y, value)| y * value.conj()).sum::<Complex32>() * scale
        })
    }

    fn format_1(&self, tti: Tti, resource: u16, received: &ResourceGrid) -> Option<Energies> {
        let mut energies = Energies { plus: 0.0, minus: 0.0, noise: 0.0, floor: 0.0 };
        for (slot, place) in self.resources.format_1(resource).iter().enumerate() {
            let symbols = self.along(tti, slot, place, received);
            let factors = factors_of_1(place, 1.0);
            let sum = |of: &[usize]| of.iter().map(|&l| symbols[l] * factors[l].conj()).sum::<Complex32>();
            let (references, data) = (sum(&REFERENCES_OF_1), sum(&DATA_OF_1));
            energies.plus += (references + data).norm_sqr() / SYMBOLS_OF_SLOT as f32;
            energies.minus += (references - data).norm_sqr() / SYMBOLS_OF_SLOT as f32;
            energies.noise += self.noise(tti, slot, place.block, received) / 2.0;
            energies.floor += LEAST_SHARE * energy_of_block(slot, place.block, received);
        }
        // Exact copies of signals have no noise: what rounding leaves of them must do.
        energies.noise = energies.noise.max(1e-6 * energies.plus.max(energies.minus));
        is_a_number(energies.floor).then_some(energies)
    }

    /// The mean power of noise in a slot of a block: what is seen through the cover that no terminal has. Symbols are turned by the
    /// cell's shifts first, which all terminals have alike.
    fn noise(&self, tti: Tti, slot: usize, block: usize, received: &ResourceGrid) -> f32 {
        let mut sums = [Complex32::default(); SUBCARRIERS_OF_BLOCK];
        for (symbol, cover) in DATA_OF_1.into_iter().zip(FREE_COVER) {
            let sequence = self.resources.sequence(tti, slot, symbol, 0);
            let elements = &received.symbol(slot * SYMBOLS_OF_SLOT + symbol)[block * SUBCARRIERS_OF_BLOCK..];
            for ((sum, y), value) in sums.iter_mut().zip(elements).zip(sequence) {
                *sum += y * value.conj() * cover;
            }
        }
        sums.iter().map(Complex32::norm_sqr).sum::<f32>() / (sums.len() * FREE_COVER.len()) as f32
    }
}

/// Along the two words of format 1a, as sums over the slots; the mean power of noise; and what leaks may have.
struct Energies {
    plus: f32,
    minus: f32,
    noise: f32,
    floor: f32,
}

/// The energy of all terminals in a slot of a block.
fn energy_of_block(slot: usize, block: usize, received: &ResourceGrid) -> f32 {
    let of_symbol = |symbol| &received.symbol(symbol)[block * SUBCARRIERS_OF_BLOCK..][..SUBCARRIERS_OF_BLOCK];
    let symbols = slot * SYMBOLS_OF_SLOT..(slot + 1) * SYMBOLS_OF_SLOT;
    symbols.flat_map(of_symbol).map(Complex32::norm_sqr).sum()
}

/// The energy of both slots along a report.
fn report_energy(cqi: u8, c_init: u32, symbols: &[[Complex32; SYMBOLS_OF_SLOT]; 2]) -> f32 {
    let mut values = [Complex32::default(); BLOCK_CODE_BITS / 2];
    report_values(cqi, c_init, &mut values);
    let of_slot = |(symbols, values): (&[Complex32; SYMBOLS_OF_SLOT], &[Complex32])| {
        let data = DATA_OF_2.iter().zip(values).map(|(&l, value)| symbols[l] * value.conj());
        (data.sum::<Complex32>() + symbols[1] + symbols[5]).norm_sqr() / SYMBOLS_OF_SLOT as f32
    };
    symbols.iter().zip(values.chunks_exact(5)).map(of_slot).sum()
}

/// From the energy along the word that was sent, in two slots.
fn quality(energy: f32, noise: f32) -> PucchQuality {
    let elements = (2 * SYMBOLS_OF_SLOT * SUBCARRIERS_OF_BLOCK) as f32;
    let power = (energy - 2.0 * noise).max(0.0) / elements;
    PucchQuality { snr_db: 10.0 * (power / noise).max(1e-3).log10(), power }
}

fn is_a_number(energy: f32) -> bool {
    (1e-28..1e28).contains(&energy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_those_of_their_false_alarms() {
        let exceeded = |threshold: f64| {
            let x = 24.0 / (24.0 + threshold);
            x.powi(24) * (1.0 + 24.0 * (1.0 - x))
        };
        assert!((exceeded(ACK_THRESHOLD.into()) / 0.01 - 1.0).abs() < 0.01);
        assert!((exceeded(REQUEST_THRESHOLD.into()) / 0.001 - 1.0).abs() < 0.01);
        let b = f64::from(REPORT_THRESHOLD);
        let of_16 = 16.0 * (1.0 - b).powi(12) * (1.0 + 12.0 * b);
        assert!((0.008..0.01).contains(&of_16), "{of_16}");
    }
}
