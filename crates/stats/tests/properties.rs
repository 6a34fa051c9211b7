//! Rules for all rounds whatsoever: nothing that is not finite comes out, scale and order do not matter.

use proptest::prelude::*;
use takt_stats::*;

/// Any double at all, the odd ones included.
fn any_rounds() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![any::<f64>(), -1e3..1e3, Just(0.0), Just(1.0)], 0..12)
}

/// Rounds as they are measured.
fn measured() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.001..1e6_f64, 8..14)
}

fn is_sound(e: Estimate) -> bool {
    let finite = [e.low(), e.point(), e.high()].iter().all(|x| x.is_finite());
    finite && e.low() <= e.point() && e.point() <= e.high() && !e.to_string().contains("NaN")
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn same(a: Option<Estimate>, b: Option<Estimate>, scale: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            close(a.point() * scale, b.point()) && close(a.low() * scale, b.low()) && close(a.high() * scale, b.high())
        }
        (None, None) => true,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn nothing_but_sound_estimates_comes_out(a in any_rounds(), b in any_rounds(), level in -0.5..1.5_f64) {
        let all = [mean(&a, level), median(&a, level), ratio(&a, &b, level), drift(&a, level),
                   compare(&a, &b, level).map(|c| c.ratio()), contrast(&a, &b, level).map(|c| c.estimate()), proportion(a.len(), b.len(), level)];
        prop_assert!(all.into_iter().flatten().all(is_sound), "{all:?}");
        prop_assert!(lag1_autocorrelation(&a).is_none_or(f64::is_finite));
        prop_assert!(order_warning(&a).is_none_or(|w| !w.to_string().contains("NaN")));
        prop_assert!(clean_rounds(a.len(), b.len(), level).is_none_or(|c| c.up_to > 0.0 && c.up_to <= 1.0));
        prop_assert!(five_numbers(&a).is_none_or(|f| f.min <= f.q1 && f.q1 <= f.median && f.median <= f.q3 && f.q3 <= f.max));
        prop_assert!(ecdf(&a).iter().all(|p| p.value.is_finite() && p.share > 0.0 && p.share <= 1.0));
    }

    #[test]
    fn the_unit_of_the_rounds_is_the_unit_of_the_answer(a in measured(), exponent in -20..20_i32) {
        let scale = 2_f64.powi(exponent);       // exact in binary, so that ties stay ties
        let scaled: Vec<f64> = a.iter().map(|x| x * scale).collect();
        prop_assert!(same(mean(&a, 0.95), mean(&scaled, 0.95), scale));
        prop_assert!(same(median(&a, 0.95), median(&scaled, 0.95), scale));
        prop_assert!(same(ratio(&a, &a, 0.95), ratio(&scaled, &a, 0.95), scale));
        prop_assert!(same(drift(&a, 0.95), drift(&scaled, 0.95), scale));
    }

    #[test]
    fn the_order_of_independent_rounds_changes_nothing((a, shuffled) in measured().prop_flat_map(|a| (Just(a.clone()), Just(a).prop_shuffle()))) {
        prop_assert!(same(mean(&a, 0.95), mean(&shuffled, 0.95), 1.0));
        prop_assert_eq!(median(&a, 0.95), median(&shuffled, 0.95));
        let ones = vec![1.0; a.len()];
        prop_assert_eq!(ratio(&a, &ones, 0.95), ratio(&shuffled, &ones, 0.95));
    }

    #[test]
    fn a_higher_level_is_never_narrower(a in measured()) {
        for f in [mean, median] {
            let (narrow, wide) = (f(&a, 0.8).unwrap(), f(&a, 0.99).unwrap());
            prop_assert!(wide.low() <= narrow.low() && narrow.high() <= wide.high());
        }
    }

    #[test]
    fn swapping_the_two_sides_mirrors_a_comparison(a in measured(), noise in prop::collection::vec(0.8..1.25_f64, 14)) {
        let b: Vec<f64> = a.iter().zip(&noise).map(|(a, n)| a * n).collect();
        let (ab, ba) = (compare(&a, &b, 0.02).unwrap(), compare(&b, &a, 0.02).unwrap());
        prop_assert!(close(ab.ratio().point() * ba.ratio().point(), 1.0));
        let mirrored = matches!((ab, ba),
            (Comparison::Less { .. }, Comparison::More { .. }) | (Comparison::More { .. }, Comparison::Less { .. })
            | (Comparison::Same { .. }, Comparison::Same { .. }) | (Comparison::Undecided { .. }, Comparison::Undecided { .. }));
        prop_assert!(mirrored, "{ab:?} {ba:?}");
    }

    #[test]
    fn a_histogram_knows_its_values_to_one_part_in_a_thousand(values in prop::collection::vec(0..1u64 << 40, 1..200), q in 0.0..=1.0_f64) {
        let mut h = Histogram::<Ns>::with_bound(1 << 39);
        values.iter().for_each(|&v| h.record_saturating(v));
        let mut sorted = values;
        sorted.sort_unstable();
        let rank = ((q * sorted.len() as f64).ceil() as usize).max(1);
        let exact = sorted[rank - 1];
        match h.quantile(q) {
            Some(got) => prop_assert!(got >= exact && got as f64 <= exact as f64 * 1.001 + 1.0, "{} for {}", got, exact),
            None => prop_assert!(exact > h.bound()),
        }
        prop_assert_eq!((h.min(), h.max()), (sorted.first().copied(), sorted.last().copied()));
        let json = serde_json::to_string(&h).unwrap();
        prop_assert_eq!(serde_json::from_str::<Histogram<Ns>>(&json).unwrap(), h);
    }
}
