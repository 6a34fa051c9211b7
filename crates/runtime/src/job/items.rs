//! Packets of items from byte streams and into byte streams. There items stand in their native little-endian form, one after
//! another; a bit is a byte, 0 or 1, or an eighth of a byte where bits are packed, the first in its highest place.

use std::io::{Read, Write};

use takt_graph::Item;
use takt_host::call;

/// Why a stream can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum ItemsError {
    /// It can't be read or written.
    #[error("takt can't read or write {name}")]
    Io {
        name: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{name} ends within an item, after {extra} of its {bytes} bytes")]
    Cut {
        name: String,
        extra: usize,
        /// Bytes of an item.
        bytes: usize,
    },
    #[error("byte {at} of {name} is {value}, not 0 or 1")]
    NoBit { name: String, at: u64, value: u8 },
}

impl ItemsError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            ItemsError::Io { .. } => "give a file that you may open, or - for standard input or output".to_owned(),
            ItemsError::Cut { .. } => {
                format!("give a file of whole items   ({} shows the item type)", call::takt("component list NAME"))
            }
            ItemsError::NoBit { .. } => {
                "write one byte per bit, 0 or 1, or give --packed for eight bits per byte".to_owned()
            }
        }
    }
}

/// Items that an input reads.
pub struct Reader {
    pub(super) name: String,
    item: Item,
    packed: bool,
    from: Box<dyn Read>,
    /// Bits of a byte that the last packet did not take.
    rest: Vec<u8>,
    bytes_read: u64,
    size_bytes: Option<u64>,
}

impl Reader {
    /// Reads items `from` a stream of that name; `packed`: eight bits a byte. `size_bytes`: of a file; `None` of a pipe.
    pub fn new(
        name: impl Into<String>,
        from: impl Read + 'static,
        size_bytes: Option<u64>,
        item: Item,
        packed: bool,
    ) -> Reader {
        let packed = packed && item == Item::Bit;
        Reader { name: name.into(), item, packed, from: Box::new(from), rest: Vec::new(), bytes_read: 0, size_bytes }
    }

    /// Whether `bits`, the last ones, can be what fills the last byte of packed bits.
    pub(super) fn may_be_padding(&self, bits: &[u8]) -> bool {
        self.packed && bits.len() < 8 && bits.iter().all(|&bit| bit == 0)
    }

    /// Whole items in it; `None` of a pipe.
    pub(super) fn items(&self) -> Option<u64> {
        let bytes = self.size_bytes?;
        Some(if self.packed { bytes * 8 } else { bytes / self.item.bytes() as u64 })
    }

    /// The next items, at most `items` of them, as a component takes them; fewer only at the end. Packets of packed bits follow
    /// each other without a gap.
    pub(super) fn packet(&mut self, items: usize, into: &mut Vec<u8>) -> Result<(), ItemsError> {
        into.clear();
        let rest = std::mem::take(&mut self.rest);
        let wanted = if self.packed { items.saturating_sub(rest.len()).div_ceil(8) } else { items * self.item.bytes() };
        let refused = |source| ItemsError::Io { name: self.name.clone(), source };
        let start = self.bytes_read;
        let got = self.from.by_ref().take(wanted as u64).read_to_end(into).map_err(refused)?;
        self.bytes_read += got as u64;
        let extra = got % self.item.bytes();
        if extra > 0 {
            return Err(ItemsError::Cut { name: self.name.clone(), extra, bytes: self.item.bytes() });
        }
        if self.packed {
            let read = into.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1));
            *into = rest.into_iter().chain(read).collect();
            self.rest = into.split_off(items.min(into.len()));
        } else if self.item == Item::Bit
            && let Some(at) = into.iter().position(|&byte| byte > 1)
        {
            return Err(ItemsError::NoBit { name: self.name.clone(), at: start + at as u64, value: into[at] });
        }
        Ok(())
    }
}

