//! A process that is stopped for a span of every period: by `SIGSTOP`, which needs no privilege over one's own.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use takt_load::Every;

/// Stops a process again and again. Dropping it lets the process go on.
///
/// If this process is killed while the other is stopped, the kernel ends the other with it: agents ask for that.
#[derive(Debug)]
pub(super) struct Stall {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Stall {
    pub(super) fn start(pid: u32, every: Every) -> io::Result<Stall> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
        rustix::process::test_kill_process(pid)?;
        let (end, ended) = mpsc::channel::<()>();
        let thread = thread::Builder::new().name("takt-stall".into()).spawn(move || {
            let goes_on = |span: Duration| matches!(ended.recv_timeout(span), Err(RecvTimeoutError::Timeout));
            // First a part of the period without: the process has a round to begin.
            while goes_on(every.period - every.taken) {
                // It may have ended; then there is nothing to stop.
                let _ = kill_process(pid, Signal::STOP);
                let more = goes_on(every.taken);
                let _ = kill_process(pid, Signal::CONT);
                if !more {
                    return;
                }
            }
        })?;
        Ok(Stall { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Stall {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It panics nowhere; and there is nobody here to hand a panic to.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::{Child, Command};

    use super::*;

    struct Sleeper(Child);

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// `T`: stopped; `S`: asleep.
    fn state(pid: u32) -> char {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap()
    }

    #[test]
    fn a_process_stops_and_goes_on_and_is_let_go_in_the_end() {
        let sleeper = Sleeper(Command::new("sleep").arg("600").spawn().unwrap());
        let pid = sleeper.0.id();
        let stall = Stall::start(pid, "10ms every 20ms".parse().unwrap()).unwrap();
        for wanted in ['T', 'S', 'T'] {
            takt_testing::wait_for("the other state", || (state(pid) == wanted).then_some(()));
        }
        drop(stall);
        takt_testing::wait_for("the process to go on", || (state(pid) == 'S').then_some(()));
    }

    #[test]
    fn no_such_process_is_reported() {
        let mut gone = Command::new("true").spawn().unwrap();
        let pid = gone.id();
        gone.wait().unwrap();
        assert!(Stall::start(pid, "1ms every 2ms".parse().unwrap()).is_err());
    }
}
