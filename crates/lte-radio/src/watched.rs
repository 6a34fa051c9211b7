//! View of a link while it runs: the state of both directions, blocks with errors, payload.
//!
//! Each end puts its counts into words of their own once a subframe: one writer, no lock. A reader compares two looks.

use std::array;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_live::{Link, Snapshot, Source};
use takt_lte_link::{LinkCounters, LinkState, LossCounters, TerminalState};

use crate::{AirError, CellStage, PacketPort, StationCore, StationTraffic, TerminalCore, TerminalTraffic};

/// Subframes over which shares and rates are measured: a second of the radio's time.
const SPAN: u64 = 1000;
/// A rate over fewer subframes is that of a burst.
const SHORTEST: u64 = SPAN / 5;
/// Reasons why a link is lost, as [`LossCounters`] counts them.
const REASONS: [&str; 7] = [
    "the receiver did not follow the cell any more",
    "nothing was heard from the other end",
    "a packet was repeated too often",
    "requests to be scheduled were not answered",
    "the other end released it",
    "the base station has started anew",
    "the attachment was not completed in time",
];
/// No state, and no ratio of signal to noise.
const UNKNOWN: u64 = u64::MAX;

/// Subframe, state, SNR, blocks received, blocks failed, bytes of payload received; then the losses.
const WORDS: usize = 6 + REASONS.len();

/// Counts of an end at some subframe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct EndLook {
    subframe: u64,
    state: Option<u64>,
    snr_db: Option<f32>,
    received: u64,
    failed: u64,
    bytes: u64,
    lost: [u64; REASONS.len()],
}

/// The words of one end.
#[derive(Debug)]
struct EndWords([AtomicU64; WORDS]);

impl EndWords {
    fn new() -> EndWords {
        let words = EndWords(array::from_fn(|_| AtomicU64::new(0)));
        words.0[1].store(UNKNOWN, Ordering::Relaxed);
        words.0[2].store(UNKNOWN, Ordering::Relaxed);
        words
    }

    /// Relaxed: each word stands for itself. A look may have some of this subframe and some of the one before.
    fn put(&self, look: &EndLook) {
        let snr = look.snr_db.map_or(UNKNOWN, |snr| u64::from(snr.to_bits()));
        let head = [look.subframe, look.state.unwrap_or(UNKNOWN), snr, look.received, look.failed, look.bytes];
        for (word, value) in self.0.iter().zip(head.into_iter().chain(look.lost)) {
            word.store(value, Ordering::Relaxed);
        }
    }

    fn look(&self) -> EndLook {
        let words = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        let [subframe, state, snr, received, failed, bytes, ..] = words;
        EndLook {
            subframe,
            state: Some(state).filter(|&state| state != UNKNOWN),
            snr_db: Some(snr).filter(|&snr| snr != UNKNOWN).map(|snr| f32::from_bits(snr as u32)),
            received,
            failed,
            bytes,
            lost: array::from_fn(|reason| words[WORDS - REASONS.len() + reason]),
        }
    }
}

/// The ends' side of a view.
#[derive(Clone, Debug)]
pub struct LinkProbe {
    terminal: Arc<EndWords>,
    station: Arc<EndWords>,
}

/// Shows a link: the source of a [`Publisher`](takt_live::Publisher).
#[derive(Debug)]
pub struct LinkView {
    ends: [EndView; 2],
}

#[derive(Debug)]
struct EndView {
    name: &'static str,
    words: Arc<EndWords>,
    state: fn(u64) -> &'static str,
    /// Looks of the last second, the oldest first.
    looks: VecDeque<EndLook>,
    loss: Option<usize>,
}

/// Both sides, for a link with one terminal.
#[must_use]
pub fn watched_link() -> (LinkProbe, LinkView) {
    let [terminal, station] = [(), ()].map(|()| Arc::new(EndWords::new()));
    let end = |name, words: &Arc<EndWords>, state| EndView {
        name,
        words: Arc::clone(words),
        state,
        looks: VecDeque::new(),
        loss: None,
    };
    let ends =
        [end("downlink, terminal", &terminal, terminal_state), end("uplink, base station", &station, station_state)];
    (LinkProbe { terminal, station }, LinkView { ends })
}

impl LinkProbe {
    /// The terminal's port, with what the link does shown.
    pub(crate) fn terminal<'a>(&self, port: &'a mut TerminalTraffic) -> WatchedPort<'a, TerminalTraffic> {
        WatchedPort { port, words: Arc::clone(&self.terminal) }
    }

    /// The base station's.
    pub(crate) fn station<'a>(&self, port: &'a mut StationTraffic) -> WatchedPort<'a, StationTraffic> {
        WatchedPort { port, words: Arc::clone(&self.station) }
    }
}

/// A port of an end that is watched.
pub(crate) struct WatchedPort<'a, P> {
    port: &'a mut P,
    words: Arc<EndWords>,
}

impl PacketPort<TerminalCore> for WatchedPort<'_, TerminalTraffic> {
    fn exchange(&mut self, now: u64, terminal: &mut TerminalCore) -> Result<bool, AirError> {
        let goes_on = self.port.exchange(now, terminal)?;
        let snr_db = match terminal.stage() {
            CellStage::Follow { snr_db, .. } | CellStage::Broadcast { snr_db, .. } => Some(snr_db),
            _ => None,
        };
        let state = Some(terminal.link().state() as u64);
        self.words.put(&look(now, state, snr_db, self.port.received_bytes(), terminal.link().counters()));
        Ok(goes_on)
    }
}

