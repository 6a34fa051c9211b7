//! Packets of items from files and into files. In a file items stand in their native little-endian form, one after
//! another; a bit is a byte, 0 or 1, or an eighth of a byte where bits are packed, the first in its highest place.

use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal, Read, Write, stdin, stdout};

use takt_graph::Item;
use takt_host::call;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{name}")]
    Io {
        name: String,
        #[source]
        source: std::io::Error,
    },
    /// Its length is no whole number of items.
    #[error("{name} ends with {extra} bytes of an item of {bytes}")]
    Cut { name: String, extra: usize, bytes: usize },
    /// A byte that ought to be a bit is none.
    #[error("byte {at} of {name} is {value}, not 0 or 1")]
    NoBit { name: String, at: u64, value: u8 },
    #[error("output `{port}` would go to the terminal")]
    Terminal { port: String },
}

impl FileError {
    pub fn fix(&self) -> String {
        match self {
            FileError::Io { .. } => "a file that can be opened, or - for standard input or output".to_owned(),
            FileError::Cut { .. } => {
                format!("a file of whole items   ({} says which)", call::takt("component list NAME"))
            }
            FileError::NoBit { .. } => "a byte a bit, 0 or 1; or --packed for eight bits a byte".to_owned(),
            FileError::Terminal { port } => format!("--out {port}=FILE\n... | xxd"),
        }
    }
}

pub struct Reader {
    pub name: String,
    item: Item,
    packed: bool,
    from: Box<dyn Read>,
    /// Bits of a byte that the last packet did not take.
    rest: Vec<u8>,
    bytes_read: u64,
    size_bytes: Option<u64>,
}

impl Reader {
    /// Opens it; `-` is standard input.
    pub fn open(name: &str, item: Item, packed: bool) -> Result<Reader, FileError> {
        let packed = packed && item == Item::Bit;
        let (name, from, size_bytes): (String, Box<dyn Read>, _) = if name == "-" {
            ("standard input".to_owned(), Box::new(stdin()), None)
        } else {
            let refused = |source| FileError::Io { name: name.to_owned(), source };
            let file = File::open(name).map_err(refused)?;
            let about = file.metadata().map_err(refused)?;
            let size = about.is_file().then_some(about.len());
            (name.to_owned(), Box::new(BufReader::with_capacity(1 << 16, file)), size)
        };
        Ok(Reader { name, item, packed, from, rest: Vec::new(), bytes_read: 0, size_bytes })
    }

    /// Whether `bits`, the last ones, can be what fills the last byte of packed bits.
    pub fn may_be_padding(&self, bits: &[u8]) -> bool {
        self.packed && bits.len() < 8 && bits.iter().all(|&bit| bit == 0)
    }

    /// Whole items in it; `None` of a pipe.
    pub fn items(&self) -> Option<u64> {
        let bytes = self.size_bytes?;
        Some(if self.packed { bytes * 8 } else { bytes / self.item.bytes() as u64 })
    }

    /// The next items, at most `items` of them, as a component takes them; fewer only at the end. Packets of packed bits follow
    /// each other without a gap.
    pub fn packet(&mut self, items: usize, into: &mut Vec<u8>) -> Result<(), FileError> {
        into.clear();
        let rest = std::mem::take(&mut self.rest);
        let wanted = if self.packed { items.saturating_sub(rest.len()).div_ceil(8) } else { items * self.item.bytes() };
        let refused = |source| FileError::Io { name: self.name.clone(), source };
        let start = self.bytes_read;
        let got = self.from.by_ref().take(wanted as u64).read_to_end(into).map_err(refused)?;
        self.bytes_read += got as u64;
        let extra = got % self.item.bytes();
        if extra > 0 {
            return Err(FileError::Cut { name: self.name.clone(), extra, bytes: self.item.bytes() });
        }
        if self.packed {
            let read = into.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1));
            *into = rest.into_iter().chain(read).collect();
            self.rest = into.split_off(items.min(into.len()));
        } else if self.item == Item::Bit
            && let Some(at) = into.iter().position(|&byte| byte > 1)
        {
            return Err(FileError::NoBit { name: self.name.clone(), at: start + at as u64, value: into[at] });
        }
        Ok(())
    }
}

pub struct Writer {
    name: String,
    to: Box<dyn Write>,
    packed: bool,
    /// Bits that do not yet fill a byte.
    rest: Vec<u8>,
    pub items: u64,
}

impl Writer {
    /// Makes it; `-` is standard output, which may not be a terminal.
    pub fn create(name: &str, port: &str, item: Item, packed: bool) -> Result<Writer, FileError> {
        let packed = packed && item == Item::Bit;
        let (name, to): (String, Box<dyn Write>) = if name == "-" {
            if stdout().is_terminal() {
                return Err(FileError::Terminal { port: port.to_owned() });
            }
            ("standard output".to_owned(), Box::new(BufWriter::new(stdout())))
        } else {
            let file = File::create(name).map_err(|source| FileError::Io { name: name.to_owned(), source })?;
            (name.to_owned(), Box::new(BufWriter::with_capacity(1 << 16, file)))
        };
        Ok(Writer { name, to, packed, rest: Vec::new(), items: 0 })
    }

    pub fn packet(&mut self, bytes: &[u8], item: Item) -> Result<(), FileError> {
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
    pub fn finish(mut self) -> Result<u64, FileError> {
        if !self.rest.is_empty() {
            let last = [pack(&self.rest)];
            self.to.write_all(&last).map_err(|source| self.refused(source))?;
        }
        self.to.flush().map_err(|source| self.refused(source))?;
        Ok(self.items)
    }

    fn refused(&self, source: std::io::Error) -> FileError {
        FileError::Io { name: self.name.clone(), source }
    }
}

/// At most eight bits, the first in the highest place.
fn pack(bits: &[u8]) -> u8 {
    bits.iter().zip((0..8).rev()).fold(0, |byte, (bit, place)| byte | bit << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, content).expect("written");
        let path = path.to_str().expect("text").to_owned();
        (folder, path)
    }

    #[test]
    fn packed_bits_go_out_as_they_came_in_and_the_last_byte_is_filled_with_zeros() {
        let (_folder, path) = file(&[0b1010_0001, 0xff]);
        let mut reader = Reader::open(&path, Item::Bit, true).expect("opened");
        assert_eq!(reader.items(), Some(16));
        let mut bits = Vec::new();
        reader.packet(16, &mut bits).expect("read");
        assert_eq!(bits, [1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        let mut writer = Writer::create(&path, "out", Item::Bit, true).expect("made");
        writer.packet(&bits[..3], Item::Bit).expect("written");
        writer.packet(&bits[3..9], Item::Bit).expect("written");
        assert_eq!(writer.finish().expect("written"), 9);
        assert_eq!(std::fs::read(path).expect("there"), [0b1010_0001, 0x80]);
    }

    #[test]
    fn packets_of_packed_bits_need_not_end_with_a_byte() {
        let (_folder, path) = file(&[0b1010_0001, 0b1100_0000]);
        let mut reader = Reader::open(&path, Item::Bit, true).expect("opened");
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
        let (_folder, name) = file(&[0, 1, 2, 1, 0]);
        let read = |item: Item| Reader::open(&name, item, false)?.packet(100, &mut Vec::new());
        let refused = |item: Item| read(item).expect_err("refused").to_string();
        assert_eq!(refused(Item::Bit), format!("byte 2 of {name} is 2, not 0 or 1"));
        assert_eq!(refused(Item::F32), format!("{name} ends with 1 bytes of an item of 4"));
        read(Item::Byte).expect("bytes are bytes");
    }
}
