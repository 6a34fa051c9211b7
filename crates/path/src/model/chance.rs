//! The dice. Four draws a frame, wanted or not, so that one knob does not change what another does.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Impairments;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) lost: bool,
    pub(super) twice: bool,
    pub(super) delay_ns: u64,
    /// On top of the delay; 0: it stays in order.
    pub(super) hold_ns: u64,
}

#[derive(Debug)]
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    pub(super) fn new(seed: u64, stream: u64) -> Chance {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        dice.set_stream(stream);
        Chance(dice)
    }

    /// Fate of the next frame; with `chance` off only the middle of the delay is left.
    pub(super) fn draw(&mut self, spec: &Impairments, chance: bool) -> Fate {
        let [loss, twice, late, order] = std::array::from_fn(|_| self.unit());
        let happens = |draw: f64, share: f64| chance && draw < share;
        let jitter_ns = spec.jitter_ns.min(spec.delay_ns);
        let above = if chance { (late * (2 * jitter_ns) as f64) as u64 } else { jitter_ns };
        Fate {
            lost: happens(loss, spec.loss),
            twice: happens(twice, spec.duplicate),
            delay_ns: spec.delay_ns - jitter_ns + above,
            hold_ns: if happens(order, spec.reorder) { spec.hold_ns } else { 0 },
        }
    }

    /// From 0 to below 1, 53 bits.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
