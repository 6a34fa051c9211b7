//! [`Question`]: what the commands `check`, `paper` and `report` know of a question.

use std::path::PathBuf;

use serde_json::Value;
use takt_base::Stop;
use takt_host::call;
use takt_lab::bench::OnAirError;
use takt_lab::experiment::{Depth, Experiment};
use takt_lab::run::Report as Notify;
use takt_lab::store::Store;
use takt_lab::{AssembleError, ExecuteError, Order, StoredRun, execute};
use takt_load::Model;
use takt_page::Report;

use crate::{aloe, check, linux_rt, routers, self_test, uhd_dpdk, virtual_sdr};

/// A question that takt asks of a host: one folder of this crate.
pub trait Question: Sync {
    /// Name of the file that asks it, as a rule: `experiments/NAME.toml`, or the folder of that name.
    fn name(&self) -> &'static str;

    /// Whether the records of this run are to answer it.
    fn is_of(&self, run: &StoredRun) -> bool;

    /// The order: parts of the file that are to be run.
    ///
    /// # Errors
    /// It can't be asked like this, or it is not known what the radio is. Nothing was run.
    fn order(&self, asked: &Asked) -> Result<Order, QuestionError>;

    /// The answer by the records of a run, finished or not.
    ///
    /// # Errors
    /// A record can't be read.
    fn answer(&self, run: StoredRun) -> Result<Answered, QuestionError>;
}

/// How a question is asked, whichever it is.
#[derive(Clone, Debug)]
pub struct Asked {
    pub runs: PathBuf,
    /// The question as a file; [`named`](takt_lab::experiment::named) as a rule.
    pub experiment: Experiment,
    pub depth: Depth,
    /// Continue the newest unfinished run of the same kind.
    pub resume: bool,
    /// Cores this process may use: a study leaves out points that need more, and says so.
    pub cores: usize,
    /// The program to call as agent.
    pub program: PathBuf,
    pub takt_version: String,
}

/// An answer, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    pub report: Report,
    /// Data of the report, as JSON: `--json` prints it, and the run's folder keeps it.
    pub document: String,
    /// That rounds are missing, if they are; for whoever reads the report.
    pub stopped: Option<String>,
    /// A way on from an answer that is open; for who has just asked.
    pub next: Option<String>,
}

/// Why a question has no answer. The rounds that had ended are in the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// It is not known what the radio is, or whether it may transmit.
    #[error(transparent)]
    OnAir(#[from] OnAirError),
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// Rates of unlike radios are needed.
    #[error("one check measures one radio, not an {one} and an {other}")]
    TwoRadios { one: Model, other: Model },
    /// The run's file names a study that is not among these.
    #[error("run {run} belongs to study {study}, which this version of takt does not have")]
    NoStudy { run: String, study: String },
    #[error("takt can't write the answer as JSON")]
    Document(#[from] serde_json::Error),
}

impl QuestionError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            QuestionError::Execute(error) => error.fix(),
            QuestionError::OnAir(error) => error.fix(),
            QuestionError::Assemble(error) => error.fix(),
            QuestionError::TwoRadios { .. } => Some("check each radio by itself, with its own --need".into()),
            QuestionError::NoStudy { run, .. } => Some(call::takt(format_args!("experiment show {run}"))),
            QuestionError::Document(_) => None,
        }
    }
}

impl Asked {
    /// The order for a radio that takt emulates, and nothing else: each question adds its own.
    pub(crate) fn order(&self) -> Order {
        Order {
            runs: self.runs.clone(),
            experiment: self.experiment.clone(),
            depth: self.depth,
            addr: None,
            transmit: false,
            device: None,
            resume: self.resume,
            options: Value::Null,
            observed: Value::Null,
            program: self.program.clone(),
            takt_version: self.takt_version.clone(),
            nodes: None,
            watch_stops: false,
        }
    }
}

/// All questions; the first that a run [is of](Question::is_of) is the one that it answers.
const ALL: [&dyn Question; 8] = [
    &aloe::Aloe,
    &virtual_sdr::STUDY,
    &virtual_sdr::share::STUDY,
    &routers::STUDY,
    &linux_rt::LinuxRt,
    &uhd_dpdk::STUDY,
    &self_test::KnownBad { doctor: Vec::new() },
    &check::Check::PLAIN,
];

/// The question of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Question> {
    ALL.into_iter().find(|question| question.name() == name)
}

/// Asks: runs what there is to run until it is done or `stop` is raised, and answers by what there is.
///
/// # Errors
/// The store can't be used, or the first round can't be run.
pub fn ask(question: &dyn Question, asked: &Asked, notify: Notify<'_>, stop: &Stop) -> Result<Answered, QuestionError> {
    let ran = execute(&question.order(asked)?, notify, stop)?;
    let store = Store::open(&asked.runs).map_err(AssembleError::from)?;
    question.answer(StoredRun::read(&store, &ran.run)?)
}

/// Answers by the records of a run, whichever question it was of.
///
/// # Errors
/// A record can't be read, or no question is answered by such a run.
pub fn answer(run: StoredRun) -> Result<Answered, QuestionError> {
    match ALL.into_iter().find(|question| question.is_of(&run)) {
        Some(question) => question.answer(run),
        None => Err(QuestionError::NoStudy { study: crate::study::study_of(&run).to_owned(), run: run.run.id }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_question_has_a_name_of_its_own_and_a_file_that_asks_it() {
        let names: BTreeSet<&str> = ALL.iter().map(|question| question.name()).collect();
        assert_eq!(names.len(), ALL.len());
        for name in names {
            assert!(takt_lab::experiment::named(name).is_some(), "{name} has no file");
        }
    }
}
