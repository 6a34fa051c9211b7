//! Reports of a radio to a host that answers it: losses on the way to the host, and a verdict on each answer.

use takt_radio::n200::RxStreamer;
use takt_radio::{RadioError, Received, RxEvent, TxEventKind};

/// Samples that did not arrive, one channel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RxLosses {
    pub(crate) lost_samples: u64,
    pub(crate) overflows: u64,
    /// Calls that brought nothing.
    pub(crate) timeouts: u64,
}

impl RxLosses {
    /// Counts what a call brought. A stream that began too late is started again.
    pub(crate) fn note(&mut self, received: &Received, rx: &mut RxStreamer) -> Result<(), RadioError> {
        match received.event {
            Some(RxEvent::Overflow { lost, .. }) => {
                self.overflows += 1;
                self.lost_samples += lost;
            }
            Some(RxEvent::Dropped { lost, .. }) => self.lost_samples += lost,
            Some(RxEvent::Late { .. }) => rx.start(None)?,
            None if received.samples == 0 => self.timeouts += 1,
            _ => {}
        }
        Ok(())
    }
}

/// The radio's report of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verdict {
    #[default]
    Unknown,
    OnTime,
    Late,
    /// Something else: an underflow or a lost datagram.
    Broken,
}

impl Verdict {
    /// The verdict in a report of the radio; `None`: it has none.
    pub(crate) fn of(kind: TxEventKind) -> Option<Verdict> {
        match kind {
            TxEventKind::BurstAck => Some(Verdict::OnTime),
            TxEventKind::Late => Some(Verdict::Late),
            TxEventKind::Underflow | TxEventKind::SequenceError => Some(Verdict::Broken),
            _ => None,
        }
    }
}
