//! [`ChildProcess`]: the soft thread that starts the process of an isolated component, watches it, and starts it again.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rtrb::{Consumer, Producer, RingBuffer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use takt_host::ending;
use takt_link::exchange::{Asking, counters, put, put_bytes};

use super::layout::{CONFIG, CONFIG_BYTES, Layout, MAGIC, READY, REFUSED, STATE};
use super::map::{Map, Shared};
use super::remote::{Link, text};
use super::serve::{ARGUMENT, ISOLATED};
use crate::component::MakeError;
use crate::options::Isolation;

/// How long a process may take to end by itself.
const END: Duration = Duration::from_millis(500);
/// How often a process that runs is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Ends the process and the thread when dropped.
pub(crate) struct ChildProcess {
    /// Processes that were started after the first.
    pub(crate) fresh: Consumer<Link>,
    /// Those that are gone: memory is given back outside real time.
    pub(crate) spent: Producer<Link>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChildProcess {
    /// Starts a process with this configuration, and waits until it is ready. `name`: of the component, as lists of processes
    /// show it.
    pub(crate) fn start(
        name: &str,
        config: Vec<u8>,
        layout: &Layout,
        isolation: &Isolation,
    ) -> Result<(ChildProcess, Link), MakeError> {
        if std::env::var_os(ISOLATED).is_some() {
            return Err(MakeError {
                what: "this program, started as the process of an isolated component, runs a waveform".to_owned(),
                fix: "call takt_runtime::isolated::serve_if_asked() first thing in main".to_owned(),
            });
        }
        // One place for each start, and no more are made.
        let places = isolation.restarts as usize + 1;
        let (fresh_in, fresh) = RingBuffer::new(places);
        let (spent, spent_out) = RingBuffer::new(places);
        let stop = Arc::new(AtomicBool::new(false));
        let (first, started) = channel();
        let keeping = Keeping {
            name: name.to_owned(),
            config,
            layout: layout.clone(),
            isolation: isolation.clone(),
            stop: Arc::clone(&stop),
        };
        // The process ends with the thread that started it: this one lives as long as the component.
        let thread = std::thread::Builder::new().name("takt-keeper".to_owned());
        let thread = thread.spawn(move || keeping.run(&first, fresh_in, spent_out));
        let keeper = ChildProcess { fresh, spent, stop, thread: Some(thread.map_err(|error| refused(&error))?) };
        let gone =
            || MakeError { what: "its keeper ended".to_owned(), fix: "report it: this is a bug in takt".to_owned() };
        Ok((keeper, started.recv().map_err(|_| gone())??))
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn refused(error: &io::Error) -> MakeError {
    let fix =
        "free memory, raise the limits of processes (ulimit -u) and descriptors (ulimit -n), or do not isolate it"
            .to_owned();
    MakeError { what: format!("can't start its process: {error}"), fix }
}

struct Keeping {
    name: String,
    config: Vec<u8>,
    layout: Layout,
    isolation: Isolation,
    stop: Arc<AtomicBool>,
}

/// A process, ended when dropped.
struct Process {
    child: Child,
    alive: Arc<AtomicBool>,
    map: Shared,
}

impl Keeping {
    fn run(&self, first: &Sender<Result<Link, MakeError>>, mut fresh: Producer<Link>, mut spent: Consumer<Link>) {
        let (mut process, link) = match self.start() {
            Ok(started) => started,
            Err(why) => {
                let _ = first.send(Err(why));
                return;
            }
        };
        let _ = first.send(Ok(link));
        for _ in 0..self.isolation.restarts {
            self.watch(&mut process);
            drop(process);
            if self.stopped() {
                return;
            }
            while spent.pop().is_ok() {}
            match self.start() {
                Ok((next, link)) => {
                    process = next;
                    let _ = fresh.push(link);
                }
                // It was made once and can't be again: its slots are missed from now on.
                Err(_) => return,
            }
        }
        self.watch(&mut process);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn start(&self) -> Result<(Process, Link), MakeError> {
        let (map, file) = Map::create(self.layout.words()).map_err(|error| refused(&error))?;
        put(&map, 0, MAGIC);
        put(&map, CONFIG_BYTES, self.config.len() as u64);
        put_bytes(&map, CONFIG, &self.config);
        let map = Shared(Arc::new(map));
        // The program itself, even if its file was replaced; the memory is its standard input, so that no other process
        // inherits it; a process group of its own, so that Ctrl-C is for the program alone.
        let child = Command::new("/proc/self/exe")
            .args([ARGUMENT, &self.name, &std::process::id().to_string()])
            .env(ISOLATED, "1")
            .stdin(Stdio::from(file))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| refused(&error))?;
        let mut process = Process { child, alive: Arc::new(AtomicBool::new(true)), map: map.clone() };
        self.wait_until_made(&mut process)?;
        let alive = Arc::clone(&process.alive);
        let exchange = Asking::new(map, self.layout.cells_at, self.layout.cell_words);
        Ok((process, Link { exchange, alive }))
    }

    fn wait_until_made(&self, process: &mut Process) -> Result<(), MakeError> {
        let until = Instant::now() + self.isolation.start;
        let gone = |what| {
            let fix =
                "see what it wrote to standard error; its main calls takt_runtime::isolated::serve_if_asked() first";
            MakeError { what, fix: fix.to_owned() }
        };
        loop {
            // Acquire: what it says comes before the word that it has said it.
            match process.map[STATE].load(Ordering::Acquire) {
                READY => return Ok(()),
                REFUSED => {
                    let silent = "its process refuses, and does not say why";
                    return Err(MakeError::read(&text(&process.map), silent));
                }
                _ => {}
            }
            if let Ok(Some(status)) = process.child.try_wait() {
                return Err(gone(format!("its process ended before it was ready: {status}")));
            }
            if Instant::now() >= until || self.stopped() {
                return Err(gone(format!("its process was not ready within {:?}", self.isolation.start)));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Until it has ended, or is to be ended: it hangs, or we stop.
    fn watch(&self, process: &mut Process) {
        let (mut last, mut since) = (counters(&process.map), Instant::now());
        loop {
            if process.ended(LOOK) {
                return;
            }
            if self.stopped() {
                process.ended(END);
                return;
            }
            let now = counters(&process.map);
            let (posted, answered) = now;
            if answered == posted || now.1 != last.1 {
                (last, since) = (now, Instant::now());
            }
            if answered > posted || since.elapsed() >= self.isolation.hang {
                return;
            }
        }
    }
}

impl Process {
    /// Whether it has ended, waiting so long for it.
    fn ended(&mut self, wait: Duration) -> bool {
        match pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()) {
            Ok(pidfd) => {
                let wait = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
                let _ = poll(&mut [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)], Some(&wait));
            }
            Err(_) => std::thread::sleep(wait),
        }
        let ended = !matches!(self.child.try_wait(), Ok(None));
        if ended {
            self.alive.store(false, Ordering::Release);
        }
        ended
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = ending::kill(&mut self.child);
        let _ = self.child.wait();
        // Release: all it answered before is there for a thread that reads this.
        self.alive.store(false, Ordering::Release);
    }
}
