use crate::file::{bits, list, number, open, text};
use takt_dsp::lte::{pdsch_c_init, scramble};

#[test]
fn gold_sequences_are_those_of_others() {
    for vector in list(&open("lte_gold_scrambling"), "gold") {
        let mut found = vec![0; number(vector, "n")];
        scramble(number(vector, "c_init") as u32, &mut found);
        assert_eq!(found, bits(text(vector, "c_hex"), number(vector, "n")), "c_init {}", vector["c_init"]);
    }
}

#[test]
fn pdsch_sequences_are_those_of_others() {
    for vector in list(&open("lte_gold_scrambling"), "pdsch") {
        let field = |key: &str| number(vector, key);
        let c_init = pdsch_c_init(field("rnti") as u16, field("q") as u8, field("n_slot") as u8, field("cell") as u16);
        let mut found = vec![0; field("n")];
        scramble(c_init, &mut found);
        assert_eq!(found, bits(text(vector, "c_hex"), field("n")), "{vector}");
    }
}
