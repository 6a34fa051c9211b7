use crate::file::{bits, list, number, open, text};
use takt_dsp::lte::TurboEncoder;

#[test]
fn lte_turbo_code_words_are_those_of_others() {
    for vector in list(&open("lte_turbo_encoder"), "vectors") {
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let stream = |name: &str| bits(text(vector, name), number(vector, "d_bits"));
        let mut encoder = TurboEncoder::new(number(vector, "K")).unwrap();
        let mut coded = vec![7; encoder.coded_len()];
        encoder.encode(&block, &mut coded);
        assert_eq!(coded, ["d0_hex", "d1_hex", "d2_hex"].map(stream).concat(), "K = {}", block.len());
    }
}
