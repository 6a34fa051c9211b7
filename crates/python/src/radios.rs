//! Running radios, as Python holds them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use numpy::{Complex32, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use takt_base::Stop;
use takt_emulator::air::{ModelName, Scene};
use takt_emulator::sink::{Burst, Memory};

use crate::fleet::Fleet;
use crate::options;
use crate::problem::{OF_PYTHON, Problem};

/// How often somebody looks after the radios, and writes their EEPROM files.
const LOOK: Duration = Duration::from_millis(50);
const KEEP: Duration = Duration::from_millis(500);

/// Emulated radios of one start. Dropping it stops them.
#[pyclass(frozen)]
pub struct Radios {
    shared: Arc<Shared>,
    keeper: Mutex<Option<JoinHandle<()>>>,
    /// By radio and transmitter.
    memories: Vec<Vec<Memory>>,
    addrs: Vec<(&'static str, String)>,
    /// The process whose threads they are: a forked child has none of them.
    pid: u32,
}

struct Shared {
    state: Mutex<State>,
    stop: Stop,
}

enum State {
    Running(Fleet),
    /// Their last counts as JSON, or why they ended.
    Ended(Result<String, Problem>),
}

/// Time, ticks in a second, ticks from sample to sample, frequency, samples, whether all of it is there.
type Sent<'py> = (u64, u32, u32, f64, Bound<'py, PyArray1<Complex32>>, bool);

/// Starts a radio of a model with these options.
#[pyfunction]
pub fn emulate(py: Python<'_>, model: &str, options: &Bound<'_, PyDict>) -> PyResult<Radios> {
    let Some(model) = ModelName::ALL.into_iter().find(|known| known.name() == model) else {
        return Err(Problem {
            message: format!("takt emulates no {model}"),
            reason: Some("the models are n200 and x310".into()),
            fix: Some("use takt.emulate(\"n200\")".to_owned()),
            option: Some(("model".to_owned(), format!("'{model}'"))),
            ..Problem::default()
        }
        .into());
    };
    let (options, addressed) = options::read(options)?;
    Ok(py.detach(|| Fleet::of_one(model, options, addressed).map(Radios::of).map_err(Problem::from))?)
}

/// Starts the radios of a scene: TOML, the name of its file if there is one, the numbers of the radios that get free addresses, and
/// options of all.
#[pyfunction]
pub fn air(
    py: Python<'_>,
    scene: &str,
    file: Option<&str>,
    free: Vec<usize>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Radios> {
    let (options, _) = options::read(options)?;
    let mut scene = Scene::parse(file.unwrap_or(OF_PYTHON), scene).map_err(Problem::from)?;
    scene.apply(&options).map_err(Problem::from)?;
    scene.radios.iter_mut().for_each(|radio| radio.options.keep_samples = options.keep_samples);
    Ok(py.detach(|| Fleet::of_scene(scene, &free).map(Radios::of).map_err(Problem::from))?)
}

#[pymethods]
impl Radios {
    /// Model and address of each.
    #[getter]
    fn addrs(&self) -> Vec<(&'static str, String)> {
        self.addrs.clone()
    }

    /// Bursts that a transmitter has sent so far, and the number of samples that are missing.
    fn sent<'py>(&self, py: Python<'py>, radio: usize, channel: usize) -> PyResult<(Vec<Sent<'py>>, u64)> {
        let memory = self.memory(radio, channel)?;
        let read = py.detach(|| memory.read());
        let sent = |burst: Burst| {
            let Burst { device_tick, clock_hz, step, centre_hz, samples, complete } = burst;
            (device_tick, clock_hz, step, centre_hz, PyArray1::from_vec(py, samples), complete)
        };
        Ok((read.bursts.into_iter().map(sent).collect(), read.dropped_samples))
    }

    /// How many bursts of a transmitter have left to their end.
    fn complete_bursts(&self, py: Python<'_>, radio: usize, channel: usize) -> PyResult<usize> {
        let memory = self.memory(radio, channel)?;
        Ok(py.detach(|| memory.complete_bursts()))
    }

    /// Forgets bursts that have left to their end.
    fn forget(&self, py: Python<'_>, radio: usize, channel: usize) -> PyResult<()> {
        let memory = self.memory(radio, channel)?;
        py.detach(|| memory.forget());
        Ok(())
    }

    /// Their counts, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let summary = py.detach(|| match &*self.shared.state() {
            State::Running(fleet) => fleet.summary(),
            State::Ended(summary) => summary.clone(),
        });
        Ok(summary?)
    }

    fn is_running(&self) -> bool {
        matches!(&*self.shared.state(), State::Running(_))
    }

    /// Stops them; fails if one had ended by itself.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.end())?)
    }
}

impl Radios {
    fn of(fleet: Fleet) -> Radios {
        let memories = fleet.memories();
        let addrs = fleet.addrs().into_iter().map(|(model, addr)| (model.name(), addr.to_string())).collect();
        let shared = Arc::new(Shared { state: Mutex::new(State::Running(fleet)), stop: Stop::new() });
        let tended = Arc::clone(&shared);
        // Without it EEPROM files are written at the end only, and `speed="auto"` stays slow.
        let keeper = thread::Builder::new().name("takt keeper".to_owned()).spawn(move || tended.keep()).ok();
        Radios { shared, keeper: Mutex::new(keeper), memories, addrs, pid: std::process::id() }
    }

    fn memory(&self, radio: usize, channel: usize) -> Result<&Memory, Problem> {
        let channels = self.memories.get(radio).map_or(0, Vec::len);
        self.memories.get(radio).and_then(|channels| channels.get(channel)).ok_or_else(|| Problem {
            message: format!("the radio has no transmitter {channel}"),
            reason: Some(format!("it has {channels}, counted from 0").into()),
            fix: Some("give channel=0".to_owned()),
            option: Some(("channel".to_owned(), channel.to_string())),
            ..Problem::default()
        })
    }

    fn end(&self) -> Result<(), Problem> {
        if self.pid != std::process::id() {
            return Ok(());
        }
        self.shared.stop.request();
        if let Some(keeper) = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take() {
            keeper.thread().unpark();
            // A panic there has been reported by then.
            let _ = keeper.join();
        }
        self.shared.end()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks after the radios until they are stopped.
    fn keep(&self) {
        let mut kept = Instant::now();
        while !self.stop.requested() {
            thread::park_timeout(LOOK);
            let due = kept.elapsed() >= KEEP;
            let mut state = self.state();
            let State::Running(fleet) = &mut *state else { return };
            if let Err(error) = fleet.tend(due, &mut |_| ()) {
                // Dropping the others stops them.
                *state = State::Ended(Err(error.into()));
                return;
            }
            if due {
                kept = Instant::now();
            }
        }
    }

    fn end(&self) -> Result<(), Problem> {
        let mut state = self.state();
        if let State::Running(_) = &*state {
            let unknown = State::Ended(Ok(String::new()));
            if let State::Running(fleet) = std::mem::replace(&mut *state, unknown) {
                *state = State::Ended(fleet.stop());
            }
        }
        match &*state {
            State::Ended(Err(problem)) => Err(problem.clone()),
            _ => Ok(()),
        }
    }
}

impl Drop for Radios {
    fn drop(&mut self) {
        // A caller who wanted to know how they ended has called `stop`. In a forked child their threads are not there to be waited for.
        if self.pid == std::process::id() {
            let _ = self.end();
        } else {
            std::mem::forget(std::mem::replace(&mut *self.shared.state(), State::Ended(Ok(String::new()))));
        }
    }
}
