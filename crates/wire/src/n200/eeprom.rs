//! EEPROM images of the motherboard and the daughterboards.
//!
//! The images are what I2C serves byte by byte; see [`registers::i2c`](super::registers::i2c) for where.

use std::fmt;
use std::net::Ipv4Addr;

use crate::WireError;

/// Hardware words and the boards they name.
pub mod hardware {
    /// N200, revision 3 and before.
    pub const N200: u16 = 0x0A00;
    /// N200, revision 4.
    pub const N200_R4: u16 = 0x0A10;
    /// N210, revision 3 and before.
    pub const N210: u16 = 0x0A01;
    /// N210, revision 4.
    pub const N210_R4: u16 = 0x0A11;

    /// The name of a hardware word, or `None` if it is not an N200 or N210.
    #[must_use]
    pub fn name(word: u16) -> Option<&'static str> {
        match word {
            N200 => Some("N200"),
            N200_R4 => Some("N200r4"),
            N210 => Some("N210"),
            N210_R4 => Some("N210r4"),
            _ => None,
        }
    }
}

/// Daughterboard ids.
pub mod board {
    /// SBX v3, receive.
    pub const SBX_RX: u16 = 0x0054;
    /// SBX v3, transmit.
    pub const SBX_TX: u16 = 0x0055;
    /// WBX v2, receive.
    pub const WBX_RX: u16 = 0x0053;
    /// WBX v2, transmit.
    pub const WBX_TX: u16 = 0x0052;
    /// Basic, receive.
    pub const BASIC_RX: u16 = 0x0001;
    /// Basic, transmit.
    pub const BASIC_TX: u16 = 0x0000;
    /// LF, receive.
    pub const LF_RX: u16 = 0x000F;
    /// LF, transmit.
    pub const LF_TX: u16 = 0x000E;

    /// UHD's name for the board with this id, whichever half it is; `None` if UHD knows none.
    #[must_use]
    pub fn name(id: u16) -> Option<&'static str> {
        NAMES.iter().find(|(ids, _)| ids.contains(&id)).map(|(_, name)| *name)
    }

    /// Ids of the receive half, then of the transmit half, in UHD 4.3.
    const NAMES: [(&[u16], &str); 31] = [
        (&[BASIC_RX, BASIC_TX], "Basic"),
        (&[LF_RX, LF_TX], "LF"),
        (&[0x000D, 0x0002], "DBSRX"),
        (&[0x0012], "DBSRX2"),
        (&[0x0040], "TVRX"),
        (&[0x0046], "TVRX2"),
        (&[0x0024, 0x0028], "RFX400"),
        (&[0x0025, 0x0029], "RFX900"),
        (&[0x0026, 0x002A], "RFX1200"),
        (&[0x0034, 0x0035], "RFX1800"),
        (&[0x002C, 0x002D], "RFX2200"),
        (&[0x0027, 0x002B], "RFX2400"),
        (&[0x0061, 0x0060], "XCVR2450"),
        (&[0x0059], "XCVR2450 r2.1"),
        (&[WBX_RX, WBX_TX], "WBX"),
        (&[0x004F], "WBX with a simple daughterboard"),
        (&[0x0057, 0x0056], "WBX v3"),
        (&[0x0063, 0x0062], "WBX v4"),
        (&[0x0081, 0x0080], "WBX-120"),
        (&[SBX_RX, SBX_TX], "SBX"),
        (&[0x0065, 0x0064], "SBX v4"),
        (&[0x0069, 0x0068], "SBX v5"),
        (&[0x0083, 0x0082], "SBX-120"),
        (&[0x0067, 0x0066], "CBX"),
        (&[0x0085, 0x0084], "CBX-120"),
        (&[0x0074, 0x0073], "UBX v0.3"),
        (&[0x0076, 0x0075], "UBX v0.4"),
        (&[0x0078, 0x0077], "UBX-40 v1"),
        (&[0x007A, 0x0079], "UBX-160 v1"),
        (&[0x007C, 0x007B], "UBX-40 v2"),
        (&[0x007E, 0x007D], "UBX-160 v2"),
    ];
}

/// Contents of the motherboard's EEPROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Motherboard {
    /// See [`hardware`]; 0 or 0xFFFF = unset.
    pub hardware: u16,
    pub mac: [u8; 6],
    pub subnet: Ipv4Addr,
    pub address: Ipv4Addr,
    pub revision: u16,
    pub product: u16,
    /// GPSDO: 0 none, 1 internal, 2 onboard. For display only.
    pub gpsdo: u8,
    /// Serial number; empty means that hosts derive it from the MAC.
    pub serial: Text<9>,
    /// Name a user gave it.
    pub name: Text<23>,
    pub gateway: Ipv4Addr,
}

impl Motherboard {
    /// Size of the EEPROM.
    pub const IMAGE_BYTES: usize = 256;
    /// As far as a host must read.
    pub const FIELD_BYTES: usize = 0x3C;

