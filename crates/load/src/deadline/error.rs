//! Why a round of the exchange could not be run.

use std::io;
use std::time::Duration;

use takt_agent::AgentError;
use takt_host::affinity::AffinityError;
use takt_host::idle::LatencyError;
use takt_host::policy::PolicyError;
use takt_host::timer::TimerError;
use takt_radio::RadioError;

/// Why a round could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeadlineError {
    /// Not one subframe.
    #[error("{} ms are less than a subframe of 5 ms", duration.as_millis())]
    NoTime {
        /// What was asked for.
        duration: Duration,
    },
    /// Ticks where nothing sleeps.
    #[error("clock ticks of {hz} Hz need an interface that sleeps on a timer")]
    TicksWithoutSleep {
        /// What was asked for.
        hz: u32,
    },
    /// Slots for an interface that sleeps until the subframe is over.
    #[error("samples can't be handed over slot by slot by an interface that a timer wakes when the subframe is over")]
    SlotsWithoutArrival,
    /// More or fewer codes than there are.
    #[error("channelisation codes")]
    Codes(#[from] takt_dsp::tdscdma::Error),
    /// The radio.
    #[error("radio")]
    Radio(#[from] RadioError),
    /// A process that could not be started.
    #[error("a process of the exchange")]
    Process(#[source] AgentError),
    /// A priority that a process can't have.
    #[error("scheduling of the {who}")]
    Policy {
        /// Which one.
        who: &'static str,
        /// Why.
        #[source]
        source: PolicyError,
    },
    /// A core that a process can't have.
    #[error("core of the {who}")]
    Affinity {
        /// Which one.
        who: &'static str,
        /// Why.
        #[source]
        source: AffinityError,
    },
    /// CPUs that can't be kept awake.
    #[error("keeping idle CPUs awake")]
    Idle(#[from] LatencyError),
    /// The timer of the interface.
    #[error("timer of the interface")]
    Timer(#[from] TimerError),
    /// Shared memory, a pipe, a thread.
    #[error("{doing}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
}

impl DeadlineError {
    /// What to do about it; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            DeadlineError::Policy { source, .. } => source.fix(),
            DeadlineError::TicksWithoutSleep { .. } => {
                Some("timer = \"nanosleep\" (or timerfd, hybrid), or tick_hz = 0".to_owned())
            }
            DeadlineError::SlotsWithoutArrival => Some("timer = \"arrival\", or handover = \"subframe\"".to_owned()),
            DeadlineError::Idle(error) => error.fix().map(str::to_owned),
            DeadlineError::Process(AgentError::Failed(failure)) => failure.fix.clone(),
            DeadlineError::Radio(error) => error.fix().map(str::to_owned),
            _ => None,
        }
    }
}

/// For `map_err`.
pub(super) fn doing(doing: &'static str) -> impl FnOnce(io::Error) -> DeadlineError {
    move |source| DeadlineError::Io { doing, source }
}
