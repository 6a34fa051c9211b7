//! What a claim needs before it can be judged at all.
//!
//! A claim about three environments needs three. One in which a virtual machine takes part needs a guest that the processor
//! executes: a guest in software is slower by a factor that says nothing about the paper's.

use crate::sweep::Outcome;

/// Claims that are about the container and native alone.
const WITHOUT_VM: [u32; 2] = [2, 4];

/// Why a claim is shown and not judged, if it is not.
pub(super) fn lacking(number: u32, outcome: &Outcome) -> Option<String> {
    if WITHOUT_VM.contains(&number) {
        return None;
    }
    let measured = |name: &str| {
        let mut curves = outcome.charts.iter().filter_map(|chart| chart.curve(name));
        curves.any(|curve| curve.measured().next().is_some())
    };
    let missing: Vec<&str> = [("native", "native"), ("container", "the container"), ("vm", "the virtual machine")]
        .into_iter()
        .filter(|(name, _)| !measured(name))
        .map(|(_, words)| words)
        .collect();
    match (missing.as_slice(), outcome.accelerator()) {
        ([], Some("tcg")) => Some(
            "shown and not judged, since the guest was executed in software (tcg): that says nothing about a virtual machine"
                .to_owned(),
        ),
        ([], _) => None,
        (missing, _) => Some(format!("shown and not judged, since {} was not measured here", missing.join(" and "))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::claims::judge;
    use super::super::facts;
    use super::*;
    use crate::sweep::Measure;
    use crate::sweep::testing::{Points, chart, outcome, site};
    use takt_lab::check::Answer;

    /// All three alike at one rate, but for those left out.
    fn measured(names: &[&'static str], accelerator: &str) -> Outcome {
        let mut measured = outcome(&facts());
        let point: &[(f64, &[f64])] = &[(25e6, &[25.0e6, 25.0e6, 25.001e6])];
        let curves: Vec<Points<'_>> = names.iter().map(|name| (*name, point)).collect();
        measured.charts = vec![chart("rx-only", "rate_sps", Measure::SamplesPerS, &curves)];
        measured.sites = vec![site("vm", "veth", json!({ "accelerator": accelerator }))];
        measured
    }

    #[test]
    fn three_environments_are_alike_only_where_three_were_measured() {
        let all = ["native", "container", "vm"];
        assert_eq!(judge(6, &measured(&all, "kvm")).answer, Answer::Holds);
        let two = judge(6, &measured(&all[..2], "kvm"));
        assert_eq!(two.answer, Answer::Unknown);
        assert!(
            two.measured.starts_with("shown and not judged, since the virtual machine was not measured here; "),
            "{}",
            two.measured
        );
    }

    #[test]
    fn a_guest_in_software_says_nothing_about_the_papers() {
        let measured = measured(&["native", "container", "vm"], "tcg");
        for claim in [1, 3, 5, 6, 7, 8, 9, 10, 11] {
            let judged = judge(claim, &measured);
            assert_eq!(judged.answer, Answer::Unknown, "claim {claim}");
            assert!(judged.measured.contains("executed in software (tcg)"), "claim {claim}: {}", judged.measured);
        }
        assert!(WITHOUT_VM.iter().all(|claim| lacking(*claim, &measured).is_none()));
    }
}
