//! The client's side of the exchange.

use std::net::Ipv4Addr;

use super::{Kind, Message};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub address: Ipv4Addr,
    pub prefix_len: u8,
    pub router: Option<Ipv4Addr>,
}

/// A host without an address.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    hardware: [u8; 6],
    transaction: u32,
    offer: Option<Message>,
}

impl Client {
    /// `transaction` tells its answers from those to others.
    #[must_use]
    pub fn new(hardware: [u8; 6], transaction: u32) -> Client {
        Client { hardware, transaction, offer: None }
    }

    /// Message to send now; the same again when no answer comes.
    #[must_use]
    pub fn next_message(&self) -> Message {
        match &self.offer {
            None => Message::new(Kind::Discover, self.transaction, self.hardware),
            Some(offer) => Message {
                requested: Some(offer.yours),
                server: offer.server,
                ..Message::new(Kind::Request, self.transaction, self.hardware)
            },
        }
    }

    /// Takes an answer; the lease, once there is one. One that is for another client, or comes out of turn, changes
    /// nothing.
    pub fn receive(&mut self, answer: &Message) -> Option<Lease> {
        if answer.transaction != self.transaction || answer.client != self.hardware {
            return None;
        }
        match (answer.kind, &self.offer) {
            (Kind::Offer, None) => self.offer = Some(*answer),
            (Kind::Nak, Some(offer)) if answer.server == offer.server => self.offer = None,
            (Kind::Ack, Some(offer)) if answer.server == offer.server => {
                return Some(Lease {
                    address: answer.yours,
                    prefix_len: answer.prefix_len.unwrap_or(24),
                    router: answer.router,
                });
            }
            _ => {}
        }
        None
    }
}
