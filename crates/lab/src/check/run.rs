//! The check from beginning to end: what the doctor sees, the rounds, the outcome.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use takt_base::Stop;
use takt_load::Kind;
use takt_radio::n200::Emission;

use super::assemble::{AssembleError, assemble};
use super::self_test::{self, SelfTest};
use super::{DoctorFinding, Need, Outcome};
use crate::bench::{OnAirError, on_air};
use crate::execute::{ExecuteError, Order, execute};
use crate::experiment::{Depth, Experiment};
use crate::run::{Event, Progress};
use crate::store::Store;

/// What a check is asked for.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Where the store is.
    pub runs: PathBuf,
    /// The check as a file; [`named("check")`](crate::experiment::named) as a rule.
    pub experiment: Experiment,
    /// How much of it.
    pub depth: Depth,
    /// A radio that is there already, real or software; `None`: one is emulated.
    pub addr: Option<Ipv4Addr>,
    /// That radio may be sent samples even if it is not takt's own; otherwise such a radio is only received from.
    pub transmit: bool,
    /// Rates that are needed, instead of those of the file.
    pub needs: Vec<Need>,
    /// Continue the newest unfinished check of the same kind.
    pub resume: bool,
    /// What the doctor saw.
    pub doctor: Vec<DoctorFinding>,
    /// The program to call as agent.
    pub program: PathBuf,
    /// Version of takt with its commit.
    pub takt_version: String,
}

/// Why a check has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The rounds can't be run.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The radio can't be asked what it is.
    #[error(transparent)]
    OnAir(#[from] OnAirError),
    /// The records can't be read.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

impl CheckError {
    /// What to do about it; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            CheckError::Execute(error) => error.fix(),
            CheckError::OnAir(error) => error.fix(),
            CheckError::Assemble(error) => error.fix(),
        }
    }
}

/// Runs a check until it is done or `stop` is raised, and judges what there is.
///
/// # Errors
/// The store can't be used, or the first round can't be run.
pub fn run(
    options: &CheckOptions,
    tell: &mut dyn FnMut(&Event, &Progress),
    stop: &Stop,
) -> Result<Outcome, CheckError> {
    let mut experiment = options.experiment.clone();
    if !options.needs.is_empty() {
        experiment = experiment.with_needs(options.needs.clone());
    }
    let mut more = Map::new();
    if !options.needs.is_empty() {
        more.insert("need".into(), json!(options.needs));
    }
    if let Some(addr) = options.addr {
        // A radio takes no datagram load: load goes only to a receiver that has agreed to it.
        experiment.parts.retain(|part| part.kind != Kind::Udp);
        if let Some(why) = silence(addr, &experiment, options)? {
            on_air::receive_only(&mut experiment);
            more.insert("receive_only".into(), json!(why));
        }
    }
    let ran = execute(&order(options, experiment, Value::Object(more)), tell, stop)?;
    let store = Store::open(&options.runs).map_err(ExecuteError::from)?;
    Ok(assemble(&store, &ran.run)?)
}

/// Tries the verdict: runs hosts that are known to be bad, and others, until all are done or `stop` is raised.
///
/// # Errors
/// As [`run`].
pub fn run_self_test(
    options: &CheckOptions,
    tell: &mut dyn FnMut(&Event, &Progress),
    stop: &Stop,
) -> Result<SelfTest, CheckError> {
    let order = order(options, options.experiment.clone(), json!({ "self_test": true }));
    let ran = execute(&order, tell, stop)?;
    let store = Store::open(&options.runs).map_err(ExecuteError::from)?;
    Ok(self_test::assemble(&store, &ran.run)?)
}

/// `more`: what else changes what is run, or how it is judged.
fn order(options: &CheckOptions, experiment: Experiment, more: Value) -> Order {
    Order {
        runs: options.runs.clone(),
        experiment,
        depth: options.depth,
        addr: options.addr,
        transmit: options.transmit,
        resume: options.resume,
        options: more,
        seen: json!({ "doctor": options.doctor }),
        program: options.program.clone(),
        takt_version: options.takt_version.clone(),
    }
}

/// Why nothing may be sent to the radio, if nothing may: it is not takt's own, and nobody said that it may transmit.
fn silence(addr: Ipv4Addr, experiment: &Experiment, options: &CheckOptions) -> Result<Option<String>, OnAirError> {
    if options.transmit || !experiment.points(options.depth).iter().any(on_air::sends) {
        return Ok(None);
    }
    let why = |emission: Emission| {
        format!("{} is no software radio of takt's own, and would transmit {emission}", emission.radio)
    };
    Ok(on_air::on_air(addr)?.map(why))
}
