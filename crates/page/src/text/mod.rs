//! Reports and figures on a terminal: as wide as it is, in words that mean the same without colour.

mod beside;
mod canvas;
mod plot;
mod report;
mod screen;
mod table;
mod wrap;

pub use screen::Screen;

/// Abilities of the terminal, and how much is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Columns; at least 40 are used.
    pub width: usize,
    /// ANSI colours; never when the output is not a terminal.
    pub colour: bool,
    /// Letters and signs beyond ASCII, braille plots among them.
    pub unicode: bool,
    /// The answer alone, or figures and tables too.
    pub depth: Depth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The answer, what it rests on, what to do, what it does not say.
    Answer,
    /// Figures and tables as well; the rounds are in the page and in the store.
    Full,
}

impl Default for TextStyle {
    /// Style for a pipe or a file: 100 columns, no colour, Unicode, the answer.
    fn default() -> Self {
        Self { width: 100, colour: false, unicode: true, depth: Depth::Answer }
    }
}

/// Colours of a terminal's own palette, so that its reader's choice of light or dark holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Good,
    Bad,
    Open,
    Strong,
    Soft,
    Series(usize),
}

impl TextStyle {
    fn columns(&self) -> usize {
        self.width.clamp(40, 400)
    }

    /// `text` in a tone, if there is colour. Layout must be done before: the codes take no room on the screen.
    fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Open => "33",
            Tone::Strong => "1",
            Tone::Soft => "2",
            Tone::Series(slot) => ["34", "31", "32", "35", "33", "36"][slot % crate::palette::SLOTS],
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// The finished text: no-break spaces become spaces, and without Unicode every sign its nearest in ASCII. Ends of
    /// lines carry no blanks.
    fn finish(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for line in text.lines() {
            for c in line.trim_end_matches([' ', '\u{a0}']).chars().map(|c| if c == '\u{a0}' { ' ' } else { c }) {
                if self.unicode { out.push(c) } else { push_ascii(&mut out, c) }
            }
            out.push('\n');
        }
        out
    }
}

/// Adds a character, or the nearest that ASCII has.
fn push_ascii(out: &mut String, c: char) {
    if c.is_ascii() {
        return out.push(c);
    }
    out.push_str(match c {
        'µ' | 'μ' | 'ü' | 'ú' => "u",
        '·' | '–' | '—' | '−' => "-",
        '×' => "x",
        '→' => "->",
        '…' => "...",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '≤' => "<=",
        '≥' => ">=",
        'ä' | 'á' | 'à' | 'â' => "a",
        'ö' | 'ó' | 'ô' => "o",
        'é' | 'è' | 'ê' => "e",
        'ß' => "ss",
        _ => "?",
    });
}
