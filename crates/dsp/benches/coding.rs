//! Time a call of each kernel of the UMTS chain and the LTE coding, at the block lengths of the 384 kb/s channel (K = 3856) and
//! of the longest LTE block (K = 6144), beside the floor: copying a coded block.
//!
//! `cargo bench -p takt-dsp --bench coding`

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use takt_base::Complex32;
use takt_dsp::crc::Crc;
use takt_dsp::turbo::{BatchDecoder, Decoder, Level};
use takt_dsp::{lte, tdscdma, umts};

fn some_bits(count: usize) -> Vec<u8> {
    (0..count as u32).map(|i| (i.wrapping_mul(i).wrapping_mul(2_654_435_761) >> 17 & 1) as u8).collect()
}

/// Times `call` under `name`.
fn bench<O>(c: &mut Criterion, name: impl Into<String>, mut call: impl FnMut() -> O) {
    c.bench_function(&name.into(), |b| b.iter(&mut call));
}

fn floor(c: &mut Criterion) {
    // A block, a radio frame, and the coded blocks of UMTS and LTE.
    for bytes in [6144, 9120, 11_580, 18_444] {
        let (from, mut to) = (some_bits(bytes), vec![0; bytes]);
        bench(c, format!("floor: memcpy {bytes}"), || black_box(&mut to).copy_from_slice(black_box(&from)));
    }
}

fn checks(c: &mut Criterion) {
    let block = some_bits(3840);
    for crc in Crc::ALL {
        bench(c, format!("{crc:?} of 3840 bits"), || crc.remainder(black_box(&block)));
    }
    let longest = some_bits(6144);
    bench(c, "Crc24B of 6144 bits", || Crc::Crc24B.remainder(black_box(&longest)));
    let packed: Vec<u8> = block.chunks(8).map(|byte| byte.iter().fold(0, |b, bit| b << 1 | bit)).collect();
    let rival = crc::Crc::<u32, crc::Table<16>>::new(&crc::CRC_24_LTE_A);
    bench(c, "rival: crate crc, Crc24A of 3840 bits packed before", || rival.checksum(black_box(&packed)));
    let rival = crc::Crc::<u16, crc::Table<16>>::new(&crc::CRC_16_XMODEM);
    bench(c, "rival: crate crc, Crc16 of 3840 bits packed before", || rival.checksum(black_box(&packed)));
}

fn encoders(c: &mut Criterion) {
    let block = some_bits(6144);
    let mut encoder = umts::TurboEncoder::new(3856).unwrap();
    let mut coded = vec![0; encoder.coded_len()];
    bench(c, "umts turbo encode 3856", || encoder.encode(black_box(&block[..3856]), &mut coded));
    let mut encoder = lte::TurboEncoder::new(6144).unwrap();
    let mut coded = vec![0; encoder.coded_len()];
    bench(c, "lte turbo encode 6144", || encoder.encode(black_box(&block), &mut coded));
}

fn interleavers(c: &mut Criterion) {
    let input = some_bits(9120);
    let mut out = input.clone();
    bench(c, "umts interleave 2, 9120", || umts::interleave_2(black_box(&input), &mut out));
    bench(c, "umts deinterleave 2, 9120", || umts::deinterleave_2(black_box(&input), &mut out));
    for tti in umts::Tti::ALL {
        let name = format!("interleave 1, 9120 in {tti:?}");
        bench(c, format!("umts {name}"), || umts::interleave_1(tti, black_box(&input), &mut out));
        bench(c, format!("umts de{name}"), || umts::deinterleave_1(tti, black_box(&input), &mut out));
    }
}

fn rate_matching(c: &mut Criterion) {
    for (name, from, to) in [("punctured", 11_580, 9120), ("repeated", 8820, 9120)] {
        let matching = umts::RateMatching::downlink(umts::Coding::Turbo, from, from, to).unwrap();
        let (block, mut matched) = (some_bits(from), vec![0; to]);
        let name = format!("{from} to {to} bits {name}");
        bench(c, format!("umts match {name}"), || matching.apply(black_box(&block), &mut matched));
        let (matched, mut block) = (vec![5i8; to], vec![0; from]);
        bench(c, format!("umts dematch {name}"), || matching.invert(black_box(&matched), &mut block));
    }
}

fn signalling(c: &mut Criterion) {
    let rate = umts::ConvolutionalRate::Third;
    let (block, mut coded) = (some_bits(112), vec![0; 360]);
    bench(c, "umts convolutional encode 112", || umts::convolutional_encode(rate, black_box(&block), &mut coded));
    let llrs: Vec<i8> = coded.iter().map(|bit| 20 - 40 * *bit as i8).collect();
    let (mut decoder, mut decided) = (umts::Viterbi::new(rate), vec![0; 112]);
    bench(c, "umts Viterbi 112", || decoder.decode(black_box(&llrs), &mut decided));
}

