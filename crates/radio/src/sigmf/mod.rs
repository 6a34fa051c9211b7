//! SigMF recordings: as streams in place of a radio, and from and to a radio.
//!
//! A recording keeps time: each run without a gap is a capture, whose `core:global_index` counts samples from the first
//! one, the missing ones included, and whose `takt:tick` is the radio's own time stamp. So what was lost while recording
//! is a gap of its length when the recording is received or played again.
//!
//! All begins with the first capture: nothing is known of samples before it. A session retunes the radio at the
//! sample where captures differ in frequency, or refuses.

mod play;
mod record;
mod retune;
mod runs;
mod rx;
mod session;
mod tx;

use takt_base::{Tick, TickRate, Ticks};
use takt_dsp::sigmf::{Capture, Fields};

pub use play::{PlayPlan, Played, play};
pub use record::{RecordPlan, Recorded, record};
pub use rx::SigmfRx;
pub use session::{PlayWish, PlayedRecording, Report, Session, open_to_play};
pub use tx::SigmfTx;

use crate::n200::CLOCK;

/// Our own fields of a capture: when it began on the radio's clock, and ticks of that in a second where the rate alone does not
/// tell.
const TICK: &str = "takt:tick";
const TICK_HZ: &str = "takt:tick_hz";

/// The clock that a recording's samples lie on: an N200's if its rate divides that, else one tick a sample.
fn grid(rate_sps: f64) -> Option<(TickRate, Ticks)> {
    if let Some(step) = step(CLOCK, rate_sps) {
        return Some((CLOCK, step));
    }
    let hz = rate_sps.round();
    ((hz - rate_sps).abs() < 1e-6 * rate_sps && hz <= f64::from(u32::MAX))
        .then(|| TickRate::from_hz(hz as u32))
        .flatten()
        .map(|clock| (clock, Ticks(1)))
}

/// Fields of a capture of a stream that begins at `tick` of this clock.
fn stamp(tick: Tick, clock: TickRate, rate_sps: f64) -> Fields {
    let by_rate = grid(rate_sps).is_some_and(|(usual, _)| usual == clock);
    let tick_hz = (!by_rate).then(|| (TICK_HZ, u64::from(clock.hz())));
    [(TICK, tick.0)].into_iter().chain(tick_hz).collect()
}

/// The clock that a recording's samples lie on: the one it names, else that of [`grid`]; `None`: its rate counts no ticks.
fn recorded_grid(first: Option<&Capture>, rate_sps: f64) -> Option<(TickRate, Ticks)> {
    let named = first.and_then(|capture| capture.other.get(TICK_HZ)?.as_u64());
    let Some(hz) = named else { return grid(rate_sps) };
    let clock = TickRate::from_hz(u32::try_from(hz).ok()?)?;
    Some((clock, step(clock, rate_sps)?))
}

/// Ticks of a clock in a sample, if they are whole.
fn step(clock: TickRate, rate_sps: f64) -> Option<Ticks> {
    let ratio = f64::from(clock.hz()) / rate_sps;
    (ratio >= 1.0 && (ratio - ratio.round()).abs() < 1e-6 * ratio).then_some(Ticks(ratio.round() as u64))
}

/// Start of a capture: by its index, counted on from the stream's first sample at `origin`.
fn tick_of(capture: &Capture, origin: Tick, step: Ticks) -> Tick {
    let index = capture.global_index.unwrap_or(capture.sample_start);
    Tick(origin.0.saturating_add(index.saturating_mul(step.0)))
}

/// The time of sample 0 of the stream that a recording is a piece of.
fn origin(first: &Capture, step: Ticks) -> Tick {
    let index = first.global_index.unwrap_or(first.sample_start);
    let tick = first.other.get(TICK).and_then(|tick| tick.as_u64());
    Tick(tick.unwrap_or(0).saturating_sub(index.saturating_mul(step.0)))
}
