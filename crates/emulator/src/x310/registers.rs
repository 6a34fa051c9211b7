//! Values written to a block's registers. Most are read back as written; what they mean is known where they are used.

/// As many as a block has, and more: addresses beyond are forgotten.
const CAPACITY: usize = 512;

pub(super) struct Registers {
    /// Address and word, by address.
    words: Vec<(u32, u32)>,
}

impl Registers {
    pub(super) fn new() -> Registers {
        Registers { words: Vec::with_capacity(CAPACITY) }
    }

    pub(super) fn set(&mut self, address: u32, word: u32) {
        match self.words.binary_search_by_key(&address, |(at, _)| *at) {
            Ok(n) => self.words[n].1 = word,
            Err(n) if self.words.len() < CAPACITY => self.words.insert(n, (address, word)),
            Err(_) => {}
        }
    }

    /// The word last written there; 0 if none was.
    pub(super) fn get(&self, address: u32) -> u32 {
        self.find(address).unwrap_or(0)
    }

    pub(super) fn find(&self, address: u32) -> Option<u32> {
        let n = self.words.binary_search_by_key(&address, |(at, _)| *at).ok()?;
        self.words.get(n).map(|(_, word)| *word)
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_and_their_number_is_bounded() {
        let mut registers = Registers::new();
        for address in (0..CAPACITY as u32 + 9).rev() {
            registers.set(4 * address, address + 1);
        }
        assert_eq!(registers.find(0), None, "one too many");
        assert_eq!(registers.get(4 * 9), 10);
        registers.set(4 * 9, 7);
        assert_eq!((registers.get(4 * 9), registers.get(1)), (7, 0));
        assert_eq!(registers.words.capacity(), CAPACITY);
    }
}
