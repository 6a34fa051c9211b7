//! Requests to another process and its answers, through shared words. Wait-free on both sides; neither trusts the other.
//!
//! There are two cells. Request n, n = 0, 1, ..., and its answer lie in cell `n % 2`, so that one can be made while the
//! other is taken. Two words count:
//!
//! - `posted`, written by the asking side alone: requests below it are there;
//! - `answered`, written by the answering side alone: requests below it are answered.
//!
//! The asking side writes cell `n % 2` as request n when `answered > n - 2`: the other has left that cell. The answering
//! side reads and writes it when `posted > n` and `answered == n`. The asking side reads answer n when `answered > n`, and
//! before it posts request n + 2. Orderings, checked by `tests/loom_exchange.rs`:
//! - A. `posted`: Release to Acquire, so that the answering side reads the whole request, and that the asking side has read, or
//!   given up, the answer that lay there;
//! - B. `answered`: Release to Acquire, so that the asking side reads the whole answer, and that the cell was left.
//!
//! All words are atomic. A side that lies about its counter is caught where that matters (`answered` beyond what was
//! posted), and otherwise gets what it wrote itself.

use std::ops::Deref;

use crate::sync::{AtomicU64, Ordering};

/// Words between things that different sides write.
pub const LINE: usize = 16;
const POSTED: usize = LINE;
const ANSWERED: usize = 2 * LINE;
/// Start of the part between the counters and the cells.
pub const BEGIN: usize = 3 * LINE;
const CELLS: u64 = 2;

/// The asking side.
#[derive(Debug)]
pub struct Asking<W> {
    words: W,
    cells_at: usize,
    cell_words: usize,
    posted: std::cell::Cell<u64>,
}

/// The answering side.
#[derive(Debug)]
pub struct Answering<W> {
    words: W,
    cells_at: usize,
    cell_words: usize,
    answered: u64,
}

/// Words that an exchange takes whose cells have so many words each and begin at `cells_at`.
#[inline]
#[must_use]
pub fn words(cells_at: usize, cell_words: usize) -> usize {
    cells_at + CELLS as usize * cell_words
}

#[inline]
fn cell(words: &[AtomicU64], cells_at: usize, cell_words: usize, request: u64) -> &[AtomicU64] {
    let start = cells_at + (request % CELLS) as usize * cell_words;
    words.get(start..start + cell_words).unwrap_or_default()
}

impl<W: Deref<Target = [AtomicU64]>> Asking<W> {
    /// Over zeroed words.
    pub fn new(words: W, cells_at: usize, cell_words: usize) -> Asking<W> {
        Asking { words, cells_at, cell_words, posted: std::cell::Cell::new(0) }
    }

    /// The cell of the next request, if the other side has left it.
    #[inline]
    pub fn free(&self) -> Option<&[AtomicU64]> {
        let next = self.posted.get();
        (next < self.count().saturating_add(CELLS)).then(|| cell(&self.words, self.cells_at, self.cell_words, next))
    }

    /// Hands over the request in the cell of [`Asking::free`]; answers its number.
    #[inline]
    pub fn post(&self) -> u64 {
        let request = self.posted.get();
        self.posted.set(request + 1);
        self.words[POSTED].store(request + 1, Ordering::Release); // A
        request
    }

    /// The cell of a request that is answered.
    #[inline]
    pub fn answer(&self, request: u64) -> Option<&[AtomicU64]> {
        let count = self.count();
        // A side that claims to have answered what was not requested is not believed.
        let answered = request < count && count <= self.posted.get();
        answered.then(|| cell(&self.words, self.cells_at, self.cell_words, request))
    }

    #[inline]
    fn count(&self) -> u64 {
        self.words[ANSWERED].load(Ordering::Acquire) // B
    }

    /// All the words, counters included.
    #[inline]
    pub fn words(&self) -> &W {
        &self.words
    }
}

/// Requests posted and answered, for any thread that has the words.
#[inline]
#[must_use]
pub fn counters(words: &[AtomicU64]) -> (u64, u64) {
    // No other word is looked at.
    (words[POSTED].load(Ordering::Relaxed), words[ANSWERED].load(Ordering::Relaxed))
}

impl<W: Deref<Target = [AtomicU64]>> Answering<W> {
    /// Over the other side's words.
    pub fn new(words: W, cells_at: usize, cell_words: usize) -> Answering<W> {
        Answering { words, cells_at, cell_words, answered: 0 }
    }

