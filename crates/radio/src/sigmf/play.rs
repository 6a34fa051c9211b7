//! From a recording into a transmit stream, each capture at its time.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Stop, Tick, Ticks};
use takt_dsp::file::FileError;
use takt_dsp::sigmf::Reader;
use takt_host::placement::Placement;
use takt_wire::sample::full_scale;

use super::runs::{Run, Runs};
use crate::{Burst, RadioError, TxEventKind, TxStream};

/// Samples in a block read ahead, and blocks: 64 MiB.
const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 128;
/// A radio that takes nothing for so long, once its burst has begun, counts a timeout.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long after its last sample the radio may take to acknowledge.
const ACKNOWLEDGED: Duration = Duration::from_secs(1);

/// Counts of what was played.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Played {
    /// Samples sent.
    pub samples: u64,
    /// Those of them that exceed full scale, so that the radio got the nearest that it has.
    pub clipped_samples: u64,
    /// Bursts: captures that do not follow each other without a gap, times repetitions.
    pub bursts: u64,
    /// Bursts that the radio acknowledged.
    pub burst_acks: u64,
    /// `U`.
    pub underflows: u64,
    /// `S`.
    pub sequence_errors: u64,
    /// `L`.
    pub late: u64,
    /// Times the radio took nothing for 100 ms after a burst had begun.
    pub timeouts: u64,
    /// All was sent; not stopped before.
    pub complete: bool,
}

/// How a recording is to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayPlan {
    /// When its first sample leaves.
    pub start: Tick,
    /// How far ahead that is now, on this host's clock; about.
    pub lead: Duration,
    /// How often; repetitions follow each other without a gap.
    pub times: u64,
    /// The place of the thread that sends, not of the one that reads from the disk.
    pub placement: Placement,
}

/// Plays a recording from its first capture on; its gaps stay gaps. `progress` gets how many samples were sent. The calling thread
/// sends, and keeps the plan's placement.
///
/// # Errors
/// The thread can't be placed, the stream is over, or the file can't be read.
pub fn play(
    reader: Reader,
    tx: &mut dyn TxStream,
    clock: &dyn Clock,
    plan: PlayPlan,
    progress: &mut dyn FnMut(u64),
    stop: &Stop,
) -> Result<Played, RadioError> {
    let runs = Runs::of(&reader, tx.ticks_per_sample());
    let speed = tx.speed();
    let length = speed.duration_of(tx.tick_rate(), Ticks(runs.length.0.saturating_mul(plan.times)));
    let begins = clock.now() + plan.lead;
    let over = begins + length + speed.patience(ACKNOWLEDGED);
    let (sender, blocks) = mpsc::sync_channel(BLOCKS);
    let (times, stop_reading) = (plan.times, Stop::new());
    thread::scope(|scope| {
        let reading = stop_reading.clone();
        let disk = thread::Builder::new()
            .name("takt-disk".into())
            .spawn_scoped(scope, move || read(reader, times, &sender, &reading))
            .map_err(RadioError::Thread)?;
        let patience = speed.patience(PATIENCE);
        let mut player =
            Player { tx, clock, begins, patience, blocks, block: Vec::new(), used: 0, played: Played::default() };
        // Only now: the thread of the disk would have been placed too.
        let placed = plan.placement.place_self().map_err(RadioError::from);
        let sent = placed.and_then(|()| player.run(&runs, &plan, progress, stop));
        stop_reading.request();
        let Player { tx, mut played, blocks, .. } = player;
        drop(blocks);
        disk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        sent?;
        if played.complete {
            collect(tx, over, &mut played)?;
        }
        Ok(played)
    })
}

/// Samples of the file, and how many of them are beyond full scale.
struct Block {
    samples: Vec<Complex32>,
    clipped: u64,
}

struct Player<'a> {
    tx: &'a mut dyn TxStream,
    clock: &'a dyn Clock,
    /// When the first burst leaves, about.
    begins: MonoNs,
    /// How long the radio may take nothing, by the host's clock.
    patience: Duration,
    blocks: Receiver<Block>,
    block: Vec<Complex32>,
    used: usize,
    played: Played,
}

