//! Asks ptp4l how well it is synchronised.

use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use takt_wire::WireError;
use takt_wire::ptp::{
    PtpBody, PtpCurrent, PtpDataSet, PtpDomain, PtpPort, PtpPortState, PtpQuestion, PtpReply, PtpRequest, PtpStamps,
    PtpTimeProperties, PtpTimeStatus,
};

use super::PtpError;

/// Paths at which ptp4l answers by default: first the socket on which nothing can be changed, which linuxptp 4 has.
const USUAL: [&str; 2] = ["/var/run/ptp4lro", "/var/run/ptp4l"];

/// How long all answers together may take.
const PATIENCE: Duration = Duration::from_millis(200);

/// Ports that are looked at.
const MOST_PORTS: usize = 64;

/// Messages that are read for one question at most: what else comes is no answer.
const MOST_MESSAGES: usize = 4 * MOST_PORTS;

/// TAI less UTC when leap seconds began, s.
const LEAST_UTC_OFFSET_S: i16 = 10;

/// A PTP service of this machine.
#[derive(Clone, Debug)]
pub struct Service {
    sockets: Vec<PathBuf>,
    domain: PtpDomain,
}

/// Its facts while it is synchronised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synchronised {
    /// `clockIdentity` of the grandmaster, which may be this clock.
    pub grandmaster: u64,
    /// The clock less its master when it was last measured, ns; 0 of a grandmaster.
    pub offset_ns: i64,
    /// The way from the master, ns: an asymmetry of it is an error of the offset that no measurement shows. 0 of a grandmaster.
    pub path_delay_ns: u64,
    /// PTP's time less the system clock's, s: TAI less UTC, or 0 where the domain's time is not TAI.
    pub ahead_s: i64,
    /// The interface whose card stamps, and has the clock that is disciplined; none where the system clock is.
    pub card: Option<String>,
}

impl Service {
    /// The one that answers at `socket`, or where linuxptp has it.
    #[must_use]
    pub fn new(socket: Option<PathBuf>, domain: PtpDomain) -> Service {
        let sockets = socket.map_or_else(|| USUAL.map(PathBuf::from).to_vec(), |socket| vec![socket]);
        Service { sockets, domain }
    }

    /// Asks it.
    ///
    /// # Errors
    /// It is not there, or its clock is not to be relied on.
    pub fn ask(&self) -> Result<Synchronised, PtpError> {
        for path in &self.sockets {
            let socket = match connect(path) {
                Ok(socket) => socket,
                // Nobody has it, or nobody listens any more.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => continue,
                Err(source) => return Err(PtpError::Socket { path: path.clone(), source }),
            };
            return self.ask_at(&socket, path)?.judge(path, self.domain);
        }
        Err(PtpError::Absent { tried: self.sockets.clone() })
    }

