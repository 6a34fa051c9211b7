//! What else was measured, which says why a claim holds here or does not: tables, since the paper has no such figures.

use takt_studies::sweep::{Chart, Outcome};

use super::super::common::section as of;
use super::table;
use crate::Section;

const LEAD: &str = "Not in the paper: what the same rounds say of their causes. The sentences under the answer that begin with \
                    \u{201c}why\u{201d} rest on these.";

pub(super) fn section(outcome: &Outcome) -> Option<Section> {
    let tables = outcome.evidence.iter().map(|chart: &Chart| table(chart)).collect();
    of("why", "Why it is so", LEAD, Vec::new(), tables)
}
