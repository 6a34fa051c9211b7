//! Ownership of the radio: claiming it, saying so every 1.5 s, and noticing when it is gone.
//!
//! A device keeps two cells for this: who owns it, and the device time (low word, bit 0 set) of the owner's last sign. A
//! host that has sent nothing for 3 s is taken for dead, and a software radio then stops its streams.
//!
//! Whoever finds the radio owned waits for the owner's next sign. If it comes, the radio is in use; if it does not, the
//! owner was killed, and the radio is free 3 s after the last one: a program started again needs no force.
//!
//! A lock has two gaps. UHD's `find` writes 0 into the time cell of any radio it meets, and UHD never sees an N200
//! (FPGA 11) as locked. The next sign mends the first; the second shows up as [`RadioError::TakenOver`] within 1.5 s.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Speed, Ticks};
use takt_wire::n200::registers::{firmware, readback};

use super::CLOCK;
use super::control::Control;
use crate::claim::{Claim, Holder, Standing, own_name};
use crate::ports::Patience;
use crate::{Net, RadioError};

/// Time from one sign to the next.
const PERIOD: Duration = Duration::from_millis(1500);
/// A host silent for this long is dead.
const STALE: Duration = Duration::from_secs(3);
/// How often the owner's sign is looked at while it is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Claims the radio behind `control`.
///
/// # Errors
/// `InUse` if another host lives that owns it, unless `force`; `Thread` if there can be no keeper.
pub(super) fn take(
    net: &Arc<dyn Net>,
    control: &mut Control,
    speed: Speed,
    force: bool,
) -> Result<Arc<Claim>, RadioError> {
    let addr = control.peer().ip();
    let owner = own_name();
    if !force {
        outlive_owner(&**net, control, speed, owner)?;
    }
    control.firmware_poke(firmware::LOCK_OWNER, owner)?;
    let mut own = Control::open(net, addr)?;
    own.set_patience(Patience { tries: 3, each: Duration::from_millis(250) });
    own.hello()?;
    Claim::keep(net, addr, PERIOD, Box::new(LockCells { control: own, owner }))
}

/// The one who speaks to the two cells.
struct LockCells {
    control: Control,
    owner: u32,
}

impl Holder for LockCells {
    fn give_sign(&mut self) -> Result<Standing, RadioError> {
        match self.control.firmware_peek(firmware::LOCK_OWNER)? {
            owner if owner == self.owner => {
                let now = self.control.peek(readback::TIME_LOW)?;
                self.control.firmware_poke(firmware::LOCK_TIME, now | 1)?;
                Ok(Standing::Ours)
            }
            0 => Ok(Standing::Restarted), // the cells are memory, and start empty
            thief => Ok(Standing::TakenOver(thief)),
        }
    }

    fn release(&mut self) {
        // A radio that is gone, or another host's, keeps what it has.
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
fn outlive_owner(net: &dyn Net, control: &mut Control, speed: Speed, own: u32) -> Result<(), RadioError> {
    let mut last_age = None;
    while let Some((owner, age)) = other_owner(control, speed, own)? {
        if !net.threads() || last_age.is_some_and(|last| age < last) {
            return Err(RadioError::InUse { addr: control.peer().ip(), owner, age: Some(age) });
        }
        last_age = Some(age);
        net.sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Another host that gave a sign within the last 3 s by this host's clock, and when.
pub(crate) fn other_owner(
    control: &mut Control,
    speed: Speed,
    own: u32,
) -> Result<Option<(u32, Duration)>, RadioError> {
    let sign = control.firmware_peek(firmware::LOCK_TIME)?;
    let owner = control.firmware_peek(firmware::LOCK_OWNER)?;
    let now = control.peek(readback::TIME_LOW)?;
    // The sign is the radio's time.
    let age = speed.duration_of(CLOCK, Ticks(now.wrapping_sub(sign).into()));
    let lives = sign & 1 == 1 && age < STALE && owner != own;
    Ok(lives.then_some((owner, age)))
}
