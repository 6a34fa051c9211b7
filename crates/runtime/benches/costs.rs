//! Cost of the runtime: `cargo bench -p takt-runtime`. Five questions, each beside its floor, measured in the same run
//! in turns A B A B; medians of rounds. Times of a shared machine mean little, their ratio and the floor mean more.
//!
//! 1. A component call with statistics, on one core, slot by slot and in bursts. Floor of the former: a bare loop over
//!    `Box<dyn Fn>` with one read of the time-stamp counter and a histogram record. A burst reads the counter once.
//! 2. The base of a slot: what is left of a slot with one component when the call is taken off.
//! 3. A hand-over between two cores that both watch. Floor: half a round trip through two `rtrb` rings.
//! 4. The base of a slot under a clock whose edges are always due. Floor: the looks at the clock that it takes.
//! 5. A slot with an isolated component, its answer waited for. Floor: a round trip through two `rtrb` rings.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

#[path = "../../../tests/support/bench.rs"]
mod bench;
#[path = "support/nulls.rs"]
mod nulls;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_graph::{ComponentSpec, Graph, Kind, Latency, Plan, Shape, Waveform};
use takt_runtime::{
    Component, Edges, Io, Isolation, Registration, Registry, Session, SessionOptions, Sleeper, SlotClock, component,
};
use takt_stats::{Histogram, Ns};

use nulls::{blank, chain};

/// Rounds, and slots of each; where it need only run, one of a few.
const MEASURED: (usize, u64) = (9, 200_000);
const SHORT: (usize, u64) = (1, 100);
/// Slots of a burst.
const BURST: u64 = 16;
/// A process that has not answered for so long hangs, however busy the machine is.
const HANG: Duration = Duration::from_secs(300);

fn rounds_and_slots() -> (usize, u64) {
    static CHOSEN: OnceLock<(usize, u64)> = OnceLock::new();
    *CHOSEN.get_or_init(|| if bench::measures() { MEASURED } else { SHORT })
}

fn slots() -> u64 {
    rounds_and_slots().1
}

/// Touches no item: the cost of calling.
struct Idle;
impl Component for Idle {
    fn tick(&mut self, io: &mut Io<'_>) {
        black_box(io.slot);
    }
}

/// The same, which a process of its own knows, too.
#[component]
fn alone(slot: u64) {
    black_box(slot);
}

fn registry() -> Registry {
    let mut registry = nulls::registry();
    let idle =
        Registration { kind: || Kind::new("idle", ""), shape: |_| Ok(Shape::new()), make: |_| Ok(Box::new(Idle)) };
    registry.add(idle).expect("one name each");
    registry
}

/// Nanoseconds a slot of a waveform on one plan.
fn ns_per_slot(waveform: &Waveform, worker_of: &[usize], cores: &[usize]) -> f64 {
    ns_per_slot_of(&registry(), waveform, worker_of, cores, SlotClock::Free)
}

/// The same in bursts, on one core.
fn ns_per_slot_in_bursts(waveform: &Waveform, components: usize, cores: &[usize]) -> f64 {
    let options = SessionOptions { burst: BURST, ..options(cores, SlotClock::Free) };
    ns_per_slot_with(options, &registry(), waveform, &vec![0; components])
}

fn ns_per_slot_of(
    registry: &Registry,
    waveform: &Waveform,
    worker_of: &[usize],
    cores: &[usize],
    clock: SlotClock,
) -> f64 {
    ns_per_slot_with(options(cores, clock), registry, waveform, worker_of)
}

fn options(cores: &[usize], clock: SlotClock) -> SessionOptions {
    let isolation = Isolation { start: HANG, hang: HANG, ..Isolation::default() };
    SessionOptions {
        slots: Some(slots()),
        hash: false,
        cores: cores.to_vec(),
        clock,
        isolation,
        ..SessionOptions::default()
    }
}

