//! Strange parameters and packets for every component that computes, at random; the fuzz target `components` does the same for
//! longer.

#[path = "../support/hostile.rs"]
mod components;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn no_bytes_make_a_component_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        components::component(&bytes);
    }
}
