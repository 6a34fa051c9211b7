//! The server's side of the exchange.

use std::net::Ipv4Addr;

use super::{Kind, Message};

/// Addresses that a server has to give, in one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    pub server: Ipv4Addr,
    pub prefix_len: u8,
    /// The first address to give; the next hosts get the next ones.
    pub first: Ipv4Addr,
    pub count: u8,
    /// The router to name; `None`: the hosts stay among themselves.
    pub router: Option<Ipv4Addr>,
}

/// A server that knows its hosts by their hardware addresses and never takes one back.
#[derive(Clone, Debug)]
pub struct Server {
    pool: Pool,
    hosts: Vec<[u8; 6]>,
}

impl Server {
    #[must_use]
    pub fn new(pool: Pool) -> Server {
        Server { pool, hosts: Vec::with_capacity(pool.count.into()) }
    }

    /// The answer to a message, if it deserves one.
    pub fn answer(&mut self, message: &Message) -> Option<Message> {
        if !matches!(message.kind, Kind::Discover | Kind::Request) {
            return None;
        }
        let address = self.address_of(message.client)?;
        let kind = match message.kind {
            Kind::Discover => Kind::Offer,
            // Another server's offer was taken.
            _ if message.server.is_some_and(|server| server != self.pool.server) => return None,
            _ if message.requested == Some(address) => Kind::Ack,
            _ => Kind::Nak,
        };
        let plain =
            Message { server: Some(self.pool.server), ..Message::new(kind, message.transaction, message.client) };
        if kind == Kind::Nak {
            return Some(plain);
        }
        Some(Message {
            yours: address,
            prefix_len: Some(self.pool.prefix_len),
            router: self.pool.router,
            lease_s: Some(u32::MAX), // for ever
            ..plain
        })
    }

    /// The same host gets the same address; `None` when all are given.
    fn address_of(&mut self, host: [u8; 6]) -> Option<Ipv4Addr> {
        let place = match self.hosts.iter().position(|&known| known == host) {
            Some(place) => place,
            None if self.hosts.len() < usize::from(self.pool.count) => {
                self.hosts.push(host);
                self.hosts.len() - 1
            }
            None => return None,
        };
        Some(Ipv4Addr::from_bits(self.pool.first.to_bits().wrapping_add(u32::try_from(place).ok()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Client, Lease};
    use super::*;

    const POOL: Pool = Pool {
        server: Ipv4Addr::new(10, 0, 1, 1),
        prefix_len: 24,
        first: Ipv4Addr::new(10, 0, 1, 2),
        count: 2,
        router: Some(Ipv4Addr::new(10, 0, 1, 1)),
    };

    /// A whole exchange, each message through its bytes.
    fn lease(server: &mut Server, hardware: [u8; 6]) -> Option<Lease> {
        let mut client = Client::new(hardware, 7);
        for _ in 0..2 {
            let request = Message::parse(&client.next_message().to_bytes()).unwrap();
            let answer = Message::parse(&server.answer(&request)?.to_bytes()).unwrap();
            if let Some(lease) = client.receive(&answer) {
                return Some(lease);
            }
        }
        None
    }

    #[test]
    fn four_messages_make_a_lease_and_the_same_host_gets_the_same_address() {
        let mut server = Server::new(POOL);
        let first = Lease { address: [10, 0, 1, 2].into(), prefix_len: 24, router: POOL.router };
        assert_eq!(lease(&mut server, [2, 0, 0, 0, 0, 1]), Some(first));
        assert_eq!(lease(&mut server, [2, 0, 0, 0, 0, 2]).map(|lease| lease.address), Some([10, 0, 1, 3].into()));
        assert_eq!(lease(&mut server, [2, 0, 0, 0, 0, 1]), Some(first));
        assert_eq!(lease(&mut server, [2, 0, 0, 0, 0, 3]), None, "both are given");
    }

    #[test]
    fn what_is_for_others_changes_nothing() {
        let mut server = Server::new(POOL);
        let mut client = Client::new([2, 0, 0, 0, 0, 1], 7);
        let other = Client::new([2, 0, 0, 0, 0, 2], 7);
        let offer = server.answer(&other.next_message()).unwrap();
        assert_eq!((client.receive(&offer), client.next_message().kind), (None, Kind::Discover));
        let foreign = Message {
            requested: Some([10, 0, 1, 2].into()),
            server: Some([10, 0, 1, 9].into()),
            ..Message::new(Kind::Request, 7, [2, 0, 0, 0, 0, 1])
        };
        assert_eq!(server.answer(&foreign), None, "another server's offer was taken");
        let wrong = Message { requested: Some([10, 0, 1, 77].into()), server: None, ..foreign };
        assert_eq!(server.answer(&wrong).map(|answer| answer.kind), Some(Kind::Nak));
    }
}
