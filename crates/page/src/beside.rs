//! Two reports side by side: what each answers, and each figure of the one beside that of the other, on the same axes.

use crate::figure::{Figure, Look, Point, Series};
use crate::quantity::significant;
use crate::{Cell, Column, Drawing, Report, Row, Section, Table};

/// Two reports of the same kind of run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// The run on the left, which the other is compared with.
    pub first: Report,
    /// The run on the right.
    pub second: Report,
    /// Path of the page, once written; the terminal names it.
    pub page: Option<String>,
}

/// Values of a figure that are told in its table, at most.
const ROWS: usize = 60;

/// A part that both reports may have.
pub(crate) struct Pair<T> {
    pub(crate) first: Option<T>,
    pub(crate) second: Option<T>,
}

impl Beside {
    /// Sections by their anchor: in the order of the first report, then those that only the second has.
    pub(crate) fn sections(&self) -> Vec<Pair<&Section>> {
        pairs(&self.first.sections, &self.second.sections, |section| &section.id)
    }

    /// Values that both reports have in a figure of the same name: a group for each figure.
    pub fn values(&self) -> Table {
        let figures: Vec<_> = self.sections().iter().flat_map(figures).collect();
        let rows = figures.iter().flat_map(|pair| match pair {
            Pair { first: Some(a), second: Some(b) } => values(a, b),
            _ => Vec::new(),
        });
        Table::new("values", "Values of both", self.columns(), rows.collect())
    }

    fn columns(&self) -> Vec<Column> {
        let heads = [self.first.run.clone(), self.second.run.clone(), "second over first".to_owned()];
        std::iter::once(Column::text("")).chain(heads.map(Column::number)).collect()
    }
}

/// Figures of a section, by their anchor.
pub(crate) fn figures<'a>(section: &Pair<&'a Section>) -> Vec<Pair<&'a Figure>> {
    let of = |section: Option<&'a Section>| section.map_or(&[][..], |section| &section.figures);
    pairs(of(section.first), of(section.second), |figure| &figure.id)
}

fn pairs<'a, T>(first: &'a [T], second: &'a [T], id: impl Fn(&T) -> &str) -> Vec<Pair<&'a T>> {
    let twin = |one: &T, others: &'a [T]| others.iter().find(|other| id(other) == id(one));
    let of_first = first.iter().map(|one| Pair { first: Some(one), second: twin(one, second) });
    let alone = second.iter().filter(|one| twin(one, first).is_none());
    of_first.chain(alone.map(|one| Pair { first: None, second: Some(one) })).collect()
}

/// Rows of the values that both figures have, under the figure's name.
fn values(first: &Figure, second: &Figure) -> Vec<Row> {
    let mut rows = Vec::new();
    for a in first.series.iter().filter(|series| series.look != Look::Step) {
        let Some(b) = second.series.iter().find(|b| b.name == a.name) else { continue };
        rows.extend(a.points.iter().filter_map(|point| row(first, (a, point), b)));
    }
    let every = rows.len().div_ceil(ROWS).max(1);
    let rows: Vec<Row> = rows.into_iter().step_by(every).collect();
    let title = format!("{}, by {}", first.y.label, first.x.label);
    let head = Row::Group { id: format!("values-{}", first.id), title };
    if rows.is_empty() { rows } else { std::iter::once(head).chain(rows).collect() }
}

/// One place of a series in both figures; `None`: the second has no value there.
fn row(figure: &Figure, (series, point): (&Series, &Point), second: &Series) -> Option<Row> {
    let b = second.points.iter().find(|other| other.x == point.x)?.y?;
    let a = point.y?;
    let ratio = if a.point > 0.0 && b.point.is_finite() { significant(b.point / a.point, 3) } else { "-".to_owned() };
    let place = format!("{}, {}", series.name, figure.x.unit.show(point.x, 4));
    let show = |reading| Cell::text(figure.y.unit.show_reading(reading));
    Some(Row::plain([Cell::text(place), show(&a), show(&b), Cell::text(ratio)]))
}

/// A section for one of two columns: its anchors begin with the column's name, and lead nowhere outside it.
pub(crate) fn apart(section: &Section, column: &str) -> Section {
    let named = |id: &str| format!("{column}-{id}");
    Section {
        id: named(&section.id),
        drawings: section.drawings.iter().map(|d| Drawing { id: named(&d.id), ..d.clone() }).collect(),
        figures: section.figures.iter().map(|figure| figure_apart(figure, column)).collect(),
        tables: section.tables.iter().map(|table| table_apart(table, column)).collect(),
        ..section.clone()
    }
}

