//! What can this processor do, and what do a waveform's components execute? A prediction of one processor's times from
//! another's rests on both: capacities and prices of the one, counted instructions for the other.
//!
//! Nothing of the waveform is timed here, unless a component was counted with other parameters or packets only: then it is
//! compared with that one, as `takt map` does.

pub(crate) mod workload;

use std::collections::BTreeMap;
use std::thread;

use serde::{Deserialize, Serialize};
use takt_base::Stop;
use takt_host::affinity::{AffinityError, pin_self};
use takt_mapper::{CalibrationError, Capacities, Costs, Prices, Profile};
use takt_runtime::costs::{self, CostsError};

use super::waveform::{self, Opened, WaveformError};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CalibrationOptions {
    /// The waveform whose components are looked up.
    pub waveform: waveform::WaveformOptions,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationOutcome {
    /// Multiply-accumulates and other work a second.
    pub capacities: Capacities,
    /// Time of an instruction of each kind, ns.
    pub prices: Prices,
    /// Work of each component in a slot, if its type was counted.
    pub profiles: BTreeMap<String, Profile>,
    /// For components counted with other parameters or packets: how many times as long as there each takes here.
    pub scaled: BTreeMap<String, f64>,
    /// The core.
    pub core: usize,
    pub complete: bool,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    #[error(transparent)]
    Waveform(#[from] WaveformError),
    #[error("takt can't place a thread")]
    Place(#[from] AffinityError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error("takt can't measure the costs of the components")]
    Costs(#[from] CostsError),
}

impl CalibrateError {
    /// The fix, if there is one.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            CalibrateError::Waveform(error) => error.fix(),
            CalibrateError::Costs(error) => error.fix(),
            CalibrateError::Place(_) | CalibrateError::Calibration(_) => None,
        }
    }
}

/// Measures, on the core that a waveform of one worker would have. `stop` is looked at in the end: it takes two seconds.
pub fn run(options: &CalibrationOptions, stop: &Stop) -> Result<CalibrationOutcome, CalibrateError> {
    let core = waveform::cores(1)?[0];
    // On a thread of its own: the agent's thread keeps its CPUs.
    thread::scope(|scope| {
        let done = scope.spawn(|| measure(options, core, stop));
        done.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn measure(options: &CalibrationOptions, core: usize, stop: &Stop) -> Result<CalibrationOutcome, CalibrateError> {
    let opened = Opened::placed(&options.waveform, None)?;
    pin_self(&[core])?;
    let (capacities, prices) = (costs::capacities()?, costs::prices()?);
    let none = Costs::of(&costs::class(), Some(capacities));
    let Costs { profiles, scaled, .. } = costs::for_elsewhere(none, &opened.graph, &opened.registry)?;
    Ok(CalibrationOutcome { capacities, prices, profiles, scaled, core, complete: !stop.requested() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_can_do_something_and_the_components_of_utran_were_counted() {
        let waveform =
            waveform::WaveformOptions { waveform: "utran".to_owned(), ..waveform::WaveformOptions::default() };
        let outcome = run(&CalibrationOptions { waveform }, &Stop::new()).expect("it runs");
        assert_eq!((outcome.capacities.wrong(), outcome.prices.wrong()), (None, None));
        assert!(outcome.complete);
        for component in ["crc", "turbo-coder", "interleaver-2", "turbo-decoder", "crc-check"] {
            assert!(outcome.profiles.get(component).is_some_and(Profile::is_sound), "{component}");
        }
        let kept = serde_json::to_value(&outcome).expect("JSON");
        assert_eq!(serde_json::from_value::<CalibrationOutcome>(kept).expect("read"), outcome);
    }
}
