//! The path `direct`: a radio's namespace and a host's, and a veth pair between them.

use std::net::Ipv4Addr;

use takt_host::leftovers::Run;

use super::{Namespace, PathError};

/// Two namespaces and a virtual cable. Gone when dropped.
#[derive(Debug)]
pub struct RadioPair {
    /// Namespace of the emulator; its interface is `radio0`.
    pub radio: Namespace,
    /// Namespace of the host side; its interface is `host0`.
    pub host: Namespace,
}

impl RadioPair {
    /// The address every N200 leaves the factory with.
    pub const RADIO_ADDR: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 2);
    /// A second radio beside it, where an air has two.
    pub const SECOND_RADIO_ADDR: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 3);
    /// The address its manual gives the host.
    pub const HOST_ADDR: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 1);

    /// Makes both, in the record of `run`, and connects them. `label` tells apart several pairs of one run; the names
    /// are `takt-PID-LABEL-radio` and `-host`.
    pub fn create(run: &Run, label: &str) -> Result<RadioPair, PathError> {
        let radio = Namespace::create(run, &format!("{label}-radio"))?;
        let host = Namespace::create(run, &format!("{label}-host"))?;
        radio.connect(&host, ("radio0", Self::RADIO_ADDR), ("host0", Self::HOST_ADDR))?;
        Ok(RadioPair { radio, host })
    }
}
