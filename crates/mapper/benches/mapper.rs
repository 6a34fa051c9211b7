//! How long mapping takes: `cargo bench -p takt-mapper`. 20 components, 8 cores, medians and 90 % quantiles over 100 random
//! instances; the floor beside them is one pass of additions over the table of costs, 20 x 8, in the same run.
//!
//! Goals: 20 us greedy, 5 ms optimal. Published for 20 tasks on other machines: OTAC 8 us, FERTAC 10 us, HeRAD 1.5 ms.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

#[path = "../../../tests/support/bench.rs"]
mod bench;
#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use takt_graph::Graph;
use takt_mapper::chain::{Chain, Class, Task, fertac, herad, otac};
use takt_mapper::{
    Capacities, ClassSpec, CoresSpec, Costs, Effort, Mapping, NodeSpec, Objective, Platform, PlatformSpec, Work,
    calibrate, map,
};

const COMPONENTS: usize = 20;

/// A generator that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Median and 90 % quantile over instances of the fastest of some rounds, ns.
fn time<T>(rounds: usize, instances: &[T], mut f: impl FnMut(&T)) -> (u128, u128) {
    let mut all: Vec<u128> = instances
        .iter()
        .map(|instance| {
            let once = |_| {
                let start = Instant::now();
                f(black_box(instance));
                start.elapsed().as_nanos()
            };
            (0..rounds).map(once).min().unwrap_or(0)
        })
        .collect();
    all.sort_unstable();
    (all[all.len() / 2], all[all.len() * 9 / 10])
}

fn print(what: &str, (median, high): (u128, u128)) {
    println!("{what:58} {:10.2} us {:10.2} us", median as f64 / 1e3, high as f64 / 1e3);
}

fn times(random: &mut Random) -> Vec<u64> {
    (0..COMPONENTS).map(|_| 1000 + random.below(100_000)).collect()
}

fn chains(instances: u64) -> Vec<Chain> {
    let one = |seed| {
        let mut random = Random(seed);
        let task = |_| {
            let big = (1 + random.below(100)) as f64;
            Task::new(big, (big * (1.0 + random.below(400) as f64 / 100.0)).ceil(), random.below(2) == 0)
        };
        Chain::new((0..COMPONENTS).map(task).collect())
    };
    (0..instances).map(one).collect()
}

/// A chain, or one with ten links more that skip components and a loop of one slot of delay.
fn graphs(instances: u64, chain: bool) -> Vec<(Graph, Costs)> {
    let one = |seed| {
        let mut random = Random(seed);
        let mut links: Vec<common::Link> = (1..COMPONENTS).map(|c| (c - 1, c, 0)).collect();
        if !chain {
            links.extend((0..10).map(|_| {
                let from = random.below(18) as usize;
                (from, from + 2 + random.below(18 - from as u64) as usize, 0)
            }));
            let from = 3 + random.below(17) as usize;
            links.push((from, from - 1 - random.below(2) as usize, 1));
        }
        let graph = common::graph(&[1000; COMPONENTS], &links).expect("legal");
        let capacities = Some(Capacities { mac_per_s: 2e9, work_per_s: None });
        (graph, Costs { capacities, ..common::costs(&times(&mut random)) })
    };
    (0..instances).map(one).collect()
}

fn platform(big: u32, little: u32) -> Platform {
    let class =
        |mac_per_s| ClassSpec { capacities: Some(Capacities { mac_per_s, work_per_s: None }), ..ClassSpec::default() };
    let cores = |class: &str, cpus: std::ops::Range<u32>| CoresSpec { class: class.to_owned(), cpus: cpus.collect() };
    let spec = PlatformSpec {
        name: "bench".to_owned(),
        class: [("big".to_owned(), class(2e9)), ("little".to_owned(), class(0.8e9))].into(),
        node: vec![NodeSpec {
            name: "n".to_owned(),
            bytes_per_s: None,
            cores: vec![cores("big", 0..big), cores("little", big..big + little)],
        }],
        link: Vec::new(),
    };
    spec.check().expect("a platform")
}

/// Times of the kernels on this machine; not a measure of takt, but of whether the kernels are what they are named.
fn calibration() {
    let clock = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    };
    let start = Instant::now();
    let capacities = calibrate(clock).expect("the clock goes");
    assert_eq!(capacities.wrong(), None);
    println!("\ncalibration took {} ms; {:.3} GMAC/s", start.elapsed().as_millis(), capacities.mac_per_s / 1e9);
    for work in Work::ALL {
        let rate = capacities.work_per_s.map_or(0.0, |rates| rates.get(work));
        println!("    {:16} {:8.3} G/s", work.name(), rate / 1e9);
    }
}

fn main() {
    // Instances, and rounds of each; where it need only run, one.
    let (instances, rounds) = if bench::measures() { (100, 3) } else { (1, 1) };
    println!("{COMPONENTS} components, 8 cores, {instances} instances       {:24} median          90 %", "");
    let tables: Vec<Vec<u64>> =
        (0..instances).map(|seed| (0..8).flat_map(|_| times(&mut Random(seed))).collect()).collect();
    print("floor: one pass over the costs", time(rounds, &tables, |costs| _ = black_box(costs.iter().sum::<u64>())));
    let chains = chains(instances);
    print("chain, replicable: OTAC, 8 cores", time(rounds, &chains, |chain| _ = black_box(otac(chain, Class::Big, 8))));
    print("chain, replicable: FERTAC, 4 + 4 cores", time(rounds, &chains, |chain| _ = black_box(fertac(chain, 4, 4))));
    print("chain, replicable: exact, 4 + 4 cores", time(rounds, &chains, |chain| _ = black_box(herad(chain, 4, 4))));
    print(
        "chain, replicable: exact, 20 + 20 cores",
        time(rounds, &chains, |chain| _ = black_box(herad(chain, 20, 20))),
    );
    for (of, chain) in [("chain", true), ("graph", false)] {
        let graphs = graphs(instances, chain);
        for (on, platform) in [("8", platform(8, 0)), ("4 + 4", platform(4, 4))] {
            for (name, effort) in
                [("greedy", Effort::Greedy), ("search", Effort::Search), ("exact ", Effort::default())]
            {
                let objective =
                    Objective { slot_ns: Some(u64::MAX >> 8), use_at_most: 1.0, effort, ..Objective::default() };
                let mapped =
                    |(graph, costs): &(Graph, Costs)| map(graph, costs, &platform, &objective).expect("it fits");
                print(
                    &format!("map, {of}, {on} cores, {name}"),
                    time(rounds, &graphs, |both| _ = black_box(mapped(both))),
                );
                let all: Vec<Mapping> = graphs.iter().map(mapped).collect();
                let optimal = all.iter().filter(|mapping| mapping.optimal).count();
                let gap = all.iter().map(Mapping::gap).sum::<f64>() / all.len() as f64;
                println!("    proven optimal {optimal} of {instances}, mean gap {:.2} %", 100.0 * gap);
            }
        }
    }
    calibration();
}
