//! Engine `mmsg`: a batch a system call (`recvmmsg`, `sendmmsg`), and with [`Config::aggregate`] several datagrams a
//! message: the kernel splits what is sent below the socket (UDP GSO) and joins what is received (GRO), where it can.
//!
//! Support is probed at opening. What the kernel refuses at run time (a device that can't checksum, a datagram longer
//! than the route's MTU) is sent singly, and not tried again: no datagram is lost by it.

use rustix::io::Errno;

use crate::port::Port;
use crate::runs::{Aggregation, cut};
use crate::sockets::Calls;
use crate::sys::message::{Got, Many, Run};
use crate::sys::option;
use crate::{Config, TxEntry};

/// Bytes between receive frames that may hold aggregates: no message is longer.
const AGGREGATE_BYTES: usize = 65_536;

/// `recvmmsg` and `sendmmsg`.
pub(crate) struct Batches {
    recv: Many,
    send: Many,
    runs: Vec<Run>,
    stride: usize,
    sends: Aggregation,
    joins: bool,
}

impl Batches {
    /// Probes what the kernel offers for these ports, and switches it on.
    pub(crate) fn new(ports: &[Port], config: &Config) -> Batches {
        let splits = config.aggregate && ports.iter().all(splits);
        let joins = config.aggregate && ports.iter().all(|port| set_joins(port, true));
        if config.aggregate && !joins {
            for port in ports {
                let _where_it_was_off = set_joins(port, false);
            }
        }
        Batches {
            recv: Many::new(config.batch),
            send: Many::new(config.batch),
            runs: Vec::with_capacity(config.batch),
            stride: if joins { AGGREGATE_BYTES } else { config.max_payload_bytes },
            sends: if splits { Aggregation::FULL } else { Aggregation::NONE },
            joins,
        }
    }

    /// The first run was refused as an aggregate. Its first datagram alone tells whether that was the reason.
    fn send_alone(
        &mut self,
        port: &Port,
        arena: &[u8],
        entries: &[TxEntry],
        refused: (Run, Errno),
    ) -> Result<usize, Errno> {
        let alone = Run { datagrams: 1, segment: None };
        let first = entries.get(..1).unwrap_or(&[]);
        self.send.send(port.fd(), arena, first, &[alone])?;
        self.sends = self.sends.after_refusal(refused.0, refused.1);
        Ok(1)
    }
}

impl Calls for Batches {
    fn stride(&self) -> usize {
        self.stride
    }

    fn recv(&mut self, port: &Port, row: &mut [u8], calls: &mut u64, each: &mut dyn FnMut(Got)) -> Result<bool, Errno> {
        *calls += 1;
        match self.recv.recv(port.fd(), row, self.stride, port.wants(self.joins), each) {
            Ok((frames, got)) => Ok(got < frames),
            Err(Errno::AGAIN) => Ok(true),
            Err(errno) => Err(errno),
        }
    }

    fn send(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno> {
        cut(entries, self.sends, &mut self.runs);
        *calls += 1;
        match (self.send.send(port.fd(), arena, entries, &self.runs), self.runs.first()) {
            (Ok(runs), _) => Ok(self.runs.iter().take(runs).map(|run| run.datagrams).sum()),
            (Err(errno), Some(&run)) if run.segment.is_some() && refuses_aggregate(errno) => {
                *calls += 1;
                self.send_alone(port, arena, entries, (run, errno))
            }
            (Err(errno), _) => Err(errno),
        }
    }

    fn aggregates(&self) -> (bool, bool) {
        (self.sends.datagrams > 1, self.joins)
    }
}

/// Answers that can mean "not as an aggregate": longer than the route's MTU, or no checksum in the device
/// (`udp_send_skb` in net/ipv4/udp.c).
fn refuses_aggregate(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::MSGSIZE | Errno::IO | Errno::OPNOTSUPP | Errno::NOPROTOOPT)
}

/// Whether the kernel knows how to split aggregates: the option is set and taken back.
fn splits(port: &Port) -> bool {
    let segment = |bytes| option::set(port.fd(), libc::SOL_UDP, option::UDP_SEGMENT, bytes).is_ok();
    segment(512) && segment(0)
}

fn set_joins(port: &Port, on: bool) -> bool {
    option::set(port.fd(), libc::SOL_UDP, option::UDP_GRO, i32::from(on)).is_ok()
}
