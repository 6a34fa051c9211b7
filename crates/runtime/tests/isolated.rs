//! Isolated components: what they compute is the same, and what they break costs their slots and nothing else.
//!
//! The process of an isolated component is this program again, which asks so first thing in `main`: hence no harness.

#[path = "../examples/library.rs"]
mod linked;

#[path = "../../../tests/support/allocations.rs"]
mod allocations;
#[path = "common/strace.rs"]
mod strace;

use std::io::{Seek, SeekFrom, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use takt_base::Stop;
use takt_graph::{ComponentSpec, Graph, Kind, Latency, MissPolicy, Plan, Shape, Value, Waveform};
use takt_runtime::{
    Component, ComponentReport, Culprit, Io, Isolation, LogOptions, Message, MissKind, OpenError, Options,
    Registration, Registry, Report, Session, SlotClock, component,
};

/// Does harm in one slot; otherwise it passes on.
#[component]
fn harm(
    slot: u64,
    input: In<f32>,
    mut output: Out<f32>,
    #[param(choice = ["none", "abort", "hang", "late", "garbage", "exit"], default = "none")] how: String,
    #[param(default = 0)] at: u64,
) {
    output.copy_from_slice(&input);
    if slot == at {
        match how.as_str() {
            "abort" => std::process::abort(),
            "exit" => std::process::exit(0),
            "hang" => std::thread::sleep(Duration::from_secs(3600)),
            "late" => std::thread::sleep(Duration::from_millis(50)),
            "garbage" => garbage(),
            _ => {}
        }
    }
}

/// Writes over everything that is shared with the program.
fn garbage() {
    let mut shared = std::fs::OpenOptions::new().write(true).open("/proc/self/fd/0").expect("the shared memory");
    let size = shared.metadata().expect("a file").len();
    let mut state = 0x1234_5678_9abc_def1_u64;
    // All but the counters of requests first, then those as well.
    for start in [384, 0] {
        shared.seek(SeekFrom::Start(start)).expect("a place in it");
        for _ in 0..(size - start) / 8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = if state >> 61 == 0 { u64::MAX } else { state >> (state >> 58) };
            shared.write_all(&word.to_le_bytes()).expect("writable");
        }
    }
}

/// Ends its process when it is made.
struct Stillborn;

#[component(name = "stillborn")]
impl Stillborn {
    fn new() -> Stillborn {
        // In the program itself it is made, in a process of its own it is not.
        if std::env::args().nth(1).is_some_and(|argument| argument == "--takt-isolated-component") {
            std::process::abort();
        }
        Stillborn
    }
    fn tick(&mut self, input: In<f32>) {
        let _ = input;
    }
}

#[derive(Default)]
struct Meter {
    sum: f32,
    factor: f32,
    heard: i64,
}

/// Sums up, passes on times a variable plus what it was told, and tells the sum.
#[component]
impl Meter {
    fn new(#[param(default = 1.0, variable)] factor: f32) -> Meter {
        Meter { factor, ..Meter::default() }
    }
    fn tick(&mut self, input: In<f32>, mut output: Out<f32>, outbox: &mut Outbox<'_>) {
        self.sum += input.iter().sum::<f32>() % 17.0;
        output.iter_mut().zip(input).for_each(|(y, x)| *y = x * self.factor + self.sum);
        outbox.send(Message { tag: 0, words: [self.sum.to_bits().into(); 7] });
    }
    fn set_factor(&mut self, factor: f32) {
        self.factor = factor;
    }
    fn factor(&self) -> f32 {
        self.factor
    }
    fn message(&mut self, message: &Message) {
        self.heard += 1;
        self.sum = (self.sum + f32::from_bits(message.words[0] as u32)) % 1000.0;
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("heard", self.heard.into()), ("factor", f64::from(self.factor).into())]
    }
}

fn spec(name: &str, kind: &str) -> ComponentSpec {
    ComponentSpec::new(name, kind)
}

fn registry() -> Registry {
    Registry::of_program().expect("one name each")
}

fn check(waveform: &Waveform) -> Graph {
    Graph::check(waveform, &registry()).unwrap_or_else(|error| panic!("{error}; {}", error.fix()))
}

