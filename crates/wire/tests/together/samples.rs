//! Sample conversion: literal values, and every SIMD level against a reference written one sample at a time.

use num_complex::{Complex, Complex32};
use proptest::prelude::*;
use takt_wire::sample::{ByteOrder, Format, Simd, full_scale, sc8, sc16};

#[test]
fn known_values_of_sc16() {
    let mut wire = [0; 12];
    let samples = [Complex32::new(0.7, -0.7), Complex32::new(0.488_296, 0.0), Complex32::new(1.0, -1.0)];
    assert_eq!(sc16::pack_f32(&samples, ByteOrder::Big, 32767.0, &mut wire), 3);
    assert_eq!(wire, [0x59, 0x99, 0xA6, 0x67, 0x3E, 0x80, 0, 0, 0x7F, 0xFF, 0x80, 0x01]);
    assert_eq!(sc16::pack_f32(&samples, ByteOrder::Little, 32767.0, &mut wire), 3);
    assert_eq!(wire, [0x99, 0x59, 0x67, 0xA6, 0x80, 0x3E, 0, 0, 0xFF, 0x7F, 0x01, 0x80]);
}

/// Every level writes `value` as this integer, to both formats.
fn writes(value: f32, whole: i16) {
    for simd in Simd::available() {
        let (mut wide, mut narrow) = ([0xa5; 4 * 40], [0xa5; 2 * 40]);
        let samples = [Complex32::new(value, value); 40];
        sc16::pack_f32_with(simd, &samples, ByteOrder::Big, 1.0, &mut wide);
        sc8::pack_f32_with(simd, &samples, 1.0, &mut narrow);
        let name = simd.name();
        assert!(wide.as_chunks().0.iter().all(|pair| i16::from_be_bytes(*pair) == whole), "{value} {name}");
        let clipped = whole.clamp(-128, 127);
        assert!(narrow.iter().all(|byte| i16::from(*byte as i8) == clipped), "{value} {name}");
    }
}

#[test]
fn rounding_is_to_the_nearest_and_to_even_between() {
    let halves = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.499_999_97, -0.499_999_97];
    for (value, whole) in halves.into_iter().zip([0, 2, 2, 0, -2, -2, 0, 0]) {
        writes(value, whole);
    }
}

#[test]
fn what_is_too_large_saturates_and_what_is_no_number_becomes_0() {
    let table = [
        (f32::NAN, 0),
        (-f32::NAN, 0),
        (f32::INFINITY, 32767),
        (f32::NEG_INFINITY, -32768),
        (f32::MAX, 32767),
        (f32::MIN, -32768),
        (32767.5, 32767),
        (-32768.5, -32768),
        (3e9, 32767),
        (-3e9, -32768),
        (f32::MIN_POSITIVE, 0),
    ];
    for (value, whole) in table {
        writes(value, whole);
    }
}

#[test]
fn known_values_of_sc8() {
    let mut wire = [0xa5; 7];
    let samples = [Complex::new(5, -5), Complex::new(127, -128), Complex::new(128, -129), Complex::new(1, 1)];
    assert_eq!(sc8::pack_i16(&samples, &mut wire), 3);
    assert_eq!(wire, [0x05, 0xFB, 0x7F, 0x80, 0x7F, 0x80, 0xa5]);
    let mut back = [Complex::new(9, 9); 4];
    assert_eq!(sc8::unpack_i16(&wire, &mut back), 3);
    assert_eq!(back, [Complex::new(5, -5), Complex::new(127, -128), Complex::new(127, -128), Complex::new(9, 9)]);
    assert_eq!((Format::Sc16.bytes(), Format::Sc8.bytes()), (4, 2));
}

fn order() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Big), Just(ByteOrder::Little)]
}

/// Bytes whose start may lie anywhere in memory, and a length that may end anywhere in a vector.
fn bytes() -> impl Strategy<Value = (Vec<u8>, usize)> {
    (prop::collection::vec(any::<u8>(), 8..700), 0usize..8)
}

/// Floats around the rounding and saturation points, and any bits at all.
fn float() -> impl Strategy<Value = f32> {
    prop_oneof![
        (-70_000i32..70_000, -2i32..=2)
            .prop_map(|(half, ulp)| f32::from_bits(((half as f32 / 2.0).to_bits() as i32 + ulp) as u32)),
        any::<u32>().prop_map(f32::from_bits),
        -300f32..300.0,
    ]
}

fn floats() -> impl Strategy<Value = Vec<Complex32>> {
    prop::collection::vec((float(), float()).prop_map(|(re, im)| Complex32::new(re, im)), 0..200)
}

