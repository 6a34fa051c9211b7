//! Times of all peers: all of a case in turns, CPU time of this thread, ratios of neighbours.

use std::io::Write;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The same work, by whoever does it; the first is takt.
pub struct Case {
    name: String,
    entrants: Vec<Entrant>,
}

struct Entrant {
    name: &'static str,
    call: Box<dyn FnMut()>,
    works: u32,
    /// How often it is called in a turn, so that a turn is long beside the clock's grain.
    calls: u32,
    /// Nanoseconds for the work, by round.
    rounds: Vec<f64>,
}

impl Case {
    pub fn new(name: impl Into<String>) -> Case {
        Case { name: name.into(), entrants: Vec::new() }
    }

    pub fn with(self, name: &'static str, call: impl FnMut() + 'static) -> Case {
        self.with_batch(name, 1, call)
    }

    /// A call that does the work so many times.
    pub fn with_batch(mut self, name: &'static str, works: u32, call: impl FnMut() + 'static) -> Case {
        self.entrants.push(Entrant { name, call: Box::new(call), works, calls: 1, rounds: Vec::new() });
        self
    }
}

impl Entrant {
    /// CPU time of a turn.
    fn turn(&mut self) -> Duration {
        let start = now();
        (0..self.calls).for_each(|_| (self.call)());
        now() - start
    }

    fn find_calls(&mut self) {
        while self.turn() < Duration::from_millis(2) && self.calls < 1 << 24 {
            self.calls *= 2;
        }
    }

    /// The best of three turns: what else runs on the processor takes caches, never gives any.
    fn round(&mut self) {
        let best = (0..3).map(|_| self.turn()).min().expect("three");
        self.rounds.push(best.as_nanos() as f64 / f64::from(self.calls) / f64::from(self.works));
    }
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Prints a table, and writes every round.
pub fn run(mut cases: Vec<Case>, rounds: usize, raw: &mut impl Write) {
    for case in &mut cases {
        case.entrants.iter_mut().for_each(Entrant::find_calls);
        for round in 0..rounds {
            let count = case.entrants.len();
            // Each begins as often as any other.
            (0..count).for_each(|n| case.entrants[(n + round) % count].round());
        }
    }
    writeln!(raw, "case,who,round,ns").expect("written");
    println!("{:<44} {:<34} {:>12}   ratio to takt (95 %)", "", "", "ns");
    for case in &cases {
        let takt = &case.entrants[0].rounds;
        for (n, entrant) in case.entrants.iter().enumerate() {
            for (round, ns) in entrant.rounds.iter().enumerate() {
                writeln!(raw, "{},{},{round},{ns:.1}", case.name, entrant.name).expect("written");
            }
            let name = if n == 0 { case.name.as_str() } else { "" };
            let ratio = takt_stats::ratio(&entrant.rounds, takt, 0.95).filter(|_| n > 0);
            let ratio = ratio.map(|r| format!("{:.2} ({:.2} to {:.2})", r.point(), r.low(), r.high()));
            println!(
                "{name:<44} {:<34} {:>12.1}   {}",
                entrant.name,
                median(&entrant.rounds),
                ratio.unwrap_or_default()
            );
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Bits that look random and are the same in each run.
pub fn some_bits(count: usize) -> Vec<u8> {
    let mut noise = 1_u64;
    let next = |_| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 63) as u8
    };
    (0..count).map(next).collect()
}
