//! From what was measured to the outcome: the verdict, and every sentence about it.

use takt_base::words::sentence;

use super::{
    CheckOutcome, DoctorFinding, EnginePoint, Evidence, Loaded, Need, RadioSetup, RatePoint, RoundTripPoint,
    RoundsSummary, SCHEMA, Setup, Stops, UdpPoint, WaveformPoint, engines, judge, stops, waveform, words,
};
use takt_lab::About;

/// Everything that a check measured, and what was asked. Points are in the order in which they are shown.
#[derive(Clone, Debug)]
pub struct Measured {
    pub about: About,
    pub needs: Vec<Need>,
    pub setup: Setup,
    /// The speed of the radio, as [`CheckOutcome::radio_speed`].
    pub radio_speed: Option<f64>,
    pub doctor: Vec<DoctorFinding>,
    pub udp: Vec<UdpPoint>,
    pub rates: Vec<RatePoint>,
    pub engines: Vec<EnginePoint>,
    pub round_trips: Vec<RoundTripPoint>,
    pub waveforms: Vec<WaveformPoint>,
    pub loaded: Option<Loaded>,
    pub stops: Option<Stops>,
    pub rounds: RoundsSummary,
    /// Rounds of each rate that were to be run.
    pub planned: usize,
    /// Why this host was too busy for a round, if it was.
    pub busy: Option<String>,
    /// The parts that this depth leaves out, a sentence each.
    pub left_out: Vec<String>,
}

/// Judges it.
#[must_use]
pub fn conclude(measured: Measured) -> CheckOutcome {
    let Measured { about, needs, setup, doctor, udp, rates, engines, round_trips, waveforms, .. } = measured;
    let Measured { radio_speed, loaded, stops, rounds, planned, busy, mut left_out, .. } = measured;
    let evidence = Evidence {
        points: &rates,
        planned,
        interrupted: !about.complete,
        shared_core: setup.shares_a_core(),
        receive_only: setup.receive_only.as_deref(),
        doctor: &doctor,
        stops: stops.as_ref(),
        busy: busy.as_deref(),
        rounds: of_this_host(rounds, &setup.radio),
    };
    let mut verdict = judge(&needs, &evidence);
    verdict.waveform = waveform::verdict(&waveforms);
    verdict.summary = words::summary(&verdict);
    verdict.summary.extend(stops.iter().flat_map(|stops| stops::words(stops, &needs)).map(|words| sentence(&words)));
    verdict.also = words::also(&verdict, &udp, &needs);
    verdict.also.extend(engines::words(&engines).map(|words| sentence(&words)));
    verdict.also.extend(loaded.as_ref().map(|loaded| sentence(&loaded.summary)));
    left_out.extend(words::not_sent(&setup));
    left_out.extend(words::not_through_a_device(&setup));
    let schema = SCHEMA;
    let mut outcome = CheckOutcome {
        schema,
        about,
        setup,
        radio_speed,
        doctor,
        udp,
        rates,
        engines,
        round_trips,
        waveforms,
        loaded,
        stops,
        rounds,
        verdict,
        left_out,
    };
    outcome.verdict.caveats = words::caveats(&outcome);
    outcome
}

/// The rounds that this host spoilt: not those in which an emulator was late on another machine.
fn of_this_host(rounds: RoundsSummary, radio: &RadioSetup) -> RoundsSummary {
    match radio {
        RadioSetup::Emulated { .. } => rounds,
        RadioSetup::Given { .. } => RoundsSummary { emulator_late: 0, ..rounds },
    }
}
