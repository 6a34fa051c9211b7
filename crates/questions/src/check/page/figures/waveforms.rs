//! How much of a slot is used, against its length.

use crate::check::{CheckOutcome, WaveformPoint};

use super::{HOW_MEANS, lines, point, source};
use crate::check::page::words::time;
use takt_page::Unit;
use takt_page::{Axis, Figure, Reading, Reference};

pub(in crate::check::page) fn waveforms(outcome: &CheckOutcome) -> Vec<Figure> {
    let used = |p: &WaveformPoint| {
        let rounds = p.rounds.iter().filter_map(|r| Some((r.state, r.round_id, r.used_share?)));
        point(p.slot_us * 1e-6, p.used_share.map(Reading::from), rounds)
    };
    let measured = outcome.waveforms.iter().filter(|p| !p.rounds.is_empty());
    let series = lines([("in use", measured.map(used).collect())]);
    let Some(line) = series.first() else { return Vec::new() };
    let slots: Vec<f64> = line.points.iter().map(|p| p.x).collect();
    let verdict = outcome.verdict.waveform.as_ref();
    let finding = match verdict.map(|verdict| (verdict.shortest_held_us, verdict.margin)) {
        Some((Some(us), Some(margin))) => {
            let left = Unit::SHARE.show_reading(&margin.into());
            format!("Slots of {} are held, with {left} of each to spare", time(us))
        }
        Some((Some(us), None)) => format!("Slots of {} are held", time(us)),
        _ => "Share of a slot in use".to_owned(),
    };
    vec![Figure {
        id: "slot-use".into(),
        finding,
        how_to_read: format!(
            "99.9 % of slots use at most this much: late release and work together. {HOW_MEANS} Above the line a slot is missed."
        ),
        x: Axis::log("length of a slot", Unit::SECONDS).with_ticks(slots),
        y: Axis::linear("share of the slot in use", Unit::SHARE),
        series,
        references: vec![Reference::Horizontal { y: 1.0, label: "the whole slot".into() }],
        source: source(outcome, "used_share by round of the waveform"),
        ..Figure::default()
    }]
}
