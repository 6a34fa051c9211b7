//! Cyclic redundancy checks.

use std::hint::black_box;

use crc_fast::CrcAlgorithm;
use takt_dsp::crc::Crc;

use crate::measure::{Case, some_bits};

pub fn cases() -> Vec<Case> {
    vec![crc24a(6144), crc16(3840)]
}

/// takt's order of packed bits: the first in the lowest place of the first word.
fn words(bits: &[u8]) -> Vec<u64> {
    bits.chunks(64).map(|word| word.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit))).collect()
}

/// The others': the first in the highest place of the first byte.
fn bytes(bits: &[u8]) -> Vec<u8> {
    bits.chunks(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit)).collect()
}

fn crc24a(count: usize) -> Case {
    let bits = some_bits(count);
    let (packed, theirs, mut copy) = (words(&bits), bytes(&bits), vec![0; count]);
    let table = crc::Crc::<u32, crc::Table<16>>::new(&crc::CRC_24_LTE_A);
    assert_eq!(table.checksum(&theirs), Crc::Crc24A.remainder(&bits));
    assert_eq!(table.checksum(&theirs), Crc::Crc24A.remainder_words(&packed, count));
    let from = bits.clone();
    Case::new(format!("CRC24A of {count} bits"))
        .with("takt, packed", move || {
            black_box(Crc::Crc24A.remainder_words(black_box(&packed), count));
        })
        .with("takt, a byte a bit", move || {
            black_box(Crc::Crc24A.remainder(black_box(&bits)));
        })
        .with("crc, 16 tables, packed", move || {
            black_box(table.checksum(black_box(&theirs)));
        })
        .with("memcpy of a byte a bit", move || black_box(&mut copy).copy_from_slice(black_box(&from)))
}

fn crc16(count: usize) -> Case {
    let bits = some_bits(count);
    let (packed, theirs) = (words(&bits), bytes(&bits));
    let table = crc::Crc::<u16, crc::Table<16>>::new(&crc::CRC_16_XMODEM);
    let expected = Crc::Crc16.remainder(&bits);
    assert_eq!(u32::from(table.checksum(&theirs)), expected);
    assert_eq!(crc_fast::checksum(CrcAlgorithm::Crc16Xmodem, &theirs), u64::from(expected));
    let same = theirs.clone();
    Case::new(format!("CRC16 of {count} bits"))
        .with("takt, packed", move || {
            black_box(Crc::Crc16.remainder_words(black_box(&packed), count));
        })
        .with("takt, a byte a bit", move || {
            black_box(Crc::Crc16.remainder(black_box(&bits)));
        })
        .with("crc-fast, packed", move || {
            black_box(crc_fast::checksum(CrcAlgorithm::Crc16Xmodem, black_box(&same)));
        })
        .with("crc, 16 tables, packed", move || {
            black_box(table.checksum(black_box(&theirs)));
        })
}
