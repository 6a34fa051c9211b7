//! A port of an end that is watched: what the end counts is put into words after each subframe.

use std::sync::Arc;

use takt_lte_link::{Identity, LinkCounters, LossCounters};

use super::words::{EndLook, EndWords};
use crate::{AirError, CellStage, PacketPort, StationCore, TerminalCore};

/// Payload that a port has taken from its link.
pub(crate) trait ReceivedBytes {
    /// Bytes since the port began: from that terminal, or all of them where there is one link alone.
    fn received_bytes(&self, from: Option<Identity>) -> u64;
}

/// A port of an end that is watched. A base station has words for each of its places, a terminal for itself.
pub(crate) struct WatchedPort<'a, P> {
    pub(super) port: &'a mut P,
    pub(super) words: Arc<[EndWords]>,
}

impl<P: PacketPort<TerminalCore> + ReceivedBytes> PacketPort<TerminalCore> for WatchedPort<'_, P> {
    fn exchange(&mut self, now: u64, terminal: &mut TerminalCore) -> Result<bool, AirError> {
        let goes_on = self.port.exchange(now, terminal)?;
        let snr_db = match terminal.stage() {
            CellStage::Follow { snr_db, .. } | CellStage::Broadcast { snr_db, .. } => Some(snr_db),
            _ => None,
        };
        let state = Some(terminal.link().state() as u64);
        let bytes = self.port.received_bytes(None);
        let seen = EndLook { state, snr_db, bytes, ..counted(now, terminal.link().counters()) };
        self.words.iter().for_each(|words| words.put(&seen));
        Ok(goes_on)
    }
}

impl<P: PacketPort<StationCore> + ReceivedBytes> PacketPort<StationCore> for WatchedPort<'_, P> {
    fn exchange(&mut self, now: u64, station: &mut StationCore) -> Result<bool, AirError> {
        let goes_on = self.port.exchange(now, station)?;
        for terminal in station.link().terminals() {
            let Some(words) = self.words.get(usize::from(terminal.place)) else { continue };
            words.put(&EndLook {
                state: Some(terminal.state as u64),
                snr_db: Some(terminal.uplink_snr_db),
                bytes: self.port.received_bytes(Some(terminal.identity)),
                identity: Some(terminal.identity.get()),
                ..counted(now, &terminal.counters)
            });
        }
        Ok(goes_on)
    }
}

fn counted(subframe: u64, counters: &LinkCounters) -> EndLook {
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
        received: counters.blocks_received,
        failed: counters.blocks_failed,
        lost: [out_of_sync, silence, retransmissions, unanswered_requests, released, restarted, incomplete],
        ..EndLook::default()
    }
}
