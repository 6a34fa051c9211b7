//! Mappings against brute force, and what must hold for all of them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use takt_graph::{Graph, Latency, Plan};
use takt_mapper::{
    Capacities, ClassSpec, CoreLoad, CoresSpec, Costs, Effort, LinkSpec, MapError, Mapping, NodeSpec, Objective,
    Platform, PlatformSpec, Remedy, map,
};

use crate::common::{Link, costs, graph, graphs, isolated};

const MAC: [(&str, f64); 2] = [("big", 4e9), ("little", 1.3e9)];

/// Machines with cores of class `big` or `little`; a link joins each to the next, or none does.
#[derive(Clone, Debug)]
struct Bed {
    /// For each machine its cores, `true` = big, and what they can hand each other.
    nodes: Vec<(Vec<bool>, Option<f64>)>,
    links: Vec<Option<f64>>,
    slot_ns: u64,
    call_ns: u64,
}

impl Bed {
    fn platform(&self) -> Platform {
        let class = |mac_per_s| ClassSpec {
            slot_ns: self.slot_ns,
            call_ns: self.call_ns,
            capacities: Some(Capacities { mac_per_s, work_per_s: None }),
            prices: None,
        };
        let cores = |cores: &[bool]| {
            let one = |(cpu, &big): (usize, &bool)| CoresSpec {
                class: MAC[usize::from(!big)].0.to_owned(),
                cpus: vec![cpu as u32],
            };
            cores.iter().enumerate().map(one).collect()
        };
        let node = |(n, (on, bytes_per_s)): (usize, &(Vec<bool>, Option<f64>))| NodeSpec {
            name: format!("n{n}"),
            bytes_per_s: *bytes_per_s,
            cores: cores(on),
        };
        let link = |(n, bytes_per_s): (usize, &Option<f64>)| {
            let between = [format!("n{n}"), format!("n{}", n + 1)];
            bytes_per_s.map(|bytes_per_s| LinkSpec { between, bytes_per_s, delay_slots: 1 })
        };
        let spec = PlatformSpec {
            name: "bed".to_owned(),
            class: MAC.map(|(name, mac)| (name.to_owned(), class(mac))).into(),
            node: self.nodes.iter().enumerate().map(node).collect(),
            link: self.links.iter().enumerate().filter_map(link).collect(),
        };
        spec.check().expect("a platform")
    }

    /// Node and class of each core.
    fn cores(&self) -> Vec<(usize, bool)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(|(n, (cores, _))| cores.iter().map(move |&big| (n, big))).collect()
    }

    /// The period of a placement, worked out from the definition; `None` if it is none. `on`: the core of each component, then
    /// those of the processes of isolated ones.
    fn period(&self, graph: &Graph, ns: &[u64], on: &[usize]) -> Option<u64> {
        let (on, processes) = on.split_at(ns.len());
        Plan::assign(graph, on, Latency::Compact).ok()?;
        let cores = self.cores();
        let mut work = vec![None; cores.len()];
        let mut add = |core: usize, ns: u64| *work[core].get_or_insert(self.slot_ns) += ns;
        let time = |c: usize, core: usize| match cores[core].1 {
            true => ns[c],
            false => (ns[c] as f64 * MAC[0].1 / MAC[1].1).ceil() as u64,
        };
        for (c, &core) in on.iter().enumerate() {
            let here = if graph.components()[c].isolated { 0 } else { time(c, core) };
            add(core, here + self.call_ns);
        }
        for (c, &core) in apart(graph).into_iter().zip(processes) {
            if cores[core].0 != cores[on[c]].0 {
                return None;
            }
            add(core, time(c, core));
        }
        let load = work.into_iter().flatten();
        let mut ways = BTreeMap::<(usize, usize), (u64, f64)>::new();
        for link in graph.links() {
            let (from, to) = (on[link.from.component], on[link.to.component]);
            let (a, b) = (cores[from].0, cores[to].0);
            let rate = match a.abs_diff(b) {
                0 if from == to => continue,
                0 => self.nodes[a].1.unwrap_or(f64::INFINITY),
                1 => self.links[a.min(b)]?,
                _ => return None,
            };
            ways.entry((a, b)).or_insert((0, rate)).0 += link.bytes_max();
        }
        let ways = ways.values().map(|&(bytes, rate)| (bytes as f64 * 1e9 / rate).ceil() as u64);
        load.chain(ways).max()
    }

    fn brute(&self, graph: &Graph, ns: &[u64]) -> Option<u64> {
        let (cores, n) = (self.cores().len(), ns.len() + apart(graph).len());
        let digits = |code: usize| -> Vec<usize> { (0..n as u32).map(|d| code / cores.pow(d) % cores).collect() };
        (0..cores.pow(n as u32)).filter_map(|code| self.period(graph, ns, &digits(code))).min()
    }
}

