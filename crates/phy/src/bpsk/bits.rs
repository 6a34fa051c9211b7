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
    let whole = |number: u64| word(base ^ number);
    // The rest of the word that the first bit lies in, then whole words.
    let into = (first % 64) as usize;
    let (head, rest) = bits.split_at_mut(bits.len().min((64 - into) % 64));
    unpack(whole(first / 64) >> into, head);
    for (number, bits) in (first.div_ceil(64)..).zip(rest.chunks_mut(64)) {
        unpack(whole(number), bits);
    }
}

/// The lowest bits of a word, the first the lowest.
fn unpack(word: u64, bits: &mut [Bit]) {
    for (byte, bits) in word.to_le_bytes().into_iter().zip(bits.chunks_mut(8)) {
        // Bit n of the byte alone in byte n, then as its lowest bit.
        let apart = u64::from(byte).wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        let ones = (apart + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101;
        bits.iter_mut().zip(ones.to_le_bytes()).for_each(|(bit, one)| *bit = Bit(one));
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
    /// Gives a packet every so many slots, and none in between; the sequence goes on in between all the same.
    #[param(unit = "slots", range = 1..=1_000_000, default = 1)]
    every: u64,
    slot: u64,
) {
    let _ = items;
    if !slot.is_multiple_of(every) {
        return output.truncate(0);
    }
    let first = output.first_item();
    fill(seed, first, &mut output);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_words_one_by_one() {
        for first in [0, 1, 63, 64, 65, 1000] {
            for len in [0, 1, 7, 62, 63, 64, 65, 200] {
                let mut bits = vec![Bit(9); len];
                fill(7, first, &mut bits);
                let base = word(7 ^ 0x7461_6b74);
                let alone = |at: u64| Bit((word(base ^ (at / 64)) >> (at % 64)) as u8 & 1);
                assert!(bits.iter().zip(first..).all(|(bit, at)| *bit == alone(at)), "{len} bits from {first}");
            }
        }
    }

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
