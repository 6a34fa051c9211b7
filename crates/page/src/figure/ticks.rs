//! Round numbers for axes.

/// Multiples of 1, 2, 2.5 or 5 times a power of ten that cover `low` to `high` in about `want` steps; the first is at
/// most `low`, the last at least `high`. Empty unless `low < high` and both are finite.
pub(crate) fn linear(low: f64, high: f64, want: usize) -> Vec<f64> {
    let width = high - low;
    if !(width.is_finite() && width > 0.0) {
        return Vec::new();
    }
    let raw = width / want.max(1) as f64;
    let decade = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * decade).find(|s| *s >= raw * 0.999);
    let Some(step) = step.filter(|s| *s > 0.0 && s.is_finite()) else { return Vec::new() };
    let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    let count = (last - first).clamp(0.0, 100.0) as usize;
    (0..=count).map(|i| (first + i as f64) * step).collect()
}

/// Ticks for a logarithmic axis that cover `low` to `high`: 1, 2, 5 or 1, 3 or 1 of each decade, as many as `most`
/// allows; the powers of ten alone if even they are more. Empty unless 0 < low <= high.
pub(crate) fn log(low: f64, high: f64, most: usize) -> Vec<f64> {
    let fine: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let tries = fine.map(|within| decades(low, high, within));
    let [.., powers] = &tries;
    let coarsest = powers.clone();
    tries.into_iter().find(|ticks| ticks.len() <= most).unwrap_or(coarsest)
}

/// `within` times each power of ten, from the last at most `low` to the first at least `high`.
fn decades(low: f64, high: f64, within: &[f64]) -> Vec<f64> {
    if !(low > 0.0 && low <= high && high.is_finite()) {
        return Vec::new();
    }
    let (first, last) = ((low.log10() + 1e-9).floor() as i32, (high.log10() - 1e-9).ceil() as i32);
    // dividing by a power of ten rounds once, so that 0.3 is the 0.3 that people write
    let times = |m: f64, e: i32| if e < 0 { m / 10_f64.powi(-e) } else { m * 10_f64.powi(e) };
    let mut ticks: Vec<f64> = (first..=last).flat_map(|e| within.iter().map(move |m| times(*m, e))).collect();
    let from = ticks.iter().rposition(|t| *t <= low * 1.000_001).unwrap_or(0);
    let upto = ticks.iter().position(|t| *t >= high * 0.999_999).unwrap_or(ticks.len() - 1);
    ticks.truncate(upto.max(from) + 1);
    ticks.split_off(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_cover_the_range() {
        assert_eq!(linear(0.0, 25.0, 5), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);
        assert_eq!(linear(0.0, 0.97, 4), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(linear(41.0, 58.0, 4), [40.0, 45.0, 50.0, 55.0, 60.0]);
        assert_eq!(linear(1.0, 1.0, 5), Vec::<f64>::new());
        assert_eq!(linear(0.0, f64::INFINITY, 5), Vec::<f64>::new());
    }

    #[test]
    fn log_ticks_are_as_fine_as_there_is_room() {
        assert_eq!(log(0.03, 40.0, 6), [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(log(0.03, 40.0, 10), [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]);
        assert_eq!(log(15.0, 180.0, 6), [10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(log(0.0, 1.0, 5), Vec::<f64>::new());
        assert_eq!(log(10.0, 10.0, 5), [10.0]);
    }
}
