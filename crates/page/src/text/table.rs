//! Tables on a terminal: columns as wide as they need, the widest wrapped where they do not fit together.

use super::wrap::{clean, hanging, pad, width, wrap};
use super::{TextStyle, Tone};
use crate::{Cell, ReportAnswer, Row, Table};

const GAP: usize = 2;

/// Narrowest a wrapped column becomes.
const NARROWEST: usize = 10;

pub(super) fn render(table: &Table, style: &TextStyle) -> String {
    let cells = |row: &Row| match row {
        Row::Cells { cells, .. } => cells.iter().map(|c| clean(&c.text)).collect(),
        Row::Group { .. } => Vec::new(),
    };
    let heads: Vec<String> = table.columns.iter().map(|c| clean(&c.head)).collect();
    let texts: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
    let natural = |i: usize| texts.iter().chain([&heads]).filter_map(|r| r.get(i)).map(|t| width(t)).max().unwrap_or(0);
    let columns = style.columns().saturating_sub(2);
    let Some(widths) = fit((0..heads.len()).map(natural).collect(), columns) else {
        let numbers = table.columns.iter().filter(|column| column.numeric).count();
        return if numbers > 4 { halves(table, style) } else { stacked(table, style) };
    };

    let numeric = |i: usize| table.columns.get(i).is_some_and(|c| c.numeric);
    let line = |texts: &[String], tone: &dyn Fn(usize) -> Option<Tone>| {
        let mut out = String::new();
        let wrapped: Vec<Vec<String>> = texts.iter().zip(&widths).map(|(t, w)| wrap(t, *w)).collect();
        for row in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
            let cells = widths.iter().enumerate().map(|(i, w)| {
                let text = wrapped.get(i).and_then(|lines| lines.get(row)).map_or("", String::as_str);
                let text = pad(text, *w, numeric(i));
                tone(i).map_or_else(|| text.clone(), |tone| style.paint(tone, &text))
            });
            out.push_str(&format!("  {}\n", cells.collect::<Vec<_>>().join(&" ".repeat(GAP))));
        }
        out
    };
    let mut out = line(&heads, &|_| Some(Tone::Soft));
    for (row, texts) in table.rows.iter().zip(&texts) {
        out.push_str(&match row {
            Row::Group { title, .. } => group(title, style),
            Row::Cells { cells, .. } => line(texts, &|i| cells.get(i).and_then(tone)),
        });
    }
    out
}

fn tone(cell: &Cell) -> Option<Tone> {
    cell.answer.map(answer_tone)
}

pub(super) fn answer_tone(answer: ReportAnswer) -> Tone {
    match answer {
        ReportAnswer::Yes => Tone::Good,
        ReportAnswer::No => Tone::Bad,
        ReportAnswer::Unknown => Tone::Open,
    }
}

/// Numbers stay in columns: the left half of them, then the right half, the rows named in both.
fn halves(table: &Table, style: &TextStyle) -> String {
    let half = table.columns.len() / 2 + 1;
    let of = |mine: &dyn Fn(usize) -> bool| {
        let of_row = |row: &Row| match row {
            Row::Group { .. } => row.clone(),
            Row::Cells { id, cells } => Row::Cells { id: id.clone(), cells: some(cells, mine) },
        };
        let rows = table.rows.iter().map(of_row).collect();
        Table { columns: some(&table.columns, mine), rows, ..Table::default() }
    };
    render(&of(&|i| i < half), style) + &render(&of(&|i| i == 0 || i >= half), style)
}

fn some<T: Clone>(all: &[T], which: &dyn Fn(usize) -> bool) -> Vec<T> {
    all.iter().enumerate().filter(|(i, _)| which(*i)).map(|(_, one)| one.clone()).collect()
}

/// A table without room for columns: a row's name, then a line a cell.
fn stacked(table: &Table, style: &TextStyle) -> String {
    let mut out = String::new();
    for row in &table.rows {
        let cells = match row {
            Row::Group { title, .. } => {
                out.push_str(&group(title, style));
                continue;
            }
            Row::Cells { cells, .. } => cells,
        };
        for (i, (cell, column)) in cells.iter().zip(&table.columns).enumerate().filter(|(_, (c, _))| !c.text.is_empty())
        {
            let text = clean(&cell.text);
            let (lead, text) = if i == 0 { ("  ", text) } else { ("    ", format!("{}: {text}", clean(&column.head))) };
            for line in hanging(lead, &text, style.columns()).lines() {
                out.push_str(&tone(cell).map_or_else(|| line.to_owned(), |tone| style.paint(tone, line)));
                out.push('\n');
            }
        }
    }
    out
}

fn group(title: &str, style: &TextStyle) -> String {
    let lines = wrap(&clean(title), style.columns().saturating_sub(2));
    lines.iter().map(|line| format!("  {}\n", style.paint(Tone::Strong, line))).collect()
}

/// Takes from the widest column until all fit; `None` if some would become too narrow to read.
fn fit(mut widths: Vec<usize>, columns: usize) -> Option<Vec<usize>> {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > columns {
        let widest = widths.iter_mut().max().filter(|w| **w > NARROWEST)?;
        *widest -= 1;
    }
    Some(widths)
}
