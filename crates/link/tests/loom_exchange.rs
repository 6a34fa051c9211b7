//! All interleavings of a request and its answer. `RUSTFLAGS="--cfg loom" cargo test -p takt-link --test loom_exchange
//! --release`
//!
//! A model that never failed proves nothing. Weakened one at a time in `src/exchange.rs`, and what failed:
//!
//! | weakened | failed |
//! | --- | --- |
//! | A, Release of `posted` to Relaxed | both |
//! | A, Acquire of `posted` to Relaxed | both |
//! | B, Release of `answered` to Relaxed | both |
//! | B, Acquire of `answered` to Relaxed | both |
//! | `posted > n` to `>=` | both |
//! | `answered > n` to `>=` | the program aborts |
//! | two requests under way to three | given up |
//! | `answered` beyond `posted` is believed | none here: it takes a liar, and a unit test of `exchange.rs` fails |
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;
use takt_link::exchange::{Answering, Asking, BEGIN, get, put, words};

const CELL: usize = 2;

#[derive(Clone)]
struct Words(Arc<Vec<AtomicU64>>);

impl std::ops::Deref for Words {
    type Target = [AtomicU64];
    fn deref(&self) -> &[AtomicU64] {
        &self.0
    }
}

fn shared() -> Words {
    Words(Arc::new((0..words(BEGIN, CELL)).map(|_| AtomicU64::new(0)).collect()))
}

/// Answers so many requests: ten times the request.
fn answer(words: Words, requests: u64) {
    let mut answering = Answering::new(words, BEGIN, CELL);
    for n in 0..requests {
        while answering.request().is_none() {
            thread::yield_now();
        }
        let cell = answering.request().expect("there");
        let request = get(cell, 0);
        assert_eq!(request, 10 + n, "the whole request, and not the next");
        put(cell, 1, 10 * request);
        answering.answer();
    }
}

#[test]
fn every_answer_is_that_of_its_request_and_whole() {
    loom::model(|| {
        let words = shared();
        let asking = Asking::new(words.clone(), BEGIN, CELL);
        let other = thread::spawn(move || answer(words, 3));
        for n in 0..3 {
            put(asking.free().expect("all are answered"), 0, 10 + n);
            let request = asking.post();
            while asking.answer(request).is_none() {
                thread::yield_now();
            }
            assert_eq!(get(asking.answer(request).expect("there"), 1), 10 * (10 + n));
        }
        other.join().expect("no panic");
    });
}

#[test]
fn answers_that_are_given_up_never_meet_later_requests_in_a_cell() {
    // Without the bound it takes a minute and a half, and holds as well.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let words = shared();
        let asking = Asking::new(words.clone(), BEGIN, CELL);
        let other = thread::spawn(move || answer(words, 3));
        let mut last = None;
        for n in 0..3 {
            // A look at the last answer; if it is not there it is given up.
            if let Some((request, cell)) = last.and_then(|request| Some((request, asking.answer(request)?))) {
                assert_eq!(get(cell, 1), 10 * (10 + request));
            }
            while asking.free().is_none() {
                thread::yield_now();
            }
            put(asking.free().expect("free"), 0, 10 + n);
            last = Some(asking.post());
        }
        other.join().expect("no panic");
    });
}
