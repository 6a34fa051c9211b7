//! Whose radio it is: claiming it, saying so every 1.5 s, and noticing when it is gone.
//!
//! A device keeps two cells for this: who owns it, and the device time (low word, bit 0 set) of the owner's last sign. A
//! host that has said nothing for 3 s is taken for dead, and a software radio then stops its streams. So the sign must
//! come while the application computes, sleeps, or holds the driver in another thread: on a real host a thread of its own
//! with a socket of its own gives it, sharing nothing with the application but one atomic word. A world on a virtual
//! clock has one thread; there every call of the driver and its streamers looks whether a sign is due.
//!
//! Whoever finds the radio owned waits for the owner's next sign. If it comes, the radio is in use; if it does not, the
//! owner was killed, and the radio is free 3 s after the last one: a program started again needs no force.
//!
//! What a lock can't do: UHD's `find` writes 0 into the time cell of any radio it meets, and an N200 (FPGA 11) is never
//! seen as locked by UHD. The next sign mends the first; the second shows up as [`RadioError::TakenOver`] within 1.5 s.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use takt_base::MonoNs;
use takt_wire::n200::MASTER_CLOCK_HZ;
use takt_wire::n200::registers::{firmware, readback};

use super::control::{Control, Patience};
use crate::{Net, RadioError};

/// Time from one sign to the next.
const PERIOD: Duration = Duration::from_millis(1500);
/// A host silent for this long is dead.
const STALE: Duration = Duration::from_secs(3);
/// How often the owner's sign is looked at while it is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What has become of the claim, in one word: 0 while all is well.
const FINE: u64 = 0;
const TAKEN: u64 = 1 << 32; // the thief in the low half
const RESTARTED: u64 = 2 << 32;
const SILENT: u64 = 3 << 32;

/// A claim on a radio, until the last clone of the `Arc` around it is dropped.
pub(super) struct Claim {
    addr: IpAddr,
    state: Arc<AtomicU64>,
    keeper: Keeper,
}

enum Keeper {
    Thread { orders: mpsc::Sender<Order>, thread: Option<JoinHandle<()>> },
    Calls { claim: Mutex<LockCells>, due_ns: AtomicU64 },
}

enum Order {
    SignNow,
    Stop,
}

impl Claim {
    /// Claims the radio behind `control`.
    ///
    /// # Errors
    /// `InUse` if another host lives that owns it, unless `force`; `Thread` if there can be no keeper.
    pub(super) fn take(net: &Arc<dyn Net>, control: &mut Control, force: bool) -> Result<Arc<Claim>, RadioError> {
        let addr = control.peer().ip();
        let owner = own_name();
        if !force {
            outlive_owner(&**net, control, owner)?;
        }
        control.firmware_poke(firmware::LOCK_OWNER, owner)?;
        let state = Arc::new(AtomicU64::new(FINE));
        let mut own = Control::open(net, addr)?;
        own.set_patience(Patience { tries: 3, each: Duration::from_millis(250) });
        own.hello()?;
        let mut claim = LockCells { control: own, owner, state: Arc::clone(&state) };
        claim.give_sign();
        let keeper = if net.threads() {
            let (orders, inbox) = mpsc::channel();
            let thread = thread::Builder::new().name("takt-keeper".into()).spawn(move || claim.keep(&inbox));
            Keeper::Thread { orders, thread: Some(thread.map_err(RadioError::Thread)?) }
        } else {
            let due_ns = AtomicU64::new((net.now() + PERIOD).0);
            Keeper::Calls { claim: Mutex::new(claim), due_ns }
        };
        Ok(Arc::new(Claim { addr, state, keeper }))
    }

    /// Gives a sign if one is due and no thread does it. Without effect, lock or system call otherwise.
    pub(super) fn touch(&self, now: MonoNs) {
        let Keeper::Calls { claim, due_ns } = &self.keeper else { return };
        // Relaxed: the word guards nothing; the claim has its own lock.
        if now.0 < due_ns.load(Ordering::Relaxed) {
            return;
        }
        due_ns.store((now + PERIOD).0, Ordering::Relaxed);
        claim.lock().unwrap_or_else(PoisonError::into_inner).give_sign();
    }

