//! Whether an interface is still there, for who does not learn it from a socket: neither DPDK reports it, nor does anything to one
//! who transmits by AF_XDP and has nothing to send just now.

use rustix::io::Errno;
use takt_base::MonoNs;

use super::netlink::{Interface, Routing};
use super::{STILL_THERE, gone};
use crate::EngineError;

/// Looks at an interface now and then.
pub(crate) struct InterfaceWatch {
    routing: Routing,
    index: u32,
    name: String,
    again: MonoNs,
    gone: bool,
}

impl InterfaceWatch {
    pub(crate) fn new(interface: &Interface) -> Result<InterfaceWatch, Errno> {
        let (index, name) = (interface.index, interface.name.clone());
        Ok(InterfaceWatch { routing: Routing::open()?, index, name, again: MonoNs(0), gone: false })
    }

    /// # Errors
    /// It has been removed, as far as was seen until now.
    pub(crate) fn look(&mut self, now: MonoNs) -> Result<(), EngineError> {
        if now >= self.again && !self.gone {
            self.again = now + STILL_THERE;
            self.gone = self.routing.is_up(self.index) == Err(Errno::NODEV);
        }
        if self.gone { Err(gone(&self.name, Errno::NODEV)) } else { Ok(()) }
    }

    /// Error that ends the engine with its interface, by the answer to a call.
    pub(crate) fn ended(&self, errno: Errno) -> EngineError {
        gone(&self.name, errno)
    }

    /// The next look asks the kernel.
    #[cfg(feature = "dpdk")]
    pub(crate) fn recheck(&mut self) {
        self.again = MonoNs(0);
    }
}
