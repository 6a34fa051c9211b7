//! Rates, rate words and scale words against the figures of a host.

use takt_wire::n200::rate::{Direction, Factor, RateWord, device_gain};
use takt_wire::sample::Format;

/// factor, RX rate word, RX scale word, TX rate word, TX scale word; `docs/reference/n200.md`.
const TABLE: [[u32; 5]; 11] = [
    [2, 0x201, 0x1364E, 0x101, 0x1364E],
    [4, 0x301, 0x1364E, 0x301, 0x1364E],
    [5, 0x005, 0x1FC67, 0x005, 0x13DC0],
    [8, 0x302, 0x1364E, 0x302, 0x1364E],
    [10, 0x105, 0x1FC67, 0x105, 0x13DC0],
    [20, 0x305, 0x1FC67, 0x305, 0x13DC0],
    [28, 0x307, 0x108AE, 0x307, 0x1CF31],
    [50, 0x119, 0x1A07B, 0x119, 0x14560],
    [52, 0x30D, 0x16403, 0x30D, 0x12142],
    [100, 0x319, 0x1A07B, 0x319, 0x14560],
    [512, 0x380, 0x1364E, 0x380, 0x1364E],
];

#[test]
fn words_are_those_a_host_writes() {
    for [factor, rx_rate, rx_scale, tx_rate, tx_scale] in TABLE {
        let factor = Factor::new(factor).unwrap();
        assert_eq!(factor.rate_word(Direction::Rx), RateWord(rx_rate), "{factor:?}");
        assert_eq!(factor.rate_word(Direction::Tx), RateWord(tx_rate), "{factor:?}");
        assert_eq!(factor.scaling(Direction::Rx, Format::Sc16).word, rx_scale, "{factor:?}");
        assert_eq!(factor.scaling(Direction::Tx, Format::Sc16).word, tx_scale, "{factor:?}");
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
