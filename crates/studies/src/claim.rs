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
    pub answer: Answer,
    /// Whether this part of the study looks at it at all.
    pub covered: bool,
    /// Why it could not have come out otherwise here, if it could not: such a claim is shown, and counts as neither seen nor
    /// not seen.
    #[serde(default)]
    pub by_construction: Option<String>,
    pub measured: String,
}

impl Claim {
    /// What was seen speaks for it or against it.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.covered && self.by_construction.is_none()
    }
}

/// Over all claims that the study is about.
pub(super) fn answer(claims: &[Claim]) -> Answer {
    every(claims.iter().filter(|claim| claim.counts()).map(|claim| claim.answer))
}

/// One that fails decides; else one that is not known does, and none decides nothing.
pub(super) fn every(answers: impl IntoIterator<Item = Answer>) -> Answer {
    let answers: Vec<Answer> = answers.into_iter().collect();
    let any = |answer| answers.contains(&answer);
    match (any(Answer::Fails), any(Answer::Unknown) || answers.is_empty()) {
        (true, _) => Answer::Fails,
        (false, true) => Answer::Unknown,
        (false, false) => Answer::Holds,
    }
}