/// Items that an output writes.
pub struct Writer {
    name: String,
    to: Box<dyn Write>,
    packed: bool,
    /// Bits that do not yet fill a byte.
    rest: Vec<u8>,
    items: u64,
}

impl Writer {
    /// Writes items to a stream of that name; `packed`: eight bits a byte.
    pub fn new(name: impl Into<String>, to: impl Write + 'static, item: Item, packed: bool) -> Writer {
        let packed = packed && item == Item::Bit;
        Writer { name: name.into(), to: Box::new(to), packed, rest: Vec::new(), items: 0 }
    }

    pub(super) fn packet(&mut self, bytes: &[u8], item: Item) -> Result<(), ItemsError> {
        self.items += (bytes.len() / item.bytes()) as u64;
        if !self.packed {
            return self.to.write_all(bytes).map_err(|source| self.refused(source));
        }
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() / 8 * 8;
        let packed: Vec<u8> = self.rest[..whole].chunks_exact(8).map(pack).collect();
        self.rest.drain(..whole);
        self.to.write_all(&packed).map_err(|source| self.refused(source))
    }

    /// Writes what is left: bits that do not fill the last byte are followed by zeros.
    pub(super) fn finish(mut self) -> Result<u64, ItemsError> {
        if !self.rest.is_empty() {
            let last = [pack(&self.rest)];
            self.to.write_all(&last).map_err(|source| self.refused(source))?;
        }
        self.to.flush().map_err(|source| self.refused(source))?;
        Ok(self.items)
    }

    fn refused(&self, source: std::io::Error) -> ItemsError {
        ItemsError::Io { name: self.name.clone(), source }
    }
}

/// At most eight bits, the first in the highest place.
fn pack(bits: &[u8]) -> u8 {
    bits.iter().zip((0..8).rev()).fold(0, |byte, (bit, place)| byte | bit << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(content: &'static [u8], item: Item, packed: bool) -> Reader {
        Reader::new("file", content, Some(content.len() as u64), item, packed)
    }

    #[test]
    fn packed_bits_go_out_as_they_came_in_and_the_last_byte_is_filled_with_zeros() {
        let mut reader = reader(&[0b1010_0001, 0xff], Item::Bit, true);
        assert_eq!(reader.items(), Some(16));
        let mut bits = Vec::new();
        reader.packet(16, &mut bits).expect("read");
        assert_eq!(bits, [1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        let file = tempfile::NamedTempFile::new().expect("made");
        let mut writer = Writer::new("file", file.reopen().expect("opened"), Item::Bit, true);
        writer.packet(&bits[..3], Item::Bit).expect("written");
        writer.packet(&bits[3..9], Item::Bit).expect("written");
        assert_eq!(writer.finish().expect("written"), 9);
        assert_eq!(std::fs::read(file.path()).expect("there"), [0b1010_0001, 0x80]);
    }

    #[test]
    fn packets_of_packed_bits_need_not_end_with_a_byte() {
        let mut reader = reader(&[0b1010_0001, 0b1100_0000], Item::Bit, true);
        let mut packet = |items| {
            let mut bits = Vec::new();
            reader.packet(items, &mut bits).expect("read");
            bits
        };
        assert_eq!(packet(5), [1, 0, 1, 0, 0]);
        assert_eq!(packet(5), [0, 0, 1, 1, 1]);
        assert_eq!(packet(2), [0, 0]);
        assert_eq!((packet(5), packet(5)), (vec![0; 4], vec![]));
    }

    #[test]
    fn what_is_no_bit_and_what_is_half_an_item_is_refused_with_its_place() {
        let read = |item: Item| reader(&[0, 1, 2, 1, 0], item, false).packet(100, &mut Vec::new());
        let refused = |item: Item| read(item).expect_err("refused").to_string();
        assert_eq!(refused(Item::Bit), "byte 2 of file is 2, not 0 or 1");
        assert_eq!(refused(Item::F32), "file ends within an item, after 1 of its 4 bytes");
        read(Item::Byte).expect("bytes are bytes");
    }
}
