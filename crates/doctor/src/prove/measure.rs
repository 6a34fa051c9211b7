//! Why a round could not be measured.

use std::io;

use takt_host::affinity::AffinityError;
use takt_host::policy::PolicyError;
use takt_udp::UdpError;
use takt_wakeup::WakeupError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    #[error("takt can't measure wake-ups")]
    WakeUp(#[from] WakeupError),
    #[error("takt can't measure datagrams over loopback")]
    Udp(#[from] UdpError),
    #[error("takt can't measure losses over loopback")]
    Loss(#[source] io::Error),
    #[error("takt can't start a real-time thread that never sleeps")]
    Priority(#[from] PolicyError),
    #[error("takt can't pin the thread that never sleeps")]
    Place(#[from] AffinityError),
    /// Nothing arrived, so there is nothing to divide by.
    #[error("no datagram arrived in a round")]
    Nothing,
}

impl MeasureError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            MeasureError::WakeUp(error) => error.fix(),
            MeasureError::Priority(error) => error.fix(),
            _ => None,
        }
    }
}
