//! A receive stream of a device.
//!
//! A driver reports an overflow before the samples that follow it, and only their time stamp says how much is missing. So samples
//! are read into a block of this stream's own. An event before them ends a call first, and the next call hands them over.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Tick, TickRate, Ticks};
use takt_radio::{RadioError, Received, RxEvent, RxStream};

use crate::device::MOST_SAMPLES;
use crate::error::foreign;
use crate::grid::Grid;
use crate::stamps::{Stamps, Step};
use crate::{Fault, FaultKind, RxPort, TimeStamps};

/// A read waits for no longer, so that an end of the stream is noticed.
const TURN: Duration = Duration::from_millis(100);
/// A device that reported an overflow and then brings nothing for so many time-outs has stopped: it is started again.
const STOPPED: u32 = 2;
/// One read takes a hundredth of a second of the stream.
const READS_A_SECOND: f64 = 100.0;

/// The events that a stream has seen since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxSeen {
    /// Overflows that the driver reported: of the device, or gaps on the way from it. It may not tell which.
    pub overflows: u64,
    /// Faults of the stream that have no name of takt's.
    pub stream_errors: u64,
    /// Times it was started again, since it had stopped after an overflow.
    pub restarts: u64,
    /// Times nothing came for 100 ms and the time of one transfer. A device may take its time for the first sample.
    pub timeouts: u64,
}

/// A receive stream of a device. A tick is a sample.
pub struct SoapyRx {
    port: Box<dyn RxPort>,
    clock: Arc<dyn Clock>,
    grid: Grid,
    mtu: usize,
    /// Silence for longer is a time-out.
    patience: Duration,
    stamps: Stamps,
    /// Samples that were read, one buffer a channel: those from `next` to `held` are still to be handed over.
    block: Vec<Vec<Complex32>>,
    next: usize,
    held: usize,
    /// Time of the sample that comes next.
    at: Tick,
    /// The event before that sample, and by how many samples it moves the stream on.
    due: Option<(RxEvent, u64)>,
    /// The driver reported an overflow, and no sample has come since.
    has_overflowed: bool,
    /// Since the last sample, or since it was started again.
    silent_since: Option<MonoNs>,
    /// Since the last sample or time-out.
    waits_since: Option<MonoNs>,
    seen: RxSeen,
}

impl SoapyRx {
    pub(crate) fn new(
        port: Box<dyn RxPort>,
        clock: Arc<dyn Clock>,
        grid: Grid,
        channels: usize,
    ) -> Result<SoapyRx, Fault> {
        let mtu = port.mtu()?.clamp(1, MOST_SAMPLES);
        let length = mtu.max((grid.sps() / READS_A_SECOND) as usize).min(MOST_SAMPLES);
        Ok(SoapyRx {
            port,
            clock,
            grid,
            mtu,
            patience: grid.patience(mtu),
            stamps: Stamps::new(grid),
            block: vec![vec![Complex32::default(); length]; channels],
            next: 0,
            held: 0,
            at: Tick(0),
            due: None,
            has_overflowed: false,
            silent_since: None,
            waits_since: None,
            seen: RxSeen::default(),
        })
    }

    /// Reads so many samples at once, instead of what is best for a long stream: a reader of short slots has each as it comes. Has
    /// no effect once a sample has come.
    #[must_use]
    pub fn with_block(mut self, samples: usize) -> SoapyRx {
        if self.held == 0 {
            let length = samples.clamp(1, self.block_samples().max(1));
            self.block.iter_mut().for_each(|channel| channel.truncate(length));
        }
        self
    }

    /// Whether the time stamps so far may count samples: one has come, and none has contradicted them.
    #[must_use]
    pub fn time_stamps_may_count(&self) -> bool {
        self.port.time_ns() != 0 && !self.stamps.contradict()
    }

    /// The first sample lies about there, if it has no time stamp of its own. Has no effect once one has come.
    pub fn assume_start(&mut self, tick: Tick) {
        if self.held == 0 {
            self.at = tick;
        }
    }

