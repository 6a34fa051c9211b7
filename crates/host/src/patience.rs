//! Removing what is about to become free.

use std::io;
use std::time::{Duration, Instant};

/// Removes, again and again while it is refused for a reason that passes; `false` if there is nothing.
pub(crate) fn removed_in_time(passing: io::ErrorKind, remove: impl Fn() -> io::Result<()>) -> io::Result<bool> {
    let begun = Instant::now();
    loop {
        match remove() {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == passing && begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error),
        }
    }
}

/// How long processes that were killed may still be counted in their group.
const PATIENCE: Duration = Duration::from_secs(2);