fn beds() -> impl Strategy<Value = Bed> {
    let rate = 1e8..1e10_f64;
    let perhaps = || prop::option::of(rate.clone());
    let node = move |most| prop::collection::vec(any::<bool>(), 1..=most);
    let one = prop::collection::vec((node(4), perhaps()), 1);
    let many = prop::collection::vec((node(2), perhaps()), 2..=3);
    // No limit anywhere, and no link: all that there is between the machines is that nothing can pass.
    let parted = prop::collection::vec((node(2), Just(None)), 2..=3).prop_map(|nodes| (nodes, vec![None; 2]));
    let links = || prop::collection::vec(perhaps(), 2);
    let beds = prop_oneof![(one, links()), (many, links()), parted];
    (beds, 0..20_u64, 0..5_u64).prop_map(|((nodes, mut links), slot_ns, call_ns)| {
        links.truncate(nodes.len() - 1);
        Bed { nodes, links, slot_ns, call_ns }
    })
}

fn wide(effort: Effort, latency: Latency) -> Objective {
    Objective { slot_ns: Some(60_000_000_000), use_at_most: 1.0, effort, latency, ..Objective::default() }
}

fn referenced(ns: &[u64]) -> Costs {
    Costs { capacities: Some(Capacities { mac_per_s: MAC[0].1, work_per_s: None }), ..costs(ns) }
}

/// `n` big cores on one machine.
fn host(n: usize) -> Bed {
    Bed { nodes: vec![(vec![true; n], None)], links: Vec::new(), slot_ns: 3, call_ns: 1 }
}

/// The placement of a mapping: the core of each component, then those of processes.
fn placed(graph: &Graph, mapping: &Mapping) -> Vec<usize> {
    let workers = (0..graph.components().len()).map(|c| mapping.cores[mapping.plan.worker_of(c)]);
    workers.chain(apart(graph).iter().map(|c| mapping.process_cores[&format!("c{c}")])).collect()
}

