//! Kernels to count instructions of: `instructions KERNEL CALLS` calls one so many times; without arguments each is called once.
//!
//! `tests/instructions/run` runs this under cachegrind, with few calls and with many: the difference is the kernel's.

#[path = "../../../tests/support/kernels.rs"]
mod kernels;

use std::hint::black_box;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::shared_band::{BandCombiner, BandPlan, BandSplitter, NarrowBand, WideBand};
use takt_dsp::turbo::{BatchDecoder, Decoder};
use takt_dsp::{Fading, Rotation, lte, umts};

use kernels::{Kernel, Make};

const KERNELS: [(&str, Make); 14] = [
    ("lte-rate-match", rate_matching),
    ("lte-scramble", scrambling),
    ("umts-interleave-1", first_interleaver),
    ("umts-interleave-2", second_interleaver),
    ("noise", noise),
    ("add-noise", added_noise),
    ("fading", fading),
    ("bpsk-soft", soft_values),
    ("turbo-decode-lte", || decoding(Decoder::lte(6144))),
    ("turbo-decode-umts", || decoding(Decoder::umts(3856))),
    ("turbo-decode-32-lte", || decoding_32(BatchDecoder::lte(6144))),
    ("turbo-decode-32-umts", || decoding_32(BatchDecoder::umts(3856))),
    ("split-band", splitting),
    ("combine-band", combining),
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

/// A tap at 7.68 MS/s.
fn fading() -> Kernel {
    let fading = Fading::new("EVA 70".parse().expect("a model"), 184.32e6, 7);
    let (input, mut out) = (vec![Complex32::new(0.1, 0.2); 7680], vec![Complex32::default(); 7680]);
    Box::new(move || fading.add(black_box(3), Tick(12_345), 24, black_box(&input), black_box(&mut out)))
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

/// Eight channels of 1 MS/s in a band of 25 MS/s. The blocks are bounded, so that other costs choose no other transform soon.
fn eight_channels() -> BandPlan {
    BandPlan::new(WideBand { first: Tick(0), step: 4 }, &[100; 8], Ticks(10_000)).expect("steps in range")
}

/// A block in, eight channels out.
fn splitting() -> Kernel {
    let plan = eight_channels();
    let mut splitter = BandSplitter::new(&plan);
    for k in 0..8 {
        let centre = Rotation::from_turns(0.02 * f64::from(k) - 0.07);
        splitter.open(NarrowBand { centre, first: Tick(0), step: 100 }).expect("room for eight");
    }
    let (wide, mut tick) = (vec![Complex32::new(0.1, 0.2); plan.block_len()], 0);
    Box::new(move || {
        splitter.feed(Tick(tick), black_box(&wide), |_, _, samples| _ = black_box(samples)).expect("on the grid");
        tick += 4 * wide.len() as u64;
    })
}

/// Samples of eight channels in, a block out.
fn combining() -> Kernel {
    let plan = eight_channels();
    let mut combiner = BandCombiner::new(&plan, Tick(10_000)).expect("a tick in range");
    let keys: Vec<_> = (0..8).map(|_| combiner.open(100, Ticks(0)).expect("room for eight")).collect();
    let samples = vec![Complex32::new(0.1, 0.2); plan.block_len() * 4 / 100];
    let mut block = vec![Complex32::default(); plan.block_len()];
    Box::new(move || {
        for (k, key) in keys.iter().enumerate() {
            let centre = Rotation::from_turns(0.02 * k as f64 - 0.07);
            let first = combiner.earliest(*key).expect("an open channel");
            let first = Tick(first.0.next_multiple_of(100));
            combiner.place(*key, centre, first, black_box(&samples)).expect("in order");
        }
        combiner.take(black_box(&mut block)).expect("a whole block");
    })
}

fn main() {
    kernels::run(&KERNELS);
}
