//! Bits of a known sequence: bit n of seed s is the same wherever and whenever it is asked for.

use takt_runtime::{Bit, component};

/// A well-mixed word for each counter (splitmix64's finaliser).
fn word(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Bits `first`, `first + 1`, ... of sequence `seed`.
pub(super) fn fill(seed: u64, first: u64, bits: &mut [Bit]) {
    let base = word(seed ^ 0x7461_6b74);
    for (at, bit) in (first..).zip(bits) {
        *bit = Bit((word(base ^ (at / 64)) >> (at % 64)) as u8 & 1);
    }
}

/// Gives random bits, the same for the same seed.
#[component(name = "bit-source")]
fn bit_source(
    #[port(fixed = items)] mut output: Out<Bit>,
    /// Bits a slot.
    #[param(unit = "items", range = 1..=16_777_216, default = 1000)]
    items: u32,
    /// Which sequence.
    #[param(default = 1)]
    seed: u64,
) {
    let _ = items;
    let first = output.first_item();
    fill(seed, first, &mut output);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_one_however_it_is_cut_and_balanced() {
        let mut whole = [Bit(0); 10_000];
        fill(7, 0, &mut whole);
        let mut part = [Bit(0); 333];
        fill(7, 1234, &mut part);
        assert_eq!(part, whole[1234..1567]);
        let ones: u32 = whole.iter().map(|bit| u32::from(bit.0)).sum();
        assert!((4800..5200).contains(&ones), "{ones}");
    }
}
