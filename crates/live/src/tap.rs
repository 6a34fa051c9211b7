//! A few samples of a stream, for a spectrum and a constellation.
//!
//! The thread that streams offers its samples at each turn. It copies as many as a block holds into a ring, or does nothing if
//! the ring is full: nobody looks, or has looked lately. Short turns fill a block together. A look makes a spectrum of the blocks
//! that wait.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex, Complex32, MonoNs};
use takt_fft::{Fft, forward};
use takt_link::ring::{Reader, Writer, ring};

use crate::document::FLOOR_DBFS;
use crate::limits::{BINS, POINTS};
use crate::{Constellation, Spectrum};

/// Blocks that may wait.
const BLOCKS: usize = 4;
/// A spectrum that is older says nothing about now.
const FRESH: Duration = Duration::from_secs(1);
/// Counts of full scale in 16-bit samples.
const FULL_SCALE: f32 = 32_768.0;

#[derive(Clone)]
struct Block {
    samples: Box<[Complex32; BINS]>,
}

/// The end of the thread that streams.
pub struct TapWriter {
    ring: Writer<Block>,
    next: u64,
    /// Samples in the block that is being filled.
    filled: usize,
}

/// The end of who looks.
pub struct TapReader {
    ring: Reader<Block>,
    next: u64,
    fft: Arc<dyn Fft<f32>>,
    window: Vec<f32>,
    /// When a spectrum was asked for last.
    looked: Option<MonoNs>,
    /// The newest look, and when it was taken.
    newest: Option<(MonoNs, Look)>,
}

/// Results made of the blocks of a look.
struct Look {
    dbfs: Vec<f32>,
    points: Vec<[f32; 2]>,
}

/// Both ends of a tap. All memory is allocated here.
#[must_use]
pub fn tap() -> (TapWriter, TapReader) {
    let block = Block { samples: Box::new([Complex32::default(); BINS]) };
    let (writer, mut readers) = ring(vec![block; BLOCKS], 1);
    let reader =
        TapReader { ring: readers.remove(0), next: 0, fft: forward(BINS), window: hann(), looked: None, newest: None };
    (TapWriter { ring: writer, next: 0, filled: 0 }, reader)
}

impl TapWriter {
    /// Offers samples that lie one after the other, 1 being full scale, and follow those offered before. A block takes the first
    /// ones; the rest of a long turn is left.
    #[inline]
    pub fn offer(&mut self, samples: &[Complex32]) {
        self.offer_with(samples, |sample| sample);
    }

    /// The same of 16-bit samples.
    #[inline]
    pub fn offer_sc16(&mut self, samples: &[Complex<i16>]) {
        let of = |part: i16| f32::from(part) / FULL_SCALE;
        self.offer_with(samples, |sample| Complex32::new(of(sample.re), of(sample.im)));
    }

    /// The same of anything, each of which is converted to a sample.
    #[inline]
    pub fn offer_with<T: Copy>(&mut self, samples: &[T], convert: impl Fn(T) -> Complex32) {
        let Some(block) = self.ring.cell(self.next) else { return };
        let room = block.samples.get_mut(self.filled..).unwrap_or_default();
        let taken = room.len().min(samples.len());
        for (place, &sample) in room.iter_mut().zip(samples) {
            *place = convert(sample);
        }
        self.filled += taken;
        if self.filled >= BINS {
            self.ring.publish(self.next);
            self.next += 1;
            self.filled = 0;
        }
    }
}

impl TapReader {
    /// Spectrum of what has come since the last look, or that of a moment before; `None`: nothing has come for a second.
    pub fn spectrum(&mut self, name: &str, freq_hz: Option<f64>, span_hz: f64, now: MonoNs) -> Option<Spectrum> {
        self.look(name, freq_hz, span_hz, now).map(|(spectrum, _)| spectrum)
    }

    /// The same, and the newest samples as points of a plane.
    pub fn look(
        &mut self,
        name: &str,
        freq_hz: Option<f64>,
        span_hz: f64,
        now: MonoNs,
    ) -> Option<(Spectrum, Constellation)> {
        // Blocks that waited while nobody looked are old.
        let is_stale = self.looked.is_none_or(|at| now >= at + FRESH);
        let look = self.drain();
        self.looked = Some(now);
        if let Some(look) = look.filter(|_| !is_stale) {
            self.newest = Some((now, look));
        }
        let (_, Look { dbfs, points }) = self.newest.as_ref().filter(|(at, _)| now < *at + FRESH)?;
        let name = name.to_owned();
        let points = Constellation { name: name.clone(), modulation: None, points: points.clone() };
        Some((Spectrum { name, freq_hz, span_hz, dbfs: dbfs.clone() }, points))
    }

    /// Mean power of each bin over the blocks that wait, and points of the newest of them.
    fn drain(&mut self) -> Option<Look> {
        let (mut power, mut points) = (vec![0.0; BINS], Vec::new());
        let mut blocks = 0;
        while let Some(block) = self.ring.cell(self.next) {
            points = self::points(&block.samples[..]);
            let windowed = block.samples.iter().zip(&self.window).map(|(sample, weight)| sample * weight);
            let mut bins: Vec<Complex32> = windowed.collect();
            self.fft.process(&mut bins);
            power.iter_mut().zip(&bins).for_each(|(sum, bin)| *sum += bin.norm_sqr());
            blocks += 1;
            self.next += 1;
            self.ring.release(self.next);
        }
        let scale = 1.0 / blocks.max(1) as f32;
        let power: Vec<f32> = power.into_iter().map(|sum| sum * scale).collect();
        (blocks > 0).then(|| Look { dbfs: dbfs(&power), points })
    }
}

