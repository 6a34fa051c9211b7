//! Ctrl-C and its kin, turned into a flag that running work looks at.

use miette::{IntoDiagnostic, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use takt_base::Stop;
use takt_host::ending::stop_or_end;

/// Raised by the first SIGINT, SIGTERM or SIGHUP; another one, a second later or more, ends the program at once, for work
/// that hangs. Errors: the kernel refuses a handler.
pub fn stop_on_signal() -> Result<Stop> {
    let stop = Stop::new();
    stop_or_end(&[SIGINT, SIGTERM, SIGHUP], &stop).into_diagnostic()?;
    Ok(stop)
}

/// Requests to end while a child has the terminal. A Ctrl-C goes to the child as well, and is mostly meant for it.
pub struct BesideAShell {
    /// Raised by SIGINT.
    pub interrupted: Stop,
    /// Raised by SIGTERM and SIGHUP.
    pub ended: Stop,
}

impl BesideAShell {
    /// From now on none of these signals ends the program by itself. Errors: the kernel refuses a handler.
    pub fn register() -> Result<BesideAShell> {
        let (interrupted, ended) = (Stop::new(), Stop::new());
        for (signal, stop) in [(SIGINT, &interrupted), (SIGTERM, &ended), (SIGHUP, &ended)] {
            signal_hook::flag::register(signal, stop.flag()).into_diagnostic()?;
        }
        Ok(BesideAShell { interrupted, ended })
    }

    /// Whether any of them came.
    pub fn any(&self) -> bool {
        self.interrupted.requested() || self.ended.requested()
    }
}
