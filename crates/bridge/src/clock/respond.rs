//! Says what time it is, to whoever asks.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{Clock, Stop, WallClock};
use takt_wire::clock::{ClockReply, ClockRequest};

/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// A thread that answers on a port of its own.
pub struct Responder {
    stop: Stop,
    at: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    /// # Errors
    /// The port or the thread can't be had.
    pub fn start(address: IpAddr) -> std::io::Result<Responder> {
        let socket = UdpSocket::bind((address, 0))?;
        socket.set_read_timeout(Some(LOOK))?;
        let (at, stop) = (socket.local_addr()?, Stop::new());
        let until = stop.clone();
        let thread = std::thread::Builder::new().name("takt-clock".to_owned()).spawn(move || {
            while !until.requested() {
                answer(&socket);
            }
        })?;
        Ok(Responder { stop, at, thread: Some(thread) })
    }

    /// Address at which it takes requests.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.at
    }
}

fn answer(socket: &UdpSocket) {
    let mut room = [0; ClockRequest::BYTES + 1];
    let Ok((len, from)) = socket.recv_from(&mut room) else { return };
    let received_ns = WallClock.now().0;
    // As long as the question: nobody can make it send more than it was sent.
    let Some(request) = room.get(..len).filter(|_| len == ClockRequest::BYTES) else { return };
    let Ok(ClockRequest { id }) = ClockRequest::parse(request) else { return };
    let mut reply = [0; ClockRequest::BYTES];
    let Ok(len) = (ClockReply { id, received_ns, sent_ns: WallClock.now().0 }).write(&mut reply) else { return };
    // An asker that does not get it asks again.
    let _ = socket.send_to(&reply[..len], from);
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // A panic there was printed there.
            let _ = thread.join();
        }
    }
}
