//! A device time as two registers.

/// The high and low word of a tick count, as the time registers want them.
#[must_use]
pub fn split(tick: u64) -> (u32, u32) {
    let [high, low] = crate::words::split(tick);
    (high, low)
}

/// The tick count of two time registers.
#[must_use]
pub fn join(high: u32, low: u32) -> u64 {
    crate::words::join(high, low)
}
