//! Once built, no kernel of the coding allocates.

use takt_base::Complex32;
use takt_dsp::crc::Crc;
use takt_dsp::{lte, tdscdma, turbo, umts};

use crate::allocations;

#[test]
fn a_kernel_that_is_built_allocates_nothing() {
    // UMTS: the 384 kb/s channel forth and back, punctured and repeated, and its signalling.
    let tti = umts::Tti::Ms40;
    let mut encoder = umts::TurboEncoder::new(3856).unwrap();
    let matchings =
        [9120, 11_616].map(|n| umts::RateMatching::downlink(umts::Coding::Turbo, 11_580, 11_580, n).unwrap());
    let segmentation = umts::Segmentation::new(umts::Coding::Turbo, 3856).unwrap();
    let mut viterbi = umts::Viterbi::new(umts::ConvolutionalRate::Third);
    let demands = [umts::Demand { attribute: 256, bits: 11_580, tti }; 2];
    let mut permutation = vec![0; 3856];
    let (data, mut block, mut code_block) = (vec![1; 3840], vec![0; 3856], vec![0; 3856]);
    let (mut coded, mut matched, mut frame) = (vec![0; 11_580], vec![0; 11_616], vec![0; 11_616]);
    let (mut llrs, mut soft) = (vec![5i8; 11_616], vec![0i8; 11_616]);
    let (mut umts_decoder, mut lte_decoder) = (turbo::Decoder::umts(3856).unwrap(), turbo::Decoder::lte(6144).unwrap());
    let mut batches = turbo::BatchDecoder::umts(3856).unwrap();
    let (mut signalling, mut decided) = (vec![0; 360], vec![0; 112]);

    // LTE: blocks of 6144 bits.
    let cut = lte::Segmentation::new(12_000).unwrap();
    let mut lte_turbo = lte::TurboEncoder::new(6144).unwrap();
    let mut lte_matching = lte::RateMatching::new(6144, 0, None).unwrap();
    let (mut lte_blocks, mut lte_bits) = (vec![0; cut.blocks_len()], vec![0; 12_000]);
    let (lte_data, mut lte_coded, mut lte_sent) = (vec![1; 6144], vec![0; 18_444], vec![0; 12_000]);
    let (mut buffer, mut lte_soft) = (vec![0; lte_matching.buffer_len()], vec![0; 18_444]);
    let mut lte_decided = vec![0; 6144];
    let (mut symbols, mut lte_llrs) = (vec![Complex32::default(); 2000], vec![0; 12_000]);

    // TD-SCDMA: a subframe with all codes, and its answer, by way of samples.
    let cell = tdscdma::Cell::default();
    let mut downlink = tdscdma::Downlink::new(cell, 16).unwrap();
    let mut terminal = tdscdma::Receiver::new(cell, 16).unwrap();
    let (mut answer, mut converter) = (tdscdma::AnswerBurst::new(cell), tdscdma::Converter::new());
    let mut payload = vec![0; downlink.payload_bits()];
    let (mut chips, mut samples) = (vec![Complex32::default(); 6400], vec![Complex32::default(); 6250]);

    let before = allocations::count();
    downlink.payload(1, 2, &mut payload);
    downlink.transmit(&payload, &mut chips);
    converter.to_samples(&chips, &mut samples);
    converter.to_chips(&samples, &mut chips);
    let reception = terminal.receive(&chips, &mut payload);
    let (burst, sent) = (&mut chips[..tdscdma::SLOT_CHIPS], &mut samples[..tdscdma::ANSWER_SAMPLES]);
    answer.transmit(reception.answer, 2, burst);
    converter.answer_to_samples(burst, sent);
    converter.answer_to_chips(sent, burst);
    answer.receive(burst);

    umts::turbo_interleaver(&mut permutation).unwrap();
    umts::shares(&demands, 9600, &mut [0; 2]).unwrap();
    umts::crc_attach(Crc::Crc16, &data, &mut block);
    segmentation.segment(&block, &mut code_block);
    encoder.encode(&code_block, &mut coded);
    for matching in &matchings {
        let length = matching.matched_len();
        matching.apply(&coded, &mut matched[..length]);
        umts::interleave_1(tti, &matched[..length], &mut frame[..length]);
        umts::multiplex([&frame[..length]], &mut matched);
        umts::interleave_2(&matched, &mut frame);
        umts::deinterleave_2(&llrs, &mut soft);
        umts::demultiplex(&soft, [&mut llrs[..length]]);
        umts::deinterleave_1(tti, &llrs[..length], &mut soft[..length]);
        matching.invert(&soft[..length], &mut llrs[..11_580]);
        batches.decode(&llrs[..11_580], 1, &mut block);
        umts_decoder.decode_until(&llrs[..11_580], 2, &mut block, |bits| umts::crc_check(Crc::Crc16, bits));
    }
    umts::convolutional_encode(umts::ConvolutionalRate::Third, &data[..112], &mut signalling);
    viterbi.decode(&llrs[..360], &mut decided);
    umts::crc_check(Crc::Crc12, &decided);

    cut.segment(&lte_sent, &mut lte_blocks);
    cut.join(&lte_blocks, &mut lte_bits);
    lte_turbo.encode(&lte_data, &mut lte_coded);
    lte_matching.apply(&lte_coded, 2, &mut lte_sent);
    lte::scramble(1234, &mut lte_sent);
    lte::modulate(lte::Modulation::Qam64, &lte_sent, &mut symbols);
    lte::demodulate(lte::Modulation::Qam64, 30.0, &symbols, None, &mut lte_llrs);
    lte::descramble(1234, &mut lte_llrs);
    lte_matching.combine(&lte_llrs, 2, &mut buffer);
    lte_matching.read(&buffer, &mut lte_soft);
    lte_decoder.decode(&lte_soft, 2, &mut lte_decided);
    assert_eq!(allocations::count(), before);
}
