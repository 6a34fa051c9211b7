//! What the kernel answers about sends, and which blocks of frames it still reads.
//!
//! A send by zero copy is answered twice: once it is queued, with the flag that more follows (`IORING_CQE_F_MORE`), and once
//! nobody reads its bytes any more (`IORING_CQE_F_NOTIF`, io_uring_enter(2)). The second answer may come much later: a frame can
//! wait in a queue below the socket. It says whether the bytes were copied after all. A send that failed is answered twice, too,
//! if its first answer has that flag.

use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::Fd;
use io_uring::{cqueue, opcode, squeue};

use super::ZeroCopySend;
use crate::sys::message::Message;

/// Marks the answers to a send; block and number are below.
const SEND: u64 = 1 << 32;
const BLOCK_SHIFT: u32 = 16;
/// `IORING_NOTIF_USAGE_ZC_COPIED`, the highest bit of the second answer.
const COPIED: i32 = i32::MIN;

/// `IORING_SEND_ZC_REPORT_USAGE` (linux/io_uring.h): the second answer says whether the bytes were copied.
const REPORT_USAGE: u16 = 1 << 3;

/// The request for a message, by zero copy or not; one piece of `registered` memory needs no header and pins nothing.
pub(super) fn entry(
    socket: BorrowedFd<'_>,
    message: Message,
    zero_copy: Option<ZeroCopySend>,
    registered: bool,
) -> squeue::Entry {
    let (socket, flags) = (Fd(socket.as_raw_fd()), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL);
    match (zero_copy, message.single) {
        (Some(zero_copy), Some(at)) => {
            opcode::SendZc::new(socket, std::ptr::with_exposed_provenance(at), message.bytes)
                .buf_index(u16::try_from(zero_copy.block).ok().filter(|_| registered))
                .dest_addr(std::ptr::with_exposed_provenance(message.name))
                .dest_addr_len(message.name_bytes)
                .flags(flags)
                .zc_flags(REPORT_USAGE)
                .build()
        }
        (Some(_), None) => {
            opcode::SendMsgZc::new(socket, message.header).flags(flags.cast_unsigned()).ioprio(REPORT_USAGE).build()
        }
        (None, _) => opcode::SendMsg::new(socket, message.header).flags(flags.cast_unsigned()).build(),
    }
}

/// Messages that zero copy was requested for and that are done with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Left from where they lay.
    pub(crate) zero_copy: u64,
    /// Were copied all the same.
    pub(crate) copied: u64,
}

/// A block of frames whose messages may leave by zero copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    /// Second answers that are still to come.
    reads: i64,
    /// They never will: their ring is closed. The kernel may read these bytes as long as it likes.
    abandoned: bool,
}

/// The sends of a ring.
#[derive(Debug)]
pub(super) struct Sends {
    /// First answers to those under way, by number.
    answers: Vec<Option<i32>>,
    blocks: Vec<Block>,
    usage: Usage,
}

impl Sends {
    pub(super) fn new(together: usize, blocks: usize) -> Sends {
        Sends { answers: vec![None; together], blocks: vec![Block::default(); blocks], usage: Usage::default() }
    }

    /// How many can be under way together.
    pub(super) fn room(&self) -> usize {
        self.answers.len()
    }

    pub(super) fn begin(&mut self) {
        self.answers.fill(None);
    }

    /// What marks a send's answers.
    pub(super) const fn mark(block: usize, number: usize) -> u64 {
        SEND | (block as u64) << BLOCK_SHIFT | number as u64
    }

    /// Whether an answer is to a send. Then it is taken.
    pub(super) fn take(&mut self, mark: u64, result: i32, flags: u32) -> bool {
        if mark & SEND == 0 {
            return false;
        }
        let (below, number) = ((mark & !SEND) >> BLOCK_SHIFT, mark & ((1 << BLOCK_SHIFT) - 1));
        let mut none = Block::default();
        let block = self.blocks.get_mut(below as usize).unwrap_or(&mut none);
        if cqueue::notif(flags) {
            block.reads -= 1;
            let copied = result & COPIED != 0;
            self.usage.copied += u64::from(copied);
            self.usage.zero_copy += u64::from(!copied);
            return true;
        }
        block.reads += i64::from(cqueue::more(flags));
        if let Some(answer) = self.answers.get_mut(number as usize) {
            *answer = Some(result);
        }
        true
    }

