//! Claims of a paper, judged part by part.
//!
//! | | holds | fails | unknown |
//! | --- | --- | --- | --- |
//! | a part | its intervals leave no other reading | they leave none for it | not judged, with the reason |
//! | a claim | one part holds, and so does each other that can be judged here | a part fails | else |
//! | the study | the same over the parts of all claims that are counted, of a run that is complete | a part fails | else |
//!
//! A part that can't be judged here (its environment is not there, its guest runs without KVM) counts for nothing. A part that was
//! measured and whose intervals leave it open keeps its claim and the study from holding.

mod judged;
mod tally;

use crate::check::CheckAnswer;
use serde::{Deserialize, Serialize};

pub(crate) use judged::Judged;
pub use judged::{ClaimPart, PartVerdict};
pub use tally::{Reason, Tally};

/// A claim of the paper and what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The paper's number, or its place in the file of facts.
    pub number: u32,
    /// Its statement, in our words.
    pub claim: String,
    /// As its parts say.
    pub answer: CheckAnswer,
    /// Whether this part of the study looks at it at all.
    pub covered: bool,
    /// Why it could not have come out otherwise here, if it could not: such a claim is shown, and counts as neither seen nor
    /// not seen.
    #[serde(default)]
    pub by_construction: Option<String>,
    /// The measurements of all parts.
    pub measured: String,
    /// takt judges it by these, each by itself; empty in documents from before it did.
    #[serde(default)]
    pub parts: Vec<ClaimPart>,
}

impl Claim {
    /// Its answer follows from its parts.
    #[must_use]
    pub fn new(number: u32, claim: &str, by_construction: Option<String>, parts: Vec<ClaimPart>) -> Claim {
        Claim {
            number,
            claim: claim.to_owned(),
            answer: Tally::of_parts(&parts).answer(),
            covered: true,
            by_construction,
            measured: measured(&parts),
            parts,
        }
    }

    /// From its parts before they have their names. It can't come out otherwise if that is so of each.
    pub(crate) fn of(
        number: u32,
        claim: &str,
        by_construction: Option<&String>,
        parts: Vec<(String, Judged)>,
    ) -> Claim {
        let made: Option<Vec<&String>> = parts.iter().map(|(_, judged)| judged.by_construction.as_ref()).collect();
        let by_construction = by_construction.or(made.and_then(|made| made.first().copied())).cloned();
        Claim::new(
            number,
            claim,
            by_construction,
            parts.into_iter().map(|(part, judged)| judged.called(part)).collect(),
        )
    }

    /// Whether the evidence speaks for it or against it.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.by_construction.is_none()
    }

    /// How its parts came out.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of_parts(&self.parts)
    }
}

/// The measurements of several parts, with their names.
fn measured(parts: &[ClaimPart]) -> String {
    match parts {
        [one] => one.words(),
        all => all.iter().map(|part| format!("{}: {}", part.part, part.words())).collect::<Vec<_>>().join("; "),
    }
}

/// One that fails decides; else one that is not known does, and none decides nothing.
pub(crate) fn every(answers: impl IntoIterator<Item = CheckAnswer>) -> CheckAnswer {
    let answers: Vec<CheckAnswer> = answers.into_iter().collect();
    let any = |answer| answers.contains(&answer);
    match (any(CheckAnswer::Fails), any(CheckAnswer::Unknown) || answers.is_empty()) {
        (true, _) => CheckAnswer::Fails,
        (false, true) => CheckAnswer::Unknown,
        (false, false) => CheckAnswer::Holds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(parts: Vec<Judged>) -> Claim {
        Claim::of(
            1,
            "all are alike",
            None,
            ["native", "container", "vm"].map(str::to_owned).into_iter().zip(parts).collect(),
        )
    }

    fn seen() -> Judged {
        Judged::new(CheckAnswer::Holds, "as much")
    }

    #[test]
    fn a_part_that_cannot_be_judged_here_leaves_its_claim_to_the_others_and_stands_in_its_text() {
        let software = || Judged::not_here("a guest in software", "half as much");
        let judged = claim(vec![seen(), seen(), software()]);
        assert_eq!(judged.answer, CheckAnswer::Holds);
        assert_eq!(
            judged.measured,
            "native: as much; container: as much; vm: not judged: a guest in software; half as much"
        );
        assert_eq!(claim(vec![seen(), Judged::new(CheckAnswer::Fails, ""), software()]).answer, CheckAnswer::Fails);
        assert_eq!(claim(vec![software()]).answer, CheckAnswer::Unknown, "nothing was judged");
        assert_eq!(claim(Vec::new()).answer, CheckAnswer::Unknown);
    }

    #[test]
    fn a_part_that_its_intervals_leave_open_leaves_its_claim_open() {
        let open = || Judged::new(CheckAnswer::Unknown, "more or less");
        assert_eq!(claim(vec![seen(), open()]).answer, CheckAnswer::Unknown);
        assert_eq!(claim(vec![seen(), open(), Judged::new(CheckAnswer::Fails, "")]).answer, CheckAnswer::Fails);
    }

    #[test]
    fn a_claim_is_by_construction_where_each_of_its_parts_is() {
        let made = || Judged { by_construction: Some("the wire's".into()), ..seen() };
        assert!(!claim(vec![made(), made()]).counts());
        assert!(claim(vec![made(), seen()]).counts());
        assert!(claim(Vec::new()).counts());
    }
}
