//! Whether a plan fits: the band of the front end, and the CPU of this host.

use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::shared_band::BandPlan;
use takt_dsp::{Grid, Resampler};
use takt_emulator::n200::CLOCK;
use takt_host::thread_clock::ThreadClock;
use takt_packet::EngineKind;

use crate::carriage::{self, CarriageCost, CarriageError};
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

/// Cores that samples take on a host.
pub trait CostMeter {
    /// To turn wide samples into a narrow band, or back, by a filter of its own: for these two rates, samples per second.
    fn cores(&mut self, wide_sps: f64, narrow_sps: f64) -> f64;

    /// To receive and to send so many samples per second in datagrams.
    fn carried(&mut self, received_sps: f64, sent_sps: f64) -> f64;
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

    fn carried(&mut self, received_sps: f64, sent_sps: f64) -> f64 {
        self.meter.carried(received_sps, sent_sps)
    }
}

/// Measures on this host.
#[derive(Debug)]
pub(crate) struct HostMeter {
    carriage: CarriageCost,
}

impl HostMeter {
    /// For datagrams through this engine.
    ///
    /// # Errors
    /// Loopback does not carry datagrams.
    pub(crate) fn new(engine: EngineKind) -> Result<HostMeter, CarriageError> {
        Ok(HostMeter { carriage: carriage::measure(engine)? })
    }
}

impl CostMeter for HostMeter {
    fn carried(&mut self, received_sps: f64, sent_sps: f64) -> f64 {
        self.carriage.cores(received_sps, sent_sps)
    }

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

/// Cores that a share needs, with each radio at its highest rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ShareCores {
    /// For the front end's own datagrams.
    pub(crate) front_end: f64,
    /// For each radio: its filters and its datagrams.
    pub(crate) radios: Vec<f64>,
}

impl ShareCores {
    pub(crate) fn total(&self) -> f64 {
        self.front_end + self.radios.iter().sum::<f64>()
    }
}

/// Decides which radios a front end carries: by its band, and by the CPU time that they need.
pub(crate) struct Admission<M> {
    block: Duration,
    allowed: f64,
    /// Seconds of the radios in one of this host: a slow radio costs less of a core.
    speed: f64,
    meter: Remembering<M>,
}

impl<M: CostMeter> Admission<M> {
    /// In blocks of this length, with so many cores allowed.
    pub(crate) fn new(block: Duration, allowed: f64, speed: f64, meter: M) -> Admission<M> {
        Admission { block, allowed, speed, meter: Remembering { meter, known: Vec::new() } }
    }

    /// Cores that a plan needs.
    ///
    /// # Errors
    /// `OutOfBand` for a radio that can never receive anything; `Cpu` with what would fit.
    pub(crate) fn begin(&mut self, plan: &SharePlan) -> Result<ShareCores, ShareError> {
        plan.radios.iter().try_for_each(|radio| in_band(&plan.front_end, radio))?;
        let (block, allowed, speed) = (self.block, self.allowed, self.speed);
        let mut costs_at =
            |rate_sps: f64| costs(plan, rate_sps, speed, Shares::cheapest(plan, rate_sps, block), &mut self.meter);
        let costs = costs_at(plan.front_end.rate_sps);
        let needed = costs.total();
        if needed <= allowed {
            return Ok(costs);
        }
        let mut sum = costs.front_end;
        let fits = |cost: &&f64| {
            sum += **cost;
            sum <= allowed
        };
        let fitting = costs.radios.iter().take_while(fits).count();
        let mut narrower = RATES_SPS.into_iter().filter(|rate_sps| *rate_sps < plan.front_end.rate_sps);
        let fitting_rate_sps = narrower.find(|rate_sps| costs_at(*rate_sps).total() <= allowed);
        Err(ShareError::Cpu { radios: plan.radios.len(), needed, allowed, fitting, fitting_rate_sps })
    }

    /// Cores that a plan needs whose last radio is to be added while the others stream. The shared transforms of what is
    /// received and of what is sent are these and stay.
    ///
    /// # Errors
    /// `OutOfBand` if the last can never receive anything; `NoRoom` with the rate at which it would fit.
    pub(crate) fn more(&mut self, plan: &SharePlan, shared: [Option<&BandPlan>; 2]) -> Result<ShareCores, ShareError> {
        let Some((last, others)) = plan.radios.split_last() else { return Ok(ShareCores::default()) };
        in_band(&plan.front_end, last)?;
        let (allowed, speed) = (self.allowed, self.speed);
        let mut costs_at = |rate_sps: f64| {
            let mut plan = plan.clone();
            plan.radios.iter_mut().skip(others.len()).for_each(|radio| radio.limits.rate_sps = rate_sps);
            costs(&plan, plan.front_end.rate_sps, speed, Shares::with(&plan, shared), &mut self.meter)
        };
        let costs = costs_at(last.limits.rate_sps);
        let needed = costs.total();
        if needed <= allowed {
            return Ok(costs);
        }
        let mut slower = SLOWER_SPS.into_iter().filter(|rate_sps| *rate_sps < last.limits.rate_sps);
        let fitting_rate_sps = slower.find(|rate_sps| costs_at(*rate_sps).total() <= allowed);
        Err(ShareError::NoRoom { name: last.name.clone(), needed, allowed, fitting_rate_sps })
    }
}

