//! ZMTP 3.0, the protocol of ZeroMQ over TCP, without security (mechanism `NULL`): <https://rfc.zeromq.org/spec/23/>.
//!
//! Both sides send a greeting of 64 bytes, a command `READY` with the type of their socket, and then messages. All that comes
//! is hostile until read: each length is compared with a limit before anything is kept.

/// Bytes of a greeting.
pub const GREETING: usize = 64;
/// Longest message that is taken, bytes.
pub const MOST_MESSAGE: usize = 4 << 20;
/// Longest command.
const MOST_COMMAND: usize = 512;

/// More of a message follows.
const MORE: u8 = 1;
/// The length has eight bytes.
const LONG: u8 = 2;
/// It is a command.
const COMMAND: u8 = 4;

/// Types of sockets that samples pass between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketType {
    /// Sends each message to one peer in turn.
    Push,
    /// Receives from a `Push`.
    Pull,
    /// Sends each message to all peers that subscribe.
    Pub,
    /// Subscribes at a `Pub`.
    Sub,
}

impl SocketType {
    /// As in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SocketType::Push => "PUSH",
            SocketType::Pull => "PULL",
            SocketType::Pub => "PUB",
            SocketType::Sub => "SUB",
        }
    }

    /// Whether the two may be connected. `XPUB` and `XSUB` speak as `PUB` and `SUB`.
    #[must_use]
    pub fn fits(self, other: &[u8]) -> bool {
        match self {
            SocketType::Push => other == b"PULL",
            SocketType::Pull => other == b"PUSH",
            SocketType::Pub => matches!(other, b"SUB" | b"XSUB"),
            SocketType::Sub => matches!(other, b"PUB" | b"XPUB"),
        }
    }
}

/// Why a peer is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZmtpError {
    /// It is no ZeroMQ, or an older one.
    #[error("the peer does not speak ZMTP 3: its {what} is {got:?}")]
    Greeting {
        /// The field.
        what: &'static str,
        /// Its bytes.
        got: Vec<u8>,
    },
    /// A message or command is too long.
    #[error("the peer sends {bytes} bytes at once; expected: {most} at most")]
    Long {
        /// Its length.
        bytes: u64,
        /// The limit.
        most: usize,
    },
    /// A frame that the protocol does not have.
    #[error("the peer sends a frame with flags {0:#04x}, which ZMTP 3 does not allow")]
    Flags(u8),
    /// A command other than expected.
    #[error("the peer's first command is {0:?}; expected: READY with a socket type")]
    NotReady(Vec<u8>),
    /// Its socket does not go with ours.
    #[error("the peer is a socket of type {theirs}; expected: {expected}")]
    Unfit {
        /// Its type.
        theirs: String,
        /// The type that fits.
        expected: &'static str,
    },
}

/// The greeting that this side sends.
#[must_use]
pub fn greeting() -> [u8; GREETING] {
    let mut greeting = [0; GREETING];
    (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
    greeting[12..16].copy_from_slice(b"NULL");
    greeting
}

/// Checks the peer's greeting.
///
/// # Errors
/// It is none of version 3 without security.
pub fn check_greeting(greeting: &[u8; GREETING]) -> Result<(), ZmtpError> {
    let wrong = |what, got: &[u8]| Err(ZmtpError::Greeting { what, got: got.to_vec() });
    match greeting {
        [signature, .., _] if *signature != 0xff => wrong("signature", &greeting[..10]),
        _ if greeting[9] != 0x7f => wrong("signature", &greeting[..10]),
        _ if greeting[10] < 3 => wrong("version", &greeting[10..12]),
        _ if greeting[12..32] != self::greeting()[12..32] => wrong("mechanism", &greeting[12..32]),
        _ => Ok(()),
    }
}

/// The command `READY` of a socket.
#[must_use]
pub fn ready(socket: SocketType) -> Vec<u8> {
    let name = socket.name().as_bytes();
    let mut body = b"\x05READY\x0bSocket-Type".to_vec();
    // Four bytes at most: `PUSH`.
    body.extend((name.len() as u32).to_be_bytes());
    body.extend(name);
    let mut frame = vec![COMMAND, body.len() as u8];
    frame.extend(body);
    frame
}

/// Checks the peer's command `READY`.
///
/// # Errors
/// It is another command, or a socket that does not go with ours.
pub fn check_ready(command: &[u8], ours: SocketType) -> Result<(), ZmtpError> {
    let not_ready = || ZmtpError::NotReady(command.iter().copied().take(64).collect());
    let mut rest = command.strip_prefix(b"\x05READY").ok_or_else(not_ready)?;
    while let Some((&name_len, after)) = rest.split_first() {
        let (name, after) = after.split_at_checked(name_len.into()).ok_or_else(not_ready)?;
        let (length, after) = after.split_first_chunk::<4>().ok_or_else(not_ready)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| not_ready())?;
        let (value, after) = after.split_at_checked(length).ok_or_else(not_ready)?;
        if name.eq_ignore_ascii_case(b"Socket-Type") {
            let expected = match ours {
                SocketType::Push => "PULL",
                SocketType::Pull => "PUSH",
                SocketType::Pub => "SUB",
                SocketType::Sub => "PUB",
            };
            let theirs = || String::from_utf8_lossy(value).chars().take(16).collect();
            return if ours.fits(value) { Ok(()) } else { Err(ZmtpError::Unfit { theirs: theirs(), expected }) };
        }
        rest = after;
    }
    Err(not_ready())
}

