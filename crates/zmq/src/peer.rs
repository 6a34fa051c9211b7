//! One connection: what came and is not read yet, what is to leave and has not. Nothing here waits.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::zmtp::{self, Frame, GREETING, SocketType, ZmtpError};

/// Subscriptions of a peer that are remembered.
const MOST_SUBSCRIPTIONS: usize = 16;
/// Bytes that may wait for a peer; with more it gets no message.
const MOST_WAITING: usize = 8 << 20;

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The peer closed it, or the network did.
    #[error("the connection is closed")]
    Closed(#[from] io::Error),
    /// The peer is not understood.
    #[error(transparent)]
    Protocol(#[from] ZmtpError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Greeting,
    Ready,
    Open,
}

/// A connection to a peer.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
    socket: SocketType,
    stage: Stage,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Prefixes of messages that it wants; of a peer of `Pub` alone.
    subscriptions: Vec<Vec<u8>>,
}

impl Peer {
    /// A connection that was just made, of a socket of this type.
    ///
    /// # Errors
    /// It can't be set up.
    pub fn new(stream: TcpStream, socket: SocketType) -> io::Result<Peer> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let mut output = zmtp::greeting().to_vec();
        output.extend(zmtp::ready(socket));
        if socket == SocketType::Sub {
            // To all messages.
            zmtp::encode_message(&mut output, &[1]);
        }
        Ok(Peer { stream, socket, stage: Stage::Greeting, input: Vec::new(), output, subscriptions: Vec::new() })
    }

    /// Whether both sides know each other.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Whether a message would be sent: the peer wants it, and takes what came before.
    #[must_use]
    pub fn wants(&self, body: &[u8]) -> bool {
        let subscribed = self.socket != SocketType::Pub || self.subscriptions.iter().any(|one| body.starts_with(one));
        self.is_open() && self.output.len() < MOST_WAITING && subscribed
    }

    /// Whether a message may be sent without waiting for the last to leave.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.is_open() && self.output.is_empty()
    }

    /// Whether something has still to leave.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        !self.output.is_empty()
    }

    /// Queues a message.
    pub fn send(&mut self, body: &[u8]) {
        zmtp::encode_message(&mut self.output, body);
    }

    /// Writes what the socket takes. Answers whether any was.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn flush(&mut self) -> Result<bool, PeerError> {
        let before = self.output.len();
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
                Ok(taken) => drop(self.output.drain(..taken)),
                Err(error) if is_passing(&error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.output.len() < before)
    }

    /// Reads what has come, at most so many bytes beyond what waits. `Ok(0)`: nothing yet.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn read(&mut self, chunk: &mut [u8]) -> Result<usize, PeerError> {
        match self.stream.read(chunk) {
            Ok(0) => Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
            Ok(read) => {
                self.input.extend(chunk.get(..read).unwrap_or_default());
                Ok(read)
            }
            Err(error) if is_passing(&error) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// The next message of what has come; parts of one come as messages of their own. `None`: none is whole.
    ///
    /// # Errors
    /// The peer is not understood.
    pub fn message(&mut self) -> Result<Option<Vec<u8>>, PeerError> {
        if self.stage == Stage::Greeting {
            let Some(greeting) = self.input.first_chunk::<GREETING>() else { return Ok(None) };
            zmtp::check_greeting(greeting)?;
            self.input.drain(..GREETING);
            self.stage = Stage::Ready;
        }
        while let Some(frame) = zmtp::next_frame(&mut self.input)? {
            match (self.stage, frame) {
                (Stage::Ready, Frame::Command(command)) => {
                    zmtp::check_ready(&command, self.socket)?;
                    self.stage = Stage::Open;
                }
                (Stage::Ready, Frame::Message { body, .. }) => {
                    return Err(ZmtpError::NotReady(body.into_iter().take(64).collect()).into());
                }
                // Such as a ping of version 3.1, which asks for nothing from a peer of 3.0.
                (_, Frame::Command(_)) => {}
                (_, Frame::Message { body, .. }) if self.socket == SocketType::Pub => self.subscribe(&body),
                (_, Frame::Message { body, .. }) => return Ok(Some(body)),
            }
        }
        Ok(None)
    }

    /// A message of a subscriber: 1 and a prefix begins, 0 and a prefix ends.
    fn subscribe(&mut self, body: &[u8]) {
        match body.split_first() {
            Some((1, prefix)) if self.subscriptions.len() < MOST_SUBSCRIPTIONS => {
                self.subscriptions.push(prefix.to_vec());
            }
            Some((0, prefix)) => {
                let at = self.subscriptions.iter().position(|one| one == prefix);
                at.into_iter().for_each(|at| drop(self.subscriptions.remove(at)));
            }
            _ => {}
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
