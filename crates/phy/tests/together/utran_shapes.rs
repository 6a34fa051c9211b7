//! Shapes of TS 25.212 beyond those of the 384 kb/s channel: several code blocks, all intervals, both link directions, several
//! physical channels; through the transmitter and back, at random.

use proptest::prelude::*;
use takt_graph::Params;
use takt_runtime::{Bit, Llr};

use crate::vectors::{bench, soft, through};

fn some_bits(count: u32, seed: u32) -> Vec<Bit> {
    (0..count).map(|i| Bit((i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 17 & 1) as u8)).collect()
}

/// Coded bits on their way through one direction, with about every tenth punctured or repeated, as soft values.
fn through_the_air(coded: &[Bit], coding: &str, uplink: bool, tti: u32, change: i64, channels: u32) -> Vec<Llr> {
    let frames = i64::from(tti / 10);
    let length = coded.len() as i64;
    let tti = Params::new().with("tti", tti);
    let direction = if uplink { "uplink" } else { "downlink" };
    let matching = |n: i64, n_out: i64| {
        tti.clone().with("N", n).with("N_out", n_out).with("coding", coding).with("direction", direction)
    };
    let channels = Params::new().with("P", channels);
    let air = |sent: &[Bit]| -> Vec<Llr> {
        let frame: Vec<Bit> = through("umts-interleave-2", &channels, sent);
        through("umts-deinterleave-2", &channels, &soft(&frame))
    };
    let many = channels.int("P").unwrap_or(1) * frames;
    let changed = |n: i64| ((n + n * change / 100).max(1) + many - 1) / many * many;
    if uplink {
        let equalised = tti.clone().with("n", length);
        let interleaved: Vec<Bit> = through("umts-interleave-1", &equalised, coded);
        let n = interleaved.len() as i64 / frames;
        let matching = matching(n, changed(n));
        let received = air(&through::<Bit, Bit>("umts-rate-match", &matching, &interleaved));
        let dematched: Vec<Llr> = through("umts-rate-dematch", &matching, &received);
        through("umts-deinterleave-1", &equalised, &dematched)
    } else {
        let matching = matching(length, changed(length));
        let matched: Vec<Bit> = through("umts-rate-match", &matching, coded);
        let interleaved: Vec<Bit> = through("umts-interleave-1", &tti, &matched);
        let deinterleaved: Vec<Llr> = through("umts-deinterleave-1", &tti, &air(&interleaved));
        through("umts-rate-dematch", &matching, &deinterleaved)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn turbo_coded_intervals_of_any_length_come_back(
        interval in prop_oneof![1_u32..60, 40_u32..5200, 5100_u32..16_000],
        uplink in any::<bool>(),
        tti in prop::sample::select(&[10_u32, 20, 40, 80][..]),
        change in -8_i64..30,
        channels in 1_u32..4,
        seed in any::<u32>(),
    ) {
        let (params, sent) = (Params::new().with("X", interval), some_bits(interval, seed));
        let coded: Vec<Bit> = through("umts-turbo-encode", &params, &sent);
        let blocks = interval.div_ceil(5114);
        let length = if interval < 40 { 40 } else { interval.div_ceil(blocks) };
        prop_assert_eq!(coded.len() as u32, blocks * (3 * length + 12));
        let received = through_the_air(&coded, "turbo", uplink, tti, change, channels);
        let decided: Vec<Bit> = through("umts-turbo-decode", &params, &received);
        prop_assert_eq!(decided, sent);
    }

    #[test]
    fn convolutionally_coded_intervals_of_any_length_come_back(
        interval in 1_u32..3000,
        rate in 2_u32..=3,
        uplink in any::<bool>(),
        tti in prop::sample::select(&[10_u32, 20, 40, 80][..]),
        change in -5_i64..30,
        channels in 1_u32..4,
        seed in any::<u32>(),
    ) {
        let params = Params::new().with("X", interval).with("rate", rate);
        let sent = some_bits(interval, seed);
        let coded: Vec<Bit> = through("umts-conv-encode", &params, &sent);
        let coding = if rate == 2 { "conv-1/2" } else { "conv-1/3" };
        let received = through_the_air(&coded, coding, uplink, tti, change, channels);
        let decided: Vec<Bit> = through("umts-viterbi", &params, &received);
        prop_assert_eq!(decided, sent);
    }

    /// Blocks in one packet are blocks one by one, of every component that has blocks.
    #[test]
    fn several_blocks_of_a_packet_are_treated_each_by_itself(seed in any::<u32>(), count in 2_usize..5) {
        for (kind, params, length) in [
            ("umts-crc-attach", Params::new().with("A", 50), 50),
            ("umts-turbo-encode", Params::new().with("K", 60), 60),
            ("umts-conv-encode", Params::new().with("K", 20), 20),
            ("umts-rate-match", Params::new().with("N", 132).with("N_out", 120), 132),
            ("umts-interleave-1", Params::new().with("tti", 40).with("n", 61), 61),
            ("umts-interleave-2", Params::new().with("n", 90).with("P", 3), 90),
        ] {
            let input = some_bits(length * count as u32, seed);
            let apart: Vec<Bit> =
                input.chunks(length as usize).flat_map(|block| through::<Bit, Bit>(kind, &params, block)).collect();
            prop_assert_eq!(through::<Bit, Bit>(kind, &params, &input), apart, "{}", kind);
        }
    }

    /// Radio frames that are lost are not known; what is left of the interval is where it belongs.
    #[test]
    fn an_interval_is_dealt_to_slots_and_gathered_without_what_is_lost(
        tti in prop::sample::select(&[10_u32, 20, 40, 80][..]), lost in any::<u8>(), seed in any::<u32>(),
    ) {
        let params = Params::new().with("tti", tti).with("frame", 7);
        let frames = (tti / 10) as usize;
        let (mut segment, mut join) = (bench("umts-segment", &params), bench("umts-unsegment", &params));
        for round in 0..2 {
            let interval = some_bits(7 * frames as u32, seed ^ round);
            let mut expected = soft(&interval);
            let mut gathered = Vec::new();
            for f in 0..frames {
                let input = if f == 0 { &interval[..] } else { &[] };
                let frame: Vec<Bit> = segment.feed("in", input).tick().output("out");
                prop_assert_eq!(&frame, &interval[7 * f..][..7]);
                let gone = lost >> f & 1 == 1;
                if gone {
                    expected[7 * f..][..7].fill(Llr(0));
                }
                let received = if gone { Vec::new() } else { soft(&frame) };
                join.feed("in", &received);
                if gone {
                    join.lose("in");
                }
                gathered = join.tick().output::<Llr>("out");
                prop_assert!(f + 1 == frames || gathered.is_empty());
                prop_assert!(!segment.is_lost("out") && (f + 1 == frames || !join.is_lost("out")), "none was due");
            }
            let all_lost = (0..frames).all(|f| lost >> f & 1 == 1);
            prop_assert_eq!(join.is_lost("out"), all_lost);
            prop_assert_eq!(gathered, if all_lost { Vec::new() } else { expected });
        }
    }
}

#[test]
fn of_an_interval_that_is_lost_every_radio_frame_is_and_of_one_that_nobody_sent_none() {
    let mut segment = bench("umts-segment", &Params::new().with("tti", 40).with("frame", 7));
    for lost in [true, false, true] {
        for f in 0..4 {
            if f == 0 && lost {
                segment.lose("in");
            }
            assert!(segment.tick().output::<Bit>("out").is_empty());
            assert_eq!(segment.is_lost("out"), lost, "radio frame {f}");
        }
    }
}
