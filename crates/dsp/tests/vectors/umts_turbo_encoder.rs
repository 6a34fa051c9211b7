use crate::file::{bits, list, number, open, text};
use takt_dsp::umts::TurboEncoder;

#[test]
fn umts_turbo_code_words_are_those_of_others() {
    for vector in list(&open("umts_turbo_encoder"), "vectors") {
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let expected = bits(text(vector, "out_hex"), number(vector, "out_bits"));
        let mut encoder = TurboEncoder::new(number(vector, "K")).unwrap();
        let mut coded = vec![7; encoder.coded_len()];
        encoder.encode(&block, &mut coded);
        assert_eq!(coded, expected, "K = {}", block.len());
    }
}
