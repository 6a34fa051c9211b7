//! Limits of a waveform. A file is hostile until checked, and every one of these is compared before anything is
//! allocated for it.

/// Bytes of a waveform file.
pub const FILE_BYTES: usize = 1 << 20;
/// Components of a waveform.
pub const COMPONENTS: usize = 4096;
/// Links of a waveform.
pub const LINKS: usize = 16_384;
/// Ports of a component, inputs and outputs counted apart.
pub const PORTS: usize = 64;
/// Characters of a name.
pub const NAME_CHARS: usize = 64;
/// Values of a list parameter.
pub const LIST: usize = 65_536;
/// Items of a packet: 16 Mi.
pub const ITEMS: u64 = 1 << 24;
/// Items of history an input may ask for.
pub const HISTORY: u64 = 1 << 20;
/// Functional delay of a link, slots.
pub const DELAY_SLOTS: u32 = 4096;
/// Shortest slot, nanoseconds: 1 µs.
pub const SLOT_MIN_NS: u64 = 1_000;
/// Longest slot, nanoseconds: a minute.
pub const SLOT_MAX_NS: u64 = 60_000_000_000;
/// Messages that a component may send in a slot.
pub const MESSAGES: usize = 16;
/// Bytes of a message.
pub const MESSAGE_BYTES: usize = 64;
/// Workers of a plan.
pub const WORKERS: usize = 1024;

/// Whether that is a name: 1 to 64 letters, digits, `-` and `_`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=NAME_CHARS).contains(&text.len()) && text.chars().all(allowed)
}

pub use takt_toml::shortened;
