//! The vectors of UMTS: each step of TS 25.212; then the transmitter of the 384 kb/s reference channel, TS 25.101 A.2.4 and A.3.4,
//! stage by stage over four radio frames, and the stages of the receiver backwards; then noisy frames from end to end.

use super::file::{bits, block, bytes, every_wrong_bit_shows, integer, list, made, number, open, text};
use serde_json::Value;
use takt_dsp::crc::Crc;
use takt_dsp::turbo::Decoder;
use takt_dsp::umts::*;

#[test]
fn umts_parity_is_attached_as_others_do() {
    for vector in list(&open("umts_crc"), "vectors") {
        let crc = match number(vector, "L") {
            8 => Crc::Crc8,
            12 => Crc::Crc12,
            16 => Crc::Crc16,
            24 => Crc::Crc24B,
            other => panic!("a CRC of {other} bits"),
        };
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let parity = bits(text(vector, "attached_parity_hex"), number(vector, "attached_parity_bits"));
        let out = made(block.len() + crc.bits(), |out| crc_attach(crc, &block, out));
        assert_eq!(out, [block, parity].concat(), "{crc:?} of {} bits", number(vector, "A"));
        every_wrong_bit_shows(out, |out| crc_check(crc, out));
    }
}

#[test]
fn an_empty_block_has_zeros_for_parity_and_less_than_the_parity_is_no_block() {
    let out = made(16, |out| crc_attach(Crc::Crc16, &[], out));
    assert_eq!(out, [0; 16]);
    assert!(crc_check(Crc::Crc16, &out));
    assert!(!crc_check(Crc::Crc16, &out[1..]));
}

#[test]
fn umts_turbo_code_words_are_those_of_others() {
    for vector in list(&open("umts_turbo_encoder"), "vectors") {
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let expected = bits(text(vector, "out_hex"), number(vector, "out_bits"));
        let mut encoder = TurboEncoder::new(number(vector, "K")).unwrap();
        let coded = made(encoder.coded_len(), |coded| encoder.encode(&block, coded));
        assert_eq!(coded, expected, "K = {}", block.len());
    }
}

#[test]
fn the_umts_turbo_interleaver_is_that_of_others() {
    for vector in list(&open("umts_interleaver_perm"), "vectors") {
        let expected: Vec<u16> = list(vector, "pi").iter().map(|bit| bit.as_u64().unwrap() as u16).collect();
        let mut pi = vec![0; number(vector, "K")];
        turbo_interleaver(&mut pi).unwrap();
        assert_eq!(pi, expected, "K = {}", pi.len());
    }
}

#[test]
fn the_first_interleaver_is_that_of_others() {
    for vector in list(&open("umts_interleaver1"), "vectors") {
        let tti = Tti::from_ms(number(vector, "tti_ms") as u32).unwrap();
        let block = |name: &str| bits(text(vector, name), number(vector, "n"));
        let (input, expected) = (block("in_hex"), block("out_hex"));
        let (forth, back) =
            (|out: &mut [u8]| interleave_1(tti, &input, out), |out: &mut [u8]| deinterleave_1(tti, &expected, out));
        assert_eq!(made(input.len(), forth), expected, "{tti:?}, {} bits", input.len());
        assert_eq!(made(input.len(), back), input, "{tti:?}, {} bits, back", input.len());
    }
}

#[test]
fn the_second_interleaver_is_that_of_others() {
    for vector in list(&open("umts_interleaver2"), "vectors") {
        let block = |name: &str| bits(text(vector, name), number(vector, "n"));
        let (input, expected) = (block("in_hex"), block("out_hex"));
        assert_eq!(made(input.len(), |out| interleave_2(&input, out)), expected, "{} bits", input.len());
        assert_eq!(made(input.len(), |out| deinterleave_2(&expected, out)), input, "{} bits, back", input.len());
    }
}

#[test]
fn one_sequence_is_matched_as_others_do() {
    for vector in list(&open("umts_rate_match_conv"), "vectors") {
        let tti = Tti::from_ms(10 * number(vector, "F") as u32).unwrap();
        let input = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let matched = number(vector, "N_out");
        for (frame, out) in list(vector, "out_hex").iter().enumerate() {
            let change = matched as i64 - input.len() as i64;
            let pattern = Pattern::uplink(input.len(), change, tti, frame);
            assert_eq!(Some(pattern.initial), vector["e_ini"][frame].as_i64(), "{input:?} to {matched}");
            let coding = Coding::Convolutional(ConvolutionalRate::Third);
            let matching = RateMatching::uplink(coding, input.len(), matched, tti, frame).unwrap();
            let found = made(matched, |found| matching.apply(&input, found));
            assert_eq!(found, bits(out.as_str().unwrap(), number(vector, "out_bits")), "frame {frame}");
        }
    }
}

