//! An archive as the kernel unpacks it into its first root: cpio, format "newc" (Linux,
//! Documentation/driver-api/early-userspace/buffer-format.rst).

/// Grows by what is added; folders must come before what is in them.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    inode: u32,
}

/// Kind of an entry, in its mode (inode(7)).
#[derive(Clone, Copy, Debug)]
enum Kind {
    Folder = 0o040_755,
    Program = 0o100_755,
    CharacterDevice = 0o020_600,
}

impl Archive {
    pub(super) fn folder(&mut self, name: &str) {
        self.entry(name, Kind::Folder, &[], (0, 0));
    }

    pub(super) fn file(&mut self, name: &str, content: &[u8]) {
        self.entry(name, Kind::Program, content, (0, 0));
    }

    pub(super) fn device(&mut self, name: &str, major: u32, minor: u32) {
        self.entry(name, Kind::CharacterDevice, &[], (major, minor));
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.inode = 0;
        self.header("TRAILER!!!", 0, 0, (0, 0));
        self.bytes
    }

    fn entry(&mut self, name: &str, kind: Kind, content: &[u8], device: (u32, u32)) {
        self.inode += 1;
        self.header(name, kind as u32, content.len(), device);
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    /// Thirteen numbers of eight hexadecimal digits behind a magic word, then the name.
    fn header(&mut self, name: &str, mode: u32, size: usize, (major, minor): (u32, u32)) {
        let links = if mode == Kind::Folder as u32 { 2 } else { 1 };
        let numbers = [self.inode, mode, 0, 0, links, 0, size as u32, 0, 0, major, minor, name.len() as u32 + 1, 0];
        self.bytes.extend_from_slice(b"070701");
        for number in numbers {
            self.bytes.extend_from_slice(format!("{number:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn an_entry_has_the_bytes_that_the_kernel_documents() {
        let mut archive = Archive::default();
        archive.file("init", b"hello");
        let bytes = archive.finish();
        let header = b"07070100000001000081ED00000000000000000000000100000000000000050000000000000000\
                       00000000000000000000000500000000init\0\0";
        assert_eq!(&bytes[..header.len()], header);
        assert_eq!(&bytes[header.len()..header.len() + 8], b"hello\0\0\0", "padded to four bytes");
        assert!(bytes.ends_with(b"TRAILER!!!\0\0\0\0") && bytes.len().is_multiple_of(4));
    }

    #[test]
    fn another_program_reads_it() {
        let mut archive = Archive::default();
        archive.folder("lib");
        archive.file("lib/one", &[7; 4097]);
        archive.device("console", 5, 1);
        let list =
            Command::new("cpio").arg("-tv").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut list = match list {
            Ok(list) => list,
            Err(error) => return takt_testing::skip(format_args!("cpio: {error}   (apt-get install cpio)")),
        };
        list.stdin.take().unwrap().write_all(&archive.finish()).unwrap();
        let out = list.wait_with_output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("drwxr-xr-x") && lines[0].ends_with("lib"), "{text}");
        assert!(lines[1].contains("4097") && lines[1].ends_with("lib/one"), "{text}");
        assert!(lines[2].contains("5,   1") && lines[2].ends_with("console"), "{text}");
    }
}
