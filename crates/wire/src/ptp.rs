//! Questions to a PTP service on its own machine, and its answers: management messages of IEEE 1588-2008, clause 15, as linuxptp's
//! `ptp4l` takes them on a UNIX socket.
//!
//! Only what is requested here is read: GET and RESPONSE of four data sets, and the error status. Two of the sets are linuxptp's own
//! (`TIME_STATUS_NP`, `PORT_PROPERTIES_NP`). Big-endian; what follows the stated end is ignored.

use crate::WireError;
use crate::words::codes;

const WHAT: &str = "PTP management message";
/// Bytes of the common header (13.3), the management header (15.4) and the head of the one TLV, up to its data.
const HEAD: usize = 54;
const MANAGEMENT: u8 = 0xD;
const VERSION: u8 = 2;
const GET: u8 = 0;
const RESPONSE: u8 = 2;
const TLV_MANAGEMENT: u16 = 1;
const TLV_ERROR: u16 = 2;
/// All ports of a clock.
const ALL: [u8; 10] = [0xFF; 10];

/// Domain of a message: a service drops, without a word, what is for another domain or profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PtpDomain {
    /// `domainNumber`.
    pub number: u8,
    /// `transportSpecific`, 0 to 15: 1 in gPTP (IEEE 802.1AS), otherwise 0.
    pub transport_specific: u8,
}

/// Data that can be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtpDataSet {
    /// `CURRENT_DATA_SET`.
    Current,
    /// `TIME_PROPERTIES_DATA_SET`.
    TimeProperties,
    /// `TIME_STATUS_NP`.
    TimeStatus,
    /// `PORT_PROPERTIES_NP`; each port of the clock answers.
    Port,
}

impl PtpDataSet {
    /// All of them.
    pub const ALL: [PtpDataSet; 4] =
        [PtpDataSet::Port, PtpDataSet::TimeProperties, PtpDataSet::Current, PtpDataSet::TimeStatus];

    /// Its `managementId`.
    #[must_use]
    pub fn id(self) -> u16 {
        match self {
            PtpDataSet::Current => 0x2001,
            PtpDataSet::TimeProperties => 0x2003,
            PtpDataSet::TimeStatus => 0xC000,
            PtpDataSet::Port => 0xC004,
        }
    }

    /// Its name in the standard, or linuxptp.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PtpDataSet::Current => "CURRENT_DATA_SET",
            PtpDataSet::TimeProperties => "TIME_PROPERTIES_DATA_SET",
            PtpDataSet::TimeStatus => "TIME_STATUS_NP",
            PtpDataSet::Port => "PORT_PROPERTIES_NP",
        }
    }

    fn of(id: u16) -> Result<PtpDataSet, WireError> {
        let known = PtpDataSet::ALL.into_iter().find(|set| set.id() == id);
        known.ok_or(WireError::field("PTP managementId", id, "one of those that are requested"))
    }
}

/// The asking port, and the number of its question: both come back in the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PtpQuestion {
    /// Its domain.
    pub domain: PtpDomain,
    /// `portNumber` of who asks; its clock identity is 0.
    pub port: u16,
    /// `sequenceId`.
    pub sequence: u16,
}

/// GET of a data set, to all ports of the clock, and never further than to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtpRequest {
    /// The asking port, and its question.
    pub question: PtpQuestion,
    /// Requested data.
    pub data_set: PtpDataSet,
}

/// RESPONSE to such a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtpReply<'a> {
    /// That of the request.
    pub question: PtpQuestion,
    /// The answer's contents.
    pub body: PtpBody<'a>,
}

/// Contents of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PtpBody<'a> {
    Current(PtpCurrent),
    TimeProperties(PtpTimeProperties),
    TimeStatus(PtpTimeStatus),
    Port(PtpPort<'a>),
    /// `MANAGEMENT_ERROR_STATUS`.
    Refused {
        data_set: PtpDataSet,
        /// `managementErrorId`.
        error: u16,
    },
}

/// `CURRENT_DATA_SET` (15.5.3.4). Intervals in 2^-16 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtpCurrent {
    /// Clocks between this one and the grandmaster.
    pub steps_removed: u16,
    /// The clock less its master, when it was last measured.
    pub offset_scaled_ns: i64,
    /// Mean of the way there and the way back.
    pub path_delay_scaled_ns: i64,
}

/// `TIME_PROPERTIES_DATA_SET` (15.5.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtpTimeProperties {
    /// TAI less UTC, s.
    pub utc_offset_s: i16,
    /// Whether that is known to be right.
    pub utc_offset_is_valid: bool,
    /// Whether the domain's time is TAI; otherwise of its own making, with linuxptp and stamps in software the system clock's UTC.
    pub is_tai: bool,
}

