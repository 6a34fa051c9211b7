//! Control messages: 16 bytes of header, then a body.
//!
//! ```text
//!  byte 0 to 3   4         5      6      7       8 to 15
//!  "TAKT"        version   kind   flow   round   session
//! ```
//!
//! Big-endian. `session` is a number the client drew. A question is never shorter than its answer before the asker has
//! shown that it can be reached at the address it claims. So nobody can be made to send more than was sent to it.

/// Version of the protocol; another one is answered with [`Reason::Version`].
pub const VERSION: u8 = 1;
pub const HEADER_BYTES: usize = 16;
/// No control message is longer: it passes any network unfragmented.
pub const MESSAGE_BYTES: usize = 1232;
/// Bytes of body in one [`Body::Chunk`].
pub const CHUNK_BYTES: usize = 1024;
/// Bytes of a [`Body::Hello`] with its padding: no answer to it is longer.
pub const HELLO_BYTES: usize = 64;

const MAGIC: [u8; 4] = *b"TAKT";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    pub flow: u8,
    pub round: u8,
    pub session: u64,
    pub body: Body<'a>,
}

/// Contents of a message. C: only the client sends it; S: only the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// C: is a server there? Padded to [`HELLO_BYTES`].
    Hello,
    /// S: answer with this number, which shows that you receive at your address.
    Cookie(u64),
    /// C: that number; `flow` of `flows` is mine.
    Open {
        cookie: u64,
        flows: u8,
    },
    /// S: the flow is open; the kernel's number for this boot of the server's machine.
    Opened {
        boot_id: [u8; 16],
    },
    Refused(Reason),
    /// C: what time is it with you?
    Ping {
        sent_ns: u64,
    },
    /// S: the server's clock when the ping arrived and when this was sent, ns.
    Pong {
        sent_ns: u64,
        arrived_ns: u64,
        answered_ns: u64,
    },
    /// C: begin `round` as this plan says (JSON).
    Start(&'a [u8]),
    Started,
    /// Both: I am still here, and have received so many datagrams of this round.
    Alive {
        received: u64,
    },
    /// C: I have sent all I will send of this round; stop sending if you still are.
    Finish {
        sent: u64,
    },
    /// S: received; `bytes` is the length of the round's result, 0 while there is none yet.
    Finished {
        bytes: u32,
    },
    /// C: give me this chunk of the result.
    Get {
        chunk: u32,
    },
    /// S: at most [`CHUNK_BYTES`].
    Chunk {
        chunk: u32,
        bytes: &'a [u8],
    },
    /// C: the session is over.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Busy,
    Version,
    Plan,
}

impl<'a> Message<'a> {
    /// Reads a message; `None` if it is none, or of another version.
    #[must_use]
    pub fn parse(datagram: &'a [u8]) -> Option<Message<'a>> {
        let (&[m0, m1, m2, m3, version, kind, flow, round], rest) = datagram.split_first_chunk::<8>()?;
        let (&session, body) = rest.split_first_chunk::<8>()?;
        let whole = datagram.len() <= MESSAGE_BYTES && [m0, m1, m2, m3] == MAGIC && version == VERSION;
        let body = whole.then(|| Body::parse(kind, body))??;
        Some(Message { flow, round, session: u64::from_be_bytes(session), body })
    }

    /// Writes it into a frame and says how many bytes it took; 0 if it does not fit.
    pub fn write(&self, frame: &mut [u8]) -> usize {
        let mut out = Writer { frame, len: 0, fits: true };
        out.bytes(&MAGIC);
        out.bytes(&[VERSION, self.body.kind(), self.flow, self.round]);
        out.bytes(&self.session.to_be_bytes());
        self.body.write(&mut out);
        if out.fits && out.len <= MESSAGE_BYTES { out.len } else { 0 }
    }
}

/// Whether this is a message in another version of this protocol, and of which session.
#[must_use]
pub fn other_version(datagram: &[u8]) -> Option<u64> {
    let (&[m0, m1, m2, m3, version, ..], rest) = datagram.split_first_chunk::<8>()?;
    let session = rest.first_chunk::<8>()?;
    ([m0, m1, m2, m3] == MAGIC && version != VERSION).then(|| u64::from_be_bytes(*session))
}

impl<'a> Body<'a> {
    const fn kind(&self) -> u8 {
        match self {
            Body::Hello => 1,
            Body::Cookie(_) => 2,
            Body::Open { .. } => 3,
            Body::Opened { .. } => 4,
            Body::Refused(_) => 5,
            Body::Ping { .. } => 6,
            Body::Pong { .. } => 7,
            Body::Start(_) => 8,
            Body::Started => 9,
            Body::Alive { .. } => 10,
            Body::Finish { .. } => 11,
            Body::Finished { .. } => 12,
            Body::Get { .. } => 13,
            Body::Chunk { .. } => 14,
            Body::Close => 15,
        }
    }

