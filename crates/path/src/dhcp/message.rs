//! A DHCP message: fixed fields, a magic number, options.

use std::net::Ipv4Addr;

pub const SERVER_PORT: u16 = 67;
pub const CLIENT_PORT: u16 = 68;
/// A message is never longer here; longer ones are read as far as this.
pub const MAX_BYTES: usize = 576;

/// Up to the magic number, without it (RFC 2131, figure 1).
const FIXED_BYTES: usize = 236;
const MAGIC: [u8; 4] = [99, 130, 83, 99];
/// Old relays drop what is shorter (RFC 1542, 2.1).
const LEAST_BYTES: usize = 300;
const ETHERNET: u8 = 1;
const BROADCAST_FLAG: u16 = 0x8000;

// RFC 2132
const PAD: u8 = 0;
const SUBNET_MASK: u8 = 1;
const ROUTER: u8 = 3;
const REQUESTED_ADDRESS: u8 = 50;
const LEASE_TIME: u8 = 51;
const MESSAGE_TYPE: u8 = 53;
const SERVER_IDENTIFIER: u8 = 54;
const END: u8 = 255;

/// The numbers are those of RFC 2132, 9.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Discover = 1,
    Offer = 2,
    Request = 3,
    Ack = 5,
    Nak = 6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub kind: Kind,
    /// Number by which a client knows the answer to its question.
    pub transaction: u32,
    pub client: [u8; 6],
    /// The address given or offered; unspecified in what a client sends.
    pub yours: Ipv4Addr,
    /// The requested address (option 50).
    pub requested: Option<Ipv4Addr>,
    /// The answering server, or the one whose offer is taken (option 54).
    pub server: Option<Ipv4Addr>,
    /// Length of the network's prefix (option 1).
    pub prefix_len: Option<u8>,
    /// Option 3.
    pub router: Option<Ipv4Addr>,
    /// Seconds; all ones is for ever (option 51).
    pub lease_s: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    #[error("the message ends within {0}")]
    Short(&'static str),
    #[error("{field} is {value}")]
    Value { field: &'static str, value: u32 },
    /// No message type: an ancient BOOTP message.
    #[error("the message type (option 53) is missing")]
    NoType,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Discover, Kind::Offer, Kind::Request, Kind::Ack, Kind::Nak];

    /// The operation field: a request or a reply.
    fn operation(self) -> u8 {
        if matches!(self, Kind::Discover | Kind::Request) { 1 } else { 2 }
    }
}

impl Message {
    #[must_use]
    pub fn new(kind: Kind, transaction: u32, client: [u8; 6]) -> Message {
        let (yours, requested, server) = (Ipv4Addr::UNSPECIFIED, None, None);
        Message { kind, transaction, client, yours, requested, server, prefix_len: None, router: None, lease_s: None }
    }

    /// As it travels. It asks to be answered by broadcast, since a client without an address receives nothing else.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LEAST_BYTES);
        bytes.extend([self.kind.operation(), ETHERNET, 6, 0]);
        bytes.extend(self.transaction.to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(BROADCAST_FLAG.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.yours.octets());
        bytes.extend([0; 8]);
        bytes.extend(self.client);
        bytes.resize(FIXED_BYTES, 0);
        bytes.extend(MAGIC);
        bytes.extend([MESSAGE_TYPE, 1, self.kind as u8]);
        let mut four = |option: u8, value: Option<[u8; 4]>| {
            if let Some(value) = value {
                bytes.extend([option, 4]);
                bytes.extend(value);
            }
        };
        four(SUBNET_MASK, self.prefix_len.map(|len| mask(len).to_be_bytes()));
        four(ROUTER, self.router.map(|router| router.octets()));
        four(REQUESTED_ADDRESS, self.requested.map(|address| address.octets()));
        four(LEASE_TIME, self.lease_s.map(u32::to_be_bytes));
        four(SERVER_IDENTIFIER, self.server.map(|server| server.octets()));
        bytes.push(END);
        bytes.resize(bytes.len().max(LEAST_BYTES), PAD);
        bytes
    }

