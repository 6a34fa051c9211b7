//! From a recording into a transmit stream, each capture at its time.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Stop, Tick, Ticks};
use takt_dsp::file::FileError;
use takt_dsp::sigmf::Reader;

use super::{origin, tick_of};
use crate::{Burst, RadioError, TxEventKind, TxStream};

/// Samples in a block read ahead, and blocks: 64 MiB.
const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 128;
/// A radio that takes nothing for so long, once its burst has begun, counts a timeout.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long after its last sample the radio may take to acknowledge.
const ACKNOWLEDGED: Duration = Duration::from_secs(1);

/// What was played.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Played {
    /// Samples sent.
    pub samples: u64,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayPlan {
    /// When its first sample leaves.
    pub start: Tick,
    /// How far ahead that is now, on this host's clock; about.
    pub lead: Duration,
    /// How often; repetitions follow each other without a gap.
    pub times: u64,
}

/// Plays a recording; its gaps stay gaps. `progress` gets how many samples were sent.
///
/// # Errors
/// The stream is over, or the file can't be read.
pub fn play(
    reader: Reader,
    tx: &mut dyn TxStream,
    clock: &dyn Clock,
    plan: PlayPlan,
    progress: &mut dyn FnMut(u64),
    stop: &Stop,
) -> Result<Played, RadioError> {
    let runs = Runs::of(&reader, tx.ticks_per_sample());
    let length = tx.tick_rate().duration_of(Ticks(runs.length.0.saturating_mul(plan.times)));
    let begins = clock.now() + plan.lead;
    let over = begins + length + ACKNOWLEDGED;
    let (sender, blocks) = mpsc::sync_channel(BLOCKS);
    let stop_reading = Stop::new();
    thread::scope(|scope| {
        let reading = stop_reading.clone();
        let disk = thread::Builder::new()
            .name("takt-disk".into())
            .spawn_scoped(scope, move || read(reader, plan.times, &sender, &reading))
            .map_err(RadioError::Thread)?;
        let mut player = Player { tx, clock, begins, blocks, block: Vec::new(), used: 0, played: Played::default() };
        let sent = player.run(&runs, plan, progress, stop);
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

/// Stretches of the file that are contiguous in time.
struct Runs {
    /// Begin in samples of the file and in ticks from the first sample, end in samples.
    runs: Vec<(u64, Ticks, u64)>,
    /// The whole, gaps included.
    length: Ticks,
}

impl Runs {
    fn of(reader: &Reader, step: Ticks) -> Runs {
        let metadata = reader.metadata();
        let offset = metadata.global.offset;
        let origin = metadata.captures.first().map_or(Tick(0), |first| origin(first, step));
        let zero = metadata.captures.first().map_or(origin, |first| tick_of(first, origin, step));
        let mut runs: Vec<(u64, Ticks, u64)> = Vec::new();
        for (n, capture) in metadata.captures.iter().enumerate() {
            let begin = capture.sample_start.saturating_sub(offset);
            let end =
                metadata.captures.get(n + 1).map_or(reader.samples(), |next| next.sample_start.saturating_sub(offset));
            let at = tick_of(capture, origin, step) - zero;
            match runs.last_mut() {
                // What claims to begin before the last one ended, or right there, goes on from it.
                Some((first, since, last)) if at.0 <= since.0 + (*last - *first) * step.0 => *last = end,
                _ => runs.push((begin, at, end)),
            }
        }
        let length = runs.last().map_or(Ticks(0), |(begin, at, end)| Ticks(at.0 + (end - begin) * step.0));
        Runs { runs, length }
    }
}

struct Player<'a> {
    tx: &'a mut dyn TxStream,
    clock: &'a dyn Clock,
    /// When the first burst leaves, about.
    begins: MonoNs,
    blocks: Receiver<Vec<Complex32>>,
    block: Vec<Complex32>,
    used: usize,
    played: Played,
}

impl Player<'_> {
    fn run(
        &mut self,
        runs: &Runs,
        plan: PlayPlan,
        progress: &mut dyn FnMut(u64),
        stop: &Stop,
    ) -> Result<(), RadioError> {
        for turn in 0..plan.times {
            let turn_at = Ticks(runs.length.0.saturating_mul(turn));
            for &(first, at, end) in &runs.runs {
                let since_start = turn_at + at;
                let leaves = self.begins + self.tx.tick_rate().duration_of(since_start);
                let mut left = end - first;
                let mut burst = Burst::at(plan.start + since_start);
                self.played.bursts += 1;
                while left > 0 {
                    let Some(sent) = self.send(left, burst, leaves)? else { return Ok(()) };
                    left -= sent;
                    burst = if sent > 0 { Burst::GO_ON } else { burst };
                    progress(self.played.samples);
                    if stop.requested() {
                        self.tx.send(&[&[]], Burst::END, self.clock.now() + PATIENCE)?;
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
            (self.block, self.used) = (next, 0);
            let now = self.clock.now();
            collect(self.tx, now, &mut self.played)?;
        }
        let take = (self.block.len() - self.used).min(usize::try_from(left).unwrap_or(usize::MAX));
        let call = Burst { ends: take as u64 == left, ..burst };
        let samples = &self.block[self.used..self.used + take];
        let sent = self.tx.send(&[samples], call, self.clock.now().max(leaves) + PATIENCE)?;
        self.used += sent;
        self.played.timeouts += u64::from(sent < take);
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
fn read(
    mut reader: Reader,
    times: u64,
    sender: &mpsc::SyncSender<Vec<Complex32>>,
    stop: &Stop,
) -> Result<(), FileError> {
    for _ in 0..times {
        reader.seek(0)?;
        loop {
            let mut block = vec![Complex32::default(); BLOCK];
            let samples = reader.read(&mut block)?;
            block.truncate(samples);
            if samples == 0 || stop.requested() {
                break;
            }
            if sender.send(block).is_err() {
                return Ok(()); // nobody plays any more
            }
        }
    }
    Ok(())
}