    /// The cell of the next request, if it is there.
    #[inline]
    pub fn request(&self) -> Option<&[AtomicU64]> {
        let posted = self.words[POSTED].load(Ordering::Acquire) > self.answered; // A
        posted.then(|| cell(&self.words, self.cells_at, self.cell_words, self.answered))
    }

    /// Hands over the answer in the cell of [`Answering::request`].
    #[inline]
    pub fn answer(&mut self) {
        self.answered += 1;
        self.words[ANSWERED].store(self.answered, Ordering::Release); // B
    }

    /// All the words, counters included.
    #[inline]
    pub fn words(&self) -> &W {
        &self.words
    }
}

/// One word; 0 beyond the end.
#[inline]
#[must_use]
pub fn get(cell: &[AtomicU64], at: usize) -> u64 {
    cell.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
}

/// Writes one word; beyond the end, nothing.
#[inline]
pub fn put(cell: &[AtomicU64], at: usize, value: u64) {
    if let Some(word) = cell.get(at) {
        word.store(value, Ordering::Relaxed);
    }
}

/// Bytes from word `at` on, as far as there is room.
#[inline]
pub fn put_bytes(cell: &[AtomicU64], at: usize, bytes: &[u8]) {
    let words = cell.get(at..).unwrap_or_default();
    let (whole, rest) = bytes.as_chunks::<8>();
    for (word, chunk) in words.iter().zip(whole) {
        word.store(u64::from_ne_bytes(*chunk), Ordering::Relaxed);
    }
    if let (false, Some(word)) = (rest.is_empty(), words.get(whole.len())) {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_ne_bytes(last), Ordering::Relaxed);
    }
}

/// Fills `bytes` from word `at` on; what lies beyond the end is left as it is.
#[inline]
pub fn get_bytes(cell: &[AtomicU64], at: usize, bytes: &mut [u8]) {
    let words = cell.get(at..).unwrap_or_default();
    let (whole, rest) = bytes.as_chunks_mut::<8>();
    for (word, chunk) in words.iter().zip(&mut *whole) {
        *chunk = word.load(Ordering::Relaxed).to_ne_bytes();
    }
    if let (false, Some(word)) = (rest.is_empty(), words.get(whole.len())) {
        let last = word.load(Ordering::Relaxed).to_ne_bytes();
        let length = rest.len();
        rest.copy_from_slice(&last[..length]);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn zeroed(words: usize) -> Vec<AtomicU64> {
        (0..words).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn two_requests_may_be_under_way_and_no_more() {
        let words = zeroed(words(BEGIN, 4));
        let (ask, mut answer) = (Asking::new(&words[..], BEGIN, 4), Answering::new(&words[..], BEGIN, 4));
        for value in [7, 8] {
            put(ask.free().expect("room"), 0, value);
            ask.post();
        }
        assert!(ask.free().is_none() && ask.answer(0).is_none());
        assert_eq!(get(answer.request().expect("there"), 0), 7);
        put(answer.request().expect("there"), 1, 70);
        answer.answer();
        assert_eq!(get(ask.answer(0).expect("answered"), 1), 70);
        assert!(ask.free().is_some() && ask.answer(1).is_none());
        assert_eq!(get(answer.request().expect("there"), 0), 8);
    }

    #[test]
    fn an_answer_to_no_request_is_not_believed() {
        let words = zeroed(words(BEGIN, 4));
        let ask = Asking::new(&words[..], BEGIN, 4);
        ask.free().expect("room");
        ask.post();
        for lie in [2, 3, u64::MAX] {
            words[ANSWERED].store(lie, Ordering::Relaxed);
            assert!(ask.answer(0).is_none());
        }
        words[ANSWERED].store(1, Ordering::Relaxed);
        assert!(ask.answer(0).is_some());
    }

    #[test]
    fn bytes_of_any_length_come_back_and_none_beyond() {
        for length in 0..40 {
            let cell = zeroed(4);
            let bytes: Vec<u8> = (1..=length).collect();
            put_bytes(&cell, 1, &bytes);
            let mut back = vec![0xff; bytes.len()];
            get_bytes(&cell, 1, &mut back);
            let kept = bytes.len().min(24);
            assert_eq!(back[..kept], bytes[..kept]);
            assert!(back[kept..].iter().all(|&byte| byte == 0xff) && get(&cell, 0) == 0);
        }
    }
}