    fn parse(kind: u8, bytes: &'a [u8]) -> Option<Body<'a>> {
        let mut read = Reader(bytes);
        let body = match kind {
            1 => read.skip(HELLO_BYTES - HEADER_BYTES).map(|()| Body::Hello)?,
            2 => Body::Cookie(read.u64()?),
            3 => {
                let (cookie, [flows]) = (read.u64()?, read.array::<1>()?);
                read.skip(OPEN_PADDING)?;
                Body::Open { cookie, flows }
            }
            4 => Body::Opened { boot_id: read.array()? },
            5 => Body::Refused(Reason::of(read.array::<1>()?)?),
            6 => Body::Ping { sent_ns: read.u64().filter(|_| read.skip(16).is_some())? },
            7 => Body::Pong { sent_ns: read.u64()?, arrived_ns: read.u64()?, answered_ns: read.u64()? },
            8 => Body::Start(std::mem::take(&mut read.0)),
            9 => Body::Started,
            10 => Body::Alive { received: read.u64()? },
            11 => Body::Finish { sent: read.u64()? },
            12 => Body::Finished { bytes: read.u32()? },
            13 => Body::Get { chunk: read.u32()? },
            14 => {
                let chunk = read.u32()?;
                let bytes = Some(std::mem::take(&mut read.0)).filter(|bytes| bytes.len() <= CHUNK_BYTES)?;
                Body::Chunk { chunk, bytes }
            }
            15 => Body::Close,
            _ => return None,
        };
        read.0.is_empty().then_some(body)
    }

    fn write(&self, out: &mut Writer<'_>) {
        match *self {
            Body::Hello => out.zeros(HELLO_BYTES - HEADER_BYTES),
            Body::Cookie(cookie) => out.bytes(&cookie.to_be_bytes()),
            Body::Open { cookie, flows } => {
                out.bytes(&cookie.to_be_bytes());
                out.bytes(&[flows]);
                out.zeros(OPEN_PADDING);
            }
            Body::Opened { boot_id } => out.bytes(&boot_id),
            Body::Refused(reason) => out.bytes(&[reason as u8]),
            Body::Ping { sent_ns } => {
                out.bytes(&sent_ns.to_be_bytes());
                out.zeros(16);
            }
            Body::Pong { sent_ns, arrived_ns, answered_ns } => {
                for ns in [sent_ns, arrived_ns, answered_ns] {
                    out.bytes(&ns.to_be_bytes());
                }
            }
            Body::Start(plan) => out.bytes(plan),
            Body::Started | Body::Close => {}
            Body::Alive { received: number } | Body::Finish { sent: number } => out.bytes(&number.to_be_bytes()),
            Body::Finished { bytes: number } | Body::Get { chunk: number } => out.bytes(&number.to_be_bytes()),
            Body::Chunk { chunk, bytes } => {
                out.bytes(&chunk.to_be_bytes());
                out.bytes(bytes);
            }
        }
    }
}

/// An `Open` is no shorter than the `Opened` that answers it.
const OPEN_PADDING: usize = 7;

impl Reason {
    fn of([byte]: [u8; 1]) -> Option<Reason> {
        [Reason::Busy, Reason::Version, Reason::Plan].into_iter().find(|&reason| reason as u8 == byte)
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (&bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Padding: zeros, so that each message has one spelling.
    fn skip(&mut self, bytes: usize) -> Option<()> {
        let (padding, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        padding.iter().all(|&byte| byte == 0).then_some(())
    }
}

struct Writer<'a> {
    frame: &'a mut [u8],
    len: usize,
    fits: bool,
}

impl Writer<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        match self.frame.get_mut(self.len..end) {
            Some(into) => into.copy_from_slice(bytes),
            None => self.fits = false,
        }
        self.len = end;
    }

