//! Numbers that the load's thread shows while it works: plain ones, without locks. A reader may see some of them a
//! moment older than others.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    pub elapsed: Duration,
    pub planned: Duration,
    pub warm_up: bool,
    pub sent: u64,
    /// Datagrams the server has received, as it last reported.
    pub received_by_server: u64,
    pub received: u64,
}

/// Written by the load's thread, read by the one that waits for it.
#[derive(Debug, Default)]
pub(in super::super) struct Gauge {
    /// 0: no round yet.
    began_ns: AtomicU64,
    planned_ns: AtomicU64,
    warm_up: AtomicBool,
    sent: AtomicU64,
    received_by_server: AtomicU64,
    received: AtomicU64,
}

impl Gauge {
    pub(super) fn begin(&self, now: MonoNs, planned_ns: u64, warm_up: bool) {
        self.show(0, 0, 0);
        self.planned_ns.store(planned_ns, Ordering::Relaxed);
        self.warm_up.store(warm_up, Ordering::Relaxed);
        self.began_ns.store(now.0.max(1), Ordering::Relaxed);
    }

    pub(super) fn show(&self, sent: u64, received_by_server: u64, received: u64) {
        self.sent.store(sent, Ordering::Relaxed);
        self.received_by_server.store(received_by_server, Ordering::Relaxed);
        self.received.store(received, Ordering::Relaxed);
    }

    /// `None` before the first round.
    pub(super) fn read(&self) -> Option<Progress> {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let began = Some(MonoNs(load(&self.began_ns))).filter(|began| began.0 > 0)?;
        Some(Progress {
            elapsed: WallClock.now().saturating_since(began),
            planned: Duration::from_nanos(load(&self.planned_ns)),
            warm_up: self.warm_up.load(Ordering::Relaxed),
            sent: load(&self.sent),
            received_by_server: load(&self.received_by_server),
            received: load(&self.received),
        })
    }
}
