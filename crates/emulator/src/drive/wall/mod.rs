//! A device on the host's clock and a packet engine.
//!
//! Device ticks count the monotonic clock from its zero, so all devices of a host see the same PPS edges. If the radio's time
//! runs slower or faster ([`Tempo`]), they count it at that speed. A datagram takes effect at the tick at which the kernel
//! received it, whenever this thread gets round to it; so what a host sent in time was in time. Late sending by the device is
//! the driver's own doing, and is measured: [`LagReport`].
//!
//! ```text
//!   loop:  now ── receive what has arrived ── hand it over, each at its tick ── advance to now ── send
//!          └──────────── wait for the deadline, a datagram, or the next beat ─────────────────────┘
//! ```
//!
//! While samples flow the driver works in beats ([`Settings::beat`]): a datagram that is due leaves with its beat, and
//! arrivals are read once a beat. That is what keeps system calls few; it is part of the lag that is measured. With real-time
//! priority it pauses before the kernel would stop it (`pace.rs`).

mod inbox;
mod lag;
mod late_by;
mod outlet;
mod pace;
mod radio_time;
mod tempo;
mod waiting;

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;
use takt_base::{Clock, MonoNs, Speed, Stop, Tick, TickRate, WallClock};
use takt_packet::{Counters, Engine, EngineError, Refusal, Wait};

use crate::device::FRAME_BYTES;
use crate::{Device, Port};
use inbox::Inbox;
use lag::Lag;
use late_by::Witness;
use outlet::Outlet;
use pace::Pace;
use tempo::Follower;

pub use lag::{LagHistogram, LagHistogramError, LagReport};
pub use late_by::{HeldUpBy, LateBy, LateSpan, Spans, SpansBy};
pub use radio_time::RadioTime;
pub use tempo::Tempo;
pub use waiting::{ORDINARY, Waiting};

/// Frames a device can fill between two looks at how many are left: a full command queue answers in one go.
const FRAMES_A_STEP: usize = 96;
/// Batch size an engine should be opened with.
pub const BATCH: usize = 256;
/// Datagrams received at once from which on samples are taken to be flowing in: then one waits for the beat, not for the
/// next datagram.
const BUSY: usize = 4;
/// Longest wait: how soon a stop request or a question is seen.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// A datagram later than this is not sent any more, so that a driver that fell behind can catch up.
const STALE: Duration = Duration::from_millis(250);
/// How long a full send buffer is waited for.
const SEND_WAIT: Duration = Duration::from_millis(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// While samples flow, datagrams are handled once in this span.
    pub beat: Duration,
    /// Lag beyond this counts as the emulator's own fault.
    pub limit: Duration,
}

impl Default for Settings {
    /// Beats of 200 µs; a limit of 1 ms, about what the smallest default receive buffer holds of 25 MS/s.
    fn default() -> Settings {
        Settings { beat: Duration::from_micros(200), limit: Duration::from_millis(1) }
    }
}

/// A question to a running driver, answered on its own thread between two beats.
pub type Question<D> = Box<dyn FnOnce(&D, LagReport, Counters) + Send>;

pub struct Driver<D> {
    device: D,
    engine: Box<dyn Engine>,
    /// Device port of each engine port. If two engine ports carry the same device port, the first one sends.
    ports: Vec<Port>,
    rate: TickRate,
    tempo: Follower,
    settings: Settings,
    inbox: Inbox,
    due: Vec<MonoNs>,
    /// Memory for the device to write into, if frames of the engine are shorter than its longest; otherwise empty.
    long: Box<[u8]>,
    lag: Lag,
    waiting: Option<Waiting>,
}

