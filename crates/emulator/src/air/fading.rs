//! How the paths of a link fade: each is received without, and then multiplied by its gain at the receiver's instants.

use takt_base::{Complex32, Tick};
use takt_dsp::{Fading, FadingModel, Interpolator, PathParams, Taps};

/// Samples of a path at a time.
const BLOCK: usize = 1024;

/// The fading of a link's paths.
pub(super) struct LinkFading {
    fading: Fading,
    /// Unit of time of the gains: ticks of the receiver's clock, and the seconds they take.
    ratio: [u64; 2],
    steady: Box<[Complex32]>,
}

/// A path to a receiver, and the receiver's clock: ticks, and the seconds they take.
pub(super) struct Passage {
    pub(super) params: PathParams,
    pub(super) ratio: [u64; 2],
}

impl LinkFading {
    pub(super) fn new(model: FadingModel, seed: u64) -> LinkFading {
        let steady = vec![Complex32::default(); BLOCK].into();
        LinkFading { fading: Fading::new(model, 0.0, seed), ratio: [0, 1], steady }
    }

    /// Adds what is received over a path. `read` is as an [`Interpolator`] wants it.
    pub(super) fn add(
        &mut self,
        path: usize,
        interpolator: &mut Interpolator,
        taps: &mut Taps,
        passage: Passage,
        out: &mut [Complex32],
        mut read: impl FnMut(u64, &mut [Complex32]),
    ) {
        self.set_clock(passage.ratio);
        let PathParams { mut places, output: (mut at, step), .. } = passage.params;
        for out in out.chunks_mut(BLOCK) {
            let params = PathParams { places, output: (at, step), ..passage.params };
            let steady = &mut self.steady[..out.len()];
            steady.fill(Complex32::default());
            interpolator.add(taps, params, steady, &mut read);
            self.fading.add(path, at, step, steady, out);
            places = places.skip(out.len() as u64);
            at = Tick(at.0.wrapping_add(out.len() as u64 * u64::from(step)));
        }
    }

    fn set_clock(&mut self, ratio: [u64; 2]) {
        if self.ratio != ratio {
            self.ratio = ratio;
            self.fading.set_clock(ratio[0] as f64 / ratio[1] as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;
    use std::net::Ipv4Addr;

    use takt_dsp::Rotation;

    use super::super::{Air, Delay, End, Link, ModelName, Radio, Scene};
    use super::*;
    use crate::sink::{BurstEdges, Null};
    use crate::source::Silence;

    const ENDS: [End; 2] = [End { radio: 0, channel: 0 }, End { radio: 1, channel: 0 }];

    /// Each path as the formula of the reference page has it, times its gain, in f64.
    #[test]
    fn a_tone_is_the_sum_of_its_paths_times_their_gains() {
        let (hz, carrier_hz, offset_hz, delay_ns) = (300e3, 2.4e9, -77.0, 333.25);
        for (text, off_ppm) in [("EPA 5", 0), ("ETU 300", 250)] {
            let model: FadingModel = text.parse().unwrap();
            let radio = |n: u8, model| Radio::new(&format!("r{n}"), model, Ipv4Addr::new(127, 0, 0, n));
            let mut radios = vec![radio(1, ModelName::N200), radio(2, ModelName::X310)];
            radios[1].clock_offset_hundredths_ppm = off_ppm;
            let link = Link {
                gain_db: -6.0,
                delay: Delay::Ns(delay_ns),
                frequency_offset_hz: offset_hz,
                fading: Some(model),
                ..Link::new(ENDS[0], ENDS[1])
            };
            let mut air = Air::new(&Scene { seed: 5, radios, links: vec![link], ..Scene::default() });
            let seed = air.fading_seed(&air.scene.links[0]);
            let mut signals = ENDS.map(|end| air.join(end, [Box::new(Silence), Box::new(Silence)], Box::new(Null)).0);
            signals[0].sink.tuned(Tick(0), carrier_hz);
            signals[1].sources[0].tuned(Tick(0), carrier_hz);
            let mut sent = vec![Complex32::default(); 4000];
            takt_dsp::tone(Rotation::from_turns(hz / 100e6), 0.3, Tick(1_000_000), 50, &mut sent);
            signals[0].sink.take(Tick(1_000_000), 50, &sent, BurstEdges { start: true, end: true });
            let mut received = vec![Complex32::default(); 3000];
            signals[1].sources[0].fill(Tick(2_020_000), 100, &mut received);

            let clock_hz = 200e6 * (1.0 + f64::from(off_ppm) * 1e-8);
            let tuned_hz = carrier_hz * (1.0 + f64::from(off_ppm) * 1e-8);
            let fading = Fading::new(model, clock_hz, seed);
            for (n, x) in received.iter().enumerate() {
                let tick = 2_020_000 + 100 * n as u64;
                let at_s = tick as f64 / clock_hz;
                let mut meant = [0.0; 2];
                for (path, tap) in model.profile.taps().iter().enumerate() {
                    let delay_s = (delay_ns + tap.delay_ns) * 1e-9;
                    let turns =
                        hz * (at_s - delay_s) - carrier_hz * delay_s + (carrier_hz - tuned_hz + offset_hz) * at_s;
                    let (sin, cos) = ((turns - turns.floor()) * TAU).sin_cos();
                    let gain = fading.gain(path, Tick(tick));
                    let (re, im) = (f64::from(gain.re), f64::from(gain.im));
                    let amplitude = 0.3 * 10f64.powf(-6.0 / 20.0);
                    meant =
                        [meant[0] + amplitude * (re * cos - im * sin), meant[1] + amplitude * (re * sin + im * cos)];
                }
                let off = (f64::from(x.re) - meant[0]).hypot(f64::from(x.im) - meant[1]);
                assert!(off < 2e-4, "{text} sample {n}: {off:e}");
            }
        }
    }
}