fn options(slots: u64) -> Options {
    // A panic that prints its backtrace takes a busy machine seconds: that is no hang.
    let isolation = Isolation { hang: Duration::from_secs(60), ..Isolation::default() };
    Options { slots: Some(slots), isolation, ..Options::default() }
}

/// [`options`] where a process does hang.
fn impatient(slots: Option<u64>) -> Options {
    let isolation = Isolation { hang: Duration::from_secs(1), ..Isolation::default() };
    Options { slots, isolation, ..Options::default() }
}

fn open(graph: &Graph, plan: &Plan, options: Options) -> Session {
    Session::open(graph, plan, &registry(), options)
        .unwrap_or_else(|error| panic!("{error}: {}", std::error::Error::source(&error).expect("a cause")))
}

fn assign(graph: &Graph, worker_of: &[usize], latency: Latency) -> Plan {
    Plan::assign(graph, worker_of, latency).unwrap_or_else(|error| panic!("{error}; {}", error.fix()))
}

fn of<'a>(report: &'a Report, name: &str) -> &'a ComponentReport {
    report.components.iter().find(|c| c.name == name).expect("there")
}

/// A source of varying packets, a history, an in-place component, messages on a cycle, a variable; `isolated` are so.
fn all_sorts(isolated: &[&str]) -> Graph {
    let mut made = Waveform::new("all-sorts", Duration::from_millis(1))
        .with(spec("source", "library-source").param("items", 100))
        .with(spec("average", "library-average").param("window", 5).param("panic_in", 60))
        .with(spec("negate", "library-negate"))
        .with(spec("meter", "meter"))
        .with(spec("other", "meter"))
        .with(spec("sink", "library-sink"))
        .chain(["source", "average", "negate", "meter", "other", "sink"])
        .message("meter", "other", 1)
        .message("other", "meter", 6);
    for component in &mut made.components {
        component.isolated = isolated.contains(&component.name.as_str());
    }
    check(&made)
}

fn run_all_sorts(graph: &Graph, plan: &Plan, virtually: bool) -> Report {
    let session = open(graph, plan, options(200));
    if virtually {
        return session.simulate();
    }
    let mut running = session.start_paused(&Stop::new()).expect("starts");
    running.set(&registry(), "meter", "factor", &2.5.into(), 50).expect("a variable");
    running.tell("meter", Message { tag: 1, words: [7; 7] }, 70).expect("room");
    running.join()
}

fn what_is_computed_is_the_same_isolated_or_not_in_every_plan() {
    let plain = all_sorts(&[]);
    let reference = run_all_sorts(&plain, &Plan::single(&plain, Latency::Compact), false);
    let virtual_reference = run_all_sorts(&plain, &Plan::single(&plain, Latency::Compact), true);
    assert!(reference.output_hash.is_some());
    let sets: [&[&str]; 5] = [
        &["average"],
        &["negate"],
        &["source", "sink"],
        &["meter", "other"],
        &["source", "average", "negate", "meter"],
    ];
    for isolated in sets {
        let graph = all_sorts(isolated);
        for (worker_of, latency) in [
            ([0; 6], Latency::Compact),
            ([0; 6], Latency::Fixed),
            ([0, 1, 0, 1, 0, 1], Latency::Compact),
            ([1, 0, 0, 1, 1, 0], Latency::Fixed),
        ] {
            let plan = assign(&graph, &worker_of, latency);
            let report = run_all_sorts(&graph, &plan, false);
            assert_eq!(report.output_hash, reference.output_hash, "{isolated:?} {worker_of:?} {latency:?}");
            for (one, other) in report.components.iter().zip(&reference.components) {
                assert_eq!((one.executions, one.missed, one.faults), (200, 0, other.faults), "{}", one.name);
                assert_eq!(one.results, other.results, "{} of {isolated:?}", one.name);
            }
        }
        let plan = assign(&graph, &[0, 1, 0, 1, 0, 1], Latency::Compact);
        assert_eq!(run_all_sorts(&graph, &plan, true).output_hash, virtual_reference.output_hash);
    }
}

