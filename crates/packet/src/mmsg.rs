//! Engine `mmsg`: a batch a system call (`recvmmsg`, `sendmmsg`), and with [`Config::aggregate`] several datagrams a
//! message: [`crate::outgoing`], and the kernel joins what is received (GRO), where it can.

use rustix::io::Errno;

use crate::outgoing::{AGGREGATE_BYTES, Outgoing, joins, splits};
use crate::port::Port;
use crate::shared::Sends;
use crate::sockets::Calls;
use crate::sys::message::{MessageBatch, Received};
use crate::{Config, TxEntry};

/// `recvmmsg` and `sendmmsg`.
pub(crate) struct Batches {
    recv: MessageBatch,
    send: Outgoing,
    stride: usize,
    joins: bool,
}

impl Batches {
    /// Probes what the kernel offers for these ports, and switches it on.
    pub(crate) fn new(ports: &[Port], config: &Config) -> Batches {
        let joins = config.aggregate && joins(ports);
        Batches {
            recv: MessageBatch::new(config.batch),
            send: Outgoing::new(config.batch, config.aggregate && splits(ports)),
            stride: if joins { AGGREGATE_BYTES } else { config.max_payload_bytes },
            joins,
        }
    }
}

impl Calls for Batches {
    fn stride(&self) -> usize {
        self.stride
    }

    fn recv(
        &mut self,
        port: &Port,
        row: &mut [u8],
        calls: &mut u64,
        each: &mut dyn FnMut(Received),
    ) -> Result<bool, Errno> {
        *calls += 1;
        match self.recv.recv(port.fd(), row, self.stride, port.wants(self.joins), each) {
            Ok((frames, got)) => Ok(got < frames),
            Err(Errno::AGAIN) => Ok(true),
            Err(errno) => Err(errno),
        }
    }

    fn aggregates(&self) -> (bool, bool) {
        (self.send.aggregates(), self.joins)
    }
}

impl Sends for Batches {
    fn send(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno> {
        self.send.send(arena, entries, calls, &mut |messages| messages.send(port.fd()))
    }
}
