//! A stream whose counts others may read while it runs, and a few of whose samples they may see.
//!
//! The thread that streams counts what passes in atomics, and offers samples to a tap that drops what does not fit.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use takt_base::{Clock, Complex32, MonoNs, Speed, TickRate, Ticks, WallClock};
use takt_live::tap::{TapReader, TapWriter, tap};
use takt_live::{Direction, Letters, Snapshot, Source};

use crate::{Burst, RadioError, Received, RxEvent, RxStream, TxEvent, TxEventKind, TxStream};

/// A stream, as it was opened.
#[derive(Clone, Debug)]
struct Opened {
    name: String,
    direction: Direction,
    rate_sps: f64,
    freq_hz: Option<f64>,
    channels: usize,
    speed: f64,
}

#[derive(Debug, Default)]
struct Counts {
    samples: AtomicU64,
    lost_samples: AtomicU64,
    overflows: AtomicU64,
    dropped: AtomicU64,
    underflows: AtomicU64,
    sequence_errors: AtomicU64,
    late: AtomicU64,
    /// Whether a count of 0 is known: the stream shows each loss, or reports each fault.
    tells: AtomicBool,
}

/// Relaxed throughout: each count stands for itself, and no other data is published through it.
fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

struct Shared {
    opened: OnceLock<Opened>,
    counts: Counts,
    /// Until a stream takes it.
    tap: Mutex<Option<TapWriter>>,
}

/// The end of who streams.
#[derive(Clone)]
pub struct StreamProbe(Arc<Shared>);

/// Shows a stream: the source of a [`Publisher`](takt_live::Publisher). Empty until the stream is opened.
pub struct StreamView {
    shared: Arc<Shared>,
    tap: TapReader,
}

impl std::fmt::Debug for StreamProbe {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("StreamProbe").field(&self.0.opened).finish()
    }
}

/// Both ends, for one stream.
#[must_use]
pub fn watched_stream() -> (StreamProbe, StreamView) {
    let (writer, reader) = tap();
    let shared = Arc::new(Shared { opened: OnceLock::new(), counts: Counts::default(), tap: Mutex::new(Some(writer)) });
    (StreamProbe(Arc::clone(&shared)), StreamView { shared, tap: reader })
}

impl StreamProbe {
    /// The stream `rx` of a radio, with its counts shown.
    pub fn rx<'a, S>(&self, name: &str, freq_hz: Option<f64>, rx: &'a mut S) -> WatchedRx<'a, S>
    where
        S: RxStream + ?Sized,
    {
        let (rate_sps, channels, speed) = (rx.rate_sps(), rx.channels(), rx.speed().seconds());
        self.open(Opened { name: name.to_owned(), direction: Direction::Rx, rate_sps, freq_hz, channels, speed });
        WatchedRx { rx, shared: Arc::clone(&self.0), tap: self.tap() }
    }

    /// The stream `tx` to a radio.
    pub fn tx<'a, S>(&self, name: &str, freq_hz: Option<f64>, tx: &'a mut S) -> WatchedTx<'a, S>
    where
        S: TxStream + ?Sized,
    {
        let (rate_sps, channels, speed) = (tx.rate_sps(), tx.channels(), tx.speed().seconds());
        self.open(Opened { name: name.to_owned(), direction: Direction::Tx, rate_sps, freq_hz, channels, speed });
        WatchedTx { tx, shared: Arc::clone(&self.0), tap: self.tap() }
    }

    /// One stream is shown, the first.
    fn open(&self, opened: Opened) {
        let _ = self.0.opened.set(opened);
    }

    fn tap(&self) -> Option<TapWriter> {
        self.0.tap.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A receive stream that is watched.
pub struct WatchedRx<'a, S: ?Sized> {
    rx: &'a mut S,
    shared: Arc<Shared>,
    tap: Option<TapWriter>,
}

impl<S: ?Sized> WatchedRx<'_, S> {
    /// The stream itself.
    #[must_use]
    pub fn stream(&mut self) -> &mut S {
        self.rx
    }
}

