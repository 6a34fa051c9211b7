//! The exchange from end to end.

use proptest::prelude::*;
use takt_base::{Complex32, Tick};

use super::*;

/// A subframe of known payload: what was sent, as chips.
fn subframe(codes: usize, number: u64) -> (Vec<u8>, Vec<Complex32>) {
    let mut downlink = Downlink::new(Cell::default(), codes).unwrap();
    let (mut payload, mut chips) = (vec![0; downlink.payload_bits()], vec![Complex32::default(); CHIPS]);
    downlink.payload(1, number, &mut payload);
    downlink.transmit(&payload, &mut chips);
    (payload, chips)
}

fn add_noise(seed: u64, snr_db: f32, x: &mut [Complex32]) {
    let mut noise = vec![Complex32::default(); x.len()];
    crate::noise(seed, 10_f32.powf(-snr_db / 10.0), Tick(0), 1, &mut noise);
    x.iter_mut().zip(noise).for_each(|(x, noise)| *x += noise);
}

/// Number of acknowledged subframes at a chip's ratio of signal to noise; each of these is what was sent.
fn acknowledged(codes: usize, snr_db: f32, subframes: u64, through_samples: bool) -> usize {
    let mut receiver = Receiver::new(Cell::default(), codes).unwrap();
    let mut converter = Converter::new();
    let count = (0..subframes).filter(|&number| {
        let (payload, mut chips) = subframe(codes, number);
        if through_samples {
            let mut samples = vec![Complex32::default(); SAMPLES];
            converter.to_samples(&chips, &mut samples);
            add_noise(number, snr_db, &mut samples);
            converter.to_chips(&samples, &mut chips);
        } else {
            add_noise(number, snr_db, &mut chips);
        }
        let mut decoded = vec![0; payload.len()];
        let ack = receiver.receive(&chips, &mut decoded).answer == BlockAnswer::Ack;
        assert!(!ack || decoded == payload, "subframe {number} is acknowledged, and is another");
        ack
    });
    count.count()
}

#[test]
fn blocks_arrive_where_theory_lets_them_and_nowhere_below() {
    // Rate 1/3 with QPSK needs some 0 dB a symbol, which has 16 / codes chips' worth: 1.5 dB of it for a channel not known.
    for (codes, good_db, bad_db) in [(16, 1.5, -4.0), (8, -1.5, -7.0), (1, -8.0, -16.0)] {
        assert_eq!(acknowledged(codes, good_db, 20, false), 20, "{codes} codes at {good_db} dB");
        assert_eq!(acknowledged(codes, bad_db, 20, false), 0, "{codes} codes at {bad_db} dB");
    }
}

#[test]
fn the_samples_of_an_n200_carry_all_codes() {
    for (codes, snr_db) in [(16, 6.0), (8, 0.0), (1, -8.0)] {
        assert_eq!(acknowledged(codes, snr_db, 10, true), 10, "{codes} codes at {snr_db} dB");
    }
}

#[test]
fn a_slot_is_the_same_whether_the_rest_of_the_subframe_is_there_or_not() {
    let (payload, sent) = subframe(16, 6);
    let (mut converter, mut receiver) = (Converter::new(), Receiver::new(Cell::default(), 16).unwrap());
    let (mut samples, mut chips) = (vec![Complex32::default(); SAMPLES], sent.clone());
    converter.to_samples(&sent, &mut samples);
    add_noise(6, 6.0, &mut samples);
    converter.to_chips(&samples, &mut chips);
    for number in DOWNLINK_SLOTS {
        let mut slot = vec![Complex32::default(); SLOT_CHIPS];
        converter.slot_to_chips(number, &samples[..slot_samples(number)], &mut slot);
        assert_eq!(slot, chips[traffic_slot(number)], "slot {number}");
        receiver.take_slot(number, &slot);
    }
    let mut decoded = vec![0; payload.len()];
    let by_slot = receiver.decode(&mut decoded);
    assert_eq!((by_slot.answer, &decoded), (BlockAnswer::Ack, &payload));
    assert_eq!(receiver.receive(&chips, &mut decoded), by_slot);
}

#[test]
fn silence_and_noise_are_no_blocks() {
    let mut receiver = Receiver::new(Cell::default(), 16).unwrap();
    let (mut chips, mut payload) = (vec![Complex32::default(); CHIPS], vec![0; receiver.payload_bits()]);
    let silence = receiver.receive(&chips, &mut payload);
    assert_eq!((silence.answer, silence.snr_db), (BlockAnswer::Nack, f32::NEG_INFINITY));
    for seed in 0..50 {
        chips.fill(0.0.into());
        add_noise(seed, 0.0, &mut chips);
        assert_eq!(receiver.receive(&chips, &mut payload).answer, BlockAnswer::Nack);
    }
}

