use crate::file::{bits, list, number, open, text};
use takt_dsp::umts::{deinterleave_2, interleave_2};

#[test]
fn the_second_interleaver_is_that_of_others() {
    for vector in list(&open("umts_interleaver2"), "vectors") {
        let block = |name: &str| bits(text(vector, name), number(vector, "n"));
        let (input, expected) = (block("in_hex"), block("out_hex"));
        let mut out = vec![7; input.len()];
        interleave_2(&input, &mut out);
        assert_eq!(out, expected, "{} bits", input.len());
        deinterleave_2(&expected, &mut out);
        assert_eq!(out, input, "{} bits, back", input.len());
    }
}
