//! Clock that keeps the slots of a run where they belong, on this node.

use std::error::Error;
use std::net::SocketAddr;

use takt_bridge::clock::ptp::{Agreed, Disciplined, PtpError, Service};
use takt_bridge::clock::{Answered, Follower, SlotTime};

use super::place::Refusal;
use crate::clock::{ClockFacts, OffsetFacts, OwnFacts, PtpEpoch, SlotClock};

/// Start of slot 0, as an order to begin or to change has it.
pub(super) struct Epoch<'a> {
    pub(super) reference: &'a str,
    pub(super) clock: SocketAddr,
    pub(super) epoch_ns: Option<u64>,
    pub(super) ptp: Option<PtpEpoch>,
}

/// Clock that keeps the slots.
pub(super) enum RunClock {
    /// The node is the reference, and no other clock counts; or nothing has begun.
    Alone,
    /// A request to the reference is under way.
    Own { _follower: Follower },
    /// PTP.
    Ptp(Disciplined),
    /// All that is left of it.
    Over(ClockFacts),
}

impl RunClock {
    /// Whether what slots are to be timed by can be relied on here.
    pub(super) fn check(clock: SlotClock, service: &Service) -> Result<(), Refusal> {
        match clock {
            SlotClock::Own => Ok(()),
            SlotClock::Ptp => service.check().map_err(refusal),
        }
    }

    /// The node is the reference, and slot 0 begins at that instant of its clock.
    pub(super) fn lead(
        &mut self,
        clock: SlotClock,
        epoch_ns: u64,
        service: &Service,
        time: &SlotTime,
    ) -> Result<(), Refusal> {
        if let RunClock::Ptp(disciplined) = self {
            disciplined.lead();
            return Ok(());
        }
        *self = RunClock::Alone;
        time.offset().set(0, 0);
        time.begin(epoch_ns);
        if clock == SlotClock::Ptp {
            *self = RunClock::Ptp(Disciplined::agree(service.clone(), epoch_ns, time).map_err(refusal)?);
        }
        Ok(())
    }

    /// Another node is. When slot 0 begins on its clock.
    pub(super) fn follow(
        &mut self,
        clock: SlotClock,
        epoch: &Epoch<'_>,
        service: &Service,
        time: &SlotTime,
    ) -> Result<u64, Refusal> {
        let lacks = |key| move || Refusal::new("the order does not say when slot 0 begins", format!("give `{key}`"));
        let epoch_ns = epoch.epoch_ns.ok_or_else(lacks("epoch_ns"))?;
        if clock == SlotClock::Ptp {
            let ptp = epoch.ptp.ok_or_else(lacks("ptp"))?;
            if let RunClock::Ptp(disciplined) = self {
                disciplined.turn_to(epoch.clock, epoch_ns, ptp.bound_ns);
                return Ok(epoch_ns);
            }
            let PtpEpoch { epoch_ptp_ns, grandmaster, bound_ns } = ptp;
            let agreed = Agreed { epoch_ptp_ns, grandmaster, epoch_ns, bound_ns };
            *self = RunClock::Ptp(Disciplined::follow(service.clone(), agreed, epoch.clock, time).map_err(refusal)?);
            return Ok(epoch_ns);
        }
        let silent = |error| {
            let why = format!("the clock of `{}` does not answer at {}: {error}", epoch.reference, epoch.clock);
            Refusal::new(why, "let UDP pass between the nodes' sample addresses")
        };
        let no_thread = |error| {
            Refusal::new(
                format!("no thread to follow a clock: {error}"),
                "end other threads on this node, or raise the limit: ulimit -u",
            )
        };
        let answered = Answered::by(epoch.clock).map_err(silent)?;
        // Not before: until it answers, the slots keep the beat that they have. And only one may follow at a time.
        *self = RunClock::Alone;
        *self = RunClock::Own { _follower: answered.follow(epoch_ns, time).map_err(no_thread)? };
        Ok(epoch_ns)
    }

    /// Start of slot 0 in PTP's time.
    pub(super) fn ptp(&self) -> Option<PtpEpoch> {
        let RunClock::Ptp(disciplined) = self else { return None };
        let Agreed { epoch_ptp_ns, grandmaster, bound_ns, .. } = disciplined.agreed();
        Some(PtpEpoch { epoch_ptp_ns, grandmaster, bound_ns })
    }

