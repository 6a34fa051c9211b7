//! The two interleavers, TS 25.212 sections 4.2.5 and 4.2.11.

use super::{bits, bits_mut, llrs, llrs_mut, tti};
use takt_dsp::umts::{self, Tti};
use takt_runtime::{Bit, Llr, MakeError, component};

struct UmtsInterleave1(Tti);

/// First interleaver: F columns, one for each radio frame of the interval (TS 25.212, 4.2.5). At 10 ms it changes nothing.
#[component(name = "umts-interleave-1")]
impl UmtsInterleave1 {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
    ) -> Result<UmtsInterleave1, MakeError> {
        self::tti(tti).map(UmtsInterleave1)
    }

    fn tick(&mut self, #[port(multiple_of = tti / 10)] input: In<Bit>, mut output: Out<Bit>) {
        umts::interleave_1(self.0, bits(&input), bits_mut(&mut output));
    }
}

struct UmtsDeinterleave1(Tti);

/// Undoes the first interleaver on soft values (TS 25.212, 4.2.5).
#[component(name = "umts-deinterleave-1")]
impl UmtsDeinterleave1 {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
    ) -> Result<UmtsDeinterleave1, MakeError> {
        self::tti(tti).map(UmtsDeinterleave1)
    }

    fn tick(&mut self, #[port(multiple_of = tti / 10)] input: In<Llr>, mut output: Out<Llr>) {
        umts::deinterleave_1(self.0, llrs(&input), llrs_mut(&mut output));
    }
}

/// Second interleaver: 30 columns, over the radio frame of a physical channel (TS 25.212, 4.2.11).
#[component(name = "umts-interleave-2")]
fn umts_interleave_2(input: In<Bit>, mut output: Out<Bit>) {
    umts::interleave_2(bits(&input), bits_mut(&mut output));
}

/// Undoes the second interleaver on soft values (TS 25.212, 4.2.11).
#[component(name = "umts-deinterleave-2")]
fn umts_deinterleave_2(input: In<Llr>, mut output: Out<Llr>) {
    umts::deinterleave_2(llrs(&input), llrs_mut(&mut output));
}
