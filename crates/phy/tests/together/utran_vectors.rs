//! The components of TS 25.212 against others' programs, vector by vector, bit for bit, with parameters called as in the files.
//! crates/dsp/tests/vectors/README.md says where the vectors come from.

use serde_json::Value as Json;
use takt_graph::Params;
use takt_runtime::{Bit, Llr};

use crate::vectors::{bench, bits, bytes, hard, list, named, number, open, soft, through};

#[test]
fn parity_is_attached_as_others_do() {
    for vector in list("umts_crc") {
        let (params, length) = (named(&vector, &["L", "A"]), number(&vector, "A"));
        let block = bits(&vector["in_hex"], length);
        let parity = bits(&vector["attached_parity_hex"], number(&vector, "L"));
        let sent: Vec<Bit> = through("umts-crc-attach", &params, &block);
        assert_eq!(sent, [block.clone(), parity].concat(), "{params:?}");
        let mut check = bench("umts-crc-check", &params);
        assert_eq!(check.feed("in", &sent).tick().output::<Bit>("out"), block);
        assert_eq!(check.results()["block_errors"], 0.into());
    }
}

#[test]
fn both_interleavers_are_those_of_others_and_undone() {
    for (file, names, kinds) in [
        ("umts_interleaver1", &["tti_ms", "n"][..], ["umts-interleave-1", "umts-deinterleave-1"]),
        ("umts_interleaver2", &["n"], ["umts-interleave-2", "umts-deinterleave-2"]),
    ] {
        for vector in list(file) {
            let (params, n) = (named(&vector, names), number(&vector, "n"));
            let (input, expected) = (bits(&vector["in_hex"], n), bits(&vector["out_hex"], n));
            assert_eq!(through::<Bit, Bit>(kinds[0], &params, &input), expected, "{file} {params:?}");
            assert_eq!(hard(&through::<Llr, Llr>(kinds[1], &params, &soft(&expected))), input, "{file} {params:?}");
        }
    }
}

#[test]
fn turbo_blocks_are_coded_as_others_do_and_decoded() {
    for vector in list("umts_turbo_encoder") {
        let (params, length) = (named(&vector, &["K"]), number(&vector, "K"));
        let block = bits(&vector["in_hex"], length);
        let coded: Vec<Bit> = through("umts-turbo-encode", &params, &block);
        assert_eq!(coded, bits(&vector["out_hex"], 3 * length + 12), "K = {length}");
        assert_eq!(through::<Llr, Bit>("umts-turbo-decode", &params, &soft(&coded)), block, "K = {length}");
    }
}

/// The second encoder sees the block through the interleaver: what it gives is what the first gives for the block so permuted.
#[test]
fn the_interleaver_inside_the_turbo_coder_is_that_of_others() {
    for vector in list("umts_interleaver_perm") {
        let pi = vector["pi"].as_array().expect("a permutation");
        let params = named(&vector, &["K"]);
        let block: Vec<Bit> =
            (0..pi.len() as u32).map(|i| Bit((i.wrapping_mul(2_654_435_761) >> 19 & 1) as u8)).collect();
        let permuted: Vec<Bit> = pi.iter().map(|from| block[from.as_u64().expect("a place") as usize]).collect();
        let parity = |block: &[Bit], which: usize| -> Vec<Bit> {
            let coded: Vec<Bit> = through("umts-turbo-encode", &params, block);
            coded[..3 * block.len()].iter().skip(which).step_by(3).copied().collect()
        };
        assert_eq!(parity(&block, 2), parity(&permuted, 1), "K = {}", pi.len());
    }
}

