//! The algorithms by themselves; what they come to together is in `tests/mapping.rs`.

use proptest::prelude::*;
use takt_graph::{Graph, Latency};

use super::problem::Problem;
use super::state::State;
use super::{greedy, search, trellis};
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

fn problem(graph: &Graph, platform: &Platform, ns: &[u64]) -> Problem {
    let little = |class: usize| platform.classes()[class].name == "little";
    let cost = |component: usize, class: usize| ns[component] * if little(class) { 3 } else { 1 };
    Problem::new(graph, platform, Latency::Compact, cost, |_| None)
}

proptest! {
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
        let digits = |code: usize| -> Vec<usize> { (0..groups as u32).map(|d| code / cores.pow(d) % cores).collect() };
        let best = (0..cores.pow(groups as u32)).map(|code| State::of(&problem, &digits(code)).period_ns()).min();
        let found = trellis::trellis(&problem, cores, groups).expect("no cycle, no pin");
        prop_assert_eq!(Some(found.period_ns()), best);
        prop_assert!(trellis::trellis(&problem, cores, 1).expect("no cycle, no pin").period_ns() >= found.period_ns());
    }
}
