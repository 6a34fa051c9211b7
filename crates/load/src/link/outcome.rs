//! Results of a link.

use serde::{Deserialize, Serialize};

use super::LinkOptions;

/// The ends kept up if they were late, or lost samples, in no more than one subframe of so many. Fixed before any data were seen.
pub(super) const KEPT_UP_PER: u64 = 1000;

/// A round of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkOutcome {
    pub options: LinkOptions,
    /// Seconds of the radios in a second of this host.
    pub speed: f64,
    /// Whether both ends kept up in every attempt.
    pub kept_up: bool,
    /// Attempts, and those of them that connected.
    pub attempted: u64,
    pub connected: u64,
    pub connected_share: f64,
    /// Mean of those that connected, milliseconds of the link's own time; `None`: none did.
    pub attach_ms: Option<f64>,
    /// The same by the host's clock, opening the radios included.
    pub attach_host_ms: Option<f64>,
    /// Times that a link was lost after it had come up.
    pub losses: u64,
    pub late_bursts: u64,
    pub lost_subframes: u64,
    /// Subframes of both ends.
    pub subframes: u64,
    /// Load of the first attempt that connected.
    pub load: Option<LinkLoad>,
    pub attempts: Vec<LinkAttempt>,
    /// The same point at lower speeds, in turn: the last is the highest at which the ends kept up, or the lowest that was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slower: Vec<LinkOutcome>,
    pub complete: bool,
}

/// One try of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkAttempt {
    pub connected: bool,
    /// How far the terminal got.
    pub reached: String,
    pub attach_ms: Option<f64>,
    pub attach_host_ms: Option<f64>,
    pub losses: u64,
    /// Subframes of both ends; all counts below are of both, too.
    pub subframes: u64,
    /// `L`: bursts whose time had passed when the radio got them.
    pub late_bursts: u64,
    pub lost_subframes: u64,
    pub underflows: u64,
    pub unsent_samples: u64,
    pub kept_up: bool,
    pub load: Option<LinkLoad>,
}

/// The load of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkLoad {
    /// Datagrams that were due.
    pub sent: u64,
    /// Among them: those that the base station's queue did not take.
    pub refused: u64,
    pub received: u64,
    pub reordered: u64,
    pub repeated: u64,
    /// Share of those due that never arrived.
    pub lost_share: f64,
    /// Bits of IP packets in a second of the link's time.
    pub rate_bps: f64,
    /// Interarrival jitter of RFC 3550, as iperf3 prints it: by the host's clock, times the speed.
    pub jitter_ms: Option<f64>,
    /// CPU while it ran.
    pub threads: Vec<LinkThread>,
}

/// CPU time of the threads of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkThread {
    pub name: String,
    pub seconds: f64,
    /// Share of a core, while the load ran.
    pub core_share: f64,
}

impl LinkOutcome {
    pub(super) fn of(options: &LinkOptions, attempts: Vec<LinkAttempt>, complete: bool) -> LinkOutcome {
        let sum = |of: fn(&LinkAttempt) -> u64| attempts.iter().map(of).sum::<u64>();
        let mean = |of: fn(&LinkAttempt) -> Option<f64>| {
            let all: Vec<f64> = attempts.iter().filter_map(of).collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let (attempted, connected) = (attempts.len() as u64, sum(|one| u64::from(one.connected)));
        LinkOutcome {
            options: options.clone(),
            speed: options.speed,
            kept_up: attempted > 0 && attempts.iter().all(|one| one.kept_up),
            attempted,
            connected,
            connected_share: connected as f64 / attempted.max(1) as f64,
            attach_ms: mean(|one| one.attach_ms),
            attach_host_ms: mean(|one| one.attach_host_ms),
            losses: sum(|one| one.losses),
            late_bursts: sum(|one| one.late_bursts),
            lost_subframes: sum(|one| one.lost_subframes),
            subframes: sum(|one| one.subframes),
            load: attempts.iter().find_map(|one| one.load.clone()),
            attempts,
            slower: Vec::new(),
            complete,
        }
    }
}
