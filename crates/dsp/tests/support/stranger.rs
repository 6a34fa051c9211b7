//! A stranger's bytes, read as choices and as items. Shared by the hostile tests and fuzz targets of `dsp` and `phy`.

/// Bytes as numbers, and as items over and over again. Without any, zeros.
pub struct Stranger<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Stranger<'a> {
    pub fn new(bytes: &'a [u8]) -> Stranger<'a> {
        Stranger { bytes, at: 0 }
    }

    pub fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes.get(self.at - 1).copied().unwrap_or(0)
    }

    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::from(self.byte()) % all.len()]
    }

    /// The bytes that are left and a 3, without end.
    pub fn cycled(&self) -> impl Iterator<Item = u8> {
        self.bytes.iter().copied().skip(self.at).chain([3]).cycle()
    }
}
