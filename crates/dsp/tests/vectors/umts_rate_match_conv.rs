use crate::file::{bits, list, number, open, text};
use takt_dsp::umts::{Coding, ConvolutionalRate, Pattern, RateMatching, Tti};

#[test]
fn one_sequence_is_matched_as_others_do() {
    for vector in list(&open("umts_rate_match_conv"), "vectors") {
        let tti = Tti::from_ms(10 * number(vector, "F") as u32).unwrap();
        let input = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let matched = number(vector, "N_out");
        for (frame, out) in list(vector, "out_hex").iter().enumerate() {
            let change = matched as i64 - input.len() as i64;
            let pattern = Pattern::uplink(input.len(), change, tti, frame);
            assert_eq!(Some(pattern.initial), vector["e_ini"][frame].as_i64(), "{input:?} to {matched}");
            let coding = Coding::Convolutional(ConvolutionalRate::Third);
            let matching = RateMatching::uplink(coding, input.len(), matched, tti, frame).unwrap();
            let mut found = vec![7; matched];
            matching.apply(&input, &mut found);
            assert_eq!(found, bits(out.as_str().unwrap(), number(vector, "out_bits")), "frame {frame}");
        }
    }
}
