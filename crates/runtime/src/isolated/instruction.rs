//! An [`Instruction`] as words of a request.

use std::sync::atomic::AtomicU64;

use takt_link::exchange::{get, put};

use super::layout::Layout;
use crate::component::{Instruction, Message, Word};

const SET: u64 = 1;
const MESSAGE: u64 = 2;
const DEGRADE: u64 = 3;

impl Instruction {
    pub(crate) fn write(&self, cell: &[AtomicU64], n: usize) {
        let at = Layout::control(n);
        match self {
            Instruction::Set { param, value } => {
                let word = Word::of(Some(*value));
                for (n, value) in [SET, *param as u64, word.kind, word.bits].into_iter().enumerate() {
                    put(cell, at + n, value);
                }
            }
            Instruction::Message(message) => {
                put(cell, at, MESSAGE);
                put(cell, at + 1, message.tag);
                message.words.iter().enumerate().for_each(|(n, &word)| put(cell, at + 2 + n, word));
            }
            Instruction::Degrade => put(cell, at, DEGRADE),
        }
    }

    pub(crate) fn read(cell: &[AtomicU64], n: usize) -> Option<Instruction> {
        let at = Layout::control(n);
        match get(cell, at) {
            SET => {
                let word = Word { kind: get(cell, at + 2), bits: get(cell, at + 3) };
                Some(Instruction::Set { param: get(cell, at + 1) as usize, value: word.scalar()? })
            }
            MESSAGE => {
                let words = std::array::from_fn(|n| get(cell, at + 2 + n));
                Some(Instruction::Message(Message { tag: get(cell, at + 1), words }))
            }
            DEGRADE => Some(Instruction::Degrade),
            _ => None,
        }
    }
}
