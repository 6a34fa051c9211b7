//! Rate matching of one transport channel, TS 25.212 section 4.2.7, and its inverse on soft values.

use super::convolutional::rate;
use super::{bits, bits_mut, llrs, llrs_mut, refused};
use takt_dsp::umts::{Coding, RateMatching, Tti};
use takt_runtime::{Bit, Llr, MakeError, component};

fn plan(coding: &str, direction: &str, length: u32, matched: u32) -> Result<RateMatching, MakeError> {
    let coding = match coding {
        "conv-1/2" => Coding::Convolutional(rate(2)),
        "conv-1/3" => Coding::Convolutional(rate(3)),
        _ => Coding::Turbo,
    };
    let (length, matched) = (length as usize, matched as usize);
    let plan = match direction {
        "uplink" => RateMatching::uplink(coding, length, matched, Tti::Ms10, 0),
        _ => RateMatching::downlink(coding, length, length, matched),
    };
    plan.map_err(|error| refused(&error))
}

struct UmtsRateMatch(RateMatching);

/// Punctures or repeats coded bits to the length that the channel gives them (TS 25.212, 4.2.7).
#[component]
impl UmtsRateMatch {
    fn new(
        /// Coded bits, N.
        #[param(unit = "items", range = 1..=1_000_000, default = 11_580)]
        length: u32,
        /// Bits after it, N + delta N.
        #[param(unit = "items", range = 1..=1_000_000, default = 9120)]
        matched: u32,
        /// Which code.
        #[param(choice = ["turbo", "conv-1/2", "conv-1/3"], default = "turbo")]
        coding: String,
        /// Of the link. In the uplink a radio frame of 10 ms.
        #[param(choice = ["downlink", "uplink"], default = "downlink")]
        direction: String,
    ) -> Result<UmtsRateMatch, MakeError> {
        plan(&coding, &direction, length, matched).map(UmtsRateMatch)
    }

    fn tick(&mut self, #[port(exactly = length)] input: In<Bit>, #[port(fixed = matched)] mut output: Out<Bit>) {
        if input.len() != self.0.block_len() || input.missing() {
            return output.truncate(0);
        }
        self.0.apply(bits(&input), bits_mut(&mut output));
    }
}

struct UmtsRateDematch(RateMatching);

/// Undoes rate matching on soft values: 0 for what was punctured, the sum of what was repeated (TS 25.212, 4.2.7).
#[component]
impl UmtsRateDematch {
    fn new(
        /// Coded bits, N.
        #[param(unit = "items", range = 1..=1_000_000, default = 11_580)]
        length: u32,
        /// Bits after rate matching, N + delta N.
        #[param(unit = "items", range = 1..=1_000_000, default = 9120)]
        matched: u32,
        /// Which code.
        #[param(choice = ["turbo", "conv-1/2", "conv-1/3"], default = "turbo")]
        coding: String,
        /// Of the link. In the uplink a radio frame of 10 ms.
        #[param(choice = ["downlink", "uplink"], default = "downlink")]
        direction: String,
    ) -> Result<UmtsRateDematch, MakeError> {
        plan(&coding, &direction, length, matched).map(UmtsRateDematch)
    }

    fn tick(&mut self, #[port(exactly = matched)] input: In<Llr>, #[port(fixed = length)] mut output: Out<Llr>) {
        if input.len() != self.0.matched_len() || input.missing() {
            return output.truncate(0);
        }
        self.0.invert(llrs(&input), llrs_mut(&mut output));
    }
}
