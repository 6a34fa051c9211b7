//! The beat of a waveform: slots, components, misses.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use takt_base::shown::{count, percent, time_ns};
use takt_live::{Component, LatenessBar, Miss, Slots, Snapshot};

use super::table::{bar, cell, column};
use super::{Section, bad, known};

/// From this share of a slot on a component is marked.
const BUSY: f64 = 0.8;

pub(super) fn slots(snapshot: &Snapshot, width: usize) -> Option<Section> {
    let slots = snapshot.slots.as_ref()?;
    let length = slots.slot_ns.map_or_else(String::new, |ns| format!(" of {}", time_ns(ns)));
    let misses = known(slots.misses, count);
    let mut lines = vec![Line::from(vec![
        Span::raw(format!("{} slots{length}   missed ", count(slots.count))),
        bad(misses, slots.misses),
    ])];
    lines.extend(lateness(slots, width));
    Some(Section::new("slots", lines, 3, width))
}

/// How late workers were released: in a sentence, and as a chart over a logarithmic scale.
fn lateness(slots: &Slots, width: usize) -> Vec<Line<'static>> {
    let all: u64 = slots.lateness.iter().map(|bar| bar.count).sum();
    let (Some(first), Some(last)) = (slots.lateness.first(), slots.lateness.last()) else {
        return vec![Line::styled("lateness  not measured", Style::new().dim())];
    };
    let within = |share: f64| {
        let rank = (all as f64 * share).ceil() as u64;
        let mut below = 0;
        let at = slots.lateness.iter().find(|bar| {
            below += bar.count;
            below >= rank
        });
        known(at, |bar| time_ns(bar.upper_ns))
    };
    let text =
        format!("lateness  half within {}, 99.9 % within {}, longest {}", within(0.5), within(0.999), within(1.0));
    let (chart, widest) = (chart(&slots.lateness), width.saturating_sub(24));
    let chart: String = chart.chars().take(widest).collect();
    vec![
        Line::raw(text),
        Line::from(vec![
            Span::styled(format!("{:>9} ", time_ns(first.upper_ns)), Style::new().dim()),
            Span::styled(chart, Style::new().fg(Color::Cyan)),
            Span::styled(format!(" {}", time_ns(last.upper_ns)), Style::new().dim()),
        ]),
    ]
}

/// A column for each bar; its height is the logarithm of the count, so that one late slot in a million is seen.
fn chart(bars: &[LatenessBar]) -> String {
    let height = |count: u64| (count as f64 + 1.0).ln();
    let most = bars.iter().map(|bar| height(bar.count)).fold(0.0, f64::max);
    bars.iter().map(|bar| column(if most > 0.0 { height(bar.count) / most } else { 0.0 })).collect()
}

pub(super) fn components(snapshot: &Snapshot, skip: usize, width: usize) -> Option<Section> {
    if snapshot.components.is_empty() {
        return None;
    }
    let name = width.saturating_sub(50).clamp(12, 28);
    let heading = format!("{:<name$} {:>4}  {:<16}  {:>9}  {:>9}", "", "core", "share of slot", "longest", "missed");
    let mut lines = vec![Line::styled(heading, Style::new().dim())];
    let skip = skip.min(snapshot.components.len() - 1);
    lines.extend(snapshot.components.iter().skip(skip).map(|component| component_line(component, name)));
    Some(Section::new("components", lines, 4, width))
}

fn component_line(component: &Component, name: usize) -> Line<'static> {
    let core = known(component.core, |core| core.to_string());
    let load = known(component.load_share, |share| format!("{} {:>5}", bar(share, 10), percent(share)));
    let style = if component.load_share.is_some_and(|share| share >= BUSY) {
        Style::new().fg(Color::Red)
    } else {
        Style::new().fg(Color::Green)
    };
    let worst = known(component.worst_ns, time_ns);
    Line::from(vec![
        Span::raw(format!("{} {core:>4}  ", cell(&component.name, name))),
        Span::styled(format!("{load:<16}"), style),
        Span::raw(format!("  {worst:>9}")),
        bad(format!("  {:>9}", known(component.misses, count)), component.misses),
    ])
}

pub(super) fn misses(snapshot: &Snapshot, width: usize) -> Option<Section> {
    let slots = snapshot.slots.as_ref()?;
    if slots.recent_misses.is_empty() {
        return None;
    }
    let line = |miss: &Miss| {
        let late = known(miss.late_ns, time_ns);
        let stage = miss.stage.as_deref().unwrap_or("cause not known");
        let component = miss.component.as_deref().unwrap_or("-");
        let room = width.saturating_sub(46).max(10);
        Line::raw(format!("slot {:>12}  {}  {:>9}  {}", count(miss.slot), cell(component, 16), late, cell(stage, room)))
    };
    // The newest first: it is cut at the end.
    let lines = slots.recent_misses.iter().rev().map(line).collect();
    Some(Section::new("misses, the newest first", lines, 3, width))
}