/// `TIME_STATUS_NP` of linuxptp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtpTimeStatus {
    /// The clock less its master, when it was last measured.
    pub offset_ns: i64,
    /// When the last Sync came, by the clock that it is stamped with; 0 if none did.
    pub ingress_ns: i64,
    /// Whether another clock is grandmaster, and there.
    pub has_grandmaster: bool,
    /// `clockIdentity` of the grandmaster; the clock's own where it is that itself.
    pub grandmaster: u64,
}

/// `PORT_PROPERTIES_NP` of linuxptp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtpPort<'a> {
    /// Number of the port, from 1.
    pub number: u16,
    /// Its state.
    pub state: PtpPortState,
    /// How its messages are stamped.
    pub stamps: PtpStamps,
    /// Its interface.
    pub interface: &'a str,
}

/// `portState` (8.2.5.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the standard's names")]
pub enum PtpPortState {
    Initializing,
    Faulty,
    Disabled,
    Listening,
    PreMaster,
    Master,
    Passive,
    Uncalibrated,
    Slave,
    /// A state of linuxptp.
    GrandMaster,
    Other(u8),
}

codes! { PtpPortState: u8 {
    Initializing = 1, Faulty = 2, Disabled = 3, Listening = 4, PreMaster = 5, Master = 6, Passive = 7, Uncalibrated = 8,
    Slave = 9, GrandMaster = 10
} }

/// The part that stamps messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PtpStamps {
    Software,
    Hardware,
    LegacyHardware,
    OneStep,
    PeerOneStep,
    Other(u8),
}

codes! { PtpStamps: u8 { Software = 0, Hardware = 1, LegacyHardware = 2, OneStep = 3, PeerOneStep = 4 } }

impl PtpRequest {
    /// Size of a request.
    pub const BYTES: usize = HEAD;

    /// # Errors
    /// `Short` if bytes are missing; `Field` if it is no such request.
    pub fn parse(message: &[u8]) -> Result<Self, WireError> {
        let head = Head::parse(message, GET)?;
        if head.tlv != TLV_MANAGEMENT {
            return Err(WireError::field("PTP tlvType", head.tlv, "1, a management TLV"));
        }
        Ok(Self { question: head.source, data_set: PtpDataSet::of(head.id)? })
    }

    /// Writes 54 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let head = Head { source: self.question, action: GET, tlv: TLV_MANAGEMENT, id: self.data_set.id(), ..NOBODY };
        head.write(out, &[])
    }
}

impl<'a> PtpReply<'a> {
    /// Bytes of a reply at most: a text has 255.
    pub const MOST_BYTES: usize = HEAD + 12 + 1 + 255 + 1;

    /// # Errors
    /// `Short` if bytes are missing; `Field` if it is no answer to such a request, or a data set of another length.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let head = Head::parse(message, RESPONSE)?;
        let body = match head.tlv {
            TLV_MANAGEMENT => body(PtpDataSet::of(head.id)?, head.data)?,
            TLV_ERROR => {
                let [high, low, ..] = *sized::<6>(head.data, "PTP error status")?;
                PtpBody::Refused { data_set: PtpDataSet::of(u16::from_be_bytes([high, low]))?, error: head.id }
            }
            other => return Err(WireError::field("PTP tlvType", other, "1 or 2, of management")),
        };
        Ok(Self { question: head.target, body })
    }

    /// Writes it. `Short` if `out` is too small.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let head = |tlv, id| Head { target: self.question, action: RESPONSE, tlv, id, ..NOBODY };
        let data = |set: PtpDataSet| head(TLV_MANAGEMENT, set.id());
        match self.body {
            PtpBody::Current(current) => data(PtpDataSet::Current).write(out, &current.bytes()),
            PtpBody::TimeProperties(properties) => data(PtpDataSet::TimeProperties).write(out, &properties.bytes()),
            PtpBody::TimeStatus(status) => data(PtpDataSet::TimeStatus).write(out, &status.bytes()),
            PtpBody::Port(port) => {
                let mut room = [0; PtpReply::MOST_BYTES - HEAD];
                let bytes = port.bytes(&mut room);
                data(PtpDataSet::Port).write(out, bytes)
            }
            PtpBody::Refused { data_set, error } => {
                let [high, low] = data_set.id().to_be_bytes();
                head(TLV_ERROR, error).write(out, &[high, low, 0, 0, 0, 0])
            }
        }
    }
}