impl<D: Device> Driver<D> {
    /// Over an engine whose port n carries the device's port `ports[n]`. The radio's time passes as the host's does.
    #[must_use]
    pub fn new(device: D, rate: TickRate, engine: Box<dyn Engine>, ports: Vec<Port>, settings: Settings) -> Driver<D> {
        let limits = engine.limits();
        let long = if limits.max_payload_bytes < FRAME_BYTES { FRAME_BYTES } else { 0 };
        Driver {
            long: vec![0; long].into(),
            inbox: Inbox::new(limits.batch, limits.max_payload_bytes),
            due: Vec::with_capacity(limits.batch),
            lag: Lag::new(settings.limit),
            waiting: None,
            device,
            engine,
            ports,
            rate,
            tempo: Follower::of(Arc::new(Tempo::steady(Speed::WALL))),
            settings,
        }
    }

    /// The same, with the radio's time as `tempo` says.
    #[must_use]
    pub fn in_tempo(self, tempo: Arc<Tempo>) -> Driver<D> {
        Driver { tempo: Follower::of(tempo), ..self }
    }

    /// Drives until `stop` is requested, on this thread. Questions are answered in between.
    /// Fails if the engine has ended.
    pub fn run(&mut self, stop: &Stop, questions: &Receiver<Question<D>>) -> Result<(), EngineError> {
        let waiting = Waiting::prepare(self.settings.beat);
        let mut pace = Pace::of(waiting.is_real_time());
        self.waiting = Some(waiting);
        let mut witness = Witness::of_this_thread();
        while !stop.requested() {
            let beat = WallClock.now();
            let received = self.receive(Wait::Poll)?;
            // All that arrived before this beat must be in before the device may reach it.
            let full = received == self.engine.limits().batch;
            self.work(if full { MonoNs(0) } else { beat })?;
            self.held_up(&mut witness);
            while let Ok(question) = questions.try_recv() {
                question(&self.device, self.lag(), self.engine.counters());
            }
            if received >= BUSY {
                witness.rests();
                let pause = witness.pause(pace.as_mut());
                let next = if full { beat } else { beat + self.settings.beat };
                sleep_until(next.max(pause));
                witness.woke();
                continue;
            }
            let (time, rate) = (self.tempo.time(), self.rate);
            let deadline = self.device.deadline().map_or(MonoNs::NEVER, |tick| time.instant_of(rate, tick));
            let until = deadline.max(beat + self.settings.beat).min(beat + LONGEST_WAIT);
            witness.rests();
            let pause = witness.pause(pace.as_mut());
            if pause > beat {
                sleep_until(pause);
            }
            // A datagram ends the wait. It is handled at its own tick, before the device moves on.
            self.receive(Wait::Until(until))?;
            witness.woke();
            self.work(MonoNs(0))?;
            self.held_up(&mut witness);
        }
        Ok(())
    }

    /// Asks the witness who held up what has just left late.
    fn held_up(&mut self, witness: &mut Witness) {
        let late_ns = self.lag.take_latest_ns();
        if late_ns > 0 {
            self.lag.held_up(&witness.worked(late_ns));
        }
    }

    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// How late this driver was, and how it waited once it ran.
    #[must_use]
    pub fn lag(&self) -> LagReport {
        LagReport { waiting: self.waiting.clone(), ..self.lag.report() }
    }

    #[must_use]
    pub fn counters(&self) -> Counters {
        self.engine.counters()
    }

    /// Takes a batch of datagrams, and what ICMP reported; returns how many datagrams.
    fn receive(&mut self, wait: Wait) -> Result<usize, EngineError> {
        let batch = self.engine.recv(wait)?;
        let received = batch.len();
        self.inbox.fill(&batch, WallClock.now());
        while let Some(Refusal { port, to }) = self.engine.refused() {
            if let Some(&port) = self.ports.get(usize::from(port.0)) {
                let now = WallClock.now();
                self.device.refused(self.tempo.time().tick_of(self.rate, now), port, to);
            }
        }
        Ok(received)
    }