/// Whether the band of the front end and `allowed` cores carry the radios of a plan, in blocks of this length and in real time. Returns
/// the cores that front end and radios need.
///
/// # Errors
/// `OutOfBand` for a radio that can never receive anything; `Cpu` with what would fit.
pub fn admit(plan: &SharePlan, block: Duration, allowed: f64, meter: impl CostMeter) -> Result<f64, ShareError> {
    Ok(Admission::new(block, allowed, 1.0, meter).begin(plan)?.total())
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

/// Cores at this speed, each radio at its highest rate: what is received and what is sent cost these shares of a filter's cost.
fn costs(plan: &SharePlan, wide_sps: f64, speed: f64, shares: Shares, meter: &mut dyn CostMeter) -> ShareCores {
    let if_sent = |transmit: bool, cost: f64| if transmit { cost } else { 0.0 };
    let transmits = plan.radios.iter().any(|radio| radio.transmit);
    let front_end = meter.carried(wide_sps, if_sent(transmits, wide_sps));
    let cores = |radio: &RadioPlan| {
        let narrow_sps = radio.limits.rate_sps.min(wide_sps);
        let filters = shares.received + if_sent(radio.transmit, shares.sent);
        // Its program's samples come in, and its own leave.
        let datagrams = meter.carried(if_sent(radio.transmit, narrow_sps), narrow_sps);
        speed * (filters * meter.cores(wide_sps, narrow_sps) + datagrams)
    };
    ShareCores { radios: plan.radios.iter().map(cores).collect(), front_end: speed * front_end }
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

    /// A tenth of a core at 10 MS/s, and so many cores for a sample per second in datagrams.
    struct Linear(f64);

    impl CostMeter for Linear {
        fn cores(&mut self, wide_sps: f64, _: f64) -> f64 {
            wide_sps / 100e6
        }

        fn carried(&mut self, received_sps: f64, sent_sps: f64) -> f64 {
            self.0 * (received_sps + sent_sps)
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
        let admit = |plan: &SharePlan, block| admit(plan, block, 0.95, Linear(0.0));
        // No block is short enough for a transform: a filter each.
        let none = Duration::ZERO;
        assert!((admit(&plan(8, ""), none).unwrap() - 0.8).abs() < 1e-9);
        let error = admit(&plan(12, ""), none).unwrap_err();
        assert_eq!(error.to_string(), "the front end and 12 radios need 1.20 cores, but --budget allows 0.95");
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

    #[test]
    fn the_datagrams_of_the_front_end_and_of_the_radios_count_and_a_slow_radio_costs_less() {
        let meter = || Linear(1e-8); // a tenth of a core for 10 MS/s one way
        let begin = |plan: &SharePlan, speed| Admission::new(Duration::ZERO, 0.95, speed, meter()).begin(plan);
        let near = |cores: f64, wanted: f64| assert!((cores - wanted).abs() < 1e-9, "{cores}, not {wanted}");
        let receive = begin(&plan(4, ""), 1.0).expect("room");
        near(receive.front_end, 0.1);
        receive.radios.iter().for_each(|cores| near(*cores, 0.1 + 0.01));
        let both = begin(&plan(3, "transmit = true\n"), 1.0).expect("room");
        near(both.front_end, 0.2);
        both.radios.iter().for_each(|cores| near(*cores, 0.2 + 0.02));
        let error = begin(&plan(8, ""), 1.0).unwrap_err();
        assert!(matches!(error, ShareError::Cpu { fitting: 7, .. }), "{error:?}");
        near(begin(&plan(8, ""), 0.1).expect("a tenth of it").total(), 0.098);
    }

    #[test]
    fn a_front_end_that_is_too_fast_alone_is_refused_with_the_rate_that_fits() {
        let error = admit(&plan(1, ""), Duration::ZERO, 0.95, Linear(1e-7)).unwrap_err();
        assert_eq!(error.fix().unwrap(), "set rate = 5000000   (of the front end: all radios fit)");
        let never = admit(&plan(1, ""), Duration::ZERO, 0.95, Linear(1e-6)).unwrap_err();
        assert!(never.fix().unwrap().starts_with("run takt share on a faster host"), "{never:?}");
    }

    /// A tenth of a core at 1 MS/s, whatever the front end has.
    struct Narrow;

    impl CostMeter for Narrow {
        fn cores(&mut self, _: f64, narrow_sps: f64) -> f64 {
            narrow_sps / 10e6
        }

        fn carried(&mut self, _: f64, _: f64) -> f64 {
            0.0
        }
    }

    #[test]
    fn a_radio_for_which_there_is_no_room_is_refused_with_the_rate_at_which_there_is() {
        let more = |radios, allowed| {
            // Each has a filter of its own.
            Admission::new(Duration::ZERO, allowed, 1.0, Narrow).more(&plan(radios, ""), [None, None])
        };
        let cores = more(4, 0.451).expect("four tenths").total();
        assert!((cores - 0.4).abs() < 1e-9, "{cores}");
        let error = more(5, 0.451).unwrap_err();
        assert_eq!(
            error.to_string(),
            "with radio `r5`, front end and radios need 0.50 cores, but --budget allows 0.45"
        );
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
        let error = admit(&plan(1, "frequency = [2.5e9, 2.51e9]\n"), Duration::ZERO, 1.0, Linear(0.0)).unwrap_err();
        let want =
            "radio `r1` may use 2500.000000 to 2510.000000 MHz; the front end carries 2395.000000 to 2405.000000 MHz";
        assert_eq!(error.to_string(), want);
        assert!(error.fix().unwrap().starts_with("set frequency = 2505000000 "));
    }
}
