use crate::file::{bits, list, number, open, text};
use takt_dsp::umts::{Tti, deinterleave_1, interleave_1};

#[test]
fn the_first_interleaver_is_that_of_others() {
    for vector in list(&open("umts_interleaver1"), "vectors") {
        let tti = Tti::from_ms(number(vector, "tti_ms") as u32).unwrap();
        let block = |name: &str| bits(text(vector, name), number(vector, "n"));
        let (input, expected) = (block("in_hex"), block("out_hex"));
        let mut out = vec![7; input.len()];
        interleave_1(tti, &input, &mut out);
        assert_eq!(out, expected, "{tti:?}, {} bits", input.len());
        deinterleave_1(tti, &expected, &mut out);
        assert_eq!(out, input, "{tti:?}, {} bits, back", input.len());
    }
}