impl PacketPort<StationCore> for WatchedPort<'_, StationTraffic> {
    fn exchange(&mut self, now: u64, station: &mut StationCore) -> Result<bool, AirError> {
        let goes_on = self.port.exchange(now, station)?;
        let bytes = self.port.received_bytes();
        let terminal = station.link().terminals().next();
        let now_seen = terminal.map_or(EndLook { subframe: now, ..EndLook::default() }, |terminal| {
            look(now, Some(terminal.state as u64), Some(terminal.uplink_snr_db), bytes, &terminal.counters)
        });
        self.words.put(&now_seen);
        Ok(goes_on)
    }
}

fn look(subframe: u64, state: Option<u64>, snr_db: Option<f32>, bytes: u64, counters: &LinkCounters) -> EndLook {
    let LossCounters {
        out_of_sync,
        silence,
        retransmissions,
        unanswered_requests,
        released,
        restarted,
        incomplete,
        ..
    } = counters.lost;
    EndLook {
        subframe,
        state,
        snr_db,
        received: counters.blocks_received,
        failed: counters.blocks_failed,
        bytes,
        lost: [out_of_sync, silence, retransmissions, unanswered_requests, released, restarted, incomplete],
    }
}

impl EndView {
    fn link(&mut self) -> Link {
        let now = self.words.look();
        if let Some(before) = self.looks.back() {
            let grown = (0..REASONS.len()).find(|&reason| now.lost[reason] > before.lost[reason]);
            self.loss = grown.or(self.loss);
        }
        self.looks.push_back(now);
        while self.looks.len() > 2 && self.looks[1].subframe + SPAN <= now.subframe {
            self.looks.pop_front();
        }
        let first = self.looks.front().copied().unwrap_or(now);
        let (received, failed) = (now.received.saturating_sub(first.received), now.failed.saturating_sub(first.failed));
        let subframes = now.subframe.saturating_sub(first.subframe);
        let bits = now.bytes.saturating_sub(first.bytes) as f64 * 8.0;
        Link {
            name: self.name.to_owned(),
            state: now.state.map(|state| (self.state)(state).to_owned()),
            loss_reason: self.loss.map(|reason| REASONS[reason].to_owned()),
            snr_db: now.snr_db.map(f64::from),
            mcs: None,
            bler: (received + failed > 0).then(|| failed as f64 / (received + failed) as f64),
            throughput_bps: (subframes >= SHORTEST).then(|| bits * SPAN as f64 / subframes as f64),
        }
    }
}

impl Source for LinkView {
    fn snapshot(&mut self) -> Snapshot {
        Snapshot { links: self.ends.iter_mut().map(EndView::link).collect(), ..Snapshot::default() }
    }
}

fn terminal_state(state: u64) -> &'static str {
    let is = |one: LinkState| one as u64 == state;
    match () {
        () if is(LinkState::OutOfSync) => "out-of-sync",
        () if is(LinkState::NoSystemInformation) => "no-system-information",
        () if is(LinkState::Refused) => "refused",
        () if is(LinkState::BackOff) => "back-off",
        () if is(LinkState::NoResponse) => "no-response",
        () if is(LinkState::Contending) => "contending",
        () if is(LinkState::Completing) => "completing",
        () => "attached",
    }
}

fn station_state(state: u64) -> &'static str {
    let is = |one: TerminalState| one as u64 == state;
    match () {
        () if is(TerminalState::Lost) => "lost",
        () if is(TerminalState::Completing) => "completing",
        () => "attached",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_shows_shares_and_rates_of_the_last_second_and_why_it_was_lost() {
        let (probe, mut view) = watched_link();
        let nothing = &view.snapshot().links[0];
        assert_eq!((&nothing.state, nothing.snr_db, nothing.bler), (&None, None, None), "no subframe has passed");
        let attached = Some(LinkState::Attached as u64);
        let at = |subframe, received, failed, bytes| EndLook {
            subframe,
            state: attached,
            snr_db: Some(12.5),
            received,
            failed,
            bytes,
            lost: [0; REASONS.len()],
        };
        probe.terminal.put(&at(1000, 100, 0, 5_000));
        view.snapshot();
        probe.terminal.put(&at(2000, 190, 10, 130_000));
        let snapshot = view.snapshot();
        let [down, up] = &snapshot.links[..] else { panic!("{snapshot:?}") };
        assert_eq!((down.state.as_deref(), down.snr_db, &down.loss_reason), (Some("attached"), Some(12.5), &None));
        assert_eq!((down.bler, down.throughput_bps), (Some(0.1), Some(1e6)));
        assert_eq!((&up.state, up.bler), (&None, None), "the base station has not begun");
        let mut lost = at(2100, 190, 10, 130_000);
        lost.lost[1] = 1;
        lost.state = Some(LinkState::OutOfSync as u64);
        probe.terminal.put(&lost);
        let down = view.snapshot().links.remove(0);
        assert_eq!((down.state.as_deref(), down.loss_reason.as_deref()), (Some("out-of-sync"), Some(REASONS[1])));
    }

    #[test]
    fn states_have_the_names_of_the_documents() {
        for state in [LinkState::OutOfSync, LinkState::BackOff, LinkState::NoResponse, LinkState::Attached] {
            assert_eq!(serde_json::to_value(state).expect("a name"), terminal_state(state as u64));
        }
        for state in [TerminalState::Lost, TerminalState::Completing, TerminalState::Attached] {
            assert_eq!(serde_json::to_value(state).expect("a name"), station_state(state as u64));
        }
    }
}
