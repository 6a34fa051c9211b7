use crate::file::{bits, integer, list, number, open, text};
use serde_json::Value;
use takt_dsp::umts::{Coding, Parity, Pattern, RateMatching, Tti};

#[test]
fn turbo_codes_are_punctured_as_others_do() {
    for vector in list(&open("umts_rate_match_turbo_puncture"), "vectors") {
        let (length, matched) = (number(vector, "N"), number(vector, "N_out"));
        let keep = bits(text(vector, "keep_hex"), number(vector, "keep_bits"));
        let uplink = RateMatching::uplink(Coding::Turbo, length, matched, Tti::Ms10, 0).unwrap();
        let downlink = RateMatching::downlink(Coding::Turbo, length, length, matched).unwrap();
        for matching in [uplink, downlink] {
            let mut found = vec![0; length];
            matching.invert(&vec![1; matched], &mut found);
            assert!(found.iter().zip(&keep).all(|(&found, &keep)| found == keep as i8), "{length} to {matched}");
        }
        let punctured = length - matched;
        for (parity, key, share) in
            [(Parity::First, "p1", punctured.div_ceil(2)), (Parity::Second, "p2", punctured / 2)]
        {
            let expected = pattern(&vector[key]);
            let each = number(vector, "X");
            assert_eq!(Pattern::uplink_turbo(parity, each, share, Tti::Ms10, 0), expected);
            assert_eq!(Pattern::downlink_turbo(parity, each, share), expected);
        }
    }
}

fn pattern(value: &Value) -> Pattern {
    Pattern { initial: integer(value, "e_ini"), plus: integer(value, "e_plus"), minus: integer(value, "e_minus") }
}
