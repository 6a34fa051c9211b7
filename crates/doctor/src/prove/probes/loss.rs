//! Datagrams lost over loopback at 25 MS/s while the reader pauses, like a reader that waits for a disk or a core.

use std::io;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use takt_base::Stop;

use crate::prove::MeasureError;

/// The buffer that UHD asks for a USRP N200; the kernel grants at most its limit.
const LARGEST_BYTES: usize = 50_000_000;
/// An N200's full frame, 363 samples of sc16, at 25 MS/s.
const DATAGRAM_BYTES: usize = 1472;
const DATAGRAMS_PER_S: f64 = 25e6 / 363.0;
/// How long the reader is away, and how often.
const PAUSE: Duration = Duration::from_millis(100);
pub(super) const EVERY: Duration = Duration::from_millis(400);
/// After this long without a datagram, those that have not arrived are lost.
const QUIET: Duration = Duration::from_millis(200);

/// Lost of what was sent, 0 to 1.
pub(super) fn share(round: Duration, stop: &Stop) -> Result<f64, MeasureError> {
    let (sent, received) = exchange(round, stop).map_err(MeasureError::Loss)?;
    if sent == 0 { Err(MeasureError::Nothing) } else { Ok(sent.saturating_sub(received) as f64 / sent as f64) }
}

fn exchange(round: Duration, stop: &Stop) -> io::Result<(u64, u64)> {
    let receiver = UdpSocket::bind("127.0.0.1:0")?;
    rustix::net::sockopt::set_socket_recv_buffer_size(&receiver, LARGEST_BYTES)?;
    receiver.set_read_timeout(Some(QUIET))?;
    let sender = UdpSocket::bind("127.0.0.1:0")?;
    sender.connect(receiver.local_addr()?)?;
    let all_sent = Stop::new();
    thread::scope(|scope| {
        let reading = scope.spawn(|| read(&receiver, &all_sent));
        let sent = send(&sender, round, stop);
        all_sent.request();
        let received = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((sent?, received))
    })
}

/// Sends what has come due since the start, a millisecond's worth at a time, from the intended times.
fn send(sender: &UdpSocket, round: Duration, stop: &Stop) -> io::Result<u64> {
    let datagram = [0u8; DATAGRAM_BYTES];
    let (start, mut sent) = (Instant::now(), 0u64);
    while !stop.requested() {
        let passed = start.elapsed().min(round);
        // The first is due at the start, the others of a sender that was late are sent all the same.
        let due = 1 + (passed.as_secs_f64() * DATAGRAMS_PER_S) as u64;
        while sent < due {
            sender.send(&datagram)?;
            sent += 1;
        }
        if passed == round {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(sent)
}

/// Counts what comes, away for a while now and then, until all is sent and nothing comes any more.
fn read(receiver: &UdpSocket, all_sent: &Stop) -> io::Result<u64> {
    let mut datagram = [0u8; DATAGRAM_BYTES];
    let mut received = 0;
    let mut away_at = Instant::now() + EVERY / 2;
    loop {
        if Instant::now() >= away_at {
            thread::sleep(PAUSE);
            away_at = Instant::now() + EVERY - PAUSE;
        }
        // Before it waits: what is sent meanwhile may come right after.
        let last = all_sent.requested();
        match receiver.recv(&mut datagram) {
            Ok(_) => received += 1,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if last {
                    return Ok(received);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_was_sent() {
        let (sent, received) = exchange(Duration::from_millis(50), &Stop::new()).unwrap();
        assert!(0 < received && received <= sent, "{received} of {sent}");
    }

    #[test]
    fn a_round_that_is_stopped_before_it_begins_has_nothing_to_say() {
        let stop = Stop::new();
        stop.request();
        assert!(matches!(share(Duration::from_secs(60), &stop), Err(MeasureError::Nothing)));
    }
}
