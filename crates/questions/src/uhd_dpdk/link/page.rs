//! A link on two radios: the paper's tables beside what was measured in real time, and what lower speeds gave, apart.

use crate::study::Figure;
use crate::sweep::{Measure, Spot, SweepOutcome};
use crate::uhd_dpdk::link::{LinkCase, LinkFigures};

use crate::sweep::page::{cell, in_table};
use takt_page::Reading;
use takt_page::{Cell, Column, Row, Section, Table, Unit};

/// The paper's case and the name that its numbers have: resource blocks, offered Mb/s.
const OF_PAPER: [(u32, f64, &str); 3] = [(25, 10e6, "25_prb"), (50, 30e6, "50_prb"), (100, 30e6, "100_prb")];
/// The paper's threads and the names that their numbers have.
const THREADS: [(&str, &str); 9] = [
    ("WORKER0", "worker0"),
    ("WORKER1", "worker1"),
    ("WORKER2", "worker2"),
    ("TXRX", "txrx"),
    ("ENBSOCKETS", "enbsockets"),
    ("STACK", "stack"),
    ("PRACH_WORKER", "prach"),
    ("zero_copy_recv", "recv_thread"),
    ("dpdk-io", "io_thread"),
];

const LEAD: &str = "A base station and a terminal on two software X310. The base station has the engine that heads a column, the \
                    terminal always mmsg. Each attempt opens both radios; the first that connects in a round carries the load. \
                    Times and rates are the link's own.";

/// The section, if links were run.
pub(crate) fn section(outcome: &SweepOutcome) -> Option<Section> {
    let tables = vec![
        compared(outcome, "link-jitter", "Table 2, the link: jitter", Measure::Seconds, ("jitter", "s"), |figures| {
            &figures.jitter_s
        }),
        compared(outcome, "link-dropped", "Table 2, the link: dropped", Measure::Share, ("drop", "share"), |figures| {
            &figures.lost_share
        }),
        connects(outcome),
        attach(outcome),
        threads(outcome),
        slower(outcome),
    ];
    Section::shown("link", "The link", LEAD, Vec::new(), tables)
}

/// Engines in the file's order.
fn engines(outcome: &SweepOutcome) -> Vec<&str> {
    let mut engines: Vec<&str> = Vec::new();
    for case in &outcome.link {
        if !engines.contains(&case.engine.as_str()) {
            engines.push(&case.engine);
        }
    }
    engines
}

/// Bandwidth, load and host, each once, in the file's order.
fn places(outcome: &SweepOutcome) -> Vec<&LinkCase> {
    let mut places: Vec<&LinkCase> = Vec::new();
    for case in &outcome.link {
        if !places.iter().any(|known| known.place() == case.place()) {
            places.push(case);
        }
    }
    places
}

fn case_at<'a>(outcome: &'a SweepOutcome, place: &LinkCase, engine: &str) -> Option<&'a LinkCase> {
    outcome.link.iter().find(|case| case.engine == engine && case.place() == place.place())
}

fn figure_cell(measure: Measure, figure: &Figure) -> Cell {
    cell(measure, &Spot { x: 0.0, figure: figure.clone(), skipped: None })
}

/// In real time, or why there is nothing.
fn in_real_time(case: Option<&LinkCase>, show: impl Fn(&LinkFigures) -> Cell) -> Cell {
    match case {
        Some(case) if case.skipped.is_some() => Cell::text("not run"),
        Some(case) if case.real_time.rounds > 0 => show(&case.real_time),
        Some(case) if case.radios_late > 0 => Cell::text("radios late"),
        _ => Cell::text("–"),
    }
}

/// Why engines were not run, each reason once.
fn why(outcome: &SweepOutcome) -> String {
    let mut why: Vec<String> = Vec::new();
    for case in &outcome.link {
        let words = case.skipped.as_ref().map(|reason| format!("Not run with {}: {reason}.", case.engine));
        why.extend(words.filter(|words| !why.contains(words)));
    }
    why.join(" ")
}

/// A row for each place, with the paper's two columns first.
fn compared(
    outcome: &SweepOutcome,
    id: &str,
    title: &str,
    measure: Measure,
    (name, unit): (&str, &str),
    of: fn(&LinkFigures) -> &Figure,
) -> Table {
    let engines = engines(outcome);
    let row = |place: &&LinkCase| {
        let known = OF_PAPER.iter().find(|(prb, bps, _)| (*prb, *bps) == (place.prb, place.down_bps));
        let paper = ["uhd", "dpdk"].map(|driver| {
            let Some((.., prb)) = known else { return Cell::text("") };
            match outcome.paper.numbers.get(&format!("{name}_{prb}_{driver}_{unit}")) {
                Some(value) => Cell::text(in_table(measure).show(*value, 3)),
                None => Cell::text("no connection"),
            }
        });
        let own = engines.iter().map(|engine| {
            in_real_time(case_at(outcome, place, engine), |figures| match figures.connected {
                0 => Cell::text("no connection"),
                _ => figure_cell(measure, of(figures)),
            })
        });
        Row::plain([Cell::text(place.place())].into_iter().chain(paper).chain(own))
    };
    let heads: Vec<&str> = ["paper, UHD", "paper, DPDK"].into_iter().chain(engines.iter().copied()).collect();
    let rows = places(outcome).iter().map(row).collect();
    Table::new(id, title, Column::row("link", &heads, &[]), rows).with_note(format!(
        "In real time only. \u{201c}Radios late\u{201d}: this machine did not run the emulators in time. {}",
        why(outcome)
    ))
}