#[test]
fn turbo_codes_are_punctured_as_others_do() {
    for vector in list(&open("umts_rate_match_turbo_puncture"), "vectors") {
        let (length, matched) = (number(vector, "N"), number(vector, "N_out"));
        let keep = bits(text(vector, "keep_hex"), number(vector, "keep_bits"));
        let uplink = RateMatching::uplink(Coding::Turbo, length, matched, Tti::Ms10, 0).unwrap();
        let downlink = RateMatching::downlink(Coding::Turbo, length, length, matched).unwrap();
        for matching in [uplink, downlink] {
            let mut found = vec![0; length];
            matching.invert(&vec![1; matched], &mut found);
            assert!(found.iter().zip(&keep).all(|(&found, &keep)| found == keep as i8), "{length} to {matched}");
        }
        let punctured = length - matched;
        for (parity, key, share) in
            [(Parity::First, "p1", punctured.div_ceil(2)), (Parity::Second, "p2", punctured / 2)]
        {
            let expected = pattern(&vector[key]);
            let each = number(vector, "X");
            assert_eq!(Pattern::uplink_turbo(parity, each, share, Tti::Ms10, 0), expected);
            assert_eq!(Pattern::downlink_turbo(parity, each, share), expected);
        }
    }
}

fn pattern(value: &Value) -> Pattern {
    Pattern { initial: integer(value, "e_ini"), plus: integer(value, "e_plus"), minus: integer(value, "e_minus") }
}

const CONVOLUTIONAL: Coding = Coding::Convolutional(ConvolutionalRate::Third);

#[test]
fn the_traffic_channel_is_coded_as_others_do() {
    for frame in list(&open("umts_chain_384k"), "frames") {
        let (a, b, c) = (block(&frame["a"]), block(&frame["b"]), block(&frame["c"]));
        assert_eq!(made(b.len(), |out| crc_attach(Crc::Crc16, &a, out)), b);
        let segmentation = Segmentation::new(Coding::Turbo, b.len()).unwrap();
        assert_eq!((segmentation.blocks(), segmentation.fillers()), (1, 0));
        assert_eq!(made(c.len(), |out| TurboEncoder::new(b.len()).unwrap().encode(&b, out)), c);
    }
}

#[test]
fn the_signalling_channel_is_coded_as_others_do() {
    let document = open("umts_chain_384k");
    let stage = |name: &str| block(&document["dcch"][name]);
    let (a, b, c) = (stage("a"), stage("b"), stage("c"));
    let rate = ConvolutionalRate::Third;
    assert_eq!(made(b.len(), |out| crc_attach(Crc::Crc12, &a, out)), b);
    assert_eq!(made(c.len(), |out| convolutional_encode(rate, &b, out)), c);
    assert_eq!(made(b.len(), |out| Viterbi::new(rate).decode(&soft(&c), out)), b);
}

#[test]
fn the_uplink_is_that_of_others_forth_and_back() {
    let document = open("umts_chain_384k");
    let dcch = &document["dcch"];
    let (coded, interleaved) = (block(&dcch["c"]), block(&dcch["ul_il1"]));
    assert_eq!(made(coded.len(), |out| interleave_1(Tti::Ms40, &coded, out)), interleaved);
    let given = shares_of_both_channels(9600);
    assert_eq!(given, [9525, 75]);

    let traffic = RateMatching::uplink(Coding::Turbo, 11_580, given[0], Tti::Ms10, 0).unwrap();
    let frames = list(&document, "frames");
    let signalling = radio_frames(Tti::Ms40, &interleaved).zip(list(dcch, "ul_rm_frames"));
    for (n, (frame, (unmatched, matched))) in frames.iter().zip(signalling).enumerate() {
        let signalling = RateMatching::uplink(CONVOLUTIONAL, 90, given[1], Tti::Ms40, n).unwrap();
        let first = apply(&traffic, &block(&frame["c"]), &frame["ul_rm"]);
        let second = apply(&signalling, unmatched, matched);
        mux_and_interleave(&[&first, &second], &frame["ul_mux"], &frame["ul_il2"]);
    }
}

