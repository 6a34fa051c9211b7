//! A terminal's receiver between samples: it looks for a cell, reads its broadcast, and follows it.
//!
//! ```text
//!   search ── a cell ──> broadcast ── master information ──> follow ── 50 ms without a usable signal ──┐
//!     ^                     └── none in 16 frames ──┐                                                   │
//!     └─────────────────────────────────────────────┴───────────────────────────────────────────────────┘
//! ```

use num_complex::Complex32;
use takt_lte::{
    Bandwidth, BroadcastDecoder, Cell, CellSearch, ChannelEstimator, Correction, Demodulator, Direction, FoundCell,
    Mib, Numerology, ResourceGrid, SUBCARRIERS_OF_BLOCK, Tracker, Tti,
};
use takt_lte_link::{AHEAD, DownlinkHeard, DownlinkPlan};

use crate::oscillator::Oscillator;
use crate::search_thread::{SearchResult, SearchThread, search_in};
use crate::{AirSettings, TerminalReceiver, usual_cfi};

/// Frames without master information after which a cell is none.
const BROADCAST_FRAMES: u32 = 16;
/// Subframes ahead for which the PHICH is kept.
const PHICH: usize = 16;

/// Settings of a terminal that does not know its cell yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TerminalSettings {
    /// How the radio samples; its bandwidth is the one expected of the cell.
    pub bandwidth: Bandwidth,
    /// How a subframe lies in samples.
    pub numerology: Numerology,
    /// Root mean square of samples where all elements are in use.
    pub amplitude: f32,
    /// Iterations of the turbo decoder, at most.
    pub iterations: usize,
    /// The uplink's carrier frequency over the downlink's: both come from one oscillator.
    pub frequency_ratio: f64,
}

/// How far a terminal has got in finding its cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
pub enum CellStage {
    /// No primary and secondary synchronisation signal was found yet.
    #[default]
    Search,
    /// A cell was found; its master information was not read yet.
    Broadcast {
        /// Its identity.
        id: u16,
        /// Ratio of signal to noise of its synchronisation signals.
        snr_db: f32,
        /// Offset of its frequency.
        frequency_hz: f32,
    },
    /// The cell has another bandwidth than the terminal was set to.
    OtherBandwidth {
        /// Its identity.
        id: u16,
        /// Its resource blocks.
        blocks: usize,
    },
    /// The cell is followed.
    Follow {
        /// Its identity.
        id: u16,
        /// Mean ratio of signal to noise of its reference signals.
        snr_db: f32,
        /// Offset of its frequency.
        frequency_hz: f32,
    },
}

/// Counts of a terminal's physical layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TerminalCounts {
    /// Searches for a cell.
    pub searches: u64,
    /// Those that found none.
    pub nothing_found: u64,
    /// Cells without master information.
    pub no_master_information: u64,
    /// Cells that were lost.
    pub cells_lost: u64,
    /// Subframes of which samples were missing.
    pub lost_subframes: u64,
}

/// The state of a [`TerminalSync`] after a subframe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyncStep {
    /// The first sample of the next subframe.
    pub next_begin: u64,
    /// The cell, while one is followed.
    pub cell: Option<FollowedCell>,
}

/// A cell that is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowedCell {
    /// As its master information states it.
    pub cell: Cell,
    /// Which of the cells that were followed it is, from 1: after an outage, plans start anew.
    pub ordinal: u64,
    /// The offset of its frequency.
    pub frequency_hz: f32,
}

/// A receiver on a line of samples, from the search to the decoded subframe.
pub struct TerminalSync {
    settings: TerminalSettings,
    stage: Stage,
    other: Option<CellStage>,
    /// Runs free until a cell is followed.
    tti: Tti,
    cells_followed: u64,
    counts: TerminalCounts,
    /// Searches, if the caller may not.
    thread: Option<SearchThread>,
}

enum Stage {
    Search(Box<Search>),
    Broadcast(Box<Broadcast>),
    Follow(Box<Follow>),
}

