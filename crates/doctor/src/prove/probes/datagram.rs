//! Datagrams over loopback at full speed.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use takt_base::Stop;
use takt_udp::{Notice, ServeOptions, UdpOptions, UdpReport, run, serve};

use crate::prove::MeasureError;

/// In a shorter round a busy host may not let a single datagram arrive.
pub(super) const AT_LEAST: Duration = Duration::from_millis(50);

/// Time of a 1472-byte datagram that arrives, nanoseconds.
pub(super) fn ns(round: Duration, stop: &Stop) -> Result<f64, MeasureError> {
    let load = |server| UdpOptions { duration: round, ..UdpOptions::to(server) };
    time_of_one(over_loopback(load, stop)?.way.datagrams_per_s)
}

fn time_of_one(datagrams_per_s: f64) -> Result<f64, MeasureError> {
    if datagrams_per_s > 0.0 { Ok(1e9 / datagrams_per_s) } else { Err(MeasureError::Nothing) }
}

fn over_loopback(load: impl FnOnce(SocketAddr) -> UdpOptions, stop: &Stop) -> Result<UdpReport, MeasureError> {
    let (done, (ready, at)) = (Stop::new(), mpsc::channel());
    thread::scope(|scope| {
        let done = &done;
        let serving = scope.spawn(move || {
            let mut notice = |notice| {
                if let Notice::Ready(server) = notice {
                    // The thread that waits for it is there until the server has ended.
                    let _ = ready.send(server);
                }
            };
            serve(&ServeOptions::at((Ipv4Addr::LOCALHOST, 0).into()), &mut notice, done)
        });
        // Nothing comes from a server that can't begin.
        let report = at.recv().ok().map(|server| run(&load(server), &mut |_| {}, stop));
        done.request();
        // An early end of the server is why the client found nobody.
        let served = serving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (report, served) {
            (Some(Ok(report)), _) => Ok(report),
            (_, Err(error)) | (Some(Err(error)), Ok(_)) => Err(error.into()),
            (None, Ok(_)) => Err(MeasureError::Nothing),
        }
    })
}

/// As [`ns`], for a round that ends after a given number of datagrams, however long they take.
#[cfg(test)]
pub(in crate::prove) fn ns_of(datagrams: u64) -> Result<f64, MeasureError> {
    time_of_one(over_loopback(|server| counted(server, datagrams), &Stop::new())?.way.datagrams_per_s)
}

#[cfg(test)]
fn counted(server: SocketAddr, datagrams: u64) -> UdpOptions {
    UdpOptions { datagrams: Some(datagrams), duration: Duration::from_secs(3600), ..UdpOptions::to(server) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_takes_the_inverse_of_their_rate_and_without_one_there_is_no_time() {
        assert_eq!(time_of_one(250_000.0).unwrap(), 4000.0);
        for none in [0.0, -1.0, f64::NAN] {
            assert!(matches!(time_of_one(none), Err(MeasureError::Nothing)), "{none}");
        }
    }

    #[test]
    fn a_round_counts_what_arrived_of_what_was_sent() {
        let way = over_loopback(|server| counted(server, 1000), &Stop::new()).unwrap().way;
        assert_eq!(way.sent.datagrams, 1000);
        assert!(0 < way.received.datagrams && way.received.datagrams <= way.sent.datagrams, "{way:?}");
        assert!(way.datagrams_per_s > 0.0, "{way:?}");
    }

    #[test]
    fn a_round_that_is_stopped_ends_at_once() {
        let stop = Stop::new();
        stop.request();
        let _nothing_or_little = ns(Duration::from_secs(3600), &stop);
    }
}