/// Appends a message of one part.
pub fn encode_message(out: &mut Vec<u8>, body: &[u8]) {
    match u8::try_from(body.len()) {
        Ok(short) => out.extend([0, short]),
        Err(_) => {
            out.push(LONG);
            out.extend((body.len() as u64).to_be_bytes());
        }
    }
    out.extend(body);
}

/// A whole frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A command, without its length.
    Command(Vec<u8>),
    /// A part of a message; `more`: another one follows.
    Message {
        /// Its bytes.
        body: Vec<u8>,
        /// Whether another part follows.
        more: bool,
    },
}

/// Takes frames out of what came so far; keeps the rest. `None`: the next is not whole yet.
///
/// # Errors
/// It is no frame, or too long.
pub fn next_frame(input: &mut Vec<u8>) -> Result<Option<Frame>, ZmtpError> {
    let Some((&flags, rest)) = input.split_first() else { return Ok(None) };
    if flags & !(MORE | LONG | COMMAND) != 0 || flags & (MORE | COMMAND) == MORE | COMMAND {
        return Err(ZmtpError::Flags(flags));
    }
    let (bytes, header) = if flags & LONG == 0 {
        let Some(&short) = rest.first() else { return Ok(None) };
        (u64::from(short), 2)
    } else {
        let Some(long) = rest.first_chunk::<8>() else { return Ok(None) };
        (u64::from_be_bytes(*long), 9)
    };
    let is_command = flags & COMMAND != 0;
    let most = if is_command { MOST_COMMAND } else { MOST_MESSAGE };
    let length = usize::try_from(bytes).ok().filter(|&length| length <= most).ok_or(ZmtpError::Long { bytes, most })?;
    if input.len() < header + length {
        return Ok(None);
    }
    let body = input[header..header + length].to_vec();
    input.drain(..header + length);
    Ok(Some(if is_command { Frame::Command(body) } else { Frame::Message { body, more: flags & MORE != 0 } }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn greetings_of_libzmq_are_taken_and_others_are_named() {
        // As libzmq 4.3.4 sends it: version 3.1.
        let mut theirs = greeting();
        (theirs[8], theirs[11]) = (1, 1);
        assert_eq!(check_greeting(&theirs), Ok(()));
        let mut curve = theirs;
        curve[12..17].copy_from_slice(b"CURVE");
        let refused = |greeting: &[u8; GREETING]| check_greeting(greeting).unwrap_err().to_string();
        assert!(refused(&curve).contains("mechanism"), "{}", refused(&curve));
        let mut old = theirs;
        old[10] = 1;
        assert!(refused(&old).contains("version is [1, 1]"), "{}", refused(&old));
        assert!(
            refused(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n0123456789abcdef").contains("signature")
        );
    }

    #[test]
    fn ready_says_which_sockets_fit() {
        let frame = ready(SocketType::Push);
        assert_eq!(frame[..9], [4, 26, 5, b'R', b'E', b'A', b'D', b'Y', 11]);
        let body = &frame[2..];
        assert_eq!(body.len(), usize::from(frame[1]));
        assert_eq!(check_ready(body, SocketType::Pull), Ok(()));
        let error = check_ready(body, SocketType::Sub).unwrap_err().to_string();
        assert_eq!(error, "the peer is a socket of type PUSH; expected: PUB");
        assert!(check_ready(b"\x05ERROR", SocketType::Pull).is_err());
        assert!(check_ready(b"\x05READY\x0bSocket-Type\xff\xff\xff\xffPUSH", SocketType::Pull).is_err());
        assert!(check_ready(b"\x05READY", SocketType::Pull).is_err(), "no type");
    }

    #[test]
    fn a_frame_longer_than_its_limit_is_refused_before_it_comes() {
        let mut long = [&[LONG][..], &u64::MAX.to_be_bytes()].concat();
        assert_eq!(next_frame(&mut long), Err(ZmtpError::Long { bytes: u64::MAX, most: MOST_MESSAGE }));
        assert_eq!(next_frame(&mut vec![0x40, 1, 2]), Err(ZmtpError::Flags(0x40)));
        assert_eq!(next_frame(&mut vec![5, 1, 2]), Err(ZmtpError::Flags(5)), "a command has no parts");
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..5)) {
            let mut out = Vec::new();
            bodies.iter().for_each(|body| encode_message(&mut out, body));
            // Each prefix is a wait, never an error.
            for cut in 0..out.len().min(40) {
                let mut part = out[..cut].to_vec();
                while next_frame(&mut part).expect("no error").is_some() {}
            }
            for body in bodies {
                prop_assert_eq!(next_frame(&mut out).expect("whole"), Some(Frame::Message { body, more: false }));
            }
            prop_assert!(out.is_empty());
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut input = bytes.clone();
            while let Ok(Some(_)) = next_frame(&mut input) {}
            let _ = check_ready(&bytes, SocketType::Pull);
            if let Some(greeting) = bytes.first_chunk::<GREETING>() {
                let _ = check_greeting(greeting);
            }
        }
    }
}
