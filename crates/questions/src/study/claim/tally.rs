//! How many parts came out which way, and what follows: the one rule for a claim and for a study.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::check::CheckAnswer;
use serde::{Deserialize, Serialize};

use super::{Claim, ClaimPart, PartVerdict};

/// Parts by how they came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Parts of the claims that count: `seen`, `fails` and `not_judged` add up to it.
    pub counted: usize,
    pub seen: usize,
    pub fails: usize,
    pub not_judged: usize,
    /// Parts not judged that more rounds on this machine would tell.
    pub open: usize,
    /// Parts of claims that can't come out otherwise here; not among the counted.
    pub by_construction: usize,
    /// Why parts were not judged, the reason of most parts first.
    pub reasons: Vec<Reason>,
}

/// Why some parts were not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub why: String,
    pub parts: usize,
}

impl Tally {
    /// Over all claims of a study.
    #[must_use]
    pub fn of(claims: &[Claim]) -> Tally {
        let counted = claims.iter().filter(|claim| claim.counts()).flat_map(|claim| &claim.parts);
        let made = claims.iter().filter(|claim| !claim.counts());
        Tally { by_construction: made.map(|claim| claim.parts.len()).sum(), ..Tally::of_parts(counted) }
    }

    pub(super) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a ClaimPart>) -> Tally {
        let mut tally = Tally::default();
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for part in parts {
            tally.counted += 1;
            match &part.verdict {
                PartVerdict::Seen => tally.seen += 1,
                PartVerdict::Fails => tally.fails += 1,
                PartVerdict::NotJudged { why, open } => {
                    tally.not_judged += 1;
                    tally.open += usize::from(*open);
                    *reasons.entry(why).or_default() += 1;
                }
            }
        }
        tally.reasons = reasons.into_iter().map(|(why, parts)| Reason { why: why.to_owned(), parts }).collect();
        tally.reasons.sort_by_key(|reason| Reverse(reason.parts));
        tally
    }

    /// One that fails decides; else one that is open leaves it open; else it holds, if one was seen.
    #[must_use]
    pub fn answer(&self) -> CheckAnswer {
        match self {
            Tally { fails: 1.., .. } => CheckAnswer::Fails,
            Tally { open: 0, seen: 1.., .. } => CheckAnswer::Holds,
            _ => CheckAnswer::Unknown,
        }
    }
}
