//! How fast the radios of an emulator live, all alike: one thread says so, and their drivers follow.
//!
//! A change is announced for an instant that is still to come, so that every driver knows of it before that: radios of one air must
//! agree on the time. A driver first reads its clock and then looks here, so what it computes for that instant is what holds
//! for all. Nobody waits, and nothing is locked.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use takt_base::Speed;

use super::radio_time::{RadioTime, WORDS};

/// One writer, any number of readers.
#[derive(Debug)]
pub struct Tempo {
    /// Odd while the rest changes.
    version: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl Tempo {
    /// The tempo of radios that have always run at this speed.
    #[must_use]
    pub fn steady(speed: Speed) -> Tempo {
        Tempo { version: AtomicU64::new(0), words: RadioTime::steady(speed).words().map(AtomicU64::new) }
    }

    /// How their time lies on this host's clock.
    #[must_use]
    pub fn time(&self) -> RadioTime {
        loop {
            if let Some((_, time)) = self.look() {
                return time;
            }
            std::hint::spin_loop();
        }
    }

    /// Their time lies so. By one thread alone, and agreeing with what it said before up to now.
    pub fn set(&self, time: RadioTime) {
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        fence(Release);
        for (word, value) in self.words.iter().zip(time.words()) {
            word.store(value, Relaxed);
        }
        self.version.store(version + 2, Release);
    }

    /// `None`: it is just changing.
    fn look(&self) -> Option<(u64, RadioTime)> {
        let version = self.version.load(Acquire);
        let words = self.words.each_ref().map(|word| word.load(Relaxed));
        fence(Acquire);
        let is_whole = version.is_multiple_of(2) && self.version.load(Relaxed) == version;
        is_whole.then(|| (version, RadioTime::from_words(words)))
    }
}

/// A driver's view of it.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    tempo: Arc<Tempo>,
    version: u64,
    time: RadioTime,
}

impl Follower {
    pub(super) fn of(tempo: Arc<Tempo>) -> Follower {
        let (version, time) = tempo.look().unwrap_or_else(|| (u64::MAX, tempo.time()));
        Follower { tempo, version, time }
    }

    /// How the radio's time lies; right for every instant that was read before this call.
    pub(super) fn time(&mut self) -> RadioTime {
        // A change that is being written is for later than now.
        if self.tempo.version.load(Acquire) != self.version
            && let Some((version, time)) = self.tempo.look()
        {
            (self.version, self.time) = (version, time);
        }
        self.time
    }
}

#[cfg(test)]
mod tests {
    use takt_base::{MonoNs, Tick, TickRate};

    use super::*;

    const NS: TickRate = TickRate::from_hz(1_000_000_000).unwrap();

    fn speed(text: &str) -> Speed {
        text.parse().unwrap()
    }

    #[test]
    fn a_change_reaches_every_driver_and_holds_from_its_instant() {
        let tempo = Arc::new(Tempo::steady(speed("0.1")));
        let mut followers = [Follower::of(Arc::clone(&tempo)), Follower::of(Arc::clone(&tempo))];
        assert!(followers.iter_mut().all(|follower| follower.time().speed() == speed("0.1")));
        tempo.set(tempo.time().changed(MonoNs(1000), speed("0.2")));
        for follower in &mut followers {
            let time = follower.time();
            assert_eq!([999, 1000, 1010].map(|ns| time.tick_of(NS, MonoNs(ns))), [99, 100, 102].map(Tick));
        }
    }

    #[test]
    fn readers_beside_a_writer_see_a_change_whole_or_not_at_all() {
        let tempo = Tempo::steady(Speed::WALL);
        let speeds = |n: u64| Speed::from_millionths(1_000_000 + (n % 1000) as u32).unwrap();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                (1..20_000_u64).for_each(|n| tempo.set(RadioTime::steady(speeds(n)).changed(MonoNs(n), speeds(n))));
            });
            while !writing.is_finished() {
                let time = tempo.time();
                let [from, .., now, _, _, _, before] = time.words();
                assert_eq!(now, before, "one speed in both halves");
                assert!(from == 0 || now == u64::from(speeds(from).millionths()));
            }
        });
    }
}
