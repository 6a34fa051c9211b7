//! A program that is bound to time, and a witness of what the machine did to it meanwhile.
//!
//! A machine that stops a program for a while makes it late. A run that shows what was expected proves it. One that shows
//! something else is held against the program, unless a witness saw what explains just that; then it is repeated, and in the
//! end not judged.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::process::{Command, ExitStatus, Output};
use std::time::Duration;

use takt_testing::{not_judged, run_delay, wait_for};

use crate::support::Ended;

/// Runs of which one must be undisturbed.
const TRIES: usize = 3;

pub struct Watched {
    pub out: Output,
    /// How long threads of one process, the program's, one of its children's or one beside it, were ready and had no processor,
    /// added up.
    pub waited: Duration,
}

/// Runs a program to its end. The witness looks at these processes as well.
pub fn watched(command: Command, beside: &[u32]) -> Watched {
    let mut host = Host::start(command);
    let own = host.program.0.id();
    let mut waited = Duration::ZERO;
    let status = wait_for("the end of the program", || {
        let all = children(own).into_iter().chain([own]).chain(beside.iter().copied());
        // The sums are over the threads that live: the most that was seen.
        waited = waited.max(all.filter_map(run_delay).max().unwrap_or_default());
        host.program.0.try_wait().expect("a child")
    });
    Watched { out: host.output(status), waited }
}

/// The only excuse for a wrong result that is not the program's.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "tests of waveforms lose no datagrams")]
pub enum Unless {
    /// Threads had to wait, or datagrams were lost.
    Delayed,
    /// Datagrams were lost: however late the others were, this is the same.
    Lost,
}

pub struct Wrong {
    pub what: String,
    pub unless: Unless,
}

/// Which of these claims do not hold.
pub fn untrue(unless: Unless, claims: &[(&str, bool)]) -> Vec<Wrong> {
    let untrue = claims.iter().filter(|(_, holds)| !holds);
    untrue.map(|(claim, _)| Wrong { what: format!("not so: {claim}"), unless }).collect()
}

/// Runs until a run shows nothing that was not expected. `wrong` says what it shows, and `witness` what happened that can
/// explain it: where nothing did, it fails.
#[track_caller]
pub fn judge<R>(
    run: impl Fn() -> R,
    wrong: impl Fn(&R) -> Vec<Wrong>,
    witness: impl Fn(&R, Unless) -> Option<String>,
    says: impl Fn(&R) -> String,
) {
    let mut seen = String::new();
    for _ in 0..TRIES {
        let run = run();
        let wrong = wrong(&run);
        if wrong.is_empty() {
            return;
        }
        let explained = |one: &Wrong| witness(&run, one.unless).map(|why| format!("{} ({why})", one.what));
        let all: Vec<String> = wrong.iter().map(|one| one.what.clone()).collect();
        let explained: Option<Vec<String>> = wrong.iter().map(explained).collect();
        seen = explained.unwrap_or_else(|| panic!("{}\n{}", all.join("\n"), says(&run))).join("; ");
    }
    not_judged(seen);
}

fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let texts = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    texts.flat_map(|text| text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect()
}

/// A program that writes to files, so that it never waits for a reader; ended on drop.
struct Host {
    program: Ended,
    says: [File; 2],
}

impl Host {
    fn start(mut command: Command) -> Host {
        let says = [(); 2].map(|()| tempfile::tempfile().expect("a file"));
        let [out, err] = says.each_ref().map(|file| file.try_clone().expect("a descriptor"));
        let child = command.stdout(out).stderr(err).spawn().expect("takt");
        Host { program: Ended(child), says }
    }

    fn output(&mut self, status: ExitStatus) -> Output {
        let [stdout, stderr] = self.says.each_mut().map(|file| {
            let mut bytes = Vec::new();
            file.rewind().expect("a file");
            file.read_to_end(&mut bytes).expect("a file");
            bytes
        });
        Output { status, stdout, stderr }
    }
}