fn a_component_of_a_library_is_isolated_as_any() {
    let library = library();
    let mut all = Registry::empty();
    all.load(&library).expect("loads");
    let made = |isolated: bool| {
        let mut waveform = Waveform::new("library", Duration::from_millis(1))
            .with(spec("a", "library-source"))
            .with(spec("b", "library-saxpy"))
            .with(spec("z", "library-sink"))
            .chain(["a", "b", "z"]);
        waveform.components[1].isolated = isolated;
        let graph = Graph::check(&waveform, &all).unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan::single(&graph, Latency::Compact);
        Session::open(&graph, &plan, &all, options(100)).expect("opens").run(&Stop::new()).expect("starts").output_hash
    };
    assert!(made(true).is_some());
    assert_eq!(made(true), made(false));
}

fn library() -> std::path::PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["build", "-p", "takt-runtime", "--example", "library", "--message-format=json"];
    let built = Command::new(cargo).args(arguments).output().expect("cargo is where it was");
    let told = String::from_utf8(built.stdout).expect("JSON");
    let file = |line: &str| -> Option<std::path::PathBuf> {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = line["target"]["kind"][0] == "example" && line["target"]["name"] == "library";
        is_it.then(|| line["filenames"][0].as_str().map(Into::into))?
    };
    told.lines().find_map(file).expect("a library was built")
}

/// a -> h (isolated, does harm) -> y, and b -> n -> z beside it.
fn harmed(how: &str, policy: MissPolicy) -> Graph {
    check(
        &Waveform::new("harm", Duration::from_millis(1))
            .with(spec("a", "library-source"))
            .with(spec("h", "harm").param("how", how).param("at", 50).isolated().on_miss(policy))
            .with(spec("y", "library-sink"))
            .with(spec("b", "library-source"))
            .with(spec("n", "library-saxpy"))
            .with(spec("z", "library-sink"))
            .chain(["a", "h", "y"])
            .chain(["b", "n", "z"]),
    )
}

fn run_harmed(how: &str, policy: MissPolicy, options: Options) -> Report {
    let graph = harmed(how, policy);
    open(&graph, &assign(&graph, &[0; 6], Latency::Compact), options).run(&Stop::new()).expect("starts")
}

/// Runs until its component executes again after it did harm.
fn run_until_it_goes_on(how: &str, options: Options) -> Report {
    let graph = harmed(how, MissPolicy::Skip);
    let (plan, stop) = (assign(&graph, &[0; 6], Latency::Compact), Stop::new());
    let running = open(&graph, &plan, options).start(&stop).expect("starts");
    while running.snapshot().components[1].executions < 100 {
        std::thread::sleep(Duration::from_millis(1));
    }
    stop.request();
    running.join()
}

fn costs_slots_of_its_own_only(report: &Report) {
    let harmed = of(report, "h");
    for name in ["a", "y", "b", "n", "z"] {
        let other = of(report, name);
        assert_eq!((other.missed, other.faults), (0, 0), "{name}");
        assert!(other.executions >= report.slots, "{name}");
        assert!(other.missing_packets <= if name == "y" { harmed.missed } else { 0 }, "{name}");
    }
    let first = &report.miss_list[0];
    assert_eq!((first.component.as_str(), first.kind, first.logical_slot), ("h", MissKind::Unanswered, 50));
    assert!(matches!(&first.culprit, Culprit::Component { component, .. } if component == "h"), "{first:?}");
}

fn a_crash_or_an_exit_costs_the_slots_it_missed_and_nothing_else() {
    for how in ["abort", "exit"] {
        let report = run_until_it_goes_on(how, Options { slots: None, ..options(0) });
        costs_slots_of_its_own_only(&report);
        assert!(of(&report, "h").missed >= 1 && of(&report, "h").restarts == 1, "{how}");
    }
}

fn a_process_that_hangs_is_ended_and_started_again() {
    let report = run_until_it_goes_on("hang", impatient(None));
    costs_slots_of_its_own_only(&report);
    assert!(of(&report, "h").missed >= 1 && of(&report, "h").restarts == 1);
}

