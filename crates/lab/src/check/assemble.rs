//! From a run in the store to its outcome: a pure reading, possible at any time after.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use takt_base::words::sentence;
use takt_load::Kind;
use takt_testbed::environment::InForce;

use super::collect::{rate_point, round_trip_point, settings, udp_point};
use super::loaded;
use super::stops;
use super::waveform::{self, waveform_point};
use super::{
    DoctorFinding, Evidence, Need, Outcome, RadioSetup, RoundState, RoundsSummary, SCHEMA, Setup, judge, words,
};
use crate::about::About;
use crate::bench::on_air;
use crate::experiment::{Depth, Experiment, FileError};
use crate::store::{Record, RoundRow, RunRow, Store, StoreError};

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file it was made from is one that this version can't read.
    #[error("the experiment of run {run}")]
    File {
        /// The run.
        run: String,
        /// What is wrong with it now.
        #[source]
        source: FileError,
    },
}

impl AssembleError {
    /// What to do about it; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            AssembleError::Store(error) => error.fix(),
            AssembleError::File { .. } => None,
        }
    }
}

/// The outcome of a run, finished or not.
///
/// # Errors
/// There is no such run, or it can't be read.
pub fn assemble(store: &Store, run: &str) -> Result<Outcome, AssembleError> {
    let run = store.run(run)?;
    let file = Experiment::parse(&run.experiment, &run.file);
    let file = file.map_err(|source| AssembleError::File { run: run.id.clone(), source })?;
    let needs: Vec<Need> = option(&run, "need").unwrap_or_else(|| file.needs.clone());
    let mut experiment = file.with_needs(needs);
    let receive_only: Option<String> = option(&run, "receive_only");
    if receive_only.is_some() {
        on_air::receive_only(&mut experiment);
    }
    let depth = if run.depth == Depth::Quick.name() { Depth::Quick } else { Depth::Full };
    let rounds = store.rounds(&run.id)?;
    let points = store.points(&run.id)?;

    let (mut udp, mut rates) = (Vec::new(), Vec::new());
    let (mut round_trips, mut waveforms, mut disturbed) = (Vec::new(), Vec::new(), Vec::new());
    for (number, point) in (0_u32..).zip(&points) {
        let own: Vec<&RoundRow> = rounds.iter().filter(|round| round.point == number).collect();
        let Some(part) = experiment.parts.iter().find(|part| part.name == point.part) else { continue };
        let settings = settings(&part.fixed, point);
        match part.kind {
            Kind::Udp => udp.extend(udp_point(&settings, &own)?),
            Kind::Rate => rates.extend(rate_point(&settings, &own)?),
            Kind::RoundTrip if loaded::is_loaded(&settings) => disturbed.push((settings, own)),
            Kind::RoundTrip => round_trips.extend(round_trip_point(&settings, &own)?),
            Kind::Waveform => waveforms.extend(waveform_point(&settings, &own)?),
            // What a check does not ask for.
            _ => {}
        }
    }
    udp.sort_by(|a, b| (&a.direction, a.payload_bytes).cmp(&(&b.direction, b.payload_bytes)));
    rates.sort_by(|a, b| (a.format, a.mode).cmp(&(b.format, b.mode)).then(a.rate_sps.total_cmp(&b.rate_sps)));
    round_trips.sort_by(|a, b| a.delay_us.total_cmp(&b.delay_us));
    waveforms.sort_by(|a, b| b.slot_us.total_cmp(&a.slot_us).then(a.workers.cmp(&b.workers)));

    let per_point = experiment.round_count(depth) as usize;
    let doctor: Vec<DoctorFinding> = seen(&run, "doctor").unwrap_or_default();
    let (complete, summary) = (run.finished.is_some(), summary(&rounds, points.len() * per_point));
    let setup = Setup { receive_only, ..setup(&experiment, &rounds) };
    let evidence = Evidence {
        points: &rates,
        planned: per_point,
        interrupted: !complete,
        shared_core: setup.radio_cores.iter().any(|cpu| setup.host_cores.contains(cpu)),
        receive_only: setup.receive_only.as_deref(),
        doctor: &doctor,
        rounds: mended_here(summary, &setup.radio),
    };
    let mut verdict = judge(&experiment.needs, &evidence);
    verdict.waveform = waveform::verdict(&waveforms);
    verdict.says = words::says(&verdict);
    verdict.also = words::also(&verdict, &udp, &experiment.needs);
    let loaded = loaded::loaded(&disturbed);
    // Of another machine it says nothing about this one.
    let emulated_here = matches!(setup.radio, RadioSetup::Emulated { .. });
    let stops = stops::stops(&rates).filter(|_| emulated_here);
    verdict.says.extend(stops.as_ref().map(|stops| sentence(&stops::words(stops, &experiment.needs))));
    verdict.also.extend(loaded.as_ref().map(|loaded| sentence(&loaded.says)));
    let without_udp = udp.is_empty();
    let mut outcome = Outcome {
        schema: SCHEMA,
        about: About::of(&run, &experiment, &rounds),
        setup,
        doctor,
        udp,
        rates,
        round_trips,
        waveforms,
        loaded,
        stops,
        rounds: summary,
        verdict,
        left_out: Vec::new(),
    };
    outcome.left_out = words::left_out(&experiment, depth, without_udp);
    outcome.left_out.extend(words::not_sent(&outcome.setup));
    outcome.verdict.does_not_say = words::does_not_say(&outcome);
    Ok(outcome)
}

