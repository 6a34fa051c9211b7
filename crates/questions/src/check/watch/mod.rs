//! Only looks for stops of this machine, for as long as one likes: nothing is streamed, and the machine is free for its user.
//!
//! A stop says what it would cost a radio, since it is known what the buffers between a radio and its program hold.

pub mod screen;

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::words::sentence;
use takt_base::{Clock, Stop, WallClock};
use takt_host::affinity::own_cpus;
use takt_host::core_watch::{self, CoreStop, CoreWatch};
use takt_packet::{Config, EngineError, EngineKind, PortSpec};
use takt_radio::RxOptions;
use takt_wire::n200::TX_BUFFER_BYTES;

use super::stops::{Holds, StopSeen, StopsAt};
use super::{CheckAnswer, Mode, Model, Need, Stops, stops};

/// Version of the outcome's document.
pub const SCHEMA: &str = "takt.stops/1";
/// Stops that are listed one by one.
const LISTED: usize = 100;
/// How soon a request to end is seen.
const GLANCE: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq)]
pub struct WatchOptions {
    pub duration: Duration,
    /// Cores to look at; none: all that this process may use.
    pub cores: Vec<usize>,
    /// The streams whose buffers stops are held against.
    pub needs: Vec<Need>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// No core could be looked at; why, of each.
    #[error("takt can't watch any core: {}", .0.join("; "))]
    Nothing(Vec<String>),
    #[error("takt can't get a receive buffer")]
    Buffer(#[from] EngineError),
}

/// The stops that were seen, and their cost for a radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchOutcome {
    pub schema: String,
    /// Over all streams: `holds`, or `fails`.
    pub answer: CheckAnswer,
    /// Whether it lasted as long as was asked for.
    pub complete: bool,
    pub needs: Vec<WatchedNeed>,
    pub stops: Stops,
    /// The longest stops, in the order in which they came.
    pub longest: Vec<ListedStop>,
    /// A sentence each.
    #[serde(rename = "says")]
    pub summary: Vec<String>,
    #[serde(rename = "does_not_say")]
    pub caveats: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedNeed {
    pub need: Need,
    pub answer: CheckAnswer,
    /// How much of the stream the smaller of its buffers holds, ms.
    pub holds_ms: f64,
    /// Stops that were longer.
    pub longer: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedStop {
    /// Since the watch began, seconds.
    pub after_s: f64,
    pub core: usize,
    #[serde(flatten)]
    pub stop: StopSeen,
}

/// Looks until the time is over or `stop` is raised. `progress`: how long it has looked.
///
/// # Errors
/// No core can be looked at, or the kernel grants no socket.
pub fn watch(
    options: &WatchOptions,
    progress: &mut dyn FnMut(Duration),
    stop: &Stop,
) -> Result<WatchOutcome, WatchError> {
    let granted_bytes = granted_bytes()?;
    let cores = if options.cores.is_empty() { own_cpus() } else { options.cores.clone() };
    let begun = WallClock.now();
    let watch = CoreWatch::begin(&cores);
    while !stop.requested() && WallClock.now() - begun < options.duration {
        progress(WallClock.now() - begun);
        thread::sleep(GLANCE.min(options.duration));
    }
    let complete = !stop.requested();
    let watched = watch.finish();
    if watched.cores.is_empty() {
        return Err(WatchError::Nothing(watched.unseen));
    }
    let seen = core_watch::together(&watched.stops);
    // No radio is there, and one would not stop.
    let all: Vec<StopSeen> = seen.iter().map(|stop| StopSeen::of(stop, true)).collect();
    let at = options.needs.iter().map(|need| Holds::of(need, holds_ms(need, granted_bytes)).against(all.iter()));
    let stops = Stops::of(&all, watched.looked_ns as f64 / 1e9, [&watched], at.collect());
    Ok(outcome(options, stops, listed(seen, begun.0), complete))
}

fn outcome(options: &WatchOptions, stops: Stops, longest: Vec<ListedStop>, complete: bool) -> WatchOutcome {
    let watched = |(need, at): (&Need, &StopsAt)| WatchedNeed {
        need: need.clone(),
        answer: if at.fits() { CheckAnswer::Holds } else { CheckAnswer::Fails },
        holds_ms: at.holds_ms,
        longer: at.longer,
    };
    let needs: Vec<WatchedNeed> =
        options.needs.iter().filter_map(|need| Some((need, stops.at(need)?))).map(watched).collect();
    let fails = needs.iter().any(|need| need.answer == CheckAnswer::Fails);
    let answer = match (fails, needs.is_empty()) {
        (true, _) => CheckAnswer::Fails,
        (false, true) => CheckAnswer::Unknown,
        (false, false) => CheckAnswer::Holds,
    };
    let sure = stops::how_sure(&stops, &options.needs);
    let sure = (!sure.is_empty()).then(|| format!("{sure}: watch longer to see them"));
    let summary = stops::of_needs(&stops, &options.needs).into_iter().chain(sure);
    let caveats = stops::blind(&stops).iter().map(|words| sentence(words)).collect();
    let summary = summary.map(|words| sentence(&words)).collect();
    WatchOutcome { schema: SCHEMA.into(), answer, complete, needs, stops, longest, summary, caveats }
}

/// The longest stops, in the order in which they came.
fn listed(mut seen: Vec<CoreStop>, begun_ns: u64) -> Vec<ListedStop> {
    seen.sort_by_key(|stop| std::cmp::Reverse(stop.ns()));
    seen.truncate(LISTED);
    seen.sort_by_key(|stop| stop.from_ns);
    let listed = |stop: &CoreStop| ListedStop {
        after_s: stop.from_ns.saturating_sub(begun_ns) as f64 / 1e9,
        core: stop.cpu,
        stop: StopSeen::of(stop, true),
    };
    seen.iter().map(listed).collect()
}

/// The receive buffer that the kernel grants an ordinary program that asks for as much as UHD.
fn granted_bytes() -> Result<usize, EngineError> {
    let any = PortSpec { bind: std::net::SocketAddr::from(([127, 0, 0, 1], 0)), peer: None };
    let config = Config { recv_buffer_bytes: RxOptions::USUAL_BUFFER_BYTES, ..Config::new(vec![any]) };
    Ok(takt_packet::open(EngineKind::Socket, &config)?.limits().recv_buffer_bytes)
}

/// How much of a stream the smaller of its buffers holds, ms: this host's socket, and the memory of an N200. For an
/// X310 only the socket counts: its memory holds more.
fn holds_ms(need: &Need, granted_bytes: usize) -> f64 {
    let (frame_bytes, head_bytes) = match need.model {
        Model::N200 => (1472, 24),
        Model::X310 => (8000, 16),
    };
    let samples = (frame_bytes - head_bytes) / need.format.bytes();
    let ms = |bytes: usize| (bytes / frame_bytes * samples) as f64 / need.rate_sps * 1e3;
    let receive_ms = (need.mode != Mode::Tx).then(|| ms(granted_bytes));
    let transmit_ms = (need.mode != Mode::Rx && need.model == Model::N200).then(|| ms(TX_BUFFER_BYTES));
    [receive_ms, transmit_ms].into_iter().flatten().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::testing::need;
    use super::*;
    use takt_host::core_stop::Cause;

    const MS: u64 = 1_000_000;

    #[test]
    fn an_n200_at_its_full_rate_has_ten_milliseconds_and_a_small_socket_less() {
        let holds = |mode, granted| holds_ms(&Need { mode, ..need() }, granted);
        assert!((holds(Mode::Duplex, 50_000_000) - 10.3).abs() < 0.1, "its own memory");
        assert!((holds(Mode::Rx, 212_992) - 2.08).abs() < 0.1, "208 KiB");
        assert!((holds(Mode::Tx, 1) - 10.3).abs() < 0.1, "nothing is received");
    }

    #[test]
    fn the_longest_stops_are_listed_in_the_order_in_which_they_came() {
        let stop = |n: u64| {
            let from_ns = n * 1000 * MS;
            CoreStop { cpu: 0, from_ns, to_ns: from_ns + (1 + n % 150) * MS, by: Cause::NotKnown }
        };
        let listed = listed((0..150).map(stop).collect(), 0);
        assert_eq!((listed.len(), listed[0].after_s, listed[99].stop.ms), (LISTED, 50.0, 150.0));
    }

    #[test]
    fn a_watch_ends_by_its_time_and_says_what_it_saw() {
        let options = WatchOptions { duration: Duration::from_millis(50), cores: Vec::new(), needs: vec![need()] };
        let outcome = watch(&options, &mut |_| (), &Stop::new()).unwrap();
        assert!(outcome.complete && outcome.needs.len() == 1 && outcome.stops.cores == own_cpus());
        let fits = outcome.stops.at[0].fits();
        assert_eq!(outcome.answer, if fits { CheckAnswer::Holds } else { CheckAnswer::Fails });
        let over = Stop::new();
        over.request();
        assert!(!watch(&options, &mut |_| (), &over).unwrap().complete);
    }
}
