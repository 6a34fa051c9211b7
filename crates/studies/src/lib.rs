//! Published studies, run again on this host and set beside what they reported.
//!
//! A study is an experiment file like any other (`experiments/NAME.toml`), the paper's figures as facts beside it
//! (`experiments/papers/NAME.toml`), and an outcome that is a pure function of the records of a run: it can be made again at
//! any time, also of an interrupted run.
#![forbid(unsafe_code)]

pub mod aloe;
mod claim;
mod figure;
mod fit;
pub mod linux_rt;
mod part;
mod record;
mod routers;
mod stored;
pub mod sweep;
pub mod uhd_dpdk;
mod virtual_sdr;

use std::path::PathBuf;

use serde_json::Value;
use takt_base::Stop;
use takt_host::call;
use takt_lab::check::{AssembleError, StoredRun};
use takt_lab::experiment::{Depth, Experiment};
use takt_lab::run::{Event, Progress};
use takt_lab::store::{RunRow, Store, StoreError};
use takt_lab::{ExecuteError, Order, execute};

pub use claim::{Claim, ClaimPart, PartVerdict, Reason, Tally};
pub use figure::{Figure, RoundValue};
pub use fit::line;
pub use record::RoundRecord;
pub use stored::StudyRun;
use stored::study_of;

pub const NAMES: &[&str] = &["aloe", "virtual-sdr", "routers", "linux-rt", "uhd-dpdk"];

/// A study that is a sweep.
fn sweep_of(name: &str) -> Option<&'static sweep::Study> {
    const ALL: [&sweep::Study; 3] = [&virtual_sdr::STUDY, &routers::STUDY, &uhd_dpdk::STUDY];
    ALL.into_iter().find(|study| study.name == name)
}

#[derive(Clone, Debug)]
pub struct PaperOptions {
    pub runs: PathBuf,
    /// The study as a file; [`named`](takt_lab::experiment::named) as a rule.
    pub experiment: Experiment,
    pub depth: Depth,
    /// Continue the newest unfinished run of the same kind.
    pub resume: bool,
    /// Cores this process may use: points that need more are left out, and the outcome says so.
    pub cores: usize,
    /// The program to call as agent.
    pub program: PathBuf,
    pub takt_version: String,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaperError {
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The run is of something else.
    #[error("run {run} is of {experiment}, not of the study {study}")]
    OtherStudy { run: String, experiment: String, study: &'static str },
}

impl From<StoreError> for PaperError {
    fn from(error: StoreError) -> PaperError {
        PaperError::Assemble(error.into())
    }
}

impl PaperError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            PaperError::Execute(error) => error.fix(),
            PaperError::Assemble(error) => error.fix(),
            PaperError::OtherStudy { run, .. } => Some(call::takt(format_args!("experiment show {run}"))),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum StudyOutcome {
    Aloe(Box<aloe::AloeOutcome>),
    LinuxRt(Box<linux_rt::LinuxRtOutcome>),
    Sweep(Box<sweep::SweepOutcome>),
}

/// Runs a study until it is done or `stop` is raised, and says what there is.
///
/// # Errors
/// The store can't be used, or the first round can't be run.
pub fn run(
    options: &PaperOptions,
    notify: &mut dyn FnMut(&Event, &Progress),
    stop: &Stop,
) -> Result<StudyOutcome, PaperError> {
    let order = Order {
        runs: options.runs.clone(),
        experiment: within(options.experiment.clone(), options.cores),
        depth: options.depth,
        addr: None,
        transmit: false,
        resume: options.resume,
        options: Value::Null,
        observed: Value::Null,
        program: options.program.clone(),
        takt_version: options.takt_version.clone(),
        nodes: None,
        watch_stops: false,
    };
    let ran = execute(&order, notify, stop)?;
    assemble(&Store::open(&options.runs)?, &ran.run)
}

/// Findings of a study's run, finished or not.
pub fn assemble(store: &Store, run: &str) -> Result<StudyOutcome, PaperError> {
    let stored = StoredRun::read(store, run)?;
    Ok(match study_of(&stored) {
        "aloe" => StudyOutcome::Aloe(Box::new(aloe::assemble(&stored))),
        "linux-rt" => StudyOutcome::LinuxRt(Box::new(linux_rt::assemble(&stored))),
        name => match sweep_of(name) {
            Some(study) => StudyOutcome::Sweep(Box::new(sweep::assemble(study, &stored))),
            None => {
                let RunRow { id: run, experiment, .. } = stored.run;
                return Err(PaperError::OtherStudy { run, experiment, study: "a sweep" });
            }
        },
    })
}

/// Without the points that need more cores than there are; a part with none left goes too.
fn within(mut experiment: Experiment, cores: usize) -> Experiment {
    let needs = |name: &str, level: &Value| match name {
        "workers" => level.as_u64().unwrap_or(1) as usize,
        "reader" if level == "other-core" => 2,
        _ => 1,
    };
    for part in &mut experiment.parts {
        for factor in &mut part.factors {
            let name = factor.name.clone();
            for levels in [&mut factor.full, &mut factor.quick] {
                levels.retain(|level| needs(&name, level) <= cores);
            }
        }
    }
    experiment.parts.retain(|part| part.factors.iter().all(|f| !f.full.is_empty() && !f.quick.is_empty()));
    experiment
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_lab::experiment::named;

    #[test]
    fn on_one_core_what_needs_two_is_left_out_and_the_rest_stays() {
        let aloe = Experiment::parse("aloe", &named("aloe").unwrap()).unwrap();
        let all = aloe.points(Depth::Full).len();
        assert_eq!(within(aloe.clone(), 2).points(Depth::Full).len(), all);
        let one = within(aloe, 1);
        assert!(one.points(Depth::Full).len() < all);
        for point in one.points(Depth::Full) {
            assert!(point.settings.number("workers").unwrap_or(1.0) <= 1.0, "{}", point.label());
            assert_ne!(point.settings.word("reader"), "other-core");
        }
    }
}
