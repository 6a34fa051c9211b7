//! Changes of a network card, as a record names them. [`steering`](crate::steering) makes them.

use serde::{Deserialize, Serialize};

/// A change of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Datagrams to a UDP port go to a queue.
    Rule { port: u16, queue: u32 },
    /// The indirection table: a queue for each entry.
    Table { was: Vec<u32>, becomes: Vec<u32> },
    /// The number of queues.
    Channels { was: Channels, becomes: Channels },
}

/// Queues that only receive, and those that also send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channels {
    pub receive: u32,
    pub combined: u32,
}
