//! Pins of the front panel and of a daughterboard, driven by registers that the run state chooses (x310.md 8.3, 15 trap 17).

use super::registers::Registers;

/// Which way samples flow at the moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    pub(super) rx: bool,
    pub(super) tx: bool,
}

/// Readings of the pins: an output shows what drives it, an input `outside`. Six registers from `base` on, 8 bytes
/// apart: idle, receiving, transmitting, both, direction, and which pins the first drives whatever the state.
pub(super) fn read(registers: &Registers, base: u32, running: Running, outside: u32) -> u32 {
    let at = |n: u32| registers.get(base + 8 * n);
    let idle = at(0);
    let driven = match (running.rx, running.tx) {
        (false, false) => idle,
        (true, false) => at(1),
        (false, true) => at(2),
        (true, true) => at(3),
    };
    let (outputs, fixed) = (at(4), at(5));
    (idle & fixed | driven & !fixed) & outputs | outside & !outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_show_what_drives_them_and_inputs_what_is_outside() {
        let mut registers = Registers::new();
        for (n, word) in [0x1111, 0x2222, 0x4444, 0x8888, 0xFFF0, 0xF000].into_iter().enumerate() {
            registers.set(0x100 + 8 * n as u32, word);
        }
        let read = |rx, tx| read(&registers, 0x100, Running { rx, tx }, 0x000F_000F);
        assert_eq!(read(false, false), 0x000F_111F);
        assert_eq!(read(true, false), 0x000F_122F);
        assert_eq!(read(false, true), 0x000F_144F);
        assert_eq!(read(true, true), 0x000F_188F);
    }
}
