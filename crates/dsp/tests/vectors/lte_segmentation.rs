use crate::file::{list, number, open};
use takt_dsp::lte::Segmentation;

#[test]
fn transport_blocks_are_cut_as_others_do() {
    for vector in list(&open("lte_segmentation"), "vectors") {
        let cut = Segmentation::new(number(vector, "tbs") + 24).unwrap();
        assert_eq!(cut.blocks(), number(vector, "C"), "{vector}");
        assert_eq!(cut.longer(), (number(vector, "K_plus"), number(vector, "C_plus")), "{vector}");
        assert_eq!(cut.shorter(), (number(vector, "K_minus"), number(vector, "C_minus")), "{vector}");
        assert_eq!(cut.fillers(), number(vector, "F"), "{vector}");
    }
}
