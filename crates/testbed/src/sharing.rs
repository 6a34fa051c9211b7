//! A front end that programs of an experiment share: `takt share`, as a service of an agent.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::Stop;
use takt_emulator::policy::Cidr;
use takt_host::placement::Placement;
use takt_load::programs::SharedRadios;
use takt_packet::EngineKind;
use takt_radio::calibration::CalibrationUse;
use takt_share::{ShareError, ShareNotice, ShareOptions, SharePlan, ShareReport};

/// Blocks and latency of `takt share` by default.
const BLOCK: Duration = Duration::from_micros(200);
const LATENCY: Duration = Duration::from_millis(2);
/// More than any host has: the experiment is to find out how many radios a host carries, so nothing is refused beforehand.
const CORES: f64 = 1024.0;
/// How often the CPU time is looked at, and over how many looks the busiest span is.
const LOOK: Duration = Duration::from_millis(100);
const LOOKS: usize = 5;
/// A share that is not ready by then hangs. It waits for an edge of the radio's PPS, which comes late at a low speed; whoever
/// started it waits for a minute.
const PATIENCE: Duration = Duration::from_secs(50);

/// A share that runs.
pub(crate) struct Sharing {
    stop: Stop,
    share: JoinHandle<Result<(ShareReport, f64), ShareError>>,
    meter: JoinHandle<f64>,
    at: Vec<String>,
}

impl Sharing {
    /// Starts it; returns when all radios listen.
    ///
    /// # Errors
    /// The plan is wrong, the front end can't be had, an address is taken.
    pub(crate) fn start(radios: &SharedRadios) -> Result<Sharing, Failure> {
        let plan = SharePlan::parse("the shared radios", &radios.plan).map_err(|error| Failure::of(&error, None))?;
        let options = options(radios)?;
        let at = plan.radios.iter().map(|radio| radio.addr.to_string()).collect();
        let stop = Stop::new();
        let (say, ready) = mpsc::channel();
        let (wanted, raised) = (plan.radios.len(), stop.clone());
        let share = thread::spawn(move || {
            let mut cores = 0.0;
            let mut notify = |notice| match notice {
                ShareNotice::Cost { cores: needed } => cores = needed,
                // Nobody waits any more if the channel is closed.
                ShareNotice::Ready { .. } => drop(say.send(())),
                _ => {}
            };
            let report = takt_share::run(&plan, &options, &mut notify, &raised)?;
            Ok((report, cores))
        });
        let begun = Instant::now();
        for _ in 0..wanted {
            match ready.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => {
                    stop.request();
                    return Err(Failure::saying("the shared radios do not listen after 50 s"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ended(share).err().unwrap_or_else(|| Failure::saying("the share ended at once")));
                }
            }
        }
        let raised = stop.clone();
        let meter = thread::spawn(move || busiest(&raised));
        Ok(Sharing { stop, share, meter, at })
    }

    pub(crate) fn at(&self) -> Vec<String> {
        self.at.clone()
    }

    /// Ends it; what it counted.
    pub(crate) fn finish(self) -> Result<Value, Failure> {
        self.stop.request();
        let busiest_cores = self.meter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (report, expected_cores) = ended(self.share)?;
        Ok(json!({ "expected_cores": expected_cores, "busiest_cores": busiest_cores, "report": report }))
    }
}

fn options(radios: &SharedRadios) -> Result<ShareOptions, Failure> {
    let network = |text: &String| text.parse::<Cidr>().map_err(|error| Failure::of(&error, None));
    Ok(ShareOptions {
        addr: radios.front_end.into(),
        engine: EngineKind::Mmsg,
        transmit: false,
        force: false,
        calibration: CalibrationUse::Off,
        block: BLOCK,
        latency: LATENCY,
        allow: radios.allow.iter().map(network).collect::<Result<_, _>>()?,
        cores: CORES,
        placement: Placement { cpus: radios.cpus.clone(), priority: None },
        control: false,
        watched: None,
    })
}

fn ended(share: JoinHandle<Result<(ShareReport, f64), ShareError>>) -> Result<(ShareReport, f64), Failure> {
    match share.join() {
        Ok(done) => done.map_err(|error| Failure::of(&error, error.fix())),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Cores that this process kept busy in its busiest half second, until `stop`. Programs stream at the same time for most of a
/// round; an average over all of it would count their starts, too.
fn busiest(stop: &Stop) -> f64 {
    let mut looks = Vec::new();
    let mut most: f64 = 0.0;
    while !stop.requested() {
        looks.push((Instant::now(), spent()));
        if let Some(window) = looks.len().checked_sub(LOOKS + 1).and_then(|from| looks.get(from..))
            && let [(from, before), .., (to, after)] = window
        {
            most = most.max((*after - *before).as_secs_f64() / (*to - *from).as_secs_f64());
        }
        thread::sleep(LOOK);
    }
    most
}

/// CPU time of this process.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