    fn zeros(&mut self, count: usize) {
        (0..count).for_each(|_| self.bytes(&[0]));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOME: [Body<'_>; 17] = [
        Body::Hello,
        Body::Cookie(1),
        Body::Open { cookie: u64::MAX, flows: 16 },
        Body::Opened { boot_id: *b"0123456789abcdef" },
        Body::Refused(Reason::Busy),
        Body::Refused(Reason::Version),
        Body::Refused(Reason::Plan),
        Body::Ping { sent_ns: 7 },
        Body::Pong { sent_ns: 7, arrived_ns: 8, answered_ns: 9 },
        Body::Start(b"{}"),
        Body::Started,
        Body::Alive { received: 5 },
        Body::Finish { sent: 6 },
        Body::Finished { bytes: 70_000 },
        Body::Get { chunk: 3 },
        Body::Chunk { chunk: 3, bytes: &[7; CHUNK_BYTES] },
        Body::Close,
    ];

    fn written(body: Body<'_>) -> Vec<u8> {
        let mut frame = [0xa5; MESSAGE_BYTES];
        let len = Message { flow: 2, round: 3, session: 0x0102_0304_0506_0708, body }.write(&mut frame);
        frame[..len].to_vec()
    }

    #[test]
    fn every_message_survives_and_every_shorter_or_longer_one_is_another_or_none() {
        for body in SOME {
            let bytes = written(body);
            assert_eq!(
                Message::parse(&bytes).map(|m| (m.flow, m.round, m.session, m.body)),
                Some((2, 3, 0x0102_0304_0506_0708, body))
            );
            let variable = matches!(body, Body::Start(_) | Body::Chunk { .. });
            assert!(variable || (0..bytes.len()).all(|n| Message::parse(&bytes[..n]).is_none()), "{body:?}");
            let longer = [&bytes[..], &[0]].concat();
            assert!(matches!(body, Body::Start(_)) || Message::parse(&longer).is_none(), "{body:?}");
        }
    }

    #[test]
    fn the_header_is_these_sixteen_bytes() {
        assert_eq!(written(Body::Close), b"TAKT\x01\x0f\x02\x03\x01\x02\x03\x04\x05\x06\x07\x08");
        assert_eq!(written(Body::Hello).len(), HELLO_BYTES);
    }

    #[test]
    fn no_answer_before_the_cookie_came_back_is_longer_than_its_question() {
        let len = |body| written(body).len();
        let (hello, open) = (len(Body::Hello), len(Body::Open { cookie: 1, flows: 1 }));
        assert!(len(Body::Cookie(1)) <= hello);
        assert!(len(Body::Opened { boot_id: [0; 16] }) <= open);
        assert!(len(Body::Refused(Reason::Busy)) <= HEADER_BYTES + 1);
        assert!(len(Body::Pong { sent_ns: 0, arrived_ns: 0, answered_ns: 0 }) <= len(Body::Ping { sent_ns: 0 }));
    }

    #[test]
    fn a_message_that_does_not_fit_is_not_written_in_part() {
        let message = Message { flow: 0, round: 0, session: 0, body: Body::Hello };
        assert_eq!(message.write(&mut [0; HELLO_BYTES - 1]), 0);
        let long = Message { body: Body::Start(&[b' '; MESSAGE_BYTES]), ..message };
        assert_eq!(long.write(&mut [0; 2 * MESSAGE_BYTES]), 0);
    }

    #[test]
    fn another_version_is_recognised_and_a_stranger_is_not() {
        let mut bytes = written(Body::Hello);
        bytes[4] = 2;
        assert_eq!((Message::parse(&bytes), other_version(&bytes)), (None, Some(0x0102_0304_0506_0708)));
        bytes[0] = b'X';
        assert_eq!(other_version(&bytes), None);
        assert_eq!(other_version(b"TAKT\x02"), None);
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_means_the_same_when_written_again(
            kind in 0_u8..18, mut bytes in prop::collection::vec(prop_oneof![3 => Just(0_u8), 1 => any::<u8>()], 16..120),
        ) {
            bytes[..6].copy_from_slice(&[b'T', b'A', b'K', b'T', VERSION, kind]);
            if let Some(message) = Message::parse(&bytes) {
                let mut frame = [0; MESSAGE_BYTES];
                let len = message.write(&mut frame);
                prop_assert_eq!(&frame[..len], &bytes[..]);
            }
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let _ = (Message::parse(&bytes), other_version(&bytes));
        }
    }
}
