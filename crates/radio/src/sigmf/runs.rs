//! A recording in time: stretches of it without a gap, and when each capture begins.

use takt_base::{Tick, Ticks};
use takt_dsp::sigmf::{Capture, Reader};

use super::{origin, tick_of};

/// Samples of the file that are contiguous in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The first of them in the file.
    pub(super) first: u64,
    /// The one after the last.
    pub(super) end: u64,
    /// When the first leaves, counted from the first of all.
    pub(super) at: Ticks,
}

/// A capture that has samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// In the list of captures, from 0.
    pub(super) number: usize,
    /// When its first sample leaves, counted from the first of all.
    pub(super) at: Ticks,
    pub(super) frequency_hz: Option<f64>,
}

/// The samples that captures describe: none before the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    pub(super) runs: Vec<Run>,
    pub(super) captures: Vec<Placed>,
    /// The whole, gaps included.
    pub(super) length: Ticks,
}

impl Runs {
    /// The runs of a recording whose samples are `step` ticks apart.
    pub(super) fn of(reader: &Reader, step: Ticks) -> Runs {
        let metadata = reader.metadata();
        let place = |capture: &Capture| capture.sample_start.saturating_sub(metadata.global.offset);
        let ends = metadata.captures.iter().skip(1).map(place).chain([reader.samples()]);
        let origin = metadata.captures.first().map_or(Tick(0), |first| origin(first, step));
        let (mut runs, mut zero) = (Runs::default(), None);
        for ((number, capture), end) in metadata.captures.iter().enumerate().zip(ends) {
            let first = place(capture);
            if first >= end {
                continue; // no samples, no burst
            }
            let tick = tick_of(capture, origin, step);
            let at = runs.add(first, end, tick - *zero.get_or_insert(tick), step);
            runs.captures.push(Placed { number, at, frequency_hz: capture.frequency_hz });
        }
        runs
    }

    /// Adds samples, and answers when the first of them leaves. They go on from the last run if they claim to begin before its end,
    /// or right there.
    fn add(&mut self, first: u64, end: u64, at: Ticks, step: Ticks) -> Ticks {
        let span = |from: u64, to: u64| Ticks(to.saturating_sub(from).saturating_mul(step.0));
        let at = match self.runs.last_mut() {
            Some(run) if at <= run.at + span(run.first, run.end) => {
                run.end = end;
                run.at + span(run.first, first)
            }
            _ => {
                self.runs.push(Run { first, end, at });
                at
            }
        };
        self.length = at + span(first, end);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Ticks = Ticks(100);

    /// Runs of a recording of 100 samples with these captures: first sample, index in the stream, frequency.
    fn runs(offset: u64, captures: &[(u64, Option<u64>, Option<f64>)]) -> Runs {
        let dir = tempfile::tempdir().unwrap();
        let list: Vec<String> = captures
            .iter()
            .map(|(start, index, hz)| {
                let index = index.map_or_else(String::new, |index| format!(r#", "core:global_index": {index}"#));
                let hz = hz.map_or_else(String::new, |hz| format!(r#", "core:frequency": {hz}"#));
                format!(r#"{{"core:sample_start": {start}{index}{hz}}}"#)
            })
            .collect();
        let meta = format!(
            r#"{{"global": {{"core:datatype": "ri8", "core:version": "1.2.0", "core:offset": {offset}}},
                "captures": [{}]}}"#,
            list.join(",")
        );
        std::fs::write(dir.path().join("x.sigmf-meta"), meta).unwrap();
        std::fs::write(dir.path().join("x.sigmf-data"), [0; 100]).unwrap();
        Runs::of(&Reader::open(&dir.path().join("x")).unwrap(), STEP)
    }

    #[test] // F4: it had no run at all, and was played as nothing
    fn without_captures_all_of_it_is_one_run() {
        let whole = runs(0, &[]);
        assert_eq!((whole.runs, whole.length), (vec![Run { first: 0, end: 100, at: Ticks(0) }], Ticks(10_000)));
        assert_eq!(runs(7, &[]).runs, [Run { first: 0, end: 100, at: Ticks(0) }], "it goes on from another file");
    }

    #[test]
    fn it_begins_with_the_first_capture_wherever_that_lies() {
        let later = runs(1000, &[(1040, None, Some(9e8))]);
        assert_eq!(later.runs, [Run { first: 40, end: 100, at: Ticks(0) }]);
        assert_eq!(later.captures, [Placed { number: 0, at: Ticks(0), frequency_hz: Some(9e8) }]);
    }

    #[test]
    fn captures_without_a_gap_are_one_run_and_have_their_times() {
        let both = runs(0, &[(0, Some(500), Some(1e9)), (30, Some(530), None), (60, Some(600), Some(2e9))]);
        assert_eq!(
            both.runs,
            [Run { first: 0, end: 60, at: Ticks(0) }, Run { first: 60, end: 100, at: Ticks(10_000) }]
        );
        assert_eq!(both.captures.iter().map(|c| c.at.0).collect::<Vec<_>>(), [0, 3000, 10_000]);
        assert_eq!(both.length, Ticks(14_000));
    }

    #[test] // it was a burst that nobody can acknowledge
    fn a_capture_without_samples_is_no_run() {
        let runs = runs(0, &[(0, Some(7), None), (0, Some(9), None), (100, Some(500), Some(1e9))]);
        assert_eq!(runs.runs, [Run { first: 0, end: 100, at: Ticks(0) }]);
        assert_eq!(runs.captures.iter().map(|c| c.number).collect::<Vec<_>>(), [1]);
    }
}
