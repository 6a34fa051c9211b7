//! Input of a receiver, of which who watches sees a few samples.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use takt_base::{Clock, Complex32, Tick, Ticks, WallClock};
use takt_live::Spectrum;
use takt_live::tap::{TapReader, TapWriter, tap};

use crate::source::Source;
use crate::timebase::Timebase;

/// Settings of a receiver, as it last used them. Each number stands for itself.
#[derive(Debug, Default)]
struct Words {
    /// Bits of a number of Hz; 0: it was not tuned.
    centre_hz: AtomicU64,
    /// Bits of a number of Hz.
    clock_hz: AtomicU64,
    /// Ticks of a sample.
    step: AtomicU64,
}

/// A source that is watched.
struct Tapped {
    source: Box<dyn Source>,
    tap: TapWriter,
    words: Arc<Words>,
}

/// The looking end.
pub(super) struct TapView {
    name: String,
    words: Arc<Words>,
    reader: Mutex<TapReader>,
}

/// Both, of a receiver whose clock has this rate.
pub(super) fn tapped(source: Box<dyn Source>, name: String, clock_hz: u32) -> (Box<dyn Source>, TapView) {
    let (writer, reader) = tap();
    let words = Arc::new(Words { clock_hz: f64::from(clock_hz).to_bits().into(), ..Words::default() });
    let view = TapView { name, words: Arc::clone(&words), reader: Mutex::new(reader) };
    (Box::new(Tapped { source, tap: writer, words }), view)
}

impl Source for Tapped {
    fn raw(&self) -> bool {
        self.source.raw()
    }

    fn clocked(&mut self, from: Tick, base: Timebase) {
        self.words.clock_hz.store(base.hz().to_bits(), Relaxed);
        self.source.clocked(from, base);
    }

    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.words.centre_hz.store(centre_hz.to_bits(), Relaxed);
        self.source.tuned(from, centre_hz);
    }

    fn oscillator(&mut self, from: Tick, hz: f64) {
        self.source.oscillator(from, hz);
    }

    fn calibrating(&mut self, from: Tick, leakage: Option<f32>) {
        self.source.calibrating(from, leakage);
    }

    fn lookahead(&self, first: Tick, step: u32) -> Ticks {
        self.source.lookahead(first, step)
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        self.source.fill(first, step, out);
        self.words.step.store(step.into(), Relaxed);
        self.tap.offer(out);
    }
}

impl TapView {
    /// Spectrum of what it received last; `None`: nothing for a second.
    pub(super) fn spectrum(&self) -> Option<Spectrum> {
        let hz = |word: &AtomicU64| Some(f64::from_bits(word.load(Relaxed))).filter(|&hz| hz > 0.0);
        let Words { centre_hz, clock_hz, step } = &*self.words;
        let rate_sps = hz(clock_hz)? / step.load(Relaxed).max(1) as f64;
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.spectrum(&self.name, hz(centre_hz), rate_sps, WallClock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Tone;

    #[test]
    fn who_watches_sees_the_receivers_band_and_the_receiver_the_same_samples() {
        let clock = takt_base::TickRate::from_hz(100_000_000).expect("a rate");
        let tone = || Box::new(Tone::new(clock, 250e3, 0.5));
        let (mut source, view) = tapped(tone(), "N200 rx 0".to_owned(), clock.hz());
        assert_eq!(view.spectrum(), None, "nothing was received");
        let (mut seen, mut plain) = ([Complex32::default(); 1024], [Complex32::default(); 1024]);
        source.tuned(Tick(0), 900e6);
        source.fill(Tick(0), 100, &mut seen);
        tone().fill(Tick(0), 100, &mut plain);
        assert_eq!(seen, plain);
        let Spectrum { name, freq_hz, span_hz, dbfs } = view.spectrum().expect("it received");
        assert_eq!((name.as_str(), freq_hz, span_hz), ("N200 rx 0", Some(900e6), 1e6));
        assert!((dbfs[512 + 256] + 6.02).abs() < 0.1, "a quarter of the rate above the carrier: {}", dbfs[768]);
    }
}
