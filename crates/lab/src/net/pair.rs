//! The path `direct`: a radio's namespace and a host's, and a veth pair between them.

use std::net::Ipv4Addr;

use super::{Namespace, PathError};

/// Two namespaces and a virtual cable. Gone when dropped.
#[derive(Debug)]
pub struct RadioPair {
    /// Where the emulator runs; its interface is `radio0`.
    pub radio: Namespace,
    /// Where the host side runs; its interface is `host0`.
    pub host: Namespace,
}

impl RadioPair {
    /// The address every N200 leaves the factory with.
    pub const RADIO_ADDR: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 2);
    /// The address its manual gives the host.
    pub const HOST_ADDR: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 1);

    /// Makes both and connects them.
    ///
    /// # Errors
    /// No permission, or the kernel lacks namespaces or veth; nothing is left then.
    pub fn create() -> Result<RadioPair, PathError> {
        let (radio, host) = free_names()?;
        radio.connect(&host, ("radio0", Self::RADIO_ADDR), ("host0", Self::HOST_ADDR))?;
        Ok(RadioPair { radio, host })
    }
}

/// `takt-PID-N-radio` and `-host`, with the first N that nobody has: a killed process of the same number may have left
/// some, and one process may want several.
fn free_names() -> Result<(Namespace, Namespace), PathError> {
    let mut n = 0;
    loop {
        let base = format!("takt-{}-{n}", std::process::id());
        match Namespace::create(&format!("{base}-radio")) {
            Ok(radio) => return Ok((radio, Namespace::create(&format!("{base}-host"))?)),
            Err(PathError::File { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists && n < 100 => {
                n += 1
            }
            Err(other) => return Err(other),
        }
    }
}
