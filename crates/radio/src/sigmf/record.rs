//! From a receive stream into a recording.
//!
//! A disk may pause for longer than a socket's buffer lasts, so a thread of its own writes, behind a queue of fixed size.
//! When the queue is full, samples are dropped and counted, and become a gap like any other: the reader never waits for
//! the disk.

use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use takt_base::{Clock, Complex32, Stop, Tick, Ticks, utc_text};
use takt_dsp::file::FileError;
use takt_dsp::sigmf::{Capture, Metadata, Writer};
use takt_host::placement::Placement;

use super::stamp;
use crate::{RadioError, RxEvent, RxStream};

/// Samples in a block of the queue, all channels together.
const BLOCK: usize = 1 << 16;
/// Blocks in the queue: 256 MiB, 1.3 s at 25 MS/s.
const BLOCKS: usize = 512;
/// Samples between two checkpoints of the recording.
const CHECKPOINT: u64 = 1 << 24;
/// A stream that brings nothing for so long is silent.
const PATIENCE: Duration = Duration::from_millis(100);

/// Settings of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordPlan {
    /// Samples, the missing ones included; `None` = until stopped.
    pub samples: Option<u64>,
    /// Radio frequency of 0 Hz, for the metadata.
    pub frequency_hz: Option<f64>,
    /// UTC at a tick of the stream, nanoseconds since 1970, for the metadata.
    pub utc: Option<(Tick, u64)>,
    /// The place of the thread that receives, not of the one that writes to the disk.
    pub placement: Placement,
}

/// Counts of what was recorded.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Recorded {
    /// Channels in the file.
    pub channels: usize,
    /// Samples in the file, of each channel; so are all other counts of samples but `clipped`.
    pub samples: u64,
    /// Samples missing between the first and the last, by the time stamps.
    pub lost_samples: u64,
    /// Samples among these dropped since the disk was too slow.
    pub lost_to_disk: u64,
    /// Gaps.
    pub gaps: u64,
    /// Times the radio could not send.
    pub overflows: u64,
    /// Times nothing came for 100 ms, counted from when the first sample was due.
    pub timeouts: u64,
    /// Samples of all channels beyond the full scale of the file's format.
    pub clipped: u64,
    /// Tick of the first sample.
    pub first_tick: Option<u64>,
    /// All that was requested was recorded or lost; not stopped before.
    pub complete: bool,
}

impl Recorded {
    /// Whether nothing is missing of what was requested, `samples` or however many came until it was stopped: some came, none
    /// was lost, and it was not stopped before its length.
    #[must_use]
    pub fn is_whole(&self, samples: Option<u64>) -> bool {
        self.samples > 0 && self.lost_samples == 0 && (self.complete || samples.is_none())
    }
}

/// Entry of the queue.
enum Item {
    /// A run begins.
    Capture(Capture),
    /// Samples: a part of the block for each channel, so many samples in it.
    Samples(Vec<Complex32>, usize),
}

/// Records all channels of `rx` until the plan is fulfilled, the stream ends, or `stop`. The stream must have been started.
/// `progress` gets how many samples have come or been lost. The calling thread receives, and keeps the plan's placement.
///
/// # Errors
/// The thread can't be placed, the stream is over, its start came too late, or the file can't be written; what was recorded
/// until then is readable.
pub fn record(
    rx: &mut dyn RxStream,
    clock: &dyn Clock,
    writer: Writer,
    plan: &RecordPlan,
    progress: &mut dyn FnMut(u64),
    stop: &Stop,
) -> Result<(Recorded, Metadata), RadioError> {
    let channels = rx.channels();
    let (full, written) = mpsc::sync_channel(BLOCKS);
    let (empty, blocks) = mpsc::sync_channel(BLOCKS);
    thread::scope(|scope| {
        let disk = thread::Builder::new()
            .name("takt-disk".into())
            .spawn_scoped(scope, move || write(writer, channels, &written, &empty));
        let disk = disk.map_err(RadioError::Thread)?;
        let queue = Queue { full, blocks, made: 0 };
        // Only now: the thread of the disk would have been placed too.
        let placed = plan.placement.place_self().map_err(RadioError::from);
        let received = placed.and_then(|()| receive(rx, clock, queue, plan, progress, stop));
        // The queue is closed; the thread writes what is in it and ends.
        let finished = disk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut recorded = received?;
        let (metadata, clipped) = finished?;
        recorded.clipped = clipped;
        Ok((recorded, metadata))
    })
}

/// The near end of the queue.
struct Queue {
    full: SyncSender<Item>,
    blocks: Receiver<Vec<Complex32>>,
    made: usize,
}

/// The queue is full, or nobody writes any more.
enum Refused {
    Full,
    Closed,
}

impl Queue {
    fn block(&mut self) -> Option<Vec<Complex32>> {
        if let Ok(block) = self.blocks.try_recv() {
            return Some(block);
        }
        let more = self.made < BLOCKS;
        self.made += usize::from(more);
        more.then(|| vec![Complex32::default(); BLOCK])
    }

    fn push(&self, item: Item) -> Result<(), Refused> {
        self.full.try_send(item).map_err(|refused| match refused {
            TrySendError::Full(_) => Refused::Full,
            TrySendError::Disconnected(_) => Refused::Closed,
        })
    }
}

