//! Rates, rate words, scale words and what becomes of samples, against what UHD did.

use num_complex::Complex32;
use takt_wire::n200::rate::{Direction, Factor, device_gain};
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

#[test]
fn all_words_of_all_factors_are_those_that_uhd_wrote() {
    let lines = include_str!("../captures/uhd-4.3-rates.txt").lines().filter(|line| !line.starts_with('#'));
    let mut factors = 0;
    for line in lines {
        let (number, words) = line.split_once(' ').expect("a factor, then words");
        let factor = Factor::new(number.parse().expect("decimal")).expect("a factor of UHD");
        let words: Vec<u32> =
            words.split(' ').map(|word| u32::from_str_radix(word, 16).expect("hexadecimal")).collect();
        let scale = |direction, format| factor.scaling(direction, format).word;
        let ours = [
            factor.rate_word(Direction::Rx).0,
            scale(Direction::Rx, Format::Sc16),
            factor.rate_word(Direction::Tx).0,
            scale(Direction::Tx, Format::Sc16),
            scale(Direction::Rx, Format::Sc8),
            scale(Direction::Tx, Format::Sc8),
        ];
        assert_eq!(words, ours, "{number}: {words:x?}, ours {ours:x?}");
        factors += 1;
    }
    assert_eq!(factors, 255);
}

#[test]
fn floats_and_integers_are_those_of_uhd_at_every_factor_and_format() {
    let mut factors = 0;
    for line in include_str!("../captures/uhd-4.3-samples.txt").lines().filter(|line| !line.starts_with('#')) {
        let values: Vec<f64> = line.split(' ').map(|value| value.parse().expect("a number")).collect();
        let [number, sc16 @ .., _, _, _, _] = values.as_slice() else { panic!("{line}") };
        let sc8 = &values[5..];
        let factor = Factor::new(*number as u32).expect("a factor of UHD");
        for (format, of_uhd) in [(Format::Sc16, sc16), (Format::Sc8, sc8)] {
            let [sent_i, sent_q, received, float] = of_uhd else { panic!("{line}") };
            let scale = |direction| factor.scaling(direction, format).host_factor as f32;
            assert_eq!(sent(format, scale(Direction::Tx)), [*sent_i as i16, *sent_q as i16], "{format:?} {line}");
            let ours = *received as f32 * scale(Direction::Rx);
            assert!((f64::from(ours) / float - 1.0).abs() < 2e-7, "{format:?} {line}: {ours}");
        }
        factors += 1;
    }
    assert_eq!(factors, 255);
}

/// Words that our conversion sends for 0.45 - 0.3j.
fn sent(format: Format, scale: f32) -> [i16; 2] {
    let sample = [Complex32::new(0.45, -0.3)];
    let mut wire = [0; 4];
    match format {
        Format::Sc16 => sc16::pack_f32(&sample, ByteOrder::Big, scale, &mut wire),
        Format::Sc8 => sc8::pack_f32(&sample, scale, &mut wire),
    };
    match format {
        Format::Sc16 => [i16::from_be_bytes([wire[0], wire[1]]), i16::from_be_bytes([wire[2], wire[3]])],
        Format::Sc8 => [i16::from(wire[0] as i8), i16::from(wire[1] as i8)],
    }
}

#[test]
fn there_are_255_factors_from_50_million_to_195312_and_a_half_samples_a_second() {
    assert_eq!(Factor::all().count(), 255);
    assert_eq!(Factor::all().next().unwrap().rate_sps(), 50e6);
    assert_eq!(Factor::all().next_back().unwrap().rate_sps(), 195_312.5);
}

#[test]
fn the_host_takes_back_a_factor_of_two_at_exactly_the_listed_cic_factors() {
    let rx = [7, 14, 23, 27, 28, 33, 39, 46, 47].into_iter().chain(54..=56).chain(65..=67).chain(77..=79);
    let rx: Vec<u8> = rx.chain(91..=94).chain(108..=112).collect();
    let tx = [13, 17, 21, 26, 27, 33, 34, 41, 42].into_iter().chain(51..=54).chain(65..=68).chain(81..=85);
    let tx: Vec<u8> = tx.chain(102..=108).collect();
    for (direction, listed, many) in [(Direction::Rx, rx, 57), (Direction::Tx, tx, 61)] {
        let halved = |factor: &Factor| {
            let word = factor.rate_word(direction);
            device_gain(direction, word.cic(), factor.scaling(direction, Format::Sc16).word) < 0.75
        };
        assert_eq!(Factor::all().filter(halved).count(), many);
        for factor in Factor::all() {
            assert_eq!(
                halved(&factor),
                listed.contains(&factor.rate_word(direction).cic()),
                "{direction:?} {factor:?}"
            );
        }
    }
}

#[test]
fn device_and_host_together_have_gain_one_at_every_rate() {
    for factor in Factor::all() {
        for direction in [Direction::Rx, Direction::Tx] {
            let word = factor.rate_word(direction);
            assert_eq!(word.factor(), factor.get(), "the word means its factor");
            for format in [Format::Sc16, Format::Sc8] {
                let scaling = factor.scaling(direction, format);
                let device = device_gain(direction, word.cic(), scaling.word);
                let whole = match (direction, format) {
                    (Direction::Rx, _) => device * scaling.host_factor * 32767.0,
                    (Direction::Tx, Format::Sc16) => device * scaling.host_factor / 32767.0,
                    (Direction::Tx, Format::Sc8) => device * scaling.host_factor * 256.0 / 32767.0,
                };
                assert!((whole - 1.0).abs() < 1e-12, "{factor:?} {direction:?} {format:?}: {whole}");
                assert!((1..=0x20000).contains(&scaling.word));
            }
        }
    }
}

#[test]
fn requests_are_rounded_as_uhd_rounds_them() {
    for (asked, got) in [(49e6, 50e6), (26e6, 25e6), (24e6, 25e6), (0.39e6, 390_625.0), (0.1e6, 195_312.5)] {
        assert_eq!(Factor::nearest(asked).unwrap().rate_sps(), got);
    }
    for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Factor::nearest(nonsense), None);
    }
}

#[test]
fn a_rate_that_is_not_valid_names_its_neighbours() {
    let around = |rate| Factor::around(rate).map(|factor| factor.map(Factor::rate_sps));
    assert_eq!(around(22e6), [Some(20e6), Some(25e6)]);
    assert_eq!(around(25e6), [Some(25e6), Some(25e6)]);
    assert_eq!(around(60e6), [Some(50e6), None]);
    assert_eq!(around(1e5), [None, Some(195_312.5)]);
    assert_eq!(around(f64::NAN), [None, None]);
    assert_eq!(Factor::exact(22e6), None);
    assert_eq!(Factor::exact(100e6 / 3.0).unwrap().get(), 3);
}