    /// How the node's slots are timed.
    pub(super) fn facts(&self, time: &SlotTime) -> ClockFacts {
        match self {
            RunClock::Alone => ClockFacts::default(),
            RunClock::Own { .. } => {
                let offset = time.offset();
                let drift = offset.drift().map(Into::into);
                let offset = OffsetFacts { offset_ns: offset.ns(), offset_bound_ns: offset.bound_ns() };
                ClockFacts { own: Some(OwnFacts { offset, drift }), ..ClockFacts::default() }
            }
            RunClock::Ptp(disciplined) => disciplined.standing().into(),
            RunClock::Over(facts) => facts.clone(),
        }
    }

    /// The run has ended: what is known of it stays.
    pub(super) fn end(&mut self, time: &SlotTime) {
        *self = RunClock::Over(self.facts(time));
        // The bound of the run's last moment, which nobody's silence makes larger.
        let offset = time.offset();
        offset.set(offset.ns(), offset.bound_ns());
    }
}

/// PTP's time can't be relied on here.
fn refusal(error: PtpError) -> Refusal {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let why = causes.fold(error.to_string(), |why, cause| format!("{why}: {cause}"));
    Refusal::new(why, error.fix())
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use takt_base::{Clock, Stop, WallClock};
    use takt_bridge::clock::Responder;
    use takt_bridge::clock::ptp::PtpDomain;
    use takt_testing::{loopback, wait_for};
    use takt_wire::clock::{ClockReply, ClockRequest};

    use super::*;

    /// A reference that counts how often it is asked.
    fn reference(stop: &Stop) -> (SocketAddr, Arc<AtomicU64>, std::thread::JoinHandle<()>) {
        let socket = UdpSocket::bind((loopback(1), 0)).unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
        let (at, asked, until) = (socket.local_addr().unwrap(), Arc::new(AtomicU64::new(0)), stop.clone());
        let count = Arc::clone(&asked);
        let answers = move || {
            let mut room = [0; ClockRequest::BYTES];
            while !until.requested() {
                let Ok((len, from)) = socket.recv_from(&mut room) else { continue };
                let ClockRequest { id } = ClockRequest::parse(&room[..len]).unwrap();
                let now_ns = WallClock.now().0;
                let len = ClockReply { id, received_ns: now_ns, sent_ns: now_ns }.write(&mut room).unwrap();
                socket.send_to(&room[..len], from).unwrap();
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        (at, asked, std::thread::spawn(answers))
    }

    #[test]
    fn the_beat_is_kept_until_the_new_reference_answers() {
        let (time, stop) = (SlotTime::new(1_000_000), Stop::new());
        let service = Service::new(None, PtpDomain { number: 0, transport_specific: 0 });
        let (at, asked, answers) = reference(&stop);
        let mut beat = RunClock::Alone;
        let mut follow = |name: &str, clock, epoch_ns| {
            let epoch = Epoch { reference: name, clock, epoch_ns: Some(epoch_ns), ptp: None };
            let followed = beat.follow(SlotClock::Own, &epoch, &service, &time);
            assert!(matches!(beat, RunClock::Own { .. }), "one is followed, the old or the new");
            followed
        };
        // Slot 0 a thousand seconds later: no clock is off by that.
        let (first_ns, later_ns) = (5_000_000_000_000, 6_000_000_000_000);
        let is_at = |epoch_ns: u64| time.begins().unwrap().abs_diff(epoch_ns) < 500_000_000_000;
        assert_eq!(follow("b", at, first_ns), Ok(first_ns));
        assert!(is_at(first_ns));

        // Bound, so that nobody else answers there, and silent.
        let silent = UdpSocket::bind((loopback(2), 0)).unwrap();
        let refused = follow("c", silent.local_addr().unwrap(), later_ns).unwrap_err();
        assert!(refused.why.starts_with("the clock of `c` does not answer at "), "{}", refused.why);
        assert!(is_at(first_ns), "slots stay where they are");
        let before = asked.load(Ordering::SeqCst);
        wait_for("another question to the old one", || (asked.load(Ordering::SeqCst) > before).then_some(()));

        let third = Responder::start(loopback(3).into()).unwrap();
        assert_eq!(follow("d", third.local(), later_ns), Ok(later_ns));
        assert!(is_at(later_ns), "now they go by the new one");
        stop.request();
        answers.join().unwrap();
    }
}
