//! Lines for people about what strangers did: as many as can be read, and how many there were besides. Whoever sends something
//! can't fill a disk with them, or have a program do nothing but write.

use crate::plain::one_line;

/// Lines in a window.
const LINES: u32 = 10;

/// Length of a window, ns.
const WINDOW_NS: u64 = 10_000_000_000;

/// Characters of a line.
const CHARS: usize = 300;

/// Lines to write, ten in ten seconds at most, and how many were dropped.
///
/// ```
/// let mut notes = takt_base::Notes::new("refused   ");
/// notes.add(0, "a stranger");
/// assert_eq!(notes.take(1), ["refused   a stranger"]);
/// ```
#[derive(Debug)]
pub struct Notes {
    head: &'static str,
    lines: Vec<String>,
    since_ns: u64,
    written: u32,
    dropped: u64,
}

impl Notes {
    /// Lines that begin with `head`.
    #[must_use]
    pub const fn new(head: &'static str) -> Notes {
        Notes { head, lines: Vec::new(), since_ns: 0, written: 0, dropped: 0 }
    }

    /// Something happened at this time of any clock that does not go back.
    pub fn add(&mut self, now_ns: u64, why: &str) {
        self.turn(now_ns);
        if self.written >= LINES {
            self.dropped += 1;
            return;
        }
        self.written += 1;
        // Strangers' text may be in it: it must not command a terminal, or look like a line of ours.
        let why: String = why.chars().take(CHARS).collect();
        let why: String = one_line(&why).chars().take(CHARS).collect();
        self.lines.push(format!("{}{why}", self.head));
    }

    /// Lines to write now.
    pub fn take(&mut self, now_ns: u64) -> Vec<String> {
        self.turn(now_ns);
        std::mem::take(&mut self.lines)
    }

    fn turn(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.since_ns) < WINDOW_NS {
            return;
        }
        if self.dropped > 0 {
            self.lines.push(format!("{}{} more in {} s", self.head, self.dropped, WINDOW_NS / 1_000_000_000));
        }
        (self.since_ns, self.written, self.dropped) = (now_ns, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_few_lines_and_a_count() {
        let mut notes = Notes::new("refused   ");
        for at in 0..1_000 {
            notes.add(WINDOW_NS + at, &format!("message {at}"));
        }
        let said = notes.take(WINDOW_NS + 1_000);
        assert_eq!(said.len(), LINES as usize);
        assert_eq!(said[0], "refused   message 0");
        assert_eq!(notes.take(WINDOW_NS + 2_000), Vec::<String>::new());
        assert_eq!(notes.take(2 * WINDOW_NS), ["refused   990 more in 10 s"]);
        notes.add(2 * WINDOW_NS + 1, "again");
        assert_eq!(notes.take(2 * WINDOW_NS + 2), ["refused   again"]);
    }

    #[test]
    fn what_strangers_wrote_commands_no_terminal_and_is_one_line() {
        let mut notes = Notes::new("refused   ");
        notes.add(0, &format!("unknown field `\u{1b}[2J\nready node a{}", "x".repeat(10_000)));
        let said = notes.take(1);
        assert!(!said[0].chars().any(char::is_control) && said[0].len() < 400, "{said:?}");
        assert!(said[0].starts_with("refused   unknown field `\\u001b[2J\\nready"), "{said:?}");
    }
}
