//! Every integer of both formats, through floats: out of any place that counts as `full_scale` says, and into any other.

use num_complex::Complex32;
use takt_wire::n200::rate::{Direction, Factor, device_gain};
use takt_wire::sample::{ByteOrder, Format, Simd, full_scale, sc8, sc16};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

/// All integers of sc16 as I, and as many others as Q, as they lie on the wire.
fn all_of_sc16(order: ByteOrder) -> Vec<u8> {
    let bytes = |k: i16| if order == ByteOrder::Big { k.to_be_bytes() } else { k.to_le_bytes() };
    (i16::MIN..=i16::MAX).flat_map(|k| [bytes(k), bytes(!k)]).flatten().collect()
}

/// All integers of sc8, likewise.
fn all_of_sc8() -> Vec<u8> {
    (i8::MIN..=i8::MAX).flat_map(|k| [k as u8, !k as u8]).collect()
}

/// The fate of bytes of sc16 that are read with one factor and written with another.
fn through_floats(bytes: &[u8], order: ByteOrder, [read, write]: [f32; 2]) -> Vec<u8> {
    let mut floats = vec![Complex32::default(); bytes.len() / sc16::BYTES];
    let mut again = vec![0; bytes.len()];
    sc16::unpack_f32(bytes, order, read, &mut floats);
    sc16::pack_f32(&floats, order, write, &mut again);
    again
}

#[test]
fn full_scale_is_32767_and_one_integer_lies_beyond() {
    let mut floats = [Complex32::default(); 1];
    sc16::unpack_f32(&[0x7F, 0xFF, 0x80, 0x00], ByteOrder::Big, 1.0 / full_scale::SC16, &mut floats);
    assert_eq!((floats[0].re, floats[0].im), (1.0, -1.000_030_5));
    // A byte is the upper one of sixteen bits.
    let mut bytes = [Complex32::default(); 1];
    sc8::unpack_f32(&[0x40, 0x80], 1.0 / full_scale::SC8, &mut bytes);
    sc16::unpack_f32(&[0x40, 0x00, 0x80, 0x00], ByteOrder::Big, 1.0 / full_scale::SC16, &mut floats);
    assert_eq!(bytes, floats);
}

#[test]
fn every_integer_of_sc16_comes_back_at_every_level() {
    for order in ORDERS {
        let bytes = all_of_sc16(order);
        for simd in Simd::available() {
            let mut floats = vec![Complex32::default(); 1 << 16];
            let mut again = vec![0; bytes.len()];
            sc16::unpack_f32_with(simd, &bytes, order, 1.0 / full_scale::SC16, &mut floats);
            sc16::pack_f32_with(simd, &floats, order, full_scale::SC16, &mut again);
            assert!(again == bytes, "{}, {order:?}", simd.name());
        }
    }
}

#[test]
fn every_integer_of_sc8_comes_back_at_every_level() {
    let bytes = all_of_sc8();
    for simd in Simd::available() {
        let mut floats = vec![Complex32::default(); 1 << 8];
        let mut again = vec![0; bytes.len()];
        sc8::unpack_f32_with(simd, &bytes, 1.0 / full_scale::SC8, &mut floats);
        sc8::pack_f32_with(simd, &floats, full_scale::SC8, &mut again);
        assert!(again == bytes, "{}", simd.name());
    }
}

/// Factors at which the host takes back no factor 2: where it does, an integer of the wire is half a sample's, or twice.
fn whole_factors(direction: Direction, format: Format) -> Vec<Factor> {
    let one = if format == Format::Sc8 { full_scale::SC8 } else { full_scale::SC16 };
    let full = |factor: &Factor| match direction {
        Direction::Rx => factor.scaling(direction, format).host_factor * f64::from(one),
        Direction::Tx => factor.scaling(direction, format).host_factor / f64::from(one),
    };
    let factors: Vec<_> = Factor::all().filter(|factor| full(factor) < 1.5).collect();
    assert!(factors.len() > 190, "{}", factors.len());
    factors
}

#[test] // a file counts as the wire does, so it gets the integers that are received, and the wire those that are played
fn hosts_of_an_n200_turn_integers_of_the_wire_into_those_of_a_file_and_back() {
    let bytes = all_of_sc16(ByteOrder::Big);
    for factor in whole_factors(Direction::Rx, Format::Sc16) {
        let read = factor.scaling(Direction::Rx, Format::Sc16).host_factor as f32;
        assert!(through_floats(&bytes, ByteOrder::Big, [read, full_scale::SC16]) == bytes, "received at {factor:?}");
    }
    for factor in whole_factors(Direction::Tx, Format::Sc16) {
        let write = factor.scaling(Direction::Tx, Format::Sc16).host_factor as f32;
        assert!(through_floats(&bytes, ByteOrder::Big, [1.0 / full_scale::SC16, write]) == bytes, "sent at {factor:?}");
    }
}

#[test]
fn an_n200_turns_integers_of_a_file_into_those_of_the_wire_and_back() {
    let bytes = all_of_sc16(ByteOrder::Big);
    for direction in [Direction::Rx, Direction::Tx] {
        for factor in whole_factors(direction, Format::Sc16) {
            let word = factor.scaling(direction, Format::Sc16).word;
            let gain = device_gain(direction, factor.rate_word(direction).cic(), word) as f32;
            let factors = match direction {
                Direction::Rx => [1.0 / full_scale::SC16, gain * full_scale::SC16],
                Direction::Tx => [gain / full_scale::SC16, full_scale::SC16],
            };
            assert!(through_floats(&bytes, ByteOrder::Big, factors) == bytes, "{direction:?} at {factor:?}");
        }
    }
}

#[test] // with 127 for 1.0 in the file, a byte of 65 or more would become another one
fn bytes_of_an_n200_are_those_of_a_file() {
    let bytes = all_of_sc8();
    let through = |[read, write]: [f32; 2]| {
        let mut floats = vec![Complex32::default(); 1 << 8];
        let mut again = vec![0; bytes.len()];
        sc8::unpack_f32(&bytes, read, &mut floats);
        sc8::pack_f32(&floats, write, &mut again);
        again
    };
    for factor in whole_factors(Direction::Rx, Format::Sc8) {
        let read = factor.scaling(Direction::Rx, Format::Sc8).host_factor as f32;
        assert!(through([read, full_scale::SC8]) == bytes, "received at {factor:?}");
    }
    for factor in whole_factors(Direction::Tx, Format::Sc8) {
        let write = factor.scaling(Direction::Tx, Format::Sc8).host_factor as f32;
        assert!(through([1.0 / full_scale::SC8, write]) == bytes, "sent at {factor:?}");
    }
}
