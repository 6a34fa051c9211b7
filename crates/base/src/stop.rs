//! A request to stop, seen by everything that runs long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is raised once and stays up. Clones are the same flag; reading it costs one relaxed load.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag nobody has raised.
    #[must_use]
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Asks whoever looks at the flag to end in good order.
    pub fn request(&self) {
        // Relaxed: the flag publishes nothing but itself.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was requested.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for a signal handler to raise.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
