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
