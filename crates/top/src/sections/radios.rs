//! Radios: rates, samples, letters.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use takt_base::shown::{count, scaled};
use takt_live::{Radio, Snapshot};

use super::table::cell;
use super::{Section, bad, known};
use crate::Followed;

/// Columns of the numbers of a radio.
const NUMBERS: usize = 59;

pub(super) fn section(followed: &Followed, snapshot: &Snapshot, width: usize) -> Option<Section> {
    if snapshot.radios.is_empty() {
        return None;
    }
    let name = width.saturating_sub(NUMBERS).clamp(12, 32);
    let heading = format!("{:<name$}     {:>9} {:>9} {:>9}    O    U    L    S    D", "", "set", "measured", "lost");
    let mut lines = vec![Line::styled(heading, Style::new().dim())];
    lines.extend(snapshot.radios.iter().map(|radio| line(followed, radio, name)));
    lines.push(letters(followed, width));
    let samples: u64 = snapshot.radios.iter().filter_map(|radio| radio.samples).sum();
    lines.push(Line::styled(format!("samples  {}", count(samples)), Style::new().dim()));
    // The heading, one radio and the letters.
    let least = 2 + snapshot.radios.len().min(4);
    Some(Section::new("radios", lines, least, width))
}

fn line(followed: &Followed, radio: &Radio, name: usize) -> Line<'static> {
    let rate = |sps: f64| scaled(sps, "S/s");
    let set = known(radio.rate_sps, rate);
    let measured = known(followed.rate_sps(radio), rate);
    let lost = known(radio.lost_samples, |lost| scaled(lost as f64, ""));
    let mut spans = vec![
        Span::raw(format!("{} {}  {set:>9} {measured:>9}", cell(&radio.name, name), radio.direction.name())),
        bad(format!(" {:>9}", lost.trim()), radio.lost_samples),
    ];
    for (_, letter) in radio.letters.list() {
        // A letter that can't happen in this direction.
        let text =
            letter.map_or_else(String::new, |count| if count > 9999 { ">9999".into() } else { count.to_string() });
        spans.push(bad(format!("{text:>5}"), letter));
    }
    Line::from(spans)
}

/// The newest letters, as they came.
fn letters(followed: &Followed, width: usize) -> Line<'static> {
    let all = followed.letters();
    if all.is_empty() {
        return Line::styled("letters  none has come", Style::new().dim());
    }
    let room = width.saturating_sub(9);
    let newest: String = all.chars().skip(all.chars().count().saturating_sub(room)).collect();
    Line::from(vec![
        Span::styled("letters  ", Style::new().dim()),
        Span::styled(newest, Style::new().fg(Color::Red).bold()),
    ])
}