fn lte_rate_matching(c: &mut Criterion) {
    let mut matching = lte::RateMatching::new(6144, 0, None).unwrap();
    let (coded, mut matched) = (some_bits(matching.coded_len()), vec![0; 9216]);
    bench(c, "lte match 6144 to 9216", || matching.apply(black_box(&coded), 0, &mut matched));
    let llrs = vec![9; 9216];
    let (mut buffer, mut soft) = (vec![0; matching.buffer_len()], vec![0; matching.coded_len()]);
    bench(c, "lte dematch 9216 to 6144", || {
        buffer.fill(0);
        matching.combine(black_box(&llrs), 0, &mut buffer);
        matching.read(&buffer, &mut soft);
    });
}

fn modulation(c: &mut Criterion) {
    let mut bits = some_bits(14_400);
    bench(c, "lte scramble 14400", || lte::scramble(0x1234, black_box(&mut bits)));
    let mut llrs = vec![7; 14_400];
    bench(c, "lte descramble 14400", || lte::descramble(0x1234, black_box(&mut llrs)));
    for modulation in lte::Modulation::ALL {
        let mut symbols = vec![Complex32::default(); 14_400 / modulation.bits()];
        bench(c, format!("lte modulate 14400 {modulation:?}"), || {
            lte::modulate(modulation, black_box(&bits), &mut symbols);
        });
        let weights = vec![1.0; symbols.len()];
        bench(c, format!("lte demodulate 14400 {modulation:?}"), || {
            lte::demodulate(modulation, 30.0, black_box(&symbols), Some(&weights), &mut llrs);
        });
    }
}

/// All that is done to a subframe of 10 MHz: 15 264 bits in three code blocks, 16QAM; the decoder makes one iteration.
fn subframe(c: &mut Criterion) {
    let (data, sent_bits) = (some_bits(15_264), 30_000);
    let cut = lte::Segmentation::new(15_288).unwrap();
    let length = cut.block_len(0);
    assert_eq!(cut.blocks() * length, cut.blocks_len());
    let mut encoder = lte::TurboEncoder::new(length).unwrap();
    let mut matching = lte::RateMatching::new(length, cut.fillers(), None).unwrap();
    let (mut with_crc, mut blocks) = (vec![0; 15_288], vec![0; cut.blocks_len()]);
    let (mut coded, mut sent) = (vec![0; encoder.coded_len()], vec![0; sent_bits]);
    let mut symbols = vec![Complex32::default(); sent_bits / 4];
    bench(c, "lte transmitter, 15264 bits", || {
        lte::crc_attach(Crc::Crc24A, black_box(&data), &mut with_crc);
        cut.segment(&with_crc, &mut blocks);
        for (block, sent) in blocks.chunks(length).zip(sent.chunks_mut(sent_bits / 3)) {
            encoder.encode(block, &mut coded);
            matching.apply(&coded, 0, sent);
        }
        lte::scramble(0x1234, &mut sent);
        lte::modulate(lte::Modulation::Qam16, &sent, &mut symbols);
    });
    let mut decoder = Decoder::lte(length).unwrap();
    let (mut llrs, mut buffer) = (vec![0; sent_bits], vec![0; matching.buffer_len()]);
    let mut soft = vec![0; decoder.coded_len()];
    bench(c, "lte receiver, 15264 bits", || {
        lte::demodulate(lte::Modulation::Qam16, 50.0, black_box(&symbols), None, &mut llrs);
        lte::descramble(0x1234, &mut llrs);
        for (received, block) in llrs.chunks(sent_bits / 3).zip(blocks.chunks_mut(length)) {
            buffer.fill(0);
            matching.combine(received, 0, &mut buffer);
            matching.read(&buffer, &mut soft);
            decoder.decode_until(&soft, 8, block, |block| lte::crc_check(Crc::Crc24B, block));
        }
        assert!(cut.join(&blocks, &mut with_crc) && lte::crc_check(Crc::Crc24A, &with_crc));
    });
}

/// All that is done to a frame of the 384 kb/s channel alone, in the downlink: but for the turbo decoder.
fn chain(c: &mut Criterion) {
    let (segmentation, tti) = (umts::Segmentation::new(umts::Coding::Turbo, 3856).unwrap(), umts::Tti::Ms10);
    let mut encoder = umts::TurboEncoder::new(3856).unwrap();
    let matching = umts::RateMatching::downlink(umts::Coding::Turbo, 11_580, 11_580, 9120).unwrap();
    let (data, mut checked, mut block) = (some_bits(3840), vec![0; 3856], vec![0; 3856]);
    let (mut coded, mut one, mut other) = (vec![0; 11_580], vec![0; 9120], vec![0; 9120]);
    bench(c, "umts transmitter, 384 kb/s", || {
        umts::crc_attach(Crc::Crc16, black_box(&data), &mut checked);
        segmentation.segment(&checked, &mut block);
        encoder.encode(&block, &mut coded);
        matching.apply(&coded, &mut one);
        umts::interleave_1(tti, &one, &mut other);
        umts::multiplex(umts::radio_frames(tti, &other), &mut one);
        umts::interleave_2(&one, &mut other);
    });
    let llrs: Vec<i8> = other.iter().map(|bit| 20 - 40 * *bit as i8).collect();
    let (mut one, mut other, mut soft) = (vec![0; 9120], vec![0; 9120], vec![0; 11_580]);
    bench(c, "umts receiver, 384 kb/s, without the turbo decoder", || {
        umts::deinterleave_2(black_box(&llrs), &mut one);
        umts::demultiplex(&one, [&mut other[..]]);
        umts::deinterleave_1(tti, &other, &mut one);
        matching.invert(&one, &mut soft);
        umts::crc_check(Crc::Crc16, &block)
    });
}