    /// Hands over what was received, advances the device to `now`, and sends.
    fn work(&mut self, now: MonoNs) -> Result<(), EngineError> {
        let present = WallClock.now();
        let stale = MonoNs(present.0.saturating_sub(STALE.as_nanos() as u64));
        let time = self.tempo.time();
        loop {
            let Driver { device, engine, ports, rate, inbox, due, long, lag, .. } = self;
            due.clear();
            let most_bytes = engine.limits().max_payload_bytes;
            let mut batch = engine.reserve(due.capacity());
            let (rate, now_tick) = (*rate, time.tick_of(*rate, now));
            let mut outlet =
                Outlet { batch: &mut batch, most_bytes, long, due, lag, ports, rate, time, now: present, stale };
            let done = step(device, inbox, now_tick, &mut outlet);
            let pushed = batch.len();
            if pushed > 0 {
                let sent = batch.send(Wait::Until(WallClock.now() + SEND_WAIT))?;
                let left = WallClock.now();
                due.iter().take(sent).for_each(|&due| lag.note(due, left));
                due.iter().take(pushed).skip(sent).for_each(|&due| lag.lose(due, left));
            }
            if done {
                return Ok(());
            }
        }
    }
}

/// Gives the device what is due, one thing after the other, while there are frames for what it may answer. Says whether
/// all is done.
fn step<D: Device>(device: &mut D, inbox: &mut Inbox, now: Tick, outlet: &mut Outlet<'_, '_>) -> bool {
    let enough = FRAMES_A_STEP.min(outlet.batch.room());
    while outlet.batch.room() >= enough {
        let waiting = inbox.front();
        let until = waiting.map_or(now, |(datagram, _)| outlet.time.tick_of(outlet.rate, datagram.arrived));
        if let Some(due) = device.deadline().filter(|&due| due <= until) {
            device.advance(due, outlet);
        } else if let Some((datagram, bytes)) = waiting {
            if let Some(&port) = outlet.ports.get(usize::from(datagram.port.0)) {
                device.datagram(until, port, datagram.source, bytes, outlet);
            }
            inbox.pop();
        } else {
            return true;
        }
    }
    false
}