/// The same of a figure.
pub(crate) fn figure_apart(figure: &Figure, column: &str) -> Figure {
    let mut figure = Figure { id: format!("{column}-{}", figure.id), ..figure.clone() };
    let series = figure.series.iter_mut().chain(&mut figure.others);
    let dots = series.flat_map(|series| &mut series.points).flat_map(|point| &mut point.rounds);
    dots.for_each(|dot| dot.record = None);
    figure
}

fn table_apart(table: &Table, column: &str) -> Table {
    let row = |row: &Row| match row {
        Row::Group { id, title } => Row::Group { id: format!("{column}-{id}"), title: title.clone() },
        Row::Cells { cells, .. } => {
            Row::Cells { id: None, cells: cells.iter().map(|cell| Cell { record: None, ..cell.clone() }).collect() }
        }
    };
    Table { id: format!("{column}-{}", table.id), rows: table.rows.iter().map(row).collect(), ..table.clone() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Axis, Dot, Finding, Reading, ReportAnswer, TextStyle, Unit, Verdict};

    fn figure(id: &str, values: &[(f64, f64)]) -> Figure {
        let dot = |y| Dot { y, counts: true, record: Some("round-1".to_owned()) };
        let point = |&(x, y): &(f64, f64)| Point { x, y: Some(Reading::alone(y)), rounds: vec![dot(y)] };
        let points = values.iter().map(point).collect();
        Figure {
            id: id.to_owned(),
            finding: format!("Finding of {id}"),
            x: Axis::linear("rate", Unit::SAMPLES_PER_S),
            y: Axis::linear("CPU", Unit::CORES),
            series: vec![Series { name: "receive".to_owned(), look: Look::Line, slot: 0, points }],
            ..Figure::default()
        }
    }

    fn report(run: &str, answer: ReportAnswer, figures: Vec<Figure>) -> Report {
        let finding = Finding {
            answer,
            subject: "25 MS/s".to_owned(),
            measured: format!("in {run}"),
            margin: String::new(),
            record: Some("round-1".to_owned()),
        };
        Report {
            title: "takt check".to_owned(),
            run: run.to_owned(),
            verdict: Verdict { answer, headline: format!("headline of {run}"), ..Verdict::default() },
            findings: vec![finding],
            sections: Section::shown("rates", "Rates", "", figures, Vec::new()).into_iter().collect(),
            ..Report::default()
        }
    }

    /// Two runs with a figure in common, and one of its own each. One run's name is hostile.
    pub(crate) fn two() -> Beside {
        let first = vec![figure("cpu", &[(1e6, 0.5), (2e6, 1.0)]), figure("one", &[(1e6, 1.0)])];
        let second = vec![figure("cpu", &[(1e6, 0.25), (3e6, 9.0)]), figure("two", &[(1e6, 1.0)])];
        Beside {
            first: report("run-a", ReportAnswer::Yes, first),
            second: report("<b>", ReportAnswer::No, second),
            page: Some("runs/beside.html".to_owned()),
        }
    }

    #[test]
    fn values_are_those_that_both_have() {
        let table = two().values();
        let [Row::Group { title, .. }, Row::Cells { cells, .. }] = &table.rows[..] else { panic!("{table:?}") };
        assert_eq!(title, "CPU, by rate");
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!((texts[0], texts[3]), ("receive, 1\u{a0}MS/s", "0.5"), "{texts:?}");
    }

    #[test]
    fn the_page_has_both_answers_and_each_figure_once_a_column() {
        let html = two().to_html();
        for part in ["headline of run-a", "headline of &lt;b&gt;", "Yes:", "No:", "Finding of cpu", "second over first"]
        {
            assert!(html.contains(part), "{part}\n{html}");
        }
        assert!(!html.contains("<b>headline") && !html.contains("run <b>"), "{html}");
        assert!(!html.contains("#round-1"), "no record is here to lead to");
        let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let distinct: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), distinct.len(), "{ids:?}");
        assert_eq!(html.matches("no such figure").count(), 2);
    }

    #[test]
    fn two_figures_have_the_same_axes() {
        let Beside { first, second, .. } = two();
        let [a, b] = [&first, &second].map(|report| report.sections[0].figures[0].clone());
        let axis = |svg: &str| svg.split("class=\"tick\"").count();
        assert_eq!(axis(&a.to_inline_svg_beside(&b)), axis(&b.to_inline_svg_beside(&a)));
        assert_ne!(a.to_inline_svg_beside(&b), a.to_inline_svg(), "9 cores are beyond the first alone");
    }

    #[test]
    fn the_text_begins_with_both_answers() {
        let text = two().to_text(&TextStyle::default());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("run-a  Yes: headline of run-a"), "{text}");
        assert!(text.contains("<b>") && text.contains("No: headline of <b>"), "{text}");
        assert!(text.contains("receive, 1 MS/s") && text.ends_with("Report: runs/beside.html\n"), "{text}");
    }
}
