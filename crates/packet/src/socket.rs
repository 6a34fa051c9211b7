//! Engine `socket`: one system call a datagram, as UHD's own transport does.

use rustix::io::Errno;

use crate::TxEntry;
use crate::port::Port;
use crate::shared::Sends;
use crate::sockets::Calls;
use crate::sys::message::{Got, recv_one};

/// `recvmsg` and `sendto`.
pub(crate) struct OneByOne {
    /// Bytes of a frame.
    pub(crate) frame_bytes: usize,
}

impl Calls for OneByOne {
    fn stride(&self) -> usize {
        self.frame_bytes
    }

    fn recv(&mut self, port: &Port, row: &mut [u8], calls: &mut u64, each: &mut dyn FnMut(Got)) -> Result<bool, Errno> {
        for frame in row.chunks_exact_mut(self.frame_bytes) {
            *calls += 1;
            match recv_one(port.fd(), frame, port.wants(false), 0) {
                Ok(got) => each(got),
                Err(Errno::AGAIN) => return Ok(true),
                Err(errno) => return Err(errno),
            }
        }
        Ok(false)
    }

    fn aggregates(&self) -> (bool, bool) {
        (false, false)
    }
}

impl Sends for OneByOne {
    fn send(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno> {
        let Some(entry) = entries.first() else { return Ok(0) };
        let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
        *calls += 1;
        match port.send(bytes, entry.to) {
            Ok(_) => Ok(1),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL)),
        }
    }
}
