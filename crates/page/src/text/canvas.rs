//! Ink on a grid of characters: braille dots (2 x 4 a character) for lines, one character a marker above them.

/// A drawing of `columns` x `rows` characters, each with at most one colour: the one drawn last.
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<Ink>,
    unicode: bool,
}

#[derive(Clone, Copy, Default)]
struct Ink {
    dots: u8,
    sign: Option<char>,
    slot: Option<usize>,
}

/// Bits of the eight dots of a braille character, by row and column (Unicode 16, section 21.1).
const BRAILLE: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize, unicode: bool) -> Self {
        Self { columns, rows, cells: vec![Ink::default(); columns * rows], unicode }
    }

    /// A straight line; places are shares of the canvas, 0 to 1, y upwards.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), slot: Option<usize>) {
        let (across, down) = self.dots();
        let place = |(x, y): (f64, f64)| (x * (across - 1.0), (1.0 - y) * (down - 1.0));
        let ((x0, y0), (x1, y1)) = (place(from), place(to));
        let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil().clamp(1.0, 4096.0);
        for i in 0..=(steps as usize) {
            let t = i as f64 / steps;
            self.dot(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t, slot);
        }
    }

    /// One character at a place, above all lines.
    pub(super) fn sign(&mut self, (x, y): (f64, f64), sign: char, slot: Option<usize>) {
        let column = (x * (self.columns as f64 - 1.0)).round() as usize;
        let row = ((1.0 - y) * (self.rows as f64 - 1.0)).round() as usize;
        if let Some(ink) = self.cell(column, row) {
            (ink.sign, ink.slot) = (Some(sign), slot);
        }
    }

    /// Writes over what is there, from a character on.
    pub(super) fn write(&mut self, column: usize, row: usize, text: &str) {
        for (i, c) in text.chars().enumerate() {
            if let Some(ink) = self.cell(column + i, row) {
                (ink.sign, ink.slot) = (Some(c), None);
            }
        }
    }

    /// Writes at the bottom beside a vertical line, on the side that has room.
    pub(super) fn write_beside(&mut self, x: f64, text: &str) {
        let (column, length) = ((x * (self.columns as f64 - 1.0)).round() as usize, text.chars().count());
        let row = self.rows.saturating_sub(2);
        if column + 2 + length <= self.columns {
            self.write(column + 2, row, text);
        } else {
            self.write(column.saturating_sub(length + 1), row, text);
        }
    }

    /// Rows from above; each a sequence of texts with their colour.
    pub(super) fn lines(&self) -> Vec<Vec<(String, Option<usize>)>> {
        let mut lines = Vec::new();
        for row in self.cells.chunks(self.columns.max(1)) {
            let mut line: Vec<(String, Option<usize>)> = Vec::new();
            for ink in row {
                let shown = match (ink.sign, ink.dots) {
                    (Some(sign), _) => sign,
                    (None, 0) => ' ',
                    (None, dots) if self.unicode => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'),
                    (None, _) => '.',
                };
                match line.last_mut().filter(|(_, slot)| *slot == ink.slot || shown == ' ') {
                    Some((text, _)) => text.push(shown),
                    None => line.push((shown.to_string(), ink.slot)),
                }
            }
            lines.push(line);
        }
        lines
    }

    fn dots(&self) -> (f64, f64) {
        (self.columns as f64 * 2.0, self.rows as f64 * 4.0)
    }

    fn dot(&mut self, x: f64, y: f64, slot: Option<usize>) {
        if x < -0.5 || y < -0.5 {
            return;
        }
        let (x, y) = (x.round() as usize, y.round() as usize);
        let bit = BRAILLE[y % 4][x % 2];
        if let Some(ink) = self.cell(x / 2, y / 4) {
            ink.dots |= bit;
            ink.slot = slot;
        }
    }

    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Ink> {
        let inside = column < self.columns && row < self.rows;
        if inside { self.cells.get_mut(row * self.columns + column) } else { None }
    }
}
