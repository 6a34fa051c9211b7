//! All trials and their answers, as data: what `takt check --self-test --json` prints.

use serde::{Deserialize, Serialize};
use takt_lab::About;

use super::{ErrorRates, Truth};
use crate::check::{CheckAnswer, Mode};

/// Version of the outcome's document.
pub const SCHEMA: &str = "takt.self-test/1";

/// Outcome of all trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    pub schema: String,
    #[serde(flatten)]
    pub about: About,
    /// `holds`: the verdict errs no more often than the goals allow, on this host.
    pub answer: CheckAnswer,
    #[serde(rename = "says")]
    pub summary: Vec<String>,
    pub error_rates: ErrorRates,
    /// The same by kind: a part of the file.
    #[serde(default)] // outcomes older than this key
    pub by_kind: Vec<KindRates>,
    /// Impairments of hosts, and the answers: the table of confusion.
    pub table: Vec<TableRow>,
    pub trials: Vec<Trial>,
    pub not_tried: Vec<NotTried>,
}

/// How often the verdict errs about hosts to which one kind of thing is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindRates {
    pub part: String,
    #[serde(flatten)]
    pub rates: ErrorRates,
}

/// All trials in which one thing was done to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    pub part: String,
    /// The impairment: `hog 4.5ms every 5ms`.
    pub done: String,
    /// Answers for hosts that lose.
    pub loses: Answers,
    /// Answers for hosts that keep up.
    pub keeps_up: Answers,
}

impl TableRow {
    pub(super) fn note(&mut self, loses: bool, answer: CheckAnswer) {
        let answers = if loses { &mut self.loses } else { &mut self.keeps_up };
        answers.note(answer);
    }
}

/// How often each answer was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The host keeps up.
    pub yes: usize,
    /// It does not.
    pub no: usize,
    /// It gave neither.
    pub not_known: usize,
}

impl Answers {
    #[must_use]
    pub fn all(self) -> usize {
        self.yes + self.no + self.not_known
    }

    pub(super) fn note(&mut self, answer: CheckAnswer) {
        match answer {
            CheckAnswer::Holds => self.yes += 1,
            CheckAnswer::Fails => self.no += 1,
            CheckAnswer::Unknown => self.not_known += 1,
        }
    }

    pub(super) fn add(self, other: Answers) -> Answers {
        Answers { yes: self.yes + other.yes, no: self.no + other.no, not_known: self.not_known + other.not_known }
    }
}

/// One host, made what it is, and the verdict about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub part: String,
    pub done: String,
    pub mode: Mode,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    pub truth: Truth,
    pub loses: bool,
    pub answer: CheckAnswer,
    pub why: String,
    pub counted: usize,
    /// Share of them that was excluded, since the emulator was late, 0 to 1.
    pub excluded_share: f64,
    /// Rows of its rounds in the store.
    pub round_ids: Vec<i64>,
}

/// An impairment that this host could not be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    pub done: String,
    pub why: String,
}
