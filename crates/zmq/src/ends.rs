//! A socket: where it listens or connects to, and its connections. Only a soft thread uses it.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::peer::{Peer, PeerError};
use crate::zmtp::SocketType;

/// Connections of a socket that listens; one more is closed.
const MOST_PEERS: usize = 8;
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_millis(500);
/// Between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(200);
/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// Place of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It listens there.
    Listen(SocketAddr),
    /// It connects to who listens there.
    Connect(SocketAddr),
}

/// A socket of ZeroMQ.
#[derive(Debug)]
pub struct Socket {
    kind: SocketType,
    listener: Option<TcpListener>,
    connect: Option<SocketAddr>,
    tried: Option<Instant>,
    peers: Vec<Peer>,
    /// The peer that gets the next message of a `Push`.
    turn: usize,
    chunk: Box<[u8]>,
    /// Peers that were connected, ever.
    connected: u64,
    /// The last peer that was not understood.
    refused: Option<String>,
}

impl Socket {
    /// A socket. One that connects need not find its peer at once.
    ///
    /// # Errors
    /// The address is taken, or none of this machine.
    pub fn open(kind: SocketType, place: Place) -> io::Result<Socket> {
        let (listener, connect) = match place {
            Place::Listen(at) => (Some(TcpListener::bind(at)?), None),
            Place::Connect(to) => (None, Some(to)),
        };
        listener.as_ref().map(|listener| listener.set_nonblocking(true)).transpose()?;
        let chunk = vec![0; CHUNK].into_boxed_slice();
        let (tried, peers, turn, connected, refused) = (None, Vec::new(), 0, 0, None);
        Ok(Socket { kind, listener, connect, tried, peers, turn, chunk, connected, refused })
    }

    /// The address at which it listens.
    #[must_use]
    pub fn local(&self) -> Option<SocketAddr> {
        self.listener.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Peers that have introduced themselves and are there.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.peers.iter().filter(|peer| peer.is_open()).count()
    }

    /// Peers that were connected so far.
    #[must_use]
    pub fn connected(&self) -> u64 {
        self.connected
    }

    /// Why the last peer that was not understood was dropped.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Makes and takes connections. Whoever closed, or is not understood, is dropped.
    pub fn attend(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(TcpListener::accept) {
            if self.peers.len() < MOST_PEERS {
                self.join(stream);
            }
        }
        let due = self.tried.is_none_or(|tried| tried.elapsed() >= AGAIN);
        if let Some(to) = self.connect.filter(|_| self.peers.is_empty() && due) {
            self.tried = Some(Instant::now());
            if let Ok(stream) = TcpStream::connect_timeout(&to, CONNECT) {
                self.join(stream);
            }
        }
    }

    fn join(&mut self, stream: TcpStream) {
        // One that can't be set up is gone already.
        self.peers.extend(Peer::new(stream, self.kind));
    }

    /// The next message that has come, of any peer. Nothing is read from a peer while one of its messages waits here.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        let mut index = 0;
        while index < self.peers.len() {
            match take(&mut self.peers[index], &mut self.chunk, &mut self.connected) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => index += 1,
                Err(error) => self.drop_peer(index, &error),
            }
        }
        None
    }

    /// Sends a message: to the next peer in turn, or to all that want it. Answers whether it was for somebody.
    pub fn send(&mut self, body: &[u8]) -> bool {
        let wanting: Vec<usize> = (0..self.peers.len()).filter(|&index| self.peers[index].wants(body)).collect();
        if self.kind == SocketType::Pub {
            wanting.iter().for_each(|&index| self.peers[index].send(body));
            return !wanting.is_empty();
        }
        // The one behind the last, of those that have taken theirs.
        let idle = |index: &&usize| self.peers[**index].is_idle();
        let next = wanting.iter().filter(idle).find(|&&index| index >= self.turn);
        let Some(&next) = next.or(wanting.iter().find(idle)) else { return false };
        self.peers[next].send(body);
        self.turn = next + 1;
        true
    }

    /// Writes what sockets take, and reads what subscribers say. Answers whether anything left.
    pub fn flush(&mut self) -> bool {
        let (mut moved, mut index) = (false, 0);
        while index < self.peers.len() {
            match self.peers[index].flush() {
                Ok(some) => {
                    moved |= some;
                    index += 1;
                }
                Err(error) => self.drop_peer(index, &error),
            }
        }
        moved
    }

    /// Whether something has still to leave.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        self.peers.iter().any(|peer| peer.is_open() && peer.has_waiting())
    }

    fn drop_peer(&mut self, index: usize, error: &PeerError) {
        self.peers.remove(index);
        if matches!(error, PeerError::Protocol(_)) {
            self.refused = Some(error.to_string());
        }
    }
}

/// Reads of a peer until it has a message, or no more has come.
fn take(peer: &mut Peer, chunk: &mut [u8], connected: &mut u64) -> Result<Option<Vec<u8>>, PeerError> {
    loop {
        let was_open = peer.is_open();
        let message = peer.message()?;
        *connected += u64::from(!was_open && peer.is_open());
        if message.is_some() {
            return Ok(message);
        }
        peer.flush()?;
        if peer.read(chunk)? == 0 {
            return Ok(None);
        }
    }
}
