//! Contents of the motherboard's EEPROM. The EEPROM of a daughterboard has the form of an N200's:
//! [`Daughterboard`](crate::n200::eeprom::Daughterboard).
//!
//! A host reads it through a mirror in shared memory, words of four bytes, the first the most significant, and writes it over I2C
//! (x310.md 3).

use std::net::Ipv4Addr;

use crate::WireError;
use crate::n200::eeprom::Text;

/// Product codes (x310.md 3).
pub mod product {
    /// X310, revision 7 and later.
    pub const X310: u16 = 0x7862;
    /// X310 before that.
    pub const X310_OLD: u16 = 0x76CA;
    /// X300.
    pub const X300: u16 = 0x7861;
}

/// Ids of daughterboards, which an N200 can't carry (x310.md 4).
pub mod board {
    /// UBX-160 v2, receive.
    pub const UBX_RX: u16 = 0x007E;
    /// UBX-160 v2, transmit.
    pub const UBX_TX: u16 = 0x007D;
}

/// Contents of the motherboard's EEPROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Motherboard {
    /// 0 and 0xFFFF: not programmed.
    pub revision: u16,
    /// See [`product`].
    pub product: u16,
    /// The oldest revision it behaves like; UHD 4.3 takes 7 and below.
    pub revision_compat: u16,
    pub macs: [[u8; 6]; 2],
    pub gateway: Ipv4Addr,
    pub netmasks: [Ipv4Addr; 4],
    /// Addresses of the two ports, by turns. UHD takes a device only by one of these.
    pub addresses: [Ipv4Addr; 4],
    pub name: Text<23>,
    pub serial: Text<9>,
}

impl Motherboard {
    /// Size of the image.
    pub const IMAGE_BYTES: usize = 108;
    /// Words of its mirror.
    pub const WORDS: usize = Self::IMAGE_BYTES / 4;

    /// The image.
    #[must_use]
    pub fn image(&self) -> [u8; Self::IMAGE_BYTES] {
        let mut image = [0; Self::IMAGE_BYTES];
        let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.revision.to_le_bytes());
        put(2, &self.product.to_le_bytes());
        put(4, &self.revision_compat.to_le_bytes());
        put(8, &self.macs[0]);
        put(16, &self.macs[1]);
        put(24, &self.gateway.octets());
        for n in 0..4 {
            put(28 + 4 * n, &self.netmasks[n].octets());
            put(44 + 4 * n, &self.addresses[n].octets());
        }
        put(76, self.name.field());
        put(99, self.serial.field());
        image
    }

    /// The image as words of its mirror.
    #[must_use]
    pub fn mirror(&self) -> [u32; Self::WORDS] {
        crate::words::get(&self.image())
    }

    /// # Errors
    /// `Short` below 108 bytes.
    pub fn parse(image: &[u8]) -> Result<Self, WireError> {
        let short = WireError::Short { what: "X310 motherboard EEPROM", need: Self::IMAGE_BYTES, have: image.len() };
        let image: &[u8; Self::IMAGE_BYTES] = image.first_chunk().ok_or(short)?;
        let addresses = |from: usize| [0, 4, 8, 12].map(|at| Ipv4Addr::from(take::<4>(image, from + at)));
        Ok(Self {
            revision: u16::from_le_bytes(take(image, 0)),
            product: u16::from_le_bytes(take(image, 2)),
            revision_compat: u16::from_le_bytes(take(image, 4)),
            macs: [take(image, 8), take(image, 16)],
            gateway: Ipv4Addr::from(take::<4>(image, 24)),
            netmasks: addresses(28),
            addresses: addresses(44),
            name: Text::from_field(take(image, 76)),
            serial: Text::from_field(take(image, 99)),
        })
    }
}

/// Bytes at an offset; zeros beyond the end.
fn take<const N: usize>(image: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    if let Some(bytes) = image.get(at..at + N) {
        field.copy_from_slice(bytes);
    }
    field
}