    /// Starts the stream, at once. Fails if the driver refuses.
    pub fn start(&mut self) -> Result<(), RadioError> {
        self.port.activate().map_err(foreign)
    }

    /// Stops the stream. Fails if the driver refuses.
    pub fn stop(&mut self) -> Result<(), RadioError> {
        self.port.deactivate().map_err(foreign)
    }

    /// The events that it has seen since it was made.
    #[must_use]
    pub fn seen(&self) -> RxSeen {
        self.seen
    }

    /// Samples that the driver hands over at once.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// Samples that one read of this stream asks for.
    #[must_use]
    pub fn block_samples(&self) -> usize {
        self.block.first().map_or(0, Vec::len)
    }

    /// The worth of its time stamps, as far as is known.
    #[must_use]
    pub fn time_stamps(&self) -> TimeStamps {
        match (self.stamps.show_losses(), self.stamps.contradict()) {
            (true, _) => TimeStamps::Count,
            (false, true) => TimeStamps::Contradict,
            (false, false) => TimeStamps::Absent,
        }
    }

    /// The sample that is on the air at a time of the device's clock, in nanoseconds.
    #[must_use]
    pub fn tick_at(&self, ns: i64) -> Tick {
        self.grid.tick_of(ns)
    }

    /// When a sample is on the air, on the device's clock, in nanoseconds.
    #[must_use]
    pub fn ns_at(&self, tick: Tick) -> i64 {
        self.grid.ns_of(tick)
    }

    /// Hands over samples that were read; `out` has this many already, and room for so many more.
    fn hand_over(&mut self, out: &mut [&mut [Complex32]], there: usize, room: usize) -> usize {
        let count = room.min(self.held - self.next);
        for (to, block) in out.iter_mut().zip(&self.block) {
            let from = block.get(self.next..self.next + count);
            if let (Some(to), Some(from)) = (to.get_mut(there..there + count), from) {
                to.copy_from_slice(from);
            }
        }
        self.next += count;
        count
    }

    /// Reads once. The block is empty.
    fn fetch(&mut self, wait: Duration) -> Result<(), RadioError> {
        let asked = self.clock.now();
        let read = {
            let mut out: Vec<&mut [Complex32]> = self.block.iter_mut().map(Vec::as_mut_slice).collect();
            self.port.read(&mut out, wait)
        };
        match read {
            Ok(0) => self.nothing_came(asked),
            Ok(samples) => {
                self.take(samples.min(self.block_samples()));
                Ok(())
            }
            Err(fault) => self.failed(fault, asked),
        }
    }

    /// So many samples lie in the block.
    fn take(&mut self, samples: usize) {
        (self.next, self.held, self.silent_since, self.waits_since) = (0, samples, None, None);
        let step = self.stamps.note(self.port.time_ns(), samples as u64);
        let has_overflowed = std::mem::take(&mut self.has_overflowed);
        let channel = 0;
        self.due = match (step, has_overflowed) {
            (Step::First, _) => {
                // Without a stamp it stays where the stream was assumed to begin.
                if self.port.time_ns() != 0 {
                    self.at = self.grid.tick_of(self.port.time_ns());
                }
                None
            }
            (Step::Gap(lost), true) => Some((RxEvent::Overflow { channel, lost }, lost)),
            (Step::Gap(lost), false) => Some((RxEvent::Dropped { channel, datagrams: 0, lost }, lost)),
            (Step::Unstamped | Step::Back, true) => Some((RxEvent::Unmeasured { channel }, 0)),
            // After an overflow too: it cost no sample.
            (Step::Follows, _) | (Step::Unstamped | Step::Back, false) => None,
        };
    }

    fn failed(&mut self, fault: Fault, asked: MonoNs) -> Result<(), RadioError> {
        match fault.kind {
            FaultKind::Timeout => self.nothing_came(asked),
            FaultKind::Overflow => {
                self.seen.overflows += 1;
                self.has_overflowed = true;
                Ok(())
            }
            FaultKind::Stream | FaultKind::Corruption | FaultKind::Time => {
                self.seen.stream_errors += 1;
                self.due = Some((RxEvent::Unknown { channel: 0, code: u32::from(fault.kind.code()) }, 0));
                Ok(())
            }
            _ => Err(foreign(fault)),
        }
    }

