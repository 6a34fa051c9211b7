//! Questions to a radio's thread, which answers them between two beats.

use std::net::Ipv4Addr;
use std::sync::mpsc::{self, Receiver, Sender};

use takt_packet::Counters;

use super::EmulateError;
use crate::drive::wall::{LagReport, Question};
use crate::fault::Faulty;

/// A radio as its thread has it.
pub(super) type Radio<M> = Faulty<M>;

/// The asking end; clones ask the same radio.
pub(super) struct Questions<M> {
    addr: Ipv4Addr,
    to: Sender<Question<Radio<M>>>,
}

impl<M> Clone for Questions<M> {
    fn clone(&self) -> Questions<M> {
        Questions { addr: self.addr, to: self.to.clone() }
    }
}

/// The answering end.
pub(super) type Requests<M> = Receiver<Question<Radio<M>>>;

impl<M> Questions<M> {
    /// To the radio at `addr`, which has the other end.
    pub(super) fn to(addr: Ipv4Addr) -> (Questions<M>, Requests<M>) {
        let (to, requests) = mpsc::channel();
        (Questions { addr, to }, requests)
    }

    ///
    /// # Errors
    /// It has ended.
    pub(super) fn ask<R: Send + 'static>(
        &self,
        question: impl FnOnce(&Radio<M>, LagReport, Counters) -> R + Send + 'static,
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