    /// All questions at once, and answers until the last one's: ptp4l answers in order.
    fn ask_at(&self, socket: &UnixDatagram, path: &Path) -> Result<Answers, PtpError> {
        let question = PtpQuestion { domain: self.domain, port: std::process::id() as u16, sequence: number() as u16 };
        let broke = |source| PtpError::Socket { path: path.to_owned(), source };
        for data_set in PtpDataSet::ALL {
            let mut room = [0; PtpRequest::BYTES];
            let written = PtpRequest { question, data_set }.write(&mut room).map_err(io::Error::other);
            socket.send(&room[..written.map_err(broke)?]).map_err(broke)?;
        }
        let (until, mut answers) = (Instant::now() + PATIENCE, Answers::default());
        for _ in 0..MOST_MESSAGES {
            if answers.status.is_some() || answers.refused.is_some() {
                break;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            socket.set_read_timeout(Some(left)).map_err(broke)?;
            // One byte more than an answer can have: what does not fit is none.
            let mut room = [0; PtpReply::MOST_BYTES + 1];
            match socket.recv(&mut room) {
                Ok(len) => answers.take(room.get(..len).unwrap_or_default(), question),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => return Err(broke(error)),
            }
        }
        Ok(answers)
    }
}

/// A socket with a name of its own, which is no file, so that nothing has to be removed; only the service can write to it.
fn connect(path: &Path) -> io::Result<UnixDatagram> {
    let name = format!("takt-ptp-{}-{}", std::process::id(), number());
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
    socket.connect(path)?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// Another one each time.
fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Messages that came in answer to one question.
#[derive(Debug, Default)]
struct Answers {
    ports: Vec<Port>,
    properties: Option<PtpTimeProperties>,
    current: Option<PtpCurrent>,
    status: Option<PtpTimeStatus>,
    refused: Option<(&'static str, u16)>,
    unread: Option<WireError>,
}

#[derive(Debug)]
struct Port {
    interface: String,
    state: PtpPortState,
    stamps: PtpStamps,
}

impl Answers {
    fn take(&mut self, message: &[u8], question: PtpQuestion) {
        let reply = match PtpReply::parse(message) {
            // It answers an earlier question, or another's.
            Ok(reply) if reply.question != question => return,
            Ok(reply) => reply,
            Err(error) => return self.unread = Some(error),
        };
        match reply.body {
            PtpBody::Port(PtpPort { interface, state, stamps, .. }) if self.ports.len() < MOST_PORTS => {
                self.ports.push(Port { interface: interface.to_owned(), state, stamps });
            }
            PtpBody::Port(_) => {}
            PtpBody::TimeProperties(properties) => self.properties = Some(properties),
            PtpBody::Current(current) => self.current = Some(current),
            PtpBody::TimeStatus(status) => self.status = Some(status),
            PtpBody::Refused { data_set, error } => self.refused = Some((data_set.name(), error)),
        }
    }

    /// Whether the clock is to be relied on.
    fn judge(self, path: &Path, domain: PtpDomain) -> Result<Synchronised, PtpError> {
        if let Some((what, error)) = self.refused {
            return Err(PtpError::Refused { what, error });
        }
        let (lacks, unread) = (self.lacks(), self.unread);
        let (Some(properties), Some(current), Some(status), None) = (self.properties, self.current, self.status, lacks)
        else {
            let path = path.to_owned();
            return Err(match unread {
                Some(source) => PtpError::Unread { path, source },
                None => PtpError::Silent { path, what: lacks.unwrap_or_default(), domain: domain.number },
            });
        };
        let in_state = |wanted: &[PtpPortState]| self.ports.iter().find(|port| wanted.contains(&port.state));
        let slave = in_state(&[PtpPortState::Slave]);
        let master = in_state(&[PtpPortState::Master, PtpPortState::GrandMaster]).filter(|_| !status.has_grandmaster);
        let is_slave = slave.is_some();
        if is_slave && !status.has_grandmaster {
            return Err(PtpError::NoGrandmaster);
        }
        let Some(port) = slave.or(master) else {
            return Err(PtpError::Unsynchronised { ports: states(&self.ports) });
        };
        let PtpTimeProperties { utc_offset_s, is_tai, .. } = properties;
        if is_tai && utc_offset_s < LEAST_UTC_OFFSET_S {
            return Err(PtpError::UtcOffset { utc_offset_s });
        }
        // CURRENT_DATA_SET in units of 2^-16 ns: at least as far off as TIME_STATUS_NP says in whole ones.
        let scaled = current.offset_scaled_ns >> 16;
        let offset_ns = if scaled.unsigned_abs() > status.offset_ns.unsigned_abs() { scaled } else { status.offset_ns };
        let path_delay_ns = current.path_delay_scaled_ns.unsigned_abs() >> 16;
        Ok(Synchronised {
            grandmaster: status.grandmaster,
            offset_ns: if is_slave { offset_ns } else { 0 },
            path_delay_ns: if is_slave { path_delay_ns } else { 0 },
            ahead_s: if is_tai { utc_offset_s.into() } else { 0 },
            card: (port.stamps != PtpStamps::Software).then(|| port.interface.clone()),
        })
    }

    /// The first data set that nobody has answered.
    fn lacks(&self) -> Option<&'static str> {
        let lacking = PtpDataSet::ALL.into_iter().find(|set| match set {
            PtpDataSet::Port => self.ports.is_empty(),
            PtpDataSet::TimeProperties => self.properties.is_none(),
            PtpDataSet::Current => self.current.is_none(),
            PtpDataSet::TimeStatus => self.status.is_none(),
        });
        lacking.map(PtpDataSet::name)
    }
}

fn states(ports: &[Port]) -> String {
    let one = |port: &Port| format!("port {} is {:?}", port.interface, port.state);
    ports.iter().map(one).collect::<Vec<_>>().join(", ")
}
