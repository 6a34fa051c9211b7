//! Ctrl-C and its kin, turned into a flag that running work looks at.

use miette::{IntoDiagnostic, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use takt_base::Stop;

/// Raised by the first SIGINT, SIGTERM or SIGHUP; the second SIGINT ends the program at once, for work that hangs.
/// Errors: the kernel refuses a handler.
pub fn stop_on_signal() -> Result<Stop> {
    let stop = Stop::new();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: on the first signal the shutdown does not fire, since the flag is raised after it looked.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, stop.flag()).into_diagnostic()?;
        signal_hook::flag::register(signal, stop.flag()).into_diagnostic()?;
    }
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
