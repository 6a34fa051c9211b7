//! A search for a cell in a thread of its own, since it takes longer than a subframe.
//!
//! The caller takes the result a fixed number of subframes after it asked, and waits if it is not ready. So a slow machine computes the
//! same as a fast one.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use num_complex::Complex32;
use takt_lte::CellSearch;

use crate::TerminalSettings;
use crate::terminal_sync::Broadcast;

/// Its name.
const NAME: &str = "ue-search";

/// The asking end. The thread ends with it.
pub(crate) struct SearchThread {
    ask: SyncSender<Vec<Complex32>>,
    answer: Receiver<Option<SearchResult>>,
    /// Subframes until an answer is taken.
    pub(crate) subframes: u32,
    /// Samples of a question.
    pub(crate) samples_wanted: usize,
}

/// A cell that was found, ready to be listened to.
pub(crate) struct SearchResult {
    /// The sample of the question with which its first frame begins.
    pub(crate) frame_begin: u64,
    pub(crate) broadcast: Box<Broadcast>,
}

impl SearchThread {
    /// # Errors
    /// The thread can't be started.
    pub(crate) fn start(settings: &TerminalSettings, subframes: u32) -> std::io::Result<SearchThread> {
        let (settings, mut search) = (*settings, CellSearch::new(settings.numerology));
        let samples_wanted = search.samples_wanted();
        let (ask, questions) = sync_channel::<Vec<Complex32>>(1);
        let (answers, answer) = sync_channel(1);
        thread::Builder::new().name(NAME.to_owned()).spawn(move || {
            while let Ok(samples) = questions.recv() {
                let found = search_in(&settings, &mut search, &samples);
                if answers.send(found).is_err() {
                    break;
                }
            }
        })?;
        Ok(SearchThread { ask, answer, subframes, samples_wanted })
    }

    /// Begins a search in these samples.
    pub(crate) fn ask(&self, samples: Vec<Complex32>) {
        // A thread that is gone finds nothing.
        let _ = self.ask.send(samples);
    }

    /// Waits for what was found.
    pub(crate) fn answer(&self) -> Option<SearchResult> {
        self.answer.recv().ok().flatten()
    }
}

/// The strongest cell in these samples.
pub(crate) fn search_in(
    settings: &TerminalSettings,
    search: &mut CellSearch,
    samples: &[Complex32],
) -> Option<SearchResult> {
    let found = search.search(samples).into_iter().next()?;
    let broadcast = Box::new(Broadcast::new(settings, found));
    Some(SearchResult { frame_begin: found.frame_begin as u64, broadcast })
}
