//! One path from a transmitter to a receiver: which of its samples is received when, and how.
//!
//! All in whole numbers: a receiver's sample at tick j of its clock, which makes `K` ticks in `S` seconds, is at `j S / K`
//! seconds; the transmitter's sample m of a run is at `(first + m step) S' / K'`. So output n lies at input
//! `(j S K' - first K S') / (K S' step)` less the delay, which is a whole number and a fraction, exactly, after days as well.

use takt_base::{Complex32, Tick};
use takt_dsp::{Places, ProfileTap};

use super::scene::{Delay, LONGEST_DELAY_NS, Tap};
use crate::timebase::gcd;

/// A path, as it is computed with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    delay: Delay,
    /// Additional delay of a further path, after the direct one.
    more_ns: f64,
    /// Amplitude, and phase in turns.
    amplitude: f64,
    turns: f64,
    /// The delay in samples of a transmitter that has this step and this clock: whole ones, and the rest.
    of: (u32, [u64; 2]),
    whole: u64,
    rest: f64,
}

/// Samples that follow each other, and how their clock lies in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Samples {
    /// Since the driver's clock stood at 0.
    pub(super) first: Tick,
    pub(super) step: u32,
    /// Ticks, and the seconds they take.
    pub(super) ratio: [u64; 2],
}

impl Samples {
    fn hz(&self) -> f64 {
        self.ratio[0] as f64 / self.ratio[1] as f64 / f64::from(self.step)
    }
}

/// Two clocks: `up` ticks of the transmitter's take as long as `down` of the receiver's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace {
    of: [[u64; 2]; 2],
    up: i128,
    down: i128,
}

impl Pace {
    /// `self`, if it is of these clocks. Found out anew it takes a microsecond; so it is kept.
    pub(super) fn of(self, sent: [u64; 2], received: [u64; 2]) -> Pace {
        if self.of == [sent, received] {
            return self;
        }
        let [sent_ticks, sent_seconds] = sent.map(u128::from);
        let [received_ticks, received_seconds] = received.map(u128::from);
        let (up, down) = (received_seconds * sent_ticks, received_ticks * sent_seconds);
        let common = gcd(up, down);
        // Below 2^64 for clocks as a timebase has them.
        Pace { of: [sent, received], up: (up / common) as i128, down: (down / common) as i128 }
    }
}

impl Path {
    pub(super) fn direct(gain_db: f64, delay: Delay) -> Path {
        let amplitude = 10f64.powf(gain_db / 20.0);
        Path { delay, more_ns: 0.0, amplitude, turns: 0.0, of: (0, [0; 2]), whole: 0, rest: 0.0 }
    }

    pub(super) fn beside(direct: Path, tap: &Tap) -> Path {
        let amplitude = direct.amplitude * 10f64.powf(tap.gain_db / 20.0);
        Path { more_ns: tap.delay_ns, amplitude, turns: tap.phase_deg / 360.0, ..direct }
    }

    /// A tap of a fading channel, which begins where the direct path would. Fading gives it its power.
    pub(super) fn fading(direct: Path, tap: &ProfileTap) -> Path {
        Path { more_ns: tap.delay_ns, ..direct }
    }

    /// The next call is about a transmitter with the step and the clock of these samples.
    pub(super) fn set_sender(&mut self, sent: &Samples) {
        if self.of == (sent.step, sent.ratio) {
            return;
        }
        self.of = (sent.step, sent.ratio);
        (self.whole, self.rest) = match self.delay {
            Delay::Ns(ns) => in_samples(ns + self.more_ns, sent),
            Delay::Samples(samples) => {
                let (whole, rest) = in_samples(self.more_ns, sent);
                (whole + samples as u64, rest + samples.fract())
            }
        };
        if self.rest >= 1.0 {
            (self.whole, self.rest) = (self.whole + 1, self.rest - 1.0);
        }
    }

    /// The delay in samples of the transmitter.
    pub(super) fn delay_samples(&self) -> f64 {
        self.whole as f64 + self.rest
    }

    /// The delay in nanoseconds; the longest there is where it counts samples of a transmitter that is not known yet.
    pub(super) fn delay_ns(&self) -> f64 {
        let (step, [ticks, seconds]) = self.of;
        match self.delay {
            Delay::Ns(ns) => ns + self.more_ns,
            Delay::Samples(_) if ticks == 0 => LONGEST_DELAY_NS,
            Delay::Samples(_) => self.delay_samples() * f64::from(step) * seconds as f64 / ticks as f64 * 1e9,
        }
    }

    /// Places of the receiver's samples among the transmitter's; `None`: further away than numbers reach.
    pub(super) fn places(&self, pace: &Pace, sent: &Samples, received: &Samples) -> Option<Places> {
        let Pace { up, down, .. } = *pace;
        let den = down.checked_mul(sent.step.into())?;
        let at =
            i128::from(received.first.0).checked_mul(up)?.checked_sub(i128::from(sent.first.0).checked_mul(down)?)?;
        let step = up.checked_mul(received.step.into())?;
        Some(Places {
            whole: i64::try_from(at.div_euclid(den)).ok()?.checked_sub_unsigned(self.whole)?,
            part: at.rem_euclid(den) as u64,
            den: u64::try_from(den).ok().filter(|&den| den > 0)?,
            step_whole: u64::try_from(step / den).ok()?,
            step_part: (step % den) as u64,
            lag: self.rest,
        })
    }

