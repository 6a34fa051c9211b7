//! EEPROM contents that outlive a run.

use std::fs;
use std::io;

use super::{Board, EmulateError, EmulatorOptions};
use crate::{n200, x310};

/// Images that an earlier run left in the file of the n-th radio; `None` if there was none, or there is no such file. `bytes`: its
/// length.
pub(super) fn kept<I>(
    options: &EmulatorOptions,
    n: usize,
    read: impl FnOnce(&[u8]) -> Option<I>,
    bytes: usize,
) -> Result<Option<I>, EmulateError> {
    let Some(path) = options.eeproms.get(n) else { return Ok(None) };
    match fs::read(path) {
        Ok(image) => match read(&image) {
            Some(images) => Ok(Some(images)),
            None => Err(EmulateError::ForeignEeprom { path: path.clone(), bytes: image.len(), want: bytes }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EmulateError::Eeprom { path: path.clone(), source }),
    }
}

/// The daughterboards of a radio whose EEPROMs were kept.
pub(super) struct Kept {
    /// `None`: none that the emulator has.
    board: Option<Board>,
    ids: String,
}

impl Kept {
    pub(super) fn of_n200(images: &n200::EepromImages) -> Kept {
        let fits = |board: &Board| board.of_n200().is_some_and(|board| images.fits(board));
        let [transmit, receive] = images.board_ids();
        Kept { board: Board::ALL.into_iter().find(fits), ids: words([receive, transmit]) }
    }

    pub(super) fn of_x310(images: &x310::EepromImages) -> Kept {
        let fits = |board: &Board| board.of_x310().is_some_and(|board| images.fits(board));
        let slots = images.board_ids().map(words);
        Kept { board: Board::ALL.into_iter().find(fits), ids: slots.join(" and ") }
    }
}

/// Ids of a board's halves, receive and transmit.
fn words(halves: [Option<u16>; 2]) -> String {
    let [receive, transmit] = halves.map(|id| id.map_or_else(|| "none".to_owned(), |id| format!("{id:#06x}")));
    format!("{receive}/{transmit}")
}

/// The board of the n-th radio: the one that was named, or that of its EEPROM file; `None`: neither says.
///
/// # Errors
/// `OtherBoard` if both say, and differ.
pub(super) fn fitted(options: &EmulatorOptions, n: usize, kept: Option<Kept>) -> Result<Option<Board>, EmulateError> {
    match (options.board, kept, options.eeproms.get(n)) {
        (Some(named), Some(Kept { board, ids }), Some(path)) if board != Some(named) => {
            let kept = board.map_or(ids, |board| board.to_string());
            Err(EmulateError::OtherBoard { path: path.clone(), kept, named })
        }
        (named, kept, _) => Ok(named.or(kept.and_then(|kept| kept.board))),
    }
}