/// A document that the command kept with the run.
fn option<T: for<'de> Deserialize<'de>>(run: &RunRow, name: &str) -> Option<T> {
    T::deserialize(run.options.get("more")?.get(name)?).ok()
}

fn seen<T: for<'de> Deserialize<'de>>(run: &RunRow, name: &str) -> Option<T> {
    T::deserialize(run.host.get("seen")?.get(name)?).ok()
}

/// As the first record that has it says; before any round, as the file says.
fn setup(experiment: &Experiment, rounds: &[RoundRow]) -> Setup {
    let records = || rounds.iter().filter_map(|round| round.record.as_ref());
    let in_force = records().find_map(|record| InForce::deserialize(&record.in_force).ok());
    let serial = records().find_map(|record| record.result.pointer("/radio/serial")?.as_str().map(str::to_owned));
    let engine = records().find_map(|record| record.settings.pointer("/point/engine")?.as_str().map(str::to_owned));
    let model = experiment.needs.first().map_or_else(|| "n200".to_owned(), |need| need.model.clone());
    let says_so = |record: &Record| record.in_force.get("given_emulator") == Some(&Value::Bool(true));
    let radio = match &in_force {
        Some(site) if !site.emulated => {
            let addr = site.radio_addr.to_string();
            RadioSetup::Given { model, addr, serial, emulator: records().any(says_so) }
        }
        _ => RadioSetup::Emulated { model },
    };
    // One run may have had several sittings, each with notes of its own.
    let all_notes =
        records().filter_map(|record| InForce::deserialize(&record.in_force).ok()).flat_map(|site| site.notes);
    let notes: Vec<String> = all_notes.collect::<BTreeSet<String>>().into_iter().collect();
    Setup {
        radio,
        path: in_force.as_ref().map(|site| site.path.clone()).unwrap_or_default(),
        environment: in_force.as_ref().map(|site| site.environment.clone()).unwrap_or_default(),
        engine: engine.unwrap_or_default(),
        host_cores: in_force.as_ref().map(|site| site.placement.host.clone()).unwrap_or_default(),
        radio_cores: in_force.as_ref().map(|site| site.placement.radio.clone()).unwrap_or_default(),
        notes,
        receive_only: None,
    }
}

/// What this host can mend: not an emulator that was late on another machine.
fn mended_here(rounds: RoundsSummary, radio: &RadioSetup) -> RoundsSummary {
    match radio {
        RadioSetup::Emulated { .. } => rounds,
        RadioSetup::Given { .. } => RoundsSummary { emulator_late: 0, ..rounds },
    }
}

/// How many rounds there are, and of these how many count, and why others do not. `planned`: as many were to be run.
#[must_use]
pub fn summary(rounds: &[RoundRow], planned: usize) -> RoundsSummary {
    let with = |state| rounds.iter().filter(|round| round.state == state).count();
    RoundsSummary {
        planned,
        valid: with(RoundState::Valid),
        disturbed: with(RoundState::Disturbed),
        emulator_late: with(RoundState::EmulatorLate),
        failed: with(RoundState::Failed),
        skipped: with(RoundState::Skipped),
        repeated: rounds.iter().filter(|round| round.attempt > 0).count(),
    }
}
