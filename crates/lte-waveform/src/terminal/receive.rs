//! The downlink of a terminal, from the search for a cell to decoded blocks.

use num_complex::Complex32;
use takt_lte_radio::{CellStage, TerminalSync};
use takt_runtime::{MakeError, component, graph::Value};

use crate::codec::{Coded, Reader, Writer};
use crate::due::SubframeDue;
use crate::records::{Listening, SubframeEnd, put_downlink};
use crate::settings::{counts, record_bytes, refused, subframe_len, terminal};

/// Subframes from the last sample that a search is made in until what it found is taken.
const SEARCH: u32 = 60;
/// Subframes of a gap that are followed one by one: the receiver gives a cell up long before.
const FOLLOWED_GAP: u64 = 100;

struct LteUeReceive {
    sync: TerminalSync,
    len: usize,
    /// The slot before this one and this one, one after the other.
    window: Vec<Complex32>,
    is_whole: [bool; 2],
    subframe: Vec<Complex32>,
    /// The first sample of the subframe to come.
    begin: u64,
    subframes: u64,
    last: Option<u64>,
    due: SubframeDue,
}

/// Looks for a cell, follows it, and decodes each downlink subframe (TS 36.211 section 6). Its subframes begin where the cell's do:
/// a slot may end none, one or two. A thread of its own searches, and what it finds is taken 60 slots later: only a slower search holds the
/// slot up. Once it has found a cell, it builds plans, and allocates.
#[component(name = "lte-ue-receive")]
impl LteUeReceive {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
    ) -> Result<LteUeReceive, MakeError> {
        let settings = terminal(prb)?;
        let len = settings.numerology.subframe_len();
        Ok(LteUeReceive {
            sync: TerminalSync::with_thread(&settings, SEARCH)
                .map_err(|error| refused(error, "raise the limit of threads (ulimit -u)"))?,
            len,
            window: vec![Complex32::default(); 2 * len],
            is_whole: [false; 2],
            subframe: vec![Complex32::default(); len],
            begin: 0,
            subframes: 0,
            last: None,
            due: SubframeDue::default(),
        })
    }

    fn tick(
        &mut self,
        #[port(exactly = subframe_len(prb))] input: In<Complex32>,
        plan: In<u8>,
        #[port(up_to = record_bytes(prb))] mut output: Out<u8>,
        slot: u64,
    ) {
        let mut plans = Reader(&plan);
        while let Some(Listening { ordered, plan }) = Listening::get(&mut plans) {
            self.sync.listen(ordered, &plan);
        }
        let is_whole = input.len() == self.len;
        let seen = is_whole.then(|| input.first_item() / self.len as u64);
        let Some(number) = self.due.in_slot(slot, seen) else { return output.truncate(0) };
        self.take(number, is_whole.then_some(&input));
        let mut writer = Writer::new(&mut output);
        self.follow(number, &mut writer);
        let bytes = writer.finish().unwrap_or_default();
        output.truncate(bytes);
        if !is_whole && bytes == 0 {
            output.withhold();
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let found = self.sync.counts();
        let mut results = counts([
            ("subframes", self.subframes),
            ("lost_subframes", found.lost_subframes),
            ("searches", found.searches),
            ("cells_lost", found.cells_lost),
        ]);
        if let CellStage::Follow { id, snr_db, frequency_hz } = self.sync.stage() {
            results.push(("cell", Value::Int(id.into())));
            results.push(("snr_db", Value::Float(tenths(snr_db))));
            results.push(("frequency_hz", Value::Float(tenths(frequency_hz))));
        }
        results
    }
}

impl LteUeReceive {
    /// Moves the window on to a slot.
    fn take(&mut self, number: u64, samples: Option<&[Complex32]>) {
        let is_next = self.last.is_none_or(|last| number == last + 1);
        self.last = Some(number);
        let (before, now) = self.window.split_at_mut(self.len);
        before.copy_from_slice(now);
        self.is_whole = [self.is_whole[1] && is_next, samples.is_some()];
        if let Some(samples) = samples {
            now.copy_from_slice(samples);
        }
    }

    /// All subframes that have ended by the end of slot `number`.
    fn follow(&mut self, number: u64, writer: &mut Writer<'_>) {
        let len = self.len as u64;
        let end = (number + 1) * len;
        let mut followed = 0;
        while self.begin + len <= end {
            if followed == FOLLOWED_GAP {
                self.begin += (end - self.begin) / len * len;
                break;
            }
            let is_there = self.fetch(number);
            let samples = is_there.then_some(&mut self.subframe[..]);
            let (step, ()) = self.sync.subframe(self.begin, samples, |tti, heard| put_downlink(tti, heard, writer));
            SubframeEnd { next_begin: step.next_begin, cell: step.cell }.put(writer);
            self.begin = step.next_begin.max(self.begin + 1);
            self.subframes += 1;
            followed += 1;
        }
    }

    /// Copies the samples of the subframe to come out of the window, which ends with slot `number`. `false`: some are missing.
    fn fetch(&mut self, number: u64) -> bool {
        let first = (number as i64 - 1) * self.len as i64;
        let Ok(at) = usize::try_from(self.begin as i64 - first) else { return false };
        let is_whole = (at >= self.len || self.is_whole[0]) && (at == 0 || self.is_whole[1]);
        match self.window.get(at..at + self.len) {
            Some(samples) if is_whole => {
                self.subframe.copy_from_slice(samples);
                true
            }
            _ => false,
        }
    }
}

fn tenths(value: f32) -> f64 {
    (f64::from(value) * 10.0).round() / 10.0
}
