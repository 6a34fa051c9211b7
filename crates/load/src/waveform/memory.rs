//! Memory that this process uses.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// In memory at all, the program's own file included (`Rss`), bytes.
    pub resident_bytes: u64,
    /// Written by this process and by no other (`Private_Dirty`), bytes.
    pub private_bytes: u64,
}

impl Memory {
    /// As it is now; zeros where the kernel does not say.
    #[must_use]
    pub fn now() -> Memory {
        std::fs::read_to_string("/proc/self/smaps_rollup").map(|text| Memory::read(&text)).unwrap_or_default()
    }

    fn read(text: &str) -> Memory {
        let bytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
            kib.unwrap_or(0) * 1024
        };
        Memory { resident_bytes: bytes("Rss"), private_bytes: bytes("Private_Dirty") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_kilobytes_become_bytes() {
        let text = "5581-7ffe ---p 00000000 00:00 0   [rollup]\nRss:                2104 kB\nPss:  9 kB\n\
                    Private_Clean:         8 kB\nPrivate_Dirty:       112 kB\n";
        assert_eq!(Memory::read(text), Memory { resident_bytes: 2104 << 10, private_bytes: 112 << 10 });
        assert_eq!(Memory::read("nothing"), Memory::default());
    }

    #[test]
    fn this_process_takes_some() {
        assert!(Memory::now().private_bytes > 0);
    }
}
