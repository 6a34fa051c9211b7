//! Messages of control: the configuration of a terminal in message 4, and what completes its attachment.
//!
//! They stand for TS 36.331, in a form of takt's own: a byte of kind, then fields, the most significant byte first.

use serde::{Deserialize, Serialize};

use crate::ParseError;

/// Whether the bearer repeats what got lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BearerMode {
    /// RLC repeats what HARQ lost: nothing is lost while the queues hold.
    #[default]
    Acknowledged,
    /// A packet that HARQ loses is lost. Packets stay in order.
    Unacknowledged,
}

/// The configuration of a terminal that the base station knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    /// Identifies the base station's memory of this terminal. If it changes, that memory is gone.
    pub(crate) session: u32,
    /// The terminal's place at the base station, from 0.
    pub(crate) place: u8,
    pub(crate) mode: BearerMode,
    /// Period and offset, subframes, and the resource of each kind of PUCCH.
    pub(crate) request: (u8, u8, u16),
    pub(crate) cqi: (u8, u8, u16),
    pub(crate) acknowledgement: u16,
}

/// A message of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Base station, in message 4.
    Setup(Setup),
    /// Base station, in message 4: no place. Come back after this many times 100 subframes.
    Refused { wait: u8 },
    /// Terminal: the configuration is in use. The number is drawn anew when the terminal restarts.
    Complete { session: u32, incarnation: u32 },
    /// Base station: as heard.
    Accepted { session: u32, incarnation: u32 },
    /// Base station: attach anew.
    Released,
}

impl Message {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let two = |kind: u8, a: u32, b: u32| [&[kind][..], &a.to_be_bytes(), &b.to_be_bytes()].concat();
        match *self {
            Message::Setup(setup) => setup.bytes(),
            Message::Refused { wait } => vec![2, wait],
            Message::Complete { session, incarnation } => two(3, session, incarnation),
            Message::Accepted { session, incarnation } => two(4, session, incarnation),
            Message::Released => vec![5],
        }
    }

    /// # Errors
    /// If it is none of these, or a field is out of range.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Message, ParseError> {
        let short = ParseError::Short { what: "a message of control", have: bytes.len() };
        let (&kind, rest) = bytes.split_first().ok_or(short)?;
        let two = || match *rest {
            [a, b, c, d, e, f, g, h] => Ok((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))),
            _ => Err(short),
        };
        match kind {
            1 => Setup::parse(rest).map(Message::Setup),
            2 => rest.first().map(|&wait| Message::Refused { wait }).ok_or(short),
            3 => two().map(|(session, incarnation)| Message::Complete { session, incarnation }),
            4 => two().map(|(session, incarnation)| Message::Accepted { session, incarnation }),
            5 => Ok(Message::Released),
            _ => Err(ParseError::Field { what: "kind of a message", value: kind.into(), expected: "1 to 5" }),
        }
    }
}

impl Setup {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![1];
        bytes.extend_from_slice(&self.session.to_be_bytes());
        bytes.extend_from_slice(&[self.place, u8::from(self.mode == BearerMode::Unacknowledged)]);
        for (period, offset, resource) in [self.request, self.cqi] {
            bytes.extend_from_slice(&[period, offset]);
            bytes.extend_from_slice(&resource.to_be_bytes());
        }
        bytes.extend_from_slice(&self.acknowledgement.to_be_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<Setup, ParseError> {
        let short = ParseError::Short { what: "a configuration", have: bytes.len() };
        let &[s0, s1, s2, s3, place, mode, rp, ro, r0, r1, cp, co, c0, c1, a0, a1] =
            <&[u8; 16]>::try_from(bytes).map_err(|_| short)?;
        let mode = match mode {
            0 => BearerMode::Acknowledged,
            1 => BearerMode::Unacknowledged,
            _ => return Err(ParseError::Field { what: "mode of the bearer", value: mode.into(), expected: "0 or 1" }),
        };
        for (period, offset) in [(rp, ro), (cp, co)] {
            if offset >= period {
                let expected = "below its period";
                return Err(ParseError::Field { what: "offset of PUCCH", value: offset.into(), expected });
            }
        }
        let resource = |high, low| u16::from_be_bytes([high, low]);
        for (value, most) in [(resource(r0, r1), 2047), (resource(c0, c1), 1184), (resource(a0, a1), 2047)] {
            if value > most {
                let expected = "up to 2047, or 1184 of format 2";
                return Err(ParseError::Field { what: "resource of PUCCH", value: value.into(), expected });
            }
        }
        Ok(Setup {
            session: u32::from_be_bytes([s0, s1, s2, s3]),
            place,
            mode,
            request: (rp, ro, resource(r0, r1)),
            cqi: (cp, co, resource(c0, c1)),
            acknowledgement: resource(a0, a1),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn setup() -> Setup {
        let (request, cqi) = ((10, 3, 3), (20, 8, 0));
        Setup { session: 7, place: 3, mode: BearerMode::Unacknowledged, request, cqi, acknowledgement: 11 }
    }

    #[test]
    fn messages_come_back() {
        let (session, incarnation) = (1, 0xfeed_beef);
        for message in [
            Message::Setup(setup()),
            Message::Refused { wait: 9 },
            Message::Complete { session, incarnation },
            Message::Accepted { session, incarnation },
            Message::Released,
        ] {
            let bytes = message.bytes();
            assert_eq!(Message::parse(&bytes), Ok(message));
            for end in 0..bytes.len() {
                assert!(Message::parse(&bytes[..end]).is_err());
            }
        }
    }

    #[test]
    fn a_configuration_out_of_range_is_refused() {
        for wrong in [Setup { request: (10, 10, 0), ..setup() }, Setup { cqi: (20, 1, 1185), ..setup() }] {
            assert!(Message::parse(&wrong.bytes()).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(message) = Message::parse(&bytes) {
                prop_assert_eq!(Message::parse(&message.bytes()), Ok(message));
            }
        }
    }
}
