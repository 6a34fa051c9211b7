//! What a paper claims, and what was seen of it.

use serde::{Deserialize, Serialize};
use takt_lab::check::Answer;

/// A claim of the paper and what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The paper's number, or its place in the file of facts.
    pub number: u32,
    /// What it says, in our words.
    pub claim: String,
    /// Whether what was seen agrees.
    pub answer: Answer,
    /// Whether this part of the study looks at it at all.
    pub covered: bool,
    /// Why it could not have come out otherwise here, if it could not: such a claim is shown, and counts as neither seen nor
    /// not seen.
    #[serde(default)]
    pub by_construction: Option<String>,
    /// What was seen.
    pub seen: String,
}

impl Claim {
    /// What was seen speaks for it or against it.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.covered && self.by_construction.is_none()
    }
}

/// One that fails decides; else one that could not be told does.
pub(super) fn answer(claims: &[Claim]) -> Answer {
    let any = |answer| claims.iter().any(|claim| claim.counts() && claim.answer == answer);
    match (any(Answer::Fails), any(Answer::Unknown) || !any(Answer::Holds)) {
        (true, _) => Answer::Fails,
        (false, true) => Answer::Unknown,
        (false, false) => Answer::Holds,
    }
}