fn connects(outcome: &SweepOutcome) -> Table {
    let engines = engines(outcome);
    let row = |place: &&LinkCase| {
        let own = engines.iter().map(|engine| {
            in_real_time(case_at(outcome, place, engine), |figures| {
                let share = figures.connected_share.map(|share| Unit::SHARE.show_reading(&Reading::from(share)));
                let in_time = format!("{} of {} rounds in time", figures.kept_up, figures.rounds);
                let share = share.map_or_else(String::new, |share| format!(", {share}"));
                Cell::text(format!("{} of {}{share}; {in_time}", figures.connected, figures.attempts))
            })
        });
        Row::plain([Cell::text(place.place())].into_iter().chain(own))
    };
    let rows = places(outcome).iter().map(row).collect();
    Table::new("link-connects", "Attempts that connect, in real time", Column::row("link", &engines, &[]), rows)
        .with_note(
            "The interval is Clopper-Pearson's over all attempts. A round is in time if both ends were late, or lost samples, in at \
             most one subframe of a thousand. The paper: no connection with UHD at 100 PRB, near 100 % with DPDK.",
        )
}

fn attach(outcome: &SweepOutcome) -> Table {
    let engines = engines(outcome);
    let row = |place: &&LinkCase| {
        let own = engines.iter().map(|engine| {
            in_real_time(case_at(outcome, place, engine), |figures| figure_cell(Measure::Seconds, &figures.attach_s))
        });
        let lost = engines.iter().map(|engine| {
            in_real_time(case_at(outcome, place, engine), |figures| figure_cell(Measure::Count, &figures.losses))
        });
        Row::plain([Cell::text(place.place())].into_iter().chain(own).chain(lost))
    };
    let heads: Vec<String> = engines
        .iter()
        .map(|engine| format!("attach, {engine}"))
        .chain(engines.iter().map(|engine| format!("links lost, {engine}")))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows = places(outcome).iter().map(row).collect();
    let title = "Time to attach, and links lost in a round, in real time";
    Table::new("link-attach", title, Column::row("link", &heads, &[]), rows)
}

fn threads(outcome: &SweepOutcome) -> Table {
    let engines = engines(outcome);
    let share = |value: f64| Unit::SHARE.show(value, 3);
    let of_paper = THREADS.iter().map(|(name, key)| {
        let number = |names: [String; 2]| names.iter().find_map(|name| outcome.paper.numbers.get(name)).copied();
        let driver = |driver: &str, alone: &str| {
            let only = if *key == alone { format!("{key}_share") } else { String::new() };
            number([format!("{key}_{driver}_share"), only])
        };
        let cells = [driver("uhd", "recv_thread"), driver("dpdk", "io_thread")];
        let cells = cells.map(|value| Cell::text(value.map_or_else(|| "–".to_owned(), share)));
        let none = engines.iter().map(|_| Cell::text(""));
        Row::plain([Cell::text(format!("the paper's {name}"))].into_iter().chain(cells).chain(none))
    });
    let mut rows: Vec<Row> = of_paper.collect();
    for place in places(outcome) {
        let cases: Vec<&LinkCase> = engines.iter().filter_map(|engine| case_at(outcome, place, engine)).collect();
        let mut names: Vec<&str> = Vec::new();
        for thread in cases.iter().flat_map(|case| &case.real_time.threads) {
            if !names.contains(&thread.name.as_str()) {
                names.push(&thread.name);
            }
        }
        for name in names {
            let own = engines.iter().map(|engine| {
                in_real_time(case_at(outcome, place, engine), |figures| {
                    figures.thread(name).map_or_else(|| Cell::text("–"), |figure| figure_cell(Measure::Share, figure))
                })
            });
            let paper = [Cell::text(""), Cell::text("")];
            rows.push(Row::plain(
                [Cell::text(format!("{name}, {}", place.place()))].into_iter().chain(paper).chain(own),
            ));
        }
    }
    if outcome.link.is_empty() {
        rows.clear();
    }
    let heads: Vec<&str> = ["paper, UHD", "paper, DPDK"].into_iter().chain(engines.iter().copied()).collect();
    let title = "Table 3, the link: share of a core by thread";
    Table::new("link-threads", title, Column::row("thread", &heads, &[]), rows).with_note(
        "While the load ran, in real time. The paper's are of its base station alone. Threads called ue are the terminal's. takt's own \
         workers have other tasks than the paper's, so compare columns, not rows.",
    )
}

/// Apart from all others: nothing here was in real time.
fn slower(outcome: &SweepOutcome) -> Table {
    let row = |case: &LinkCase| {
        let slower = case.slower.as_ref()?;
        let figures = &slower.figures;
        Some(Row::plain([
            Cell::text(format!("{}, {}", case.place(), case.engine)),
            Cell::text(Unit::TIMES.show(slower.speed, 2)),
            Cell::text(format!("{} of {}", figures.kept_up, figures.rounds)),
            Cell::text(format!("{} of {}", figures.connected, figures.attempts)),
            figure_cell(Measure::Seconds, &figures.attach_s),
            figure_cell(Measure::Seconds, &figures.jitter_s),
            figure_cell(Measure::Share, &figures.lost_share),
        ]))
    };
    let heads = ["speed", "rounds in time", "connected", "attach", "jitter", "dropped"];
    let rows = outcome.link.iter().filter_map(row).collect();
    let title = "Not in real time: links that this machine did not hold, at a speed at which it did";
    Table::new("link-slower", title, Column::row("link", &heads, &[]), rows).with_note(
        "A speed of 0.1: a second of the radios takes ten of this host. takt tries 1, 0.5, 0.2, 0.1 and 0.04 in turn until both ends are \
         in time. No claim rests on this table.",
    )
}
