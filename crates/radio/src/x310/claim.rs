//! Ownership of the radio: a mark and a time, written again each second (x310.md 2.3).
//!
//! The radio calls a claim void that nobody has renewed for 2 s: a program started again after a crash waits that long and needs
//! no force.

use std::sync::Arc;
use std::time::Duration;

use takt_wire::x310::registers::shared;

use super::firmware::Firmware;
use crate::claim::{Claim, Holder, Standing, own_name};
use crate::ports::Patience;
use crate::{Net, RadioError};

/// Time from one sign to the next.
const PERIOD: Duration = Duration::from_secs(1);
/// After this an unrenewed claim must have lapsed: 2 s, and some.
const LAPSED: Duration = Duration::from_millis(2500);
/// How often it is looked at until then.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Claims the radio.
///
/// # Errors
/// `InUse` if another host renews its claim, unless `force`; `Thread` if there can be no keeper.
pub(super) fn take(net: &Arc<dyn Net>, firmware: &mut Firmware, force: bool) -> Result<Arc<Claim>, RadioError> {
    let addr = firmware.addr();
    if !force {
        outlive_owner(&**net, firmware)?;
    }
    let mut own = Firmware::open(net, addr)?;
    own.set_patience(Patience { tries: 3, each: Duration::from_millis(250) });
    Claim::keep(net, addr, PERIOD, Box::new(Mark { firmware: own, mark: own_name(), time: own_name(), claimed: false }))
}

/// Another host that has the radio.
pub(crate) fn owner(firmware: &mut Firmware) -> Result<Option<u32>, RadioError> {
    let held = firmware.shared(shared::CLAIM_STATUS)? != 0;
    Ok(if held { Some(firmware.shared(shared::CLAIM_SOURCE)?) } else { None })
}

/// Returns when nobody has the radio: at once, or when its owner's claim has lapsed.
fn outlive_owner(net: &dyn Net, firmware: &mut Firmware) -> Result<(), RadioError> {
    let begun = net.now();
    while let Some(owner) = owner(firmware)? {
        let waited = net.now() - begun;
        if waited >= LAPSED {
            return Err(RadioError::InUse { addr: firmware.addr(), owner, age: None });
        }
        net.sleep(LOOK_EVERY);
    }
    Ok(())
}

struct Mark {
    firmware: Firmware,
    mark: u32,
    /// Different at each sign and from another host's, never 0.
    time: u32,
    claimed: bool,
}

impl Holder for Mark {
    fn give_sign(&mut self) -> Result<Standing, RadioError> {
        if self.claimed {
            match self.firmware.shared(shared::CLAIM_SOURCE)? {
                mark if mark == self.mark => {}
                0 => return Ok(Standing::Restarted), // a new board claims nothing for anybody
                other => return Ok(Standing::TakenOver(other)),
            }
        }
        self.time = self.time.wrapping_add(1).max(1);
        self.firmware.set_shared(shared::CLAIM_TIME, self.time)?;
        self.firmware.set_shared(shared::CLAIM_SOURCE, self.mark)?;
        self.claimed = true;
        Ok(Standing::Ours)
    }

    fn release(&mut self) {
        // A radio that is gone, or another host's, keeps what it has.
        self.firmware.set_patience(Patience { tries: 2, each: Duration::from_millis(100) });
        if self.firmware.shared(shared::CLAIM_SOURCE).is_ok_and(|mark| mark == self.mark) {
            let _ = self.firmware.set_shared(shared::CLAIM_TIME, 0);
            let _ = self.firmware.set_shared(shared::CLAIM_SOURCE, 0);
        }
    }
}
