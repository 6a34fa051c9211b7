//! Layout of a subframe, TS 25.221 section 5A.1 and 5A.2.2 (1.28 Mcps).

use std::ops::Range;

/// Chips a second.
pub const CHIP_RATE_HZ: u32 = 1_280_000;

/// Chips of a subframe of 5 ms; two make a radio frame.
pub const CHIPS: usize = 6400;

/// The rate of an N200 that is nearest below the chips': 100 MHz / 80. It holds 98 % of the band that the chips take.
pub const SAMPLE_RATE_HZ: u32 = 1_250_000;

/// Samples of a subframe at that rate.
pub const SAMPLES: usize = 6250;

/// Chips of a traffic slot, 675 us.
pub const SLOT_CHIPS: usize = 864;

/// The traffic slots that the block lies in, those behind the switching point of the study: TS3 to TS6.
pub const DOWNLINK_SLOTS: Range<usize> = 3..7;

/// The traffic slot of the next subframe that the answer is sent in.
pub const ANSWER_SLOT: usize = 1;

/// From a subframe's start to its first downlink slot.
pub const FIRST_DOWNLINK_NS: u64 = 2_300_000;

/// From the start of the first downlink slot to the instant at which the answer is to be ready: four slots of the block, TS0
/// and DwPTS of the next subframe.
pub const ANSWER_DEADLINE_NS: u64 = 3_450_000;

/// Samples of an answer as it is sent: the first leaves at the deadline, 200 us of silence follow (the guard period and UpPTS),
/// then the burst, with what the filter leaves behind it. So a radio that is told the deadline as the time of the first
/// sample judges by it.
pub const ANSWER_SAMPLES: usize = 1106;

/// The chip of the next subframe at which the answer is to be ready: DwPTS has ended.
pub(super) const DEADLINE_CHIP: usize = SLOT_CHIPS + 96;

/// DwPTS, the guard period and UpPTS, between TS0 and TS1.
const SPECIAL_CHIPS: usize = 96 + 96 + 160;

/// Chips of each of a burst's data fields.
pub(super) const DATA_CHIPS: usize = 352;

/// Chips of the midamble between them.
pub(super) const MIDAMBLE_CHIPS: usize = 144;

/// The chips of traffic slot `number`, 0 to 6, in a subframe.
///
/// # Panics
/// If there is no such slot.
///
/// ```
/// use takt_dsp::tdscdma::{CHIPS, traffic_slot};
/// assert_eq!((traffic_slot(1).start, traffic_slot(6).end), (1216, CHIPS));
/// ```
#[must_use]
pub const fn traffic_slot(number: usize) -> Range<usize> {
    assert!(number < 7, "a subframe has traffic slots 0 to 6");
    let start = number * SLOT_CHIPS + if number > 0 { SPECIAL_CHIPS } else { 0 };
    start..start + SLOT_CHIPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_a_subframe_and_times_follow_from_chips() {
        assert_eq!(7 * SLOT_CHIPS + SPECIAL_CHIPS, CHIPS);
        assert_eq!(2 * DATA_CHIPS + MIDAMBLE_CHIPS + 16, SLOT_CHIPS);
        let ns = |chips: usize| chips as u64 * 1_000_000_000 / u64::from(CHIP_RATE_HZ);
        assert_eq!((ns(CHIPS), SAMPLES as u64 * 800), (5_000_000, 5_000_000));
        assert_eq!(ns(traffic_slot(DOWNLINK_SLOTS.start).start), FIRST_DOWNLINK_NS);
        // TS3 .. TS6, then TS0 and DwPTS of the next subframe.
        assert_eq!(ns(4 * SLOT_CHIPS + DEADLINE_CHIP), ANSWER_DEADLINE_NS);
        let answer = traffic_slot(ANSWER_SLOT);
        let samples = (answer.end - DEADLINE_CHIP) as f64 * f64::from(SAMPLE_RATE_HZ) / f64::from(CHIP_RATE_HZ);
        assert!(ANSWER_SAMPLES as f64 - samples > 8.0);
    }
}
