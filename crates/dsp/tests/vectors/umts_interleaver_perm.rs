use crate::file::{list, number, open};
use takt_dsp::umts::turbo_interleaver;

#[test]
fn the_umts_turbo_interleaver_is_that_of_others() {
    for vector in list(&open("umts_interleaver_perm"), "vectors") {
        let expected: Vec<u16> = list(vector, "pi").iter().map(|bit| bit.as_u64().unwrap() as u16).collect();
        let mut pi = vec![0; number(vector, "K")];
        turbo_interleaver(&mut pi).unwrap();
        assert_eq!(pi, expected, "K = {}", pi.len());
    }
}
