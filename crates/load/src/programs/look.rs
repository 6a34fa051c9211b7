//! A look at a program's band while the others stream: how strong it is, and how long samples were on the way.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::{Clock, Complex32, Ticks};
use takt_radio::board::Side;
use takt_radio::n200::OpenOptions;
use takt_radio::x310::MasterClock;
use takt_radio::{AnyOptions, FrontEnd, Radio, RadioError, RxOptions, RxStream, WallNet};
use takt_stats::{Histogram, Ns, Quantiles};

use super::ProgramError;
use crate::rate::RateOptions;

/// takt skips the samples before it: the filters of a channel that has just been opened still fill.
const SETTLING: Duration = Duration::from_millis(20);
/// A call that brings nothing for so long is given up.
const PATIENCE: Duration = Duration::from_millis(100);
/// Power of a band in which every sample is zero: half of a step of 16 bits, against full scale.
pub const FLOOR_DBFS: f64 = -96.0;

/// A program's look at its band.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Samples looked at.
    pub samples: u64,
    /// Mean power, dB against a full-scale tone, at least `FLOOR_DBFS`; `None`: nothing came.
    pub power_dbfs: Option<f64>,
    /// The least time from a sample's time stamp to the call's return, by clocks that nobody has related: nanoseconds of this host's
    /// monotonic clock less those that the radio's clock takes, at its speed, to reach the stamp.
    pub least_ns: Option<i64>,
    /// How much later than that others were.
    pub later: Quantiles,
}

/// Receives for `span` of the radio's time, each datagram as it comes.
pub(super) fn look(options: &RateOptions, rate_sps: f64, span: Duration) -> Result<Look, ProgramError> {
    let IpAddr::V4(addr) = options.addr else { return Ok(Look::default()) };
    receive(options, addr, rate_sps, span).map_err(|source| ProgramError::Look { addr, source })
}

fn receive(options: &RateOptions, addr: Ipv4Addr, rate_sps: f64, span: Duration) -> Result<Look, RadioError> {
    let net = Arc::new(WallNet::new(options.engine));
    let n200 = OpenOptions { calibration: options.calibration, ..OpenOptions::default() };
    let open = AnyOptions { n200, frame_bytes: None, clock: MasterClock::Mhz200 };
    let mut radio = Radio::open(net.clone(), addr.into(), &open)?;
    let front_end = FrontEnd { frequency_hz: options.frequency_hz, ..FrontEnd::default() };
    front_end.set(&mut radio, Side::Rx, 0)?;
    let wish = RxOptions { coalesce: Duration::ZERO, ..RxOptions::new(rate_sps) };
    let mut stream = radio.rx_streamer(&wish)?;
    let mut samples = vec![Complex32::default(); stream.samples_per_datagram()];
    let (step, clock) = (stream.ticks_per_sample().0, stream.tick_rate());
    stream.start(None)?;
    let speed = radio.speed().unwrap_or_default();
    let begin = net.now() + speed.host_time(SETTLING);
    let end = begin + speed.host_time(span);
    let (mut power, mut count, mut ways) = (0.0, 0_u64, Vec::new());
    loop {
        let received = stream.recv(&mut [&mut samples], net.now() + speed.patience(PATIENCE))?;
        let now = net.now();
        if now >= end {
            break;
        }
        if now < begin || received.samples == 0 {
            continue;
        }
        let seen = samples.get(..received.samples).unwrap_or_default();
        power += seen.iter().map(|sample| f64::from(sample.norm_sqr())).sum::<f64>();
        count += seen.len() as u64;
        let last = received.first.0.wrapping_add((received.samples as u64 - 1) * step);
        let stamp_ns = speed.ns_of(clock, Ticks(last));
        ways.push(now.0 as i64 - stamp_ns as i64);
    }
    stream.stop()?;
    Ok(seen(power, count, &ways))
}

fn seen(power: f64, samples: u64, ways_ns: &[i64]) -> Look {
    let least_ns = ways_ns.iter().min().copied();
    let mut later = Histogram::<Ns>::default();
    for way in ways_ns {
        later.record_saturating(way.saturating_sub(least_ns.unwrap_or_default()).unsigned_abs());
    }
    let mean = power / samples.max(1) as f64;
    let power_dbfs = (samples > 0).then(|| (10.0 * mean.log10()).max(FLOOR_DBFS));
    Look { samples, power_dbfs, least_ns, later: Quantiles::of(&later) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_against_a_full_scale_tone_and_a_silent_band_has_the_floor() {
        let full = seen(1000.0, 1000, &[]);
        assert_eq!((full.power_dbfs, full.least_ns), (Some(0.0), None));
        assert_eq!(seen(0.0, 1000, &[]).power_dbfs, Some(FLOOR_DBFS));
        assert_eq!(seen(0.0, 0, &[]).power_dbfs, None, "nothing came");
    }

    #[test]
    fn ways_are_counted_from_the_shortest_whatever_the_clocks_show() {
        let look = seen(1.0, 3, &[-5_000_000, -4_000_000, -4_900_000]);
        assert_eq!(look.least_ns, Some(-5_000_000));
        let most_us = look.later.max_us.expect("three ways");
        assert!((most_us - 1000.0).abs() < 20.0, "{most_us}");
    }
}
