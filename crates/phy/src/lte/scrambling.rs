//! Scrambling with the Gold sequence, TS 36.211 sections 6.3.1, 5.3.1 and 7.2.

use crate::items::{bits_mut, llrs_mut};
use takt_dsp::lte;
use takt_runtime::{Bit, Llr, MakeError, component};

/// Which sequence each packet is scrambled with.
#[derive(Clone, Copy)]
enum Sequence {
    /// The same for all.
    Fixed(u32),
    /// That of the subframe: what comes in slot j of the waveform is in the slots n_s + 2 j and n_s + 2 j + 1 of its radio frame.
    Channel { rnti: u16, code_word: u8, first: u8, cell: u16 },
}

impl Sequence {
    fn new(c_init: u32, rnti: u16, code_word: u8, first: u8, cell: u16) -> Result<Sequence, MakeError> {
        let channel = Sequence::Channel { rnti, code_word, first, cell };
        match (c_init, channel.c_init(0), first) {
            (0, ..) => Ok(channel),
            (_, 0, 0 | 1) => Ok(Sequence::Fixed(c_init)),
            _ => {
                let what = format!("both c_init = {c_init} and its parts (n_RNTI, q, n_s, N_ID_cell) were given");
                Err(MakeError { what, fix: "give either c_init or its parts".into() })
            }
        }
    }

    fn c_init(self, slot: u64) -> u32 {
        match self {
            Sequence::Fixed(c_init) => c_init,
            Sequence::Channel { rnti, code_word, first, cell } => {
                let n_s = (u64::from(first) + 2 * (slot % 10)) % 20;
                lte::pdsch_c_init(rnti, code_word, n_s as u8, cell)
            }
        }
    }
}

/// A component that scrambles or undoes it; both have the same parameters.
macro_rules! scrambling {
    ($(#[$summary:meta])* $Name:ident: $Item:ident, $change:expr) => {
        struct $Name(Sequence);

        $(#[$summary])*
        #[component]
        impl $Name {
            fn new(
                /// Start of the sequence, the same in every packet; 0: made of the others.
                #[param(range = 0..=0x7fff_ffff_i64, default = 0)]
                c_init: u32,
                /// Identity of the terminal.
                #[param(name = "n_RNTI", alias = "rnti", range = 0..=65_535, default = 0)]
                rnti: u16,
                /// Which code word.
                #[param(name = "q", range = 0..=1, default = 0)]
                code_word: u8,
                /// Slot of the radio frame with which the packet of slot 0 begins.
                #[param(name = "n_s", alias = "n_slot", range = 0..=19, default = 0)]
                first: u8,
                /// Identity of the cell.
                #[param(name = "N_ID_cell", alias = "cell", range = 0..=503, default = 0)]
                cell: u16,
            ) -> Result<$Name, MakeError> {
                Sequence::new(c_init, rnti, code_word, first, cell).map($Name)
            }

            fn tick(&mut self, slot: u64, mut packet: InOut<$Item>) {
                ($change)(self.0.c_init(slot), &mut packet);
            }
        }
    };
}

scrambling!(
    /// Scrambles the bits of a code word with the Gold sequence of its subframe (TS 36.211, 6.3.1), or of c_init in every packet.
    /// Packet j belongs to the slots n_s + 2 j and n_s + 2 j + 1 of a radio frame of 20.
    LteScramble: Bit, |c_init, packet: &mut [Bit]| lte::scramble(c_init, bits_mut(packet))
);

scrambling!(
    /// Undoes scrambling on soft values (TS 36.211, 6.3.1).
    LteDescramble: Llr, |c_init, packet: &mut [Llr]| lte::descramble(c_init, llrs_mut(packet))
);
