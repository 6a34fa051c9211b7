//! Frames that come in several chunks, put together again: one copy, into memory taken at opening.
//!
//! The kernel promises whole frames (networking/af_xdp.rst, multi-buffer). That is a claim like any other: a frame that never
//! ends holds no chunk and grows no further than the buffer, and what belongs to it is never taken for a frame of its own.

/// The frame that is coming, and room for the longest.
pub(super) struct Joined {
    bytes: Box<[u8]>,
    len: usize,
    stamp: Option<u64>,
    /// Its last part has not come.
    open: bool,
}

impl Joined {
    /// Frames of several parts are cut to `longest`.
    pub(super) fn new(longest: usize) -> Joined {
        Joined { bytes: vec![0xa5; longest].into(), len: 0, stamp: None, open: false }
    }

    /// Adds a part; `each` gets the frame if it ends here, with the stamp of its first part. A frame of one part is handed
    /// on where it lies.
    pub(super) fn add(
        &mut self,
        stamp: Option<u64>,
        part: &[u8],
        goes_on: bool,
        each: impl FnOnce(Option<u64>, &[u8]),
    ) {
        if !self.open && !goes_on {
            return each(stamp, part);
        }
        if !self.open {
            (self.len, self.stamp, self.open) = (0, stamp, true);
        }
        let room = self.bytes.get_mut(self.len..).unwrap_or(&mut []);
        let fits = part.len().min(room.len());
        room[..fits].copy_from_slice(&part[..fits]);
        self.len += fits;
        if !goes_on {
            self.open = false;
            each(self.stamp, self.bytes.get(..self.len).unwrap_or(&[]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames made of parts, each with whether it goes on.
    fn frames(longest: usize, parts: &[(&[u8], bool)]) -> Vec<(Option<u64>, Vec<u8>)> {
        let (mut joined, mut frames) = (Joined::new(longest), Vec::new());
        for (number, (part, goes_on)) in (1..).zip(parts) {
            joined.add(Some(number), part, *goes_on, |stamp, frame| frames.push((stamp, frame.to_vec())));
        }
        frames
    }

    #[test]
    fn parts_become_one_frame_with_the_stamp_of_the_first() {
        let got = frames(9, &[(b"ab", true), (b"cd", true), (b"e", false), (b"f", false), (b"", true), (b"g", false)]);
        let expected = [(1, "abcde"), (4, "f"), (5, "g")];
        assert_eq!(got, expected.map(|(stamp, frame)| (Some(stamp), frame.as_bytes().to_vec())));
    }

    #[test]
    fn more_parts_than_fit_are_cut_and_the_next_frame_is_whole() {
        let got = frames(3, &[(b"ab", true), (b"cd", true), (b"ef", false), (b"gh", true), (b"i", false)]);
        assert_eq!(got, [(Some(1), b"abc".to_vec()), (Some(4), b"ghi".to_vec())]);
        let none = frames(0, &[(b"ab", true), (b"c", false), (b"whole", false)]);
        assert_eq!(none, [(Some(1), Vec::new()), (Some(3), b"whole".to_vec())]);
    }

    #[test]
    fn a_frame_that_never_ends_is_no_frame() {
        let endless = [(&b"ab"[..], true); 1000];
        assert!(frames(9, &endless).is_empty());
    }
}
