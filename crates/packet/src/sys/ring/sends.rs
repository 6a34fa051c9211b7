//! Answers of the kernel about sends, and which blocks of frames it still reads.
//!
//! A send by zero copy is answered twice: once it is queued, with the flag that more follows (`IORING_CQE_F_MORE`), and once
//! nobody reads its bytes any more (`IORING_CQE_F_NOTIF`, io_uring_enter(2)). The second answer may come much later: a frame can
//! wait in a queue below the socket. It says whether the bytes were copied after all. A send that failed is answered twice, too,
//! if its first answer has that flag.
//!
//! **A second answer that was not announced says nothing.** Of linked sends those behind one that failed are cancelled: their first
//! answer has no flag, and a second one comes all the same (Linux 6.18), with the mark of copied bytes. So every send has a number of
//! its own in its mark, and a second answer counts only for one whose first announced it.

use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::Fd;
use io_uring::{cqueue, opcode, squeue};

use super::ZeroCopySend;
use crate::sys::message::Message;

/// Marks the answers to a send. Block and place in its submission are below; above, behind another mark, is the send's number.
const SEND: u64 = 1 << 32;
const BLOCK_SHIFT: u32 = 16;
const NUMBER_SHIFT: u32 = 34;
/// Numbers begin again after so many.
const NUMBERS: u64 = 1 << (u64::BITS - NUMBER_SHIFT);
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
    reads: u32,
    /// They never will: their ring is closed. The kernel may read these bytes as long as it likes.
    abandoned: bool,
}

/// A send whose second answer was announced and has not come.
#[derive(Clone, Copy, Debug)]
struct Announced {
    number: u64,
    /// It did not fail.
    sent: bool,
}

/// The sends of a ring.
#[derive(Debug)]
pub(super) struct Sends {
    /// First answers to those under way, by their place in the submission.
    answers: Vec<Option<i32>>,
    blocks: Vec<Block>,
    /// By the send's number, as far as there is room.
    announced: Vec<Option<Announced>>,
    next: u64,
    usage: Usage,
}

impl Sends {
    pub(super) fn new(together: usize, blocks: usize) -> Sends {
        // All messages of all blocks, and those that fail while they wait.
        let room = (together * (blocks + 1)).next_power_of_two();
        Sends {
            answers: vec![None; together],
            blocks: vec![Block::default(); blocks],
            announced: vec![None; room],
            next: 0,
            usage: Usage::default(),
        }
    }

    /// How many can be under way together.
    pub(super) fn room(&self) -> usize {
        self.answers.len()
    }

    pub(super) fn begin(&mut self) {
        self.answers.fill(None);
    }

    /// Whether a second answer to the next send could be told from others. One that waits for long may be in its way; then it is
    /// sent as a copy.
    pub(super) fn may_announce(&self) -> bool {
        self.announced.get(self.room_of(self.next)).is_some_and(Option::is_none)
    }

    /// Mark of the answers to the next send, at this place of its submission.
    pub(super) fn mark(&mut self, block: usize, place: usize) -> u64 {
        let number = self.next;
        self.next = (number + 1) % NUMBERS;
        number << NUMBER_SHIFT | SEND | (block as u64) << BLOCK_SHIFT | place as u64
    }

    fn room_of(&self, number: u64) -> usize {
        number as usize % self.announced.len().max(1)
    }

    /// Whether an answer is to a send. Then it is taken.
    pub(super) fn take(&mut self, mark: u64, result: i32, flags: u32) -> bool {
        if mark & SEND == 0 {
            return false;
        }
        let number = mark >> NUMBER_SHIFT;
        let (block, place) = ((mark & (SEND - 1)) >> BLOCK_SHIFT, mark & ((1 << BLOCK_SHIFT) - 1));
        if cqueue::notif(flags) {
            self.take_second(block as usize, number, result);
            return true;
        }
        if cqueue::more(flags) {
            self.announce(block as usize, Announced { number, sent: result >= 0 });
        }
        if let Some(answer) = self.answers.get_mut(place as usize) {
            *answer = Some(result);
        }
        true
    }

    fn announce(&mut self, block: usize, announced: Announced) {
        let room = self.room_of(announced.number);
        if let (Some(place), Some(block)) = (self.announced.get_mut(room), self.blocks.get_mut(block)) {
            *place = Some(announced);
            block.reads += 1;
        }
    }

