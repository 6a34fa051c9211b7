//! A PTP service that says what a test wants.

use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::Stop;
use takt_bridge::clock::ptp::{PtpDomain, Service};
use takt_wire::ptp::{
    PtpBody, PtpCurrent, PtpDataSet, PtpPort, PtpPortState, PtpReply, PtpRequest, PtpStamps, PtpTimeProperties,
    PtpTimeStatus,
};

pub const GRANDMASTER: u64 = 0x0200_00FF_FE00_0001;

/// Its answer to a request: any number of messages.
pub type Answer = Box<dyn Fn(&PtpRequest) -> Vec<Vec<u8>> + Send>;

/// Answers on a socket of its own until it is dropped.
pub struct Double {
    folder: tempfile::TempDir,
    answer: Arc<Mutex<Answer>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Double {
    pub fn new(answer: impl Fn(&PtpRequest) -> Vec<Vec<u8>> + Send + 'static) -> Double {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = UnixDatagram::bind(folder.path().join("ptp4l")).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket");
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(Box::new(answer)));
        let (stop, how) = (Stop::new(), Arc::clone(&answer));
        let until = stop.clone();
        let thread = std::thread::spawn(move || {
            while !until.requested() {
                let mut room = [0; 256];
                let Ok((len, from)) = socket.recv_from(&mut room) else { continue };
                let request = PtpRequest::parse(&room[..len]).expect("a request");
                let answers = how.lock().expect("no panic")(&request);
                answers.iter().for_each(|bytes| send(&socket, bytes, &from));
            }
        });
        Double { folder, answer, stop, thread: Some(thread) }
    }

    /// Answers otherwise from now on.
    pub fn becomes(&self, answer: impl Fn(&PtpRequest) -> Vec<Vec<u8>> + Send + 'static) {
        *self.answer.lock().expect("no panic") = Box::new(answer);
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("ptp4l")
    }

    pub fn service(&self) -> Service {
        Service::new(Some(self.path()), PtpDomain::default())
    }
}

fn send(socket: &UnixDatagram, bytes: &[u8], to: &SocketAddr) {
    // The caller may have gone.
    let _ = socket.send_to_addr(bytes, to);
}

impl Drop for Double {
    fn drop(&mut self) {
        self.stop.request();
        self.thread.take().map(JoinHandle::join);
    }
}

/// A slave 250 ns off its master, 3 µs away from it, by stamps in software: PTP's time is the system clock's.
pub fn well(data_set: PtpDataSet) -> PtpBody<'static> {
    in_state(data_set, PtpPortState::Slave, true)
}

pub fn in_state(data_set: PtpDataSet, state: PtpPortState, has_grandmaster: bool) -> PtpBody<'static> {
    match data_set {
        PtpDataSet::Port => PtpBody::Port(PtpPort { number: 1, state, stamps: PtpStamps::Software, interface: "eth0" }),
        PtpDataSet::TimeProperties => {
            PtpBody::TimeProperties(PtpTimeProperties { utc_offset_s: 37, utc_offset_is_valid: false, is_tai: false })
        }
        PtpDataSet::Current => PtpBody::Current(PtpCurrent {
            steps_removed: 1,
            offset_scaled_ns: -250 << 16,
            path_delay_scaled_ns: 3_000 << 16,
        }),
        PtpDataSet::TimeStatus => PtpBody::TimeStatus(PtpTimeStatus {
            offset_ns: -250,
            ingress_ns: 1_700_000_000_000_000_000,
            has_grandmaster,
            grandmaster: GRANDMASTER,
        }),
    }
}

/// One message for each request.
pub fn each(body: impl Fn(PtpDataSet) -> PtpBody<'static>) -> impl Fn(&PtpRequest) -> Vec<Vec<u8>> {
    move |request| vec![bytes(request, body(request.data_set))]
}

pub fn bytes(request: &PtpRequest, body: PtpBody<'_>) -> Vec<u8> {
    let mut room = [0; PtpReply::MOST_BYTES];
    let len = PtpReply { question: request.question, body }.write(&mut room).expect("room");
    room[..len].to_vec()
}
