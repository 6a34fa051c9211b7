//! Whether the interface below a device is still there: DPDK does not report it.

use rustix::io::Errno;
use takt_base::MonoNs;

use crate::EngineError;
use crate::network::netlink::{Interface, Routing};
use crate::network::{STILL_THERE, gone};

/// Looks at an interface now and then.
pub(super) struct InterfaceWatch {
    routing: Routing,
    index: u32,
    name: String,
    again: MonoNs,
    gone: bool,
}

impl InterfaceWatch {
    pub(super) fn new(interface: &Interface) -> Result<InterfaceWatch, Errno> {
        let (index, name) = (interface.index, interface.name.clone());
        Ok(InterfaceWatch { routing: Routing::open()?, index, name, again: MonoNs(0), gone: false })
    }

    /// # Errors
    /// It has been removed, as far as was seen until now.
    pub(super) fn look(&mut self, now: MonoNs) -> Result<(), EngineError> {
        if now >= self.again && !self.gone {
            self.again = now + STILL_THERE;
            self.gone = self.routing.is_up(self.index) == Err(Errno::NODEV);
        }
        if self.gone { Err(gone(&self.name, Errno::NODEV)) } else { Ok(()) }
    }

    /// The next look asks the kernel.
    pub(super) fn recheck(&mut self) {
        self.again = MonoNs(0);
    }
}
