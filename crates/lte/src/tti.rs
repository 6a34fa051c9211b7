//! Subframes by number: a system frame number of 10 bits, and the subframe in it.

use std::ops::{Add, Sub};

/// A subframe within the 1024 system frames, 0 to 10239. Sums wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tti(u32);

impl Tti {
    /// How many there are before the frame number begins again.
    pub const COUNT: u32 = 10_240;

    /// The subframe of this number, modulo 10240.
    #[must_use]
    pub fn new(number: u64) -> Tti {
        Tti((number % u64::from(Self::COUNT)) as u32)
    }

    /// The subframe 0 to 9 of a system frame 0 to 1023.
    #[must_use]
    pub fn of(frame: u16, subframe: u8) -> Tti {
        Tti::new(u64::from(frame) * 10 + u64::from(subframe))
    }

    /// 0 to 10239.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    /// The system frame number, 0 to 1023.
    #[must_use]
    pub fn frame(self) -> u16 {
        (self.0 / 10) as u16
    }

    /// The subframe of its frame, 0 to 9.
    #[must_use]
    pub fn subframe(self) -> usize {
        (self.0 % 10) as usize
    }

    /// The number n_s of its first slot in the frame, 0 to 18.
    #[must_use]
    pub fn first_slot(self) -> usize {
        2 * self.subframe()
    }

    /// How many subframes this is after `earlier`, 0 to 10239.
    #[must_use]
    pub fn after(self, earlier: Tti) -> u32 {
        (self.0 + Self::COUNT - earlier.0) % Self::COUNT
    }
}

impl Add<u32> for Tti {
    type Output = Tti;

    fn add(self, subframes: u32) -> Tti {
        Tti::new(u64::from(self.0) + u64::from(subframes))
    }
}

impl Sub<u32> for Tti {
    type Output = Tti;

    fn sub(self, subframes: u32) -> Tti {
        Tti::new(u64::from(self.0) + u64::from(Self::COUNT - subframes % Self::COUNT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        let last = Tti::of(1023, 9);
        assert_eq!((last + 1, Tti::default() - 1), (Tti::default(), last));
        assert_eq!((last.frame(), last.subframe(), last.first_slot()), (1023, 9, 18));
        assert_eq!((Tti::default() + 3).after(last), 4);
        assert_eq!(Tti::new(5) - 10_245, Tti::default());
    }
}
