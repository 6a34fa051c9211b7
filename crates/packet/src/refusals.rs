//! Destinations that refused and were not reported yet: bounded, each only once.

use crate::Refusal;

/// How many are kept.
pub(crate) const KEPT: usize = 64;

#[derive(Debug)]
pub(crate) struct Refusals(Vec<Refusal>);

impl Refusals {
    pub(crate) fn new() -> Refusals {
        Refusals(Vec::with_capacity(KEPT))
    }

    /// Keeps it, unless it is there or there is no room.
    pub(crate) fn note(&mut self, refusal: Refusal) {
        if self.0.len() < KEPT && !self.0.contains(&refusal) {
            self.0.push(refusal);
        }
    }

    /// The oldest.
    pub(crate) fn pop(&mut self) -> Option<Refusal> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortIndex;

    #[test]
    fn a_destination_is_reported_once_and_the_first_sixty_four_are_kept() {
        let mut refusals = Refusals::new();
        let to = |n: u16| Refusal { port: PortIndex(0), to: ([127, 0, 0, 1], n).into() };
        for n in 0..100 {
            refusals.note(to(n));
            refusals.note(to(n));
        }
        let reported: Vec<_> = std::iter::from_fn(|| refusals.pop()).collect();
        assert_eq!(reported, (0..64).map(to).collect::<Vec<_>>());
    }
}
