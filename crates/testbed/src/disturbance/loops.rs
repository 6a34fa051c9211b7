//! Loops of disturbing processes, until a stop is requested.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Seek, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use takt_base::{Clock, Stop, WallClock};
use takt_host::timer::{self, Method, Timer};

use super::Load;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoopOptions {
    pub(crate) load: Load,
}

/// A load that runs on a thread of this process.
#[derive(Debug)]
pub(crate) struct Loops {
    stop: Stop,
    thread: JoinHandle<io::Result<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Times it went round: blocks copied, datagrams sent, processes started.
    pub(crate) rounds: u64,
}

impl Loops {
    pub(crate) fn start(options: LoopOptions) -> io::Result<Loops> {
        let stop = Stop::new();
        let flag = stop.clone();
        let thread = thread::Builder::new().name(format!("takt-{}", options.load.name()));
        let thread = thread.spawn(move || run(options.load, &flag))?;
        Ok(Loops { stop, thread })
    }

    /// Ends it. Fails if it had ended by itself: no disk to write to, no sockets.
    pub(crate) fn finish(self) -> io::Result<Done> {
        self.stop.request();
        let rounds = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(Done { rounds })
    }
}

fn run(load: Load, stop: &Stop) -> io::Result<u64> {
    let mut step: Box<dyn FnMut() -> io::Result<()>> = match load {
        Load::Busy => Box::new(busy),
        Load::Memory => memory(),
        Load::Cache => cache(),
        Load::Disk => disk()?,
        Load::Network => network()?,
        Load::Fork => Box::new(fork),
        Load::Timers => timers()?,
    };
    let mut rounds = 0;
    loop {
        step()?;
        rounds += 1;
        if stop.requested() {
            return Ok(rounds);
        }
    }
}

type Step = Box<dyn FnMut() -> io::Result<()>>;

#[expect(clippy::unnecessary_wraps, reason = "one form for all loads")]
fn busy() -> io::Result<()> {
    for n in 0..100_000_u64 {
        black_box(n);
    }
    Ok(())
}

/// Far more than a cache holds.
const BLOCK_BYTES: usize = 32 << 20;

fn memory() -> Step {
    let (mut from, mut to) = (vec![1_u8; BLOCK_BYTES], vec![0_u8; BLOCK_BYTES]);
    Box::new(move || {
        to.copy_from_slice(black_box(&from));
        std::mem::swap(&mut from, &mut to);
        Ok(())
    })
}

/// About as much as a large last-level cache holds, a line at a time, in the order of a full-period generator: each line
/// is written, and no prefetcher guesses the next.
fn cache() -> Step {
    const LINE_WORDS: usize = 8;
    const LINES: usize = 1 << 19;
    let mut words = vec![0_u64; LINES * LINE_WORDS];
    let mut line = 0_usize;
    Box::new(move || {
        for _ in 0..10_000 {
            // Knuth, The Art of Computer Programming 2, 3.2.1.2: odd increment, multiplier 1 modulo 4.
            line = (line.wrapping_mul(5) + 12_345) % LINES;
            if let Some(word) = words.get_mut(line * LINE_WORDS) {
                *word = word.wrapping_add(1);
            }
        }
        black_box(&words);
        Ok(())
    })
}

/// A file without a name: nothing of it is left whatever happens.
fn disk() -> io::Result<Step> {
    let folder = std::env::var_os("TMPDIR").unwrap_or_else(|| "/var/tmp".into());
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file: File = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)?.into();
    let block = vec![0x5a_u8; 1 << 20];
    let mut written = 0;
    Ok(Box::new(move || {
        file.write_all(&block)?;
        file.sync_data()?;
        written += block.len();
        if written >= 64 << 20 {
            file.rewind()?;
            written = 0;
        }
        Ok(())
    }))
}

fn network() -> io::Result<Step> {
    let (one, other) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    let to = other.local_addr()?;
    other.set_nonblocking(true)?;
    let mut datagram = [0_u8; 1472];
    Ok(Box::new(move || {
        for _ in 0..32 {
            one.send_to(&datagram, to)?;
        }
        while other.recv(&mut datagram).is_ok() {}
        Ok(())
    }))
}

/// A process that ends at once: this program, with `--version`.
fn fork() -> io::Result<()> {
    let mut child = Command::new("/proc/self/exe");
    child.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut children = Vec::new();
    for _ in 0..4 {
        children.push(child.spawn()?);
    }
    for mut child in children {
        child.wait()?;
    }
    Ok(())
}

/// Sleeps and wakes without end. A sleep is at least three times as long as what a round costs, so that this is a load of
/// wake-ups and not of the processor: in a virtual machine whose timers are the hypervisor's a round costs 90 µs.
fn timers() -> io::Result<Step> {
    const SHORTEST: Duration = Duration::from_micros(50);
    /// Until it is known what a round costs.
    const AT_FIRST: Duration = Duration::from_micros(300);
    const ROUNDS: u32 = 256;
    let slack_ns = std::num::NonZeroU64::new(1);
    let options = timer::TimerOptions { method: Method::Nanosleep, slack_ns, ..timer::TimerOptions::default() };
    let mut timer = Timer::open(options).map_err(io::Error::other)?;
    let never = Stop::new();
    let (mut every, mut rounds, mut used) = (AT_FIRST, 0, own_cpu_time());
    Ok(Box::new(move || {
        rounds += 1;
        if rounds == ROUNDS {
            let now = own_cpu_time();
            every = SHORTEST.max((now - used) / ROUNDS * 3);
            (rounds, used) = (0, now);
        }
        timer.wait_until(WallClock.now() + every, &never).map_err(io::Error::other).map(drop)
    }))
}

fn own_cpu_time() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32) // below a second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_goes_round_until_it_is_stopped() {
        for (name, load) in Load::ALL.into_iter().filter(|(_, load)| *load != Load::Fork) {
            match (load, Loops::start(LoopOptions { load }).unwrap().finish()) {
                (Load::Disk, Err(error)) => takt_testing::skip(format_args!("files without a name: {error}")),
                (_, done) => assert!(done.as_ref().is_ok_and(|done| done.rounds > 0), "{name}: {done:?}"),
            }
        }
    }
}
