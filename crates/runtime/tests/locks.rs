//! Workers take no lock during 10 000 slots: they execute not one instruction by which one could be taken.
//!
//! On x86-64 whatever excludes others, a mutex, a spin lock, a reference count, begins with an atomic read-modify-write:
//! an instruction with the `lock` prefix, or an `xchg` with memory. This test has objdump find all of them in its own
//! binary and in the libraries that it loads, starts itself again, puts a breakpoint on each when the workers are about to
//! begin, and counts who comes by. What it does not see: the kernel's code, which strace sees entered (`tests/quiet.rs`),
//! and that of the vDSO, by which the clock is read.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{registry, spec};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use takt_base::Stop;
use takt_graph::{Graph, Item, Kind, Latency, Plan, Shape, Waveform};
use takt_runtime::{Component, Io, Options, Registration, Session, SlotClock};

/// 10 000 slots are looked at, all workers having begun and none having ended.
const LOOKED_AT: std::ops::Range<u64> = 500..10_500;
const SLOTS: u64 = 11_000;
/// Where the traced program says where [`SLOT`] lies, and whether it is to take a lock.
const TRACED: &str = "TAKT_TRACED";
const LOCKS: &str = "TAKT_LOCKS_IN_SLOT";

/// The slot that the workers are in.
static SLOT: AtomicU64 = AtomicU64::new(0);
static LOCK: Mutex<u64> = Mutex::new(0);

/// Says in which slot it is; takes a lock in one.
struct Witness {
    locks_in: Option<u64>,
}

impl Component for Witness {
    fn tick(&mut self, io: &mut Io<'_>) {
        SLOT.store(io.slot, Ordering::Relaxed);
        if self.locks_in == Some(io.slot) {
            *LOCK.lock().expect("no panic") += 1;
        }
    }
}

/// Two workers under a clock; a stall, two changes of plan, a setting.
#[test]
fn eleven_thousand_slots() {
    let mut all = registry();
    let registration = Registration {
        kind: || Kind::new("witness", "Says where it is."),
        shape: |_| Ok(Shape::new().in_out("in0", "out", Item::Byte)),
        make: |_| {
            let slot = std::env::var(LOCKS).ok().and_then(|slot| slot.parse().ok());
            Ok(Box::new(Witness { locks_in: slot }))
        },
    };
    all.add(registration).expect("a name of its own");
    let waveform = Waveform::new("locks", Duration::from_micros(250))
        .with(spec("a", "source").param("items", 1000))
        .with(spec("p", "stall").param("slot", 5000).param("us", 900))
        .with(spec("q", "add"))
        .with(spec("w", "witness"))
        .with(spec("z", "sink"))
        .with(spec("y", "sink"))
        .chain(["a", "p", "q", "w", "z"])
        .link("a", "y");
    let graph = Graph::check(&waveform, &all).unwrap_or_else(|error| panic!("{error}"));
    let other = usize::from(takt_host::affinity::own_cpus().len() >= 2);
    let plan = |of: [usize; 6]| Plan::assign(&graph, &of, Latency::Compact).expect("legal");
    let (first, second) = (plan([0, 0, other, 0, other, other]), plan([other, other, 0, 0, 0, other]));
    let options = Options { slots: Some(SLOTS), clock: SlotClock::Wall, ..Options::default() };
    let session = Session::open(&graph, &first, &all, options).expect("opened");
    let mut running = session.start_paused(&Stop::new()).expect("started");
    running.change_plan(&second, 3000).expect("room");
    running.change_plan(&first, 6000).expect("room");
    running.set(&all, "q", "term", &7.into(), 2000).expect("room");
    if let Some(file) = std::env::var_os(TRACED) {
        std::fs::write(file, (&raw const SLOT as usize).to_string()).expect("written");
        // The tracer comes, and goes on.
        nix::sys::signal::raise(Signal::SIGSTOP).expect("stopped");
    }
    running.go();
    assert_eq!(running.join().slots, SLOTS);
}

#[test]
fn workers_execute_no_instruction_that_could_take_a_lock() {
    let Some(quiet) = traced(None) else { return };
    assert!(quiet.breakpoints > 500, "{} found", quiet.breakpoints);
    assert!(!quiet.outside.is_empty(), "the start and the end do, and are seen");
    assert_eq!(quiet.inside, BTreeMap::new());
    // It would have been seen.
    let locked = traced(Some(4000)).expect("there is objdump");
    assert!(!locked.inside.is_empty() && locked.inside.values().flatten().all(|slot| *slot == 4000), "{locked:?}");
}

/// Who came by.
#[derive(Debug, Default)]
struct Seen {
    breakpoints: usize,
    /// Worker and place, by the slots, in those that are looked at.
    inside: BTreeMap<(String, String), BTreeSet<u64>>,
    outside: BTreeSet<String>,
}

