//! How fast the radios of an emulator live, all alike: at a speed that was given, or at one that is found.
//!
//! The search finds the highest speed at which no letter is seen here. Letters are `U`, `L` and `S` of transmitters, `O` and `L`
//! of receivers, and datagrams of the emulator's own that never left. It begins slow. A quiet period in which samples flow makes
//! the radios faster by a quarter, a letter makes them slower by a fifth. After each fall it takes twice as many quiet periods to
//! rise again, so that the speed comes to rest just below what host and machine hold.

use std::iter::Sum;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use takt_base::{Clock, Speed, WallClock};

use super::{EmulateError, Notice, SpeedChoice};
use crate::drive::wall::{RadioTime, Tempo};
use crate::shared::{RxReport, TxReport};

/// Radios' counts that say whether their hosts keep up. Monotonic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strain {
    /// Packets of samples, both ways.
    pub packets: u64,
    /// Failures that came because somebody was too slow.
    pub letters: u64,
}

impl Strain {
    pub(super) fn of(rx: &[RxReport], tx: &[TxReport]) -> Strain {
        let received =
            rx.iter().map(|rx| Strain { packets: rx.packets, letters: rx.overflows + rx.late + rx.broken_chains });
        let sent = tx.iter().map(|tx| Strain {
            packets: tx.packets,
            // A burst that began at once runs dry before its host is ahead, at any speed.
            letters: tx.underflows.saturating_sub(tx.underflows_at_start) + tx.late + tx.sequence_errors,
        });
        received.chain(sent).sum()
    }

    fn since(self, before: Strain) -> Strain {
        Strain {
            packets: self.packets.saturating_sub(before.packets),
            letters: self.letters.saturating_sub(before.letters),
        }
    }
}

impl Sum for Strain {
    fn sum<I: Iterator<Item = Strain>>(all: I) -> Strain {
        all.fold(Strain::default(), |sum, one| Strain {
            packets: sum.packets + one.packets,
            letters: sum.letters + one.letters,
        })
    }
}

/// A period is at least so long, by the wall's clock and by the radios'.
const PERIOD: Duration = Duration::from_secs(1);
const RADIO_PERIOD: Duration = Duration::from_millis(100);
/// A change is announced so long before: each driver looks five times meanwhile.
const AHEAD: Duration = Duration::from_millis(100);

/// The speed of an emulator's radios, and what it follows.
pub(super) struct Pacing {
    tempo: Arc<Tempo>,
    utc_at_tick_0_s: u64,
    search: Option<Search>,
    /// When the period began, and what had been counted by then.
    began: Instant,
    before: Strain,
}

impl Pacing {
    pub(super) fn of(choice: SpeedChoice) -> Pacing {
        let (speed, search) = match choice {
            SpeedChoice::Fixed(speed) => (speed, None),
            SpeedChoice::Auto => (Search::FIRST, Some(Search::new())),
        };
        let tempo = Tempo::steady(speed);
        Pacing {
            utc_at_tick_0_s: utc_at_tick_0_s(tempo.time()),
            tempo: Arc::new(tempo),
            search,
            began: Instant::now(),
            before: Strain::default(),
        }
    }

    /// The same for some of its radios, which another one paces.
    pub(super) fn shared(&self) -> Pacing {
        Pacing { tempo: Arc::clone(&self.tempo), search: None, ..*self }
    }

    pub(super) fn tempo(&self) -> &Arc<Tempo> {
        &self.tempo
    }

    pub(super) fn speed(&self) -> Speed {
        self.tempo.time().speed()
    }

    /// UTC, in whole seconds since 1970, at tick 0 of its radios.
    pub(super) fn utc_at_tick_0_s(&self) -> u64 {
        self.utc_at_tick_0_s
    }

    /// Adapts the speed, if it is time for that.
    ///
    /// # Errors
    /// Those of `strain`.
    pub(super) fn follow(
        &mut self,
        strain: impl FnOnce() -> Result<Strain, EmulateError>,
        notify: &mut dyn FnMut(Notice),
    ) -> Result<(), EmulateError> {
        if self.is_due() {
            self.adapt(strain()?).into_iter().for_each(|speed| notify(Notice::Speed(speed)));
        }
        Ok(())
    }

    /// Whether it is time for [`Pacing::adapt`].
    fn is_due(&self) -> bool {
        let period = |search: &Search| PERIOD.max(search.speed.host_time(RADIO_PERIOD));
        self.search.as_ref().is_some_and(|search| self.began.elapsed() >= period(search))
    }

    /// A period is over. The new speed, if it changes.
    fn adapt(&mut self, counted: Strain) -> Option<Speed> {
        let search = self.search.as_mut()?;
        let since = counted.since(self.before);
        (self.before, self.began) = (counted, Instant::now());
        let (speed, time) = (search.after(since), self.tempo.time());
        if speed == time.speed() {
            return None;
        }
        self.tempo.set(time.changed(WallClock.now() + AHEAD, speed));
        Some(speed)
    }
}