fn without_restarts_all_later_slots_are_missed() {
    let isolation = Isolation { restarts: 0, ..options(1).isolation };
    let report = run_harmed("abort", MissPolicy::Skip, Options { isolation, ..options(300) });
    costs_slots_of_its_own_only(&report);
    assert_eq!(of(&report, "h").executions, 50);
    assert_eq!(of(&report, "h").missed, 250);
}

fn a_crash_stops_the_waveform_where_that_is_its_policy() {
    let report = run_harmed("abort", MissPolicy::Stop, options(100_000));
    assert!((50..100).contains(&report.slots), "{}", report.slots);
    assert_eq!(of(&report, "h").missed, 1);
}

fn garbage_in_the_shared_memory_costs_slots_of_its_own_only() {
    let report = run_harmed("garbage", MissPolicy::Skip, impatient(Some(2_000)));
    let harmed = of(&report, "h");
    assert_eq!(harmed.executions + harmed.missed, report.slots);
    assert!(harmed.missed + harmed.faults >= 1, "{harmed:?}");
    for name in ["a", "b", "n", "z"] {
        assert_eq!((of(&report, name).executions, of(&report, name).missed), (2_000, 0), "{name}");
    }
}

fn the_log_has_the_time_of_the_process_in_the_slot_of_the_request() {
    let graph = harmed("late", MissPolicy::Skip);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let log = Some(LogOptions { waiting: 4096, policy: takt_runtime::soft::Policy::Hold });
    let mut running = open(&graph, &plan, Options { log, ..options(60) }).start(&Stop::new()).expect("starts");
    let mut log = running.log().expect("asked for");
    let mut rows = Vec::new();
    while !running.ended() {
        log.read(|_, event| rows.push(event));
        std::thread::sleep(Duration::from_millis(1));
    }
    log.read(|_, event| rows.push(event));
    let report = running.join();
    assert_eq!(rows.len(), 6 * 60);
    let index = graph.find("h").expect("there");
    let mine: Vec<_> = rows.iter().filter(|row| row.component == index).collect();
    let depth = u64::from(plan.depth(index));
    assert!(mine.iter().map(|row| row.slot).eq(depth..depth + 60));
    // The request took its worker no time; the process slept in logical slot 50.
    let longest = mine.iter().max_by_key(|row| row.execution_ns).expect("some");
    assert_eq!(longest.slot, depth + 50);
    assert!(longest.execution_ns >= 50_000_000, "{longest:?}");
    assert_eq!(of(&report, "h").execution.expect("executed").max_ns, longest.execution_ns);
}

fn under_a_clock_a_late_answer_is_missing_and_nobody_waits_for_it() {
    let graph = harmed("late", MissPolicy::Skip);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let report =
        open(&graph, &plan, Options { clock: SlotClock::Wall, ..options(300) }).run(&Stop::new()).expect("starts");
    let late = report.miss_list.iter().find(|miss| miss.kind == MissKind::Unanswered && miss.logical_slot >= 49);
    let late = late.expect("50 ms are more than a slot");
    assert!(matches!(&late.culprit, Culprit::Component { component, .. } if component == "h"), "{late:?}");
    let harmed = of(&report, "h");
    assert_eq!(harmed.executions + harmed.missed, 300);
    assert_eq!(harmed.restarts, 0);
}

fn a_change_of_plan_loses_nothing_of_an_isolated_component() {
    let graph = all_sorts(&["average", "meter"]);
    let plan = |of: [usize; 6], latency| assign(&graph, &of, latency);
    let session = |plan: &Plan| open(&graph, plan, options(400)).start_paused(&Stop::new()).expect("starts");
    let reference = session(&plan([0; 6], Latency::Compact)).join();
    let mut running = session(&plan([0, 1, 0, 1, 0, 1], Latency::Fixed));
    running.change_plan(&plan([0; 6], Latency::Compact), 100).expect("room");
    running.change_plan(&plan([1, 0, 0, 1, 1, 0], Latency::Fixed), 200).expect("room");
    running.change_plan(&plan([1, 1, 0, 0, 0, 0], Latency::Compact), 300).expect("room");
    running.go();
    let report = running.join();
    assert_eq!(report.output_hash, reference.output_hash);
    assert!(report.components.iter().all(|c| c.executions == 400 && c.missed == 0), "{:?}", report.components);
}

