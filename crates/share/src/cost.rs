//! Whether a plan fits: the band of the front end, and the CPU of this host.

use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::shared_band::BandPlan;
use takt_dsp::{Grid, Resampler};
use takt_emulator::n200::CLOCK;
use takt_host::thread_clock::ThreadClock;

use crate::channels::{band_plan, send_plan, steps};
use crate::error::ShareError;
use crate::file::{FrontEndPlan, RadioPlan, SharePlan};
use crate::{AnalogPolicy, Band};

/// So much of the front end's time is computed to measure a cost.
const MEASURED: Duration = Duration::from_millis(4);
/// The rates of front ends that are tried where a plan does not fit, samples per second.
const RATES_SPS: [f64; 7] = [25e6, 20e6, 12.5e6, 10e6, 5e6, 2.5e6, 1e6];
/// The rates that are tried for a radio that does not fit, samples per second.
const SLOWER_SPS: [f64; 9] = [12.5e6, 10e6, 5e6, 2.5e6, 2e6, 1e6, 500e3, 250e3, 200e3];

/// Cores that it takes to turn wide samples into a narrow band, or back, by a filter of its own.
pub trait CostMeter {
    /// For these two rates, samples per second.
    fn cores(&mut self, wide_sps: f64, narrow_sps: f64) -> f64;
}

/// Remembers what another one has measured: one cost for each pair of rates.
#[derive(Debug)]
struct Remembering<M> {
    meter: M,
    known: Vec<([f64; 2], f64)>,
}

impl<M: CostMeter> CostMeter for Remembering<M> {
    fn cores(&mut self, wide_sps: f64, narrow_sps: f64) -> f64 {
        let rates = [wide_sps, narrow_sps];
        if let Some((_, cores)) = self.known.iter().find(|(known, _)| *known == rates) {
            return *cores;
        }
        let cores = self.meter.cores(wide_sps, narrow_sps);
        self.known.push((rates, cores));
        cores
    }
}

/// Measures on this host.
#[derive(Debug, Default)]
pub(crate) struct HostMeter;

impl CostMeter for HostMeter {
    fn cores(&mut self, wide_sps: f64, narrow_sps: f64) -> f64 {
        let step = |rate_sps: f64| (f64::from(CLOCK.hz()) / rate_sps).round().clamp(1.0, 512.0) as u32;
        let (wide, narrow) = (step(wide_sps), step(narrow_sps));
        let ticks = CLOCK.ticks_in(MEASURED).0;
        let grid = Grid { first: Tick(0), step: wide, len: ticks / u64::from(wide) };
        let mut out = vec![Complex32::default(); (ticks / u64::from(narrow)) as usize];
        let mut resampler = Resampler::new();
        // Time of this thread on a core: other programs on this host are not the radios' cost.
        let clock = ThreadClock::of_this_thread();
        let mut pass = || {
            let begun = clock.ran();
            // A thousandth of a turn a tick: tuned apart, so that nothing is copied.
            resampler.add(grid, 1e-3, Tick(0), narrow, &mut out, |_, block| block.fill(Complex32::new(0.1, 0.0)));
            (clock.ran() - begun).as_secs_f64()
        };
        // The first makes the taps. The fastest of the others counts: cold caches and stops only add.
        pass();
        let fastest = (0..3).map(|_| pass()).fold(f64::INFINITY, f64::min);
        fastest / MEASURED.as_secs_f64()
    }
}

/// Decides which radios a front end carries: by its band, and by the CPU time that they need.
pub(crate) struct Admission<M> {
    block: Duration,
    allowed: f64,
    meter: Remembering<M>,
}

impl<M: CostMeter> Admission<M> {
    /// In blocks of this length, with so many cores allowed.
    pub(crate) fn new(block: Duration, allowed: f64, meter: M) -> Admission<M> {
        Admission { block, allowed, meter: Remembering { meter, known: Vec::new() } }
    }

