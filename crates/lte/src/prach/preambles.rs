//! The 64 preambles of a cell: which root, which cyclic shift, and their spectra. TS 36.211 section 5.7.2.

use std::f64::consts::TAU;

use num_complex::{Complex32, Complex64};

use super::roots::physical_root;
use super::{PREAMBLES, PrachConfig, SEQUENCE_LEN};

/// A root sequence and the preambles that are shifts of it.
pub(super) struct Root {
    /// Points by which an offset of one subcarrier, 1.25 kHz, delays the sequence: the inverse of u modulo 839.
    pub(super) doppler_shift: usize,
    /// Its first preamble.
    pub(super) first: u8,
    /// How many preambles it has.
    pub(super) preambles: u8,
    /// The spectrum over 839: power 1/839 a subcarrier.
    pub(super) spectrum: Vec<Complex32>,
}

/// All of a cell.
pub(super) struct Preambles {
    /// In the order of their preambles.
    pub(super) roots: Vec<Root>,
    /// N_CS; 0 is one preamble a root.
    pub(super) shift: usize,
    /// exp(j 2 pi k / 839).
    turns: Vec<Complex32>,
}

impl Preambles {
    /// The preambles of a configuration that was checked.
    pub(super) fn new(config: &PrachConfig) -> Preambles {
        let shift = config.shift();
        let of_root = SEQUENCE_LEN.checked_div(shift).unwrap_or(1).min(PREAMBLES.into());
        let turns: Vec<Complex64> =
            (0..SEQUENCE_LEN).map(|k| Complex64::from_polar(1.0, TAU * k as f64 / SEQUENCE_LEN as f64)).collect();
        let roots = (0..usize::from(PREAMBLES)).step_by(of_root).enumerate().map(|(at, first)| {
            let u = physical_root(usize::from(config.root_sequence) + at);
            let inverse = inverse(u);
            Root {
                doppler_shift: inverse,
                first: first as u8,
                preambles: of_root.min(usize::from(PREAMBLES) - first) as u8,
                spectrum: spectrum(u, inverse, &turns),
            }
        });
        Preambles { roots: roots.collect(), shift, turns: turns.iter().map(narrow).collect() }
    }

    /// The spectrum of a preamble, subcarrier by subcarrier, of power 1/839 each.
    pub(super) fn spectrum(&self, preamble: u8) -> impl Iterator<Item = Complex32> {
        let of_root = self.roots[0].preambles;
        let root = &self.roots[usize::from(preamble / of_root)];
        let shift = usize::from(preamble % of_root) * self.shift;
        // C_v points earlier: the phase grows with the subcarrier.
        root.spectrum.iter().enumerate().map(move |(k, value)| value * self.turns[k * shift % SEQUENCE_LEN])
    }
}

/// The transform of x_u over 839. With s = k / u modulo 839 it is conj(x_u(s)) times its value at 0: completing the square
/// of the exponent u n (n + 1) / 2 + n k moves the sum by s.
fn spectrum(u: usize, inverse: usize, turns: &[Complex64]) -> Vec<Complex32> {
    let exponent = |n: usize| u * (n * (n + 1) / 2 % SEQUENCE_LEN) % SEQUENCE_LEN;
    let sum: Complex64 = (0..SEQUENCE_LEN).map(|n| turns[exponent(n)].conj()).sum();
    let scaled = sum / SEQUENCE_LEN as f64;
    (0..SEQUENCE_LEN).map(|k| narrow(&(turns[exponent(k * inverse % SEQUENCE_LEN)] * scaled))).collect()
}

/// 1 / u modulo 839, a prime.
fn inverse(u: usize) -> usize {
    (1..SEQUENCE_LEN).find(|candidate| candidate * u % SEQUENCE_LEN == 1).unwrap_or(1)
}

fn narrow(value: &Complex64) -> Complex32 {
    Complex32::new(value.re as f32, value.im as f32)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn spectra_are_transforms_of_the_shifted_sequences() {
        let config =
            PrachConfig { root_sequence: 22, zero_correlation_zone: 14, frequency_offset_blocks: 0, config_index: 0 };
        let preambles = Preambles::new(&config);
        assert_eq!((preambles.roots.len(), preambles.roots[21].preambles), (22, 1));
        for (preamble, logical, shift) in [(0, 22, 0), (1, 22, 279), (5, 23, 558), (63, 43, 0)] {
            let u = physical_root(logical) as f64;
            let sequence = |n: usize| {
                let n = ((n + shift) % SEQUENCE_LEN) as f64;
                Complex64::from_polar(1.0, -PI * u * n * (n + 1.0) / SEQUENCE_LEN as f64)
            };
            for (k, got) in preambles.spectrum(preamble).enumerate().step_by(97) {
                let turn = |n: usize| Complex64::from_polar(1.0 / 839.0, -TAU * (n * k) as f64 / 839.0);
                let want: Complex64 = (0..SEQUENCE_LEN).map(|n| sequence(n) * turn(n)).sum();
                assert!((narrow(&want) - got).norm() < 1e-6, "{preamble} {k}: {want} {got}");
            }
        }
    }

    #[test]
    fn a_zone_says_how_many_roots_a_cell_takes() {
        let roots = |zero_correlation_zone| {
            let config =
                PrachConfig { root_sequence: 830, zero_correlation_zone, frequency_offset_blocks: 0, config_index: 0 };
            Preambles::new(&config).roots.len()
        };
        assert_eq!((0..16).map(roots).collect::<Vec<_>>(), [64, 1, 2, 2, 2, 2, 3, 3, 4, 5, 6, 8, 10, 13, 22, 32]);
    }
}
