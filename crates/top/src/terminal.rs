//! The terminal: ten frames a second, keys in between.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize};
use ratatui::text::Line as Text;
use takt_base::{Stop, utc_ns_now};
use takt_live::{Asker, Line, Lines, LiveError, Running, Watch};

use crate::edit::Edit;
use crate::page::{Look, draw, drawn, put};
use crate::{EVERY_MS, Followed, Listed, TopError, listed, listing};

/// Lines that may wait for a frame.
const WAITING: usize = 8;
/// Between two looks at which processes run.
const LIST: Duration = Duration::from_secs(1);
/// Snapshots behind one frame of text: rates need two.
const SNAPSHOTS: usize = 3;
/// Keys of the list.
const KEYS: &str = " q quit   up/down choose   enter follow ";

/// First screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// All processes that run.
    List,
    /// One of them.
    Process(Running),
}

/// Shows it until a key ends it, or `stop`.
///
/// # Errors
/// Standard output is no terminal, or the process can't be watched.
pub fn show(first: View, stop: &Stop) -> Result<(), TopError> {
    let mut followed = match &first {
        View::List => None,
        View::Process(process) => Some(Follow::open(process)?),
    };
    let mut terminal = ratatui::try_init().map_err(TopError::Terminal)?;
    let shown = turns(&mut terminal, &mut followed, stop);
    ratatui::restore();
    shown
}

/// One frame of a process as text, and its newest snapshot.
///
/// # Errors
/// It can't be watched, or ends before it sent one.
pub fn follow_once(process: &Running) -> Result<Followed, TopError> {
    let mut watch = Watch::open(process, EVERY_MS)?;
    let mut followed = Followed::new(watch.hello.clone());
    for _ in 0..SNAPSHOTS {
        match watch.lines.next_line()? {
            Some(line) => followed.line(line),
            None => followed.end("the process has ended"),
        }
    }
    if followed.newest().is_none() {
        return Err(TopError::Ended { pid: process.pid });
    }
    Ok(followed)
}

/// The list as text.
#[must_use]
pub fn list_text(all: &[Listed], width: u16) -> String {
    let height = u16::try_from(all.len() + 2).unwrap_or(u16::MAX);
    drawn(width, height, |frame| {
        let area = frame.area();
        list(frame.buffer_mut(), area, all, None);
    })
}

/// A process that is followed: its lines come through a queue.
struct Follow {
    followed: Followed,
    look: Look,
    lines: Receiver<Result<Line, LiveError>>,
    /// Its end closes the connection, and with it the thread that reads.
    asker: Asker,
}

impl Follow {
    fn open(process: &Running) -> Result<Follow, TopError> {
        let Watch { hello, lines, asker } = Watch::open(process, EVERY_MS)?;
        Ok(Follow { followed: Followed::new(hello), look: Look::default(), lines: reading(lines)?, asker })
    }

    /// Takes the lines that have come. A frame that stands still leaves out what came meanwhile.
    fn catch_up(&mut self) {
        loop {
            match self.lines.try_recv() {
                Ok(Ok(line)) if self.look.paused && matches!(line, Line::Snapshot(_)) => {}
                Ok(Ok(line)) => self.followed.line(line),
                Ok(Err(error)) => self.followed.end(&error.to_string()),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => return self.followed.end("the connection is closed"),
            }
        }
    }
}

/// Reads lines on a thread of its own until the connection ends.
fn reading(mut lines: Lines) -> Result<Receiver<Result<Line, LiveError>>, TopError> {
    let (queue, received) = sync_channel(WAITING);
    let read = move || {
        while let Some(line) = lines.next_line().transpose() {
            let broken = line.is_err();
            // Nobody takes it any more, or it was the last.
            if queue.send(line).is_err() || broken {
                return;
            }
        }
    };
    thread::Builder::new().name("takt-top".to_owned()).spawn(read).map_err(TopError::Terminal)?;
    Ok(received)
}

/// Effect of a key.
enum Action {
    Nothing,
    Quit,
    List,
    Follow(Running),
}

fn turns(terminal: &mut DefaultTerminal, follow: &mut Option<Follow>, stop: &Stop) -> Result<(), TopError> {
    let mut menu = Menu::default();
    while !stop.requested() {
        match follow {
            Some(follow) => {
                follow.catch_up();
                terminal.draw(|frame| draw(frame, &follow.followed, &follow.look)).map_err(TopError::Terminal)?;
            }
            None => {
                menu.look()?;
                let area = |frame: &ratatui::Frame<'_>| frame.area();
                terminal.draw(|frame| menu.draw(area(frame), frame)).map_err(TopError::Terminal)?;
            }
        }
        let action = match next_key()? {
            None => Action::Nothing,
            Some(key) if is_quit(key, follow.as_ref()) => Action::Quit,
            Some(key) => follow.as_mut().map_or_else(|| menu.key(key), |follow| follow.key(key)),
        };
        match action {
            Action::Nothing => {}
            Action::Quit => return Ok(()),
            Action::List => *follow = None,
            // It may have ended since it was listed.
            Action::Follow(process) => match Follow::open(&process) {
                Ok(opened) => *follow = Some(opened),
                Err(error) => menu.note = Some(error.to_string()),
            },
        }
    }
    Ok(())
}

