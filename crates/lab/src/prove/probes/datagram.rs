//! Datagrams over loopback, flat out.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use takt_base::Stop;

use crate::prove::MeasureError;
use crate::workload::udp::{Notice, Options, ServeOptions, UdpReport, run, serve};

/// Time of a 1472-byte datagram that arrives, nanoseconds.
pub(super) fn ns(round: Duration, stop: &Stop) -> Result<f64, MeasureError> {
    let report = over_loopback(round, stop)?;
    let per_s = report.way.datagrams_per_s;
    if per_s > 0.0 { Ok(1e9 / per_s) } else { Err(MeasureError::Nothing) }
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
