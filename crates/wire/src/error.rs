//! Faults of bytes.

/// Why a datagram, an image or a buffer was refused. Small and `Copy`, so that counting refusals costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names say it")]
pub enum WireError {
    #[error("{what} needs {need} bytes, but only {have} are there")]
    Short {
        /// The item that was being read or written.
        what: &'static str,
        need: usize,
        have: usize,
    },
    /// A field holds a value it must not hold.
    #[error("{what} is {got:#x}; expected: {want}")]
    Field {
        what: &'static str,
        got: u64,
        /// Values that it may hold.
        want: &'static str,
    },
}

impl WireError {
    pub(crate) fn field(what: &'static str, got: impl Into<u64>, want: &'static str) -> WireError {
        WireError::Field { what, got: got.into(), want }
    }
}
