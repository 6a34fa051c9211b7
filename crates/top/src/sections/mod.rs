//! Each part of a snapshot as lines of text.

mod constellation;
mod links;
mod radios;
mod run;
mod spectrum;
mod table;

use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};

use crate::Followed;

/// A part of a frame: its title, and its lines.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// Whether it stands in the first of two columns.
    first: bool,
    lines: Vec<Line<'static>>,
    /// Lines of which it makes no sense to show fewer.
    least: usize,
    width: usize,
}

impl Section {
    fn new(title: &'static str, lines: Vec<Line<'static>>, least: usize, width: usize) -> Section {
        Section { title, first: true, least: least.min(lines.len()), lines, width }
    }

    /// The same, in the second column.
    fn second(self) -> Section {
        Section { first: false, ..self }
    }

    pub(crate) fn is_first(&self) -> bool {
        self.first
    }

    /// Lines with the title's.
    pub(crate) fn height(&self) -> usize {
        self.lines.len() + 1
    }

    pub(crate) fn least(&self) -> usize {
        self.least + 1
    }

    /// As many lines, the title's first. If some are cut, the last says so.
    pub(crate) fn lines(self, height: usize) -> Vec<Line<'static>> {
        let whole = self.height();
        let rule = "─".repeat(self.width.saturating_sub(self.title.chars().count() + 4));
        let title = Line::from(vec![
            Span::styled("── ", Style::new().dim()),
            Span::from(self.title).bold(),
            Span::styled(format!(" {rule}"), Style::new().dim()),
        ]);
        let mut lines: Vec<Line<'static>> = [title].into_iter().chain(self.lines).take(height).collect();
        if whole > height
            && height > 2
            && let Some(last) = lines.last_mut()
        {
            *last = Line::styled(format!("  and {} lines more", whole - height + 1), Style::new().dim());
        }
        lines
    }
}

/// The parts of what is followed, the most important first.
pub(crate) fn sections(followed: &Followed, skip: usize, width: usize) -> Vec<Section> {
    let Some(snapshot) = followed.newest() else {
        return vec![Section::new("nothing yet", vec![Line::raw("takt waits for the first snapshot.")], 1, width)];
    };
    let parts = [
        radios::section(followed, snapshot, width),
        links::section(snapshot, width),
        run::slots(snapshot, width),
        run::components(snapshot, skip, width),
        run::misses(snapshot, width).map(Section::second),
        links::nodes(snapshot, width).map(Section::second),
        spectrum::section(snapshot, width).map(Section::second),
        constellation::section(snapshot, width).map(Section::second),
        links::variables(snapshot, width).map(Section::second),
        left_out(snapshot, width).map(Section::second),
    ];
    parts.into_iter().flatten().collect()
}

fn left_out(snapshot: &takt_live::Snapshot, width: usize) -> Option<Section> {
    let line = || Line::raw(format!("{} entries exceed what a snapshot carries", snapshot.left_out));
    (snapshot.left_out > 0).then(|| Section::new("left out", vec![line()], 1, width))
}

/// A count that is bad unless it is 0.
fn bad(text: String, count: Option<u64>) -> Span<'static> {
    if count.unwrap_or(0) > 0 { Span::styled(text, Style::new().fg(Color::Red).bold()) } else { Span::raw(text) }
}

/// A number, or `-` for one that is not known.
fn known<T>(value: Option<T>, shown: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), shown)
}
