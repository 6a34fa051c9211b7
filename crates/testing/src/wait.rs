//! Waiting for what will come, however long a busy machine takes.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// An event that has not come by then will not come. A guard against tests that hang, never a statement about time.
pub const HANG: Duration = Duration::from_secs(300);

/// Looks again until there is something, and answers it.
///
/// # Panics
/// After [`HANG`], with `what`.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < HANG, "waited {} s for {what}", HANG.as_secs());
        sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_at_the_third_look_is_answered() {
        let mut looks = 0;
        let found = wait_for("a third look", || {
            looks += 1;
            (looks == 3).then_some("found")
        });
        assert_eq!((found, looks), ("found", 3));
    }
}
