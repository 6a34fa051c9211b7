//! A part of a claim: an environment, a path, a rate, and what was seen of it.

use crate::check::CheckAnswer;
use serde::{Deserialize, Serialize};

/// A part of a claim and what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimPart {
    /// `native`, `vm over native`, `30.72 MS/s on a quiet host`.
    pub part: String,
    #[serde(flatten)]
    pub verdict: PartVerdict,
    /// May be empty where nothing was measured.
    pub measured: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum PartVerdict {
    Seen,
    Fails,
    NotJudged {
        why: String,
        /// It was measured and is left open: more rounds on this machine would tell.
        open: bool,
    },
}

impl PartVerdict {
    #[must_use]
    pub fn answer(&self) -> CheckAnswer {
        match self {
            PartVerdict::Seen => CheckAnswer::Holds,
            PartVerdict::Fails => CheckAnswer::Fails,
            PartVerdict::NotJudged { .. } => CheckAnswer::Unknown,
        }
    }
}

impl ClaimPart {
    /// The measurement, after the reason if takt did not judge it.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.verdict {
            PartVerdict::NotJudged { why, .. } if self.measured.is_empty() => format!("not judged: {why}"),
            PartVerdict::NotJudged { why, .. } => format!("not judged: {why}; {}", self.measured),
            PartVerdict::Seen | PartVerdict::Fails => self.measured.clone(),
        }
    }
}

/// Why a part that was measured is not judged.
const OPEN: &str = "intervals too wide to tell";

/// The verdict on a part, before it has its name.
pub(crate) struct Judged {
    pub(crate) verdict: PartVerdict,
    pub(crate) measured: String,
    /// Why these rounds could not have shown otherwise, if they could not.
    pub(crate) by_construction: Option<String>,
}

impl Judged {
    /// By what was measured.
    pub(crate) fn new(answer: CheckAnswer, measured: impl Into<String>) -> Judged {
        let verdict = match answer {
            CheckAnswer::Holds => PartVerdict::Seen,
            CheckAnswer::Fails => PartVerdict::Fails,
            CheckAnswer::Unknown => PartVerdict::NotJudged { why: OPEN.to_owned(), open: true },
        };
        Judged { verdict, measured: measured.into(), by_construction: None }
    }

    /// This machine, or this run, can't tell: what was measured is shown apart.
    pub(crate) fn not_here(why: impl Into<String>, measured: impl Into<String>) -> Judged {
        let verdict = PartVerdict::NotJudged { why: why.into(), open: false };
        Judged { verdict, measured: measured.into(), by_construction: None }
    }

    /// Nothing to judge it by: `tried` where rounds were run and none counts.
    pub(crate) fn without(what: &str, tried: bool) -> Judged {
        match tried {
            true => Judged {
                verdict: PartVerdict::NotJudged { why: format!("no round counts: {what}"), open: true },
                measured: String::new(),
                by_construction: None,
            },
            false => Judged::not_here(format!("not measured here: {what}"), ""),
        }
    }

    /// Adds why rounds were not run, if nothing was measured.
    pub(crate) fn skipped(self, why: Option<&String>) -> Judged {
        match why {
            Some(why) if self.measured.is_empty() => Judged { measured: why.clone(), ..self },
            _ => self,
        }
    }

    pub(crate) fn answer(&self) -> CheckAnswer {
        self.verdict.answer()
    }

    /// The same with why, from what else was measured.
    pub(crate) fn because(mut self, why: impl IntoIterator<Item = String>) -> Judged {
        if self.answer() != CheckAnswer::Holds && !self.measured.is_empty() {
            self.measured.extend(why.into_iter().map(|why| format!("; {why}")));
        }
        self
    }

    pub(super) fn called(self, part: String) -> ClaimPart {
        ClaimPart { part, verdict: self.verdict, measured: self.measured }
    }
}
