//! [`Item`]: what a packet is made of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The type of the items of a port. In memory, in files and on pipes: native little-endian, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    /// One bit in a byte, 0 or 1.
    Bit,
    /// A byte.
    Byte,
    /// A signed 16-bit integer.
    I16,
    /// A complex number of two signed 16-bit integers, I first.
    C16,
    /// A 32-bit float.
    F32,
    /// A complex number of two 32-bit floats, I first.
    C32,
    /// A log-likelihood ratio in 8 bits; positive = bit 0 is the likelier, saturating.
    Llr,
}

impl Item {
    /// All of them.
    pub const ALL: [Item; 7] = [Item::Bit, Item::Byte, Item::I16, Item::C16, Item::F32, Item::C32, Item::Llr];

    /// Bytes of one item: 1, 2, 4 or 8.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Item::Bit | Item::Byte | Item::Llr => 1,
            Item::I16 => 2,
            Item::C16 | Item::F32 => 4,
            Item::C32 => 8,
        }
    }

    /// As written in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Item::Bit => "bit",
            Item::Byte => "byte",
            Item::I16 => "i16",
            Item::C16 => "c16",
            Item::F32 => "f32",
            Item::C32 => "c32",
            Item::Llr => "llr",
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No item type is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an item type; expected: bit, byte, i16, c16, f32, c32 or llr")]
pub struct UnknownItem(pub String);

impl FromStr for Item {
    type Err = UnknownItem;
    fn from_str(text: &str) -> Result<Item, UnknownItem> {
        Item::ALL.into_iter().find(|item| item.name() == text).ok_or_else(|| UnknownItem(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_every_size_divides_a_cache_line() {
        for item in Item::ALL {
            assert_eq!(item.to_string().parse(), Ok(item));
            assert_eq!(128 % item.bytes(), 0);
        }
        assert!("c64".parse::<Item>().is_err());
    }
}
