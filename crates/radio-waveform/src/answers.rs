//! Timed bursts, and which of them the radio says came too late.
//!
//! A radio reports each datagram of a burst that comes after its time, so one late answer may be several reports. Those of an
//! N200 carry the number of the datagram. Others carry the time of the report: it concerns the last burst that was due by then.
//! Either way a late answer is counted once, with its slot.

use takt_base::{Complex32, MonoNs, Tick, TickRate};
use takt_radio::n200::{TxStats, TxStreamer};
use takt_radio::{Burst, RadioError, TxEvent, TxEventKind, TxStream};

use crate::device::DeviceBursts;

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
    /// When its first sample is to leave.
    at: Tick,
    late: bool,
}

/// Destination of bursts.
enum Outgoing {
    Own(Box<TxStreamer>),
    Device(DeviceBursts),
}

/// Bursts of a transmit stream, one a slot.
pub struct ReplyBursts {
    tx: Outgoing,
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
        ReplyBursts::over(Outgoing::Own(Box::new(tx)))
    }

    /// The same through a device.
    pub(crate) fn through(bursts: DeviceBursts) -> ReplyBursts {
        ReplyBursts::over(Outgoing::Device(bursts))
    }

    fn over(tx: Outgoing) -> ReplyBursts {
        let sent = Box::new([Sent::default(); REMEMBERED]);
        ReplyBursts { tx, sent, bursts: 0, unsent: 0, late: 0, late_slots: Vec::with_capacity(LISTED), cut: false }
    }

    /// Sends the burst of a slot, whose first sample shall leave at `at`. `false`: the radio takes no more before `until`.
    /// Fails if the stream is over.
    pub fn send(&mut self, slot: u64, at: Tick, samples: &[Complex32], until: MonoNs) -> Result<bool, RadioError> {
        let tx = match &mut self.tx {
            Outgoing::Own(tx) => tx,
            Outgoing::Device(bursts) => {
                if !bursts.send(at, samples)? {
                    self.unsent += 1;
                    return Ok(false);
                }
                self.remember(Sent { slot, at, ..Sent::default() });
                return Ok(true);
            }
        };
        if self.cut {
            tx.send(&[&[]], Burst::END, until)?;
            self.cut = false;
        }
        let before = tx.stats().datagrams;
        let taken = tx.send(&[samples], Burst::at(at).ending(), until)?;
        if taken < samples.len() {
            self.unsent += 1;
            self.cut = taken > 0;
            return Ok(false);
        }
        let datagrams = (tx.stats().datagrams - before) as u32;
        // The radio counts modulo 2^32.
        self.remember(Sent { slot, first: before as u32, datagrams, at, late: false });
        Ok(true)
    }

    fn remember(&mut self, sent: Sent) {
        self.sent[self.bursts as usize % REMEMBERED] = sent;
        self.bursts += 1;
    }

    /// Takes in what the radio has reported; waits for reports until then. Fails if the stream is over.
    pub fn receive(&mut self, until: MonoNs) -> Result<(), RadioError> {
        loop {
            let event = match &mut self.tx {
                Outgoing::Own(tx) => tx.event(until)?,
                Outgoing::Device(bursts) => bursts.report_until(until),
            };
            let Some(event) = event else { return Ok(()) };
            self.note(event);
        }
    }

    fn note(&mut self, event: TxEvent) {
        if event.kind != TxEventKind::Late {
            return;
        }
        let kept = self.bursts.min(REMEMBERED as u64) as usize;
        let mut remembered = self.sent[..kept].iter_mut();
        let sent = match event.sequence {
            Some(number) => remembered.find(|sent| number.wrapping_sub(sent.first) < sent.datagrams),
            None => remembered.filter(|sent| sent.at <= event.tick).max_by_key(|sent| sent.at),
        };
        if let Some(sent) = sent.filter(|sent| !sent.late) {
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
        match &self.tx {
            Outgoing::Own(_) => self.unsent,
            Outgoing::Device(bursts) => self.unsent + bursts.unsent(),
        }
    }

    /// Bursts among [`ReplyBursts::bursts`] that went nowhere: a device's driver did not take them in time.
    #[must_use]
    pub fn lost(&self) -> u64 {
        match &self.tx {
            Outgoing::Own(_) => 0,
            Outgoing::Device(bursts) => bursts.unsent(),
        }
    }

    /// Whether the radio reports what comes too late; a device's driver may not.
    #[must_use]
    pub fn reports_faults(&self) -> bool {
        match &self.tx {
            Outgoing::Own(_) => true,
            Outgoing::Device(bursts) => bursts.reports_faults(),
        }
    }

    /// The clock that times of bursts count.
    #[must_use]
    pub fn tick_rate(&self) -> TickRate {
        match &self.tx {
            Outgoing::Own(tx) => tx.tick_rate(),
            Outgoing::Device(bursts) => bursts.tick_rate(),
        }
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

    /// Counts of the stream; `None`: takt's own driver does not send it.
    #[must_use]
    pub fn stats(&self) -> Option<TxStats> {
        match &self.tx {
            Outgoing::Own(tx) => Some(tx.stats()),
            Outgoing::Device(_) => None,
        }
    }
}
