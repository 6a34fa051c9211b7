//! When the hypervisor took time from the host side's cores: what is late then is not this host's doing.

use takt_base::{Clock, MonoNs, WallClock};
use takt_host::accounting::Snapshot;

/// A stretch of time, and what was stolen in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: MonoNs,
    pub(super) to: MonoNs,
    pub(super) stolen_ns: u64,
}

/// Looks at the kernel's account of it now and then. The account is in ticks of 10 ms, so a window says that something
/// was stolen in it, not how much to the microsecond.
pub(super) struct Watch {
    cpus: Vec<usize>,
    last: Option<Snapshot>,
    since: MonoNs,
    windows: Vec<Window>,
}

impl Watch {
    /// Over these CPUs; none: all.
    pub(super) fn over(cpus: &[usize]) -> Watch {
        Watch { cpus: cpus.to_vec(), last: Snapshot::take().ok(), since: WallClock.now(), windows: Vec::new() }
    }

    pub(super) fn look(&mut self) {
        let now = WallClock.now();
        let Ok(snapshot) = Snapshot::take() else { return };
        if let Some(last) = &self.last {
            let usage = snapshot.since(last);
            let ours = usage.cpus.iter().filter(|one| self.cpus.is_empty() || self.cpus.contains(&one.cpu));
            let stolen_ns = ours.map(|one| one.classes.steal_ns).sum();
            self.windows.push(Window { from: self.since, to: now, stolen_ns });
        }
        (self.last, self.since) = (Some(snapshot), now);
    }

    pub(super) fn windows(self) -> Vec<Window> {
        self.windows
    }
}

/// Whether something was stolen between two instants of this host, or just before the account was looked at next.
pub(super) fn stolen(windows: &[Window], from_ns: i64, to_ns: i64) -> bool {
    let overlaps = |window: &&Window| super::ns(window.from) <= to_ns && super::ns(window.to) >= from_ns;
    windows.iter().filter(overlaps).any(|window| window.stolen_ns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_with_stolen_time_is_found_by_what_touches_it() {
        let window = |from, to, stolen_ns| Window { from: MonoNs(from), to: MonoNs(to), stolen_ns };
        let windows = [window(0, 100, 0), window(100, 200, 10_000_000), window(200, 300, 0)];
        assert!(stolen(&windows, 90, 110) && stolen(&windows, 150, 160) && stolen(&windows, 199, 400));
        assert!(!stolen(&windows, 10, 90) && !stolen(&windows, 201, 400));
    }
}
