//! Base sequences of the uplink's reference signals and of the PUCCH, TS 36.211 section 5.5.1, without hopping (v = 0).

use std::f64::consts::PI;

use num_complex::{Complex32, Complex64};

use super::short_sequences::{PHASES_OF_1, PHASES_OF_2};
use crate::SUBCARRIERS_OF_BLOCK;

/// The sequence of group u, 0 to 29, for a number of resource blocks. All of its values have power 1.
pub(super) fn base_sequence(group: usize, blocks: usize) -> Vec<Complex32> {
    match blocks {
        1 => PHASES_OF_1[group].iter().map(|&phase| turn(f64::from(phase) / 8.0)).collect(),
        2 => PHASES_OF_2[group].iter().map(|&phase| turn(f64::from(phase) / 8.0)).collect(),
        _ => zadoff_chu(group, blocks * SUBCARRIERS_OF_BLOCK),
    }
}

/// exp(2 pi j `turns`).
fn turn(turns: f64) -> Complex32 {
    let Complex64 { re, im } = Complex64::cis(2.0 * PI * turns);
    Complex32::new(re as f32, im as f32)
}

/// Turns by twelfths: the cyclic shifts of a sequence on neighbouring subcarriers.
pub(super) fn twelfths() -> [Complex32; 12] {
    std::array::from_fn(|n| turn(n as f64 / 12.0))
}

/// Section 5.5.1.1: the cyclic extension of a Zadoff-Chu sequence of the greatest prime length.
fn zadoff_chu(group: usize, len: usize) -> Vec<Complex32> {
    let prime = greatest_prime_below(len);
    // q = floor(N_ZC (u + 1) / 31 + 1/2)
    let root = (2 * prime * (group + 1) + 31) / 62;
    (0..len)
        .map(|n| n % prime)
        .map(|m| turn(-((root * (m * (m + 1) % (2 * prime)) % (2 * prime)) as f64) / (2 * prime) as f64))
        .collect()
}

fn greatest_prime_below(len: usize) -> usize {
    let is_prime = |n: usize| (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    (2..len).rev().find(|&n| is_prime(n)).expect("a length of 3 at least")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_those_of_the_specification() {
        assert_eq!([36, 300, 600, 1200].map(greatest_prime_below), [31, 293, 599, 1193]);
    }

    #[test]
    fn sequences_of_two_groups_differ_and_all_values_have_power_1() {
        for blocks in [1, 2, 3, 25] {
            let sequences: Vec<_> = (0..30).map(|group| base_sequence(group, blocks)).collect();
            for (u, one) in sequences.iter().enumerate() {
                assert_eq!(one.len(), 12 * blocks);
                assert!(one.iter().all(|value| (value.norm() - 1.0).abs() < 1e-6));
                for other in &sequences[..u] {
                    let product: Complex32 = one.iter().zip(other).map(|(a, b)| a * b.conj()).sum();
                    assert!(product.norm() < 0.9 * one.len() as f32, "{blocks} blocks, group {u}");
                }
            }
        }
    }

    /// Two other programs have the same tables: CRC-32 of phi(n) + 3, row after row, over pyphysim's and OpenLTE's.
    #[test]
    fn short_sequences_are_those_of_others() {
        let crc = |bytes: &mut dyn Iterator<Item = i8>| {
            let step = |crc: u32, byte: i8| {
                (0..8).fold(crc ^ (byte + 3) as u32, |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
            };
            !bytes.fold(!0, step)
        };
        assert_eq!(crc(&mut PHASES_OF_1.into_iter().flatten()), 3_758_168_205);
        assert_eq!(crc(&mut PHASES_OF_2.into_iter().flatten()), 3_749_921_861);
    }
}
