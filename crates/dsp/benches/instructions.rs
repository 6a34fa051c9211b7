//! Kernels to count instructions of: `instructions KERNEL CALLS` calls one so many times; without arguments each is called once.
//!
//! `tests/instructions/run` runs this under cachegrind, with few calls and with many: the difference is the kernel's.

use std::hint::black_box;

use takt_base::{Complex32, Tick};
use takt_dsp::turbo::{BatchDecoder, Decoder};
use takt_dsp::{lte, umts};

/// A call, with its memory made.
type Kernel = Box<dyn FnMut()>;

/// What makes it.
type Make = fn() -> Kernel;

const KERNELS: [(&str, Make); 11] = [
    ("lte-rate-match", rate_matching),
    ("lte-scramble", scrambling),
    ("umts-interleave-1", first_interleaver),
    ("umts-interleave-2", second_interleaver),
    ("noise", noise),
    ("add-noise", added_noise),
    ("bpsk-soft", soft_values),
    ("turbo-decode-lte", || decoding(Decoder::lte(6144))),
    ("turbo-decode-umts", || decoding(Decoder::umts(3856))),
    ("turbo-decode-32-lte", || decoding_32(BatchDecoder::lte(6144))),
    ("turbo-decode-32-umts", || decoding_32(BatchDecoder::umts(3856))),
];

fn bits(count: usize) -> Vec<u8> {
    (0..count as u32).map(|i| (i.wrapping_mul(i).wrapping_mul(2_654_435_761) >> 17 & 1) as u8).collect()
}

fn rate_matching() -> Kernel {
    let mut matching = lte::RateMatching::new(6144, 0, None).expect("a length of the standard");
    let (coded, mut matched) = (bits(matching.coded_len()), vec![0; 6900]);
    Box::new(move || matching.apply(black_box(&coded), 0, black_box(&mut matched)))
}

fn scrambling() -> Kernel {
    let mut sent = bits(6900);
    Box::new(move || lte::scramble(black_box(0x1234), black_box(&mut sent)))
}

fn first_interleaver() -> Kernel {
    let (input, mut out) = (bits(9120), vec![0; 9120]);
    Box::new(move || umts::interleave_1(umts::Tti::Ms80, black_box(&input), black_box(&mut out)))
}

fn second_interleaver() -> Kernel {
    let (input, mut out) = (bits(9120), vec![0; 9120]);
    Box::new(move || umts::interleave_2(black_box(&input), black_box(&mut out)))
}

fn noise() -> Kernel {
    let mut out = vec![Complex32::default(); 4560];
    Box::new(move || takt_dsp::noise(black_box(7), 0.1, Tick(12_345), 1, black_box(&mut out)))
}

fn added_noise() -> Kernel {
    let (input, mut out) = (vec![4096; 9120], vec![0; 9120]);
    Box::new(move || takt_dsp::add_noise(black_box(7), 1e6, 0, black_box(&input), black_box(&mut out)))
}

fn soft_values() -> Kernel {
    let (samples, mut llrs) = (vec![-4096; 9120], vec![0; 9120]);
    Box::new(move || takt_dsp::bpsk_soft(4096, 20, black_box(&samples), black_box(&mut llrs)))
}

/// Received values of this many bits: what they are does not change the work.
fn received(count: usize) -> Vec<i8> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 25) as i8 - 64).collect()
}

/// One block, two iterations.
fn decoding<E: std::fmt::Debug>(decoder: Result<Decoder, E>) -> Kernel {
    let mut decoder = decoder.expect("a length of the standard");
    let (llrs, mut decided) = (received(decoder.coded_len()), vec![0; decoder.block_len()]);
    Box::new(move || decoder.decode(black_box(&llrs), 2, black_box(&mut decided)))
}

/// 32 blocks at once, two iterations.
fn decoding_32<E: std::fmt::Debug>(decoder: Result<BatchDecoder, E>) -> Kernel {
    let mut decoder = decoder.expect("a length of the standard");
    let (llrs, mut decided) = (received(32 * decoder.coded_len()), vec![0; 32 * decoder.block_len()]);
    Box::new(move || decoder.decode(black_box(&llrs), 2, black_box(&mut decided)))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let (name, calls) = match &arguments[..] {
        [name, calls] => (Some(name), calls.parse().expect("a number of calls")),
        _ => (None, 1),
    };
    let chosen = KERNELS.iter().filter(|(kernel, _)| name.is_none_or(|name| name == kernel));
    assert!(chosen.clone().next().is_some(), "no kernel {name:?}");
    for (_, make) in chosen {
        let mut kernel = make();
        (0..calls).for_each(|_| kernel());
    }
}
