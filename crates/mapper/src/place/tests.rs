//! The algorithms by themselves; what they come to together is in `tests/together/mapping.rs`.

use proptest::prelude::*;
use takt_graph::{Graph, Latency};

use super::problem::{NEVER, Problem};
use super::state::State;
use super::{exact, greedy, search, trellis};
use crate::common::{graph, graphs};
use crate::platform::{ClassSpec, CoresSpec, NodeSpec, Platform, PlatformSpec};

/// `big` cores and `little` ones, on which everything takes three times as long; what they hand each other is limited.
fn platform(big: u32, little: u32) -> Platform {
    let cores = |class: &str, cpus: std::ops::Range<u32>| CoresSpec { class: class.to_owned(), cpus: cpus.collect() };
    let spec = PlatformSpec {
        name: "bed".to_owned(),
        class: ["big", "little"].map(|name| (name.to_owned(), ClassSpec::default())).into(),
        node: vec![NodeSpec {
            name: "n".to_owned(),
            bytes_per_s: Some(2e10),
            cores: vec![cores("big", 0..big), cores("little", big..big + little)],
        }],
        link: Vec::new(),
    };
    spec.check().expect("a platform")
}

/// Machines with so many cores each, that no link joins and that know no limit.
fn parted(cores: &[u32]) -> Platform {
    let node = |(n, &cores): (usize, &u32)| NodeSpec {
        name: format!("n{n}"),
        bytes_per_s: None,
        cores: vec![CoresSpec { class: "big".to_owned(), cpus: (0..cores).collect() }],
    };
    let spec = PlatformSpec {
        name: "parted".to_owned(),
        class: [("big".to_owned(), ClassSpec::default())].into(),
        node: cores.iter().enumerate().map(node).collect(),
        link: Vec::new(),
    };
    spec.check().expect("a platform")
}

/// The shortest period of all placements.
fn brute(problem: &Problem) -> u64 {
    let (cores, groups) = (problem.kind_of.len(), problem.groups.len());
    let digits = |code: usize| -> Vec<usize> { (0..groups as u32).map(|d| code / cores.pow(d) % cores).collect() };
    (0..cores.pow(groups as u32)).map(|code| State::of(problem, &digits(code)).period_ns()).min().expect("a core")
}

fn problem(graph: &Graph, platform: &Platform, ns: &[u64]) -> Problem {
    let little = |class: usize| platform.classes()[class].name == "little";
    let cost = |component: usize, class: usize| ns[component] * if little(class) { 3 } else { 1 };
    Problem::new(graph, platform, Latency::Compact, cost, |_| None)
}

#[test]
fn branch_and_bound_parts_nothing_that_no_link_joins() {
    let (graph, platform) = (graph(&[100; 2], &[(0, 1, 0)]).expect("legal"), parted(&[1, 1]));
    let problem = problem(&graph, &platform, &[50, 50]);
    let found = exact::search(&problem, 2, NEVER, 50, 1000);
    let placed = found.placed.expect("one machine can have both");
    assert_eq!((State::of(&problem, &placed).period_ns(), found.proven), (100, true));
}

#[test] // a sum overflowed
fn what_can_be_on_no_core_is_on_none() {
    let graph = graph(&[100; 2], &[(0, 1, 0)]).expect("legal");
    let nowhere = |_| Some(0);
    let problem = Problem::new(&graph, &parted(&[0, 2]), Latency::Compact, |_, _| 50, nowhere);
    for best_ns in [1000, NEVER] {
        let found = exact::search(&problem, 2, best_ns, 0, 1000);
        assert_eq!((found.placed, found.proven), (None, true), "below {best_ns} ns");
    }
}

#[test] // the room of all cores overflowed, and nothing was looked for
fn without_a_best_period_one_is_found() {
    let (graph, platform) = (graph(&[100; 2], &[(0, 1, 0)]).expect("legal"), parted(&[2]));
    let problem = problem(&graph, &platform, &[50, 50]);
    let placed = exact::search(&problem, 2, NEVER, 0, 1000).placed.expect("there is room");
    assert_eq!(State::of(&problem, &placed).period_ns(), 50);
}

proptest! {
    #[test]
    fn branch_and_bound_by_itself_finds_the_best_where_no_link_joins_machines(
        (ns, bytes, links) in graphs(1..7), cores in prop::collection::vec(1..3_u32, 2..4)
    ) {
        let forward: Vec<_> = links.into_iter().filter(|link| link.0 < link.1).collect();
        let (graph, platform) = (graph(&bytes, &forward).expect("legal"), parted(&cores));
        let problem = problem(&graph, &platform, &ns);
        let found = exact::search(&problem, problem.kind_of.len(), NEVER, 0, u64::MAX);
        let placed = found.placed.expect("one machine can have all");
        prop_assert_eq!((State::of(&problem, &placed).period_ns(), found.proven), (brute(&problem), true));
    }

    #[test]
    fn local_search_never_leads_to_a_longer_period_and_settling_never_to_more_traffic(
        (ns, bytes, links) in graphs(1..14), big in 1..4_u32, little in 0..3_u32
    ) {
        let (graph, platform) = (graph(&bytes, &links).expect("legal"), platform(big, little));
        let problem = problem(&graph, &platform, &ns);
        let cores = problem.kind_of.len();
        let starts = [
            greedy::cut(&problem, cores),
            greedy::largest_first(&problem, cores),
            trellis::trellis(&problem, cores, 1),
            trellis::trellis(&problem, cores, 2),
            Some(State::of(&problem, &vec![0; problem.groups.len()])),
        ];
        for mut state in starts.into_iter().flatten() {
            prop_assert!(state.legal());
            let before = state.score();
            search::improve(&mut state, cores);
            prop_assert!(state.score() <= before && state.legal());
            prop_assert_eq!(state.score(), State::of(&problem, &state.placed).score(), "sums went astray");
            let (period_ns, crossing) = (state.period_ns(), state.crossing);
            search::settle(&mut state, cores);
            prop_assert!(state.period_ns() <= period_ns && state.crossing <= crossing && state.legal());
        }
    }

    #[test]
    fn a_trellis_whose_window_is_the_whole_chain_is_exhaustive(
        (ns, bytes, links) in graphs(1..6), big in 1..3_u32, little in 0..2_u32
    ) {
        let forward: Vec<_> = links.into_iter().filter(|link| link.0 < link.1).collect();
        let (graph, platform) = (graph(&bytes, &forward).expect("legal"), platform(big, little));
        let problem = problem(&graph, &platform, &ns);
        let (cores, groups) = (problem.kind_of.len(), problem.groups.len());
        let found = trellis::trellis(&problem, cores, groups).expect("no cycle, no pin");
        prop_assert_eq!(found.period_ns(), brute(&problem));
        prop_assert!(trellis::trellis(&problem, cores, 1).expect("no cycle, no pin").period_ns() >= found.period_ns());
    }
}
