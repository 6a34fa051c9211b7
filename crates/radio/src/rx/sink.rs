//! Destination of received samples: the caller's buffers, one per channel.

/// Buffers of floats or of integers, and how samples come into them from the wire.
pub(super) struct Sink<'a, 'b, T, F> {
    pub(super) out: &'a mut [&'b mut [T]],
    pub(super) unpack: F,
}

impl<T, F: Fn(&[u8], &mut [T]) -> usize> Sink<'_, '_, T, F> {
    pub(super) fn channels(&self) -> usize {
        self.out.len()
    }

    /// Samples that fit each channel.
    pub(super) fn room(&self) -> usize {
        self.out.iter().map(|channel| channel.len()).min().unwrap_or(0)
    }

    /// Converts samples as they came into `channel`, from sample `at` on.
    #[inline]
    pub(super) fn put(&mut self, channel: usize, at: usize, wire: &[u8]) {
        if let Some(out) = self.out.get_mut(channel).and_then(|channel| channel.get_mut(at..)) {
            (self.unpack)(wire, out);
        }
    }
}
