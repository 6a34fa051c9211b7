//! Datagrams over loopback, flat out.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use takt_base::Stop;

use crate::prove::MeasureError;
use crate::workload::udp::{Notice, Options, ServeOptions, UdpReport, run, serve};

/// In a shorter round a busy host may not let a single datagram arrive.
pub(super) const AT_LEAST: Duration = Duration::from_millis(50);

/// Time of a 1472-byte datagram that arrives, nanoseconds.
pub(super) fn ns(round: Duration, stop: &Stop) -> Result<f64, MeasureError> {
    time_of_one(over_loopback(round, stop)?.way.datagrams_per_s)
}

fn time_of_one(datagrams_per_s: f64) -> Result<f64, MeasureError> {
    if datagrams_per_s > 0.0 { Ok(1e9 / datagrams_per_s) } else { Err(MeasureError::Nothing) }
}

fn over_loopback(round: Duration, stop: &Stop) -> Result<UdpReport, MeasureError> {
    // A port that is free now; whoever takes it in the meantime makes the server say so.
    let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr());
    let server: SocketAddr = free.map_err(MeasureError::Loss)?;
    let done = Stop::new();
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&ServeOptions::at(server), &mut |_: Notice| {}, &done));
        let options = Options { duration: round, ..Options::to(server) };
        let report = run(&options, &mut |_| {}, stop);
        done.request();
        // What ended the server early is why the client found nobody.
        let served = serving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (report, served) {
            (Ok(report), _) => Ok(report),
            (Err(_), Err(error)) | (Err(error), Ok(_)) => Err(error.into()),
        }
    })
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
        let way = over_loopback(Duration::from_millis(100), &Stop::new()).unwrap().way;
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