    /// Gives a sign now: after the device's time has been set, by which the age of the last one is judged.
    pub(super) fn touch_now(&self) {
        match &self.keeper {
            // If the thread is gone there is nobody left to tell.
            Keeper::Thread { orders, .. } => drop(orders.send(Order::SignNow)),
            Keeper::Calls { claim, .. } => claim.lock().unwrap_or_else(PoisonError::into_inner).give_sign(),
        }
    }

    /// # Errors
    /// `TakenOver`, `Restarted` or `Silent`, once the keeper has noticed.
    pub(super) fn check(&self) -> Result<(), RadioError> {
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
            Keeper::Calls { claim, .. } => claim.get_mut().unwrap_or_else(PoisonError::into_inner).release(),
        }
    }
}

/// The one who speaks to the two cells.
struct LockCells {
    control: Control,
    owner: u32,
    state: Arc<AtomicU64>,
}

impl LockCells {
    /// The thread: a sign every period, until told to stop; then the lock is given back at once.
    fn keep(&mut self, inbox: &mpsc::Receiver<Order>) {
        while matches!(inbox.recv_timeout(PERIOD), Ok(Order::SignNow) | Err(RecvTimeoutError::Timeout)) {
            self.give_sign();
        }
        self.release();
    }

    /// Says that the owner lives, unless the radio has another owner by now. A radio that does not answer is noted, and
    /// asked again next time.
    fn give_sign(&mut self) {
        let state = match self.try_sign() {
            Ok(state) => state,
            Err(_) => SILENT,
        };
        self.state.store(state, Ordering::Relaxed);
    }

    fn try_sign(&mut self) -> Result<u64, RadioError> {
        match self.control.firmware_peek(firmware::LOCK_OWNER)? {
            owner if owner == self.owner => {
                let now = self.control.peek(readback::TIME_LOW)?;
                self.control.firmware_poke(firmware::LOCK_TIME, now | 1)?;
                Ok(FINE)
            }
            0 => Ok(RESTARTED), // the cells are memory, and start empty
            thief => Ok(TAKEN | u64::from(thief)),
        }
    }

    fn release(&mut self) {
        // A radio that is gone, or somebody else's, keeps what it has.
        self.control.set_patience(Patience { tries: 2, each: Duration::from_millis(100) });
        if self.control.firmware_peek(firmware::LOCK_OWNER).is_ok_and(|owner| owner == self.owner) {
            let _ = self.control.firmware_poke(firmware::LOCK_TIME, 0);
        }
    }
}

/// Returns when nobody owns the radio: at once, or when its owner has missed the sign that was due.
///
/// # Errors
/// `InUse` once the owner gives a sign. A virtual world has one thread, so nobody could give one while this one waits:
/// there the last one counts.
fn outlive_owner(net: &dyn Net, control: &mut Control, own: u32) -> Result<(), RadioError> {
    let mut last_age = None;
    while let Some((owner, age)) = other_owner(control, own)? {
        if !net.threads() || last_age.is_some_and(|last| age < last) {
            return Err(RadioError::InUse { addr: control.peer().ip(), owner, age });
        }
        last_age = Some(age);
        net.sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Another host that gave a sign within the last 3 s, and when.
pub(crate) fn other_owner(control: &mut Control, own: u32) -> Result<Option<(u32, Duration)>, RadioError> {
    let sign = control.firmware_peek(firmware::LOCK_TIME)?;
    let owner = control.firmware_peek(firmware::LOCK_OWNER)?;
    let now = control.peek(readback::TIME_LOW)?;
    let age = Duration::from_nanos(u64::from(now.wrapping_sub(sign)) * (1_000_000_000 / u64::from(MASTER_CLOCK_HZ)));
    let lives = sign & 1 == 1 && age < STALE && owner != own;
    Ok(lives.then_some((owner, age)))
}

/// What this driver calls itself in the owner's cell: different in every session, never 0.
fn own_name() -> u32 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish() as u32 | 1
}
