//! The receiving half of a socket.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv, sockopt};

use super::joined::Joined;
use super::ring::Ring;
use super::{CHUNK_BYTES, Descriptor, GOES_ON, HEADROOM_BYTES, Memory, Sizes};
use crate::sys::option;

/// asm-generic/socket.h: microseconds, a switch, frames.
const SO_BUSY_POLL: i32 = 46;
const SO_PREFER_BUSY_POLL: i32 = 69;
const SO_BUSY_POLL_BUDGET: i32 = 70;

/// Receiving half of a socket, for one thread. Its chunks are the first of the socket's memory.
pub(crate) struct Receiving {
    socket: Arc<OwnedFd>,
    fill: Ring<u64>,
    rx: Ring<Descriptor>,
    memory: Memory,
    chunks: u32,
    joined: Joined,
}

impl Receiving {
    pub(super) fn new(
        socket: Arc<OwnedFd>,
        fill: Ring<u64>,
        rx: Ring<Descriptor>,
        memory: Memory,
        sizes: Sizes,
    ) -> Receiving {
        let chunks = sizes.receive;
        let joined = Joined::new(if sizes.is_long() { sizes.frame_bytes } else { 0 });
        let mut new = Receiving { socket, fill, rx, memory, chunks, joined };
        (0..chunks).for_each(|chunk| new.give_back(chunk));
        new.refill();
        new
    }

    /// Has [`Receiving::wake`] do the driver's work, for so long and so many frames a call (networking/napi.rst, busy
    /// polling).
    pub(crate) fn poll_driver(&self) -> Result<(), Errno> {
        for (option, value) in [(SO_PREFER_BUSY_POLL, 1), (SO_BUSY_POLL, 20), (SO_BUSY_POLL_BUDGET, 64)] {
            option::set(self.socket.as_fd(), libc::SOL_SOCKET, option, value)?;
        }
        Ok(())
    }

    /// Whether the driver writes into the chunks themselves; otherwise the kernel copies.
    pub(crate) fn zero_copy(&self) -> bool {
        super::zero_copy(&self.socket)
    }

    pub(crate) fn has_frame(&self) -> bool {
        self.rx.peek().is_some()
    }

    /// The stamp before the next frame, 0 if it has none, or is the rest of a frame; `None` when there is none.
    pub(crate) fn next_stamp(&mut self) -> Option<u64> {
        let descriptor = self.rx.peek()?;
        let place = self.find(descriptor);
        let before = place.and_then(|(number, within, _)| {
            // SAFETY: its descriptor is in `rx`, and it has not gone into `fill` since: it is ours.
            #[allow(unsafe_code)]
            let chunk = unsafe { self.memory.part_mut(number as usize * CHUNK_BYTES, CHUNK_BYTES) };
            chunk.get(..within)
        });
        Some(before.and_then(|before| before.last_chunk::<8>()).map_or(0, |&stamp| u64::from_ne_bytes(stamp)))
    }

    /// Takes the next chunk and gives it back. If a frame ends in it, `each` gets that frame, with the 8 bytes before it if
    /// something was written there. `false` when there is no chunk.
    pub(crate) fn receive(&mut self, each: impl FnOnce(Option<u64>, &[u8])) -> bool {
        let Some(descriptor) = self.rx.pop() else { return false };
        let place = self.find(descriptor);
        let Receiving { memory, joined, .. } = self;
        let chunk: &mut [u8] = match place {
            Some((number, ..)) => {
                // SAFETY: its descriptor came by `rx`, and it goes into `fill` below, after the last use of these bytes.
                #[allow(unsafe_code)]
                unsafe {
                    memory.part_mut(number as usize * CHUNK_BYTES, CHUNK_BYTES)
                }
            }
            // A place that is none of ours has nothing in it.
            None => &mut [],
        };
        let (within, bytes) = place.map_or((0, 0), |(_, within, bytes)| (within, bytes));
        let used = chunk.get(..within.saturating_add(bytes));
        let (before, part) = used.map_or((&[][..], &[][..]), |used| used.split_at(within));
        let stamp = before.last_chunk::<8>().map(|&stamp| u64::from_ne_bytes(stamp)).filter(|&stamp| stamp != 0);
        joined.add(stamp, part, descriptor.options & GOES_ON != 0, each);
        if let Some((number, ..)) = place {
            // The next frame that lies here may get no stamp.
            chunk[HEADROOM_BYTES - 8..HEADROOM_BYTES].fill(0);
            self.give_back(number);
        }
        true
    }

    /// Puts the given-back chunks where the kernel finds them.
    pub(crate) fn refill(&mut self) {
        self.fill.publish();
    }

    /// Has the driver look for frames, where it waits for a wake-up, or where the socket polls (`SO_BUSY_POLL`).
    ///
    /// # Errors
    /// `ENETDOWN`: the interface is down. `ENXIO`: it is gone, and with it this socket's use.
    pub(crate) fn wake(&mut self) -> Result<(), Errno> {
        recv(&self.socket, &mut [0_u8; 0][..], RecvFlags::DONTWAIT).map(drop)
    }

    /// Frames that came for this socket and were dropped because all chunks were filled; `None` if the kernel can't say.
    pub(crate) fn drops(&self) -> Option<u64> {
        let counts = sockopt::xdp_statistics(&self.socket).ok()?;
        let dropped = counts.rx_dropped + counts.rx_ring_full.unwrap_or(0);
        drops(dropped, counts.rx_fill_ring_empty_descs, self.zero_copy())
    }

    /// The kernel's descriptor is a claim: number of a chunk, where in it a part begins, and how long it is. `None` if
    /// that is no place for receiving.
    fn find(&self, Descriptor { address, bytes, .. }: Descriptor) -> Option<(u32, usize, usize)> {
        let chunk = u32::try_from(address / CHUNK_BYTES as u64).ok().filter(|&chunk| chunk < self.chunks)?;
        Some((chunk, (address % CHUNK_BYTES as u64) as usize, bytes as usize))
    }

    fn give_back(&mut self, chunk: u32) {
        // The ring has an entry for each chunk.
        self.fill.push(u64::from(chunk) * CHUNK_BYTES as u64);
    }
}

/// A driver that takes chunks itself drops a frame that finds none, and nobody counts those: only how often it found
/// none is known.
fn drops(dropped: u64, found_none: Option<u64>, zero_copy: bool) -> Option<u64> {
    (!zero_copy || found_none == Some(0)).then_some(dropped)
}

impl AsFd for Receiving {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_of_a_driver_that_found_no_chunk_are_unknown_and_not_0() {
        assert_eq!(drops(3, Some(7), false), Some(3), "the kernel copies, and counts");
        assert_eq!(drops(3, None, false), Some(3), "as before Linux 5.9");
        assert_eq!(drops(3, Some(0), true), Some(3));
        assert_eq!(drops(0, Some(1), true), None);
        assert_eq!(drops(0, None, true), None);
    }
}