    /// Cores that each radio of a plan needs.
    ///
    /// # Errors
    /// `OutOfBand` for a radio that can never receive anything; `Cpu` with what would fit.
    pub(crate) fn begin(&mut self, plan: &SharePlan) -> Result<Vec<f64>, ShareError> {
        plan.radios.iter().try_for_each(|radio| in_band(&plan.front_end, radio))?;
        let (block, allowed) = (self.block, self.allowed);
        let mut costs_at =
            |rate_sps: f64| costs(plan, rate_sps, Shares::cheapest(plan, rate_sps, block), &mut self.meter);
        let costs = costs_at(plan.front_end.rate_sps);
        let needed: f64 = costs.iter().sum();
        if needed <= allowed {
            return Ok(costs);
        }
        let mut sum = 0.0;
        let fits = |cost: &&f64| {
            sum += **cost;
            sum <= allowed
        };
        let fitting = costs.iter().take_while(fits).count();
        let mut narrower = RATES_SPS.into_iter().filter(|rate_sps| *rate_sps < plan.front_end.rate_sps);
        let fitting_rate_sps = narrower.find(|rate_sps| costs_at(*rate_sps).iter().sum::<f64>() <= allowed);
        Err(ShareError::Cpu { radios: plan.radios.len(), needed, allowed, fitting, fitting_rate_sps })
    }

    /// Cores that each radio of a plan needs whose last one is to be added while the others stream. The shared transforms of what is
    /// received and of what is sent are these and stay.
    ///
    /// # Errors
    /// `OutOfBand` if the last can never receive anything; `NoRoom` with the rate at which it would fit.
    pub(crate) fn more(&mut self, plan: &SharePlan, shared: [Option<&BandPlan>; 2]) -> Result<Vec<f64>, ShareError> {
        let Some((last, others)) = plan.radios.split_last() else { return Ok(Vec::new()) };
        in_band(&plan.front_end, last)?;
        let allowed = self.allowed;
        let mut costs_at = |rate_sps: f64| {
            let mut plan = plan.clone();
            plan.radios.iter_mut().skip(others.len()).for_each(|radio| radio.limits.rate_sps = rate_sps);
            costs(&plan, plan.front_end.rate_sps, Shares::with(&plan, shared), &mut self.meter)
        };
        let costs = costs_at(last.limits.rate_sps);
        let needed: f64 = costs.iter().sum();
        if needed <= allowed {
            return Ok(costs);
        }
        let mut slower = SLOWER_SPS.into_iter().filter(|rate_sps| *rate_sps < last.limits.rate_sps);
        let fitting_rate_sps = slower.find(|rate_sps| costs_at(*rate_sps).iter().sum::<f64>() <= allowed);
        Err(ShareError::NoRoom { name: last.name.clone(), needed, allowed, fitting_rate_sps })
    }

    pub(crate) fn allowed(&self) -> f64 {
        self.allowed
    }
}

/// Whether the band of the front end and `allowed` cores carry the radios of a plan, in blocks of this length. Returns the cores
/// that they need.
///
/// # Errors
/// `OutOfBand` for a radio that can never receive anything; `Cpu` with what would fit.
pub fn admit(plan: &SharePlan, block: Duration, allowed: f64, meter: impl CostMeter) -> Result<f64, ShareError> {
    Ok(Admission::new(block, allowed, meter).begin(plan)?.iter().sum())
}

/// Whether a radio can ever receive anything.
fn in_band(front_end: &FrontEndPlan, radio: &RadioPlan) -> Result<(), ShareError> {
    let wide = Band { centre_hz: front_end.frequency_hz, width_hz: front_end.rate_sps };
    let Some([low, high]) = radio.limits.frequency_hz else { return Ok(()) };
    let nearest_hz = f64::midpoint(low, high);
    let own = Band { centre_hz: nearest_hz, width_hz: high - low };
    if front_end.policy != AnalogPolicy::Fixed || own.overlaps(wide) {
        return Ok(());
    }
    Err(ShareError::OutOfBand {
        name: radio.name.clone(),
        wants_hz: [low, high],
        has_hz: [wide.low_hz(), wide.high_hz()],
        nearest_hz,
    })
}

/// Cores for each radio at its highest rate: what is received and what is sent cost these shares of a filter's cost.
fn costs(plan: &SharePlan, wide_sps: f64, shares: Shares, meter: &mut dyn CostMeter) -> Vec<f64> {
    let ways = |transmit: bool| shares.received + if transmit { shares.sent } else { 0.0 };
    let cores = |radio: &RadioPlan| ways(radio.transmit) * meter.cores(wide_sps, radio.limits.rate_sps.min(wide_sps));
    plan.radios.iter().map(cores).collect()
}

/// Cost of all radios together, over that of a filter for each.
#[derive(Clone, Copy, Debug)]
struct Shares {
    received: f64,
    sent: f64,
}

impl Shares {
    /// The cheapest way, in blocks of this length.
    fn cheapest(plan: &SharePlan, wide_sps: f64, block: Duration) -> Shares {
        let mut plan = plan.clone();
        plan.front_end.rate_sps = wide_sps;
        let longest = CLOCK.ticks_in(block);
        let [received, sent] = [band_plan, send_plan].map(|transform| transform(&plan, Tick(0), longest));
        Shares::with(&plan, [received.as_ref(), sent.as_ref()])
    }

