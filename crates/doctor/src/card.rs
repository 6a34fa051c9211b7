//! Facts that only a network card's driver knows: rings, coalescing, flow control. A recorded host has a file for each fact,
//! `ethtool/INTERFACE/FACT`, with the value and the maximum that the driver accepts.

use std::io;

use serde::{Deserialize, Serialize};
use takt_host::Host;
use takt_host::ReadError;
use takt_host::ethtool::{Command, WORDS, request};

/// A fact that a driver keeps and can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardFact {
    /// Descriptors of the receive ring.
    RxRing,
    /// The longest delay of an interrupt after a frame arrived, µs.
    RxUsecs,
    /// Whether the driver changes that delay itself, 0 or 1.
    AdaptiveRx,
    /// Whether the card obeys and sends pause frames for receiving, 0 or 1.
    RxPause,
    /// Whether the link may sleep between frames (Energy-Efficient Ethernet), 0 or 1.
    Eee,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CardValue {
    pub(crate) now: u32,
    /// The maximum that the driver accepts, if it says.
    pub(crate) most: Option<u32>,
}

impl CardFact {
    /// The word of the value in its structure, and the word of the maximum (linux/ethtool.h).
    const fn place(self) -> (Command, Command, usize, Option<usize>) {
        match self {
            // cmd, rx_max, rx_mini_max, rx_jumbo_max, tx_max, rx_pending, …
            CardFact::RxRing => (Command::GetRing, Command::SetRing, 5, Some(1)),
            // cmd, rx_coalesce_usecs, …, use_adaptive_rx_coalesce is the eleventh.
            CardFact::RxUsecs => (Command::GetCoalesce, Command::SetCoalesce, 1, None),
            CardFact::AdaptiveRx => (Command::GetCoalesce, Command::SetCoalesce, 10, None),
            // cmd, autoneg, rx_pause, tx_pause
            CardFact::RxPause => (Command::GetPause, Command::SetPause, 2, None),
            // cmd, supported, advertised, lp_advertised, eee_active, eee_enabled
            CardFact::Eee => (Command::GetEee, Command::SetEee, 5, None),
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CardFact::RxRing => "rx_ring",
            CardFact::RxUsecs => "rx_usecs",
            CardFact::AdaptiveRx => "adaptive_rx",
            CardFact::RxPause => "rx_pause",
            CardFact::Eee => "eee",
        }
    }

    pub(crate) fn command(self, interface: &str, value: &str) -> String {
        let switch = if value == "0" { "off" } else { "on" };
        match self {
            CardFact::RxRing => format!("sudo ethtool -G {interface} rx {value}"),
            CardFact::RxUsecs => format!("sudo ethtool -C {interface} rx-usecs {value}"),
            CardFact::AdaptiveRx => format!("sudo ethtool -C {interface} adaptive-rx {switch}"),
            CardFact::RxPause => format!("sudo ethtool -A {interface} rx {switch}"),
            CardFact::Eee => format!("sudo ethtool --set-eee {interface} eee {switch}"),
        }
    }

    pub(crate) fn read(self, host: &Host, interface: &str) -> Result<CardValue, ReadError> {
        if !host.is_this() {
            return self.recorded(host, interface);
        }
        let (get, _, value, most) = self.place();
        let row = query(interface, get).map_err(|source| ReadError::Io { path: self.label(interface), source })?;
        Ok(CardValue { now: row[value], most: most.map(|most| row[most]) })
    }

    /// Tells the driver. The rest of the structure is written back as it was read.
    pub(crate) fn write(self, host: &Host, interface: &str, value: u32) -> io::Result<()> {
        if !host.is_this() {
            let most = self.read(host, interface).ok().and_then(|value| value.most);
            let most = most.map_or(String::new(), |most| format!(" {most}"));
            return host.write(&self.path(interface), &format!("{value}{most}\n"));
        }
        let (get, set, place, _) = self.place();
        let mut row = query(interface, get)?;
        row[place] = value;
        request(interface, set, &mut row)
    }

    fn recorded(self, host: &Host, interface: &str) -> Result<CardValue, ReadError> {
        let path = self.path(interface);
        let text = host.read(&path)?;
        let mut words = text.split_whitespace().map(str::parse::<u32>);
        match (words.next(), words.next().transpose()) {
            (Some(Ok(now)), Ok(most)) => Ok(CardValue { now, most }),
            _ => Err(ReadError::Malformed {
                path,
                expected: "a number, and its maximum",
                got: text.chars().take(40).collect(),
            }),
        }
    }

    fn path(self, interface: &str) -> String {
        format!("/ethtool/{interface}/{}", self.name())
    }

    fn label(self, interface: &str) -> String {
        format!("{} of {interface} from its driver", self.name())
    }
}

fn query(interface: &str, command: Command) -> io::Result<[u32; WORDS]> {
    let mut row = [0; WORDS];
    request(interface, command, &mut row)?;
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_host::testing::Tree;

    #[test]
    fn a_recorded_card_is_read_and_written_like_a_driver() {
        let tree = Tree::new().with("/ethtool/eth0/rx_ring", "256 4096\n");
        let host = tree.host();
        assert_eq!(CardFact::RxRing.read(&host, "eth0").unwrap(), CardValue { now: 256, most: Some(4096) });
        CardFact::RxRing.write(&host, "eth0", 4096).unwrap();
        assert_eq!(CardFact::RxRing.read(&host, "eth0").unwrap(), CardValue { now: 4096, most: Some(4096) });
        assert!(CardFact::RxUsecs.read(&host, "eth0").is_err());
        assert!(CardFact::RxRing.read(&Tree::new().with("/ethtool/eth0/rx_ring", "many").host(), "eth0").is_err());
    }

    #[test]
    fn a_driver_without_the_fact_says_so() {
        assert!(CardFact::RxRing.read(&Host::this(), "lo").is_err());
    }
}
