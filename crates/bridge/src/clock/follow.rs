//! Asks another node what time it is, as long as a run lasts.

use std::net::{SocketAddr, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{Clock, Stop, WallClock};
use takt_wire::clock::{ClockReply, ClockRequest};

use super::SlotTime;
use super::offset::{Drift, Estimate, Exchange, Known};

/// Questions before the first estimate is used.
const FIRST: u32 = 8;
/// Between those.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// How often the time is requested from the clock that is followed.
pub const QUESTIONS_EVERY: Duration = Duration::from_millis(100);
/// An answer that takes longer says nothing.
const PATIENCE: Duration = Duration::from_millis(100);

/// A thread that keeps an offset.
pub struct Follower {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Asks the node that answers at `reference` a few times, then goes on asking. Slot 0 begins at `epoch_ns` of that node's
    /// clock; on this machine's it is set when this returns, and kept.
    ///
    /// # Errors
    /// It does not answer, or a socket or thread can't be had.
    pub fn start(reference: SocketAddr, epoch_ns: u64, time: &SlotTime) -> std::io::Result<Follower> {
        Answered::by(reference)?.follow(epoch_ns, time)
    }
}

/// A clock that answers, and what is known of it; until it is followed, no slot time is changed.
pub struct Answered {
    questions: Questions,
    known: Known,
}

impl Answered {
    /// Asks the node that answers at `reference` a few times.
    ///
    /// # Errors
    /// It does not answer, or a socket can't be had.
    pub fn by(reference: SocketAddr) -> std::io::Result<Answered> {
        let mut questions = Questions::open(reference)?;
        let known = questions.first()?;
        Ok(Answered { questions, known })
    }

    /// As [`Follower::start`]. Only one may follow for a slot time.
    ///
    /// # Errors
    /// A thread can't be had.
    pub fn follow(self, epoch_ns: u64, time: &SlotTime) -> std::io::Result<Follower> {
        let Answered { mut questions, known } = self;
        keep(known, questions.drift(), epoch_ns, time);
        let (stop, time) = (Stop::new(), time.clone());
        let until = stop.clone();
        let thread = std::thread::Builder::new().name("takt-clock".to_owned()).spawn(move || {
            while !until.requested() {
                // Without an answer all stays as it is, and the bound grows.
                if let Ok(known) = questions.learn() {
                    keep(known, questions.drift(), epoch_ns, &time);
                }
                std::thread::sleep(QUESTIONS_EVERY);
            }
        })?;
        Ok(Follower { stop, thread: Some(thread) })
    }
}

fn keep(known: Known, drift: Option<Drift>, epoch_ns: u64, time: &SlotTime) {
    time.offset().know(known);
    time.offset().know_drift(drift);
    time.begin(epoch_ns.saturating_sub_signed(known.ns));
}

/// Questions to the node whose clock sets the beat, and what its answers say of the offset.
pub(super) struct Questions {
    socket: UdpSocket,
    next: u32,
    estimate: Estimate,
    last: Option<Known>,
}

impl Questions {
    pub(super) fn open(reference: SocketAddr) -> std::io::Result<Questions> {
        let any: SocketAddr = if reference.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(any)?;
        socket.connect(reference)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Questions { socket, next: 0, estimate: Estimate::default(), last: None })
    }

    /// First knowledge of the reference's clock less ours: from several answers.
    pub(super) fn first(&mut self) -> std::io::Result<Known> {
        let mut last = Err(std::io::ErrorKind::TimedOut.into());
        for _ in 0..FIRST {
            last = self.learn().or(last);
            std::thread::sleep(FIRST_PAUSE);
        }
        last
    }

    /// The estimate after one more question, and how far off it is at most now: one without an answer makes it older. `None`: none
    /// was answered yet.
    pub(super) fn ask(&mut self) -> Option<(i64, u64)> {
        let _unanswered = self.learn();
        self.last.map(|known| (known.ns, known.bound_at(WallClock.now().0)))
    }

    /// Knowledge after one more answer.
    fn learn(&mut self) -> std::io::Result<Known> {
        let id = self.next;
        self.next = id.wrapping_add(1);
        let known = self.estimate.after(ask(&self.socket, id)?);
        self.last = Some(known);
        Ok(known)
    }

    /// How fast the offset changes, as far as the answers say that.
    fn drift(&self) -> Option<Drift> {
        self.estimate.drift()
    }
}

fn ask(socket: &UdpSocket, id: u32) -> std::io::Result<Exchange> {
    let mut room = [0; ClockRequest::BYTES];
    let len = ClockRequest { id }.write(&mut room).map_err(std::io::Error::other)?;
    let requested_ns = WallClock.now().0;
    socket.send(&room[..len])?;
    loop {
        let len = socket.recv(&mut room)?;
        let answered_ns = WallClock.now().0;
        match ClockReply::parse(room.get(..len).unwrap_or_default()) {
            Ok(ClockReply { id: answered, received_ns, sent_ns }) if answered == id => {
                return Ok(Exchange { requested_ns, received_ns, sent_ns, answered_ns });
            }
            // It answers an earlier question, or comes from nobody.
            _ if answered_ns.saturating_sub(requested_ns) > PATIENCE.as_nanos() as u64 => {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            _ => {}
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // A panic there was printed there.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_base::{MonoNs, VirtualClock};

    use super::super::Responder;
    use super::*;

    #[test]
    fn slot_0_is_where_an_answer_has_it_and_the_bound_grows_until_the_next() {
        let time = SlotTime::new(1_000);
        let drift = Some(Drift { ppb: -12_300, bound_ppb: 4_100 });
        keep(Known { ns: -300, bound_ns: 40, at_ns: 1_000_000 }, drift, 5_000, &time);
        let clock = VirtualClock::starting_at(MonoNs(1_000_000));
        assert_eq!((time.begins(), time.offset().ns(), time.offset().bound_by(&clock)), (Some(5_300), -300, 40));
        clock.advance_to(MonoNs(2_000_000));
        assert_eq!(time.offset().bound_by(&clock), 40 + 200, "200 ppm of 1 ms, whatever the drift was");
        assert_eq!(time.offset().drift(), drift);
    }

    #[test]
    fn what_was_answered_is_known_while_nobody_answers_any_more() {
        let responder = Responder::start(takt_testing::loopback(2).into()).unwrap();
        let mut questions = Questions::open(responder.local()).unwrap();
        questions.first().unwrap();
        let (ns, bound_ns) = questions.ask().unwrap();
        drop(responder);
        let later = questions.ask().unwrap();
        assert!(later.0 == ns && later.1 >= bound_ns, "{later:?} after {:?}", (ns, bound_ns));
    }
}
