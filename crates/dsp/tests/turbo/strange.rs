//! Values that no channel gives, and how a decoder stops.

use super::channel::{Code, Encoder, Random};
use takt_dsp::turbo::Decoder;

#[test]
fn the_loudest_values_decide_as_quiet_ones_do() {
    let mut decoder = Decoder::lte(1024).unwrap();
    let block = Random(3).bits(1024);
    let coded = Encoder::new(Code::Lte(1024)).encode(&block);
    for (zero, one) in [(1, -1), (127, -128), (127, -1), (1, -128)] {
        let received: Vec<i8> = coded.iter().map(|&bit| if bit == 0 { zero } else { one }).collect();
        let mut decided = vec![7; 1024];
        for iterations in [0, 1, 40] {
            decoder.decode(&received, iterations, &mut decided);
            assert_eq!(decided, block, "{zero} {one}, {iterations} iterations");
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
    let mut asked = 0;
    let accept = |_: &[u8]| {
        asked += 1;
        false
    };
    assert_eq!(decoder.decode_until(&received, 3, &mut decided, accept), None);
    assert_eq!(asked, 3);
    let mut plainly = vec![7; 3856];
    decoder.decode(&received, 3, &mut plainly);
    assert_eq!(decided, plainly);
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
