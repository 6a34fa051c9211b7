//! A figure's numbers as CSV (RFC 4180): every estimate and every round behind it, in base units.

use std::fmt::Write as _;

use takt_base::csv_field;

use crate::Figure;
use crate::xml::harmless;

impl Figure {
    /// One line an estimate, one a round; `kind` tells them apart. Numbers are as measured, not rounded for the eye.
    ///
    /// Columns: `series,kind,x_label (unit),y_label (unit),low,high,level,rounds,counts,record`.
    pub fn to_csv(&self) -> String {
        let axis = |a: &crate::Axis| match a.unit.base() {
            "" => a.label.clone(),
            unit => format!("{} ({unit})", a.label),
        };
        let mut csv = format!(
            "series,kind,{},{},low,high,level,rounds,counts,record\r\n",
            field(&axis(&self.x)),
            field(&axis(&self.y))
        );
        let ours = self.series.len();
        for (index, series) in self.all_series().enumerate() {
            let name = field(&series.name);
            let kind = if index < ours { "estimate" } else { "other" };
            for point in &series.points {
                let x = point.x;
                if let Some(reading) = point.y {
                    let _ = write!(csv, "{name},{kind},{x},{},", reading.point);
                    let _ = match reading.interval {
                        Some(i) => write!(csv, "{},{},{},{},,\r\n", i.low, i.high, i.level, i.rounds),
                        None => write!(csv, ",,,,,\r\n"),
                    };
                }
                for dot in &point.rounds {
                    let record = field(dot.record.as_deref().unwrap_or_default());
                    let _ = write!(csv, "{name},round,{x},{},,,,,{},{record}\r\n", dot.y, dot.counts);
                }
            }
        }
        csv
    }
}

/// A text that acts neither in a terminal nor in a spreadsheet.
fn field(text: &str) -> String {
    csv_field(&text.chars().map(|c| if c == '\n' { c } else { harmless(c) }).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_formulas_disarmed() {
        assert_eq!(field("duplex, \"rx\""), "\"duplex, \"\"rx\"\"\"");
        assert_eq!(field("=cmd()"), "'=cmd()");
        assert_eq!(field("plain\r"), "plain\u{fffd}");
    }
}
