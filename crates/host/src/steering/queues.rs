//! Which receive queues of a card, as people type them.

use std::fmt;
use std::str::FromStr;

/// Which receive queues of a card a program wants its datagrams on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Queues {
    /// The first, where that takes nothing away from others; else all.
    #[default]
    Chosen,
    /// These, whatever it takes.
    Named {
        /// The first, from 0.
        first: u16,
        /// The last, not below the first.
        last: u16,
    },
}

/// A text that names no queues.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` does not name queues; give them as 3 or 2-3, from 0")]
pub struct UnknownQueues {
    pub got: String,
}

impl FromStr for Queues {
    type Err = UnknownQueues;

    fn from_str(text: &str) -> Result<Queues, UnknownQueues> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Queues::Named { first, last }),
            _ => Err(UnknownQueues { got: text.to_owned() }),
        }
    }
}

/// As it is typed; nothing where it is chosen.
impl fmt::Display for Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Queues::Chosen => Ok(()),
            Queues::Named { first, last } if first == last => write!(f, "{first}"),
            Queues::Named { first, last } => write!(f, "{first}-{last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_typed_as_one_number_or_two() {
        for text in ["0", "3", "2-3", "0-65535"] {
            assert_eq!(text.parse::<Queues>().unwrap().to_string(), text);
        }
        assert_eq!("3-3".parse::<Queues>().unwrap().to_string(), "3");
        for text in ["", "-", "-1", "3-", "3-2", "65536", "+1", "1,2", "0-1-2", "all"] {
            assert!(text.parse::<Queues>().is_err(), "{text}");
        }
    }
}
