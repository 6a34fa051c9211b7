//! Facts that a paper reports, as a file: `experiments/papers/NAME.toml`. The words are ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::study::Claim;
use crate::study::claim::Judged;

/// A paper's figures and claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// No paper's: what takt itself expects of a part of a study that no paper has.
    #[serde(default, skip_serializing_if = "is_a_papers")]
    pub own: bool,
    pub cite: String,
    /// On what it was measured.
    pub setup: Vec<String>,
    /// The paper's names for the environments and paths that stand for its own, by their names here.
    #[serde(default)]
    pub places: BTreeMap<String, String>,
    /// Numbers that its text states, by name; units stand in the names.
    pub numbers: BTreeMap<String, f64>,
    #[serde(rename = "figure")]
    pub figures: Vec<FigureFacts>,
    #[serde(rename = "claim")]
    pub claims: Vec<ClaimFacts>,
}

/// Documents say it of the others alone.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_a_papers(own: &bool) -> bool {
    !own
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureFacts {
    /// The paper's number: `3a`.
    pub number: String,
    pub title: String,
    pub shows: String,
    /// For several charts here of this one: by chart, what tells it from the others.
    #[serde(default)]
    pub subtitles: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimFacts {
    /// Its place in this list.
    pub number: u32,
    pub figures: Vec<String>,
    pub says: String,
    /// takt judges it by these, each by itself, whatever was measured; empty: by the points that a run has.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Why it can't come out otherwise here, if it can't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_construction: Option<String>,
}

impl FigureFacts {
    /// Title of one of the charts that are of this figure.
    #[must_use]
    pub fn title_of(&self, chart: &str) -> String {
        match self.subtitles.get(chart) {
            Some(subtitle) => format!("{}, {subtitle}", self.title),
            None => self.title.clone(),
        }
    }
}

impl Facts {
    /// Its claims, each with what `judge` says of its number and part. Parts that the file does not name are those of `points`.
    pub(crate) fn judged(
        &self,
        points: impl Fn(u32) -> Vec<String>,
        judge: impl Fn(u32, &str) -> Judged,
    ) -> Vec<Claim> {
        let claim = |facts: &ClaimFacts| {
            let names = if facts.parts.is_empty() { points(facts.number) } else { facts.parts.clone() };
            let parts = names.into_iter().map(|part| {
                let judged = judge(facts.number, &part);
                (part, judged)
            });
            Claim::of(facts.number, &facts.says, facts.by_construction.as_ref(), parts.collect())
        };
        self.claims.iter().map(claim).collect()
    }

    /// A stated number; NaN where the file lacks it, which makes every comparison with it undecided.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.numbers.get(name).copied().unwrap_or(f64::NAN)
    }
}