fn another_waveform_keeps_the_process_or_ends_it() {
    let (before, after) = (all_sorts(&["meter", "average"]), all_sorts(&["meter"]));
    let plan = |graph: &Graph| assign(graph, &[0, 1, 0, 1, 0, 1], Latency::Compact);
    let mut running = open(&before, &plan(&before), options(400)).start_paused(&Stop::new()).expect("starts");
    assert_eq!(children().len(), 2);
    running.change_waveform(&after, &plan(&after), &registry(), 200).expect("room");
    assert_eq!(children().len(), 2, "none is started for a component that stays");
    running.go();
    let report = running.join();
    let executions: Vec<u64> = report.components.iter().filter(|c| c.name == "average").map(|c| c.executions).collect();
    assert_eq!(executions, [200, 200], "the isolated one, and the one in the program");
    assert_eq!(of(&report, "meter").executions, 400);
    assert_eq!(report.components.iter().map(|c| c.missed).sum::<u64>(), 0);
}

/// Processes of isolated components that this one has: id, name of the component.
fn children() -> Vec<(u32, String)> {
    children_of(std::process::id())
}

fn children_of(parent: u32) -> Vec<(u32, String)> {
    let processes = std::fs::read_dir("/proc").expect("Linux");
    let processes = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let asked = |&id: &u32| {
        let command = std::fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
        let mut arguments = command.split('\0').skip(1);
        let is_it = arguments.next()? == "--takt-isolated-component";
        let name = arguments.next()?.to_owned();
        (is_it && arguments.next()?.parse() == Ok(parent)).then_some((id, name))
    };
    processes.filter_map(|id| asked(&id)).collect()
}

