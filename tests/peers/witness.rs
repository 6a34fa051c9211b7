//! Whether the machine itself kept time while others were judged.
//!
//! On a shared machine the host underneath takes a core away for milliseconds; UHD then reports an underrun that is
//! nobody's fault here. One thread a core, above every real-time thread of the judged programs, beats every millisecond
//! and notes its longest absence. A program without real-time priority also waits for whatever else runs here, which the
//! kernel counts.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use takt_host::{affinity, policy};

const BEAT: Duration = Duration::from_millis(1);

/// Above the judged programs and the emulator.
const PRIORITY: u8 = 90;

/// An absence that a radio's buffer of a megabyte does not bridge at 25 MS/s, its round trip included.
pub const LOST: Duration = Duration::from_millis(4);

/// How long a program has waited for a processor, looked at every few milliseconds.
pub struct Waits {
    process: u32,
    before: Duration,
}

impl Waits {
    pub fn of(process: u32) -> Waits {
        Waits { process, before: Duration::ZERO }
    }

    /// Time that its threads, and those of the programs it started, waited since the last look. A thread that ended
    /// takes its account with it.
    pub fn since_last_look(&mut self) -> Duration {
        let now: Duration = family(self.process).into_iter().filter_map(takt_testing::run_delay).sum();
        now.saturating_sub(std::mem::replace(&mut self.before, now))
    }
}

/// A process and all that descend from it.
fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let mut next = 0;
    while let Some(parent) = all.get(next).copied() {
        let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
        next += 1;
    }
    all
}

/// Watches every core this process may use.
pub struct Witness {
    over: Arc<AtomicBool>,
    watchers: Vec<JoinHandle<Duration>>,
}

impl Witness {
    /// Starts watching. Without the right to real-time priority there is nothing to watch with: the test's own load
    /// would look like the machine's.
    pub fn start() -> Witness {
        let over = Arc::new(AtomicBool::new(false));
        let watch = |core: usize| {
            let over = Arc::clone(&over);
            thread::spawn(move || longest_absence(core, &over))
        };
        let watchers = affinity::own_cpus().into_iter().map(watch).collect();
        Witness { over, watchers }
    }

    /// The longest time that any core was gone.
    pub fn stop(self) -> Duration {
        self.over.store(true, Ordering::Relaxed);
        self.watchers.into_iter().map(|w| w.join().expect("a watcher only sleeps")).max().unwrap_or_default()
    }
}

fn longest_absence(core: usize, over: &AtomicBool) -> Duration {
    let real_time = policy::Policy::Fifo { priority: PRIORITY };
    if affinity::pin_self(&[core]).is_err() || policy::set_policy(0, real_time).is_err() {
        return Duration::ZERO;
    }
    let mut longest = Duration::ZERO;
    while !over.load(Ordering::Relaxed) {
        let before = Instant::now();
        thread::sleep(BEAT);
        longest = longest.max(before.elapsed().saturating_sub(BEAT));
    }
    longest
}
