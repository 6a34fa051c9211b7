//! Strange shapes and values for every kernel of the coding, at random; the fuzz target `coding` does the same for longer.

#[path = "../support/hostile.rs"]
mod hostile;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_bytes_make_a_kernel_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        hostile::coding(&bytes);
    }
}