struct Search {
    /// `None`: a thread does it.
    search: Option<CellSearch>,
    wanted: usize,
    samples: Vec<Complex32>,
    /// The number of the first of them.
    first: u64,
    /// Until the thread's answer is taken; 0: it was not asked.
    subframes_left: u32,
}

pub(crate) struct Broadcast {
    found: FoundCell,
    demodulator: Demodulator,
    received: ResourceGrid,
    estimator: ChannelEstimator,
    tracker: Tracker,
    oscillator: Oscillator,
    frequency_hz: f32,
    decoder: BroadcastDecoder,
    subframe: u8,
    frames: u32,
}

struct Follow {
    receiver: TerminalReceiver,
    cell: Cell,
    snr_db: f32,
    listen: DownlinkPlan,
    phich: [Option<(u8, u8)>; PHICH],
}

impl TerminalSync {
    /// Begins with a search.
    #[must_use]
    pub fn new(settings: &TerminalSettings) -> TerminalSync {
        TerminalSync {
            settings: *settings,
            stage: Stage::Search(Search::new(settings, None)),
            other: None,
            tti: Tti::default(),
            cells_followed: 0,
            counts: TerminalCounts::default(),
            thread: None,
        }
    }

    /// The same, with a thread that searches. The terminal takes its result `subframes` after it asked, at least 1.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn with_thread(settings: &TerminalSettings, subframes: u32) -> std::io::Result<TerminalSync> {
        let thread = SearchThread::start(settings, subframes.max(1))?;
        let stage = Stage::Search(Search::new(settings, Some(&thread)));
        Ok(TerminalSync { stage, thread: Some(thread), ..TerminalSync::new(settings) })
    }

    /// Samples of a subframe.
    #[must_use]
    pub fn subframe_len(&self) -> usize {
        self.settings.numerology.subframe_len()
    }

    /// Its counts.
    #[must_use]
    pub fn counts(&self) -> TerminalCounts {
        self.counts
    }

    /// How far it has got in finding its cell.
    #[must_use]
    pub fn stage(&self) -> CellStage {
        match &self.stage {
            Stage::Search(_) => self.other.unwrap_or_default(),
            Stage::Broadcast(at) => {
                CellStage::Broadcast { id: at.found.id.get(), snr_db: at.found.snr_db, frequency_hz: at.frequency_hz }
            }
            Stage::Follow(at) => {
                CellStage::Follow { id: at.cell.id.get(), snr_db: at.snr_db, frequency_hz: at.receiver.frequency_hz() }
            }
        }
    }

    /// Takes a plan that the link layer made together with the orders for uplink subframe `ordered`.
    pub fn listen(&mut self, ordered: Tti, plan: &DownlinkPlan) {
        if let Stage::Follow(at) = &mut self.stage {
            at.listen = *plan;
            at.phich[place(ordered + AHEAD)] = plan.phich;
        }
    }

    /// Takes a subframe that begins at sample `begin`, and hands over what it heard in it. `None`: samples of it are missing. The
    /// samples are changed.
    pub fn subframe<R>(
        &mut self,
        begin: u64,
        samples: Option<&mut [Complex32]>,
        then: impl FnOnce(Tti, &DownlinkHeard<'_>) -> R,
    ) -> (SyncStep, R) {
        self.counts.lost_subframes += u64::from(samples.is_none());
        let end = begin + self.subframe_len() as u64;
        let next_begin = match &mut self.stage {
            Stage::Search(_) => self.search(begin, end, samples),
            Stage::Broadcast(_) => self.broadcast(end, samples),
            Stage::Follow(_) => return self.follow(end, samples, then),
        };
        let answer = then(self.tti, &DownlinkHeard::default());
        self.tti = self.tti + 1;
        (SyncStep { next_begin, cell: None }, answer)
    }

    fn search(&mut self, begin: u64, end: u64, samples: Option<&mut [Complex32]>) -> u64 {
        let Stage::Search(at) = &mut self.stage else { return end };
        if at.subframes_left > 0 {
            at.subframes_left -= 1;
            let (left, first) = (at.subframes_left, at.first);
            let found = self.thread.as_ref().filter(|_| left == 0).map(SearchThread::answer);
            return found.map_or(end, |found| self.take(first, end, found));
        }
        match samples {
            Some(samples) if at.first + at.samples.len() as u64 == begin => at.samples.extend_from_slice(samples),
            Some(samples) => {
                at.first = begin;
                at.samples.clear();
                at.samples.extend_from_slice(samples);
            }
            None => at.samples.clear(),
        }
        if at.samples.len() < at.wanted {
            return end;
        }
        self.counts.searches += 1;
        match (&self.thread, &mut at.search) {
            (Some(thread), _) => {
                thread.ask(std::mem::take(&mut at.samples));
                at.subframes_left = thread.subframes;
                end
            }
            (None, Some(search)) => {
                let found = search_in(&self.settings, search, &at.samples);
                at.samples.clear();
                let first = at.first;
                self.take(first, end, found)
            }
            (None, None) => end,
        }
    }

    /// Goes on with the cell that a search has found in samples from `first` on; the next subframe is to begin at `end` or later.
    fn take(&mut self, first: u64, end: u64, found: Option<SearchResult>) -> u64 {
        let Some(SearchResult { frame_begin, broadcast }) = found else {
            self.counts.nothing_found += 1;
            self.other = None;
            return end;
        };
        let frame = self.settings.numerology.frame_len() as u64;
        let frame_begin = first + frame_begin;
        self.stage = Stage::Broadcast(broadcast);
        frame_begin + end.saturating_sub(frame_begin).div_ceil(frame) * frame
    }

    fn begin_search(&mut self) {
        self.stage = Stage::Search(Search::new(&self.settings, self.thread.as_ref()));
    }

    fn broadcast(&mut self, end: u64, samples: Option<&mut [Complex32]>) -> u64 {
        let Stage::Broadcast(at) = &mut self.stage else { return end };
        let (correction, mib) = at.subframe(samples);
        let next = end.saturating_add_signed(correction.shift_samples.into());
        let (id, frequency_hz, frames, subframe) = (at.found.id, at.frequency_hz, at.frames, at.subframe);
        match mib {
            Some(mib) if mib.bandwidth == self.settings.bandwidth => {
                // The subframe that was read is number 0.
                self.tti = Tti::of(mib.frame, 0);
                let cell = Cell { id, bandwidth: mib.bandwidth, phich: mib.phich };
                let receiver = TerminalReceiver::new(&self.settings.of_cell(cell), frequency_hz);
                let listen = DownlinkPlan { system_information: true, ..DownlinkPlan::default() };
                let snr_db = at.found.snr_db;
                self.cells_followed += 1;
                self.stage = Stage::Follow(Box::new(Follow { receiver, cell, snr_db, listen, phich: [None; PHICH] }));
                self.other = None;
            }
            Some(mib) => {
                self.other = Some(CellStage::OtherBandwidth { id: id.get(), blocks: mib.bandwidth.blocks() });
                self.begin_search();
            }
            None if frames > BROADCAST_FRAMES && subframe == 0 => {
                self.counts.no_master_information += 1;
                self.begin_search();
            }
            None => {}
        }
        next
    }

    fn follow<R>(
        &mut self,
        end: u64,
        samples: Option<&mut [Complex32]>,
        then: impl FnOnce(Tti, &DownlinkHeard<'_>) -> R,
    ) -> (SyncStep, R) {
        let tti = self.tti;
        let Stage::Follow(at) = &mut self.stage else {
            return (SyncStep { next_begin: end, cell: None }, then(tti, &DownlinkHeard::default()));
        };
        let phich = at.phich[place(tti)].take();
        let (followed, answer) = match samples {
            Some(samples) => at.receiver.receive(tti, &at.listen, phich, samples, |heard| then(tti, heard)),
            None => {
                let followed = at.receiver.miss();
                (followed, then(tti, &DownlinkHeard { in_sync: followed.in_sync, ..DownlinkHeard::default() }))
            }
        };
        at.snr_db = followed.snr_db;
        self.tti = tti + 1;
        let next_begin = end.saturating_add_signed(followed.correction.shift_samples.into());
        let (cell, frequency_hz) = (at.cell, at.receiver.frequency_hz());
        if !followed.in_sync {
            self.counts.cells_lost += 1;
            self.begin_search();
            return (SyncStep { next_begin, cell: None }, answer);
        }
        let cell = Some(FollowedCell { cell, ordinal: self.cells_followed, frequency_hz });
        (SyncStep { next_begin, cell }, answer)
    }
}

impl TerminalSettings {
    /// Settings of a cell, before its system information is known.
    #[must_use]
    pub fn of_cell(&self, cell: Cell) -> AirSettings {
        let TerminalSettings { numerology, amplitude, iterations, .. } = *self;
        AirSettings {
            cell,
            numerology,
            cfi: usual_cfi(&cell),
            uplink: takt_lte::UplinkConfig::new(cell),
            prach: takt_lte::PrachConfig {
                root_sequence: 0,
                zero_correlation_zone: 0,
                frequency_offset_blocks: 0,
                config_index: 0,
            },
            amplitude,
            iterations,
        }
    }
}

impl Search {
    fn new(settings: &TerminalSettings, thread: Option<&SearchThread>) -> Box<Search> {
        let search = thread.is_none().then(|| CellSearch::new(settings.numerology));
        let here = search.as_ref().map(CellSearch::samples_wanted);
        let wanted = here.or(thread.map(|thread| thread.samples_wanted)).unwrap_or_default();
        let samples = Vec::with_capacity(wanted + settings.numerology.subframe_len());
        Box::new(Search { search, wanted, samples, first: 0, subframes_left: 0 })
    }
}

impl Broadcast {
    /// The broadcast lies in the middle six blocks, whatever the bandwidth.
    pub(crate) fn new(settings: &TerminalSettings, found: FoundCell) -> Broadcast {
        let middle = Numerology { subcarriers: 6 * SUBCARRIERS_OF_BLOCK, ..settings.numerology };
        Broadcast {
            demodulator: Demodulator::new(middle, Direction::Downlink, middle.prefix / 2),
            received: ResourceGrid::new(Bandwidth::Prb6),
            estimator: ChannelEstimator::with_numerology(found.id, Bandwidth::Prb6, &middle),
            tracker: Tracker::new(&middle, found.frequency_offset_hz),
            oscillator: Oscillator::new(middle.rate_sps()),
            frequency_hz: found.frequency_offset_hz,
            decoder: BroadcastDecoder::new(found.id),
            subframe: 0,
            frames: 0,
            found,
        }
    }

    fn subframe(&mut self, samples: Option<&mut [Complex32]>) -> (Correction, Option<Mib>) {
        let subframe = self.subframe;
        self.subframe = (subframe + 1) % 10;
        self.frames += u32::from(subframe == 9);
        let Some(samples) = samples else {
            self.decoder.forget();
            return (self.tracker.gap(1), None);
        };
        self.oscillator.shift(-f64::from(self.frequency_hz), samples);
        self.demodulator.demodulate(samples, &mut self.received);
        let estimate = self.estimator.estimate(Tti::of(0, subframe), &self.received);
        let correction = self.tracker.update(estimate);
        self.frequency_hz = correction.frequency_hz;
        let mib = (subframe == 0).then(|| self.decoder.decode(&self.received, &estimate.gains, estimate.noise_power));
        (correction, mib.flatten())
    }
}

fn place(tti: Tti) -> usize {
    tti.get() as usize % PHICH
}