    /// How many of the first `count` are not yet answered.
    pub(super) fn missing(&self, count: usize) -> usize {
        self.answers.iter().take(count).filter(|answer| answer.is_none()).count()
    }

    /// How many of `count` from the front were taken; if none, what the first was answered.
    pub(super) fn taken(&self, count: usize) -> Result<usize, i32> {
        let answers = self.answers.get(..count).unwrap_or_default();
        match answers.iter().position(|answer| answer.is_none_or(|answer| answer < 0)) {
            None => Ok(count),
            Some(0) => Err(answers.first().copied().flatten().unwrap_or(-libc::EINVAL)),
            Some(taken) => Ok(taken),
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Whether nobody reads the bytes of a block.
    pub(super) fn is_free(&self, block: usize) -> bool {
        self.blocks.get(block).is_some_and(|block| block.reads == 0 && !block.abandoned)
    }

    pub(super) fn is_abandoned(&self, block: usize) -> bool {
        self.blocks.get(block).is_some_and(|block| block.abandoned)
    }

    /// The block has other memory.
    pub(super) fn replaced(&mut self, block: usize) {
        if let Some(block) = self.blocks.get_mut(block) {
            *block = Block::default();
        }
    }

    /// No answers come any more.
    pub(super) fn abandon(&mut self) {
        for block in &mut self.blocks {
            block.abandoned |= block.reads != 0;
            block.reads = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `IORING_CQE_F_MORE` and `IORING_CQE_F_NOTIF` (linux/io_uring.h).
    const MORE: u32 = 1 << 1;
    const NOTIF: u32 = 1 << 3;

    #[test]
    fn a_block_is_free_when_every_announced_answer_has_come() {
        let mut sends = Sends::new(4, 2);
        for number in 0..3 {
            assert!(sends.take(Sends::mark(1, number), 8000, MORE));
        }
        // This one failed before it held anything.
        assert!(sends.take(Sends::mark(1, 3), -libc::ECANCELED, 0));
        assert_eq!((sends.taken(4), sends.is_free(0), sends.is_free(1)), (Ok(3), true, false));
        for (number, result) in [(2, 0), (0, COPIED), (1, 0)] {
            assert!(!sends.is_free(1));
            assert!(sends.take(Sends::mark(1, number), result, NOTIF));
        }
        assert!(sends.is_free(1));
        assert_eq!(sends.usage(), Usage { zero_copy: 2, copied: 1 });
        assert!(!sends.take(7, 0, 0), "a receive's");
    }

    #[test]
    fn a_failed_send_may_hold_its_bytes_for_a_while() {
        let mut sends = Sends::new(1, 1);
        sends.take(Sends::mark(0, 0), -libc::EHOSTUNREACH, MORE);
        assert_eq!((sends.taken(1), sends.is_free(0)), (Err(-libc::EHOSTUNREACH), false));
        sends.take(Sends::mark(0, 0), 0, NOTIF);
        assert!(sends.is_free(0));
    }

    #[test]
    fn a_block_whose_ring_is_closed_is_never_free_until_it_has_other_memory() {
        let mut sends = Sends::new(1, 2);
        sends.take(Sends::mark(1, 0), 8000, MORE);
        sends.abandon();
        assert_eq!((sends.is_free(0), sends.is_free(1), sends.is_abandoned(1)), (true, false, true));
        sends.replaced(1);
        assert!(sends.is_free(1) && !sends.is_abandoned(1));
    }

    proptest! {
        /// Whatever order answers come in, a block with an answer outstanding is not free.
        #[test]
        fn no_block_is_free_before_its_last_answer(order in Just((0..32_usize).collect::<Vec<_>>()).prop_shuffle()) {
            let mut sends = Sends::new(32, 4);
            for number in 0..32 {
                sends.take(Sends::mark(number % 4, number), 1472, MORE);
            }
            let mut left = [8; 4];
            for number in order {
                prop_assert!((0..4).all(|block| sends.is_free(block) == (left[block] == 0)));
                sends.take(Sends::mark(number % 4, number), 0, NOTIF);
                left[number % 4] -= 1;
            }
            prop_assert!((0..4).all(|block| sends.is_free(block)));
        }
    }
}
