//! Invariants for any bits and any samples: the bodies of the fuzz targets, beside the receivers that they judge.
//!
//! `cargo fuzz` compiles them, and so do this crate's own tests, where random bytes stand in for the fuzzer. Each function takes any
//! bytes and panics if an invariant is broken.

mod messages;
mod receivers;

pub use messages::messages;
pub use receivers::receivers;

/// Bytes read as choices. Without any, zeros.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn bits(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::from(self.byte()) % all.len()]
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bits_are_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
            super::messages(&bytes);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn any_samples_are_received_or_not(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            super::receivers(&bytes);
        }
    }
}