    /// The image; what no field covers is 0xFF, as in an erased part.
    #[must_use]
    pub fn image(&self) -> [u8; Self::IMAGE_BYTES] {
        let mut image = [0xFF; Self::IMAGE_BYTES];
        image[0x00..0x02].copy_from_slice(&self.hardware.to_le_bytes());
        image[0x02..0x08].copy_from_slice(&self.mac);
        image[0x08..0x0C].copy_from_slice(&self.subnet.octets());
        image[0x0C..0x10].copy_from_slice(&self.address.octets());
        image[0x12..0x14].copy_from_slice(&self.revision.to_le_bytes());
        image[0x14..0x16].copy_from_slice(&self.product.to_le_bytes());
        image[0x17] = self.gpsdo;
        image[0x18..0x21].copy_from_slice(&self.serial.0);
        image[0x21..0x38].copy_from_slice(&self.name.0);
        image[0x38..0x3C].copy_from_slice(&self.gateway.octets());
        image
    }

    /// Reads the fields; any bytes mean something.
    ///
    /// # Errors
    /// `Short` below [`Motherboard::FIELD_BYTES`].
    pub fn parse(image: &[u8]) -> Result<Self, WireError> {
        let short = WireError::Short { what: "motherboard EEPROM", need: Self::FIELD_BYTES, have: image.len() };
        let image: &[u8; Self::FIELD_BYTES] = image.first_chunk().ok_or(short)?;
        Ok(Self {
            hardware: u16::from_le_bytes(at(image, 0x00)),
            mac: at(image, 0x02),
            subnet: at(image, 0x08).into(),
            address: at(image, 0x0C).into(),
            revision: u16::from_le_bytes(at(image, 0x12)),
            product: u16::from_le_bytes(at(image, 0x14)),
            gpsdo: image[0x17],
            serial: Text::from_field(at(image, 0x18)),
            name: Text::from_field(at(image, 0x21)),
            gateway: at(image, 0x38).into(),
        })
    }
}

/// Contents of a daughterboard's EEPROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Daughterboard {
    /// See [`board`].
    pub id: u16,
    /// 0 = none.
    pub revision: u16,
    /// Serial number.
    pub serial: Text<9>,
}

impl Daughterboard {
    /// Size of the image.
    pub const IMAGE_BYTES: usize = 32;
    /// The image where no board is fitted.
    pub const ABSENT: [u8; Self::IMAGE_BYTES] = [0xFF; Self::IMAGE_BYTES];
    const MAGIC: u8 = 0xDB;

    /// The image, with its checksum.
    #[must_use]
    pub fn image(&self) -> [u8; Self::IMAGE_BYTES] {
        let mut image = [0; Self::IMAGE_BYTES];
        image[0x00] = Self::MAGIC;
        image[0x01..0x03].copy_from_slice(&self.id.to_le_bytes());
        image[0x03..0x05].copy_from_slice(&self.revision.to_le_bytes());
        image[0x09..0x12].copy_from_slice(&self.serial.0);
        image[0x1F] = sum(&image).wrapping_neg();
        image
    }

    /// # Errors
    /// `Short` below 32 bytes; `Field` if magic or checksum are wrong, as they are where no board is fitted.
    pub fn parse(image: &[u8]) -> Result<Self, WireError> {
        let short = WireError::Short { what: "daughterboard EEPROM", need: Self::IMAGE_BYTES, have: image.len() };
        let image: &[u8; Self::IMAGE_BYTES] = image.first_chunk().ok_or(short)?;
        let field = |what, got: u8, want| Err(WireError::Field { what, got: got.into(), want });
        if image[0] != Self::MAGIC {
            return field("daughterboard EEPROM magic", image[0], "0xdb");
        }
        if sum(image) != 0 {
            return field("daughterboard EEPROM byte sum", sum(image), "0");
        }
        Ok(Self {
            id: u16::from_le_bytes(at(image, 0x01)),
            revision: u16::from_le_bytes(at(image, 0x03)),
            serial: Text::from_field(at(image, 0x09)),
        })
    }
}

/// A text field: at most `N` printable ASCII characters, padded with NUL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// # Errors
    /// `Short` if it does not fit; `Field` for a character that is not printable ASCII.
    pub fn new(text: &str) -> Result<Self, WireError> {
        let short = WireError::Short { what: "EEPROM text", need: text.len(), have: N };
        let mut field = [0; N];
        field.get_mut(..text.len()).ok_or(short)?.copy_from_slice(text.as_bytes());
        match text.chars().find(|c| !matches!(c, ' '..='~')) {
            Some(got) => {
                Err(WireError::Field { what: "EEPROM text", got: u32::from(got).into(), want: "printable ASCII" })
            }
            None => Ok(Self(field)),
        }
    }

    /// The text up to the first byte that is not printable, as hosts read it.
    #[must_use]
    pub fn from_field(field: [u8; N]) -> Self {
        let mut text = [0; N];
        let printable = field.iter().take_while(|byte| matches!(byte, b' '..=b'~'));
        for (to, from) in text.iter_mut().zip(printable) {
            *to = *from;
        }
        Self(text)
    }

    /// The text with its padding.
    pub(crate) fn field(&self) -> &[u8; N] {
        &self.0
    }

    /// The text without its padding.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(N);
        self.0.get(..end).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

fn sum(image: &[u8]) -> u8 {
    image.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// `N` bytes of a whole image at a place that the layout fixes: a constant, never a value from the image.
fn at<const N: usize, const M: usize>(image: &[u8; M], offset: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&image[offset..offset + N]);
    field
}
