//! The places of the registers of a radio block's channels, by the version of the block (x310.md 8.3 and 18.3).

use super::registers::radio;

/// The places of the registers of a radio block's channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RadioLayout {
    /// Version 0.1, UHD up to 4.9: a channel is 128 bytes. [`registers::radio`](super::registers::radio) names them.
    #[default]
    V0,
    /// Version 1.0, UHD from 4.10 on: a channel is 1024 bytes, of which receiver and transmitter have 256 each.
    V1,
}

/// The same registers in both: where they begin in version 0.1, how many bytes they are, and where they begin in 1.0.
const PARTS: [[u32; 3]; 4] = [
    // General.
    [0x00, 0x10, 0x000],
    // Receiver.
    [0x10, 0x30, 0x100],
    // Transmitter.
    [0x40, 0x30, 0x200],
    // Whether received packets carry a time.
    [0x70, 0x10, 0x130],
];
/// Bytes of a channel in version 1.0.
const STRIDE: u32 = 1024;
/// The first register of the radio's peripherals, which are in one place in both.
const PERIPHERALS: u32 = 0x8_0000;

impl RadioLayout {
    /// All of them, the oldest first.
    pub const ALL: [RadioLayout; 2] = [RadioLayout::V0, RadioLayout::V1];

    /// The version that a block with this layout says it has: major in bits 31:16, minor in 15:0.
    #[must_use]
    pub const fn compat(self) -> u32 {
        match self {
            RadioLayout::V0 => 0x0000_0001,
            RadioLayout::V1 => 0x0001_0000,
        }
    }

    /// The layout of a block that says this; `None` for a major version without a layout here.
    #[must_use]
    pub const fn of_compat(compat: u32) -> Option<RadioLayout> {
        match compat >> 16 {
            0 => Some(RadioLayout::V0),
            1 => Some(RadioLayout::V1),
            _ => None,
        }
    }

    /// The address of a channel's register, which is named as version 0.1 has it.
    ///
    /// ```
    /// use takt_wire::x310::{RadioLayout, registers::radio};
    /// let of_channel_1 = RadioLayout::ALL.map(|layout| layout.address_of(1, radio::RX_COMMAND));
    /// assert_eq!(of_channel_1, [0x1094, 0x1504]);
    /// ```
    #[must_use]
    pub fn address_of(self, channel: u32, register: u32) -> u32 {
        let first = radio::CHANNELS + channel * radio::STRIDE + register;
        match (self, part_of(register, 0)) {
            (RadioLayout::V1, Some([from, _, to])) => radio::CHANNELS + channel * STRIDE + to + (register - from),
            _ => first,
        }
    }

    /// The address that version 0.1 of the block has for this one of a block with this layout; `None` if no register is there.
    #[must_use]
    pub fn in_first(self, address: u32) -> Option<u32> {
        if self == RadioLayout::V0 || !(radio::CHANNELS..PERIPHERALS).contains(&address) {
            return Some(address);
        }
        let offset = address - radio::CHANNELS;
        let [from, _, to] = part_of(offset % STRIDE, 2)?;
        Some(radio::CHANNELS + offset / STRIDE * radio::STRIDE + from + (offset % STRIDE - to))
    }
}

/// The part in which an offset lies; `side`: 0 as version 0.1 counts, 2 as 1.0 does.
fn part_of(offset: u32, side: usize) -> Option<[u32; 3]> {
    let holds = |part: &[u32; 3]| {
        let begin = part.get(side).copied().unwrap_or(u32::MAX);
        (begin..begin.saturating_add(part[1])).contains(&offset)
    };
    PARTS.into_iter().find(holds)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // UHD v4.9: radio_control_impl::regmap in host/lib/include/uhdlib/rfnoc/radio_control_impl.hpp (REG_CHAN_OFFSET 128);
    // v4.10 and v4.11: the same file (REG_CHAN_OFFSET 1024), rfnoc_block_radio_regs.vh of the FPGA's sources.
    #[test]
    fn registers_are_where_uhd_4_9_and_4_10_look_for_them() {
        let rows = [
            (radio::WIDTH, 0x1004, 0x1004),
            (0x10, 0x1010, 0x1100), // REG_RX_STATUS
            (radio::RX_COMMAND, 0x1014, 0x1104),
            (radio::RX_COUNT[0], 0x1018, 0x1108),
            (radio::RX_COUNT[1], 0x101C, 0x110C),
            (radio::RX_TIME[0], 0x1020, 0x1110),
            (radio::RX_TIME[1], 0x1024, 0x1114),
            (radio::RX_SAMPLES_PER_PACKET, 0x1028, 0x1118),
            (0x2C, 0x102C, 0x111C), // REG_RX_ERR_PORT
            (radio::RX_REMOTE[0], 0x1030, 0x1120),
            (radio::RX_REMOTE[1], 0x1034, 0x1124),
            (radio::RX_REMOTE[2], 0x1038, 0x1128),
            (radio::ADC, 0x103C, 0x112C),
            (0x70, 0x1070, 0x1130), // REG_RX_HAS_TIME
            (0x40, 0x1040, 0x1200), // REG_TX_IDLE_VALUE
            (radio::TX_POLICY, 0x1044, 0x1204),
            (0x48, 0x1048, 0x1208), // REG_TX_ERR_PORT
            (radio::TX_REMOTE[0], 0x104C, 0x120C),
            (radio::TX_REMOTE[1], 0x1050, 0x1210),
            (radio::TX_REMOTE[2], 0x1054, 0x1214),
        ];
        for (register, old, new) in rows {
            assert_eq!(RadioLayout::ALL.map(|layout| layout.address_of(0, register)), [old, new], "{register:#x}");
            assert_eq!(RadioLayout::ALL.map(|layout| layout.address_of(1, register)), [old + 128, new + 1024]);
        }
    }

    #[test]
    fn what_a_layout_does_not_have_is_nowhere_and_peripherals_stay_where_they_are() {
        let new = RadioLayout::V1;
        for address in [radio::COMPAT, radio::TIME_LOW, radio::TIME_HIGH, radio::ADC_STATUS, radio::BOARD_GPIO] {
            assert_eq!((RadioLayout::V0.in_first(address), new.in_first(address)), (Some(address), Some(address)));
        }
        // Old receiver registers, old transmitter registers, gains that an X310 does not have, and the end of a channel.
        assert_eq!([0x1014, 0x1044, 0x1300, 0x1310, 0x13FC].map(|address| new.in_first(address)), [None; 5]);
        assert_eq!(new.in_first(0x1504), Some(0x1094));
    }

    proptest! {
        #[test]
        fn every_register_is_found_where_it_was_put(channel in 0u32..16, word in 0u32..32) {
            let register = 4 * word;
            for layout in RadioLayout::ALL {
                let first = RadioLayout::V0.address_of(channel, register);
                prop_assert_eq!(layout.in_first(layout.address_of(channel, register)), Some(first));
            }
        }

        #[test]
        fn no_two_addresses_are_one_register(a: u32, b: u32) {
            let [a, b] = [a, b].map(|address| RadioLayout::V1.in_first(address).map(|first| (address, first)));
            if let (Some((a, first_a)), Some((b, first_b))) = (a, b) {
                prop_assert_eq!(a == b, first_a == first_b, "{:#x} and {:#x}", a, b);
            }
        }
    }
}
