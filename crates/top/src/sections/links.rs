//! Links over the air, nodes of a cluster, variables.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use takt_base::shown::{percent, scaled, significant};
use takt_live::{Link, Node, Snapshot, Variable};

use super::table::{bar, cell};
use super::{Section, known};

pub(super) fn section(snapshot: &Snapshot, width: usize) -> Option<Section> {
    if snapshot.links.is_empty() {
        return None;
    }
    let name = width.saturating_sub(50).clamp(12, 28);
    let heading = format!("{:<name$} {:<14} {:>8} {:>4} {:>8} {:>11}", "", "state", "SNR", "MCS", "BLER", "payload");
    let mut lines = vec![Line::styled(heading, Style::new().dim())];
    for link in &snapshot.links {
        lines.push(link_line(link, name));
        if let Some(why) = &link.loss_reason {
            let text = format!("{:<name$} lost: {}", "", cell(why, width.saturating_sub(name + 8)).trim_end());
            lines.push(Line::styled(text, Style::new().fg(Color::Yellow)));
        }
    }
    let least = lines.len().min(5);
    Some(Section::new("links", lines, least, width))
}

fn link_line(link: &Link, name: usize) -> Line<'static> {
    let snr = known(link.snr_db, |snr| format!("{snr:.1} dB"));
    let mcs = known(link.mcs, |mcs| mcs.to_string());
    let bler = known(link.bler, percent);
    let payload = known(link.throughput_bps, |bps| scaled(bps, "b/s"));
    let state = cell(link.state.as_deref().unwrap_or("-"), 14);
    Line::raw(format!("{} {state} {snr:>8} {mcs:>4} {bler:>8} {payload:>11}", cell(&link.name, name)))
}

pub(super) fn nodes(snapshot: &Snapshot, width: usize) -> Option<Section> {
    let line = |node: &Node| {
        let state =
            if node.alive { Span::raw("alive  ") } else { Span::styled("silent ", Style::new().fg(Color::Red).bold()) };
        let load = known(node.load, |load| format!("{} {:>5}", bar(load, 10), percent(load)));
        let waveforms = cell(&node.waveforms.join(", "), width.saturating_sub(46).max(8));
        Line::from(vec![
            Span::raw(format!("{} ", cell(&node.name, 18))),
            state,
            Span::raw(format!("{load:<17} {waveforms}")),
        ])
    };
    let lines: Vec<_> = snapshot.nodes.iter().map(line).collect();
    (!lines.is_empty()).then(|| Section::new("nodes", lines, 2, width))
}

pub(super) fn variables(snapshot: &Snapshot, width: usize) -> Option<Section> {
    let line = |variable: &Variable| {
        let value = known(variable.value.as_ref(), ToString::to_string);
        let unit = variable.unit.as_deref().unwrap_or("");
        let range = variable.range.map(|[low, high]| format!("{} to {}", significant(low, 4), significant(high, 4)));
        let about = range.or_else(|| variable.expected.clone()).unwrap_or_default();
        let text = format!("{} {} ", cell(&variable.name, 28), cell(&format!("{value} {unit}"), 16));
        Line::from(vec![
            Span::raw(text),
            Span::styled(cell(&about, width.saturating_sub(46)).trim_end().to_owned(), Style::new().dim()),
        ])
    };
    let lines: Vec<_> = snapshot.variables.iter().map(line).collect();
    (!lines.is_empty()).then(|| Section::new("variables", lines, 2, width))
}