fn receive(
    rx: &mut dyn RxStream,
    clock: &dyn Clock,
    mut queue: Queue,
    plan: &RecordPlan,
    progress: &mut dyn FnMut(u64),
    stop: &Stop,
) -> Result<Recorded, RadioError> {
    let (step, patience) = (rx.ticks_per_sample(), rx.speed().patience(PATIENCE));
    let channels = rx.channels();
    let part = BLOCK / channels.max(1);
    let mut recorded = Recorded { channels, ..Recorded::default() };
    let mut spare = vec![Complex32::default(); BLOCK];
    // The file goes on here if there is no gap.
    let mut expected = None;
    loop {
        let accounted = recorded.samples + recorded.lost_samples;
        let left = plan.samples.map_or(u64::MAX, |samples| samples.saturating_sub(accounted));
        if left == 0 || stop.requested() {
            recorded.complete = left == 0;
            return Ok(recorded);
        }
        progress(accounted);
        let room = part.min(usize::try_from(left).unwrap_or(part));
        // Without a block the samples are received all the same, and dropped.
        let mut block = queue.block();
        let buffer = block.as_mut().unwrap_or(&mut spare);
        let mut out: Vec<&mut [Complex32]> = parts(buffer, part, channels).map(|part| &mut part[..room]).collect();
        let received = rx.recv(&mut out, clock.now() + patience)?;
        if received.samples > 0 {
            let origin = *recorded.first_tick.get_or_insert(received.first.0);
            let pushed = match block {
                None => Err(Refused::Full),
                Some(block) => {
                    let capture = || capture(plan, rx, received.first, Tick(origin), step);
                    let begin =
                        if expected == Some(received.first) { Ok(()) } else { queue.push(Item::Capture(capture())) };
                    begin.and_then(|()| queue.push(Item::Samples(block, received.samples)))
                }
            };
            match pushed {
                Ok(()) => {
                    recorded.samples += received.samples as u64;
                    expected = Some(received.first + Ticks(received.samples as u64 * step.0));
                }
                Err(Refused::Full) => {
                    recorded.gaps += u64::from(expected.is_some());
                    recorded.lost_samples += received.samples as u64;
                    recorded.lost_to_disk += received.samples as u64;
                    expected = None;
                }
                // Joining the thread tells why.
                Err(Refused::Closed) => return Ok(recorded),
            }
        } else if received.event.is_none() && rx.begins().is_none_or(|first| clock.now() >= first + patience) {
            recorded.timeouts += 1;
        }
        match received.event {
            Some(RxEvent::Overflow { lost, .. }) => {
                recorded.overflows += 1;
                recorded.gaps += 1;
                recorded.lost_samples += lost;
            }
            Some(RxEvent::Dropped { lost, .. }) => {
                recorded.gaps += 1;
                recorded.lost_samples += lost;
            }
            // The radio sends nothing then, and nobody starts it again.
            Some(RxEvent::Late { by, .. }) => {
                return Err(RadioError::StartedLate { by: rx.tick_rate().duration_of(by) });
            }
            Some(RxEvent::EndOfBurst) => {
                recorded.complete =
                    plan.samples.is_none_or(|samples| recorded.samples + recorded.lost_samples >= samples);
                return Ok(recorded);
            }
            _ => {}
        }
    }
}

/// The parts of a block, one for each channel.
fn parts(block: &mut [Complex32], part: usize, channels: usize) -> impl Iterator<Item = &mut [Complex32]> {
    block.chunks_exact_mut(part.max(1)).take(channels)
}

fn capture(plan: &RecordPlan, rx: &dyn RxStream, first: Tick, origin: Tick, step: Ticks) -> Capture {
    let datetime = plan.utc.map(|(tick, utc_ns)| {
        let clock = rx.tick_rate();
        let after = clock.ns_of(first - tick);
        let before = clock.ns_of(tick - first);
        utc_text(utc_ns.saturating_add(after).saturating_sub(before))
    });
    Capture {
        global_index: Some((first - origin).0 / step.0),
        frequency_hz: plan.frequency_hz,
        datetime,
        other: stamp(first, rx.tick_rate(), rx.rate_sps()),
        ..Capture::default()
    }
}

/// The far end: what comes goes to disk, and blocks go back.
fn write(
    mut writer: Writer,
    channels: usize,
    items: &Receiver<Item>,
    empty: &SyncSender<Vec<Complex32>>,
) -> Result<(Metadata, u64), FileError> {
    let mut kept = 0;
    for item in items {
        match item {
            Item::Capture(capture) => writer.begin_capture(capture),
            Item::Samples(block, samples) => {
                let parts = block.chunks_exact((BLOCK / channels.max(1)).max(1)).take(channels);
                let parts: Vec<&[Complex32]> = parts.map(|part| part.get(..samples).unwrap_or(part)).collect();
                writer.write_channels(&parts)?;
                // The reader may be gone; then nobody needs the block.
                let _ = empty.try_send(block);
            }
        }
        if writer.samples() - kept >= CHECKPOINT {
            kept = writer.samples();
            writer.checkpoint()?;
        }
    }
    let clipped = writer.clipped();
    // The stream is over, and nobody waits for the disk any more.
    Ok((writer.seal()?, clipped))
}
