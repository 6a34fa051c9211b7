//! Why a round of the exchange could not be run.

use std::io;
use std::time::Duration;

use takt_agent::AgentError;
use takt_base::Speed;
use takt_host::affinity::AffinityError;
use takt_host::idle::LatencyError;
use takt_host::policy::PolicyError;
use takt_host::timer::TimerError;
use takt_radio::RadioError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeadlineError {
    #[error("the duration of {} ms is shorter than a subframe of 5 ms", duration.as_millis())]
    NoTime { duration: Duration },
    #[error("clock ticks of {hz} Hz need an interface that sleeps on a timer")]
    TicksWithoutSleep { hz: u32 },
    #[error("an interface that a timer wakes after the subframe can't hand over samples slot by slot")]
    SlotsWithoutArrival,
    /// The stages of an answer are this host's time, and its limit is the radio's.
    #[error("the radio runs at {speed} of real time, but answers must come in real time")]
    Speed { speed: Speed },
    #[error("takt can't use these channelisation codes")]
    Codes(#[from] takt_dsp::tdscdma::Error),
    #[error("takt can't use the radio")]
    Radio(#[from] RadioError),
    #[error("a process of the exchange failed")]
    Process(#[source] AgentError),
    #[error("takt can't set the policy of the {who}")]
    Policy {
        who: &'static str,
        #[source]
        source: PolicyError,
    },
    #[error("takt can't set the core of the {who}")]
    Affinity {
        who: &'static str,
        #[source]
        source: AffinityError,
    },
    #[error("takt can't keep idle CPUs awake")]
    Idle(#[from] LatencyError),
    #[error("takt can't set the timer of the interface")]
    Timer(#[from] TimerError),
    #[error("{doing} failed")]
    Io {
        doing: &'static str,
        #[source]
        source: io::Error,
    },
}

impl DeadlineError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            DeadlineError::NoTime { .. } => Some("set duration = \"1s\"".to_owned()),
            DeadlineError::Affinity { .. } => Some("set cores = \"any\"".to_owned()),
            DeadlineError::Policy { source, .. } => source.fix(),
            DeadlineError::TicksWithoutSleep { .. } => {
                Some("set timer = \"nanosleep\" (or timerfd, hybrid), or tick_hz = 0".to_owned())
            }
            DeadlineError::SlotsWithoutArrival => {
                Some("set timer = \"arrival\", or handover = \"subframe\"".to_owned())
            }
            DeadlineError::Speed { .. } => Some("start takt emulate without --speed".to_owned()),
            DeadlineError::Idle(error) => error.fix().map(str::to_owned),
            DeadlineError::Process(AgentError::Failed(failure)) => failure.fix.clone(),
            DeadlineError::Radio(error) => error.fix().map(str::to_owned),
            _ => None,
        }
    }
}

pub(super) fn doing(doing: &'static str) -> impl FnOnce(io::Error) -> DeadlineError {
    move |source| DeadlineError::Io { doing, source }
}
