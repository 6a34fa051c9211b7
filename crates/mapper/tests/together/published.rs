//! Periods of the 9 000 published cases, chain by chain: see `tests/data/README.md`.

use takt_mapper::chain::{Chain, Class, Schedule, Task, fertac, herad, otac};

const DATA: &str = include_str!("../data/amp-scheduling.csv");
/// Big and little cores of the three platforms, in the order of the file.
const PLATFORMS: [(usize, usize); 3] = [(16, 4), (10, 10), (4, 16)];

struct Case {
    name: String,
    chain: Chain,
    cores: (usize, usize),
    /// HeRAD, FERTAC, OTAC on big cores, OTAC on little cores.
    published: [f64; 4],
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(|word| word.parse().expect("a number")).collect()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let (mut seed, mut big, mut little) = ("", Vec::new(), Vec::new());
    for line in DATA.lines() {
        let words: Vec<&str> = line.split(',').collect();
        match words[..] {
            ["chain", s, b, l] => (seed, big, little) = (s, numbers(b), numbers(l)),
            [states, periods] => {
                let times = big.iter().zip(&little).zip(states.chars());
                let tasks = times.map(|((&big, &little), state)| Task::new(big, little, state == 'r')).collect();
                let chain = Chain::new(tasks);
                for (published, cores) in numbers(periods).chunks(4).zip(PLATFORMS) {
                    let published = published.try_into().expect("four algorithms");
                    cases.push(Case {
                        name: format!("seed {seed}, {states}, {cores:?}"),
                        chain: chain.clone(),
                        cores,
                        published,
                    });
                }
            }
            _ => panic!("{line}"),
        }
    }
    assert_eq!(cases.len(), 9000);
    cases
}

/// The file has six digits.
fn equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * b
}

/// Its stages are the chain, use no more cores than there are, and have the loads they claim.
fn holds(schedule: &Schedule, case: &Case, cores: (usize, usize)) {
    let mut next = 0;
    for stage in schedule.stages() {
        assert_eq!(stage.tasks.start, next, "{}", case.name);
        assert!(stage.cores == 1 || case.chain.replicable(stage.tasks.clone()), "{}", case.name);
        let tasks = &case.chain.tasks()[stage.tasks.clone()];
        let sum: f64 = tasks.iter().map(|task| if stage.class == Class::Big { task.big } else { task.little }).sum();
        assert!(equal(sum / stage.cores as f64, stage.load), "{}: {stage:?}", case.name);
        next = stage.tasks.end;
    }
    assert_eq!(next, case.chain.tasks().len(), "{}", case.name);
    assert!(schedule.cores(Class::Big) <= cores.0 && schedule.cores(Class::Little) <= cores.1, "{}", case.name);
}

/// An algorithm for two classes has the period in this column on all cases.
fn has_the_published_period(column: usize, algorithm: fn(&Chain, usize, usize) -> Option<Schedule>) {
    for case in cases() {
        let found = algorithm(&case.chain, case.cores.0, case.cores.1).expect("a schedule");
        holds(&found, &case, case.cores);
        assert!(
            equal(found.period(), case.published[column]),
            "{}: {} {:?}",
            case.name,
            found.period(),
            case.published
        );
    }
}

#[test]
fn herad_has_the_published_optimum_on_all_cases() {
    has_the_published_period(0, herad);
}

#[test]
fn fertac_has_the_published_period_on_all_cases() {
    has_the_published_period(1, fertac);
}

#[test]
fn otac_has_the_published_period_and_that_of_the_exact_programme_on_both_classes_of_all_cases() {
    for case in cases() {
        for (class, cores, published) in
            [(Class::Big, case.cores.0, case.published[2]), (Class::Little, case.cores.1, case.published[3])]
        {
            let found = otac(&case.chain, class, cores).expect("a schedule");
            holds(&found, &case, if class == Class::Big { (cores, 0) } else { (0, cores) });
            assert!(equal(found.period(), published), "{}: {} {published}", case.name, found.period());
            let exact = if class == Class::Big { herad(&case.chain, cores, 0) } else { herad(&case.chain, 0, cores) };
            assert!(equal(found.period(), exact.expect("a schedule").period()), "{}", case.name);
        }
    }
}
