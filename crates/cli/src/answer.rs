//! Answer of a command that could be carried out.

use takt_page::ReportAnswer;

/// Becomes the exit status: 0, 1 or 2. A command that could not be carried out is an error instead, and becomes 2 as
/// well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, and good.
    Yes,
    /// Done, and the answer is no: samples were lost, a rule stands, a rate does not hold.
    No,
    /// Done as far as it went, and the answer is not known. The printed text says why; an error would print a second
    /// document.
    Unknown,
}

impl From<ReportAnswer> for Answer {
    fn from(answer: ReportAnswer) -> Answer {
        match answer {
            ReportAnswer::Yes => Answer::Yes,
            ReportAnswer::No => Answer::No,
            ReportAnswer::Unknown => Answer::Unknown,
        }
    }
}

impl Answer {
    pub fn of(good: bool) -> Answer {
        if good { Answer::Yes } else { Answer::No }
    }
}
