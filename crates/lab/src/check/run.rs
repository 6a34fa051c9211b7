//! The check from beginning to end: what the doctor sees, the rounds, the outcome.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use takt_base::Stop;
use takt_load::rate::REFERENCE;
use takt_load::{Model, WorkloadKind};
use takt_radio::n200::{ClockSource, Emission};

use super::assemble::{AssembleError, assemble};
use super::self_test::{self, SelfTest};
use super::{CheckOutcome, DoctorFinding, Need};
use crate::bench::{OnAirError, on_air};
use crate::execute::{ExecuteError, Order, execute};
use crate::experiment::{Depth, Experiment};
use crate::run::Report;
use crate::store::Store;

#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub runs: PathBuf,
    /// The check as a file; [`named("check")`](crate::experiment::named) as a rule.
    pub experiment: Experiment,
    pub depth: Depth,
    /// A radio that is there already, real or software; `None`: one is emulated.
    pub addr: Option<Ipv4Addr>,
    /// That radio may be sent samples even if it is not takt's own; otherwise such a radio is only received from.
    pub transmit: bool,
    /// Reference of that radio's clock while it streams; `None`: the file's.
    pub reference: Option<ClockSource>,
    /// Rates that are needed, instead of those of the file.
    pub needs: Vec<Need>,
    /// Continue the newest unfinished check of the same kind.
    pub resume: bool,
    pub doctor: Vec<DoctorFinding>,
    pub program: PathBuf,
    pub takt_version: String,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
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
}

impl CheckError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            CheckError::Execute(error) => error.fix(),
            CheckError::OnAir(error) => error.fix(),
            CheckError::Assemble(error) => error.fix(),
            CheckError::TwoRadios { .. } => Some("check each radio by itself, with its own --need".into()),
        }
    }
}

/// Runs a check until it is done or `stop` is raised, and judges what there is.
///
/// # Errors
/// The store can't be used, or the first round can't be run.
pub fn run(options: &CheckOptions, report: Report<'_>, stop: &Stop) -> Result<CheckOutcome, CheckError> {
    let mut more = Map::new();
    let needs = needs(options)?;
    if needs != options.experiment.needs {
        more.insert("need".into(), json!(needs));
    }
    let mut experiment = options.experiment.clone().with_needs(needs);
    if let Some(addr) = options.addr {
        // A radio takes no datagram load: load goes only to a receiver that has agreed to it.
        experiment.parts.retain(|part| part.kind != WorkloadKind::Udp);
        if let Some(why) = silence(addr, &experiment, options)? {
            on_air::receive_only(&mut experiment);
            more.insert("receive_only".into(), json!(why));
        }
    }
    if let Some(reference) = options.reference {
        for part in experiment.parts.iter_mut().filter(|part| part.kind == WorkloadKind::Rate) {
            part.fixed.insert(REFERENCE.into(), json!(reference));
        }
        more.insert(REFERENCE.into(), json!(reference));
    }
    let (store, run) = measure(options, experiment, Value::Object(more), report, stop)?;
    Ok(assemble(&store, &run)?)
}

/// Subject of the check: the rates that were named, else those of the file. For a radio that is there and another one,
/// it is that one's usual rate.
fn needs(options: &CheckOptions) -> Result<Vec<Need>, CheckError> {
    let wanted = if options.needs.is_empty() { &options.experiment.needs } else { &options.needs };
    let mut models: Vec<Model> = wanted.iter().map(|need| need.model).collect();
    models.dedup();
    if let [one, other, ..] = models.as_slice() {
        return Err(CheckError::TwoRadios { one: *one, other: *other });
    }
    let there = options.addr.filter(|_| options.needs.is_empty()).map(on_air::model).transpose()?.flatten();
    Ok(match there.filter(|there| !models.contains(there)) {
        Some(model) => vec![Need::usual(model)],
        None => wanted.clone(),
    })
}

/// Tries the verdict: runs hosts that are known to be bad, and others, until all are done or `stop` is raised.
pub fn run_self_test(options: &CheckOptions, report: Report<'_>, stop: &Stop) -> Result<SelfTest, CheckError> {
    let (store, run) = measure(options, options.experiment.clone(), json!({ "self_test": true }), report, stop)?;
    Ok(self_test::assemble(&store, &run)?)
}

/// The store and the run in it. `more`: what else changes what is run, or how it is judged.
fn measure(
    options: &CheckOptions,
    experiment: Experiment,
    more: Value,
    report: Report<'_>,
    stop: &Stop,
) -> Result<(Store, String), ExecuteError> {
    let order = Order {
        runs: options.runs.clone(),
        experiment,
        depth: options.depth,
        addr: options.addr,
        transmit: options.transmit,
        resume: options.resume,
        options: more,
        observed: json!({ "doctor": options.doctor }),
        program: options.program.clone(),
        takt_version: options.takt_version.clone(),
        nodes: None,
        watch_stops: true,
    };
    let ran = execute(&order, report, stop)?;
    Ok((Store::open(&options.runs)?, ran.run))
}

/// Why nothing may be sent to the radio, if nothing may: it is not takt's own, and the options do not let it transmit.
fn silence(addr: Ipv4Addr, experiment: &Experiment, options: &CheckOptions) -> Result<Option<String>, OnAirError> {
    if options.transmit || !experiment.points(options.depth).iter().any(on_air::sends) {
        return Ok(None);
    }
    let why = |emission: Emission| format!("{} is not takt's emulator and would transmit {emission}", emission.radio);
    Ok(on_air::on_air(addr)?.map(why))
}