fn ns_per_slot_with(options: SessionOptions, registry: &Registry, waveform: &Waveform, worker_of: &[usize]) -> f64 {
    let graph = Graph::check(waveform, registry).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::assign(&graph, worker_of, Latency::Compact).unwrap_or_else(|error| panic!("{error}"));
    let session = Session::open(&graph, &plan, registry, options).expect("opened");
    let running = session.start_paused(&Stop::new()).expect("started");
    std::thread::sleep(Duration::from_millis(5));
    let start = Instant::now();
    let report = running.join();
    assert_eq!((report.slots, report.misses), (slots(), 0));
    start.elapsed().as_nanos() as f64 / slots() as f64
}

/// Each slot begins at once, and ends in a long time.
struct Due;
impl Edges for Due {
    fn due(&self, _: u64) -> MonoNs {
        MonoNs(u64::MAX / 2)
    }
    fn slot_at(&self, _: MonoNs) -> u64 {
        0
    }
    fn wait(&self, _: u64, sleeper: &mut Sleeper, stop: &Stop) -> Option<MonoNs> {
        sleeper.wait_until(MonoNs(1), stop)
    }
}

/// The looks at the clock of a timed slot, in an empty loop.
fn floor_of_a_timed_slot() -> f64 {
    let (mut x, start) = (0, Instant::now());
    for _ in 0..slots() {
        x ^= WallClock.now().0;
        x ^= WallClock.now().0;
    }
    black_box(x);
    start.elapsed().as_nanos() as f64 / slots() as f64
}

fn idles(count: usize) -> Waveform {
    (0..count).fold(blank(), |waveform, n| waveform.with(ComponentSpec::new(&format!("i{n}"), "idle")))
}

/// A bare loop that does what statistics need and nothing else: nanoseconds a call.
fn floor_of_a_call() -> f64 {
    let clock = quanta::Clock::new();
    let mut x = 0_u64;
    let mut calls: Vec<Box<dyn FnMut(u64)>> = (0..16).map(|_| Box::new(|n: u64| _ = black_box(n)) as _).collect();
    let mut histograms = vec![Histogram::<Ns>::with_bound(1_000_000_000); calls.len()];
    let start = Instant::now();
    let mut before = clock.raw();
    for slot in 0..slots() {
        for (call, histogram) in calls.iter_mut().zip(&mut histograms) {
            call(slot);
            let now = clock.raw();
            let ns = clock.delta_as_nanos(before, now);
            before = now;
            histogram.record_saturating(ns);
            x = x.wrapping_add(ns);
        }
    }
    black_box(x);
    start.elapsed().as_nanos() as f64 / (slots() * 16) as f64
}

/// Half a round trip between two pinned threads: `ping` makes one, `echo` the other side of it.
fn half_a_round_trip(cores: &[usize], mut ping: impl FnMut(u64) + Send, mut echo: impl FnMut(u64) + Send) -> f64 {
    let (here, there) = (cores[0], cores[1]);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = takt_host::affinity::pin_self(&[there]);
            (0..slots()).for_each(&mut echo);
        });
        let timed = scope.spawn(move || {
            let _ = takt_host::affinity::pin_self(&[here]);
            let start = Instant::now();
            (0..slots()).for_each(&mut ping);
            start.elapsed().as_nanos() as f64 / (2 * slots()) as f64
        });
        timed.join().expect("no panic")
    })
}

/// Through rings of one word.
fn hand_over_by_rtrb(cores: &[usize]) -> f64 {
    let (mut ping, mut ping_out) = rtrb::RingBuffer::<u64>::new(2);
    let (mut pong, mut pong_out) = rtrb::RingBuffer::<u64>::new(2);
    let pop = |queue: &mut rtrb::Consumer<u64>| loop {
        match queue.pop() {
            Ok(word) => return word,
            Err(_) => std::hint::spin_loop(),
        }
    };
    let there_and_back = move |word| {
        let _ = ping.push(word);
        black_box(pop(&mut pong_out));
    };
    half_a_round_trip(cores, there_and_back, move |_| _ = pong.push(pop(&mut ping_out)))
}

