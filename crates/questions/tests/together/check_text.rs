//! The report of a check on a terminal: golden texts, and what holds at every width.

use takt_page::{Depth, Report, TextStyle};
use takt_questions::check;

use crate::golden;
use crate::support;

fn all() -> [(&'static str, Report); 4] {
    support::all().map(|(name, outcome)| (name, check::report(&outcome)))
}

fn style(width: usize) -> TextStyle {
    TextStyle { width, ..TextStyle::default() }
}

#[test]
fn the_answer_of_a_quick_check_reads_as_agreed() {
    let mut report = check::report(&support::quick_fails());
    report.page = Some("takt-runs/2026-11-21T100412-check/report.html".into());
    golden::check("quick-fails.txt", &report.to_text(&style(120)));
    golden::check("quick-fails-narrow.txt", &report.to_text(&style(72)));
    let bare = TextStyle { unicode: false, depth: Depth::Full, ..style(100) };
    golden::check("quick-fails-full-ascii.txt", &report.to_text(&bare));
    golden::check("quick-fails-full.txt", &report.to_text(&TextStyle { depth: Depth::Full, ..style(120) }));
}

#[test]
fn the_other_answers_read_as_agreed() {
    golden::check("full-holds.txt", &check::report(&support::full_holds()).to_text(&style(120)));
    golden::check("unknown.txt", &check::report(&support::unknown()).to_text(&style(120)));
}

#[test]
fn the_answer_is_the_first_line() {
    for (name, report) in all() {
        let text = report.to_text(&style(200));
        let first = text.lines().next().unwrap();
        assert_eq!(
            first.replace('\u{a0}', " "),
            format!("{}: {}", report.verdict.answer.verdict_word(), report.verdict.headline).replace('\u{a0}', " "),
            "{name}"
        );
    }
}

/// A person reads it in ten seconds.
#[test]
fn a_short_text_fits_on_a_screen() {
    for (name, report) in all().into_iter().filter(|(name, _)| *name != "hostile") {
        for width in [80, 100, 120] {
            let lines = report.to_text(&style(width)).lines().count();
            assert!(lines <= 25, "{name} at {width}: {lines} lines");
        }
    }
}

/// A busy host has more to say: then less of what is in the report as well.
#[test]
fn a_short_text_says_less_of_what_is_long() {
    let mut report = check::report(&support::quick_fails());
    let long = "what others use of this machine, and which of them it is that uses it ".repeat(6);
    for fix in &mut report.fixes {
        fix.what.clone_from(&long);
    }
    report.not_said.iter_mut().for_each(|limit| limit.clone_from(&long));
    let text = report.to_text(&style(80));
    assert!(text.lines().count() <= 25, "{text}");
    let left = format!("{} more fixes, {} more limits", report.fixes.len() - 1, report.not_said.len());
    assert!(text.contains(&format!("In the report: {left}.")), "{left}: {text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, report) in all() {
        for width in [40, 60, 72, 80, 100, 132, 200] {
            for unicode in [true, false] {
                let text = report.to_text(&TextStyle { depth: Depth::Full, unicode, ..style(width) });
                for line in text.lines() {
                    let columns = line.chars().count();
                    // "µs" and "·" take more room in ASCII; cut names do not
                    let most = if unicode { width } else { width + width / 8 };
                    assert!(columns <= most, "{name} at {width}: {columns} columns: {line}");
                }
            }
        }
    }
}

#[test]
fn without_unicode_every_character_is_ascii() {
    for (_, report) in all() {
        let text = report.to_text(&TextStyle { unicode: false, depth: Depth::Full, ..style(100) });
        assert!(text.chars().all(|c| c == '\n' || (' '..='~').contains(&c)), "printable ASCII only");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    for (name, report) in all() {
        let plain = TextStyle { depth: Depth::Full, ..style(100) };
        let coloured = report.to_text(&TextStyle { colour: true, ..plain });
        assert!(coloured.contains("\u{1b}[3"), "{name} has colour");
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some((text, after)) = rest.split_once("\u{1b}[") {
            stripped.push_str(text);
            rest = after.split_once('m').expect("a colour code ends in m").1;
        }
        stripped.push_str(rest);
        let trimmed = |t: &str| t.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(trimmed(&stripped), trimmed(&report.to_text(&plain)), "{name}");
    }
}

#[test]
fn what_others_named_cannot_command_the_terminal() {
    let text = check::report(&support::hostile()).to_text(&TextStyle { depth: Depth::Full, ..style(100) });
    assert!(text.contains("alert(1)"), "shown, as text");
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "nothing that acts");
}

#[test]
fn a_need_that_fails_never_reads_as_if_nothing_was_lost() {
    let mut outcome = support::quick_fails();
    let need = &mut outcome.verdict.needs[0];
    (need.counted, need.clean) = (2, 1);
    need.lost_share = takt_stats::mean(&[0.0, 0.004], 0.95);
    let text = check::report(&outcome).to_text(&TextStyle::default());
    assert!(text.replace('\u{a0}', " ").contains("1 of 2 rounds not clean"), "{text}");
}