#[test]
fn a_lost_slot_is_a_block_to_send_again_and_another_cells_is_not_heard() {
    let (_, chips) = subframe(16, 5);
    let mut receiver = Receiver::new(Cell::default(), 16).unwrap();
    let mut payload = vec![0; receiver.payload_bits()];
    let mut holed = chips.clone();
    holed[traffic_slot(3).start..traffic_slot(5).end].fill(0.0.into());
    assert_eq!(receiver.receive(&holed, &mut payload).answer, BlockAnswer::Nack);
    let other = Cell { scrambling: 0x0c5f, ..Cell::default() };
    let mut elsewhere = Receiver::new(other, 16).unwrap();
    assert_eq!(elsewhere.receive(&chips, &mut payload).answer, BlockAnswer::Nack);
}

#[test]
fn the_measured_ratio_is_the_one_of_the_channel() {
    for snr_db in [0.0, 10.0, 20.0] {
        let (payload, mut chips) = subframe(16, 1);
        add_noise(9, snr_db, &mut chips);
        let mut decoded = vec![0; payload.len()];
        let measured = Receiver::new(Cell::default(), 16).unwrap().receive(&chips, &mut decoded).snr_db;
        assert!((measured - snr_db).abs() < 1.0, "{measured} dB for {snr_db}");
    }
}

#[test]
fn answers_arrive_with_their_number_through_samples_and_noise() {
    let (mut burst, mut converter) = (AnswerBurst::new(Cell::default()), Converter::new());
    let (mut chips, mut samples) = ([Complex32::default(); SLOT_CHIPS], [Complex32::default(); ANSWER_SAMPLES]);
    for number in (0..4096).step_by(97) {
        let answer = if number % 2 == 0 { BlockAnswer::Ack } else { BlockAnswer::Nack };
        burst.transmit(answer, number, &mut chips);
        converter.answer_to_samples(&chips, &mut samples);
        add_noise(number, 3.0, &mut samples);
        converter.answer_to_chips(&samples, &mut chips);
        assert_eq!(burst.receive(&chips), Some((answer, number as u16)));
    }
}

#[test]
fn where_nothing_was_answered_nothing_is_heard() {
    let mut burst = AnswerBurst::new(Cell::default());
    assert_eq!(burst.receive(&[Complex32::default(); SLOT_CHIPS]), None);
    for seed in 0..500 {
        let mut chips = [Complex32::default(); SLOT_CHIPS];
        add_noise(seed, 0.0, &mut chips);
        assert_eq!(burst.receive(&chips), None, "noise {seed}");
    }
}

#[test]
fn bursts_have_power_1_and_the_rest_of_a_subframe_is_silent() {
    let (_, chips) = subframe(16, 3);
    let power = |range: std::ops::Range<usize>| {
        chips[range.clone()].iter().map(Complex32::norm_sqr).sum::<f32>() / range.len() as f32
    };
    for slot in DOWNLINK_SLOTS {
        let slot = traffic_slot(slot);
        assert!((power(slot.start..slot.end - 16) - 1.0).abs() < 0.05);
        assert_eq!(power(slot.end - 16..slot.end), 0.0);
    }
    assert_eq!(power(0..traffic_slot(3).start), 0.0);
}

#[test]
fn codes_that_a_slot_does_not_have_are_refused() {
    for codes in [0, 17, usize::MAX] {
        assert_eq!(Downlink::new(Cell::default(), codes).err(), Some(Error::Codes { codes }));
        assert_eq!(Receiver::new(Cell::default(), codes).err(), Some(Error::Codes { codes }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_block_comes_through_any_two_paths_and_any_time_within_the_window(
        codes in 1_usize..=16, late in 0_usize..8, apart in 0_usize..4, turns in 0.0f32..std::f32::consts::TAU, gain in 1e-3f32..1e3,
    ) {
        let (payload, sent) = subframe(codes, 42);
        let echo = Complex32::from_polar(0.5, turns);
        let at = |i: usize, delay: usize| i.checked_sub(delay).map_or(Complex32::default(), |i| sent[i]);
        let received: Vec<_> =
            (0..CHIPS).map(|i| (at(i, late) + echo * at(i, late + apart)) * gain).collect();
        let mut decoded = vec![0; payload.len()];
        let reception = Receiver::new(Cell::default(), codes).unwrap().receive(&received, &mut decoded);
        // An echo in counter-phase may leave next to nothing of the two.
        prop_assume!((Complex32::new(1.0, 0.0) + echo).norm() > 0.6 || apart > 0);
        prop_assert_eq!((reception.answer, decoded), (BlockAnswer::Ack, payload));
    }

    #[test]
    fn whatever_arrives_is_no_reason_to_panic(seed in any::<u64>(), kind in 0_usize..4) {
        let odd = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE][kind];
        let (_, mut chips) = subframe(3, 1);
        for n in 0..20_u64 {
            chips[(seed.wrapping_mul(2 * n + 1) % CHIPS as u64) as usize] = Complex32::new(odd, -odd);
        }
        let mut receiver = Receiver::new(Cell::default(), 3).unwrap();
        let mut payload = vec![0; receiver.payload_bits()];
        receiver.receive(&chips, &mut payload);
        // And nothing of it is left for the next.
        let (sent, clean) = subframe(3, 2);
        prop_assert_eq!(receiver.receive(&clean, &mut payload).answer, BlockAnswer::Ack);
        prop_assert_eq!(payload, sent);
    }
}