/// The last samples of a block, 1 being the root of their mean power; none of silence.
fn points(block: &[Complex32]) -> Vec<[f32; 2]> {
    let last = &block[block.len().saturating_sub(POINTS)..];
    let power: f32 = last.iter().map(Complex32::norm_sqr).sum::<f32>() / last.len().max(1) as f32;
    let level = power.sqrt();
    let point = |sample: &Complex32| [sample.re / level, sample.im / level];
    if level > 0.0 { last.iter().map(point).collect() } else { Vec::new() }
}

/// Hann's window, scaled so that a full-scale tone has a power of 1 in its bin.
fn hann() -> Vec<f32> {
    let turn = std::f64::consts::TAU / BINS as f64;
    // Its weights have a mean of 1/2.
    (0..BINS).map(|n| ((1.0 - (turn * n as f64).cos()) / BINS as f64) as f32).collect()
}

/// Levels with the carrier in the middle.
fn dbfs(power: &[f32]) -> Vec<f32> {
    let (positive, negative) = power.split_at(power.len() / 2);
    let level = |power: &f32| (10.0 * power.log10()).max(FLOOR_DBFS);
    negative.iter().chain(positive).map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: MonoNs = MonoNs(1_000_000_000);

    fn tone(bin: usize, level: f32) -> Vec<Complex32> {
        let turn = std::f32::consts::TAU * bin as f32 / BINS as f32;
        (0..2 * BINS).map(|n| Complex32::from_polar(level, turn * n as f32 % std::f32::consts::TAU)).collect()
    }

    #[test]
    fn a_full_scale_tone_stands_at_zero_in_its_bin() {
        let (mut writer, mut reader) = tap();
        assert_eq!(reader.spectrum("rx", None, 1e6, NOW), None);
        writer.offer(&tone(100, 1.0));
        let spectrum = reader.spectrum("rx", Some(9e8), 1e6, NOW).unwrap();
        assert_eq!((spectrum.dbfs.len(), spectrum.freq_hz, spectrum.span_hz), (BINS, Some(9e8), 1e6));
        let level = spectrum.dbfs[BINS / 2 + 100];
        assert!(level.abs() < 0.01, "{level}");
        let far = spectrum.dbfs[BINS / 2 - 100];
        assert!(far < -90.0, "{far}");
    }

    #[test]
    fn samples_of_sixteen_bits_have_the_same_scale() {
        let (mut writer, mut reader) = tap();
        reader.spectrum("rx", None, 1e6, NOW);
        let half = tone(0, 0.5)
            .iter()
            .map(|s| Complex::new((s.re * 32_768.0) as i16, (s.im * 32_768.0) as i16))
            .collect::<Vec<_>>();
        writer.offer_sc16(&half);
        let level = reader.spectrum("rx", None, 1e6, NOW).unwrap().dbfs[BINS / 2];
        assert!((level + 6.02).abs() < 0.01, "{level}");
    }

    #[test]
    fn short_turns_fill_a_block_together() {
        let (mut writer, mut reader) = tap();
        reader.spectrum("rx", None, 1e6, NOW);
        let tone = tone(100, 1.0);
        tone[..BINS - 24].chunks(100).for_each(|turn| writer.offer(turn));
        assert_eq!(reader.spectrum("rx", None, 1e6, NOW), None, "24 samples are missing");
        writer.offer(&tone[BINS - 24..BINS + 100]);
        let spectrum = reader.spectrum("rx", None, 1e6, NOW).unwrap();
        assert!(spectrum.dbfs[BINS / 2 + 100].abs() < 0.01 && spectrum.dbfs[BINS / 2 - 100] < -90.0);
        assert_eq!(writer.filled, 0, "the rest of a turn is left");
    }

    #[test]
    fn a_full_ring_is_left() {
        let (mut writer, mut reader) = tap();
        (0..9).for_each(|_| writer.offer(&tone(0, 1.0)));
        assert_eq!(writer.next, BLOCKS as u64);
        assert_eq!(reader.spectrum("rx", None, 1e6, NOW), None, "it waited while nobody looked");
        writer.offer(&tone(0, 1.0));
        assert!(reader.spectrum("rx", None, 1e6, NOW).is_some());
    }

    #[test]
    fn an_old_spectrum_is_not_shown() {
        let (mut writer, mut reader) = tap();
        reader.spectrum("rx", None, 1e6, NOW);
        writer.offer(&tone(0, 1.0));
        let ms = |n| NOW + Duration::from_millis(n);
        assert!(reader.spectrum("rx", None, 1e6, NOW).is_some());
        assert!(reader.spectrum("rx", None, 1e6, ms(500)).is_some(), "another reader looked in between");
        assert!(reader.spectrum("rx", None, 1e6, ms(1000)).is_none());
    }

    #[test]
    fn silence_has_a_level_that_json_carries() {
        let (mut writer, mut reader) = tap();
        reader.spectrum("rx", None, 1e6, NOW);
        writer.offer(&[Complex32::default(); BINS]);
        let spectrum = reader.spectrum("rx", None, 1e6, NOW).unwrap();
        assert!(spectrum.dbfs.iter().all(|&level| level == FLOOR_DBFS));
    }
}
