//! A frame: the heading, the sections that fit, and the keys.

use ratatui::Frame;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use takt_base::plain::one_line;
use takt_base::shown;

use crate::Followed;
use crate::edit::Edit;
use crate::sections::{Section, sections};

/// The smallest terminal that is drawn.
const LEAST: (u16, u16) = (60, 8);
/// From this width on there are two columns.
const WIDE: u16 = 120;

/// Keys of the view of a process.
const KEYS: &str = " q quit  l list  p pause  v set  t tap  up/down components ";

/// How a process is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look {
    /// Components that are scrolled past.
    pub(crate) skip: usize,
    /// The frame stands still.
    pub(crate) paused: bool,
    /// A variable is being set.
    pub(crate) edit: Edit,
    /// The output that is tapped.
    pub(crate) tap: Option<String>,
}

/// Draws a process.
pub(crate) fn draw(frame: &mut Frame<'_>, followed: &Followed, look: &Look) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let (width, height) = LEAST;
        put(frame.buffer_mut(), area, 0, Line::raw(format!("takt top needs {width}x{height} characters")));
        return;
    }
    put(frame.buffer_mut(), area, 0, heading(followed, look));
    put(frame.buffer_mut(), area, area.height - 1, Line::styled(bottom(followed, look), Style::new().reversed()));
    let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
    let buffer = frame.buffer_mut();
    if area.width < WIDE {
        stack(buffer, body, sections(followed, look.skip, body.width.into()));
        return;
    }
    let left = Rect { width: body.width / 2 - 1, ..body };
    let right = Rect { x: left.width + 2, width: body.width - left.width - 2, ..body };
    let (first, second) = sections(followed, look.skip, left.width.into()).into_iter().partition(Section::is_first);
    stack(buffer, left, first);
    stack(buffer, right, second);
}

/// One frame as text, without colours.
#[must_use]
pub fn frame_text(followed: &Followed, width: u16, height: u16) -> String {
    drawn(width, height, |frame| draw(frame, followed, &Look::default()))
}

/// Frame of a terminal of that size, as text.
pub(crate) fn drawn(width: u16, height: u16, draw: impl FnOnce(&mut Frame<'_>)) -> String {
    // The backend is memory, and its error type has no value.
    let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
    let Ok(frame) = terminal.draw(draw);
    text(frame.buffer)
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let rows = buffer.content.chunks(width);
    let row = |cells: &[ratatui::buffer::Cell]| {
        let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        format!("{}\n", text.trim_end())
    };
    rows.map(row).collect()
}

/// The variable that is being set, or the keys.
fn bottom(followed: &Followed, look: &Look) -> String {
    let variables = followed.newest().map_or(&[][..], |newest| &newest.variables);
    look.edit.prompt(variables).unwrap_or_else(|| {
        let said = followed.said().map_or_else(String::new, |said| format!("  {}", one_line(said)));
        format!("{KEYS}{said}")
    })
}

fn heading(followed: &Followed, look: &Look) -> Line<'static> {
    let hello = followed.hello();
    let at = followed.newest().map(|newest| newest.t_ns / 1_000_000_000);
    let since = at.map_or_else(String::new, |seconds| shown::duration(seconds as f64));
    let speed = followed.newest().and_then(|newest| newest.speed).filter(|&speed| speed != 1.0);
    let speed = speed.map_or_else(String::new, |speed| format!("  at {} of its speed", shown::percent(speed)));
    let mut spans = vec![
        Span::from(format!("takt {}", hello.kind.name())).bold(),
        Span::from(format!("  process {}  {}  {since}{speed}", hello.pid, one_line(&hello.title))),
    ];
    if let Some(why) = followed.ended() {
        spans.push(Span::styled(format!("  {}", one_line(why)), Style::new().fg(Color::Yellow)));
    } else if look.paused {
        spans.push(Span::styled("  paused", Style::new().fg(Color::Yellow)));
    }
    Line::from(spans)
}

/// Sections one below the other. Each gets its least height, then the first ones the rest. Those that do not fit are named.
fn stack(buffer: &mut Buffer, area: Rect, mut sections: Vec<Section>) {
    let room = usize::from(area.height);
    let mut used: usize = sections.iter().map(Section::least).sum();
    let mut left_out = Vec::new();
    while used > room
        && let Some(last) = sections.pop()
    {
        used -= last.least();
        left_out.insert(0, last.title);
        // A line names them.
        if left_out.len() == 1 {
            used += 1;
        }
    }
    let mut spare = room.saturating_sub(used);
    let mut row = 0;
    for section in sections {
        let height = section.least() + spare.min(section.height() - section.least());
        spare -= height - section.least();
        for line in section.lines(height) {
            put(buffer, area, row, line);
            row += 1;
        }
    }
    if !left_out.is_empty() {
        let note = format!("a larger terminal also shows: {}", left_out.join(", "));
        put(buffer, area, row, Line::styled(note, Style::new().dim()));
    }
}

pub(crate) fn put(buffer: &mut Buffer, area: Rect, row: u16, line: Line<'_>) {
    if row < area.height {
        buffer.set_line(area.x, area.y + row, &line, area.width);
    }
}