    /// Nothing came since it was `asked`.
    fn nothing_came(&mut self, asked: MonoNs) -> Result<(), RadioError> {
        let now = self.clock.now();
        self.count_timeout(asked, now);
        let since = *self.silent_since.get_or_insert(asked);
        if !self.has_overflowed || now.saturating_since(since) < self.patience.saturating_mul(STOPPED) {
            return Ok(());
        }
        self.silent_since = None;
        self.seen.restarts += 1;
        // It has stopped by itself; a driver that does not know it any more may still start it.
        let _ = self.port.deactivate();
        self.start()
    }

    /// Silence counts each time that it has lasted for the patience again, once there was a sample.
    fn count_timeout(&mut self, asked: MonoNs, now: MonoNs) {
        let since = *self.waits_since.get_or_insert(asked);
        if self.held > 0 && now.saturating_since(since) >= self.patience {
            self.seen.timeouts += 1;
            self.waits_since = Some(now);
        }
    }
}

impl RxStream for SoapyRx {
    fn recv(&mut self, out: &mut [&mut [Complex32]], until: MonoNs) -> Result<Received, RadioError> {
        let (have, got) = (self.block.len(), out.len());
        if have != got {
            return Err(RadioError::Channels { have, got });
        }
        let room = out.iter().map(|buffer| buffer.len()).min().unwrap_or(0);
        let (mut samples, mut first) = (0, self.at);
        loop {
            if let Some((event, lost)) = self.due.take() {
                self.at += Ticks(lost);
                return Ok(Received { samples, first, event: Some(event) });
            }
            let count = self.hand_over(out, samples, room - samples);
            if samples == 0 {
                first = self.at;
            }
            samples += count;
            self.at += Ticks(count as u64);
            let now = self.clock.now();
            if samples == room || now >= until {
                return Ok(Received { samples, first, event: None });
            }
            self.fetch(until.saturating_since(now).min(TURN))?;
        }
    }

    fn channels(&self) -> usize {
        self.block.len()
    }

    fn rate_sps(&self) -> f64 {
        self.grid.sps()
    }

    fn tick_rate(&self) -> TickRate {
        self.grid.tick_rate()
    }

    fn ticks_per_sample(&self) -> Ticks {
        Ticks(1)
    }

