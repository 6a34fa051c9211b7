//! What can this processor do, and what do a waveform's components execute? What a prediction of one processor's times from
//! another's rests on: capacities and prices of the one, counted instructions for the other.
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
pub struct Options {
    /// Whose components are looked up.
    pub waveform: waveform::Options,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Multiply-accumulates and other work a second.
    pub capacities: Capacities,
    /// What an instruction of each kind takes, ns.
    pub prices: Prices,
    /// What each component executes in a slot, where its type was counted.
    pub profiles: BTreeMap<String, Profile>,
    /// Of those that were counted with other parameters or packets: how many times as long as that one each takes here.
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
    #[error("placing a thread")]
    Place(#[from] AffinityError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error("components")]
    Costs(#[from] CostsError),
}

impl CalibrateError {
    /// What to do about it, where that is known.
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
pub fn run(options: &Options, stop: &Stop) -> Result<Outcome, CalibrateError> {
    let core = waveform::cores(1)?[0];
    // On a thread of its own: the agent's thread keeps its CPUs.
    thread::scope(|scope| {
        let done = scope.spawn(|| measure(options, core, stop));
        done.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn measure(options: &Options, core: usize, stop: &Stop) -> Result<Outcome, CalibrateError> {
    let opened = Opened::placed(&options.waveform, None)?;
    pin_self(&[core])?;
    let (capacities, prices) = (costs::capacities()?, costs::prices()?);
    let none = Costs::of(&costs::class(), Some(capacities));
    let Costs { profiles, scaled, .. } = costs::for_elsewhere(none, &opened.graph, &opened.registry)?;
    Ok(Outcome { capacities, prices, profiles, scaled, core, complete: !stop.requested() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_can_do_something_and_the_components_of_utran_were_counted() {
        let waveform = waveform::Options { waveform: "utran".to_owned(), ..waveform::Options::default() };
        let outcome = run(&Options { waveform }, &Stop::new()).expect("it runs");
        assert_eq!((outcome.capacities.wrong(), outcome.prices.wrong()), (None, None));
        assert!(outcome.complete);
        for component in ["crc", "turbo-coder", "interleaver-2", "turbo-decoder", "crc-check"] {
            assert!(outcome.profiles.get(component).is_some_and(Profile::is_sound), "{component}");
        }
        let kept = serde_json::to_value(&outcome).expect("JSON");
        assert_eq!(serde_json::from_value::<Outcome>(kept).expect("read"), outcome);
    }
}
