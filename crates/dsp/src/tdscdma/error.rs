//! Requests that a slot does not hold.

/// A configuration that is refused when a plan is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Error {
    #[error("a slot can't have {codes} codes; expected: 1 to 16 (of 16 chips)")]
    Codes {
        /// The requested number.
        codes: usize,
    },
}