fn body(data_set: PtpDataSet, data: &[u8]) -> Result<PtpBody<'_>, WireError> {
    Ok(match data_set {
        PtpDataSet::Current => PtpBody::Current(PtpCurrent::parse(data)?),
        PtpDataSet::TimeProperties => PtpBody::TimeProperties(PtpTimeProperties::parse(data)?),
        PtpDataSet::TimeStatus => PtpBody::TimeStatus(PtpTimeStatus::parse(data)?),
        PtpDataSet::Port => PtpBody::Port(PtpPort::parse(data)?),
    })
}

impl PtpCurrent {
    const BYTES: usize = 18;

    fn parse(data: &[u8]) -> Result<Self, WireError> {
        let data = sized::<{ Self::BYTES }>(data, PtpDataSet::Current.name())?;
        Ok(Self {
            steps_removed: u16::from_be_bytes(at(data, 0)),
            offset_scaled_ns: i64::from_be_bytes(at(data, 2)),
            path_delay_scaled_ns: i64::from_be_bytes(at(data, 10)),
        })
    }

    fn bytes(self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..2].copy_from_slice(&self.steps_removed.to_be_bytes());
        out[2..10].copy_from_slice(&self.offset_scaled_ns.to_be_bytes());
        out[10..].copy_from_slice(&self.path_delay_scaled_ns.to_be_bytes());
        out
    }
}

impl PtpTimeProperties {
    const BYTES: usize = 4;
    const UTC_OFFSET_VALID: u8 = 1 << 2;
    const PTP_TIMESCALE: u8 = 1 << 3;

    fn parse(data: &[u8]) -> Result<Self, WireError> {
        let data = sized::<{ Self::BYTES }>(data, PtpDataSet::TimeProperties.name())?;
        let flag = |bit| data[2] & bit != 0;
        Ok(Self {
            utc_offset_s: i16::from_be_bytes(at(data, 0)),
            utc_offset_is_valid: flag(Self::UTC_OFFSET_VALID),
            is_tai: flag(Self::PTP_TIMESCALE),
        })
    }

    fn bytes(self) -> [u8; Self::BYTES] {
        let [high, low] = self.utc_offset_s.to_be_bytes();
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let flags = flag(self.utc_offset_is_valid, Self::UTC_OFFSET_VALID) | flag(self.is_tai, Self::PTP_TIMESCALE);
        [high, low, flags, 0]
    }
}

impl PtpTimeStatus {
    const BYTES: usize = 50;

    fn parse(data: &[u8]) -> Result<Self, WireError> {
        let data = sized::<{ Self::BYTES }>(data, PtpDataSet::TimeStatus.name())?;
        Ok(Self {
            offset_ns: i64::from_be_bytes(at(data, 0)),
            ingress_ns: i64::from_be_bytes(at(data, 8)),
            has_grandmaster: i32::from_be_bytes(at(data, 38)) != 0,
            grandmaster: u64::from_be_bytes(at(data, 42)),
        })
    }

    fn bytes(self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..8].copy_from_slice(&self.offset_ns.to_be_bytes());
        out[8..16].copy_from_slice(&self.ingress_ns.to_be_bytes());
        out[41] = u8::from(self.has_grandmaster);
        out[42..].copy_from_slice(&self.grandmaster.to_be_bytes());
        out
    }
}

/// Before the text of `PORT_PROPERTIES_NP`: clock identity, port number, state, stamps, length of the text.
const PORT_HEAD: usize = 13;

impl<'a> PtpPort<'a> {
    fn parse(data: &'a [u8]) -> Result<Self, WireError> {
        let what = PtpDataSet::Port.name();
        let short = |need| WireError::Short { what, need, have: data.len() };
        let (head, text) = data.split_first_chunk::<{ PORT_HEAD }>().ok_or(short(PORT_HEAD))?;
        let length = usize::from(head[12]);
        let text = text.get(..length).ok_or(short(PORT_HEAD + length))?;
        let is_name = |byte: &u8| byte.is_ascii_graphic();
        let interface = std::str::from_utf8(text).ok().filter(|text| text.as_bytes().iter().all(is_name));
        Ok(Self {
            number: u16::from_be_bytes(at(head, 8)),
            state: PtpPortState::from_code(head[10]),
            stamps: PtpStamps::from_code(head[11]),
            interface: interface.ok_or(WireError::field("PTP interface", length as u64, "printable ASCII"))?,
        })
    }

    /// An even number of bytes (15.5.4.1.5).
    fn bytes<'b>(&self, room: &'b mut [u8; PtpReply::MOST_BYTES - HEAD]) -> &'b [u8] {
        let text = self.interface.as_bytes();
        let text = text.get(..255).unwrap_or(text);
        room[8..10].copy_from_slice(&self.number.to_be_bytes());
        room[10..PORT_HEAD].copy_from_slice(&[self.state.code(), self.stamps.code(), text.len() as u8]);
        room[PORT_HEAD..PORT_HEAD + text.len()].copy_from_slice(text);
        &room[..(PORT_HEAD + text.len()).next_multiple_of(2)]
    }
}