    /// The same with these shared transforms, or with none.
    fn with(plan: &SharePlan, [received, sent]: [Option<&BandPlan>; 2]) -> Shares {
        let filters = band_plan(plan, Tick(0), Ticks(0));
        let share = |shared: Option<&BandPlan>, steps: &[u32]| {
            let both = shared.zip(filters.as_ref()).map(|(shared, filters)| (shared.cost(steps), filters.cost(steps)));
            both.filter(|(_, filters)| *filters > 0.0).map_or(1.0, |(best, filters)| (best / filters).min(1.0))
        };
        Shares {
            received: share(received, &steps(plan, |_| true)),
            sent: share(sent, &steps(plan, |radio| radio.transmit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tenth of a core at 10 MS/s.
    struct Linear;

    impl CostMeter for Linear {
        fn cores(&mut self, wide_sps: f64, _: f64) -> f64 {
            wide_sps / 100e6
        }
    }

    fn plan(radios: usize, more: &str) -> SharePlan {
        let head = "[front_end]\nrate = 10e6\nfrequency = 2.4e9\n".to_owned();
        let each = |n: usize| format!("[[radio]]\nname = 'r{n}'\naddr = '127.0.1.{n}'\nrate = 1e6\n{more}");
        let text = (1..=radios).map(each).fold(head, |text, one| text + &one);
        SharePlan::parse("f", &text).expect("a plan")
    }

    #[test]
    fn what_is_too_much_is_refused_with_the_nearest_that_fits() {
        let admit = |plan: &SharePlan, block| admit(plan, block, 0.95, Linear);
        // No block is short enough for a transform: a filter each.
        let none = Duration::ZERO;
        assert!((admit(&plan(8, ""), none).unwrap() - 0.8).abs() < 1e-9);
        let error = admit(&plan(12, ""), none).unwrap_err();
        assert_eq!(error.to_string(), "12 radios need 1.20 cores, but --budget allows 0.95");
        assert_eq!(
            error.fix().unwrap(),
            "keep only the first 9 radios of the file\nset rate = 5000000   (of the front end: all radios fit)"
        );
        let error = admit(&plan(6, "transmit = true\n"), none).unwrap_err();
        assert!(matches!(error, ShareError::Cpu { fitting: 4, .. }), "{error:?}");
        // One transform for all costs less, and the less the more there are.
        let shared = |radios| admit(&plan(radios, ""), Duration::from_millis(1)).unwrap() / radios as f64;
        let [few, many] = [4, 16].map(shared);
        assert!(few < 0.1 && many < few, "{few} {many}");
    }

    /// A tenth of a core at 1 MS/s, whatever the front end has.
    struct Narrow;

    impl CostMeter for Narrow {
        fn cores(&mut self, _: f64, narrow_sps: f64) -> f64 {
            narrow_sps / 10e6
        }
    }

    #[test]
    fn a_radio_for_which_there_is_no_room_is_refused_with_the_rate_at_which_there_is() {
        let more = |radios, allowed| {
            // Each has a filter of its own.
            Admission::new(Duration::ZERO, allowed, Narrow).more(&plan(radios, ""), [None, None])
        };
        let cores: f64 = more(4, 0.451).expect("four tenths").iter().sum();
        assert!((cores - 0.4).abs() < 1e-9, "{cores}");
        let error = more(5, 0.451).unwrap_err();
        assert_eq!(error.to_string(), "with radio `r5`, the radios need 0.50 cores, but --budget allows 0.45");
        assert_eq!(
            error.fix().unwrap(),
            "set rate = 500000   (of this radio: it fits)\nremove another radio first: takt share remove NAME"
        );
        let full = more(5, 0.41).unwrap_err();
        assert!(matches!(full, ShareError::NoRoom { fitting_rate_sps: None, .. }), "{full:?}");
        assert_eq!(full.fix().unwrap(), "remove another radio first: takt share remove NAME");
    }

    #[test]
    fn a_radio_that_could_never_receive_is_refused() {
        let error = admit(&plan(1, "frequency = [2.5e9, 2.51e9]\n"), Duration::ZERO, 1.0, Linear).unwrap_err();
        let want =
            "radio `r1` may use 2500.000000 to 2510.000000 MHz; the front end carries 2395.000000 to 2405.000000 MHz";
        assert_eq!(error.to_string(), want);
        assert!(error.fix().unwrap().starts_with("set frequency = 2505000000 "));
    }
}
