//! Radio frame segmentation, TS 25.212 section 4.2.6.

use super::{frames, tti};
use takt_dsp::umts::Tti;
use takt_graph::{Length, Value};
use takt_runtime::{Bit, Llr, MakeError, component};

/// Bits of an interval's packet, for shapes.
fn interval(frame: u32, tti: u32) -> u32 {
    frame.max(1) * frames(tti)
}

/// `items` a packet where radio frames have slots of their own, or as many as came in.
fn length(frame: u32, items: u32) -> Length {
    if frame == 0 { Length::Ratio { num: 1, den: 1, of: 0 } } else { Length::Fixed(items) }
}

/// An interval on its way out or in, a radio frame a slot.
struct Interval<T> {
    tti: Tti,
    /// Bits of a radio frame; 0 where a slot is an interval.
    frame: usize,
    items: Vec<T>,
    /// Which interval it is: the slots of others may be missed.
    number: u64,
    /// Which of its radio frames there are.
    there: [bool; 8],
    /// Something of it was lost.
    lost: bool,
}

impl<T: Clone + Default> Interval<T> {
    fn new(ms: u32, frame: u32) -> Result<Interval<T>, MakeError> {
        let (tti, frame) = (tti(ms)?, frame as usize);
        Ok(Interval {
            tti,
            frame,
            items: vec![T::default(); frame * tti.frames()],
            number: u64::MAX,
            there: [false; 8],
            lost: false,
        })
    }

    /// Which radio frame of its interval `slot` is, and where it lies in it. The data of another interval are
    /// forgotten.
    fn place(&mut self, slot: u64) -> (usize, std::ops::Range<usize>) {
        let frames = self.tti.frames() as u64;
        let (number, f) = (slot / frames, (slot % frames) as usize);
        if self.number != number {
            // This component missed the slots before this one, and with them what they brought.
            (self.number, self.there, self.lost) = (number, [false; 8], f > 0);
        }
        (f, f * self.frame..(f + 1) * self.frame)
    }
}

struct UmtsSegment {
    interval: Interval<Bit>,
    dropped: i64,
}

/// Cuts an interval's bits into its radio frames (TS 25.212, 4.2.6), which follow each other in the packet, or have a slot
/// each.
#[component]
impl UmtsSegment {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(alias = "tti_ms", unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
        /// Bits of a radio frame where each has a slot of its own: an interval comes in a slot that is a multiple of F. 0: all
        /// are in one packet.
        #[param(unit = "items", range = 0..=1_000_000, default = 0)]
        frame: u32,
    ) -> Result<UmtsSegment, MakeError> {
        Ok(UmtsSegment { interval: Interval::new(tti, frame)?, dropped: 0 })
    }

    fn tick(
        &mut self,
        slot: u64,
        #[port(multiple_of = interval(frame, tti))] input: In<Bit>,
        #[port(length = length(frame, frame))] mut output: Out<Bit>,
    ) {
        if self.interval.frame == 0 {
            return output.copy_from_slice(&input);
        }
        let (f, place) = self.interval.place(slot);
        let whole = input.len() == self.interval.items.len();
        if f == 0 {
            (self.interval.there, self.interval.lost) = ([whole; 8], input.missing());
        }
        if f == 0 && whole {
            self.interval.items.copy_from_slice(&input);
        } else {
            self.dropped += i64::from(!input.is_empty());
        }
        match (self.interval.there[f], self.interval.lost) {
            (true, _) => output.copy_from_slice(&self.interval.items[place]),
            (false, true) => output.lose(),
            (false, false) => output.withhold(),
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("dropped_intervals", self.dropped.into())]
    }
}

struct UmtsUnsegment(Interval<Llr>);

/// Joins the radio frames of an interval, soft values (TS 25.212, 4.2.6): in one packet, or in a slot each. A missing radio frame leaves
/// soft values of 0.
#[component]
impl UmtsUnsegment {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(alias = "tti_ms", unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
        /// Bits of a radio frame where each has a slot of its own: with the last of F the interval is given. 0: all are in one
        /// packet.
        #[param(unit = "items", range = 0..=1_000_000, default = 0)]
        frame: u32,
    ) -> Result<UmtsUnsegment, MakeError> {
        Interval::new(tti, frame).map(UmtsUnsegment)
    }

    fn tick(
        &mut self,
        slot: u64,
        #[port(multiple_of = if frame == 0 { frames(tti) } else { frame })] input: In<Llr>,
        #[port(length = length(frame, interval(frame, tti)))] mut output: Out<Llr>,
    ) {
        let interval = &mut self.0;
        if interval.frame == 0 {
            return output.copy_from_slice(&input);
        }
        let (f, place) = interval.place(slot);
        interval.there[f] = input.len() == interval.frame;
        interval.lost |= input.missing();
        if interval.there[f] {
            interval.items[place].copy_from_slice(&input);
        }
        let is_last = f + 1 == interval.tti.frames();
        if !is_last || !interval.there.contains(&true) {
            return if is_last && interval.lost { output.lose() } else { output.withhold() };
        }
        for (frame, there) in interval.items.chunks_mut(interval.frame).zip(&mut interval.there) {
            if !std::mem::take(there) {
                frame.fill(Llr(0));
            }
        }
        output.copy_from_slice(&interval.items);
    }
}
