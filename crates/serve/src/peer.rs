//! The user behind a connection from this machine. Loopback is open to every user of it, and what takt's processes say is for theirs
//! alone: the kernel's table of TCP connections says whose the other end is.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use takt_host::user::User;

/// Bytes of a table that are read: some 400 000 connections.
const MOST_BYTES: u64 = 64 << 20;
/// `TCP_ESTABLISHED`. In other states the kernel may give a connection to root that was another user's.
const ESTABLISHED: u8 = 1;

/// Owner of the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This process's user, the user behind `sudo`, or root.
    Own,
    /// Another user, or one whom the kernel does not name.
    Stranger,
}

impl Peer {
    /// Looks up the connection from `there` to `here`, both as this end sees them.
    pub(crate) fn of(there: SocketAddr, here: SocketAddr) -> Peer {
        let is_own =
            |uid| uid == 0 || uid == User::own().uid || User::behind_sudo().is_some_and(|user| user.uid == uid);
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
        let owner = tables.into_iter().find_map(|table| owner_in(File::open(table).ok()?, there, here));
        if owner.is_some_and(is_own) { Peer::Own } else { Peer::Stranger }
    }
}

/// The owner of the end at `there` by a table of the kernel.
fn owner_in(table: impl Read, there: SocketAddr, here: SocketAddr) -> Option<u32> {
    let lines = BufReader::new(table.take(MOST_BYTES)).lines().map_while(Result::ok);
    lines.filter_map(|line| Entry::parse(&line)).find(|entry| entry.joins(there, here)).map(|entry| entry.uid)
}

/// A line of the table.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    local: (IpAddr, u16),
    remote: (IpAddr, u16),
    state: u8,
    uid: u32,
}

impl Entry {
    /// `sl local rem st tx:rx tr:when retrnsmt uid …`; see `proc_net(5)`.
    fn parse(line: &str) -> Option<Entry> {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let local = end(fields.next()?)?;
        let remote = end(fields.next()?)?;
        let state = u8::from_str_radix(fields.next()?, 16).ok()?;
        let uid = fields.nth(3)?.parse().ok()?;
        Some(Entry { local, remote, state, uid })
    }

    fn joins(&self, there: SocketAddr, here: SocketAddr) -> bool {
        let plain = |at: SocketAddr| (at.ip().to_canonical(), at.port());
        self.state == ESTABLISHED && self.local == plain(there) && self.remote == plain(here)
    }
}

/// An address in words of this machine's byte order, and a port: `0100007F:2042`.
fn end(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let words: Option<Vec<u8>> = (0..address.len() / 8)
        .map(|n| u32::from_str_radix(address.get(n * 8..n * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect::<Option<Vec<[u8; 4]>>>()
        .map(|words| words.concat());
    let address = match words?[..] {
        [a, b, c, d] => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        ref bytes => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)).to_canonical(),
    };
    Some((address, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[cfg(target_endian = "little")]
    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2042 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0
   1: 0100007F:C350 0100007F:2042 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0
   2: 0100007F:C350 0100007F:2042 01 00000000:00000000 00:00000000 00000000  1007        0 12 1 0
   3: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:2042 01 0:0 0:0 0  1008 0 13 1 0
   4: broken";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_table_names_the_owner_of_an_established_connection() {
        let here = "127.0.0.1:8258".parse().unwrap();
        let owner = |there: &str| owner_in(TABLE.as_bytes(), there.parse().unwrap(), here);
        assert_eq!(owner("127.0.0.1:50000"), Some(1007), "not the one that waits");
        assert_eq!(owner("127.0.0.1:50001"), Some(1008), "IPv4 in a socket of IPv6");
        assert_eq!(owner("127.0.0.1:50002"), None);
        assert_eq!(owner("127.0.0.2:50000"), None);
    }

    #[test]
    fn a_connection_of_this_process_is_its_users() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else {
                takt_testing::skip("this machine has no IPv6");
                continue;
            };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, there) = listener.accept().unwrap();
            assert_eq!(Peer::of(there, server.local_addr().unwrap()), Peer::Own);
            // A connection that does not exist is nobody's.
            assert_eq!(Peer::of(server.local_addr().unwrap(), "127.0.0.1:1".parse().unwrap()), Peer::Stranger);
            drop(client);
        }
    }
}
