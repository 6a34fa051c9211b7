//! What can be wrong with bytes.

/// Why a datagram, an image or a buffer was refused. Small and `Copy`, so that counting refusals costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Fewer bytes than the thing itself, or the length it states, needs. When writing: the caller's buffer.
    #[error("{what} needs {need} bytes, {have} are there")]
    Short {
        /// What was being read or written.
        what: &'static str,
        /// Bytes it needs.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// A field holds a value it must not hold.
    #[error("{what} is {got:#x}, expected {want}")]
    Field {
        /// The field.
        what: &'static str,
        /// What it holds.
        got: u64,
        /// What it may hold.
        want: &'static str,
    },
}

impl WireError {
    pub(crate) fn field(what: &'static str, got: impl Into<u64>, want: &'static str) -> WireError {
        WireError::Field { what, got: got.into(), want }
    }
}
