//! A claim on a radio: this host signals again and again that it lives, and notices when the radio is gone or another host's.
//!
//! The sign must come while the application computes, sleeps, or holds the driver in another thread: on a real host a thread of
//! its own gives it, sharing nothing with the application but one atomic word. A world on a virtual clock has one thread; there
//! every call of the driver and its streamers looks whether a sign is due.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use takt_base::MonoNs;

use crate::{Net, RadioError};

/// Answer of the radio about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Ours,
    /// Another host's, which calls itself this.
    TakenOver(u32),
    /// It has forgotten that it was claimed.
    Restarted,
}

/// The one who speaks to the radio about the claim.
pub(crate) trait Holder: Send {
    /// Says that this host lives, unless the radio has another owner by now.
    ///
    /// # Errors
    /// The radio does not answer.
    fn give_sign(&mut self) -> Result<Standing, RadioError>;

    /// Gives the radio back, if it is still ours.
    fn release(&mut self);
}

/// State of the claim, in one word: 0 while all is well.
const FINE: u64 = 0;
const TAKEN: u64 = 1 << 32; // the thief in the low half
const RESTARTED: u64 = 2 << 32;
const SILENT: u64 = 3 << 32;

/// A claim on a radio, until the last clone of the `Arc` around it is dropped.
pub(crate) struct Claim {
    addr: IpAddr,
    period: Duration,
    state: Arc<AtomicU64>,
    keeper: Keeper,
}

enum Keeper {
    Thread { orders: mpsc::Sender<Order>, thread: Option<JoinHandle<()>> },
    Calls { signer: Mutex<Signer>, due_ns: AtomicU64 },
}

enum Order {
    SignNow,
    Stop,
}

impl Claim {
    /// Gives a first sign, and one every `period` from now on. Fails if there can be no thread for it.
    pub(crate) fn keep(
        net: &Arc<dyn Net>,
        addr: IpAddr,
        period: Duration,
        holder: Box<dyn Holder>,
    ) -> Result<Arc<Claim>, RadioError> {
        let state = Arc::new(AtomicU64::new(FINE));
        let mut signer = Signer { holder, state: Arc::clone(&state) };
        signer.give_sign();
        let keeper = if net.threads() {
            let (orders, inbox) = mpsc::channel();
            let thread = thread::Builder::new().name("takt-keeper".into()).spawn(move || signer.keep(period, &inbox));
            Keeper::Thread { orders, thread: Some(thread.map_err(RadioError::Thread)?) }
        } else {
            let due_ns = AtomicU64::new((net.now() + period).0);
            Keeper::Calls { signer: Mutex::new(signer), due_ns }
        };
        Ok(Arc::new(Claim { addr, period, state, keeper }))
    }

    /// Gives a sign if one is due and no thread does it. Without effect, lock or system call otherwise.
    pub(crate) fn touch(&self, now: MonoNs) {
        let Keeper::Calls { signer, due_ns } = &self.keeper else { return };
        // Relaxed: the word guards nothing; the signer has its own lock.
        if now.0 < due_ns.load(Ordering::Relaxed) {
            return;
        }
        due_ns.store((now + self.period).0, Ordering::Relaxed);
        signer.lock().unwrap_or_else(PoisonError::into_inner).give_sign();
    }

    /// Gives a sign now: after the device's time has been set, by which the age of the last one is judged.
    pub(crate) fn touch_now(&self) {
        match &self.keeper {
            // If the thread is gone there is nobody left to tell.
            Keeper::Thread { orders, .. } => drop(orders.send(Order::SignNow)),
            Keeper::Calls { signer, .. } => signer.lock().unwrap_or_else(PoisonError::into_inner).give_sign(),
        }
    }

    /// # Errors
    /// `TakenOver`, `Restarted` or `Gone`, once the keeper has noticed.
    pub(crate) fn check(&self) -> Result<(), RadioError> {
        let state = self.state.load(Ordering::Relaxed);
        let addr = self.addr;
        match state & !0xFFFF_FFFF {
            TAKEN => Err(RadioError::TakenOver { addr, owner: state as u32 }),
            RESTARTED => Err(RadioError::Restarted { addr }),
            SILENT => Err(RadioError::Gone { addr }),
            _ => Ok(()),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        match &mut self.keeper {
            Keeper::Thread { orders, thread } => {
                let _ = orders.send(Order::Stop);
                if let Some(thread) = thread.take() {
                    let _ = thread.join();
                }
            }
            Keeper::Calls { signer, .. } => {
                signer.get_mut().unwrap_or_else(PoisonError::into_inner).holder.release();
            }
        }
    }
}

/// Gives signs, and notes what comes of them.
struct Signer {
    holder: Box<dyn Holder>,
    state: Arc<AtomicU64>,
}

impl Signer {
    /// The thread: a sign every period, until it is stopped; then the radio is given back at once.
    fn keep(&mut self, period: Duration, inbox: &mpsc::Receiver<Order>) {
        while matches!(inbox.recv_timeout(period), Ok(Order::SignNow) | Err(RecvTimeoutError::Timeout)) {
            self.give_sign();
        }
        self.holder.release();
    }

    /// A radio that does not answer is noted, and gets the next sign all the same.
    fn give_sign(&mut self) {
        let state = match self.holder.give_sign() {
            Ok(Standing::Ours) => FINE,
            Ok(Standing::TakenOver(owner)) => TAKEN | u64::from(owner),
            Ok(Standing::Restarted) => RESTARTED,
            Err(_) => SILENT,
        };
        self.state.store(state, Ordering::Relaxed);
    }
}

/// Name of this driver for a radio: different in every session, never 0.
pub(crate) fn own_name() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish() as u32 | 1
}
