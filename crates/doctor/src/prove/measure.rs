//! Why a round could not be measured.

use std::io;

use takt_host::affinity::AffinityError;
use takt_host::policy::PolicyError;
use takt_load::wakeup::WakeupError;
use takt_udp::UdpError;

/// Why a round could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// Wake-ups.
    #[error("measuring wake-ups")]
    WakeUp(#[from] WakeupError),
    /// Datagrams.
    #[error("measuring datagrams over loopback")]
    Udp(#[from] UdpError),
    /// Sockets of loopback.
    #[error("measuring losses over loopback")]
    Loss(#[source] io::Error),
    /// The spinning thread's priority.
    #[error("a real-time thread that never sleeps")]
    Priority(#[from] PolicyError),
    /// The spinning thread's place.
    #[error("a place for the thread that never sleeps")]
    Place(#[from] AffinityError),
    /// Nothing came, so there is nothing to divide by.
    #[error("nothing arrived in a round")]
    Nothing,
}

impl MeasureError {
    /// What to do about it, if anything.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            MeasureError::WakeUp(error) => error.fix(),
            MeasureError::Priority(error) => error.fix(),
            _ => None,
        }
    }
}
