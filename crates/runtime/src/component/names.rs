//! Names of results that come from another process. Each is kept for as long as the program runs, once, and only so many:
//! components know theirs when they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use takt_graph::{Value, limits};

/// Names at most. Results under further ones are left out.
const NAMES: usize = 4096;

static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Results under names that stay. Never called in real time.
pub(crate) fn keep(results: BTreeMap<String, Value>) -> Vec<(&'static str, Value)> {
    // A set is whole after any panic.
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut name = |name: String| {
        if let Some(known) = kept.get(name.as_str()) {
            return Some(*known);
        }
        if kept.len() >= NAMES || name.len() > limits::NAME_CHARS {
            return None;
        }
        let stays: &'static str = Box::leak(name.into_boxed_str());
        kept.insert(stays);
        Some(stays)
    };
    results.into_iter().filter_map(|(key, value)| Some((name(key)?, value))).collect()
}
