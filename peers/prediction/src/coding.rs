//! The coding of UMTS and LTE, at the block lengths of the 384 kb/s channel where the code has one.

use std::hint::black_box as keep;

use takt_base::Complex32;
use takt_dsp::crc::Crc;
use takt_dsp::{lte, turbo, umts};

use crate::components::{Call, Entry, bits, llrs};

pub const ALL: &[Entry] = &[
    ("crc16", || crc(Crc::Crc16, 3840)),
    ("crc24a", || crc(Crc::Crc24A, 6144)),
    ("crc12-short", || crc(Crc::Crc12, 244)),
    ("umts-crc-attach", umts_crc_attach),
    ("lte-join", lte_join),
    ("umts-turbo-encode", umts_turbo_encode),
    ("lte-turbo-encode", lte_turbo_encode),
    ("umts-convolutional-encode", convolutional_encode),
    ("umts-viterbi", viterbi),
    ("umts-turbo-decode", umts_turbo_decode),
    ("lte-turbo-decode", lte_turbo_decode),
    ("umts-interleave-1-20ms", || first(umts::Tti::Ms20, false)),
    ("umts-interleave-1-80ms", || first(umts::Tti::Ms80, false)),
    ("umts-deinterleave-1-40ms", || first(umts::Tti::Ms40, true)),
    ("umts-interleave-2", || second(false)),
    ("umts-deinterleave-2", || second(true)),
    ("umts-puncture", || matching(11_580, false)),
    ("umts-depuncture", || matching(11_580, true)),
    ("umts-repeat", || matching(8820, false)),
    ("umts-combine-repeated", || matching(8820, true)),
    ("umts-multiplex", multiplex),
    ("umts-demultiplex", demultiplex),
    ("lte-rate-match", lte_rate_match),
    ("lte-rate-dematch", lte_rate_dematch),
    ("lte-scramble", lte_scramble),
    ("lte-descramble", lte_descramble),
    ("lte-modulate-qpsk", || modulate(lte::Modulation::Qpsk)),
    ("lte-modulate-64qam", || modulate(lte::Modulation::Qam64)),
    ("lte-demodulate-qpsk", || demodulate(lte::Modulation::Qpsk)),
    ("lte-demodulate-16qam", || demodulate(lte::Modulation::Qam16)),
    ("lte-demodulate-64qam", || demodulate(lte::Modulation::Qam64)),
];

fn crc(crc: Crc, count: usize) -> Call {
    let block = bits(count);
    Box::new(move || {
        keep(crc.remainder(keep(&block)));
    })
}

fn umts_crc_attach() -> Call {
    let (block, mut out) = (bits(3840), vec![0; 3856]);
    Box::new(move || umts::crc_attach(Crc::Crc16, keep(&block), keep(&mut out)))
}

fn lte_join() -> Call {
    let segmentation = lte::Segmentation::new(12_000).expect("two blocks");
    let mut blocks = vec![0; segmentation.blocks_len()];
    let mut data = bits(12_000);
    segmentation.segment(&data, &mut blocks);
    Box::new(move || {
        keep(segmentation.join(keep(&blocks), keep(&mut data)));
    })
}

fn umts_turbo_encode() -> Call {
    let mut encoder = umts::TurboEncoder::new(3856).expect("a length of the standard");
    let (block, mut coded) = (bits(3856), vec![0; encoder.coded_len()]);
    Box::new(move || encoder.encode(keep(&block), keep(&mut coded)))
}

fn lte_turbo_encode() -> Call {
    let mut encoder = lte::TurboEncoder::new(2048).expect("a length of the standard");
    let (block, mut coded) = (bits(2048), vec![0; encoder.coded_len()]);
    Box::new(move || encoder.encode(keep(&block), keep(&mut coded)))
}

fn convolutional_encode() -> Call {
    let (block, mut coded) = (bits(244), vec![0; 3 * 252]);
    Box::new(move || umts::convolutional_encode(umts::ConvolutionalRate::Third, keep(&block), keep(&mut coded)))
}

fn viterbi() -> Call {
    let rate = umts::ConvolutionalRate::Third;
    let (block, mut coded) = (bits(112), vec![0; 360]);
    umts::convolutional_encode(rate, &block, &mut coded);
    let (llrs, mut decoder, mut decided) = (llrs(&coded), umts::Viterbi::new(rate), block);
    Box::new(move || {
        decoder.decode(keep(&llrs), keep(&mut decided));
    })
}

