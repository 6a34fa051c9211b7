//! The sending half of a socket.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::ring::Ring;
use super::{CHUNK_BYTES, Descriptor, GOES_ON, Memory, Sizes};

/// Sending half of a socket, for one thread. Its chunks follow those for receiving.
pub(crate) struct Sending {
    socket: Arc<OwnedFd>,
    completion: Ring<u64>,
    tx: Ring<Descriptor>,
    memory: Memory,
    /// Number of the first chunk.
    first: u32,
    chunks: u32,
    /// Chunks that are ours, counted from the first.
    free: Vec<u32>,
}

impl Sending {
    pub(super) fn new(
        socket: Arc<OwnedFd>,
        completion: Ring<u64>,
        tx: Ring<Descriptor>,
        memory: Memory,
        sizes: Sizes,
    ) -> Sending {
        let Sizes { receive: first, send: chunks, .. } = sizes;
        Sending { socket, completion, tx, memory, first, chunks, free: (0..chunks).rev().collect() }
    }

    /// Whether the driver reads the chunks themselves; otherwise the kernel copies.
    pub(crate) fn zero_copy(&self) -> bool {
        super::zero_copy(&self.socket)
    }

    /// Chunks that a frame takes.
    pub(crate) fn parts(frame_bytes: usize) -> usize {
        frame_bytes.div_ceil(CHUNK_BYTES).max(1)
    }

    /// Queues the frame of `headers` and `payload`; `false` when too few chunks are ours. It leaves with the next
    /// [`Sending::kick`].
    pub(crate) fn send(&mut self, headers: &[u8], payload: &[u8]) -> bool {
        if self.free.len() < Sending::parts(headers.len() + payload.len()) {
            return false;
        }
        let (mut headers, mut payload) = (headers, payload);
        while let Some(number) = self.free.pop() {
            // SAFETY: it was free, so it is ours, and it goes into `tx` when its bytes have been written.
            #[allow(unsafe_code)]
            let chunk = unsafe { self.memory.part_mut(number as usize * CHUNK_BYTES, CHUNK_BYTES) };
            let (front, rest) = chunk.split_at_mut(headers.len().min(CHUNK_BYTES));
            front.copy_from_slice(&headers[..front.len()]);
            let (now, later) = payload.split_at(payload.len().min(rest.len()));
            rest[..now.len()].copy_from_slice(now);
            let bytes = (front.len() + now.len()) as u32;
            let address = u64::from(self.first + number) * CHUNK_BYTES as u64;
            // The ring has an entry for each chunk.
            self.tx.push(Descriptor { address, bytes, options: if later.is_empty() { 0 } else { GOES_ON } });
            (headers, payload) = (&[], later);
            if payload.is_empty() {
                break;
            }
        }
        true
    }

    /// Has the kernel send what is queued. `Ok(true)`: all of it has been taken; `Ok(false)`: a part, since one call takes
    /// only so many (`TX_BATCH_SIZE` in net/xdp/xsk.c).
    ///
    /// # Errors
    /// None was taken, and why.
    pub(crate) fn kick(&mut self, calls: &mut u64) -> Result<bool, Errno> {
        self.tx.publish();
        let before = self.tx.waiting();
        if before == 0 {
            return Ok(true);
        }
        let answer = if self.tx.needs_wakeup() {
            *calls += 1;
            send(&self.socket, &[], SendFlags::DONTWAIT).map(drop)
        } else {
            Ok(())
        };
        match self.tx.waiting() {
            0 => Ok(true),
            // At the end of its batch the kernel says `EAGAIN` as well.
            after if after != before => Ok(false),
            _ => Err(answer.err().unwrap_or(Errno::AGAIN)),
        }
    }

    /// Whether frames were queued that the kernel has not taken.
    pub(crate) fn has_queued(&self) -> bool {
        self.tx.waiting() > 0
    }

    /// Takes back the chunks whose frames have left; returns how many are ours now.
    pub(crate) fn reap(&mut self) -> usize {
        while let Some(address) = self.completion.pop() {
            let number = u32::try_from(address / CHUNK_BYTES as u64).ok();
            let number =
                number.and_then(|number| number.checked_sub(self.first)).filter(|&number| number < self.chunks);
            if let Some(number) = number.filter(|_| self.free.len() < self.free.capacity()) {
                self.free.push(number);
            }
        }
        self.free.len()
    }
}