#[test]
fn radio_frames_of_the_uplink_are_matched_as_others_do() {
    for vector in list("umts_rate_match_conv") {
        let params = named(&vector, &["N", "N_out", "F"]).with("coding", "conv-1/3").with("direction", "uplink");
        let input = bits(&vector["in_hex"], number(&vector, "N"));
        let out = |hex: &Json| bits(hex, number(&vector, "N_out"));
        let frames: Vec<Vec<Bit>> = vector["out_hex"].as_array().expect("frames").iter().map(out).collect();
        for (n, expected) in (0_i64..).zip(&frames) {
            let of_frame = params.clone().with("frame", n);
            assert_eq!(&through::<Bit, Bit>("umts-rate-match", &of_frame, &input), expected, "{of_frame:?}");
        }
        // An interval in a packet, and a radio frame a slot.
        let together = through::<Bit, Bit>("umts-rate-match", &params, &input.repeat(frames.len()));
        assert_eq!(together, frames.concat(), "{params:?}");
        let mut one_by_one = bench("umts-rate-match", &params);
        for expected in &frames {
            assert_eq!(&one_by_one.feed("in", &input).tick().output::<Bit>("out"), expected, "{params:?}");
        }
    }
}

#[test]
fn turbo_coded_bits_are_punctured_as_others_do() {
    for vector in list("umts_rate_match_turbo_puncture") {
        let params = named(&vector, &["N", "N_out"]);
        let length = number(&vector, "N");
        let keep = bits(&vector["keep_hex"], length);
        let block: Vec<Bit> = (0..length).map(|i| Bit(((i * i / 7) & 1) as u8)).collect();
        let kept: Vec<Bit> = block.iter().zip(&keep).filter(|(_, keep)| keep.0 == 1).map(|(bit, _)| *bit).collect();
        for direction in ["uplink", "downlink"] {
            let params = params.clone().with("direction", direction);
            assert_eq!(through::<Bit, Bit>("umts-rate-match", &params, &block), kept, "{params:?}");
            let back: Vec<Llr> = through("umts-rate-dematch", &params, &soft(&kept));
            let known = back
                .iter()
                .zip(&keep)
                .zip(&soft(&block))
                .all(|((llr, keep), sent)| if keep.0 == 1 { llr == sent } else { llr.0 == 0 });
            assert!(known, "{params:?}");
        }
    }
}

fn step(of: &Json, name: &str) -> Vec<Bit> {
    bits(&of[name]["hex"], number(&of[name], "n"))
}

fn matching(n: i64, n_out: i64, coding: &str, direction: &str) -> Params {
    Params::new().with("N", n).with("N_out", n_out).with("coding", coding).with("direction", direction)
}

fn mux(lengths: [f64; 2], frame: i64, channels: [&[Bit]; 2]) -> Vec<Bit> {
    let params = Params::new().with("lengths", lengths.to_vec()).with("frame", frame);
    bench("umts-mux", &params).feed("in1", channels[0]).feed("in2", channels[1]).tick().output("out")
}

#[test]
fn each_step_of_the_reference_channel_is_that_of_others_in_both_directions() {
    let document = open("umts_chain_384k");
    let dcch = &document["dcch"];
    let il2 = |frame: &[Bit]| through::<Bit, Bit>("umts-interleave-2", &Params::new(), frame);
    for (n, frame) in document["frames"].as_array().expect("a list").iter().enumerate() {
        let crc = Params::new().with("A", 3840).with("L", 16);
        assert_eq!(through::<Bit, Bit>("umts-crc-attach", &crc, &step(frame, "a")), step(frame, "b"));
        let coded: Vec<Bit> = through("umts-turbo-encode", &Params::new().with("K", 3856), &step(frame, "b"));
        assert_eq!(coded, step(frame, "c"));
        let matched = |n_out: i64, direction: &str| -> Vec<Bit> {
            through("umts-rate-match", &matching(11_580, n_out, "turbo", direction), &coded)
        };
        for (name, n_out, direction) in [
            ("ul_rm", 9525, "uplink"),
            ("ul1_rm", 9600, "uplink"),
            ("dl_rm", 9049, "downlink"),
            ("dl1_rm", 9120, "downlink"),
        ] {
            assert_eq!(matched(n_out, direction), step(frame, name), "{name}");
        }
        let dcch_up = bits(&dcch["ul_rm_frames"][n]["hex"], 75);
        let up = mux([9525.0, 75.0], 9600, [&step(frame, "ul_rm"), &dcch_up]);
        assert_eq!(up, step(frame, "ul_mux"));
        assert_eq!(il2(&up), step(frame, "ul_il2"));
        let dcch_down = &step(dcch, "dl_il1")[71 * n..][..71];
        let down = mux([9049.0, 71.0], 9120, [&step(frame, "dl_rm"), dcch_down]);
        assert_eq!(down, step(frame, "dl_mux"));
        assert_eq!(il2(&down), step(frame, "dl_il2"));
        for name in ["ul1", "dl1"] {
            assert_eq!(il2(&step(frame, &format!("{name}_rm"))), step(frame, &format!("{name}_il2")), "{name}");
        }
    }
}