/// Looks for the highest speed without letters.
#[derive(Debug)]
struct Search {
    speed: Speed,
    /// Quiet periods since the last change, and how many it takes to go faster.
    calm: u32,
    needed: u32,
    /// The last period had letters.
    falls: bool,
}

impl Search {
    const FIRST: Speed = Speed::from_millionths(100_000).expect("within range");

    fn new() -> Search {
        Search { speed: Search::FIRST, calm: 0, needed: 1, falls: false }
    }

    /// The speed to which a period with these counts leads.
    fn after(&mut self, since: Strain) -> Speed {
        let fell = std::mem::replace(&mut self.falls, since.letters > 0);
        if since.letters > 0 {
            self.needed = if fell { self.needed } else { self.needed.saturating_mul(2) };
            (self.speed, self.calm) = (times(self.speed, 4, 5), 0);
        } else if since.packets > 0 {
            self.calm += 1;
            if self.calm >= self.needed {
                (self.speed, self.calm) = (times(self.speed, 5, 4), 0);
            }
        }
        self.speed
    }
}

/// Never faster than the wall's clock.
fn times(speed: Speed, factor: u64, over: u64) -> Speed {
    let millionths = u64::from(speed.millionths()) * factor / over;
    let within = millionths.clamp(Speed::SLOWEST.millionths().into(), Speed::WALL.millionths().into());
    u32::try_from(within).ok().and_then(Speed::from_millionths).unwrap_or(speed)
}

/// UTC, in whole seconds since 1970, at tick 0 of radios whose time lies so, if it is right now. PPS edges follow the second of
/// the radios' own time; that of UTC starts up to half a second away from it. At another speed than the wall's, a radio's UTC
/// goes on with the radio.
fn utc_at_tick_0_s(time: RadioTime) -> u64 {
    let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc.saturating_sub(time.since_zero(WallClock.now())).as_secs_f64().round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Strain = Strain { packets: 1000, letters: 0 };
    const LOUD: Strain = Strain { packets: 1000, letters: 3 };

    #[test]
    fn a_quiet_host_comes_to_the_walls_speed_and_stays() {
        let mut search = Search::new();
        let speeds: Vec<f64> = (0..20).map(|_| search.after(CALM).seconds()).collect();
        assert_eq!((speeds[0], speeds[1]), (0.125, 0.15625));
        assert!(speeds.is_sorted() && speeds[9] < 1.0 && speeds[10..].iter().all(|speed| *speed == 1.0), "{speeds:?}");
    }

    #[test]
    fn nothing_that_flows_is_no_evidence() {
        let mut search = Search::new();
        assert!((0..100).all(|_| search.after(Strain::default()) == Search::FIRST));
    }

    /// A host that holds 0.3: more and more of the time is spent just below.
    #[test]
    fn it_comes_to_rest_below_what_the_host_holds() {
        let mut search = Search::new();
        let speeds: Vec<f64> = (0..2000)
            .map(|_| {
                let strain = if search.speed.seconds() > 0.3 { LOUD } else { CALM };
                search.after(strain).seconds()
            })
            .collect();
        let too_fast = |part: &[f64]| part.iter().filter(|speed| **speed > 0.3).count();
        assert!(too_fast(&speeds[..100]) <= 8, "{:?}", &speeds[..100]);
        assert!(too_fast(&speeds[1000..]) <= 2, "and hardly ever again");
        assert!(speeds[1000..].iter().all(|speed| *speed > 0.2));
    }

    #[test]
    fn a_loud_stretch_goes_down_step_by_step_and_counts_once() {
        let mut search = Search::new();
        assert_eq!((0..3).map(|_| search.after(LOUD).seconds()).collect::<Vec<f64>>(), [0.08, 0.064, 0.0512]);
        assert_eq!(search.needed, 2);
        for _ in 0..100 {
            search.after(LOUD);
        }
        assert_eq!(search.speed, Speed::SLOWEST);
    }

    #[test]
    fn letters_are_counted_but_for_the_start_of_a_burst() {
        let rx = RxReport { packets: 7, overflows: 1, late: 2, ..RxReport::default() };
        let tx = TxReport {
            packets: 5,
            underflows: 4,
            underflows_at_start: 3,
            late: 1,
            sequence_errors: 1,
            ..TxReport::default()
        };
        let strain = Strain::of(&[rx, rx], &[tx]);
        assert_eq!(strain, Strain { packets: 19, letters: 9 });
        assert_eq!(strain.since(Strain { packets: 20, letters: 8 }), Strain { packets: 0, letters: 1 });
    }

    #[test]
    fn a_change_of_the_speed_reaches_all_radios_of_the_emulator() {
        let mut pacing = Pacing::of(SpeedChoice::Auto);
        let others = pacing.shared();
        assert!(!others.is_due(), "one of them looks");
        assert_eq!(pacing.adapt(CALM), Speed::nearest(0.125));
        assert_eq!((others.speed(), others.shared().utc_at_tick_0_s()), (pacing.speed(), pacing.utc_at_tick_0_s()));
        let mut fixed = Pacing::of("0.5".parse().unwrap());
        assert_eq!((fixed.adapt(LOUD), fixed.speed()), (None, Speed::nearest(0.5).unwrap()));
    }
}
