//! A thread that beats.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, JoinHandle};

use takt_base::{MonoNs, Stop};
use takt_host::affinity::pin_self;
use takt_host::policy::set_policy;
use takt_host::slack::timer_slack_ns;
use takt_host::timer::Timer;

use crate::account::Account;
use crate::options::nanoseconds;
use crate::{WakeupError, WakeupOptions};

/// Report of a thread: first that it is ready or why not, then what it measured or why nothing.
pub(crate) enum ThreadReport {
    Ready,
    Failed(WakeupError),
    Measured(Box<Measured>),
}

pub(crate) struct Measured {
    pub(crate) index: usize,
    pub(crate) tid: u32,
    pub(crate) cpu: Option<usize>,
    pub(crate) slack_ns: u64,
    pub(crate) account: Account,
}

/// A thread that waits for its start, beats, reports, and stays until it is dropped.
pub(crate) struct Beating {
    orders: Option<Sender<MonoNs>>,
    handle: Option<JoinHandle<()>>,
}

impl Beating {
    pub(crate) fn start(
        index: usize,
        cpu: Option<usize>,
        options: &WakeupOptions,
        reports: &Sender<ThreadReport>,
        stop: &Stop,
    ) -> Result<Beating, WakeupError> {
        let (orders, ordered) = mpsc::channel();
        let (options, reports, stop) = (options.clone(), reports.clone(), stop.clone());
        let work = move || {
            if let Err(error) = live(index, cpu, &options, &reports, &ordered, &stop) {
                // Nobody receives it: then the round was given up before.
                let _ = reports.send(ThreadReport::Failed(error));
            }
        };
        let handle = Builder::new().name(format!("takt-beat-{index}")).spawn(work).map_err(WakeupError::Thread)?;
        Ok(Beating { orders: Some(orders), handle: Some(handle) })
    }

    /// Sends it the time of tick 0.
    pub(crate) fn go(&self, start: MonoNs) {
        if let Some(orders) = &self.orders {
            // One that has ended has reported why.
            let _ = orders.send(start);
        }
    }
}

impl Drop for Beating {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(Err(panic)) = self.handle.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

fn live(
    index: usize,
    cpu: Option<usize>,
    options: &WakeupOptions,
    reports: &Sender<ThreadReport>,
    ordered: &Receiver<MonoNs>,
    stop: &Stop,
) -> Result<(), WakeupError> {
    let clock = options.clock();
    if let Some(cpu) = cpu {
        pin_self(&[cpu])?;
    }
    set_policy(0, options.policy.with_period(options.interval))?;
    // After the policy: a real-time thread has no slack.
    let mut timer = Timer::open(options.waiting()?)?;
    let interval_ns = nanoseconds(options.interval);
    let first = options.beats(options.warm_up);
    let end = first + options.beats(options.duration);
    if reports.send(ThreadReport::Ready).is_err() {
        return Ok(());
    }
    let Ok(start) = ordered.recv() else { return Ok(()) };
    let mut account = Account::new(start, interval_ns, first, end, clock);
    while let Some(due) = account.due() {
        let Some(now) = timer.wait_until(due, stop)? else { break };
        account.woken(now);
    }
    let tid = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    let measured = Measured { index, tid, cpu, slack_ns: timer_slack_ns(), account };
    let _ = reports.send(ThreadReport::Measured(Box::new(measured)));
    // Until it has been looked at.
    let _ = ordered.recv();
    Ok(())
}
