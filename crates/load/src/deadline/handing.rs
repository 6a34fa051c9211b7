//! Handing samples over to the physical layer: a whole subframe, or each slot of it as soon as it is there.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use num_complex::Complex;
use takt_base::{Clock, MonoNs, WallClock};
use takt_dsp::tdscdma::{DOWNLINK_SLOTS, SAMPLES, slot_samples};

use super::error::doing;
use super::memory::{At, Cells};
use super::options::Handover;
use super::{DATAGRAM_SAMPLES, DeadlineError, ns};

pub(super) struct Handing {
    cells: Arc<Cells>,
    by: Handover,
    wake: File,
    /// The subframe whose cell is being filled, and how many of its samples are in it.
    filling: Option<(u64, usize)>,
}

impl Handing {
    pub(super) fn new(cells: Arc<Cells>, by: Handover, wake: File) -> Handing {
        Handing { cells, by, wake, filling: None }
    }

    /// End of the next samples that are worth handing over, when `fill` of a subframe are there.
    pub(super) fn next(&self, fill: usize) -> usize {
        let ends = |slot| slot_samples(slot).next_multiple_of(DATAGRAM_SAMPLES);
        match self.by {
            Handover::Subframe => SAMPLES,
            Handover::Slot => DOWNLINK_SLOTS.map(ends).find(|&end| end > fill).map_or(SAMPLES, |end| end.min(SAMPLES)),
        }
    }

    /// The first samples of subframe `number` are there, and more will come.
    pub(super) fn part(&mut self, number: u64, samples: &[Complex<i16>]) -> Result<(), DeadlineError> {
        if self.by == Handover::Subframe || !self.claim(number) {
            return Ok(());
        }
        self.put(number, samples, |_| ());
        self.wake(number)
    }

    /// Subframe `number` is whole: its last samples were in the kernel, and here, at these times. False if its cell is not free:
    /// the layers are that far behind.
    pub(super) fn whole(
        &mut self,
        number: u64,
        samples: &[Complex<i16>],
        in_kernel_ns: i64,
        complete: MonoNs,
    ) -> Result<bool, DeadlineError> {
        if !self.claim(number) {
            return Ok(false);
        }
        self.put(number, samples, |cell| {
            cell.stamp(At::InKernel, in_kernel_ns);
            cell.stamp(At::Complete, ns(complete));
            cell.stamp(At::Posted, ns(WallClock.now()));
        });
        self.filling = None;
        self.wake(number)?;
        Ok(true)
    }

    /// Whatever is being filled will not become whole.
    pub(super) fn give_up(&mut self) {
        if let Some((number, _)) = self.filling.take() {
            self.cells.of(number).free();
        }
    }

    fn claim(&mut self, number: u64) -> bool {
        if self.filling.is_some_and(|(other, _)| other == number) {
            return true;
        }
        self.give_up();
        let cell = self.cells.of(number);
        let free = cell.is_free();
        if free {
            cell.claim(number);
            self.filling = Some((number, 0));
        }
        free
    }

    /// Puts in what is not there yet; `note` is called then, before the physical layer can see it.
    fn put(&mut self, number: u64, samples: &[Complex<i16>], note: impl FnOnce(super::memory::Cell<'_>)) {
        let cell = self.cells.of(number);
        if let Some((_, there)) = &mut self.filling {
            // Pairs: the first sample of a pair waits for the second.
            let end = samples.len() / 2 * 2;
            cell.put_block(*there, samples.get(*there..end).unwrap_or_default());
            *there = end;
            note(cell);
            cell.fill_to(end);
        }
    }

    fn wake(&mut self, number: u64) -> Result<(), DeadlineError> {
        self.wake.write_all(&number.to_le_bytes()).map_err(doing("waking the physical layer"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::OwnedFd;

    use super::*;

    fn handing(by: Handover) -> (Handing, Arc<Cells>, File) {
        let cells = Arc::new(Cells::create().unwrap().0);
        let (woken, wake) = std::io::pipe().unwrap();
        let file = |fd: OwnedFd| File::from(fd);
        (Handing::new(Arc::clone(&cells), by, file(wake.into())), cells, file(woken.into()))
    }

    fn woken_for(woken: &mut File) -> u64 {
        let mut number = [0; 8];
        woken.read_exact(&mut number).unwrap();
        u64::from_le_bytes(number)
    }

    #[test]
    fn slots_end_with_the_datagram_that_completes_them_and_a_subframe_with_its_last() {
        let (handing, ..) = handing(Handover::Slot);
        let ends: Vec<usize> = [0, 3749, 3750, 4750, 5500].map(|fill| handing.next(fill)).into();
        assert_eq!(ends, [3750, 3750, 4750, 5500, SAMPLES]);
        assert_eq!(self::handing(Handover::Subframe).0.next(0), SAMPLES);
    }

    #[test]
    fn a_part_is_there_at_once_and_what_is_given_up_is_free_again() {
        let (mut handing, cells, mut woken) = handing(Handover::Slot);
        let samples = vec![Complex::new(1, 2); SAMPLES];
        handing.part(7, &samples[..3750]).unwrap();
        assert_eq!((woken_for(&mut woken), cells.of(7).filled(), cells.of(7).holds(7)), (7, 3750, true));
        handing.give_up();
        assert!(cells.of(7).is_free());
        // The next one finds it free, whole or not.
        handing.part(11, &samples[..4750]).unwrap();
        assert!(handing.whole(11, &samples, 5, MonoNs(6)).unwrap());
        let cell = cells.of(11);
        assert_eq!((cell.filled(), &cell.stamps()[..2]), (SAMPLES, &[5, 6][..]));
        // It is the physical layer's now, and stays so.
        handing.give_up();
        assert!(cells.of(11).holds(11) && !handing.whole(15, &samples, 0, MonoNs(0)).unwrap());
    }

    #[test]
    fn a_whole_subframe_is_handed_over_once() {
        let (mut handing, cells, mut woken) = handing(Handover::Subframe);
        let samples = vec![Complex::new(1, 2); SAMPLES];
        handing.part(2, &samples[..3750]).unwrap();
        assert!(cells.of(2).is_free());
        assert!(handing.whole(2, &samples, 0, MonoNs(0)).unwrap());
        assert_eq!((woken_for(&mut woken), cells.of(2).filled()), (2, SAMPLES));
    }
}
