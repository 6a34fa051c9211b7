//! View of a link while it runs: the state of both directions, blocks with errors, payload.
//!
//! Each end puts its counts into words of their own once a subframe: one writer, no lock. A reader compares two looks. The radio
//! of an end that has one of its own is shown as well, with its letters and a spectrum.

mod port;
mod words;

use std::collections::VecDeque;
use std::sync::Arc;

use takt_live::{Link, Snapshot, Source};
use takt_lte_link::{LinkState, TERMINALS, TerminalState};
use takt_radio::{StreamProbe, StreamViews, watched_stream};

pub(crate) use self::port::{ReceivedBytes, WatchedPort};
use self::words::{EndLook, EndWords, LOSSES};

/// Subframes over which shares and rates are measured: a second of the radio's time.
const SPAN: u64 = 1000;
/// A rate over fewer subframes is that of a burst.
const SHORTEST: u64 = SPAN / 5;
/// Reasons why a link is lost, as [`LossCounters`](takt_lte_link::LossCounters) counts them.
const REASONS: [&str; LOSSES] = [
    "the receiver did not follow the cell any more",
    "nothing was heard from the other end",
    "a packet was repeated too often",
    "requests to be scheduled were not answered",
    "the other end released it",
    "the base station has started anew",
    "the attachment was not completed in time",
];

/// The side of both ends of a link with one terminal.
#[derive(Clone, Debug)]
pub struct LinkProbe {
    terminal: Arc<[EndWords]>,
    station: Arc<[EndWords]>,
}

/// The side of an end with a radio of its own.
#[derive(Clone, Debug)]
pub struct EndProbe {
    words: Arc<[EndWords]>,
    pub(crate) rx: StreamProbe,
    pub(crate) tx: StreamProbe,
}

/// Shows links, and the radio of an end: the source of a [`Publisher`](takt_live::Publisher).
pub struct LinkView {
    ends: Vec<EndView>,
    radio: StreamViews,
}

/// A direction of a link: what its receiving end counts.
struct EndView {
    name: &'static str,
    words: Arc<[EndWords]>,
    place: usize,
    /// Whether it is one of several terminals: its name has the terminal's number, and it is not shown before there is one.
    of_several: bool,
    state: fn(u64) -> &'static str,
    /// Looks of the last second, the oldest first.
    looks: VecDeque<EndLook>,
    loss: Option<usize>,
}

fn words(places: usize) -> Arc<[EndWords]> {
    (0..places).map(|_| EndWords::new()).collect()
}

/// Both sides, for a link with one terminal whose ends both run here.
#[must_use]
pub fn watched_link() -> (LinkProbe, LinkView) {
    let (terminal, station) = (words(1), words(1));
    let ends = vec![
        EndView::new("downlink, terminal", &terminal, terminal_state),
        EndView::new("uplink, base station", &station, station_state),
    ];
    (LinkProbe { terminal, station }, LinkView { ends, radio: StreamViews::from_iter([]) })
}

/// Both sides, for a base station with a radio of its own.
#[must_use]
pub fn watched_station() -> (EndProbe, LinkView) {
    let words = words(TERMINALS.into());
    let end = |place| EndView { place, of_several: true, ..EndView::new("uplink, terminal", &words, station_state) };
    with_radio(&words, (0..words.len()).map(end).collect())
}

/// Both sides, for a terminal with a radio of its own.
#[must_use]
pub fn watched_terminal() -> (EndProbe, LinkView) {
    let words = words(1);
    with_radio(&words, vec![EndView::new("downlink", &words, terminal_state)])
}

fn with_radio(words: &Arc<[EndWords]>, ends: Vec<EndView>) -> (EndProbe, LinkView) {
    let ((rx, rx_view), (tx, tx_view)) = (watched_stream(), watched_stream());
    (
        EndProbe { words: Arc::clone(words), rx, tx },
        LinkView { ends, radio: StreamViews::from_iter([rx_view, tx_view]) },
    )
}

impl LinkProbe {
    /// The terminal's port, with what the link does shown.
    pub(crate) fn terminal<'a, P>(&self, port: &'a mut P) -> WatchedPort<'a, P> {
        WatchedPort { port, words: Arc::clone(&self.terminal) }
    }

    /// The base station's.
    pub(crate) fn station<'a, P>(&self, port: &'a mut P) -> WatchedPort<'a, P> {
        WatchedPort { port, words: Arc::clone(&self.station) }
    }
}

impl EndProbe {
    /// The end's port, with what the link does shown.
    pub(crate) fn port<'a, P>(&self, port: &'a mut P) -> WatchedPort<'a, P> {
        WatchedPort { port, words: Arc::clone(&self.words) }
    }
}

impl EndView {
    fn new(name: &'static str, words: &Arc<[EndWords]>, state: fn(u64) -> &'static str) -> EndView {
        let words = Arc::clone(words);
        EndView { name, words, place: 0, of_several: false, state, looks: VecDeque::new(), loss: None }
    }