fn sixteen(order: ByteOrder, pair: [u8; 2]) -> i16 {
    let (high, low) = if order == ByteOrder::Big { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
    (u16::from(high) << 8 | u16::from(low)) as i16
}

/// Rounded and clipped by the textbook, in double precision.
fn whole(value: f32, least: f64, most: f64) -> i16 {
    let value = f64::from(value);
    if value.is_nan() {
        return 0;
    }
    let (down, fraction) = (value.floor(), value - value.floor());
    let up = fraction > 0.5 || (fraction == 0.5 && down % 2.0 != 0.0);
    (if up { down + 1.0 } else { down }).clamp(least, most) as i16
}

proptest! {
    #[test]
    fn every_level_reads_sc16_alike((wire, from) in bytes(), order in order(), scale in 1e-5f32..10.0, room in 0usize..200) {
        let wire = &wire[from..];
        let count = room.min(wire.len() / 4);
        let parts: Vec<i16> = wire.as_chunks::<2>().0.iter().map(|pair| sixteen(order, *pair)).collect();
        for simd in Simd::available() {
            let mut out = vec![Complex32::new(7.0, 7.0); room + 3];
            prop_assert_eq!(sc16::unpack_f32_with(simd, wire, order, scale, &mut out[..room]), count);
            for (at, sample) in out.iter().enumerate() {
                let want = if at < count {
                    Complex32::new(f32::from(parts[2 * at]) * scale, f32::from(parts[2 * at + 1]) * scale)
                } else {
                    Complex32::new(7.0, 7.0)
                };
                prop_assert_eq!(sample.re.to_bits(), want.re.to_bits(), "{} at {}", simd.name(), at);
                prop_assert_eq!(sample.im.to_bits(), want.im.to_bits(), "{} at {}", simd.name(), at);
            }
        }
    }

    #[test]
    fn every_level_writes_sc16_alike(samples in floats(), order in order(), room in 0usize..900) {
        let count = samples.len().min(room / 4);
        for simd in Simd::available() {
            let mut wire = vec![0xa5; room + 5];
            prop_assert_eq!(sc16::pack_f32_with(simd, &samples, order, 1.0, &mut wire[..room]), count);
            for (at, sample) in samples.iter().take(count).enumerate() {
                let pair = |part: usize| [wire[4 * at + 2 * part], wire[4 * at + 2 * part + 1]];
                prop_assert_eq!(sixteen(order, pair(0)), whole(sample.re, -32768.0, 32767.0), "{}: {}", simd.name(), sample.re);
                prop_assert_eq!(sixteen(order, pair(1)), whole(sample.im, -32768.0, 32767.0), "{}: {}", simd.name(), sample.im);
            }
            prop_assert!(wire[4 * count..].iter().all(|byte| *byte == 0xa5));
        }
    }

    #[test]
    fn every_level_reads_sc8_alike((wire, from) in bytes(), scale in 1e-5f32..10.0, room in 0usize..400) {
        let wire = &wire[from..];
        let count = room.min(wire.len() / 2);
        for simd in Simd::available() {
            let mut out = vec![Complex32::new(7.0, 7.0); room + 3];
            prop_assert_eq!(sc8::unpack_f32_with(simd, wire, scale, &mut out[..room]), count);
            for (at, sample) in out.iter().enumerate() {
                let part = |at: usize| f32::from(wire[at] as i8) * scale;
                let want = if at < count { Complex32::new(part(2 * at), part(2 * at + 1)) } else { Complex32::new(7.0, 7.0) };
                prop_assert_eq!(sample, &want, "{} at {}", simd.name(), at);
            }
        }
    }

    #[test]
    fn every_level_writes_sc8_alike(samples in floats(), room in 0usize..500) {
        let count = samples.len().min(room / 2);
        for simd in Simd::available() {
            let mut wire = vec![0xa5; room + 5];
            prop_assert_eq!(sc8::pack_f32_with(simd, &samples, 1.0, &mut wire[..room]), count);
            for (at, sample) in samples.iter().take(count).enumerate() {
                prop_assert_eq!(i16::from(wire[2 * at] as i8), whole(sample.re, -128.0, 127.0), "{}: {}", simd.name(), sample.re);
                prop_assert_eq!(i16::from(wire[2 * at + 1] as i8), whole(sample.im, -128.0, 127.0), "{}", simd.name());
            }
            prop_assert!(wire[2 * count..].iter().all(|byte| *byte == 0xa5));
        }
    }

    #[test]
    fn integers_survive_the_wire(parts in prop::collection::vec(any::<(i16, i16)>(), 0..300), order in order()) {
        let samples: Vec<_> = parts.into_iter().map(|(re, im)| Complex::new(re, im)).collect();
        let mut wire = vec![0xa5; 4 * samples.len()];
        prop_assert_eq!(sc16::pack_i16(&samples, order, &mut wire), samples.len());
        for (sample, bytes) in samples.iter().zip(wire.as_chunks::<4>().0) {
            prop_assert_eq!(sixteen(order, [bytes[0], bytes[1]]), sample.re);
            prop_assert_eq!(sixteen(order, [bytes[2], bytes[3]]), sample.im);
        }
        let mut back = vec![Complex::new(0, 0); samples.len()];
        prop_assert_eq!(sc16::unpack_i16(&wire, order, &mut back), samples.len());
        prop_assert_eq!(back, samples);
    }

    #[test]
    fn sc16_through_floats_loses_nothing(parts in prop::collection::vec(any::<(i16, i16)>(), 0..300)) {
        let samples: Vec<_> = parts.into_iter().map(|(re, im)| Complex::new(re, im)).collect();
        let (mut wire, mut again) = (vec![0; 4 * samples.len()], vec![0; 4 * samples.len()]);
        let mut floats = vec![Complex32::default(); samples.len()];
        sc16::pack_i16(&samples, ByteOrder::Big, &mut wire);
        sc16::unpack_f32(&wire, ByteOrder::Big, 1.0 / full_scale::SC16, &mut floats);
        sc16::pack_f32(&floats, ByteOrder::Big, full_scale::SC16, &mut again);
        prop_assert_eq!(wire, again);
    }
}
