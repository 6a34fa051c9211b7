//! Rate matching of one transport channel, TS 25.212 section 4.2.7, and its inverse on soft values.

use super::convolutional::rate;
use super::{each_block, refused, tti};
use crate::items::{bits, bits_mut, llrs, llrs_mut};
use takt_dsp::umts::{Coding, RateMatching};
use takt_runtime::{Bit, Llr, MakeError, component};

/// The radio frames of an interval in the uplink, where each is matched by itself; in the downlink the interval.
struct Matching {
    plans: Vec<RateMatching>,
    /// The first of them that is matched.
    first: usize,
}

impl Matching {
    fn new(coding: &str, direction: &str, lengths: [u32; 2], tti: u32, frame: u32) -> Result<Matching, MakeError> {
        let coding = match coding {
            "conv-1/2" => Coding::Convolutional(rate(2)),
            "conv-1/3" => Coding::Convolutional(rate(3)),
            _ => Coding::Turbo,
        };
        let ([length, matched], tti) = (lengths.map(|length| length as usize), self::tti(tti)?);
        let plans: Result<Vec<_>, _> = match direction {
            "uplink" => (0..tti.frames()).map(|f| RateMatching::uplink(coding, length, matched, tti, f)).collect(),
            _ => RateMatching::downlink(coding, length, length, matched).map(|plan| vec![plan]),
        };
        if frame as usize >= tti.frames() {
            let what = format!("there is no radio frame {frame} in an interval that has {}", tti.frames());
            return Err(MakeError {
                what,
                fix: "give a frame of the interval, counted from 0, or a longer interval".into(),
            });
        }
        Ok(Matching { plans: plans.map_err(|error| refused(&error))?, first: frame as usize })
    }

    /// Bits before and after.
    fn lengths(&self) -> (usize, usize) {
        (self.plans[0].block_len(), self.plans[0].matched_len())
    }

    /// Plans of the blocks in the packet of `slot`, if all packets before are as long as it.
    fn plans(&self, slot: u64, blocks: usize) -> impl Iterator<Item = &RateMatching> {
        let count = self.plans.len();
        let before = slot as usize % count * blocks + self.first;
        (before..).map(move |block| &self.plans[block % count])
    }
}

/// F, given as such or by the length of an interval.
fn interval(tti: u32, frames: u32) -> u32 {
    if frames == 0 { tti } else { 10 * frames }
}

/// A component that matches rates or undoes it; both have the same parameters.
macro_rules! rate_matching {
    ($(#[$summary:meta])* $Name:ident($length:ident, $matched:ident): $Item:ident, $taken:ident to $given:ident,
     $(#[$matched_doc:meta])* => $change:expr) => {
        struct $Name(Matching);

        $(#[$summary])*
        #[component]
        impl $Name {
            fn new(
                /// Coded bits: of an interval in the downlink, of a radio frame in the uplink.
                #[param(name = "N", alias = "length", unit = "items", range = 1..=1_000_000, default = 11_580)]
                $length: u32,
                $(#[$matched_doc])*
                #[param(name = "N_out", alias = "matched", unit = "items", range = 1..=1_000_000, default = 9120)]
                $matched: u32,
                /// Which code.
                #[param(choice = ["turbo", "conv-1/2", "conv-1/3"], default = "turbo")]
                coding: String,
                /// Direction of the link.
                #[param(choice = ["downlink", "uplink"], default = "downlink")]
                direction: String,
                /// Transmission time interval: 10, 20, 40 or 80. It counts in the uplink.
                #[param(alias = "tti_ms", unit = "ms", range = 10..=80, default = 10)]
                tti: u32,
                /// Radio frames of an interval, where they are given instead of `tti`: 1, 2, 4 or 8; 0: as `tti` says.
                #[param(name = "F", range = 0..=8, default = 0)]
                frames: u32,
                /// Radio frame of the interval with which the packet of slot 0 begins, from 0; in the uplink.
                #[param(range = 0..=7, default = 0)]
                frame: u32,
            ) -> Result<$Name, MakeError> {
                Matching::new(&coding, &direction, [$length, $matched], interval(tti, frames), frame).map($Name)
            }

            fn tick(
                &mut self,
                slot: u64,
                #[port(multiple_of = $taken)] input: In<$Item>,
                #[port(ratio = $given / $taken)] mut output: Out<$Item>,
            ) {
                let ($length, $matched) = self.0.lengths();
                let mut plans = self.0.plans(slot, input.len() / $taken);
                each_block(&input, $taken, &mut output, $given, |block, out| {
                    if let Some(plan) = plans.next() {
                        ($change)(plan, block, out);
                    }
                });
            }
        }
    };
}

rate_matching!(
    /// Punctures or repeats coded bits to the length that the channel gives them (TS 25.212, 4.2.7): in the downlink those of an
    /// interval, in the uplink those of each radio frame.
    UmtsRateMatch(length, matched): Bit, length to matched,
    /// Bits after it, N + delta N.
    => |plan: &RateMatching, block, out| plan.apply(bits(block), bits_mut(out))
);

rate_matching!(
    /// Undoes rate matching on soft values: 0 for what was punctured, the sum of what was repeated (TS 25.212, 4.2.7).
    UmtsRateDematch(length, matched): Llr, matched to length,
    /// Bits after rate matching, N + delta N.
    => |plan: &RateMatching, block, out| plan.invert(llrs(block), llrs_mut(out))
);