    /// Reads one. Options it does not know are passed over; of one that is there twice the last counts.
    pub fn parse(bytes: &[u8]) -> Result<Message, MessageError> {
        let (fixed, rest) = bytes.split_first_chunk::<FIXED_BYTES>().ok_or(MessageError::Short("the fixed fields"))?;
        let (magic, mut options) = rest.split_first_chunk::<4>().ok_or(MessageError::Short("the magic number"))?;
        if *magic != MAGIC {
            return Err(MessageError::Value { field: "the magic number", value: u32::from_be_bytes(*magic) });
        }
        let [op, hardware, address_bytes, _, t0, t1, t2, t3, ..] = *fixed;
        for (field, value, expected) in
            [("the hardware type", hardware, ETHERNET), ("the length of a hardware address", address_bytes, 6)]
        {
            if value != expected {
                return Err(MessageError::Value { field, value: value.into() });
            }
        }
        let transaction = u32::from_be_bytes([t0, t1, t2, t3]);
        let mut message = Message::new(Kind::Nak, transaction, field::<28, 6>(fixed));
        message.yours = field::<16, 4>(fixed).into();
        let mut kind = None;
        while let Some((&option, after)) = options.split_first() {
            options = after;
            match option {
                PAD => continue,
                END => break,
                _ => {}
            }
            let (&len, after) = options.split_first().ok_or(MessageError::Short("an option"))?;
            let (value, after) = after.split_at_checked(len.into()).ok_or(MessageError::Short("an option"))?;
            options = after;
            message.option(option, value, &mut kind)?;
        }
        message.kind = kind.ok_or(MessageError::NoType)?;
        match op == message.kind.operation() {
            true => Ok(message),
            false => Err(MessageError::Value { field: "the operation", value: op.into() }),
        }
    }

    fn option(&mut self, option: u8, value: &[u8], kind: &mut Option<Kind>) -> Result<(), MessageError> {
        if option == MESSAGE_TYPE {
            let &[number] = value else { return Err(MessageError::Short("the message type")) };
            let known = Kind::ALL.into_iter().find(|kind| *kind as u8 == number);
            *kind = Some(known.ok_or(MessageError::Value { field: "the message type", value: number.into() })?);
            return Ok(());
        }
        // A list of routers begins with the one to use.
        let Some((&four, _)) = value.split_first_chunk::<4>() else { return Ok(()) };
        match option {
            SUBNET_MASK => self.prefix_len = Some(prefix_len(u32::from_be_bytes(four))?),
            ROUTER => self.router = Some(four.into()),
            REQUESTED_ADDRESS => self.requested = Some(four.into()),
            LEASE_TIME => self.lease_s = Some(u32::from_be_bytes(four)),
            SERVER_IDENTIFIER => self.server = Some(four.into()),
            _ => {}
        }
        Ok(())
    }
}

/// `LEN` of the fixed bytes from `AT` on.
fn field<const AT: usize, const LEN: usize>(fixed: &[u8; FIXED_BYTES]) -> [u8; LEN] {
    const { assert!(AT + LEN <= FIXED_BYTES) };
    std::array::from_fn(|n| fixed[AT + n])
}

fn mask(prefix_len: u8) -> u32 {
    u32::MAX.checked_shl(32_u32.saturating_sub(prefix_len.into())).unwrap_or(0)
}

fn prefix_len(mask: u32) -> Result<u8, MessageError> {
    match mask.leading_ones() + mask.trailing_zeros() {
        32 => Ok(mask.leading_ones() as u8),
        _ if mask == u32::MAX => Ok(32),
        _ => Err(MessageError::Value { field: "the subnet mask", value: mask }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_message() -> impl Strategy<Value = Message> {
        let kind = prop::sample::select(&Kind::ALL[..]);
        let address = || any::<u32>().prop_map(Ipv4Addr::from_bits);
        let maybe = || proptest::option::of(any::<u32>().prop_map(Ipv4Addr::from_bits));
        let numbers = (proptest::option::of(0..=32_u8), proptest::option::of(any::<u32>()));
        (kind, any::<u32>(), any::<[u8; 6]>(), address(), maybe(), maybe(), maybe(), numbers).prop_map(
            |(kind, transaction, client, yours, requested, server, router, (prefix_len, lease_s))| {
                let plain = Message::new(kind, transaction, client);
                Message { yours, requested, server, prefix_len, router, lease_s, ..plain }
            },
        )
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(message in any_message()) {
            let bytes = message.to_bytes();
            prop_assert!((LEAST_BYTES..=MAX_BYTES).contains(&bytes.len()));
            prop_assert_eq!(Message::parse(&bytes), Ok(message));
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = Message::parse(&bytes);
        }

        #[test]
        fn a_damaged_message_never_panics(message in any_message(), at in 0..300_usize, value: u8, len in 0..=300_usize) {
            let mut bytes = message.to_bytes();
            bytes[at] = value;
            bytes.truncate(len);
            let _ = Message::parse(&bytes);
        }
    }

    /// The discovery of RFC 2131's example, field by field.
    #[test]
    fn a_discovery_is_as_the_rfc_draws_it() {
        let bytes = Message::new(Kind::Discover, 0x3903_f326, [2, 0, 0, 0, 0, 1]).to_bytes();
        assert_eq!(&bytes[..12], [1, 1, 6, 0, 0x39, 3, 0xf3, 0x26, 0, 0, 0x80, 0]);
        assert_eq!(&bytes[28..34], [2, 0, 0, 0, 0, 1]);
        assert_eq!(&bytes[236..244], [99, 130, 83, 99, 53, 1, 1, 255]);
    }
}
