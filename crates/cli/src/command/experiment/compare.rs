//! `takt experiment compare`: two runs beside each other.

use std::fmt::Write as _;
use std::path::Path;

use miette::Result;
use takt_lab::compare::{Compared, FigureCompared};
use takt_lab::experiment::plain;
use takt_lab::store::Store;
use takt_stats::Contrast;

use super::store_problem;
use crate::{Answer, Output};

/// Prints what changed from `a` to `b`; yes if nothing did.
pub fn run(runs: &Path, a: &str, b: &str, output: &Output) -> Result<Answer> {
    let compared = Store::open(runs).and_then(|store| Compared::of(&store, a, b)).map_err(store_problem)?;
    let changed = compared.points.iter().flat_map(|point| &point.figures).any(|figure| figure.changed);
    output.answer(&compared, || text(&compared), Answer::of(!changed))
}

fn text(compared: &Compared) -> String {
    let mut text = format!("A  {}\nB  {}\n", compared.a, compared.b);
    for what in &compared.differ {
        let _ = writeln!(text, "differs besides the rounds: {what}");
    }
    let mut changed = 0;
    for point in &compared.points {
        let levels = point.factors.iter().map(|(name, level)| format!("{name}={}", plain(level)));
        let mut lines = point.figures.iter().filter_map(line).peekable();
        if lines.peek().is_some() {
            let _ = writeln!(text, "{}  {}", point.part, levels.collect::<Vec<_>>().join(" "));
        }
        for (is_change, line) in lines {
            changed += usize::from(is_change);
            let _ = writeln!(text, "  {} {line}", if is_change { "changed " } else { "        " });
        }
    }
    for (name, points) in [("A", &compared.only_a), ("B", &compared.only_b)] {
        for point in points {
            let _ = writeln!(text, "only in {name}: {point}");
        }
    }
    let _ = write!(
        text,
        "{changed} of {} figures changed. All intervals hold together in {} % of such comparisons, so each is one of {:.2} %. Runs are \
         not paired: what drifted in the host between them counts as a change.",
        compared.figures,
        compared.level_together * 100.0,
        compared.level_each * 100.0,
    );
    text
}

/// A figure that both runs have, and whether it changed.
fn line(figure: &FigureCompared) -> Option<(bool, String)> {
    let change = match figure.change? {
        Contrast::Ratio { estimate } => format!("x {estimate}"),
        Contrast::Difference { estimate } => format!("by {estimate}"),
    };
    let [a, b] = figure.means.map(|mean| mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.4}")));
    Some((figure.changed, format!("{:<24} {a} to {b}: {change}", figure.name)))
}