impl<S: RxStream + ?Sized> RxStream for WatchedRx<'_, S> {
    fn recv(&mut self, out: &mut [&mut [Complex32]], until: MonoNs) -> Result<Received, RadioError> {
        let received = self.rx.recv(out, until)?;
        let channels = self.rx.channels() as u64;
        let counts = &self.shared.counts;
        counts.tells.store(self.rx.shows_losses(), Ordering::Relaxed);
        add(&counts.samples, received.samples as u64 * channels);
        match received.event {
            Some(RxEvent::Overflow { lost, .. }) => {
                add(&counts.overflows, 1);
                add(&counts.lost_samples, lost * channels);
            }
            Some(RxEvent::Unmeasured { .. }) => add(&counts.overflows, 1),
            Some(RxEvent::Dropped { lost, .. }) => {
                add(&counts.dropped, 1);
                add(&counts.lost_samples, lost * channels);
            }
            Some(RxEvent::Late { .. }) => add(&counts.late, 1),
            _ => {}
        }
        if let (Some(tap), Some(samples)) = (&mut self.tap, out.first()) {
            tap.offer(samples.get(..received.samples).unwrap_or_default());
        }
        Ok(received)
    }

    fn channels(&self) -> usize {
        self.rx.channels()
    }

    fn rate_sps(&self) -> f64 {
        self.rx.rate_sps()
    }

    fn tick_rate(&self) -> TickRate {
        self.rx.tick_rate()
    }

    fn ticks_per_sample(&self) -> Ticks {
        self.rx.ticks_per_sample()
    }

    fn speed(&self) -> Speed {
        self.rx.speed()
    }

    fn begins(&self) -> Option<MonoNs> {
        self.rx.begins()
    }

    fn shows_losses(&self) -> bool {
        self.rx.shows_losses()
    }
}

/// A transmit stream that is watched.
pub struct WatchedTx<'a, S: ?Sized> {
    tx: &'a mut S,
    shared: Arc<Shared>,
    tap: Option<TapWriter>,
}

impl<S: ?Sized> WatchedTx<'_, S> {
    /// The stream itself.
    #[must_use]
    pub fn stream(&mut self) -> &mut S {
        self.tx
    }
}

impl<S: TxStream + ?Sized> TxStream for WatchedTx<'_, S> {
    fn send(&mut self, samples: &[&[Complex32]], burst: Burst, until: MonoNs) -> Result<usize, RadioError> {
        let sent = self.tx.send(samples, burst, until)?;
        self.shared.counts.tells.store(self.tx.reports_faults(), Ordering::Relaxed);
        add(&self.shared.counts.samples, sent as u64 * self.tx.channels() as u64);
        if let (Some(tap), Some(samples)) = (&mut self.tap, samples.first()) {
            tap.offer(samples.get(..sent).unwrap_or_default());
        }
        Ok(sent)
    }

    fn event(&mut self, until: MonoNs) -> Result<Option<TxEvent>, RadioError> {
        let event = self.tx.event(until)?;
        let counts = &self.shared.counts;
        match event.map(|event| event.kind) {
            Some(TxEventKind::Underflow) => add(&counts.underflows, 1),
            Some(TxEventKind::SequenceError) => add(&counts.sequence_errors, 1),
            Some(TxEventKind::Late) => add(&counts.late, 1),
            _ => {}
        }
        Ok(event)
    }

    fn channels(&self) -> usize {
        self.tx.channels()
    }

    fn rate_sps(&self) -> f64 {
        self.tx.rate_sps()
    }

    fn tick_rate(&self) -> TickRate {
        self.tx.tick_rate()
    }

    fn ticks_per_sample(&self) -> Ticks {
        self.tx.ticks_per_sample()
    }

    fn reports_faults(&self) -> bool {
        self.tx.reports_faults()
    }

    fn speed(&self) -> Speed {
        self.tx.speed()
    }
}

impl Source for StreamView {
    fn snapshot(&mut self) -> Snapshot {
        let Some(opened) = self.shared.opened.get() else { return Snapshot::default() };
        let counts = &self.shared.counts;
        let tells = counts.tells.load(Ordering::Relaxed);
        // If the stream does not tell, none seen is not none.
        let read = |count: &AtomicU64| Some(count.load(Ordering::Relaxed)).filter(|&count| tells || count > 0);
        let is_rx = opened.direction == Direction::Rx;
        let letters = if is_rx {
            Letters {
                overflows: read(&counts.overflows),
                received_lost: read(&counts.dropped),
                late: read(&counts.late),
                ..Letters::default()
            }
        } else {
            Letters {
                underflows: read(&counts.underflows),
                sent_lost: read(&counts.sequence_errors),
                late: read(&counts.late),
                ..Letters::default()
            }
        };
        let radio = takt_live::Radio {
            name: opened.name.clone(),
            direction: opened.direction,
            rate_sps: Some(opened.rate_sps),
            freq_hz: opened.freq_hz,
            channels: u32::try_from(opened.channels).ok(),
            samples: Some(counts.samples.load(Ordering::Relaxed)),
            lost_samples: read(&counts.lost_samples).filter(|_| is_rx),
            letters,
        };
        let now = WallClock.now();
        let spectrum = self.tap.spectrum(opened.direction.name(), opened.freq_hz, opened.rate_sps, now);
        Snapshot {
            speed: Some(opened.speed),
            radios: vec![radio],
            spectra: spectrum.into_iter().collect(),
            ..Snapshot::default()
        }
    }
}

