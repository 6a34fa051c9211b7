//! What a command that could be carried out found.

/// Becomes the exit status: 0 or 1. What could not be carried out is an error instead, and becomes 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, and good.
    Yes,
    /// Done, and the answer is no: samples were lost, a rule stands, a rate does not hold.
    No,
}

impl Answer {
    /// `Yes` if `good`.
    #[must_use]
    pub fn of(good: bool) -> Answer {
        if good { Answer::Yes } else { Answer::No }
    }
}
