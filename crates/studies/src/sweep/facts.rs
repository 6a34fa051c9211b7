//! What a paper reports, as a file: `experiments/papers/NAME.toml`. The words are ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A paper's figures and claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Authors and title.
    pub cite: String,
    /// On what it was measured.
    pub setup: Vec<String>,
    /// What the paper calls the environments and paths that stand for its own, by their names here.
    #[serde(default)]
    pub places: BTreeMap<String, String>,
    /// Numbers that its text states, by name; units stand in the names.
    pub numbers: BTreeMap<String, f64>,
    /// Its figures.
    #[serde(rename = "figure")]
    pub figures: Vec<FigureFacts>,
    /// Its claims.
    #[serde(rename = "claim")]
    pub claims: Vec<ClaimFacts>,
}

/// A figure of the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureFacts {
    /// The paper's number: `3a`.
    pub number: String,
    /// What it plots.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// Where several charts here are of this one: by chart, what tells it from the others.
    #[serde(default)]
    pub asides: BTreeMap<String, String>,
}

/// A claim of the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimFacts {
    /// Its place in this list.
    pub number: u32,
    /// The figures it is about.
    pub figures: Vec<String>,
    /// What it says.
    pub says: String,
    /// Why it can't come out otherwise here, if it can't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_construction: Option<String>,
}

impl FigureFacts {
    /// Title of one of the charts that are of this figure.
    #[must_use]
    pub fn title_of(&self, chart: &str) -> String {
        match self.asides.get(chart) {
            Some(aside) => format!("{}, {aside}", self.title),
            None => self.title.clone(),
        }
    }
}

impl Facts {
    /// A stated number; NaN where the file lacks it, which makes every comparison with it undecided.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.numbers.get(name).copied().unwrap_or(f64::NAN)
    }
}