fn umts_turbo_decode() -> Call {
    let mut encoder = umts::TurboEncoder::new(1280).expect("a length of the standard");
    let (block, mut coded) = (bits(1280), vec![0; encoder.coded_len()]);
    encoder.encode(&block, &mut coded);
    let (llrs, mut decided) = (llrs(&coded), block);
    let mut decoder = turbo::Decoder::umts(1280).expect("a length of the standard");
    Box::new(move || decoder.decode(keep(&llrs), 2, keep(&mut decided)))
}

fn lte_turbo_decode() -> Call {
    let mut encoder = lte::TurboEncoder::new(2048).expect("a length of the standard");
    let (block, mut coded) = (bits(2048), vec![0; encoder.coded_len()]);
    encoder.encode(&block, &mut coded);
    let (llrs, mut decided) = (llrs(&coded), block);
    let mut decoder = turbo::Decoder::lte(2048).expect("a length of the standard");
    Box::new(move || decoder.decode(keep(&llrs), 1, keep(&mut decided)))
}

fn first(tti: umts::Tti, back: bool) -> Call {
    let (input, mut out) = (bits(9120), vec![0; 9120]);
    let run = if back { umts::deinterleave_1 } else { umts::interleave_1 };
    Box::new(move || run(tti, keep(&input), keep(&mut out)))
}

fn second(back: bool) -> Call {
    let (input, mut out) = (bits(9120), vec![0; 9120]);
    let run = if back { umts::deinterleave_2 } else { umts::interleave_2 };
    Box::new(move || run(keep(&input), keep(&mut out)))
}

fn matching(from: usize, back: bool) -> Call {
    let to = 9120;
    let matching = umts::RateMatching::downlink(umts::Coding::Turbo, from, from, to).expect("it can be matched");
    let (mut block, mut matched) = (bits(from), vec![0; to]);
    matching.apply(&block, &mut matched);
    if !back {
        return Box::new(move || matching.apply(keep(&block), keep(&mut matched)));
    }
    let (soft, mut out) = (llrs(&matched), vec![0; from]);
    block.clear();
    Box::new(move || matching.invert(keep(&soft), keep(&mut out)))
}

fn multiplex() -> Call {
    let (one, other, mut frame) = (bits(6000), bits(3000), vec![0; 9120]);
    Box::new(move || umts::multiplex(keep([&one[..], &other[..]]), keep(&mut frame)))
}

fn demultiplex() -> Call {
    let (frame, mut one, mut other) = (llrs(&bits(9120)), vec![0; 6000], vec![0; 3000]);
    Box::new(move || umts::demultiplex(keep(&frame[..]), keep([&mut one[..], &mut other[..]])))
}

fn lte_rate_match() -> Call {
    let mut matching = lte::RateMatching::new(6144, 0, None).expect("the longest block");
    let (coded, mut matched) = (bits(matching.coded_len()), vec![0; 9216]);
    Box::new(move || matching.apply(keep(&coded), 0, keep(&mut matched)))
}

fn lte_rate_dematch() -> Call {
    let mut matching = lte::RateMatching::new(6144, 0, None).expect("the longest block");
    let llrs = llrs(&bits(9216));
    let (mut buffer, mut soft) = (vec![0; matching.buffer_len()], vec![0; matching.coded_len()]);
    Box::new(move || {
        buffer.fill(0);
        matching.combine(keep(&llrs), 0, &mut buffer);
        matching.read(&buffer, keep(&mut soft));
    })
}

fn lte_scramble() -> Call {
    let mut bits = bits(7200);
    Box::new(move || lte::scramble(0x1234, keep(&mut bits)))
}

fn lte_descramble() -> Call {
    let mut llrs = llrs(&bits(7200));
    Box::new(move || lte::descramble(0x1234, keep(&mut llrs)))
}

fn modulate(modulation: lte::Modulation) -> Call {
    let (bits, mut symbols) = (bits(7200), vec![Complex32::default(); 7200 / modulation.bits()]);
    Box::new(move || lte::modulate(modulation, keep(&bits), keep(&mut symbols)))
}

fn demodulate(modulation: lte::Modulation) -> Call {
    let (bits, mut symbols) = (bits(7200), vec![Complex32::default(); 7200 / modulation.bits()]);
    lte::modulate(modulation, &bits, &mut symbols);
    let (weights, mut llrs) = (vec![1.0; symbols.len()], vec![0; 7200]);
    Box::new(move || lte::demodulate(modulation, 30.0, keep(&symbols), Some(&weights), keep(&mut llrs)))
}
