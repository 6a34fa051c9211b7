//! How many programs a host carries behind one front end, and what is full when it carries no more.

use crate::check::CheckAnswer;
use crate::sweep::{Curve, FULL, Spot, SweepOutcome, all_above, all_below, at};

/// The most programs that lost nothing, and what limits the next number; `None`: nothing was measured.
pub(super) fn limit(part: &str, outcome: &SweepOutcome) -> Option<String> {
    let (chart, curve) = outcome.curve(&format!("lost-{part}"), "shared")?;
    let most = outcome.paper.number("lossless_share");
    let clean = |spot: &&Spot| all_below([&spot.figure], most) == CheckAnswer::Holds;
    let held = curve.measured().take_while(clean).last();
    let next = curve.measured().find(|spot| held.is_none_or(|held| spot.x > held.x));
    Some(match (held, next) {
        (Some(held), None) => {
            format!("this host carries {} without loss, the most that were tried", at(chart, held.x))
        }
        (Some(held), Some(next)) => format!(
            "this host surely carries {} without loss; with {} {}",
            at(chart, held.x),
            at(chart, next.x),
            full(part, outcome, next.x)
        ),
        (None, Some(next)) => {
            format!("no number is surely without loss; with {} {}", at(chart, next.x), full(part, outcome, next.x))
        }
        (None, None) => return None,
    })
}

/// The part that is full at this number of programs.
fn full(part: &str, outcome: &SweepOutcome, programs: f64) -> String {
    let of = |id: &str| -> Option<&Spot> {
        let curve: &Curve = outcome.chart(&format!("{id}-{part}"))?.curve("shared")?;
        curve.at(programs)
    };
    let value = |id: &str| of(id).and_then(|spot| spot.figure.value);
    // The emulator has a core of its own where there are two.
    let cores = outcome.of.about.host.cores;
    let host = cores.saturating_sub(1).max(1) as f64;
    let (share, programs) = (value("share").unwrap_or_default(), value("programs").unwrap_or_default());
    let missed = of("front-end").map(|spot| all_above([&spot.figure], outcome.paper.number("lossless_share")));
    let front_end =
        if missed == Some(CheckAnswer::Holds) { ", and the front end's own samples are missed" } else { "" };
    if share + programs > FULL * host {
        let limit =
            if share > FULL { "the share's streaming thread fills a core" } else { "the host's cores are full" };
        format!(
            "{limit}: the share takes {share:.2} cores and the programs {programs:.2} of the {host} that the emulator leaves{front_end}"
        )
    } else {
        format!(
            "something else limits it: the share takes {share:.2} cores and the programs {programs:.2} of the {host} that the \
             emulator leaves{front_end}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts;
    use super::*;
    use crate::sweep::Measure;
    use crate::sweep::testing::{Points, chart, outcome};

    fn measured(lost: [f64; 2], share: f64) -> SweepOutcome {
        let mut measured = outcome(&facts());
        let of = |id: &str, measure, few: f64, many: f64| {
            let curves: [Points<'_>; 1] = [("shared", &[(4.0, &[few, few]), (8.0, &[many, many])])];
            chart(id, "programs", measure, &curves)
        };
        measured.charts = vec![of("lost-native", Measure::Share, lost[0], lost[1])];
        measured.evidence =
            vec![of("share-native", Measure::Cores, 0.3, share), of("programs-native", Measure::Cores, 0.5, 2.2)];
        measured
    }

    #[test]
    fn the_limit_is_named_with_what_is_full() {
        assert_eq!(
            limit("native", &measured([0.0, 0.0], 0.5)).as_deref(),
            Some("this host carries 8 programs without loss, the most that were tried")
        );
        let cores = limit("native", &measured([0.0, 0.1], 0.6)).expect("measured");
        assert!(
            cores.starts_with(
                "this host surely carries 4 programs without loss; with 8 programs the host's cores are full"
            ),
            "{cores}"
        );
        let thread = limit("native", &measured([0.1, 0.2], 0.97)).expect("measured");
        assert!(thread.starts_with("no number is surely without loss; with 4 programs something else"), "{thread}");
        assert_eq!(limit("guest", &measured([0.0, 0.0], 0.5)), None);
    }
}
