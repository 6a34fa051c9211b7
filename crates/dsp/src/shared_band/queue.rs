//! Samples that a channel is to send: a bounded store, in runs that each have their own centre and first tick.

use num_complex::Complex32;

use crate::Rotation;

/// Runs that wait at most. Each costs a transform in every block that it touches.
pub(super) const MAX_RUNS: usize = 16;

/// Samples without a gap, with one centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) centre: Rotation,
    pub(super) first: i64,
    pub(super) len: usize,
    /// Place of its first sample in the store.
    start: usize,
}

/// Samples in order of time.
pub(super) struct SendQueue {
    store: Box<[Complex32]>,
    held: usize,
    /// Place of the next sample.
    end: usize,
    runs: [Option<Run>; MAX_RUNS],
    step: i64,
}

impl SendQueue {
    pub(super) fn new(step: u32, room: usize) -> SendQueue {
        SendQueue {
            store: vec![Complex32::default(); room].into(),
            held: 0,
            end: 0,
            runs: [None; MAX_RUNS],
            step: i64::from(step),
        }
    }

    /// The tick after the last sample, if there is one.
    pub(super) fn end(&self) -> Option<i64> {
        self.runs().last().map(|run| run.first + run.len as i64 * self.step)
    }

    /// Takes as many samples as there is room for, and says how many. They begin at or after the end.
    pub(super) fn push(&mut self, centre: Rotation, first: i64, samples: &[Complex32]) -> usize {
        let count = samples.len().min(self.store.len() - self.held);
        if count == 0 {
            return 0;
        }
        let (end, waiting) = (self.end(), self.runs().count());
        match waiting.checked_sub(1).and_then(|last| self.runs[last].as_mut()) {
            Some(last) if end == Some(first) && last.centre == centre => last.len += count,
            _ if waiting < MAX_RUNS => self.runs[waiting] = Some(Run { centre, first, len: count, start: self.end }),
            _ => return 0,
        }
        let (room, length) = (self.store.len() - self.end, self.store.len());
        let (early, late) = samples[..count].split_at(room.min(count));
        self.store[self.end..][..early.len()].copy_from_slice(early);
        self.store[..late.len()].copy_from_slice(late);
        self.end = (self.end + count) % length;
        self.held += count;
        count
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = Run> + use<'_> {
        self.runs.iter().map_while(|run| *run)
    }

    /// Sample n of a run, 0 where it has none.
    pub(super) fn sample(&self, run: &Run, n: i64) -> Complex32 {
        match usize::try_from(n) {
            Ok(n) if n < run.len => self.store[(run.start + n) % self.store.len()],
            _ => Complex32::default(),
        }
    }

    /// The part of a run in the ticks from `from` to just before `to`, if there is one.
    pub(super) fn cut(&self, run: &Run, from: i64, to: i64) -> Option<Run> {
        let at_or_after =
            |tick: i64| (tick - run.first + self.step - 1).div_euclid(self.step).clamp(0, run.len as i64) as usize;
        let (skipped, end) = (at_or_after(from), at_or_after(to));
        (skipped < end).then(|| Run {
            centre: run.centre,
            first: run.first + skipped as i64 * self.step,
            len: end - skipped,
            start: (run.start + skipped) % self.store.len(),
        })
    }

    /// The samples of a run, in at most two pieces.
    pub(super) fn samples(&self, run: &Run) -> [&[Complex32]; 2] {
        let early = run.len.min(self.store.len() - run.start);
        [&self.store[run.start..][..early], &self.store[..run.len - early]]
    }

    /// Forgets the samples before a tick.
    pub(super) fn forget_before(&mut self, tick: i64) {
        while let Some(run) = &mut self.runs[0] {
            let old = (tick - run.first + self.step - 1).div_euclid(self.step).clamp(0, run.len as i64) as usize;
            run.first += old as i64 * self.step;
            run.start = (run.start + old) % self.store.len();
            run.len -= old;
            self.held -= old;
            if run.len > 0 {
                return;
            }
            self.runs.rotate_left(1);
            self.runs[MAX_RUNS - 1] = None;
        }
    }

    pub(super) fn clear(&mut self) {
        self.runs = [None; MAX_RUNS];
        (self.held, self.end) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(n: u32) -> Complex32 {
        Complex32::new(n as f32, 0.0)
    }

    #[test]
    fn samples_go_round_the_store_in_runs() {
        let mut queue = SendQueue::new(10, 8);
        let centre = Rotation::default();
        let samples: Vec<_> = (0..20).map(value).collect();
        assert_eq!(queue.push(centre, 1000, &samples[..5]), 5);
        assert_eq!(queue.push(centre, 1050, &samples[5..7]), 2); // goes on
        assert_eq!(queue.push(centre, 1075, &samples[7..9]), 1); // another run, and full
        let runs: Vec<_> = queue.runs().collect();
        assert_eq!((runs.len(), runs[0].len, runs[1].first), (2, 7, 1075));
        queue.forget_before(1031);
        assert_eq!((queue.runs().next().unwrap().first, queue.end()), (1040, Some(1085)));
        assert_eq!(queue.push(centre, 1085, &samples[8..12]), 4);
        let last = queue.runs().last().unwrap();
        let [early, late] = queue.samples(&last);
        assert_eq!([early, late].concat(), samples[7..12]);
        assert_eq!((queue.sample(&last, 4), queue.sample(&last, 5)), (value(11), value(0)));
        queue.forget_before(5000);
        assert_eq!((queue.runs().count(), queue.end(), queue.held), (0, None, 0));
    }

    #[test]
    fn runs_are_bounded() {
        let mut queue = SendQueue::new(10, 1000);
        let taken = (0..20).filter(|k| queue.push(Rotation::default(), k * 11, &[value(1)]) == 1).count();
        assert_eq!(taken, MAX_RUNS);
        queue.clear();
        assert_eq!(queue.push(Rotation::default(), 0, &[value(1)]), 1);
    }
}
