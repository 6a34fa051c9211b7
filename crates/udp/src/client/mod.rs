//! The client: opens a session, runs rounds in it, joins both halves of each into a report.

mod control;
mod gauge;
mod round;

use std::thread;
use std::time::Duration;

use takt_base::Stop;

pub use gauge::Progress;

use self::control::ControlChannel;
use self::gauge::Gauge;
use super::clock::Relation;
use super::end::spawn_for_load;
use super::error::UdpError;
use super::join::report;
use super::options::UdpOptions;
use super::plan::Plan;
use super::protocol::message::Body;
use super::report::UdpReport;

const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Runs a load against a server that consents to it. The calling thread waits and calls `progress` about five times a
/// second; the load has a thread of its own, which inherits the caller's network namespace.
///
/// When `stop` is requested the load ends early and what was measured is reported, with `complete` false.
///
/// # Errors
/// An option is out of range; nobody answers; the server is busy, falls silent or refuses.
pub fn run(
    options: &UdpOptions,
    progress: &mut (dyn FnMut(Progress) + Send),
    stop: &Stop,
) -> Result<UdpReport, UdpError> {
    options.check()?;
    on_its_thread(options, progress, |gauge| {
        let mut client = Client::open(options, gauge, stop)?;
        // The server is free for others afterwards, whatever the outcome.
        let report = client.warm_up(options).and_then(|()| client.round(options));
        client.close()?;
        report
    })
}

/// Does `work` on a thread made for load, and calls `progress` meanwhile.
pub(super) fn on_its_thread<T: Send>(
    options: &UdpOptions,
    progress: &mut (dyn FnMut(Progress) + Send),
    work: impl FnOnce(&Gauge) -> Result<T, UdpError> + Send,
) -> Result<T, UdpError> {
    let (gauge, waiting) = (Gauge::default(), thread::current());
    thread::scope(|scope| {
        // Also after a panic: the thread that waits must not wait for longer.
        let awake = Wake(&waiting);
        let gauge = &gauge;
        let worker = spawn_for_load(scope, "takt-udp-client", options.placement(), move || {
            let _awake = awake;
            work(gauge)
        })?;
        while !worker.is_finished() {
            thread::park_timeout(PROGRESS_EVERY);
            if let Some(now) = gauge.read() {
                progress(now);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

struct Wake<'a>(&'a thread::Thread);

impl Drop for Wake<'_> {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

pub(super) struct Client<'a> {
    control: ControlChannel<'a>,
    gauge: &'a Gauge,
    server_boot: [u8; 16],
    clock: Relation,
}

impl<'a> Client<'a> {
    /// Opens a session for rounds of these flows, with payloads as large as those of `options`.
    pub(super) fn open(options: &'a UdpOptions, gauge: &'a Gauge, stop: &'a Stop) -> Result<Client<'a>, UdpError> {
        let mut control = ControlChannel::open(options, stop)?;
        let server_boot = control.open_flows()?;
        let clock = control.compare_clocks(server_boot)?;
        Ok(Client { control, gauge, server_boot, clock })
    }

    /// The round before the measured one, where one is requested.
    pub(super) fn warm_up(&mut self, options: &UdpOptions) -> Result<(), UdpError> {
        if !options.warm_up.is_zero() {
            let plan = Plan::of(options, self.clock.offset_ns, Some(options.warm_up));
            self.control.run_round(&plan, true, self.gauge)?;
        }
        Ok(())
    }

    pub(super) fn round(&mut self, options: &UdpOptions) -> Result<UdpReport, UdpError> {
        let plan = Plan::of(options, self.clock.offset_ns, None);
        let (mine, theirs, complete) = self.control.run_round(&plan, false, self.gauge)?;
        let after = self.control.compare_clocks(self.server_boot)?;
        report(options, &plan, (mine, theirs), self.clock.confirmed_by(&after), complete)
    }

    pub(super) fn close(&mut self) -> Result<(), UdpError> {
        Ok(self.control.send(0, Body::Close)?)
    }
}