/// Coded blocks of noise: the time of an iteration does not depend on the values. Throughput counts information bits times
/// iterations, so elements a second are what others print as Mb/s x iterations.
fn decoders(c: &mut Criterion) {
    let noise: Vec<i8> = (0..64 * 18_444u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 25) as i8 - 64).collect();
    let mut group = c.benchmark_group("turbo decode");
    for level in Level::all() {
        for (name, decoder) in [("umts", Decoder::umts(3856).unwrap()), ("lte", Decoder::lte(6144).unwrap())] {
            let (mut decoder, bits) = (decoder.with_level(level), if name == "umts" { 3856 } else { 6144 });
            let (received, mut decided) = (&noise[..decoder.coded_len()], vec![0; bits]);
            for iterations in [2, 4, 8] {
                group.throughput(Throughput::Elements((bits * iterations) as u64));
                let name = format!("{name} {bits}, {iterations} iterations, {}", level.name());
                group.bench_function(&name, |b| {
                    b.iter(|| decoder.decode(black_box(received), iterations, &mut decided));
                });
            }
        }
        for (name, decoder) in [("umts", BatchDecoder::umts(3856).unwrap()), ("lte", BatchDecoder::lte(6144).unwrap())]
        {
            let mut decoder = decoder.with_level(level);
            let (bits, received) = (decoder.block_len(), &noise[..64 * decoder.coded_len()]);
            let mut decided = vec![0; 64 * bits];
            for iterations in [4, 8] {
                group.throughput(Throughput::Elements((64 * bits * iterations) as u64));
                let name = format!("64 blocks of {name} {bits}, {iterations} iterations, {}", level.name());
                group.bench_function(&name, |b| {
                    b.iter(|| decoder.decode(black_box(received), iterations, &mut decided));
                });
            }
        }
    }
}

/// All of a 10 ms slot of the 384 kb/s channel that the decoder adds to: two iterations, as in the ALOE papers.
fn receiver(c: &mut Criterion) {
    let matching = umts::RateMatching::downlink(umts::Coding::Turbo, 11_580, 11_580, 9120).unwrap();
    let mut decoder = Decoder::umts(3856).unwrap();
    let llrs: Vec<i8> = some_bits(9120).iter().map(|bit| 20 - 40 * *bit as i8).collect();
    let (mut one, mut soft, mut block) = (vec![0; 9120], vec![0; 11_580], vec![0; 3856]);
    bench(c, "umts receiver, 384 kb/s, 2 iterations", || {
        umts::deinterleave_2(black_box(&llrs), &mut one);
        matching.invert(&one, &mut soft);
        decoder.decode(&soft, 2, &mut block);
        umts::crc_check(Crc::Crc16, &block)
    });
}

/// A subframe of 5 ms, with all codes and with one.
fn exchange(c: &mut Criterion) {
    let mut converter = tdscdma::Converter::new();
    let (mut chips, mut samples) = (vec![Complex32::default(); 6400], vec![Complex32::default(); 6250]);
    for codes in [1, 16] {
        let mut downlink = tdscdma::Downlink::new(tdscdma::Cell::default(), codes).unwrap();
        let mut receiver = tdscdma::Receiver::new(tdscdma::Cell::default(), codes).unwrap();
        let mut payload = vec![0; downlink.payload_bits()];
        downlink.payload(1, 1, &mut payload);
        let codes = format!("{codes} codes");
        bench(c, format!("td-scdma transmit, {codes}"), || downlink.transmit(black_box(&payload), &mut chips));
        bench(c, format!("td-scdma receive, {codes}"), || receiver.receive(black_box(&chips), &mut payload));
    }
    bench(c, "td-scdma 6400 chips to 6250 samples", || converter.to_samples(black_box(&chips), &mut samples));
    bench(c, "td-scdma 6250 samples to 6400 chips", || converter.to_chips(black_box(&samples), &mut chips));
}

criterion_group!(
    benches,
    chain,
    decoders,
    receiver,
    floor,
    checks,
    encoders,
    interleavers,
    rate_matching,
    signalling,
    lte_rate_matching,
    modulation,
    subframe,
    exchange
);
criterion_main!(benches);
