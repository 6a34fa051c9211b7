//! From a run in the store to its outcome: a pure reading, possible at any time after.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use takt_load::{Model, WorkloadKind};
use takt_testbed::environment::{InForce, SitePath};

use super::collect::{self, levels, rate_point, round_trip_point, udp_point};
use super::conclude::{Measured, conclude};
use super::engines::{self, is_about_engines};
use super::order::DEVICE;
use super::waveform::waveform_point;
use super::{CheckOutcome, RadioSetup, Setup, loaded, stops, words};
use takt_lab::bench::{device, on_air};
use takt_lab::store::{Record, RoundRow, RoundState, RunRow, StoreError};
use takt_lab::{About, StoredRun};

/// The outcome of a run, finished or not.
///
/// # Errors
/// A record can't be read.
pub fn assemble(mut stored: StoredRun) -> Result<CheckOutcome, StoreError> {
    let needs = option(&stored.run, "need").unwrap_or_else(|| stored.file.needs.clone());
    stored.file = stored.file.with_needs(needs);
    if option::<String>(&stored.run, DEVICE).is_some() {
        device::measurable(&mut stored.file);
    }
    let receive_only: Option<String> = option(&stored.run, "receive_only");
    if receive_only.is_some() {
        on_air::receive_only(&mut stored.file);
    }

    let (mut udp, mut rates, mut by_engine) = (Vec::new(), Vec::new(), Vec::new());
    let (mut round_trips, mut waveforms, mut disturbed) = (Vec::new(), Vec::new(), Vec::new());
    // Loops of takt's own compete in disturbed rounds, and are no stops of the machine.
    let mut looked = Vec::new();
    for (part, point, rounds) in stored.by_point() {
        let levels = levels(part, point);
        match part.kind {
            WorkloadKind::Udp => udp.extend(udp_point(&levels, &rounds)?),
            WorkloadKind::Rate if is_about_engines(&point.factors) => {
                looked.push(collect::looked(rounds.iter().copied()));
                by_engine.push((levels, rounds));
            }
            WorkloadKind::Rate => rates.extend(rate_point(&levels, &rounds)?),
            WorkloadKind::RoundTrip if loaded::is_loaded(&levels) => disturbed.push((levels, rounds)),
            WorkloadKind::RoundTrip => {
                looked.push(collect::looked(rounds.iter().copied()));
                round_trips.extend(round_trip_point(&levels, &rounds)?);
            }
            WorkloadKind::Waveform => waveforms.extend(waveform_point(&levels, &rounds)?),
            // A check does not ask for these.
            _ => {}
        }
    }
    udp.sort_by(|a, b| (&a.direction, a.payload_bytes).cmp(&(&b.direction, b.payload_bytes)));
    rates.sort_by(|a, b| (a.format, a.mode).cmp(&(b.format, b.mode)).then(a.rate_sps.total_cmp(&b.rate_sps)));
    round_trips.sort_by(|a, b| a.delay_us.total_cmp(&b.delay_us));
    waveforms.sort_by(|a, b| b.slot_us.total_cmp(&a.slot_us).then(a.workers.cmp(&b.workers)));

    let rounds = stored.summary();
    let setup = setup(&stored, receive_only);
    // Stops of another machine say nothing about this one.
    let emulated_here = matches!(setup.radio, RadioSetup::Emulated { .. });
    let stops = stops::stops(&rates, &looked).filter(|_| emulated_here);
    let busy = stored.rounds.iter().find(|round| round.state == RoundState::HostBusy);
    Ok(conclude(Measured {
        needs: stored.file.needs.clone(),
        planned: stored.file.round_count(stored.depth) as usize,
        busy: busy.and_then(|round| round.why.clone()),
        doctor: observed(&stored.run, "doctor").unwrap_or_default(),
        left_out: words::left_out(&stored.file, stored.depth, udp.is_empty()),
        about: About::of(&stored.run, &stored.file, &stored.rounds),
        loaded: loaded::loaded(&disturbed),
        engines: engines::engines(&by_engine)?,
        radio_speed: radio_speed(&stored.rounds),
        setup,
        udp,
        rates,
        round_trips,
        waveforms,
        stops,
        rounds,
    }))
}

/// How fast the radio's time passed, as the rounds say in which it streamed: another speed than the wall's, if any had one.
fn radio_speed(rounds: &[RoundRow]) -> Option<f64> {
    let keys = ["radio_speed", "radio_speed_at_end"];
    let results = || rounds.iter().filter_map(|round| round.record.as_ref()).map(|record| &record.result);
    let speeds = || results().flat_map(|result| keys.iter().filter_map(move |key| result.get(*key)?.as_f64()));
    speeds().find(|speed| *speed != 1.0).or_else(|| speeds().next())
}

/// A document that the command kept with the run.
fn option<T: for<'de> Deserialize<'de>>(run: &RunRow, name: &str) -> Option<T> {
    T::deserialize(run.options.get("more")?.get(name)?).ok()
}

fn observed<T: for<'de> Deserialize<'de>>(run: &RunRow, name: &str) -> Option<T> {
    T::deserialize(run.host.get("observed")?.get(name)?).ok()
}

/// Carrier of a device's samples instead of an engine of takt's.
const SOAPY: &str = "soapy";

/// As the first record that has it says; before any round, as the file says.
fn setup(stored: &StoredRun, receive_only: Option<String>) -> Setup {
    let records = || stored.rounds.iter().filter_map(|round| round.record.as_ref());
    let sites = || records().filter_map(|record| InForce::deserialize(&record.in_force).ok());
    let serial = records().find_map(|record| record.result.pointer("/radio/serial")?.as_str().map(str::to_owned));
    let through = sites().any(|site| site.device.is_some()).then(|| SOAPY.to_owned());
    let engine = records().find_map(|record| record.settings.pointer("/point/engine")?.as_str().map(str::to_owned));
    let model = stored.file.needs.first().map_or(Model::default(), |need| need.model);
    let is_emulator = |record: &Record| record.in_force.get("given_emulator") == Some(&Value::Bool(true));
    // A waveform by itself has no other side.
    let site = sites().find(|site| site.path != SitePath::None).or_else(|| sites().next());
    let radio = match &site {
        Some(site) if !site.emulated => {
            let addr = site.device.clone().unwrap_or_else(|| site.radio_addr.to_string());
            let (device, emulator) = (site.device.is_some(), records().any(is_emulator));
            RadioSetup::Given { model, addr, device, serial, emulator }
        }
        _ => RadioSetup::Emulated { model },
    };
    let (path, environment, cores) = site
        .map(|site| (site.path.name().to_owned(), site.environment, (site.placement.host, site.placement.radio)))
        .unwrap_or_default();
    let (host_cores, radio_cores) = cores;
    // One run may have had several sessions, each with notes of its own.
    let notes: BTreeSet<String> = sites().flat_map(|site| site.notes).collect();
    let (engine, notes) = (through.or(engine).unwrap_or_default(), notes.into_iter().collect());
    Setup { radio, path, environment, engine, host_cores, radio_cores, notes, receive_only }
}