impl Player<'_> {
    fn run(
        &mut self,
        runs: &Runs,
        plan: &PlayPlan,
        progress: &mut dyn FnMut(u64),
        stop: &Stop,
    ) -> Result<(), RadioError> {
        for turn in 0..plan.times {
            let turn_at = Ticks(runs.length.0.saturating_mul(turn));
            for &Run { first, end, at } in &runs.runs {
                let since_start = turn_at + at;
                let leaves = self.begins + self.tx.speed().duration_of(self.tx.tick_rate(), since_start);
                let mut left = end - first;
                let mut burst = Burst::at(plan.start + since_start);
                self.played.bursts += 1;
                while left > 0 {
                    let Some(sent) = self.send(left, burst, leaves)? else { return Ok(()) };
                    left -= sent;
                    burst = if sent > 0 { Burst::GO_ON } else { burst };
                    progress(self.played.samples);
                    if stop.requested() {
                        self.tx.send(&[&[]], Burst::END, self.clock.now() + self.patience)?;
                        return Ok(());
                    }
                }
            }
        }
        self.played.complete = true;
        Ok(())
    }

    /// Sends up to `left` samples of the run, as many as the block has; ends the burst with the last one. Until the burst
    /// `leaves`, a full radio takes nothing and is right. `None`: there is nothing more to read, which joining the thread
    /// that reads explains.
    fn send(&mut self, left: u64, burst: Burst, leaves: MonoNs) -> Result<Option<u64>, RadioError> {
        if self.used == self.block.len() {
            let Ok(next) = self.blocks.recv() else { return Ok(None) };
            (self.block, self.used) = (next.samples, 0);
            self.played.clipped_samples += next.clipped;
            let now = self.clock.now();
            collect(self.tx, now, &mut self.played)?;
        }
        let take = (self.block.len() - self.used).min(usize::try_from(left).unwrap_or(usize::MAX));
        let call = Burst { ends: take as u64 == left, ..burst };
        let samples = &self.block[self.used..self.used + take];
        let sent = self.tx.send(&[samples], call, self.clock.now().max(leaves) + self.patience)?;
        self.used += sent;
        // Part of a block is not nothing: with slow samples a block lasts for longer.
        self.played.timeouts += u64::from(sent == 0);
        self.played.samples += sent as u64;
        Ok(Some(sent as u64))
    }
}

/// Takes in what the radio reports, until the last burst is acknowledged or the clock shows `until`.
fn collect(tx: &mut dyn TxStream, until: MonoNs, played: &mut Played) -> Result<(), RadioError> {
    while played.burst_acks < played.bursts {
        let Some(event) = tx.event(until)? else { return Ok(()) };
        match event.kind {
            TxEventKind::BurstAck => played.burst_acks += 1,
            TxEventKind::Underflow => played.underflows += 1,
            TxEventKind::SequenceError => played.sequence_errors += 1,
            TxEventKind::Late => played.late += 1,
            TxEventKind::Unknown(_) => {}
        }
    }
    Ok(())
}

/// Reads ahead.
fn read(mut reader: Reader, times: u64, sender: &mpsc::SyncSender<Block>, stop: &Stop) -> Result<(), FileError> {
    for _ in 0..times {
        reader.seek(reader.begins());
        loop {
            let mut samples = vec![Complex32::default(); BLOCK];
            let read = reader.read(&mut samples)?;
            samples.truncate(read);
            if read == 0 || stop.requested() {
                break;
            }
            let clipped = samples.iter().filter(|sample| is_clipped(**sample)).count() as u64;
            if sender.send(Block { samples, clipped }).is_err() {
                return Ok(()); // nobody plays any more
            }
        }
    }
    Ok(())
}

/// Whether a radio has no integer for a sample, whose parts are finite.
fn is_clipped(sample: Complex32) -> bool {
    let integers = full_scale::SC16_LEAST..=full_scale::SC16;
    let fits = |part: f32| integers.contains(&(part * full_scale::SC16).round_ties_even());
    !fits(sample.re) || !fits(sample.im)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // F7: floats may be of any size
    fn what_is_beyond_the_integers_of_the_wire_is_clipped() {
        let sample = |re, im| is_clipped(Complex32::new(re, im));
        for inside in [0.0, 1.0, -1.0, f32::from(i16::MIN) / full_scale::SC16] {
            assert!(!sample(inside, 0.0) && !sample(0.0, inside), "{inside}");
        }
        for beyond in [1.001, -1.001, 6.0, f32::MAX] {
            assert!(sample(beyond, 0.0) && sample(0.0, beyond), "{beyond}");
        }
    }
}
