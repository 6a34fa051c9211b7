//! Errors: bytes from the air, configurations, packets.

/// Bytes from the air that mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes end before the form does.
    #[error("{what} ends after {have} bytes")]
    Short {
        /// The form.
        what: &'static str,
        /// Bytes that there are.
        have: usize,
    },
    /// A field has a value that the form does not know.
    #[error("{what} is {value}; expected: {expected}")]
    Field {
        /// The field.
        what: &'static str,
        /// As received.
        value: u64,
        /// The range or form that would be right.
        expected: &'static str,
    },
}

/// A setting that the link cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}; expected: {expected}")]
pub struct ConfigError {
    /// The setting.
    pub key: &'static str,
    /// As given.
    pub value: String,
    /// Its range, and the fix where it is not obvious.
    pub expected: &'static str,
}

/// Why a packet was not taken. Each case is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketRefused {
    /// The queue is full.
    #[error("the queue is full")]
    QueueFull,
    /// Above 1500 bytes, or none.
    #[error("the packet is empty or longer than 1500 bytes")]
    Size,
    /// The base station has never heard of this terminal.
    #[error("the base station has no such terminal")]
    UnknownTerminal,
}
