//! Frames while they are inside: slots of one size.

use takt_packet::link::Span;

/// Memory for frames, all of it taken at once.
#[derive(Debug)]
pub(super) struct Frames {
    arena: Box<[u8]>,
    stride: usize,
    lengths: Box<[usize]>,
    free: Vec<u32>,
}

impl Frames {
    /// Slots of `stride` bytes in about `bytes` of memory, which is touched so that it is there.
    pub(super) fn new(stride: usize, bytes: usize) -> Frames {
        let slots = (bytes / stride).max(64);
        Frames {
            arena: vec![1; slots * stride].into(),
            stride,
            lengths: vec![0; slots].into(),
            free: (0..u32::try_from(slots).unwrap_or(u32::MAX)).rev().collect(),
        }
    }

    pub(super) fn slots(&self) -> u32 {
        u32::try_from(self.lengths.len()).unwrap_or(u32::MAX)
    }

    /// Keeps a frame; `None` if there is no slot left or it is too long for one.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Option<u32> {
        let slot = *self.free.last()?;
        let at = slot as usize * self.stride;
        self.arena.get_mut(at..at + self.stride)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        *self.lengths.get_mut(slot as usize)? = bytes.len();
        self.free.pop();
        Some(slot)
    }

    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    pub(super) fn span(&self, slot: u32) -> Span {
        let len = self.lengths.get(slot as usize).copied().unwrap_or(0);
        Span { offset: slot as usize * self.stride, len }
    }

    pub(super) fn arena(&self) -> &[u8] {
        &self.arena
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_kept_until_there_is_no_slot_left() {
        let mut frames = Frames::new(32, 0);
        let slots: Vec<u32> = std::iter::from_fn(|| frames.keep(b"frame")).collect();
        assert_eq!(slots.len(), 64);
        frames.release(slots[5]);
        assert_eq!(frames.keep(&[0; 33]), None, "too long");
        let slot = frames.keep(b"another one").unwrap();
        let Span { offset, len } = frames.span(slot);
        assert_eq!((slot, &frames.arena()[offset..offset + len]), (slots[5], &b"another one"[..]));
    }
}
