//! Noisy radio frames of the 384 kb/s channel alone in its downlink frame, received from end to end.

use crate::file::{bits, bytes, list, number, open, text};
use takt_dsp::crc::Crc;
use takt_dsp::turbo::Decoder;
use takt_dsp::umts::*;

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
