//! A tun interface: an IP network's interface whose other end is this program.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// An interface of bare IP packets. Packets that the kernel routes to it are read here; what is written here arrives at
/// the host. It ends with this value, or with the process, however that ends.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
}

impl Tun {
    /// Makes the interface `name` in the calling thread's network namespace, without an address and down. Reading never waits.
    ///
    /// # Errors
    /// `InvalidInput`: the name is empty or longer than 15 bytes; `NotFound`: the kernel has no tun device; `PermissionDenied`:
    /// `CAP_NET_ADMIN` is missing; `ResourceBusy`: the name is taken.
    pub fn create(name: &str) -> io::Result<Tun> {
        if name.is_empty() || name.len() > 15 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = File::options().read(true).write(true).open("/dev/net/tun")?;
        crate::sys::tap::bind_tun(&file, name)?;
        fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::NONBLOCK)?;
        Ok(Tun { file, name: name.to_owned() })
    }

    /// The interface.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next packet into `packet`, and answers its bytes; `None` if none waits. A packet longer than that is cut.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(packet) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the host; `false` if the host refused it: no IP packet, or the interface is down.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        match (&self.file).write(packet) {
            Ok(bytes) => Ok(bytes == packet.len()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EBADFD) => Err(error),
                _ => Ok(false),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::{NamespaceError, unshare_network};

    #[test]
    fn an_interface_ends_with_its_value() {
        assert_eq!(Tun::create("a-name-of-more-than-15").unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let inside = || {
            unshare_network()?;
            let tun = Tun::create("tun-of-test").map_err(NamespaceError::Io)?;
            let devices = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            assert!(devices().contains("tun-of-test:"));
            assert_eq!(tun.read(&mut [0; 64]).map_err(NamespaceError::Io)?, None);
            assert!(!tun.write(&[0; 20]).unwrap(), "the interface is down, and this is no packet");
            let taken = Tun::create("tun-of-test").unwrap_err();
            assert_eq!(taken.kind(), io::ErrorKind::ResourceBusy, "{taken}");
            drop(tun);
            assert!(!devices().contains("tun-of-test:"));
            Ok(())
        };
        match std::thread::spawn(inside).join().unwrap() {
            Err(NamespaceError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                takt_testing::skip("there is no /dev/net/tun   (modprobe tun)");
            }
            Err(NamespaceError::NotPermitted) => takt_testing::skip("needs root"),
            ended => ended.unwrap(),
        }
    }
}