    fn take_second(&mut self, block: usize, number: u64, result: i32) {
        let room = self.room_of(number);
        let Some(place) = self.announced.get_mut(room) else { return };
        let Some(announced) = place.take_if(|announced| announced.number == number) else { return };
        if let Some(block) = self.blocks.get_mut(block) {
            block.reads -= 1;
        }
        if announced.sent {
            let copied = result & COPIED != 0;
            self.usage.copied += u64::from(copied);
            self.usage.zero_copy += u64::from(!copied);
        }
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
        self.announced.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `IORING_CQE_F_MORE` and `IORING_CQE_F_NOTIF` (linux/io_uring.h).
    const MORE: u32 = 1 << 1;
    const NOTIF: u32 = 1 << 3;

    /// Marks of so many sends of a block, in one submission.
    fn marks(sends: &mut Sends, block: usize, count: usize) -> Vec<u64> {
        (0..count).map(|place| sends.mark(block, place)).collect()
    }

    #[test]
    fn a_block_is_free_when_every_announced_answer_has_come() {
        let mut sends = Sends::new(4, 2);
        let marks = marks(&mut sends, 1, 4);
        for mark in &marks[..3] {
            assert!(sends.take(*mark, 8000, MORE));
        }
        // This one failed before it held anything.
        assert!(sends.take(marks[3], -libc::ECANCELED, 0));
        assert_eq!((sends.taken(4), sends.is_free(0), sends.is_free(1)), (Ok(3), true, false));
        for (number, result) in [(2, 0), (0, COPIED), (1, 0)] {
            assert!(!sends.is_free(1));
            assert!(sends.take(marks[number], result, NOTIF));
        }
        assert!(sends.is_free(1));
        assert_eq!(sends.usage(), Usage { zero_copy: 2, copied: 1 });
        assert!(!sends.take(7, 0, 0), "a receive's");
    }

    #[test]
    fn what_was_cancelled_frees_no_block_and_says_nothing_of_the_path() {
        let mut sends = Sends::new(4, 2);
        let marks = marks(&mut sends, 1, 4);
        for (mark, (result, flags)) in
            marks.iter().zip([(8000, MORE), (8000, MORE), (-libc::EAGAIN, MORE), (-libc::ECANCELED, 0)])
        {
            sends.take(*mark, result, flags);
        }
        for mark in &marks[2..] {
            sends.take(*mark, COPIED, NOTIF);
        }
        assert_eq!((sends.taken(4), sends.is_free(1), sends.usage()), (Ok(2), false, Usage::default()));
        for mark in &marks[..2] {
            assert!(!sends.is_free(1));
            sends.take(*mark, 0, NOTIF);
        }
        assert!(sends.is_free(1));
        assert_eq!(sends.usage(), Usage { zero_copy: 2, copied: 0 });
    }

    #[test]
    fn a_second_answer_that_comes_late_is_not_taken_for_that_of_another_send() {
        let mut sends = Sends::new(1, 1);
        let cancelled = sends.mark(0, 0);
        sends.take(cancelled, -libc::ECANCELED, 0);
        let waits = sends.mark(0, 0);
        sends.take(waits, 8000, MORE);
        sends.take(cancelled, COPIED, NOTIF);
        assert!(!sends.is_free(0));
        // Whoever comes to the room of the one that waits is copied; the others are not.
        sends.mark(0, 0);
        assert!(!sends.may_announce());
        sends.mark(0, 0);
        assert!(sends.may_announce());
        sends.take(waits, 0, NOTIF);
        assert!(sends.is_free(0));
    }

    #[test]
    fn numbers_begin_again_without_a_send_being_lost() {
        let mut sends = Sends::new(2, 1);
        sends.next = NUMBERS - 1;
        let marks = marks(&mut sends, 0, 2);
        assert!(marks.iter().all(|mark| sends.take(*mark, 8000, MORE)) && !sends.is_free(0));
        assert!(marks.iter().all(|mark| sends.take(*mark, 0, NOTIF)));
        assert_eq!((sends.is_free(0), sends.usage().zero_copy), (true, 2));
    }

    #[test]
    fn a_failed_send_may_hold_its_bytes_for_a_while() {
        let mut sends = Sends::new(1, 1);
        let mark = sends.mark(0, 0);
        sends.take(mark, -libc::EHOSTUNREACH, MORE);
        assert_eq!((sends.taken(1), sends.is_free(0)), (Err(-libc::EHOSTUNREACH), false));
        sends.take(mark, 0, NOTIF);
        assert!(sends.is_free(0));
    }

    #[test]
    fn a_block_whose_ring_is_closed_is_never_free_until_it_has_other_memory() {
        let mut sends = Sends::new(1, 2);
        let mark = sends.mark(1, 0);
        sends.take(mark, 8000, MORE);
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
            let marks: Vec<_> = (0..32).map(|number| sends.mark(number % 4, number)).collect();
            for mark in &marks {
                sends.take(*mark, 1472, MORE);
            }
            let mut left = [8; 4];
            for number in order {
                prop_assert!((0..4).all(|block| sends.is_free(block) == (left[block] == 0)));
                sends.take(marks[number], 0, NOTIF);
                left[number % 4] -= 1;
            }
            prop_assert!((0..4).all(|block| sends.is_free(block)));
        }
    }
}
