//! A host gets its address over the path itself: both ends of the exchange are ours.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use takt_path::dhcp::{CLIENT_PORT, Client, Lease, MAX_BYTES, Message, Pool, SERVER_PORT, Server};

use super::super::{Namespace, PathError};

#[derive(Clone, Copy, Debug)]
pub(super) struct PathEnd<'a> {
    pub(super) namespace: &'a Namespace,
    pub(super) interface: &'a str,
}

/// How long the whole exchange may take: hops in between may lose or delay it.
const PATIENCE: Duration = Duration::from_secs(15);
const STEP: Duration = Duration::from_millis(300);

/// Has `server` give `client`, which has this hardware address, an address of `pool`, and puts it on the interface.
pub(super) fn lease(
    server: PathEnd<'_>,
    pool: Pool,
    client: PathEnd<'_>,
    hardware: [u8; 6],
) -> Result<Lease, PathError> {
    let failed = |source| PathError::Lease { name: client.namespace.name().into(), source };
    for end in [server, client] {
        // Without an address a host has no other route for what is for everybody.
        end.namespace.netlink()?.route_broadcasts(end.interface)?;
    }
    let serving = open(server, SERVER_PORT)?.map_err(failed)?;
    let asking = open(client, CLIENT_PORT)?.map_err(failed)?;
    let lease = exchange(&serving, pool, &asking, hardware).map_err(failed)?;
    let mut netlink = client.namespace.netlink()?;
    netlink.add_address(client.interface, lease.address, lease.prefix_len)?;
    if let Some(router) = lease.router {
        netlink.set_default_route(router)?;
    }
    Ok(lease)
}

fn open(end: PathEnd<'_>, port: u16) -> Result<io::Result<UdpSocket>, PathError> {
    end.namespace.inside(|| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
        socket.set_broadcast(true)?;
        socket.set_read_timeout(Some(STEP))?;
        Ok(socket)
    })
}

fn exchange(serving: &UdpSocket, pool: Pool, asking: &UdpSocket, hardware: [u8; 6]) -> io::Result<Lease> {
    let (mut server, mut client) = (Server::new(pool), Client::new(hardware, transaction()));
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        asking.send_to(&client.next_message().to_bytes(), (Ipv4Addr::BROADCAST, SERVER_PORT))?;
        let Some(answer) = receive(serving)?.and_then(|request| server.answer(&request)) else { continue };
        serving.send_to(&answer.to_bytes(), (Ipv4Addr::BROADCAST, CLIENT_PORT))?;
        if let Some(lease) = receive(asking)?.and_then(|answer| client.receive(&answer)) {
            return Ok(lease);
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// The next message; `None` when none comes, or what comes is none.
fn receive(socket: &UdpSocket) -> io::Result<Option<Message>> {
    let mut buffer = [0; MAX_BYTES];
    match socket.recv(&mut buffer) {
        Ok(got) => Ok(Message::parse(buffer.get(..got).unwrap_or_default()).ok()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A number that an exchange of another path does not have: nobody else is on this one anyway.
fn transaction() -> u32 {
    let mut bytes = [0; 4];
    let read = File::open("/dev/urandom").and_then(|mut file| io::Read::read_exact(&mut file, &mut bytes));
    read.map_or(std::process::id(), |()| u32::from_ne_bytes(bytes))
}