/// Isolated components.
fn apart(graph: &Graph) -> Vec<usize> {
    (0..graph.components().len()).filter(|&c| graph.components()[c].isolated).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_exact_mapping_is_as_good_as_brute_force_and_no_bound_is_above_it(
        bed in beds(), (ns, bytes, links) in graphs(1..7), fixed in any::<bool>(), apart in prop::option::of(0..7_usize)
    ) {
        // An isolated component may leave a cycle no slot to work in.
        let alone = graph(&bytes, &links).expect("legal");
        let graph = apart.and_then(|c| isolated(&bytes, &links, &[c]).ok()).unwrap_or(alone);
        let latency = if fixed { Latency::Fixed } else { Latency::Compact };
        let best = bed.brute(&graph, &ns).expect("one core can have all");
        let exact = Effort::Exact { steps: u64::MAX };
        let mapping = map(&graph, &referenced(&ns), &bed.platform(), &wide(exact, latency)).expect("wide");
        prop_assert_eq!(mapping.period_ns, best);
        prop_assert!(mapping.optimal && mapping.gap() == 0.0);
        prop_assert!(mapping.bound_ns <= best, "{:?} {best}", mapping.bounds);
        prop_assert_eq!(bed.period(&graph, &ns, &placed(&graph, &mapping)), Some(best));
        prop_assert_eq!(mapping.latency_slots, mapping.plan.latency_slots());
    }

    #[test]
    fn every_effort_gives_a_legal_plan_with_the_period_it_claims_and_more_effort_is_never_worse(
        bed in beds(), (ns, bytes, links) in graphs(1..16), fixed in any::<bool>(),
        apart in prop::collection::vec(0..16_usize, 0..3)
    ) {
        let alone = graph(&bytes, &links).expect("legal");
        let graph = isolated(&bytes, &links, &apart).unwrap_or(alone);
        let latency = if fixed { Latency::Fixed } else { Latency::Compact };
        let mut before = u64::MAX;
        for effort in [Effort::Greedy, Effort::Search, Effort::Exact { steps: 1000 }] {
            let objective = wide(effort, latency);
            let mapping = map(&graph, &referenced(&ns), &bed.platform(), &objective).expect("wide");
            prop_assert_eq!(bed.period(&graph, &ns, &placed(&graph, &mapping)), Some(mapping.period_ns));
            prop_assert_eq!(mapping.latency_slots, mapping.plan.latency_slots());
            prop_assert!(mapping.bound_ns <= mapping.period_ns && mapping.period_ns <= before, "{effort:?}");
            before = mapping.period_ns;
            for next in &mapping.next {
                let a_move = matches!(next.change, takt_mapper::Change::Move { .. });
                prop_assert!(!a_move || next.period_ns >= mapping.bound_ns);
            }
            prop_assert_eq!(&map(&graph, &referenced(&ns), &bed.platform(), &objective).expect("wide"), &mapping);
        }
    }

    #[test]
    fn more_cores_are_never_worse((ns, bytes, links) in graphs(1..16), steps in prop_oneof![Just(0), 1..2000_u64]) {
        let graph = graph(&bytes, &links).expect("legal");
        let objective = wide(Effort::Exact { steps }, Latency::Compact);
        let mut before = u64::MAX;
        for cores in 1..8 {
            let mapping = map(&graph, &costs(&ns), &host(cores).platform(), &objective).expect("wide");
            prop_assert!(mapping.period_ns <= before, "{cores} cores");
            before = mapping.period_ns;
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_the_remedies_help(
        cores in 1..4_usize, (ns, bytes, links) in graphs(1..7), slot_ns in 1..600_u64, share in 0.3..1.0_f64
    ) {
        let (graph, bed) = (graph(&bytes, &links).expect("legal"), host(cores));
        let best = bed.brute(&graph, &ns).expect("one core can have all");
        let objective = Objective { slot_ns: Some(slot_ns), use_at_most: share, ..Objective::default() };
        match map(&graph, &costs(&ns), &bed.platform(), &objective) {
            Ok(mapping) => prop_assert!(best <= mapping.allowed_ns && mapping.period_ns <= mapping.allowed_ns),
            Err(MapError::Infeasible(why)) => {
                prop_assert!(why.proven && best > why.allowed_ns && why.best_ns == Some(best), "{why:?} {best}");
                prop_assert!(!why.to_string().is_empty() && !why.fix().is_empty());
                for remedy in &why.remedies {
                    let (mut bed, mut objective) = (bed.clone(), objective.clone());
                    let mut ns = ns.clone();
                    match remedy {
                        Remedy::Slot { slot_ns } => objective.slot_ns = Some(*slot_ns),
                        Remedy::Cores { cores } => bed = host(*cores),
                        Remedy::Faster { times } => {
                            bed.slot_ns = 0;
                            bed.call_ns = 0;
                            ns = ns.iter().map(|&ns| (ns as f64 / times) as u64).collect();
                        }
                        Remedy::Bandwidth { .. } => prop_assert!(false, "there is no link"),
                    }
                    let helped = map(&graph, &costs(&ns), &bed.platform(), &objective);
                    prop_assert!(helped.is_ok(), "{remedy:?} {helped:?}");
                }
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn pins_hold_or_nothing_is_given(bed in beds(), (ns, bytes, links) in graphs(2..7), pins in prop::collection::vec((0..7_usize, 0..3_usize), 0..4)) {
        let graph = graph(&bytes, &links).expect("legal");
        let node = |n: usize| n % bed.nodes.len();
        let pins: BTreeMap<usize, usize> = pins.into_iter().map(|(c, n)| (c % ns.len(), node(n))).collect();
        let names = pins.iter().map(|(c, n)| (format!("c{c}"), format!("n{n}"))).collect();
        let objective = Objective { pins: names, ..wide(Effort::Exact { steps: u64::MAX }, Latency::Compact) };
        let cores = bed.cores();
        let kept = |on: &[usize]| pins.iter().all(|(&c, &n)| cores[on[c]].0 == n);
        let all = cores.len().pow(ns.len() as u32);
        let digits = |code: usize| -> Vec<usize> { (0..ns.len() as u32).map(|d| code / cores.len().pow(d) % cores.len()).collect() };
        let best = (0..all).map(digits).filter(|on| kept(on)).filter_map(|on| bed.period(&graph, &ns, &on)).min();
        match map(&graph, &referenced(&ns), &bed.platform(), &objective) {
            Ok(mapping) => {
                prop_assert!(kept(&placed(&graph, &mapping)));
                prop_assert_eq!(Some(mapping.period_ns), best);
                prop_assert!(mapping.bound_ns <= mapping.period_ns);
            }
            Err(error) => prop_assert_eq!(best, None, "{}", error),
        }
    }
}

fn refused(ns: &[u64], links: &[Link], cores: usize, slot_ns: u64) -> String {
    let graph = graph(&vec![100; ns.len()], links).expect("legal");
    let bed = Bed { slot_ns: 0, call_ns: 0, ..host(cores) };
    let objective = Objective { slot_ns: Some(slot_ns), ..Objective::default() };
    let error = map(&graph, &costs(ns), &bed.platform(), &objective).expect_err("refused");
    format!("{error} | {}", error.fix())
}

#[test]
fn an_error_says_what_binds_by_how_much_and_what_would_help() {
    assert_eq!(
        refused(&[90_000, 10_000], &[(0, 1, 0)], 2, 100_000),
        "component `c0` takes 90 µs on a core of class big, which has 70 µs | a slot of 129 µs, or cores 1.29 times as fast"
    );
    assert_eq!(
        refused(&[40_000, 40_500], &[(0, 1, 0), (1, 0, 1)], 2, 100_000),
        "the cycle of `c0`, `c1` has one slot of delay, so it stays on one core: it takes 80.5 µs on one of class big, \
         which has 70 µs | a slot of 115 µs, or cores 1.15 times as fast"
    );
    assert_eq!(
        refused(&[60_000, 50_000, 40_000], &[(0, 1, 0)], 2, 100_000),
        "all components together take 150 µs of a slot, and 2 cores have 140 µs | a slot of 129 µs, or cores 1.29 times as \
         fast, or 3 cores"
    );
    // Eleven parts of 12 µs: six of them share a core, though 132 µs are less than two cores have.
    assert_eq!(
        refused(&[12_000; 11], &[], 2, 100_000),
        "no placement fits: the best one needs 72 µs of a core or link, which has 70 µs | a slot of 103 µs, or cores 1.03 \
         times as fast, or 3 cores"
    );
    // A cycle of two slots may be parted, once.
    let graph = graph(&[100; 2], &[(0, 1, 0), (1, 0, 2)]).expect("legal");
    let mapping = map(&graph, &costs(&[40_000, 40_000]), &host(2).platform(), &wide(Effort::default(), Latency::Fixed));
    assert_eq!(mapping.expect("wide").plan.workers().len(), 2);
}

#[test]
fn a_link_that_must_carry_too_much_is_named_with_the_bandwidth_it_takes() {
    let graph = graph(&[1000, 1], &[(0, 1, 0)]).expect("legal");
    let bed =
        Bed { nodes: vec![(vec![true], None), (vec![true], None)], links: vec![Some(10e6)], slot_ns: 0, call_ns: 0 };
    let pins = BTreeMap::from([("c0".to_owned(), "n0".to_owned()), ("c1".to_owned(), "n1".to_owned())]);
    let objective = Objective { slot_ns: Some(100_000), pins, ..Objective::default() };
    let error = map(&graph, &costs(&[10, 10]), &bed.platform(), &objective).expect_err("100 µs of 70");
    assert_eq!(
        format!("{error} | {}", error.fix()),
        "1000 bytes a slot must pass from `n0` to `n1`; that takes 100 µs of 70 µs | a slot of 143 µs, or links 1.43 times \
         as fast"
    );
    let parted = Bed { links: Vec::new(), ..bed };
    let error = map(&graph, &costs(&[10, 10]), &parted.platform(), &objective).expect_err("no link");
    assert_eq!(
        format!("{error} | {}", error.fix()),
        "components pinned to nodes `n0` and `n1` talk to each other, and no link joins the two | pin both ends to one node, \
         or link the nodes"
    );
}

#[test]
fn a_share_so_small_that_no_slot_would_do_leaves_the_other_remedies() {
    let graph = graph(&[100], &[]).expect("legal");
    let bed = Bed { slot_ns: 0, call_ns: 0, ..host(1) };
    for (use_at_most, slot_ns) in [(1e-6, Some(50_000_000_000_000)), (1e-12, None), (f64::MIN_POSITIVE, None)] {
        let objective = Objective { slot_ns: Some(100_000), use_at_most, ..Objective::default() };
        let error = map(&graph, &costs(&[50_000_000]), &bed.platform(), &objective).expect_err("no room");
        let MapError::Infeasible(why) = error else { panic!("{error}") };
        let slot = |remedy: &Remedy| if let Remedy::Slot { slot_ns } = remedy { Some(*slot_ns) } else { None };
        assert_eq!(why.remedies.iter().find_map(slot), slot_ns, "{use_at_most}");
        assert!(why.remedies.iter().any(|remedy| matches!(remedy, Remedy::Faster { .. })));
    }
}

#[test]
fn what_is_not_known_is_named() {
    let graph = graph(&[1, 1], &[(0, 1, 0)]).expect("legal");
    let refusal = |costs: &Costs, objective: &Objective| {
        let bed = Bed { nodes: vec![(vec![false], None)], ..host(1) };
        let error = map(&graph, costs, &bed.platform(), objective).expect_err("not known");
        format!("{error} | {}", error.fix())
    };
    let objective = Objective::default();
    assert_eq!(
        refusal(&costs(&[5]), &objective),
        "the costs come from `big`, and the platform does not say how `little` compares | calibrate both `big` and \
         `little`, or measure the costs on `little`"
    );
    assert_eq!(
        refusal(&referenced(&[5]), &objective),
        "takt does not know the cost of `c1` | measure it by running the waveform, or declare `budget` in \
         [component.c1]"
    );
    let pins = BTreeMap::from([("c0".to_owned(), "n00".to_owned())]);
    assert_eq!(
        refusal(&referenced(&[5, 5]), &Objective { pins, ..Objective::default() }),
        "a pin names node `n00`, which does not exist | did you mean `n0`?"
    );
    let share = Objective { use_at_most: 1.5, ..Objective::default() };
    assert_eq!(
        refusal(&referenced(&[5, 5]), &share),
        "the share of a slot can't be 1.5 | give a share above 0 and up to 1"
    );
}

#[test]
fn hops_between_machines_count_at_their_own_delay() {
    let graph = graph(&[1, 1, 1], &[(0, 1, 0), (1, 2, 0)]).expect("legal");
    let bed =
        Bed { nodes: vec![(vec![true], None), (vec![true], None)], links: vec![Some(1e9)], slot_ns: 0, call_ns: 0 };
    let mut spec = PlatformSpec::host("big", ClassSpec::default(), &[0]);
    spec.node = [0, 1].map(|n| NodeSpec { name: format!("n{n}"), ..spec.node[0].clone() }).to_vec();
    spec.link = vec![LinkSpec { between: ["n1".to_owned(), "n0".to_owned()], bytes_per_s: 1e9, delay_slots: 4 }];
    let platform = spec.check().expect("a platform");
    let objective = wide(Effort::default(), Latency::Compact);
    let far = map(&graph, &costs(&[10, 10, 10]), &platform, &objective).expect("wide");
    let near = map(&graph, &costs(&[10, 10, 10]), &bed.platform(), &objective).expect("wide");
    assert_eq!((near.latency_slots, near.period_ns), (1, 20), "one hop of one slot");
    assert_eq!((far.latency_slots, far.period_ns, far.plan.latency_slots()), (4, 20, 1), "one hop of four");
}

#[test]
fn an_isolated_component_takes_a_slot_more_and_its_time_on_another_core() {
    let graph = isolated(&[100; 3], &[(0, 1, 0), (1, 2, 0)], &[1]).expect("legal");
    let bed = Bed { slot_ns: 0, call_ns: 5, ..host(2) };
    let objective = Objective { slot_ns: Some(100_000), latency: Latency::Compact, ..Objective::default() };
    let mapping = map(&graph, &costs(&[20_000, 60_000, 20_000]), &bed.platform(), &objective).expect("it fits");
    assert_eq!((mapping.period_ns, mapping.latency_slots, mapping.plan.latency_slots()), (60_000, 1, 1));
    assert!(mapping.optimal);
    let load = |load: &CoreLoad| (load.load_ns, load.components.join(" "), load.processes.join(" "));
    let loads: Vec<_> = mapping.core_loads.iter().map(load).collect();
    assert_eq!(loads, [(40_015, "c0 c1 c2".into(), "".into()), (60_000, "".into(), "c1".into())]);
    assert_eq!((mapping.cores.len(), mapping.process_cores["c1"] != mapping.cores[0]), (1, true));
    // With nowhere else to go it shares the core, and no longer fits.
    let one = host(1).platform();
    let error = map(&graph, &costs(&[20_000, 60_000, 20_000]), &one, &objective).expect_err("100 µs of 70");
    assert!(error.to_string().contains("all components together take 100.003 µs of a slot"), "{error}");
}

#[test]
fn a_mapping_is_shown_as_a_table_a_person_can_review() {
    // A receiver: 8 components in a chain, 3 cores of two classes.
    let ns = [20_000, 35_000, 60_000, 15_000, 80_000, 10_000, 40_000, 5_000];
    let links: Vec<Link> = (0..7).map(|c| (c, c + 1, 0)).collect();
    let graph = graph(&[1000; 8], &links).expect("legal");
    let bed = Bed { nodes: vec![(vec![true, true, false], None)], links: Vec::new(), slot_ns: 1000, call_ns: 40 };
    let objective = Objective { slot_ns: Some(200_000), latency: Latency::Compact, ..Objective::default() };
    let mapping = map(&graph, &referenced(&ns), &bed.platform(), &objective).expect("it fits");
    let table: Vec<String> = mapping
        .core_loads
        .iter()
        .map(|CoreLoad { core, class, load_ns, share, components, .. }| {
            format!("{core} {class} {load_ns:6} ns {:4.1} %  {}", 100.0 * share, components.join(" "))
        })
        .collect();
    let next: Vec<String> = mapping
        .next
        .iter()
        .map(|next| format!("{:?} -> {} ns, {} slots", next.change, next.period_ns, next.latency_slots))
        .collect();
    let text = format!(
        "period {} ns, bound {} ns, gap {:.3}, optimal {}, latency {} slots\n{}\n{}\n",
        mapping.period_ns,
        mapping.bound_ns,
        mapping.gap(),
        mapping.optimal,
        mapping.latency_slots,
        table.join("\n"),
        next.join("\n")
    );
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/receiver.txt");
    if std::env::var_os("TAKT_BLESS").is_some() {
        std::fs::write(file, &text).expect("written");
    }
    assert_eq!(text, std::fs::read_to_string(file).expect("TAKT_BLESS=1 writes it"));
}
