//! Frequency words and times.

use proptest::prelude::*;
use takt_wire::n200::{frequency, registers, time};

#[test] // an LO at 901.001221 MHz for a target of 900 MHz
fn the_word_is_the_one_a_host_writes() {
    let rest = frequency::hz_of(0x0290_2903);
    assert!((rest - 1_001_221.0).abs() < 1.0, "{rest}");
    assert_eq!(frequency::word_of(rest), 0x0290_2903);
    assert_eq!(frequency::word_of(-rest), 0xFD6F_D6FDu32 as i32, "the transmit word of the same distance");
}

#[test]
fn what_is_outside_half_the_clock_folds_back() {
    assert_eq!(frequency::word_of(110e6), frequency::word_of(10e6));
    assert_eq!(frequency::word_of(50e6), i32::MIN);
    assert_eq!(frequency::word_of(-50e6), i32::MIN);
    assert_eq!(frequency::word_of(f64::NAN), 0);
    assert_eq!(frequency::word_of(f64::INFINITY), 0);
}

#[test]
fn registers_have_an_address_on_the_slow_path() {
    assert_eq!(registers::settings_address(registers::settings::ROUTER), 0x7048);
    assert_eq!(registers::readback_address(registers::readback::COMPAT), 0x5C30);
    assert_eq!(registers::readback_address(registers::readback::TIME_LOW), 0x5C2C);
    assert_eq!(registers::ROUTER_WORD, 0xC007_C005);
    assert_eq!(registers::TX_CYCLES_DEFAULT, 0x804C_4B40);
    assert_eq!(registers::TX_PACKETS_DEFAULT, 0x8000_0059);
    for index in 0..=255 {
        assert_eq!(registers::settings_index(registers::settings_address(index)), Some(index));
    }
    for word in 0..16 {
        assert_eq!(registers::readback_word(registers::readback_address(word)), Some(word));
    }
    for address in [0, 0x6FFC, 0x7001, 0x7400, u32::MAX] {
        assert_eq!(registers::settings_index(address), None, "{address:#x}");
    }
    assert_eq!(registers::readback_word(0x5C40), None);
}

proptest! {
    #[test]
    fn a_word_is_a_frequency_and_back(word: i32) {
        prop_assert_eq!(frequency::word_of(frequency::hz_of(word)), word);
    }

    #[test]
    fn a_time_is_two_words_and_back(tick: u64) {
        let [high, low] = time::split(tick);
        prop_assert_eq!(time::join(high, low), tick);
    }
}
