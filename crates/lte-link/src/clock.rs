//! Subframes counted without wrapping, from their numbers 0 to 10239.

use takt_lte::Tti;

/// Counts subframes. The count is congruent to the subframe's number, modulo 10240.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    last: Option<(Tti, u64)>,
}

impl Clock {
    /// The count of this subframe. A step back in the numbers counts as a step forward over their wrap.
    pub(crate) fn at(&mut self, tti: Tti) -> u64 {
        let now = match self.last {
            // Not 0, so that a few subframes before the first have a count too.
            None => u64::from(Tti::COUNT) + u64::from(tti.get()),
            Some((last, count)) => count + u64::from(tti.after(last)),
        };
        self.last = Some((tti, now));
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_goes_on_where_numbers_wrap() {
        let mut clock = Clock::default();
        let first = clock.at(Tti::new(10_239));
        assert_eq!(clock.at(Tti::new(0)), first + 1);
        assert_eq!(clock.at(Tti::new(7)), first + 8);
        assert_eq!(Tti::new(first + 8), Tti::new(7));
    }
}
