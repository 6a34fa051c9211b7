//! Questions to a radio's thread, which answers them between two beats.

use std::net::Ipv4Addr;
use std::sync::mpsc::{self, Receiver, Sender};

use takt_packet::Counters;

use super::EmulateError;
use crate::drive::wall::{LagReport, Question};
use crate::fault::Faulty;
use crate::n200::N200;

pub(super) type Radio = Faulty<N200>;

/// The asking end; clones ask the same radio.
#[derive(Clone)]
pub(super) struct Questions {
    addr: Ipv4Addr,
    to: Sender<Question<Radio>>,
}

impl Questions {
    /// To the radio at `addr`, which has the other end.
    pub(super) fn to(addr: Ipv4Addr) -> (Questions, Receiver<Question<Radio>>) {
        let (to, requests) = mpsc::channel();
        (Questions { addr, to }, requests)
    }

    ///
    /// # Errors
    /// It has ended.
    pub(super) fn ask<R: Send + 'static>(
        &self,
        question: impl FnOnce(&Radio, LagReport, Counters) -> R + Send + 'static,
    ) -> Result<R, EmulateError> {
        let (answers, answer) = mpsc::channel();
        let sent = self.to.send(Box::new(move |device, lag, counters| {
            let _ = answers.send(question(device, lag, counters));
        }));
        let gone = EmulateError::Ended { addr: self.addr };
        if sent.is_err() {
            return Err(gone);
        }
        // Its thread answers, or ends, and then the question is dropped.
        answer.recv().map_err(|_| gone)
    }
}
