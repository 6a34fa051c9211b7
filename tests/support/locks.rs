//! Instructions by which a lock could be taken, seen executed.
//!
//! On x86-64 whatever excludes others, a mutex, a spin lock, a reference count, begins with an atomic read-modify-write: an
//! instruction with the `lock` prefix, or an `xchg` with memory. Here objdump finds all of them in a test's own binary and in
//! the libraries that it loads, the binary is started again with a breakpoint on each, and who comes by is counted. Two
//! parts are not seen: the kernel's code, which strace sees entered, and that of the vDSO, by which the clock is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Name by which the traced program tells where its slot lies.
const TRACED: &str = "TAKT_TRACED";

/// The traced program.
pub struct Trace<'a> {
    /// The test of this binary that is run again.
    pub test: &'a str,
    /// For its environment.
    pub variables: &'a [(&'a str, String)],
    /// Threads whose names begin so are looked at.
    pub threads: &'a [&'a str],
    /// In these slots.
    pub slots: Range<u64>,
}

/// Threads that came by.
#[derive(Debug, Default)]
pub struct Seen {
    /// Instructions that are watched.
    pub breakpoints: usize,
    /// Thread and place, by the slots, of the threads and in the slots that are looked at.
    pub inside: BTreeMap<(String, String), BTreeSet<u64>>,
    /// Threads that came by otherwise, and how often.
    pub outside: BTreeMap<String, u64>,
    /// How the program ended: 0 if its test passed.
    pub code: i32,
}

/// Called by the traced test: lets the tracer come, if there is one, and tells it where the number of the slot is kept.
/// Threads that begin later are traced as well.
pub fn let_tracer_come(slot: &'static AtomicU64) {
    if let Some(file) = std::env::var_os(TRACED) {
        std::fs::write(file, (std::ptr::from_ref(slot) as usize).to_string()).expect("written");
        nix::sys::signal::raise(Signal::SIGSTOP).expect("stopped");
    }
}

impl Trace<'_> {
    /// Runs it to its end. `None`, and skipped, where there is no objdump.
    #[expect(clippy::zombie_processes, reason = "waitpid takes it")]
    pub fn run(&self) -> Option<Seen> {
        if Command::new("objdump").arg("--version").output().is_err() {
            takt_testing::skip("objdump is not installed   (apt-get install binutils)");
            return None;
        }
        let told = tempfile::NamedTempFile::new().expect("a file");
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command
            .args(["--exact", self.test, "--include-ignored", "--nocapture"])
            .env(TRACED, told.path())
            // A panic's backtrace takes locks by the hundred thousand: minutes under the tracer.
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::null());
        let variables = self.variables.iter().map(|(name, value)| (name, value));
        let program = command.envs(variables).spawn().expect("starts");
        let process = Pid::from_raw(i32::try_from(program.id()).expect("an id"));
        let stat = format!("/proc/{process}/stat");
        takt_testing::wait_for("the program to stop itself", || {
            let stat = std::fs::read_to_string(&stat).expect("it runs");
            assert!(!stat.contains(") Z "), "it ended before it could be traced");
            stat.contains(") T ").then_some(())
        });
        let slot_at: u64 = std::fs::read_to_string(told.path()).expect("told").parse().expect("an address");
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
        for task in tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()) {
            ptrace::seize(Pid::from_raw(task), ptrace::Options::PTRACE_O_TRACECLONE).expect("ours");
        }
        let watched = Watched::set(process);
        nix::sys::signal::kill(process, Signal::SIGCONT).expect("ours");
        Some(self.watch(process, &watched, slot_at))
    }

    /// Until the program ends.
    fn watch(&self, process: Pid, watched: &Watched, slot_at: u64) -> Seen {
        let mut seen = Seen { breakpoints: watched.places.len(), ..Seen::default() };
        loop {
            match waitpid(None, Some(WaitPidFlag::__WALL)) {
                Ok(WaitStatus::Exited(id, code)) if id == process => {
                    return Seen { code, ..seen };
                }
                Ok(WaitStatus::Stopped(id, Signal::SIGTRAP)) => {
                    if let Some(place) = watched.pass(id) {
                        self.note(&mut seen, id, process, place, watched.word(slot_at));
                    }
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

    fn note(&self, seen: &mut Seen, thread: Pid, process: Pid, place: &str, slot: u64) {
        let name = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/comm")).unwrap_or_default();
        let name = name.trim();
        if self.threads.iter().any(|begin| name.starts_with(begin)) && self.slots.contains(&slot) {
            seen.inside.entry((name.to_owned(), place.to_owned())).or_default().insert(slot);
        } else {
            *seen.outside.entry(name.to_owned()).or_default() += 1;
        }
    }
}

/// The breakpoints of a program.
struct Watched {
    memory: File,
    places: BTreeMap<u64, String>,
    before: BTreeMap<u64, [u8; 1]>,
}

const BREAKPOINT: [u8; 1] = [0xcc];

impl Watched {
    /// On every instruction.
    fn set(process: Pid) -> Watched {
        let memory = File::options().read(true).write(true).open(format!("/proc/{process}/mem")).expect("ours");
        let places = instructions(process);
        let mut before = BTreeMap::new();
        for address in places.keys() {
            let mut byte = [0];
            memory.read_exact_at(&mut byte, *address).expect("mapped");
            memory.write_all_at(&BREAKPOINT, *address).expect("mapped");
            before.insert(*address, byte);
        }
        Watched { memory, places, before }
    }

    /// Place at which a thread has met one, past which it is led; `None`: it stands elsewhere.
    fn pass(&self, thread: Pid) -> Option<&str> {
        let mut registers = ptrace::getregs(thread).expect("stopped");
        let address = registers.rip - 1;
        let byte = self.before.get(&address)?;
        // The instruction itself, then the breakpoint again.
        registers.rip = address;
        self.memory.write_all_at(byte, address).expect("mapped");
        ptrace::setregs(thread, registers).expect("stopped");
        ptrace::step(thread, None).expect("stopped");
        let _ = waitpid(thread, Some(WaitPidFlag::__WALL));
        self.memory.write_all_at(&BREAKPOINT, address).expect("mapped");
        self.places.get(&address).map(String::as_str)
    }

    fn word(&self, address: u64) -> u64 {
        let mut word = [0; 8];
        self.memory.read_exact_at(&mut word, address).expect("mapped");
        u64::from_ne_bytes(word)
    }
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
    executed
        .flat_map(|(path, (base, _))| of_file(Path::new(path)).into_iter().map(move |(at, place)| (base + at, place)))
        .collect()
}

/// Instructions of a file: position-independent, so that its addresses begin at 0. Each is read once, which takes
/// seconds.
fn of_file(path: &Path) -> Vec<(u64, String)> {
    static FOUND: Mutex<BTreeMap<PathBuf, Vec<(u64, String)>>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().expect("no panic");
    found.entry(path.to_owned()).or_insert_with(|| disassembled(path)).clone()
}

fn disassembled(path: &Path) -> Vec<(u64, String)> {
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
            found.push((address, format!("{function}: {instruction}")));
        }
    }
    found
}