/// Head of all messages, and the data of their TLV.
struct Head<'a> {
    source: PtpQuestion,
    target: PtpQuestion,
    action: u8,
    tlv: u16,
    /// `managementId`, or `managementErrorId` of an error status.
    id: u16,
    data: &'a [u8],
}

const NOBODY: Head<'static> = {
    let question = PtpQuestion { domain: PtpDomain { number: 0, transport_specific: 0 }, port: 0, sequence: 0 };
    Head { source: question, target: question, action: GET, tlv: TLV_MANAGEMENT, id: 0, data: &[] }
};

impl<'a> Head<'a> {
    fn parse(message: &'a [u8], action: u8) -> Result<Head<'a>, WireError> {
        let have = message.len();
        let short = |need| WireError::Short { what: WHAT, need, have };
        let (head, rest) = message.split_first_chunk::<HEAD>().ok_or(short(HEAD))?;
        check("PTP messageType", head[0] & 0xF, MANAGEMENT, "0xd, management")?;
        check("PTP version", head[1] & 0xF, VERSION, "2")?;
        check("PTP actionField", head[46] & 0xF, action, if action == GET { "0, GET" } else { "2, RESPONSE" })?;
        let (length, tlv_length) = (u16::from_be_bytes(at(head, 2)), u16::from_be_bytes(at(head, 50)));
        // Two bytes of the TLV's data are in the head: the id.
        let data =
            usize::from(tlv_length).checked_sub(2).ok_or(WireError::field("PTP TLV", tlv_length, "2 or more"))?;
        if usize::from(length) < HEAD + data {
            return Err(WireError::field("PTP messageLength", length, "that of the TLV and its head"));
        }
        if usize::from(length) > have {
            return Err(short(usize::from(length)));
        }
        let data = rest.get(..data).ok_or(short(HEAD + data))?;
        let domain = PtpDomain { number: head[4], transport_specific: head[0] >> 4 };
        let sequence = u16::from_be_bytes(at(head, 30));
        let party = |from: usize| PtpQuestion { domain, port: u16::from_be_bytes(at(head, from + 8)), sequence };
        Ok(Head {
            source: party(20),
            target: party(34),
            action,
            tlv: u16::from_be_bytes(at(head, 48)),
            id: u16::from_be_bytes(at(head, 52)),
            data,
        })
    }

    fn write(&self, out: &mut [u8], data: &[u8]) -> Result<usize, WireError> {
        let (have, length) = (out.len(), HEAD + data.len());
        let out = out.get_mut(..length).ok_or(WireError::Short { what: WHAT, need: length, have })?;
        let asks = self.action == GET;
        let PtpQuestion { domain, port, sequence } = if asks { self.source } else { self.target };
        let (head, rest) = out.split_at_mut(HEAD);
        head.fill(0);
        head[0] = domain.transport_specific << 4 | MANAGEMENT;
        head[1] = VERSION;
        head[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        head[4] = domain.number;
        let [own, other] = if asks { [28, 34] } else { [42, 20] };
        if asks {
            head[other..other + 10].copy_from_slice(&ALL);
        }
        head[own..own + 2].copy_from_slice(&port.to_be_bytes());
        head[30..32].copy_from_slice(&sequence.to_be_bytes());
        // controlField of management, and no logMessageInterval (13.3.2.10, table 24).
        head[32..34].copy_from_slice(&[4, 0x7F]);
        head[46] = self.action;
        head[48..50].copy_from_slice(&self.tlv.to_be_bytes());
        head[50..52].copy_from_slice(&(data.len() as u16 + 2).to_be_bytes());
        head[52..54].copy_from_slice(&self.id.to_be_bytes());
        rest.copy_from_slice(data);
        Ok(length)
    }
}

fn check(what: &'static str, got: u8, want: u8, name: &'static str) -> Result<(), WireError> {
    if got == want { Ok(()) } else { Err(WireError::field(what, got, name)) }
}

/// The data of a set; a later version of it may have more at its end.
fn sized<'a, const N: usize>(data: &'a [u8], what: &'static str) -> Result<&'a [u8; N], WireError> {
    data.first_chunk().ok_or(WireError::Short { what, need: N, have: data.len() })
}

/// `N` bytes from a place on that the layout has.
fn at<const N: usize, const M: usize>(bytes: &[u8; M], from: usize) -> [u8; N] {
    std::array::from_fn(|n| bytes.get(from + n).copied().unwrap_or(0))
}
