//! Chains against brute force, and the published schedules of a DVB-S2 receiver.

use proptest::prelude::*;
use takt_mapper::chain::{Chain, Class, Task, fertac, herad, otac};

/// Shortest period, by trying every first stage, class and core count.
fn brute(chain: &Chain, start: usize, big: usize, little: usize) -> f64 {
    let all = chain.tasks().len();
    if start == all {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for end in start + 1..=all {
        for (class, have) in [(Class::Big, big), (Class::Little, little)] {
            let most = if chain.replicable(start..end) { have } else { have.min(1) };
            for cores in 1..=most {
                let load = chain.load(class, start..end, cores);
                let rest = match class {
                    Class::Big => brute(chain, end, big - cores, little),
                    Class::Little => brute(chain, end, big, little - cores),
                };
                best = best.min(load.max(rest));
            }
        }
    }
    best
}

/// Whether a cut within the period exists.
fn possible(chain: &Chain, period: f64, start: usize, big: usize, little: usize) -> bool {
    start == chain.tasks().len()
        || (start + 1..=chain.tasks().len()).any(|end| {
            let fits = |class, cores| chain.load(class, start..end, cores) <= period * (1.0 + 1e-9);
            let most = |have: usize| if chain.replicable(start..end) { have } else { have.min(1) };
            (1..=most(big)).any(|n| fits(Class::Big, n) && possible(chain, period, end, big - n, little))
                || (1..=most(little)).any(|n| fits(Class::Little, n) && possible(chain, period, end, big, little - n))
        })
}

fn chains() -> impl Strategy<Value = Chain> {
    let task = (0..60_u32, 0..90_u32, any::<bool>()).prop_map(|(b, l, r)| Task::new(b.into(), l.into(), r));
    prop::collection::vec(task, 1..6).prop_map(Chain::new)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.max(1.0)
}

proptest! {
    #[test]
    fn herad_and_otac_are_as_good_as_brute_force_and_fertac_never_better(
        chain in chains(), big in 0..4_usize, little in 0..4_usize
    ) {
        prop_assume!(big + little > 0);
        let best = brute(&chain, 0, big, little);
        let found = herad(&chain, big, little).expect("a schedule");
        prop_assert!(close(found.period(), best), "{} {best} {chain:?}", found.period());
        let used = found.cores(Class::Big);
        prop_assert!(used == 0 || !possible(&chain, best, 0, used - 1, little), "{used} big cores are too many");
        for (class, cores) in [(Class::Big, big), (Class::Little, little)] {
            let best = if class == Class::Big { brute(&chain, 0, cores, 0) } else { brute(&chain, 0, 0, cores) };
            match otac(&chain, class, cores) {
                Some(found) => prop_assert!(close(found.period(), best), "{} {best} {chain:?}", found.period()),
                None => prop_assert_eq!(cores, 0),
            }
        }
        if let Some(found) = fertac(&chain, big, little) {
            prop_assert!(found.period() >= best * (1.0 - 1e-9));
        }
    }

    #[test]
    fn any_times_end_in_a_schedule_of_the_whole_chain(
        times in prop::collection::vec((any::<f64>(), any::<f64>(), any::<bool>()), 0..30), big in 0..40_usize, little in 0..40_usize
    ) {
        let chain = Chain::new(times.into_iter().map(|(b, l, r)| Task::new(b % 1e15, l % 1e15, r)).collect());
        for schedule in [herad(&chain, big, little), fertac(&chain, big, little), otac(&chain, Class::Big, big)].into_iter().flatten() {
            prop_assert_eq!(schedule.stages().last().map(|stage| stage.tasks.end), Some(chain.tasks().len()));
        }
        prop_assert_eq!(herad(&chain, big, little).is_some(), !chain.tasks().is_empty() && big + little > 0);
    }
}

/// Times of 23 tasks and which may be copied: `examples/dvbs2_*.cpp` of aff3ct/amp-scheduling, MIT licence; see
/// `tests/data/README.md`.
const REPLICABLE: [usize; 10] = [10, 12, 13, 14, 15, 16, 17, 18, 19, 22];
const ULTRA9: [[u32; 23]; 2] = [
    [
        13165, 13832, 11369, 33479, 32930, 134190, 5868, 6345, 36593, 8108, 2510, 5428, 25384, 4744, 3243, 212307,
        2925, 23965, 620900, 55896, 3461, 1690, 922,
    ],
    [
        13322, 31806, 42897, 71190, 71259, 238711, 13513, 15739, 84809, 19793, 6594, 20318, 35620, 8772, 6543, 574244,
        4758, 102437, 816617, 62183, 7559, 2339, 2047,
    ],
];
const M1: [[u32; 23]; 2] = [
    [
        5232, 7521, 9644, 31890, 31505, 95059, 5545, 3712, 36102, 5288, 1602, 5045, 9920, 2336, 4047, 225749, 2108,
        15318, 333986, 19167, 954, 404, 947,
    ],
    [
        24827, 14994, 49664, 90290, 88316, 146887, 10595, 7541, 106466, 16912, 6102, 24712, 59782, 6508, 6535, 483864,
        5838, 50670, 730349, 46486, 3334, 1357, 2100,
    ],
];

#[test]
fn a_dvb_s2_receiver_gets_the_published_periods_on_four_platforms() {
    // HeRAD, FERTAC, OTAC on big cores, OTAC on little ones, in ns.
    let published = [
        (ULTRA9, (6, 8), [134_190, 155_225, 286_699, 374_514]),
        (ULTRA9, (3, 4), [272_206, 286_699, 620_900, 749_028]),
        (M1, (16, 4), [95_059, 95_059, 95_059, 647_088]),
        (M1, (8, 2), [112_874, 126_564, 144_290, 1_144_000]),
    ];
    for (times, (big, little), expected) in published {
        let task = |i: usize| Task::new(times[0][i].into(), times[1][i].into(), REPLICABLE.contains(&i));
        let chain = Chain::new((0..23).map(task).collect());
        let found = [
            herad(&chain, big, little),
            fertac(&chain, big, little),
            otac(&chain, Class::Big, big),
            otac(&chain, Class::Little, little),
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            let period = found.expect("a schedule").period();
            // One figure was published with four digits.
            assert!((period - f64::from(expected)).abs() < f64::from(expected) * 5e-5 + 1.0, "{period} {expected}");
        }
    }
}