    /// Factor for samples that left at a radio frequency: a carrier turns back by its delay.
    pub(super) fn gain(&self, sent: &Samples, sent_hz: f64) -> Complex32 {
        let delay_s = self.delay_samples() / sent.hz();
        let turns = self.turns - sent_hz * delay_s;
        let phase = (turns - turns.floor()) * std::f64::consts::TAU;
        Complex32::new((self.amplitude * phase.cos()) as f32, (self.amplitude * phase.sin()) as f32)
    }
}

/// Nanoseconds in samples. A femtosecond is the unit, so that what is a fraction of a sample stays one.
fn in_samples(ns: f64, sent: &Samples) -> (u64, f64) {
    const FEMTOSECONDS: u128 = 1_000_000_000_000_000;
    let [ticks, seconds] = sent.ratio.map(u128::from);
    let delay = (ns * 1e6).round().max(0.0) as u128;
    let (num, den) = (delay * ticks, FEMTOSECONDS * seconds * u128::from(sent.step.max(1)));
    let common = gcd(num % den, den);
    ((num / den) as u64, ((num % den) / common) as f64 / (den / common) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const N200: [u64; 2] = [100_000_000, 1];
    const LTE: [u64; 2] = [184_320_000, 1];

    fn samples(first: u64, step: u32, ratio: [u64; 2]) -> Samples {
        Samples { first: Tick(first), step, ratio }
    }

    fn places(mut path: Path, sent: &Samples, received: &Samples) -> Option<Places> {
        path.set_sender(sent);
        path.places(&Pace::default().of(sent.ratio, received.ratio), sent, received)
    }

    fn delay(mut path: Path, sent: &Samples) -> (u64, f64) {
        path.set_sender(sent);
        (path.whole, path.rest)
    }

    #[test]
    fn at_one_rate_a_delay_of_whole_samples_is_a_shift() {
        let path = Path::direct(0.0, Delay::Ns(120.0));
        let places = places(path, &samples(1000, 4, N200), &samples(1400, 4, N200)).unwrap();
        assert_eq!((places.whole, places.part, places.lag, places.one_by_one()), (97, 0, 0.0, true));
    }

    #[test]
    fn fractions_are_exact() {
        let sent = samples(525_000_000, 4, N200);
        assert_eq!(delay(Path::direct(0.0, Delay::Ns(10.0)), &sent), (0, 0.25));
        assert_eq!(delay(Path::direct(0.0, Delay::Ns(12.5)), &sent), (0, 0.3125));
        assert_eq!(delay(Path::direct(0.0, Delay::Samples(3.5)), &sent), (3, 0.5));
        let direct = Path::direct(0.0, Delay::Samples(3.75));
        let tap = Path::beside(direct, &Tap { delay_ns: 20.0, gain_db: 0.0, phase_deg: 0.0 });
        assert_eq!(delay(tap, &sent), (4, 0.25));
    }

    #[test]
    fn a_delay_is_known_in_nanoseconds_once_the_rate_is() {
        let mut path = Path::direct(0.0, Delay::Samples(2.5));
        assert_eq!(path.delay_ns(), LONGEST_DELAY_NS);
        path.set_sender(&samples(0, 4, N200));
        assert_eq!(path.delay_ns(), 100.0);
        path.set_sender(&samples(0, 8, N200));
        assert_eq!(path.delay_ns(), 200.0);
        assert_eq!(Path::direct(0.0, Delay::Ns(3.5)).delay_ns(), 3.5);
    }

    #[test]
    fn after_a_year_a_place_is_as_exact_as_at_first() {
        let path = Path::direct(0.0, Delay::Ns(0.0));
        let year = 365 * 86_400u64;
        for seconds in [1, 5, year] {
            // 15.36 MS/s from 184.32 MHz, received at 20 MS/s from 100 MHz, a whole second after its start.
            let sent = samples(seconds * 184_320_000, 12, LTE);
            let places = places(path, &sent, &samples((seconds + 1) * 100_000_000 + 5, 5, N200)).unwrap();
            assert_eq!(places.whole, 15_360_000);
            // 50 ns are 0.768 samples.
            assert_eq!(u128::from(places.part) * 1000, 768 * u128::from(places.den));
            assert!((places.ratio() - 0.768).abs() < 1e-15);
        }
    }

    #[test]
    fn a_carrier_turns_back_by_its_delay() {
        let sent = samples(0, 4, N200);
        let gain = |gain_db: f64, ns: f64, hz: f64| {
            let mut path = Path::direct(gain_db, Delay::Ns(ns));
            path.set_sender(&sent);
            path.gain(&sent, hz)
        };
        // A quarter turn; 24,000 turns.
        assert!((gain(-20.0, 10.0, 25e6) - Complex32::new(0.0, -0.1)).norm() < 1e-7);
        assert!((gain(0.0, 10_000.0, 2.4e9) - Complex32::new(1.0, 0.0)).norm() < 1e-6);
    }

    #[test]
    fn what_numbers_do_not_reach_is_none_and_no_panic() {
        let path = Path::direct(0.0, Delay::Ns(1.0));
        let odd = samples(u64::MAX, u32::MAX, [(1 << 42) - 1, (1 << 20) - 1]);
        let other = samples(0, u32::MAX, [(1 << 42) - 3, (1 << 20) - 3]);
        assert_eq!(places(path, &odd, &other), None);
        assert_eq!(places(path, &samples(u64::MAX, 1, N200), &samples(0, 1, N200)), None);
    }
}
