//! Values that no channel gives, and how a decoder stops.

use super::channel::{Code, Encoder, Random};
use takt_dsp::turbo::{BatchDecoder, Decoder};

#[test]
fn the_loudest_values_decide_as_quiet_ones_do() {
    let (mut decoder, mut batches) = (Decoder::lte(1024).unwrap(), BatchDecoder::lte(1024).unwrap());
    let block = Random(3).bits(1024);
    let coded = Encoder::new(Code::Lte(1024)).encode(&block);
    for (zero, one) in [(1, -1), (127, -128), (127, -1), (1, -128)] {
        let received: Vec<i8> = coded.iter().map(|&bit| if bit == 0 { zero } else { one }).collect();
        let mut decided = vec![7; 1024];
        for iterations in [0, 1, 40] {
            decoder.decode(&received, iterations, &mut decided);
            assert_eq!(decided, block, "{zero} {one}, {iterations} iterations");
            // A batch has no bits for what is a hundred times as quiet as the rest.
            if [(1, -1), (127, -128)].contains(&(zero, one)) {
                decided.fill(7);
                batches.decode(&received, iterations, &mut decided);
                assert_eq!(decided, block, "{zero} {one}, {iterations} iterations, in a batch");
            }
        }
    }
}

#[test]
fn one_value_everywhere_is_the_code_word_of_that_bit_or_no_code_word() {
    for k in [40, 512, 3856, 5114] {
        let mut decoder = Decoder::umts(k).unwrap();
        for llr in [i8::MIN, -1, 0, 1, i8::MAX] {
            let mut decided = vec![7; k];
            decoder.decode(&vec![llr; decoder.coded_len()], 3, &mut decided);
            assert!(decided.iter().all(|&bit| bit < 2));
            assert!(llr <= 0 || decided.iter().all(|&bit| bit == 0));
        }
    }
}

#[test]
fn a_decoder_remembers_nothing_of_the_block_before() {
    let mut random = Random(9);
    let coded = Encoder::new(Code::Umts(417)).encode(&random.bits(417));
    let received = random.received(&coded, 1.0, 16.0);
    let (mut used, mut fresh) = (Decoder::umts(417).unwrap(), Decoder::umts(417).unwrap());
    let (mut first, mut second) = (vec![7; 417], vec![7; 417]);
    used.decode(&vec![i8::MIN; received.len()], 5, &mut first);
    used.decode(&received, 2, &mut first);
    fresh.decode(&received, 2, &mut second);
    assert_eq!(first, second);
}

#[test]
fn a_decoder_stops_when_its_bits_will_do_and_says_after_how_many_iterations() {
    let mut decoder = Decoder::umts(3856).unwrap();
    let mut random = Random(11);
    let block = random.bits(3856);
    let received = random.received(&Encoder::new(Code::Umts(3856)).encode(&block), 1.0, 16.0);
    let mut decided = vec![7; 3856];
    let used = decoder.decode_until(&received, 8, &mut decided, |bits| bits == block).unwrap();
    assert!((2..8).contains(&used), "{used} iterations at 1 dB");
    assert_eq!(decided, block);
    let mut calls = 0;
    let accept = |_: &[u8]| {
        calls += 1;
        false
    };
    assert_eq!(decoder.decode_until(&received, 3, &mut decided, accept), None);
    assert_eq!(calls, 3);
    let mut plainly = vec![7; 3856];
    decoder.decode(&received, 3, &mut plainly);
    assert_eq!(decided, plainly);
}

#[test]
fn a_block_is_decided_alike_alone_and_beside_any_others() {
    let (mut random, mut encoder) = (Random(21), Encoder::new(Code::Umts(333)));
    let mut decoder = BatchDecoder::umts(333).unwrap();
    let received: Vec<i8> = (0..45)
        .flat_map(|n| {
            let coded = encoder.encode(&random.bits(333));
            random.received(&coded, 0.5, 2.0 + n as f32)
        })
        .collect();
    let mut together = vec![7; 45 * 333];
    decoder.decode(&received, 3, &mut together);
    for (received, together) in received.chunks(decoder.coded_len()).zip(together.chunks(333)) {
        let mut alone = vec![7; 333];
        decoder.decode(received, 3, &mut alone);
        assert_eq!(alone, together);
    }
    decoder.decode(&[], 3, &mut []);
}

#[test]
fn a_batch_stops_when_all_its_blocks_will_do() {
    let mut random = Random(31);
    let (mut decoder, mut encoder) = (BatchDecoder::umts(400).unwrap(), Encoder::new(Code::Umts(400)));
    let sent: Vec<Vec<u8>> = (0..40).map(|_| random.bits(400)).collect();
    let received: Vec<i8> = sent.iter().flat_map(|block| random.received(&encoder.encode(block), 3.0, 16.0)).collect();
    let (mut decided, mut calls) = (vec![7; 40 * 400], vec![0; 40]);
    let all = decoder.decode_until(&received, 20, &mut decided, |n, block| {
        calls[n] += 1;
        block == sent[n]
    });
    assert!(all && calls.iter().all(|&times| (1..20).contains(&times)), "{calls:?}");
    assert_eq!(decided, sent.concat());
    assert!(!decoder.decode_until(&received, 2, &mut decided, |n, _| n != 39), "one of them never will");
}

#[test]
#[should_panic(expected = "the coded block is of the length")]
fn a_coded_block_of_another_length_is_a_mistake_of_the_program() {
    Decoder::umts(40).unwrap().decode(&[0; 131], 1, &mut [0; 40]);
}

#[test]
#[should_panic(expected = "room for the bits of a block")]
fn so_is_no_room_for_the_bits() {
    Decoder::umts(40).unwrap().decode(&[0; 132], 1, &mut [0; 41]);
}
