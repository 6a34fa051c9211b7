//! Looks at PTP, and asks the reference, as long as a run lasts.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use takt_base::{Clock, Stop, WallClock};

use super::beat::{Agreed, Beat, Look, PtpStatus};
use super::{PtpError, Service, card, system};
use crate::clock::SlotTime;
use crate::clock::follow::{QUESTIONS_EVERY, Questions};

/// A thread that keeps slots to PTP's time.
pub struct Disciplined {
    stop: Stop,
    keeper: Arc<Mutex<Keeper>>,
    /// Apart from the keeper, who may wait for answers.
    standing: Arc<Mutex<PtpStatus>>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Whether PTP's time can be relied on here, now.
    ///
    /// # Errors
    /// It can't.
    pub fn check(&self) -> Result<(), PtpError> {
        self.look().map(|_| ())
    }

    fn look(&self) -> Result<Look, PtpError> {
        let status = self.ask()?;
        let card_ns = status.card.as_deref().map_or(Ok(0), |card| card::distance_ns(card, status.ahead_s))?;
        Ok(Look { system: system::ahead(), card_ns, status })
    }
}

impl Disciplined {
    /// Slot 0 begins at `epoch_ns` of this machine's clock, which is the reference: an instant of PTP's time is agreed for it.
    ///
    /// # Errors
    /// PTP's time can't be relied on here; a thread can't be had.
    pub fn agree(service: Service, epoch_ns: u64, time: &SlotTime) -> Result<Disciplined, PtpError> {
        let first = service.look()?;
        let epoch_ptp_ns = epoch_ns.wrapping_add_signed(first.ahead_ns());
        let agreed =
            Agreed { epoch_ptp_ns, grandmaster: first.status.grandmaster, epoch_ns, bound_ns: first.bound_ns() };
        let beat = Beat::new(agreed, true, WallClock.now().0, &first)?;
        Disciplined::begin(service, beat, None, time)
    }

    /// Slot 0 begins when it was agreed. `reference`: where takt's own question is answered, for another opinion.
    ///
    /// # Errors
    /// PTP's time can't be relied on here, or is not that of the same grandmaster; a thread can't be had.
    pub fn follow(
        service: Service,
        agreed: Agreed,
        reference: SocketAddr,
        time: &SlotTime,
    ) -> Result<Disciplined, PtpError> {
        let beat = Beat::new(agreed, false, WallClock.now().0, &service.look()?)?;
        Disciplined::begin(service, beat, questions(reference), time)
    }

    fn begin(
        service: Service,
        beat: Beat,
        questions: Option<Questions>,
        time: &SlotTime,
    ) -> Result<Disciplined, PtpError> {
        let standing = Arc::new(Mutex::new(beat.standing().clone()));
        let mut keeper = Keeper { service, beat, questions, time: time.clone(), standing: Arc::clone(&standing) };
        keeper.look();
        let (stop, keeper) = (Stop::new(), Arc::new(Mutex::new(keeper)));
        let (until, own) = (stop.clone(), Arc::clone(&keeper));
        let keep = move || {
            while !until.requested() {
                std::thread::sleep(QUESTIONS_EVERY);
                lock(&own).look();
            }
        };
        let thread = std::thread::Builder::new().name("takt-clock".to_owned()).spawn(keep);
        let thread = Some(thread.map_err(|source| PtpError::Thread { source })?);
        Ok(Disciplined { stop, keeper, standing, thread })
    }

    /// This machine is the reference from now on: slot 0 stays where it is.
    pub fn lead(&self) {
        let mut keeper = lock(&self.keeper);
        keeper.beat.lead(WallClock.now().0);
        keeper.questions = None;
        keeper.look();
    }

    /// Another one is. The agreement in PTP's time stays; the reference's clock is another.
    pub fn turn_to(&self, reference: SocketAddr, epoch_ns: u64, bound_ns: u64) {
        let questions = questions(reference);
        let mut keeper = lock(&self.keeper);
        keeper.beat.turn_to(epoch_ns, bound_ns);
        keeper.questions = questions;
        keeper.look();
    }

    /// The time that all nodes go by, as far as this one knows it.
    #[must_use]
    pub fn agreed(&self) -> Agreed {
        lock(&self.keeper).beat.agreed()
    }

    /// How it stands.
    #[must_use]
    pub fn standing(&self) -> PtpStatus {
        lock(&self.standing).clone()
    }
}

/// It is only another opinion: that it can't be had shows in the result.
fn questions(reference: SocketAddr) -> Option<Questions> {
    let mut questions = Questions::open(reference).ok()?;
    let _ = questions.first();
    Some(questions)
}

impl Drop for Disciplined {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // A panic there was printed there.
            let _ = thread.join();
        }
    }
}

struct Keeper {
    service: Service,
    beat: Beat,
    questions: Option<Questions>,
    time: SlotTime,
    standing: Arc<Mutex<PtpStatus>>,
}

impl Keeper {
    fn look(&mut self) {
        let own = self.questions.as_mut().and_then(Questions::ask);
        let look = self.service.look();
        let measured = self.beat.after(WallClock.now().0, own, look);
        self.time.offset().set(measured.offset_ns, measured.bound_ns);
        self.time.begin(self.beat.begin_ns());
        lock(&self.standing).clone_from(self.beat.standing());
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
