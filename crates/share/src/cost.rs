//! Whether a plan fits: the band of the front end, and the CPU of this host.

use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::{Grid, Resampler};
use takt_emulator::n200::CLOCK;
use takt_host::thread_clock::ThreadClock;

use crate::channels::{band_plan, step_of};
use crate::error::ShareError;
use crate::file::SharePlan;
use crate::{AnalogPolicy, Band};

/// So much of the front end's time is computed to measure a cost.
const MEASURED: Duration = Duration::from_millis(4);
/// The rates of front ends that are tried where a plan does not fit, samples per second.
const RATES_SPS: [f64; 7] = [25e6, 20e6, 12.5e6, 10e6, 5e6, 2.5e6, 1e6];

/// Cores that it takes to turn wide samples into a narrow band, or back, by a filter of its own.
pub trait CostMeter {
    /// For these two rates, samples per second.
    fn cores(&mut self, wide_sps: f64, narrow_sps: f64) -> f64;
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

/// Whether the band of the front end and `allowed` cores carry the radios of a plan, in blocks of this length. Returns the cores
/// that they need.
///
/// # Errors
/// `OutOfBand` for a radio that can never receive anything; `Cpu` with what would fit.
pub fn admit(plan: &SharePlan, block: Duration, allowed: f64, meter: &mut dyn CostMeter) -> Result<f64, ShareError> {
    let front_end = &plan.front_end;
    let wide = Band { centre_hz: front_end.frequency_hz, width_hz: front_end.rate_sps };
    for radio in plan.radios.iter().filter(|_| front_end.policy == AnalogPolicy::Fixed) {
        let Some([low, high]) = radio.limits.frequency_hz else { continue };
        if !(Band { centre_hz: f64::midpoint(low, high), width_hz: high - low }).overlaps(wide) {
            return Err(ShareError::OutOfBand {
                name: radio.name.clone(),
                wants_hz: [low, high],
                has_hz: [wide.low_hz(), wide.high_hz()],
                nearest_hz: f64::midpoint(low, high),
            });
        }
    }
    let costs = costs(plan, front_end.rate_sps, block, meter);
    let needed: f64 = costs.iter().sum();
    if needed <= allowed {
        return Ok(needed);
    }
    let mut sum = 0.0;
    let fitting = costs
        .iter()
        .take_while(|cost| {
            sum += **cost;
            sum <= allowed
        })
        .count();
    let narrower = RATES_SPS.into_iter().filter(|rate_sps| *rate_sps < front_end.rate_sps);
    let mut fits = |rate_sps: &f64| self::costs(plan, *rate_sps, block, meter).iter().sum::<f64>() <= allowed;
    let fitting_rate_sps = narrower.into_iter().find(|rate_sps| fits(rate_sps));
    Err(ShareError::Cpu { radios: plan.radios.len(), needed, allowed, fitting, fitting_rate_sps })
}

/// Cores for each radio at its highest rate: what is received by the shared transform, and what is sent by a filter.
fn costs(plan: &SharePlan, wide_sps: f64, block: Duration, meter: &mut dyn CostMeter) -> Vec<f64> {
    let mut known: Vec<(f64, f64)> = Vec::new();
    let mut of = |narrow_sps: f64| {
        if let Some((_, cores)) = known.iter().find(|(rate_sps, _)| *rate_sps == narrow_sps) {
            return *cores;
        }
        let cores = meter.cores(wide_sps, narrow_sps);
        known.push((narrow_sps, cores));
        cores
    };
    let received = received_share(plan, wide_sps, block);
    let ways = |transmit: bool| received + if transmit { 1.0 } else { 0.0 };
    plan.radios.iter().map(|radio| ways(radio.transmit) * of(radio.limits.rate_sps.min(wide_sps))).collect()
}

/// Cost of receiving the cheapest way, over that of a filter for each radio.
fn received_share(plan: &SharePlan, wide_sps: f64, block: Duration) -> f64 {
    let mut plan = plan.clone();
    plan.front_end.rate_sps = wide_sps;
    let wide = step_of(wide_sps);
    let steps: Vec<u32> = plan.radios.iter().map(|radio| step_of(radio.limits.rate_sps).max(wide)).collect();
    let cost_ns = |block: Ticks| band_plan(&plan, Tick(0), block).map(|plan| plan.cost_ns(&steps));
    let both = cost_ns(CLOCK.ticks_in(block)).zip(cost_ns(Ticks(0)));
    both.filter(|(_, filters)| *filters > 0.0).map_or(1.0, |(best, filters)| (best / filters).min(1.0))
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
        let admit = |plan: &SharePlan, block| admit(plan, block, 0.95, &mut Linear);
        // No block is short enough for a transform: a filter each.
        let none = Duration::ZERO;
        assert!((admit(&plan(8, ""), none).unwrap() - 0.8).abs() < 1e-9);
        let error = admit(&plan(12, ""), none).unwrap_err();
        assert_eq!(error.to_string(), "12 radios need 120 % of a core of this host, and 95 % are allowed");
        assert_eq!(
            error.fix().unwrap(),
            "keep the first 9 of the radios\nrate = 5000000   (of the front end: all radios fit)"
        );
        let error = admit(&plan(6, "transmit = true\n"), none).unwrap_err();
        assert!(matches!(error, ShareError::Cpu { fitting: 4, .. }), "{error:?}");
        // One transform for all costs less, and the less the more there are.
        let shared = |radios| admit(&plan(radios, ""), Duration::from_millis(1)).unwrap() / radios as f64;
        let [few, many] = [4, 16].map(shared);
        assert!(few < 0.1 && many < few, "{few} {many}");
    }

    #[test]
    fn a_radio_that_could_never_receive_is_refused() {
        let error = admit(&plan(1, "frequency = [2.5e9, 2.51e9]\n"), Duration::ZERO, 1.0, &mut Linear).unwrap_err();
        let want =
            "radio `r1` may use 2500.000000 to 2510.000000 MHz; the front end carries 2395.000000 to 2405.000000 MHz";
        assert_eq!(error.to_string(), want);
        assert!(error.fix().unwrap().starts_with("frequency = 2505000000 "));
    }
}