/// A key that was pressed within the time of a frame. A change of the size is an end of the wait as well.
fn next_key() -> Result<Option<KeyEvent>, TopError> {
    let frame = Duration::from_millis(EVERY_MS.into());
    if !event::poll(frame).map_err(TopError::Terminal)? {
        return Ok(None);
    }
    match event::read().map_err(TopError::Terminal)? {
        Event::Key(key) if key.kind == KeyEventKind::Press => Ok(Some(key)),
        _ => Ok(None),
    }
}

fn is_quit(key: KeyEvent, follow: Option<&Follow>) -> bool {
    let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    // While a value is typed, a q is part of it.
    let types = follow.is_some_and(|follow| follow.look.edit != Edit::Off);
    control_c || (key.code == KeyCode::Char('q') && !types)
}

impl Follow {
    fn key(&mut self, key: KeyEvent) -> Action {
        let newest = self.followed.newest();
        let (variables, outputs) =
            newest.map_or((&[][..], &[][..]), |newest| (&newest.variables[..], &newest.outputs[..]));
        let Look { skip, paused, edit, tap } = &mut self.look;
        if *edit != Edit::Off {
            // A connection that broke ends the view's lines, which says so.
            edit.key(key.code, variables).into_iter().for_each(|set| drop(self.asker.set(set)));
            return Action::Nothing;
        }
        let most = newest.map_or(0, |newest| newest.components.len().saturating_sub(1));
        match key.code {
            KeyCode::Char('v') => *edit = Edit::begin(variables),
            KeyCode::Char('t') => {
                *tap = next(tap.as_deref(), outputs);
                drop(self.asker.taps(tap.iter().cloned().collect()));
            }
            KeyCode::Char('l') | KeyCode::Esc => return Action::List,
            KeyCode::Char('p') | KeyCode::Char(' ') => *paused = !*paused,
            KeyCode::Down => *skip = (*skip + 1).min(most),
            KeyCode::Up => *skip = skip.saturating_sub(1),
            _ => {}
        }
        Action::Nothing
    }
}

/// The output behind the one that is tapped; none behind the last.
fn next(tapped: Option<&str>, outputs: &[String]) -> Option<String> {
    let at = tapped.map_or(Some(0), |name| Some(outputs.iter().position(|output| output == name)? + 1));
    outputs.get(at?).cloned()
}

/// The list, and which of it is chosen.
#[derive(Default)]
struct Menu {
    all: Vec<Listed>,
    chosen: usize,
    looked: Option<Instant>,
    /// Why the last choice could not be followed.
    note: Option<String>,
}

impl Menu {
    fn look(&mut self) -> Result<(), TopError> {
        if self.looked.is_none_or(|at| at.elapsed() >= LIST) {
            self.all = listed()?;
            self.chosen = self.chosen.min(self.all.len().saturating_sub(1));
            self.looked = Some(Instant::now());
        }
        Ok(())
    }

    fn draw(&self, area: Rect, frame: &mut ratatui::Frame<'_>) {
        let buffer = frame.buffer_mut();
        list(buffer, area, &self.all, Some(self.chosen));
        if let Some(note) = &self.note {
            let note = takt_base::plain::one_line(note).into_owned();
            put(buffer, area, area.height.saturating_sub(2), Text::from(note).yellow());
        }
        put(buffer, area, area.height.saturating_sub(1), Text::styled(KEYS, Style::new().reversed()));
    }

    fn key(&mut self, key: KeyEvent) -> Action {
        self.note = None;
        match key.code {
            KeyCode::Down => self.chosen = (self.chosen + 1).min(self.all.len().saturating_sub(1)),
            KeyCode::Up => self.chosen = self.chosen.saturating_sub(1),
            KeyCode::Enter => {
                return self.all.get(self.chosen).map_or(Action::Nothing, |one| Action::Follow(one.process.clone()));
            }
            _ => {}
        }
        Action::Nothing
    }
}

/// The processes that run, one a line.
fn list(buffer: &mut ratatui::buffer::Buffer, area: Rect, all: &[Listed], chosen: Option<usize>) {
    put(buffer, area, 0, Text::from(listing::HEADING).bold());
    if all.is_empty() {
        put(buffer, area, 1, Text::from("    No process of this user can be watched."));
    }
    let now = utc_ns_now();
    // The last line has the keys.
    let room = usize::from(area.height.saturating_sub(2));
    let first = chosen.map_or(0, |chosen| (chosen + 1).saturating_sub(room));
    for (row, (index, one)) in all.iter().enumerate().skip(first).take(room).enumerate() {
        let line = Text::from(listing::line(one, now));
        let line = if chosen == Some(index) { line.reversed() } else { line };
        put(buffer, area, u16::try_from(row + 1).unwrap_or(u16::MAX), line);
    }
}
