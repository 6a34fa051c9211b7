//! Values that a driver says it has, as ranges: one value, an interval, or steps from a lowest to a highest.

use takt_radio::board::Range;

/// The nearest values of these ranges: not above, and not below; `None` where there is none.
pub(crate) fn around(ranges: &[Range], value: f64) -> [Option<f64>; 2] {
    let below = ranges.iter().filter_map(|range| not_above(range, value)).reduce(f64::max);
    let above = ranges.iter().filter_map(|range| not_below(range, value)).reduce(f64::min);
    [below, above]
}

/// The lowest and the highest value of all.
pub(crate) fn ends(ranges: &[Range]) -> Option<(f64, f64)> {
    let low = ranges.iter().map(|range| range.low).reduce(f64::min)?;
    let high = ranges.iter().map(|range| range.high).reduce(f64::max)?;
    Some((low, high))
}

/// Values that differ by less than a millionth: a driver that computes a rate rounds it.
pub(crate) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs()
}

fn not_above(range: &Range, value: f64) -> Option<f64> {
    if value >= range.high {
        return Some(range.high);
    }
    (value >= range.low).then(|| stepped(range, value, f64::floor).min(value))
}

fn not_below(range: &Range, value: f64) -> Option<f64> {
    if value <= range.low {
        return Some(range.low);
    }
    (value <= range.high).then(|| stepped(range, value, f64::ceil).min(range.high))
}

/// The value on the range's steps; itself where the range has none.
fn stepped(range: &Range, value: f64, round: fn(f64) -> f64) -> f64 {
    if range.step > 0.0 { range.low + round((value - range.low) / range.step) * range.step } else { value }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn range(low: f64, high: f64, step: f64) -> Range {
        Range { low, high, step }
    }

    #[test]
    fn neighbours_are_found_in_single_values_intervals_and_steps() {
        let values = [range(20e6, 20e6, 0.0), range(25e6, 25e6, 0.0)];
        assert_eq!(around(&values, 22e6), [Some(20e6), Some(25e6)]);
        assert_eq!(around(&values, 30e6), [Some(25e6), None]);
        assert_eq!(around(&[range(1e6, 2e6, 0.0)], 1.5e6), [Some(1.5e6), Some(1.5e6)]);
        assert_eq!(around(&[range(1e6, 2e6, 0.25e6)], 1.6e6), [Some(1.5e6), Some(1.75e6)]);
        assert_eq!(around(&[], 1e6), [None, None]);
        assert_eq!(around(&values, f64::NAN), [None, None]);
        assert_eq!((ends(&values), ends(&[])), (Some((20e6, 25e6)), None));
    }

    proptest! {
        #[test]
        fn neighbours_enclose_the_value(low in 0.0_f64..1e6, width in 0.0_f64..1e6, step in 0.0_f64..1e5, value in -1e6_f64..3e6) {
            let ranges = [range(low, low + width, step)];
            let [below, above] = around(&ranges, value);
            prop_assert!(below.is_none_or(|below| below <= value + 1e-6), "{below:?}");
            prop_assert!(above.is_none_or(|above| above >= value - 1e-6), "{above:?}");
            prop_assert!(below.is_some() || above.is_some());
        }
    }
}
