//! The exchange of TD-SCDMA as components: what a base station sends, answered by a terminal.

use takt_base::Complex32;
use takt_dsp::tdscdma::{ANSWER_SAMPLES, AnswerBurst, BlockAnswer, Cell, Converter, SLOT_CHIPS};
use takt_graph::Params;
use takt_runtime::Bit;

use crate::vectors::bench;

/// Samples of subframe after subframe, with so many codes.
fn subframes(codes: i64, count: usize) -> Vec<Vec<Complex32>> {
    let mut downlink = bench("td-scdma-downlink", &Params::new().with("codes", codes));
    let mut convert = bench("td-scdma-to-samples", &Params::new());
    let sent = |_| {
        let chips = downlink.tick().output::<Complex32>("out").to_vec();
        convert.feed("in", &chips).tick().output::<Complex32>("out").to_vec()
    };
    (0..count).map(sent).collect()
}

#[test]
fn every_subframe_is_answered_with_its_number() {
    for codes in [1, 16] {
        let mut convert = bench("td-scdma-to-chips", &Params::new());
        let mut receive = bench("td-scdma-receive", &Params::new().with("codes", codes));
        let mut answer = bench("td-scdma-answer", &Params::new());
        let (mut burst, mut converter) = (AnswerBurst::new(Cell::default()), Converter::new());
        for (number, samples) in subframes(codes, 5).iter().enumerate() {
            assert_eq!(samples.len(), 6250);
            assert!(samples.iter().all(|sample| sample.re.abs() < 1.0 && sample.im.abs() < 1.0), "beyond full scale");
            let chips = convert.feed("in", samples).tick().output::<Complex32>("out").to_vec();
            let bits = receive.feed("in", &chips).tick().output::<Bit>("answer").to_vec();
            let sent = answer.feed("in", &bits).tick().output::<Complex32>("out").to_vec();
            assert_eq!(sent.len(), ANSWER_SAMPLES);
            let mut received = [Complex32::default(); SLOT_CHIPS];
            converter.answer_to_chips(&sent, &mut received);
            assert_eq!(burst.receive(&received), Some((BlockAnswer::Ack, number as u16)));
        }
    }
}

#[test]
fn a_subframe_that_did_not_arrive_is_not_answered_and_noise_is_a_nack() {
    let mut receive = bench("td-scdma-receive", &Params::new());
    let mut answer = bench("td-scdma-answer", &Params::new());
    let none = receive.feed::<Complex32>("in", &[]).tick().output::<Bit>("answer").to_vec();
    assert!(none.is_empty());
    assert!(answer.feed("in", &none).tick().output::<Complex32>("out").is_empty());
    let mut noise = vec![Complex32::default(); 6400];
    takt_dsp::noise(1, 1.0, takt_base::Tick(0), 1, &mut noise);
    assert_eq!(receive.feed("in", &noise).tick().output::<Bit>("answer"), [Bit(1)]);
    assert_eq!(answer.feed("in", &[Bit(1)]).tick().output::<Complex32>("out").len(), ANSWER_SAMPLES);
}