    fn shows_losses(&self) -> bool {
        self.stamps.show_losses()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fake::{Fake, Happens};

    const RATE_SPS: f64 = 1e6;
    /// When the device's clock shows this, its stream begins.
    const START: u64 = 1_000_000;

    fn stream(fake: &Fake) -> SoapyRx {
        let mut rx = fake.rx(RATE_SPS, 1);
        rx.start().unwrap();
        rx
    }

    /// A call for so many samples within a millisecond, and whether they are those that its `first` says.
    fn call(rx: &mut SoapyRx, fake: &Fake, samples: usize) -> Received {
        let mut buffer = vec![Complex32::default(); samples];
        let received = rx.recv(&mut [&mut buffer], fake.now() + Duration::from_millis(1)).unwrap();
        for (n, sample) in buffer.iter().take(received.samples).enumerate() {
            let tick = if rx.shows_losses() { received.first.0 + n as u64 } else { sample.re as u64 };
            assert_eq!(sample.re as u64, tick % Fake::COUNTED, "sample {n} of {received:?}");
        }
        received
    }

    #[test]
    fn samples_come_at_their_times_in_calls_of_any_size() {
        let fake = Fake::new(&[Happens::Samples(100), Happens::Samples(50)]);
        let mut rx = stream(&fake);
        let calls = [30, 100, 20].map(|samples| call(&mut rx, &fake, samples));
        assert_eq!(calls.map(|call| (call.samples, call.first.0)), [(30, START), (100, START + 30), (20, START + 130)]);
        assert!(calls.iter().all(|call| call.event.is_none()));
    }

    #[test]
    fn a_gap_ends_the_call_and_is_what_the_driver_said_it_was() {
        let fake = Fake::new(&[
            Happens::Samples(100),
            Happens::Gap(7),
            Happens::Samples(100),
            Happens::Fails(FaultKind::Overflow),
            Happens::Gap(500),
            Happens::Samples(100),
        ]);
        let mut rx = stream(&fake);
        let calls = [300, 300, 100].map(|samples| call(&mut rx, &fake, samples));
        let expected = [
            (100, START, Some(RxEvent::Dropped { channel: 0, datagrams: 0, lost: 7 })),
            (100, START + 107, Some(RxEvent::Overflow { channel: 0, lost: 500 })),
            (100, START + 707, None),
        ];
        assert_eq!(calls.map(|call| (call.samples, call.first.0, call.event)), expected);
        assert!(rx.shows_losses());
        assert_eq!(rx.seen(), RxSeen { overflows: 1, ..RxSeen::default() });
    }

    #[test]
    fn without_time_stamps_a_loss_has_no_length() {
        let script = [Happens::Samples(100), Happens::Fails(FaultKind::Overflow), Happens::Samples(100)];
        let fake = Fake::new(&script).unstamped();
        let mut rx = stream(&fake);
        let calls = [200, 100].map(|samples| call(&mut rx, &fake, samples));
        assert_eq!(calls.map(|call| (call.samples, call.event.is_some())), [(100, true), (100, false)]);
        assert_eq!(calls[0].event, Some(RxEvent::Unmeasured { channel: 0 }));
        assert!(!rx.shows_losses());
        assert_eq!(rx.time_stamps(), TimeStamps::Absent);
    }

    #[test]
    fn time_stamps_that_go_back_show_no_loss_any_more() {
        let script = [Happens::Samples(100), Happens::Samples(100), Happens::Back(10), Happens::Samples(100)];
        let fake = Fake::new(&script);
        let mut rx = stream(&fake);
        let mut buffer = [Complex32::default(); 300];
        let received = rx.recv(&mut [&mut buffer], MonoNs::NEVER).unwrap();
        assert_eq!((received.samples, received.event), (300, None));
        assert!(!rx.shows_losses());
        assert_eq!(rx.time_stamps(), TimeStamps::Contradict);
    }

    #[test]
    fn a_call_keeps_its_deadline_when_nothing_comes() {
        let fake = Fake::new(&[Happens::Samples(10), Happens::Fails(FaultKind::Timeout)]);
        let mut rx = stream(&fake);
        let until = fake.now() + Duration::from_millis(3);
        let mut buffer = [Complex32::default(); 100];
        let received = rx.recv(&mut [&mut buffer], until).unwrap();
        assert_eq!((received.samples, received.event, fake.now()), (10, None, until));
    }

    #[test]
    fn a_device_that_stopped_after_an_overflow_is_started_again() {
        let silence = [Happens::Fails(FaultKind::Timeout); 3];
        let before = [Happens::Samples(100), Happens::Samples(100), Happens::Fails(FaultKind::Overflow)];
        let script: Vec<Happens> =
            before.into_iter().chain(silence).chain([Happens::Gap(300_000), Happens::Samples(100)]).collect();
        let fake = Fake::new(&script);
        let mut rx = stream(&fake);
        let mut buffer = [Complex32::default(); 300];
        let received = rx.recv(&mut [&mut buffer], MonoNs::NEVER).unwrap();
        assert_eq!((received.samples, received.event), (200, Some(RxEvent::Overflow { channel: 0, lost: 300_000 })));
        assert_eq!((rx.seen().restarts, fake.starts()), (1, 2));
    }

    #[test] // F9, the kind: a counter that starts too early
    fn silence_counts_once_there_was_a_sample_and_a_transfer_is_overdue() {
        let silence = [Happens::Fails(FaultKind::Timeout); 5];
        let script: Vec<Happens> = silence.into_iter().chain([Happens::Samples(100)]).chain(silence).collect();
        let fake = Fake::new(&script);
        let mut rx = stream(&fake);
        let turn = |rx: &mut SoapyRx| {
            let mut buffer = [Complex32::default(); 100];
            let received = rx.recv(&mut [&mut buffer], fake.now() + TURN).unwrap();
            assert_eq!(received.event, None);
            rx.seen().timeouts
        };
        // From the seventh on it is silent again: for 100 ms, of the 101 ms that it has with transfers of a millisecond.
        let counts: Vec<u64> = (0..10).map(|_| turn(&mut rx)).collect();
        assert_eq!(counts, [0, 0, 0, 0, 0, 0, 0, 1, 1, 2]);
    }

    #[test]
    fn an_overflow_that_cost_no_sample_is_counted_and_is_no_gap() {
        let fake = Fake::new(&[Happens::Samples(100), Happens::Fails(FaultKind::Overflow), Happens::Samples(100)]);
        let mut rx = stream(&fake);
        let received = call(&mut rx, &fake, 200);
        assert_eq!((received.samples, received.event, rx.seen().overflows), (200, None, 1));
        assert!(rx.shows_losses());
    }

    #[test]
    fn a_fault_without_a_name_is_counted_and_a_driver_that_is_gone_ends_the_stream() {
        let fake = Fake::new(&[Happens::Fails(FaultKind::Corruption), Happens::Fails(FaultKind::Other)]);
        let mut rx = stream(&fake);
        let mut buffer = [Complex32::default(); 10];
        let received = rx.recv(&mut [&mut buffer], MonoNs::NEVER).unwrap();
        assert_eq!((received.samples, received.event), (0, Some(RxEvent::Unknown { channel: 0, code: 3 })));
        assert_eq!(rx.seen().stream_errors, 1);
        let gone = rx.recv(&mut [&mut buffer], MonoNs::NEVER);
        assert!(matches!(gone, Err(RadioError::Foreign { driver: "SoapySDR", .. })), "{gone:?}");
    }

    #[test]
    fn a_driver_that_claims_more_than_there_is_room_for_is_cut_short() {
        let fake = Fake::new(&[Happens::Claims(usize::MAX)]);
        let mut rx = stream(&fake);
        let mut buffer = vec![Complex32::default(); rx.block_samples()];
        assert_eq!(rx.recv(&mut [&mut buffer], MonoNs::NEVER).unwrap().samples, rx.block_samples());
    }

    #[test]
    fn a_call_has_as_many_channels_as_the_stream() {
        let fake = Fake::new(&[]);
        let mut rx = fake.rx(RATE_SPS, 2);
        let mut buffer = [Complex32::default(); 10];
        let refused = rx.recv(&mut [&mut buffer], MonoNs::NEVER);
        assert!(matches!(refused, Err(RadioError::Channels { have: 2, got: 1 })), "{refused:?}");
    }

    fn happens() -> impl Strategy<Value = Happens> {
        prop_oneof![(1_usize..3_000).prop_map(Happens::Samples), (1_u64..9_000).prop_map(Happens::Gap)]
    }

    proptest! {
        /// Whatever is read in whatever portions: first, samples and what was lost of one call make the first of the next.
        #[test]
        fn calls_follow_each_other(
            script in prop::collection::vec(happens(), 0..30),
            calls in prop::collection::vec(1_usize..5_000, 1..40),
        ) {
            let fake = Fake::new(&script);
            let mut rx = stream(&fake);
            let mut expected = None;
            for samples in calls {
                let mut buffer = vec![Complex32::default(); samples];
                let received = rx.recv(&mut [&mut buffer], MonoNs::NEVER).unwrap();
                let lost = match received.event {
                    Some(RxEvent::Dropped { lost, .. }) => lost,
                    None => 0,
                    other => panic!("{other:?}"),
                };
                if received.samples > 0 {
                    prop_assert!(expected.is_none_or(|at| received.first == at), "{expected:?} {received:?}");
                    prop_assert_eq!(buffer[0].re as u64, received.first.0 % Fake::COUNTED);
                    expected = Some(received.first);
                }
                expected = expected.map(|at: Tick| at + Ticks(received.samples as u64 + lost));
            }
        }
    }
}
