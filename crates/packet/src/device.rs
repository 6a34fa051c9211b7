//! Device of engine `dpdk`, as people type it.
//!
//! ```text
//! dpdk                                  a packet socket on the interface of the ports' address
//! dpdk:af_xdp                           AF_XDP on that interface
//! dpdk:tap@10.0.0.2/24                  a new tap interface, this program at its other end
//! dpdk:0000:03:00.0@192.168.10.1/24     a network card that the kernel has given up (vfio-pci)
//! ```

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// Device by which engine `dpdk` reaches the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DpdkDevice {
    /// A packet socket on the interface of the ports' address (`net_af_packet`). The kernel keeps the interface.
    #[default]
    AfPacket,
    /// AF_XDP on that interface (`net_af_xdp`), which then is the engine's alone.
    AfXdp,
    /// A new tap interface, with the engine as a host at its other end (`net_tap`).
    Tap(OwnAddress),
    /// A network card that a driver of DPDK's has taken over.
    Pci(PciAddress, OwnAddress),
}

/// An address that the kernel does not know, and how many of its bits are the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// Leading bits that name the network: 1 to 32.
    pub prefix: u8,
}

impl OwnAddress {
    /// Whether an address is of the same network.
    #[must_use]
    pub fn reaches(self, other: Ipv4Addr) -> bool {
        let differs = u32::from(self.address) ^ u32::from(other);
        differs.checked_shr(32 - u32::from(self.prefix.min(32))).unwrap_or(0) == 0
    }
}

#[cfg(feature = "dpdk")]
impl OwnAddress {
    /// The address of all of the network; of one without room for it that of nobody.
    pub(crate) fn broadcast(self) -> Ipv4Addr {
        let hosts = u32::MAX.checked_shr(self.prefix.into()).unwrap_or(0);
        if hosts > 1 { (u32::from(self.address) | hosts).into() } else { Ipv4Addr::BROADCAST }
    }
}

/// Place of a card on the PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PciAddress {
    /// 16 bits, on some machines 32.
    pub domain: u32,
    /// Bus.
    pub bus: u8,
    /// Device: below 32.
    pub device: u8,
    /// Function: below 8.
    pub function: u8,
}

/// A text that names no device.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownDevice {
    #[error(
        "`{got}` is not a device for engine dpdk; expected: af_packet, af_xdp, tap or a PCI address such as 0000:03:00.0"
    )]
    Name { got: String },
    #[error("the kernel has no address on {device}: name the one to use, as in dpdk:{device}@192.168.10.1/24")]
    NoAddress { device: String },
    #[error("`{got}` is not an IPv4 address with a prefix length, such as 192.168.10.1/24")]
    Address { got: String },
    #[error("{device} uses the address of its interface; `@{got}` is only for tap and PCI devices")]
    AddressOfKernel { device: String, got: String },
}

impl FromStr for DpdkDevice {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<DpdkDevice, UnknownDevice> {
        let (device, own) = text.split_once('@').map_or((text, None), |(device, own)| (device, Some(own)));
        let kernels = |kind| match own {
            None => Ok(kind),
            Some(got) => Err(UnknownDevice::AddressOfKernel { device: device.to_owned(), got: got.to_owned() }),
        };
        let own = || match own {
            Some(own) => own.parse(),
            None => Err(UnknownDevice::NoAddress { device: device.to_owned() }),
        };
        match device {
            "af_packet" => kernels(DpdkDevice::AfPacket),
            "af_xdp" => kernels(DpdkDevice::AfXdp),
            "tap" => Ok(DpdkDevice::Tap(own()?)),
            _ => match pci(device) {
                Some(address) => Ok(DpdkDevice::Pci(address, own()?)),
                None => Err(UnknownDevice::Name { got: device.to_owned() }),
            },
        }
    }
}

impl FromStr for OwnAddress {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<OwnAddress, UnknownDevice> {
        let parts = text.split_once('/').and_then(|(address, prefix)| {
            let address = address.parse().ok().filter(|address: &Ipv4Addr| !address.is_unspecified())?;
            let prefix = prefix.parse().ok().filter(|&prefix| (1..=32).contains(&prefix))?;
            Some(OwnAddress { address, prefix })
        });
        parts.ok_or_else(|| UnknownDevice::Address { got: text.to_owned() })
    }
}

/// `0000:03:00.0`, hexadecimal.
fn pci(text: &str) -> Option<PciAddress> {
    let hex = |part: &str, digits: usize| {
        let sound = (1..=digits).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        sound.then(|| u32::from_str_radix(part, 16).ok()).flatten()
    };
    let (rest, function) = text.rsplit_once('.')?;
    let (rest, device) = rest.rsplit_once(':')?;
    let (domain, bus) = rest.split_once(':')?;
    let byte =
        |part, below: u32| hex(part, 2).filter(|&value| value < below).and_then(|value| u8::try_from(value).ok());
    let (domain, bus) = (hex(domain, 8)?, byte(bus, 256)?);
    Some(PciAddress { domain, bus, device: byte(device, 32)?, function: byte(function, 8)? })
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

impl fmt::Display for OwnAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl fmt::Display for DpdkDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DpdkDevice::AfPacket => f.write_str("af_packet"),
            DpdkDevice::AfXdp => f.write_str("af_xdp"),
            DpdkDevice::Tap(own) => write!(f, "tap@{own}"),
            DpdkDevice::Pci(address, own) => write!(f, "{address}@{own}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_reads_as_it_is_written() {
        for text in
            ["af_packet", "af_xdp", "tap@10.0.0.2/24", "0000:03:00.0@192.168.10.1/24", "10000:e1:1f.7@1.2.3.4/32"]
        {
            assert_eq!(text.parse::<DpdkDevice>().map(|device| device.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_device_is_reported_with_the_fix() {
        let said = |text: &str| text.parse::<DpdkDevice>().unwrap_err().to_string();
        assert_eq!(
            said("0000:03:00.0"),
            "the kernel has no address on 0000:03:00.0: name the one to use, as in \
             dpdk:0000:03:00.0@192.168.10.1/24"
        );
        assert!(said("tap").contains("dpdk:tap@192.168.10.1/24"));
        assert!(said("af_xdp@10.0.0.1/24").starts_with("af_xdp uses the address of its interface"));
        for text in ["", "eth0", "0000:03:00", "03:00.0", "0000:03:20.0@1.2.3.4/24", "0000:03:00.8@1.2.3.4/24", "::.@"]
        {
            assert!(said(text).contains("is not a device for engine dpdk"), "{text}");
        }
        for text in ["tap@", "tap@10.0.0.1", "tap@10.0.0.1/0", "tap@10.0.0.1/33", "tap@0.0.0.0/8", "tap@::1/64"] {
            assert!(said(text).contains("is not an IPv4 address with a prefix length"), "{text}");
        }
    }

    #[test]
    fn a_network_is_its_leading_bits() {
        let own = |text: &str| text.parse::<OwnAddress>().unwrap();
        assert!(own("10.0.0.1/24").reaches([10, 0, 0, 255].into()));
        assert!(!own("10.0.0.1/24").reaches([10, 0, 1, 1].into()));
        assert!(own("10.0.0.1/32").reaches([10, 0, 0, 1].into()) && !own("10.0.0.1/32").reaches([10, 0, 0, 2].into()));
        assert!(own("10.0.0.1/1").reaches([127, 0, 0, 1].into()) && !own("10.0.0.1/1").reaches([128, 0, 0, 1].into()));
    }
}