#[test]
fn the_signalling_channel_is_that_of_others_in_both_directions() {
    let document = open("umts_chain_384k");
    let dcch = &document["dcch"];
    let crc = Params::new().with("A", 100).with("L", 12);
    assert_eq!(through::<Bit, Bit>("umts-crc-attach", &crc, &step(dcch, "a")), step(dcch, "b"));
    let code = Params::new().with("K", 112).with("rate", 3);
    let coded: Vec<Bit> = through("umts-conv-encode", &code, &step(dcch, "b"));
    assert_eq!(coded, step(dcch, "c"));
    assert_eq!(through::<Llr, Bit>("umts-viterbi", &code, &soft(&coded)), step(dcch, "b"));
    let tti = Params::new().with("tti", 40);
    let up: Vec<Bit> = through("umts-interleave-1", &tti, &coded);
    assert_eq!(up, step(dcch, "ul_il1"));
    let frames: Vec<Bit> = (0..4).flat_map(|n| bits(&dcch["ul_rm_frames"][n]["hex"], 75)).collect();
    let per_frame = matching(90, 75, "conv-1/3", "uplink").with("tti", 40);
    assert_eq!(through::<Bit, Bit>("umts-rate-match", &per_frame, &up), frames);
    let down: Vec<Bit> = through("umts-rate-match", &matching(360, 284, "conv-1/3", "downlink"), &coded);
    assert_eq!(down, step(dcch, "dl_rm"));
    assert_eq!(through::<Bit, Bit>("umts-interleave-1", &tti, &down), step(dcch, "dl_il1"));
    let mut segments = bench("umts-segment", &tti.with("frame", 71));
    let interval = step(dcch, "dl_il1");
    let mut sent = segments.feed("in", &interval).tick().output::<Bit>("out");
    for _ in 1..4 {
        sent.extend(segments.feed::<Bit>("in", &[]).tick().output::<Bit>("out"));
    }
    assert_eq!(sent, interval);
}

#[test]
fn noisy_frames_that_others_receive_are_received() {
    for frame in list("umts_384k_noisy_soft") {
        let received: Vec<Llr> = bytes(&frame["llr_i8_hex"]).iter().map(|&byte| Llr(byte as i8)).collect();
        let (none, mux) = (Params::new(), Params::new().with("length", 9120).with("frame", 9120));
        let deinterleaved: Vec<Llr> = through("umts-deinterleave-2", &none, &received);
        let demultiplexed: Vec<Llr> = through("umts-demux", &mux, &deinterleaved);
        let joined: Vec<Llr> = through("umts-unsegment", &none, &demultiplexed);
        let first: Vec<Llr> = through("umts-deinterleave-1", &none, &joined);
        let coded: Vec<Llr> = through("umts-rate-dematch", &matching(11_580, 9120, "turbo", "downlink"), &first);
        let decoder = Params::new().with("K", 3856).with("iterations", 8);
        for decoder in [decoder.clone(), decoder.with("crc", 16)] {
            let block: Vec<Bit> = through("umts-turbo-decode", &decoder, &coded);
            let crc = Params::new().with("A", 3840).with("L", 16);
            let data: Vec<Bit> = through("umts-crc-check", &crc, &block);
            assert_eq!(data, bits(&frame["data_hex"], 3840), "{decoder:?}");
        }
    }
}