#[test]
fn the_downlink_is_that_of_others_forth_and_back() {
    let document = open("umts_chain_384k");
    let dcch = &document["dcch"];
    let given = shares_of_both_channels(9120);
    assert_eq!(given, [9049, 71]);

    let signalling = RateMatching::downlink(CONVOLUTIONAL, 360, 360, 4 * given[1]).unwrap();
    let matched = apply(&signalling, &block(&dcch["c"]), &dcch["dl_rm"]);
    let interleaved = made(matched.len(), |out| interleave_1(Tti::Ms40, &matched, out));
    assert_eq!(interleaved, block(&dcch["dl_il1"]));

    let traffic = RateMatching::downlink(Coding::Turbo, 11_580, 11_580, given[0]).unwrap();
    for (frame, second) in list(&document, "frames").iter().zip(radio_frames(Tti::Ms40, &interleaved)) {
        let first = apply(&traffic, &block(&frame["c"]), &frame["dl_rm"]);
        mux_and_interleave(&[&first, second], &frame["dl_mux"], &frame["dl_il2"]);
    }
}

#[test]
fn the_traffic_channel_alone_in_its_frame_is_that_of_others_forth_and_back() {
    for frame in list(&open("umts_chain_384k"), "frames") {
        let coded = block(&frame["c"]);
        let uplink = RateMatching::uplink(Coding::Turbo, 11_580, 9600, Tti::Ms10, 0).unwrap();
        let sent = apply(&uplink, &coded, &frame["ul1_rm"]);
        mux_and_interleave(&[&sent], &frame["ul1_rm"], &frame["ul1_il2"]);
        let downlink = RateMatching::downlink(Coding::Turbo, 11_580, 11_580, 9120).unwrap();
        let sent = apply(&downlink, &coded, &frame["dl1_rm"]);
        mux_and_interleave(&[&sent], &frame["dl1_rm"], &frame["dl1_il2"]);
    }
}

/// Shares of the traffic and the signalling channel in a radio frame.
fn shares_of_both_channels(frame_bits: usize) -> [usize; 2] {
    let demand = |bits, tti| Demand { attribute: 256, bits, tti };
    let mut given = [0; 2];
    shares(&[demand(11_580, Tti::Ms10), demand(360, Tti::Ms40)], frame_bits, &mut given).unwrap();
    given
}

/// Matches `input`, which must give `expected`, and takes it back.
fn apply(matching: &RateMatching, input: &[u8], expected: &Value) -> Vec<u8> {
    let found = made(matching.matched_len(), |found| matching.apply(input, found));
    assert_eq!(found, block(expected));
    let mut back = vec![7; input.len()];
    matching.invert(&soft(&found), &mut back);
    let wrong = back.iter().zip(soft(input)).filter(|&(&found, sent)| found != 0 && found != sent).count();
    assert_eq!((wrong, back.iter().filter(|&&llr| llr == 0).count()), (0, input.len() - found.len()));
    found
}

fn mux_and_interleave(channels: &[&[u8]], multiplexed: &Value, interleaved: &Value) {
    let bits = channels.iter().map(|channel| channel.len()).sum();
    let frame = made(bits, |frame| multiplex(channels.iter().copied(), frame));
    assert_eq!(frame, block(multiplexed));
    let sent = made(bits, |sent| interleave_2(&frame, sent));
    assert_eq!(sent, block(interleaved));
    let mut received = vec![7; frame.len()];
    deinterleave_2(&soft(&sent), &mut received);
    let mut separate: Vec<Vec<i8>> = channels.iter().map(|channel| vec![7; channel.len()]).collect();
    demultiplex(&received, separate.iter_mut().map(|channel| &mut channel[..]));
    assert!(separate.iter().zip(channels).all(|(found, sent)| *found == soft(sent)));
}

fn soft(bits: &[u8]) -> Vec<i8> {
    bits.iter().map(|&bit| if bit == 0 { 30 } else { -30 }).collect()
}

#[test]
fn noisy_frames_are_received_as_by_others() {
    let matching = RateMatching::downlink(Coding::Turbo, 11_580, 11_580, 9120).unwrap();
    let mut decoder = Decoder::umts(3856).unwrap();
    let document = open("umts_384k_noisy_soft");
    for frame in list(&document, "vectors") {
        assert_eq!(number(frame, "itpp_8it_bit_errors"), 0, "others decode it");
        let llrs: Vec<i8> = bytes(text(frame, "llr_i8_hex")).into_iter().map(|byte| byte as i8).collect();
        let (mut matched, mut coded, mut decided) = (vec![0; 9120], vec![0; 11_580], vec![7; 3856]);
        deinterleave_2(&llrs, &mut matched);
        matching.invert(&matched, &mut coded);
        decoder.decode(&coded, 8, &mut decided);
        assert!(crc_check(Crc::Crc16, &decided));
        assert_eq!(decided[..3840], bits(text(frame, "data_hex"), 3840));
    }
}