/// The same through this crate's links: nanoseconds a hand-over of one word.
fn hand_over(cores: &[usize]) -> f64 {
    use takt_runtime::ring::{Reader, Writer, ring};
    fn put(writer: &mut Writer<u64>, slot: u64) {
        while !writer.free(slot) {
            std::hint::spin_loop();
        }
        if let Some(cell) = writer.cell(slot) {
            *cell = slot;
        }
        writer.publish(slot);
    }
    fn take(reader: &mut Reader<u64>, slot: u64) -> u64 {
        while !reader.ready(slot) {
            std::hint::spin_loop();
        }
        let word = reader.cell(slot).copied().unwrap_or(0);
        reader.release(slot + 1);
        word
    }
    let (mut ping, mut ping_out) = ring([0_u64; 4], 1);
    let (mut pong, mut pong_out) = ring([0_u64; 4], 1);
    let there_and_back = move |slot| {
        put(&mut ping, slot);
        black_box(take(&mut pong_out[0], slot));
    };
    let echo = move |slot| {
        take(&mut ping_out[0], slot);
        put(&mut pong, slot);
    };
    half_a_round_trip(cores, there_and_back, echo)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    takt_runtime::isolated::serve_if_asked();
    let program = Registry::of_program().expect("one name each");
    let cores = takt_host::affinity::own_cpus();
    let one = &cores[..1];
    let mut rounds: [Vec<f64>; 11] = Default::default();
    let (count, slots) = rounds_and_slots();
    for _ in 0..count {
        let (short, long) = (chain(4), chain(20));
        let (few, many) = (idles(1), idles(17));
        rounds[0].push(floor_of_a_call());
        rounds[1].push((ns_per_slot(&many, &[0; 17], one) - ns_per_slot(&few, &[0; 1], one)) / 16.0);
        rounds[2].push((ns_per_slot(&long, &[0; 22], one) - ns_per_slot(&short, &[0; 6], one)) / 16.0);
        rounds[10].push((ns_per_slot_in_bursts(&long, 22, one) - ns_per_slot_in_bursts(&short, 6, one)) / 16.0);
        let call = rounds[1].last().copied().unwrap_or(0.0);
        rounds[3].push(ns_per_slot(&few, &[0; 1], one) - call);
        rounds[7].push(floor_of_a_timed_slot());
        rounds[8].push(ns_per_slot_of(&registry(), &few, &[0; 1], one, SlotClock::Edges(Arc::new(Due))) - call);
        if cores.len() >= 2 {
            let two = &cores[..2];
            let cycle = blank().with(ComponentSpec::new("a", "null")).with(ComponentSpec::new("b", "null"));
            let cycle = cycle.delayed("a", "b", 1).delayed("b", "a", 1);
            // Each slot of either needs the other's last: one hand-over a slot.
            rounds[4].push(hand_over_by_rtrb(two));
            rounds[5].push(ns_per_slot(&cycle, &[0, 1], two));
            rounds[6].push(hand_over(two));
            let isolated = blank().with(ComponentSpec::new("i", "alone").isolated());
            rounds[9].push(ns_per_slot_of(&program, &isolated, &[0], one, SlotClock::Free));
        }
    }
    let [floor, call, linked, base, ring, slot, link, looks, timed, round_trip, bursts] =
        rounds.map(|values| if values.is_empty() { f64::NAN } else { median(values) });
    println!("median of {count} rounds of {slots} slots             measured      floor       goal");
    println!("component call with statistics, no port      {call:7.1} ns {floor:7.1} ns      40 ns");
    println!("the same with one link in and one out        {linked:7.1} ns {floor:7.1} ns");
    println!("the same in bursts of {BURST}                     {bursts:7.1} ns");
    println!("base of a slot, one worker                   {base:7.1} ns                1000 ns");
    println!("base of a slot under a clock, one worker     {timed:7.1} ns {looks:7.1} ns    1000 ns");
    println!("hand-over between cores, one word            {link:7.1} ns                 250 ns");
    println!("the same through a ring of rtrb             {ring:7.1} ns");
    println!("a slot with an isolated component, in all   {round_trip:7.1} ns");
    println!("slot of two workers in lock step, in all   {slot:7.1} ns");
}
