//! The transmitter of the 384 kb/s reference channel, TS 25.101 A.2.4 and A.3.4, stage by stage over four radio frames, and the
//! stages of the receiver backwards.

use crate::file::{block, list, open};
use serde_json::Value;
use takt_dsp::crc::Crc;
use takt_dsp::umts::*;

const CONVOLUTIONAL: Coding = Coding::Convolutional(ConvolutionalRate::Third);

#[test]
fn the_traffic_channel_is_coded_as_others_do() {
    for frame in list(&open("umts_chain_384k"), "frames") {
        let (a, b, c) = (block(&frame["a"]), block(&frame["b"]), block(&frame["c"]));
        let mut found = vec![7; b.len()];
        crc_attach(Crc::Crc16, &a, &mut found);
        assert_eq!(found, b);
        let segmentation = Segmentation::new(Coding::Turbo, b.len()).unwrap();
        assert_eq!((segmentation.blocks(), segmentation.fillers()), (1, 0));
        let mut found = vec![7; c.len()];
        TurboEncoder::new(b.len()).unwrap().encode(&b, &mut found);
        assert_eq!(found, c);
    }
}

#[test]
fn the_signalling_channel_is_coded_as_others_do() {
    let document = open("umts_chain_384k");
    let stage = |name: &str| block(&document["dcch"][name]);
    let (a, b, c) = (stage("a"), stage("b"), stage("c"));
    let mut found = vec![7; b.len()];
    crc_attach(Crc::Crc12, &a, &mut found);
    assert_eq!(found, b);
    let mut found = vec![7; c.len()];
    convolutional_encode(ConvolutionalRate::Third, &b, &mut found);
    assert_eq!(found, c);
    let mut decided = vec![7; b.len()];
    Viterbi::new(ConvolutionalRate::Third).decode(&soft(&c), &mut decided);
    assert_eq!(decided, b);
}

#[test]
fn the_uplink_is_that_of_others_forth_and_back() {
    let document = open("umts_chain_384k");
    let dcch = &document["dcch"];
    let (coded, interleaved) = (block(&dcch["c"]), block(&dcch["ul_il1"]));
    let mut found = vec![7; coded.len()];
    interleave_1(Tti::Ms40, &coded, &mut found);
    assert_eq!(found, interleaved);

    let demands =
        [Demand { attribute: 256, bits: 11_580, tti: Tti::Ms10 }, Demand { attribute: 256, bits: 360, tti: Tti::Ms40 }];
    let mut given = [0; 2];
    shares(&demands, 9600, &mut given).unwrap();
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
    let demands =
        [Demand { attribute: 256, bits: 11_580, tti: Tti::Ms10 }, Demand { attribute: 256, bits: 360, tti: Tti::Ms40 }];
    let mut given = [0; 2];
    shares(&demands, 9120, &mut given).unwrap();
    assert_eq!(given, [9049, 71]);

    let signalling = RateMatching::downlink(CONVOLUTIONAL, 360, 360, 4 * given[1]).unwrap();
    let matched = apply(&signalling, &block(&dcch["c"]), &dcch["dl_rm"]);
    let mut interleaved = vec![7; matched.len()];
    interleave_1(Tti::Ms40, &matched, &mut interleaved);
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

/// Matches `input`, which must give `expected`, and takes it back.
fn apply(matching: &RateMatching, input: &[u8], expected: &Value) -> Vec<u8> {
    let expected = block(expected);
    let mut found = vec![7; matching.matched_len()];
    matching.apply(input, &mut found);
    assert_eq!(found, expected);
    let mut back = vec![7; input.len()];
    matching.invert(&soft(&found), &mut back);
    let wrong = back.iter().zip(soft(input)).filter(|&(&found, sent)| found != 0 && found != sent).count();
    assert_eq!((wrong, back.iter().filter(|&&llr| llr == 0).count()), (0, input.len() - found.len()));
    found
}

fn mux_and_interleave(channels: &[&[u8]], multiplexed: &Value, interleaved: &Value) {
    let mut frame = vec![7; channels.iter().map(|channel| channel.len()).sum()];
    multiplex(channels.iter().copied(), &mut frame);
    assert_eq!(frame, block(multiplexed));
    let mut sent = vec![7; frame.len()];
    interleave_2(&frame, &mut sent);
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
