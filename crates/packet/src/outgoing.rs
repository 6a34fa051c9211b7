//! Messages on their way out, and aggregates among them: single datagrams, or several that the kernel splits below the
//! socket (UDP GSO). How messages reach the kernel is the engine's business.
//!
//! Support is probed at opening. The kernel may refuse a send at run time: a device can't checksum, a datagram is
//! longer than the route's MTU. It is then made singly, and not tried again: no datagram is lost by it.

use rustix::io::Errno;

use crate::TxEntry;
use crate::port::Port;
use crate::runs::{Aggregation, cut};
use crate::sys::message::{MessageBatch, Prepared, Run};
use crate::sys::option;

/// Bytes between receive frames that may hold aggregates: no message is longer.
pub(crate) const AGGREGATE_BYTES: usize = 65_536;

/// Has the kernel take messages from the front, without waiting; returns how many it took, at least one.
pub(crate) type Submit<'a> = &'a mut dyn FnMut(Prepared<'_>) -> Result<usize, Errno>;

/// Headers of a batch.
pub(crate) struct Outgoing {
    many: MessageBatch,
    runs: Vec<Run>,
    limit: Aggregation,
}

impl Outgoing {
    /// For batches of `batch` datagrams; `aggregate`: as few messages as the kernel can split.
    pub(crate) fn new(batch: usize, aggregate: bool) -> Outgoing {
        let limit = if aggregate { Aggregation::FULL } else { Aggregation::NONE };
        Outgoing { many: MessageBatch::new(batch), runs: Vec::with_capacity(batch), limit }
    }

    /// Whether aggregates may leave.
    pub(crate) fn aggregates(&self) -> bool {
        self.limit.datagrams > 1
    }

    /// Sends from the front of `entries`, all of one port; returns how many datagrams are gone.
    pub(crate) fn send(
        &mut self,
        arena: &[u8],
        entries: &[TxEntry],
        calls: &mut u64,
        submit: Submit<'_>,
    ) -> Result<usize, Errno> {
        cut(entries, self.limit, &mut self.runs);
        *calls += 1;
        match (submit(self.many.prepare(arena, entries, &self.runs)), self.runs.first()) {
            (Ok(runs), _) => Ok(self.runs.iter().take(runs).map(|run| run.datagrams).sum()),
            (Err(errno), Some(&run)) if run.segment.is_some() && refuses_aggregate(errno) => {
                *calls += 1;
                // Its first datagram alone tells whether that was the reason.
                submit(self.many.prepare(arena, entries.get(..1).unwrap_or(&[]), &[Run::SINGLE]))?;
                self.limit = self.limit.after_refusal(run, errno);
                Ok(1)
            }
            (Err(errno), _) => Err(errno),
        }
    }
}

/// Answers that can mean "not as an aggregate": longer than the route's MTU, or no checksum in the device
/// (`udp_send_skb` in net/ipv4/udp.c).
fn refuses_aggregate(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::MSGSIZE | Errno::IO | Errno::OPNOTSUPP | Errno::NOPROTOOPT)
}

/// Whether the kernel knows how to split aggregates: the option is set and taken back.
pub(crate) fn splits(ports: &[Port]) -> bool {
    let segment = |port: &Port, bytes| option::set(port.fd(), libc::SOL_UDP, option::UDP_SEGMENT, bytes).is_ok();
    ports.iter().all(|port| segment(port, 512) && segment(port, 0))
}

/// Has the kernel join what arrives, on all ports or on none.
pub(crate) fn joins(ports: &[Port]) -> bool {
    let set = |port: &Port, on| option::set(port.fd(), libc::SOL_UDP, option::UDP_GRO, on).is_ok();
    let joins = ports.iter().all(|port| set(port, 1));
    if !joins {
        for port in ports {
            let _where_it_was_off = set(port, 0);
        }
    }
    joins
}
