//! Ownership of the device: a host writes its mark and a time, again each second (x310.md 2.3).

use takt_base::{Tick, Ticks};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claim {
    pub(super) time: u32,
    pub(super) source: u32,
    /// When it lapses; `None`: nobody has the device.
    until: Option<Tick>,
}

impl Claim {
    /// The host says when it is, as it counts; 0 gives the device back. `patience`: how long without a renewal counts as gone.
    pub(super) fn renew(&mut self, now: Tick, time: u32, patience: Ticks) {
        if time == 0 {
            self.until = None;
        } else if time != self.time {
            self.until = Some(now + patience);
        }
        self.time = time;
    }

    pub(super) fn held(&self) -> bool {
        self.until.is_some()
    }

    pub(super) fn lapses_at(&self) -> Option<Tick> {
        self.until
    }

    /// The host is not known.
    pub(super) fn lapse(&mut self) {
        self.until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_while_the_time_changes_and_lapses_when_it_does_not() {
        let mut claim = Claim::default();
        claim.renew(Tick(10), 1000, Ticks(50));
        assert_eq!((claim.held(), claim.lapses_at()), (true, Some(Tick(60))));
        claim.renew(Tick(30), 1000, Ticks(50));
        assert_eq!(claim.lapses_at(), Some(Tick(60)), "the same time renews nothing");
        claim.renew(Tick(40), 1001, Ticks(50));
        assert_eq!(claim.lapses_at(), Some(Tick(90)));
        claim.renew(Tick(50), 0, Ticks(50));
        assert!(!claim.held());
    }
}
