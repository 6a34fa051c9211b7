//! Timed bursts, and which of them the radio says came too late.
//!
//! A radio reports each datagram of a burst that comes after its time, so one late answer may be several reports. They carry
//! the number of the datagram, and the numbers of each burst are remembered: a late answer is counted once, with its slot.

use takt_base::{Complex32, MonoNs, Tick};
use takt_radio::n200::{TxStats, TxStreamer};
use takt_radio::{Burst, RadioError, TxEvent, TxEventKind, TxStream};

/// Bursts remembered until the radio has had its say: more than can be on their way.
const REMEMBERED: usize = 256;

/// Late slots reported one by one.
const LISTED: usize = 16;

/// A burst that was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    slot: u64,
    /// Number of its first datagram.
    first: u32,
    datagrams: u32,
    late: bool,
}

/// Bursts of a transmit stream, one a slot.
pub struct ReplyBursts {
    tx: TxStreamer,
    sent: Box<[Sent; REMEMBERED]>,
    bursts: u64,
    unsent: u64,
    late: u64,
    late_slots: Vec<u64>,
    /// A burst was cut off, and is to be ended.
    cut: bool,
}

impl ReplyBursts {
    /// Takes a stream that nothing was sent on.
    #[must_use]
    pub fn new(tx: TxStreamer) -> ReplyBursts {
        let sent = Box::new([Sent::default(); REMEMBERED]);
        ReplyBursts { tx, sent, bursts: 0, unsent: 0, late: 0, late_slots: Vec::with_capacity(LISTED), cut: false }
    }

    /// Sends the burst of a slot, whose first sample shall leave at `at`. `false`: the radio takes no more before `until`.
    /// Fails if the stream is over.
    pub fn send(&mut self, slot: u64, at: Tick, samples: &[Complex32], until: MonoNs) -> Result<bool, RadioError> {
        if self.cut {
            self.tx.send(&[&[]], Burst::END, until)?;
            self.cut = false;
        }
        let before = self.tx.stats().datagrams;
        let taken = self.tx.send(&[samples], Burst::at(at).ending(), until)?;
        if taken < samples.len() {
            self.unsent += 1;
            self.cut = taken > 0;
            return Ok(false);
        }
        let datagrams = (self.tx.stats().datagrams - before) as u32;
        // The radio counts modulo 2^32.
        self.sent[self.bursts as usize % REMEMBERED] = Sent { slot, first: before as u32, datagrams, late: false };
        self.bursts += 1;
        Ok(true)
    }

    /// Takes in what the radio has reported; waits for reports until then. Fails if the stream is over.
    pub fn receive(&mut self, until: MonoNs) -> Result<(), RadioError> {
        while let Some(event) = self.tx.event(until)? {
            self.note(event);
        }
        Ok(())
    }

    fn note(&mut self, event: TxEvent) {
        if event.kind != TxEventKind::Late {
            return;
        }
        let of = |sent: &&mut Sent| event.sequence.is_some_and(|n| n.wrapping_sub(sent.first) < sent.datagrams);
        if let Some(sent) = self.sent.iter_mut().find(of).filter(|sent| !sent.late) {
            sent.late = true;
            self.late += 1;
            if self.late_slots.len() < LISTED {
                self.late_slots.push(sent.slot);
            }
        }
    }

    /// Bursts sent.
    #[must_use]
    pub fn bursts(&self) -> u64 {
        self.bursts
    }

    /// Bursts that the radio took no more of in time.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Bursts of which the radio reported that they came too late.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Their slots, the first 16.
    #[must_use]
    pub fn late_slots(&self) -> &[u64] {
        &self.late_slots
    }

    /// Counts of the stream.
    #[must_use]
    pub fn stats(&self) -> TxStats {
        self.tx.stats()
    }
}