fn a_process_killed_from_outside_is_started_again_with_its_variables() {
    let graph = all_sorts(&["meter"]);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let stop = Stop::new();
    let mut running = open(&graph, &plan, Options { slots: None, ..options(0) }).start(&stop).expect("starts");
    running.set(&registry(), "meter", "factor", &2.5.into(), 0).expect("a variable");
    let [(first, _)] = children()[..] else { panic!("one") };
    kill_process(Pid::from_raw(first as i32).expect("a process"), Signal::KILL).expect("ours");
    let again = loop {
        match children()[..] {
            [(id, _)] if id != first => break id,
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    // It executes again, and still has what was set before.
    let executions = || running.snapshot().components[3].executions;
    let seen = loop {
        let before = executions();
        std::thread::sleep(Duration::from_millis(20));
        if executions() > before + 10 {
            break executions();
        }
    };
    running.ask(&registry(), "meter", "factor").expect("room");
    let reading = loop {
        if let Some((_, _, value)) = running.readings().pop() {
            break value;
        }
        std::thread::yield_now();
    };
    stop.request();
    let report = running.join();
    assert!(of(&report, "meter").executions >= seen && again != first);
    assert_eq!(reading.map(takt_runtime::Scalar::as_f64), Some(2.5));
    assert_eq!(of(&report, "meter").results["factor"], 2.5.into());
    assert_eq!(of(&report, "meter").restarts, 1);
    assert_eq!(report.miss_list[0].component, "meter");
}

/// Counts what its worker's thread allocates and releases between its tenth slot and its last.
#[derive(Default)]
struct Witness {
    first: Option<u64>,
    last: u64,
}

#[component]
impl Witness {
    fn new() -> Witness {
        Witness::default()
    }
    fn tick(&mut self, slot: u64, input: In<f32>) {
        let _ = input;
        self.last = allocations::count();
        if slot >= 10 {
            self.first.get_or_insert(self.last);
        }
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("allocations", ((self.last - self.first.unwrap_or(0)) as i64).into())]
    }
}

/// Under a clock, with two isolated components, one of which crashes and is started again.
fn quiet() {
    let mut made = Waveform::new("quiet", Duration::from_micros(500))
        .with(spec("a", "library-source"))
        .with(spec("m", "meter").isolated())
        .with(spec("h", "harm").param("how", "abort").param("at", 1500).isolated())
        .with(spec("w", "witness"))
        .chain(["a", "m", "h", "w"]);
    made = made.message("m", "m", 2);
    let graph = check(&made);
    let plan = assign(&graph, &[0; 4], Latency::Compact);
    let options = Options { clock: SlotClock::Wall, ..options(3_000) };
    let mut running = open(&graph, &plan, options).start_paused(&Stop::new()).expect("starts");
    running.set(&registry(), "m", "factor", &2.5.into(), 1000).expect("a variable");
    let report = running.join();
    assert_eq!(of(&report, "w").results["allocations"], 0.into());
    assert!(of(&report, "h").missed >= 1);
}

fn workers_neither_allocate_nor_call_the_kernel_for_isolated_components() {
    quiet();
    let Some(calls) = strace::calls_of_workers(&["quiet"]) else { return };
    for (worker, between) in calls {
        assert!(between.len() > 100, "{worker} slept {} times", between.len());
        let others: Vec<&String> = between.iter().filter(|call| !call.contains("clock_nanosleep")).collect();
        assert!(others.is_empty(), "{worker}: {others:?}");
    }
}

fn nothing_is_left_behind() {
    let graph = all_sorts(&["meter", "source"]);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let session = open(&graph, &plan, options(100));
    assert_eq!(children().len(), 2);
    drop(session);
    assert_eq!(children(), [], "a session that never ran");
    let report = open(&graph, &plan, options(100)).run(&Stop::new()).expect("starts");
    assert_eq!((report.slots, children().len()), (100, 0));
    let files = std::fs::read_dir("/proc/self/fd").expect("Linux");
    let shared = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    assert!(!shared.into_iter().any(|path| path.to_string_lossy().contains("takt-isolated")), "the shared memory");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    assert!(!maps.contains("takt-isolated"), "its mapping");
}

/// A program of its own that runs until it is killed.
#[expect(clippy::print_stdout, reason = "for who waits for it")]
fn endless() {
    let graph = all_sorts(&["meter", "average"]);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let running = open(&graph, &plan, Options { slots: None, ..options(0) }).start(&Stop::new()).expect("starts");
    println!("running");
    let _ = running.join();
}

fn a_program_that_is_killed_takes_its_processes_along() {
    let mut program = Command::new("/proc/self/exe").arg("endless").stdout(Stdio::piped()).spawn().expect("starts");
    let mut said = String::new();
    let out = program.stdout.take().expect("piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut said).expect("a line");
    assert_eq!(said, "running\n");
    let its: Vec<u32> = children_of(program.id()).into_iter().map(|(id, _)| id).collect();
    assert_eq!(its.len(), 2);
    program.kill().expect("ours");
    program.wait().expect("gone");
    let runs = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // Gone, or dead and waiting for init to notice.
        !status.is_empty() && !status.contains(") Z ")
    };
    while its.iter().any(runs) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn refusal(waveform: &Waveform, registry: &Registry) -> (String, String) {
    let graph = Graph::check(waveform, registry).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::single(&graph, Latency::Compact);
    match Session::open(&graph, &plan, registry, options(10)).err().expect("refused") {
        OpenError::Component { source, .. } => (source.what, source.fix),
        other => panic!("{other}"),
    }
}

fn with_average(window: i64) -> Waveform {
    Waveform::new("refused", Duration::from_millis(1))
        .with(spec("a", "library-source"))
        .with(spec("p", "library-average").param("window", window).isolated())
        .with(spec("z", "library-sink"))
        .chain(["a", "p", "z"])
}

fn a_component_refuses_its_parameters_from_its_own_process() {
    assert_eq!(refusal(&with_average(13), &registry()), ("thirteen is refused".into(), "take 12 or 14".into()));
    assert_eq!(children(), []);
}

fn processors_that_do_not_exist_are_refused() {
    let graph = check(&with_average(2));
    let isolation = Isolation { cores: vec![4000], ..Isolation::default() };
    let options = Options { isolation, ..options(10) };
    let refused = Session::open(&graph, &Plan::single(&graph, Latency::Compact), &registry(), options).err();
    let Some(OpenError::Component { source, .. }) = refused else { panic!("{refused:?}") };
    assert!(source.what.starts_with("its process on processors [4000]: "), "{}", source.what);
    assert!(source.fix.starts_with("processors it may use: ["), "{}", source.fix);
}

fn a_process_that_dies_at_once_is_told() {
    let mut waveform = with_average(2);
    waveform.components[2] = spec("z", "stillborn").isolated();
    let (what, fix) = refusal(&waveform, &registry());
    assert!(what.starts_with("its process ended before it was ready: signal: 6"), "{what}");
    assert!(fix.contains("standard error"), "{fix}");
}

struct Unknown;

impl Component for Unknown {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

fn a_type_that_only_this_process_knows_can_t_be_isolated() {
    let mut all = registry();
    let registration = Registration {
        kind: || Kind::new("unknown", "Added by hand."),
        shape: |_| Ok(Shape::new()),
        make: |_| Ok(Box::new(Unknown)),
    };
    all.add(registration).expect("a name of its own");
    let waveform = Waveform::new("unknown", Duration::from_millis(1)).with(spec("u", "unknown").isolated());
    let (what, fix) = refusal(&waveform, &all);
    assert_eq!(what, "no component type `unknown` is known to a process of its own");
    assert!(fix.contains("#[component]"), "{fix}");
}

/// As a program would that never asks whether it is to be a component's process.
#[expect(clippy::print_stdout, reason = "for who asked")]
fn forgetful() {
    let (what, fix) = refusal(&with_average(2), &registry());
    println!("{what}; {fix}");
}

fn a_program_that_never_asks_does_not_start_itself_for_ever() {
    let told = Command::new("/proc/self/exe").arg("forgetful").env("TAKT_ISOLATED_COMPONENT", "1").output();
    let told = String::from_utf8(told.expect("starts").stdout).expect("text");
    assert!(told.contains("serve_if_asked() first thing in main"), "{told}");
}

macro_rules! tests {
    ($($name:ident),* $(,)?) => { const TESTS: &[(&str, fn())] = &[$((stringify!($name), $name)),*]; };
}

tests! {
    what_is_computed_is_the_same_isolated_or_not_in_every_plan,
    a_component_of_a_library_is_isolated_as_any,
    a_crash_or_an_exit_costs_the_slots_it_missed_and_nothing_else,
    a_process_that_hangs_is_ended_and_started_again,
    without_restarts_all_later_slots_are_missed,
    a_crash_stops_the_waveform_where_that_is_its_policy,
    garbage_in_the_shared_memory_costs_slots_of_its_own_only,
    the_log_has_the_time_of_the_process_in_the_slot_of_the_request,
    under_a_clock_a_late_answer_is_missing_and_nobody_waits_for_it,
    a_change_of_plan_loses_nothing_of_an_isolated_component,
    another_waveform_keeps_the_process_or_ends_it,
    a_process_killed_from_outside_is_started_again_with_its_variables,
    workers_neither_allocate_nor_call_the_kernel_for_isolated_components,
    nothing_is_left_behind,
    a_program_that_is_killed_takes_its_processes_along,
    a_component_refuses_its_parameters_from_its_own_process,
    processors_that_do_not_exist_are_refused,
    a_process_that_dies_at_once_is_told,
    a_type_that_only_this_process_knows_can_t_be_isolated,
    a_program_that_never_asks_does_not_start_itself_for_ever,
}

#[expect(clippy::print_stdout, reason = "a harness speaks")]
fn main() -> ExitCode {
    takt_runtime::isolated::serve_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("endless") => endless(),
        Some("forgetful") => forgetful(),
        Some("quiet") => quiet(),
        Some("--list") => TESTS.iter().for_each(|(name, _)| println!("{name}: test")),
        _ => {
            let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
            let chosen = TESTS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|w| name.contains(*w)));
            let mut failed = 0;
            for (name, test) in chosen {
                let good = std::panic::catch_unwind(test).is_ok();
                println!("test {name} ... {}", if good { "ok" } else { "FAILED" });
                failed += usize::from(!good);
            }
            println!("test result: {}. {failed} failed", if failed == 0 { "ok" } else { "FAILED" });
            return if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    ExitCode::SUCCESS
}