/// Shows several streams: as one source, in their order.
pub struct StreamViews(Vec<StreamView>);

impl FromIterator<StreamView> for StreamViews {
    fn from_iter<I: IntoIterator<Item = StreamView>>(views: I) -> StreamViews {
        StreamViews(views.into_iter().collect())
    }
}

impl Source for StreamViews {
    fn snapshot(&mut self) -> Snapshot {
        let mut all = Snapshot::default();
        for one in self.0.iter_mut().map(Source::snapshot) {
            all.speed = all.speed.or(one.speed);
            all.radios.extend(one.radios);
            all.spectra.extend(one.spectra);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use takt_base::Tick;

    use super::*;

    /// Brings 2000 samples a call, and these events. It shows its losses, or not.
    struct Script(Vec<Option<RxEvent>>, bool);

    impl RxStream for Script {
        fn recv(&mut self, out: &mut [&mut [Complex32]], _: MonoNs) -> Result<Received, RadioError> {
            out[0].fill(Complex32::new(1.0, 0.0));
            Ok(Received { samples: 2000, first: Tick(0), event: self.0.pop().flatten() })
        }
        fn channels(&self) -> usize {
            1
        }
        fn rate_sps(&self) -> f64 {
            1e6
        }
        fn tick_rate(&self) -> TickRate {
            crate::n200::CLOCK
        }
        fn ticks_per_sample(&self) -> Ticks {
            Ticks(100)
        }
        fn shows_losses(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn a_stream_that_shows_no_losses_has_no_count_of_none() {
        let (probe, mut view) = watched_stream();
        let mut script = Script(vec![Some(RxEvent::Unmeasured { channel: 0 }), None], false);
        let mut rx = probe.rx("soapy:driver=x", None, &mut script);
        let mut samples = vec![Complex32::default(); 2000];
        let mut seen = || {
            let _received = rx.recv(&mut [&mut samples], MonoNs(0)).expect("samples");
            let radio = view.snapshot().radios.remove(0);
            (radio.samples, radio.lost_samples, radio.letters.overflows, radio.letters.received_lost)
        };
        assert_eq!(seen(), (Some(2000), None, None, None));
        assert_eq!(seen(), (Some(4000), None, Some(1), None), "it was seen");
    }

    #[test]
    fn a_stream_that_is_watched_passes_all_and_counts_it() {
        let (probe, mut view) = watched_stream();
        assert_eq!(view.snapshot(), Snapshot::default(), "not open yet");
        let lost = [
            None,
            Some(RxEvent::Overflow { channel: 0, lost: 7 }),
            Some(RxEvent::Dropped { channel: 0, datagrams: 1, lost: 5 }),
            Some(RxEvent::Retimed),
        ];
        let mut script = Script(lost.to_vec(), true);
        let mut rx = probe.rx("N200 serial 1", Some(9e8), &mut script);
        view.snapshot();
        let mut samples = vec![Complex32::default(); 2000];
        for expected in lost.iter().rev() {
            let received = rx.recv(&mut [&mut samples], MonoNs(0)).expect("samples");
            assert_eq!((received.samples, received.event), (2000, *expected));
        }
        let snapshot = view.snapshot();
        let [radio] = &snapshot.radios[..] else { panic!("{snapshot:?}") };
        assert_eq!((radio.samples, radio.lost_samples), (Some(8000), Some(12)));
        assert_eq!(radio.letters.list().map(|(_, count)| count), [Some(1), None, Some(0), None, Some(1)]);
        assert_eq!((snapshot.spectra.len(), snapshot.speed), (1, Some(1.0)));
    }
}