fn sleep_until(instant: MonoNs) {
    let (secs, nanos) = (instant.0 / 1_000_000_000, instant.0 % 1_000_000_000);
    let Ok(tv_sec) = i64::try_from(secs) else { return };
    // A signal ends it early; the loop looks at the clock again.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &Timespec { tv_sec, tv_nsec: nanos as i64 });
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use takt_base::Ticks;
    use takt_packet::{Config, EngineKind, PortIndex, PortSpec, RxBatch, RxEntry};

    use super::*;
    use crate::Outbox;

    const RATE: TickRate = TickRate::from_hz(100_000_000).unwrap();

    /// Wants to be called every hundred ticks from 50 on; writes down what happens, and answers each datagram `answers`
    /// times.
    struct Diary {
        next: Tick,
        lines: Vec<String>,
        answers: usize,
    }

    impl Device for Diary {
        fn ports(&self) -> &[Port] {
            &[]
        }
        fn datagram(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
            self.lines.push(format!("{} at {}", String::from_utf8_lossy(bytes), now.0));
            for _ in 0..self.answers {
                out.send(now, port, from, &mut |_| 1);
            }
        }
        fn refused(&mut self, _: Tick, _: Port, _: SocketAddr) {}
        fn advance(&mut self, now: Tick, _: &mut dyn Outbox) {
            self.lines.push(format!("advance to {}", now.0));
            self.next = now + Ticks(100);
        }
        fn deadline(&self) -> Option<Tick> {
            Some(self.next)
        }
    }

    fn driver(answers: usize, batch: usize) -> Driver<Diary> {
        let device = Diary { next: Tick(50), lines: Vec::new(), answers };
        let spec = PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: None };
        let config = Config { batch, ..Config::new(vec![spec]) };
        let engine = takt_packet::open(EngineKind::Mmsg, &config).unwrap();
        Driver::new(device, RATE, engine, vec![Port(7)], Settings::default())
    }

    /// Datagrams that arrived at these instants.
    fn arrivals(driver: &mut Driver<Diary>, at_ns: &[u64]) {
        let entry = |n: usize, at: u64| RxEntry {
            port: PortIndex(0),
            source: "127.0.0.1:9".parse().unwrap(),
            arrived: Some(MonoNs(at)),
            offset: n,
            len: 1,
            truncated: false,
        };
        let entries: Vec<_> = at_ns.iter().enumerate().map(|(n, &at)| entry(n, at)).collect();
        driver.inbox.fill(&RxBatch::new(b"abcdefghijklmnopqrstuvwxyz", &entries), MonoNs(u64::MAX));
    }

    #[test]
    fn a_datagram_takes_effect_at_the_tick_at_which_it_arrived() {
        let mut driver = driver(0, BATCH);
        arrivals(&mut driver, &[1000, 3009]);
        driver.work(MonoNs(4000)).unwrap();
        let lines = ["advance to 50", "a at 100", "advance to 150", "advance to 250", "b at 300", "advance to 350"];
        assert_eq!(driver.device.lines, lines);
    }

    /// The same datagrams at the same ticks, ten times as late.
    #[test]
    fn a_slow_radio_sees_the_same_a_tenth_as_fast() {
        let slow = Tempo::steady("0.1".parse().unwrap());
        let mut driver = driver(0, BATCH).in_tempo(Arc::new(slow));
        arrivals(&mut driver, &[10_000, 30_099]);
        driver.work(MonoNs(40_000)).unwrap();
        let lines = ["advance to 50", "a at 100", "advance to 150", "advance to 250", "b at 300", "advance to 350"];
        assert_eq!(driver.device.lines, lines);
    }

    /// At 4000 ns its 40 ticks have passed; from there on it is ten times as fast.
    #[test]
    fn a_change_of_the_speed_between_two_beats_loses_no_tick_and_repeats_none() {
        let slow = RadioTime::steady("0.1".parse().unwrap());
        let tempo = Arc::new(Tempo::steady(slow.speed()));
        let mut driver = driver(0, BATCH).in_tempo(Arc::clone(&tempo));
        driver.work(MonoNs(4000)).unwrap();
        assert_eq!(driver.device.lines, [""; 0]);
        tempo.set(slow.changed(MonoNs(4000), Speed::WALL));
        arrivals(&mut driver, &[3999, 5000]);
        driver.work(MonoNs(5200)).unwrap();
        assert_eq!(driver.device.lines, ["a at 39", "advance to 50", "b at 140", "advance to 150"]);
    }

    #[test]
    fn without_a_present_only_what_arrived_is_handed_over() {
        let mut driver = driver(0, BATCH);
        arrivals(&mut driver, &[1000]);
        driver.work(MonoNs(0)).unwrap();
        assert_eq!(driver.device.lines, ["advance to 50", "a at 100"]);
    }

    #[test]
    fn more_answers_than_a_batch_holds_leave_in_several() {
        for batch in [BATCH, 30, 8] {
            let mut driver = driver(5, batch);
            driver.device.next = Tick(u64::MAX); // it has nothing to do but answer
            arrivals(&mut driver, &[WallClock.now().0; 26]);
            driver.work(MonoNs(0)).unwrap();
            let report = driver.lag.report();
            // On a busy machine some may be too old to be sent.
            assert_eq!(report.datagrams + report.unsent, 130, "batches of {batch}");
            assert_eq!(driver.engine.counters().sent_datagrams, report.datagrams);
        }
    }

    #[test]
    fn what_is_too_old_is_counted_and_not_sent() {
        let mut driver = driver(1, BATCH);
        arrivals(&mut driver, &[1000]);
        driver.work(MonoNs(0)).unwrap();
        assert_eq!(driver.lag.report().unsent, 1);
        assert_eq!(driver.engine.counters().sent_datagrams, 0);
    }
}