    /// The direction now; `None`: no terminal has this place.
    fn link(&mut self) -> Option<Link> {
        let now = self.words.get(self.place)?.look();
        let terminal = now.identity.filter(|_| self.of_several);
        if self.of_several && terminal.is_none() {
            return None;
        }
        if self.looks.back().is_some_and(|before| before.identity != now.identity) {
            // Another terminal has the place.
            (self.looks, self.loss) = (VecDeque::new(), None);
        }
        self.look(now);
        let first = self.looks.front().copied().unwrap_or(now);
        let (received, failed) = (now.received.saturating_sub(first.received), now.failed.saturating_sub(first.failed));
        let subframes = now.subframe.saturating_sub(first.subframe);
        let bits = now.bytes.saturating_sub(first.bytes) as f64 * 8.0;
        Some(Link {
            name: terminal.map_or_else(|| self.name.to_owned(), |number| format!("{} {number}", self.name)),
            state: now.state.map(|state| (self.state)(state).to_owned()),
            loss_reason: self.loss.map(|reason| REASONS[reason].to_owned()),
            snr_db: now.snr_db.map(f64::from),
            mcs: None,
            bler: (received + failed > 0).then(|| failed as f64 / (received + failed) as f64),
            throughput_bps: (subframes >= SHORTEST).then(|| bits * SPAN as f64 / subframes as f64),
        })
    }

    /// Remembers a look, and why the link was lost since the one before.
    fn look(&mut self, now: EndLook) {
        if let Some(before) = self.looks.back() {
            let grown = (0..REASONS.len()).find(|&reason| now.lost[reason] > before.lost[reason]);
            self.loss = grown.or(self.loss);
        }
        self.looks.push_back(now);
        while self.looks.len() > 2 && self.looks[1].subframe + SPAN <= now.subframe {
            self.looks.pop_front();
        }
    }
}

impl Source for LinkView {
    fn snapshot(&mut self) -> Snapshot {
        let links = self.ends.iter_mut().filter_map(EndView::link).collect();
        Snapshot { links, ..self.radio.snapshot() }
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

    fn at(subframe: u64, state: u64, received: u64, failed: u64, bytes: u64) -> EndLook {
        let (state, snr_db) = (Some(state), Some(12.5));
        EndLook { subframe, state, snr_db, received, failed, bytes, ..EndLook::default() }
    }

    #[test]
    fn a_link_shows_shares_and_rates_of_the_last_second_and_why_it_was_lost() {
        let (probe, mut view) = watched_link();
        let nothing = &view.snapshot().links[0];
        assert_eq!((&nothing.state, nothing.snr_db, nothing.bler), (&None, None, None), "no subframe has passed");
        let attached = LinkState::Attached as u64;
        probe.terminal[0].put(&at(1000, attached, 100, 0, 5_000));
        view.snapshot();
        probe.terminal[0].put(&at(2000, attached, 190, 10, 130_000));
        let snapshot = view.snapshot();
        let [down, up] = &snapshot.links[..] else { panic!("{snapshot:?}") };
        assert_eq!((down.state.as_deref(), down.snr_db, &down.loss_reason), (Some("attached"), Some(12.5), &None));
        assert_eq!((down.bler, down.throughput_bps), (Some(0.1), Some(1e6)));
        assert_eq!((&up.state, up.bler), (&None, None), "the base station has not begun");
        let mut lost = at(2100, LinkState::OutOfSync as u64, 190, 10, 130_000);
        lost.lost[1] = 1;
        probe.terminal[0].put(&lost);
        let down = view.snapshot().links.remove(0);
        assert_eq!((down.state.as_deref(), down.loss_reason.as_deref()), (Some("out-of-sync"), Some(REASONS[1])));
    }

    #[test]
    fn a_base_station_shows_each_of_its_terminals_and_no_place_without_one() {
        let (probe, mut view) = watched_station();
        assert!(view.snapshot().links.is_empty(), "no terminal has come");
        let attached = TerminalState::Attached as u64;
        let of = |subframe, received, identity| EndLook {
            identity: Some(identity),
            ..at(subframe, attached, received, 0, received * 100)
        };
        probe.words[0].put(&of(1000, 10, 7));
        probe.words[2].put(&of(1000, 20, 9));
        view.snapshot();
        probe.words[0].put(&of(2000, 20, 7));
        // Another terminal, which has counted less.
        probe.words[2].put(&of(2000, 5, 11));
        let links = view.snapshot().links;
        let shown: Vec<_> = links.iter().map(|link| (link.name.as_str(), link.throughput_bps)).collect();
        assert_eq!(shown, [("uplink, terminal 7", Some(8000.0)), ("uplink, terminal 11", None)]);
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