#[expect(clippy::zombie_processes, reason = "waitpid takes it")]
fn traced(locks_in: Option<u64>) -> Option<Seen> {
    if Command::new("objdump").arg("--version").output().is_err() {
        assert!(
            std::env::var_os("TAKT_REQUIRE_PEERS").is_none(),
            "objdump is required (sudo apt-get install binutils)"
        );
        #[expect(clippy::print_stderr, reason = "a skip is told")]
        let () = eprintln!("SKIPPED: instructions are found by objdump   (sudo apt-get install binutils)");
        return None;
    }
    let told = tempfile::NamedTempFile::new().expect("a file");
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", "eleven_thousand_slots"]).env(TRACED, told.path()).stdout(Stdio::null());
    if let Some(slot) = locks_in {
        command.env(LOCKS, slot.to_string());
    }
    let program = command.spawn().expect("starts");
    let process = Pid::from_raw(i32::try_from(program.id()).expect("an id"));
    let stat = format!("/proc/{process}/stat");
    while !std::fs::read_to_string(&stat).expect("it runs").contains(") T ") {
        std::thread::sleep(Duration::from_millis(5));
    }
    let slot_at: u64 = std::fs::read_to_string(told.path()).expect("told").parse().expect("an address");
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    for task in tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()) {
        ptrace::seize(Pid::from_raw(task), ptrace::Options::empty()).expect("ours");
    }
    let memory = File::options().read(true).write(true).open(format!("/proc/{process}/mem")).expect("ours");
    let places = instructions(process);
    let mut before = BTreeMap::new();
    for address in places.keys() {
        let mut byte = [0];
        memory.read_exact_at(&mut byte, *address).expect("mapped");
        memory.write_all_at(&[0xcc], *address).expect("mapped");
        before.insert(*address, byte);
    }
    nix::sys::signal::kill(process, Signal::SIGCONT).expect("ours");
    let mut seen = Seen { breakpoints: places.len(), ..Seen::default() };
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Exited(id, code)) if id == process => {
                assert_eq!(code, 0, "the traced program");
                return Some(seen);
            }
            Ok(WaitStatus::Stopped(id, Signal::SIGTRAP)) => {
                let mut registers = ptrace::getregs(id).expect("stopped");
                let address = registers.rip - 1;
                let Some(byte) = before.get(&address) else {
                    let _ = ptrace::cont(id, None);
                    continue;
                };
                note(&mut seen, id, process, &places[&address], slot(&memory, slot_at));
                // The instruction itself, then the breakpoint again.
                registers.rip = address;
                memory.write_all_at(byte, address).expect("mapped");
                ptrace::setregs(id, registers).expect("stopped");
                ptrace::step(id, None).expect("stopped");
                let _ = waitpid(id, Some(WaitPidFlag::__WALL));
                memory.write_all_at(&[0xcc], address).expect("mapped");
                let _ = ptrace::cont(id, None);
            }
            Ok(WaitStatus::Stopped(id, signal)) => {
                let _ = ptrace::cont(id, signal);
            }
            Ok(status) => {
                if let Some(id) = status.pid() {
                    let _ = ptrace::cont(id, None);
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn note(seen: &mut Seen, thread: Pid, process: Pid, place: &str, slot: u64) {
    let name = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/comm")).unwrap_or_default();
    let name = name.trim();
    if name.starts_with("takt-worker-") && LOOKED_AT.contains(&slot) {
        seen.inside.entry((name.to_owned(), place.to_owned())).or_default().insert(slot);
    } else {
        seen.outside.insert(name.to_owned());
    }
}

fn slot(memory: &File, address: u64) -> u64 {
    let mut word = [0; 8];
    memory.read_exact_at(&mut word, address).expect("mapped");
    u64::from_ne_bytes(word)
}

/// All atomic read-modify-writes in the files that the process executes: address, and what stands there.
fn instructions(process: Pid) -> BTreeMap<u64, String> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).expect("it runs");
    let mut files: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let (range, access, path) = (fields.next().expect("a range"), fields.next().expect("access"), fields.nth(3));
        let start = u64::from_str_radix(range.split('-').next().expect("a start"), 16).expect("hexadecimal");
        if let Some(path) = path.filter(|path| path.starts_with('/')) {
            let (base, executed) = files.entry(path).or_insert((start, false));
            (*base, *executed) = ((*base).min(start), *executed || access.contains('x'));
        }
    }
    let executed = files.into_iter().filter(|(_, (_, executed))| *executed);
    executed.flat_map(|(path, (base, _))| of_file(Path::new(path), base)).collect()
}

/// Of a file that is loaded at `base`: position-independent, so that its addresses begin at 0.
fn of_file(path: &Path, base: u64) -> Vec<(u64, String)> {
    let listed = Command::new("objdump").args(["-d", "--no-show-raw-insn", "-C"]).arg(path).output().expect("objdump");
    let text = String::from_utf8_lossy(&listed.stdout);
    let mut function = "";
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
            function = name.1;
        }
        let Some((address, instruction)) = line.trim_start().split_once(":\t") else { continue };
        let exchanges = instruction.starts_with("xchg") && instruction.contains('(');
        if let (true, Ok(address)) = (exchanges || instruction.starts_with("lock "), u64::from_str_radix(address, 16)) {
            found.push((base + address, format!("{function}: {instruction}")));
        }
    }
    found
}
