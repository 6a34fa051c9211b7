//! Findings of the doctor, as a check keeps them.

use takt_doctor::{Diagnosis, FixOffer, Verdict};
use takt_host::Host;
use takt_host::call;

use super::{DoctorFinding, FixKind};

impl DoctorFinding {
    /// Findings of every rule of the doctor on this host. Takes a fraction of a second; changes nothing.
    #[must_use]
    pub fn of_this_host() -> Vec<DoctorFinding> {
        takt_doctor::examine(&Host::this(), |_| true).into_iter().map(DoctorFinding::from).collect()
    }

    /// Whether it keeps a radio from its deadlines.
    #[must_use]
    pub fn is_problem(&self) -> bool {
        [PROBLEM, FORMER_PROBLEM].contains(&self.finding.as_str())
    }
}

const PROBLEM: &str = "problem";
/// As runs of before have it in the store.
const FORMER_PROBLEM: &str = "stands";

impl From<Diagnosis> for DoctorFinding {
    fn from(diagnosis: Diagnosis) -> DoctorFinding {
        let finding = match diagnosis.verdict {
            Verdict::Fine => "fine",
            Verdict::Problem => PROBLEM,
            Verdict::Notice => "notice",
            Verdict::NotVisible | Verdict::NotKnownHere => "not_visible",
        };
        let fix = diagnosis.fix.as_ref().map(|offer| how(&diagnosis.id, offer));
        DoctorFinding {
            title: diagnosis.title,
            finding: finding.into(),
            observed: diagnosis.observed,
            wanted: diagnosis.wanted,
            mechanism: diagnosis.why,
            cost: diagnosis.cost.and_then(|cost| cost.measured_here),
            fix,
            fix_kind: diagnosis.fix.map(|offer| offer.kind),
            id: diagnosis.id,
        }
    }
}

/// The command, since it also keeps what is needed to undo it; for advice its ways, one after the other.
fn how(id: &str, offer: &FixOffer) -> String {
    match offer.kind {
        FixKind::Advice => offer.commands.join("; or "),
        FixKind::Safe | FixKind::Consent => call::sudo_takt(format_args!("doctor --fix --only {id}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Finding of a rule on a host made of these files.
    fn finding_on(files: &[(&str, &str)], id: &str) -> DoctorFinding {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = takt_doctor::examine(&Host::at(root.path()), |rule| rule.id == id);
        found.into_iter().map(DoctorFinding::from).next().unwrap()
    }

    const KERNEL: (&str, &str) = ("proc/sys/kernel/osrelease", "6.18.0\n");

    #[test]
    fn what_stands_has_the_command_that_fixes_and_can_undo_it() {
        let small = ("proc/sys/net/core/rmem_max", "212992\n");
        let large = ("proc/sys/net/core/wmem_max", "4194304\n");
        let finding = finding_on(&[KERNEL, small, large], "socket-buffer-small");
        assert!(finding.is_problem());
        assert_eq!(finding.fix, Some(call::sudo_takt("doctor --fix --only socket-buffer-small")));
        assert_eq!(finding.fix_kind, Some(FixKind::Safe));
        assert!(
            finding.observed.contains("212992") && finding.wanted.is_some_and(|wanted| wanted.contains("50000000"))
        );
    }

    #[test]
    fn what_this_host_does_not_show_is_never_fine() {
        let finding = finding_on(&[KERNEL], "socket-buffer-small");
        assert_eq!((finding.finding.as_str(), finding.fix), ("not_visible", None));
    }

    #[test]
    fn every_rule_answers_here() {
        let found = DoctorFinding::of_this_host();
        assert_eq!(found.len(), takt_doctor::RULES.len());
        assert!(found.iter().all(|finding| !finding.title.is_empty() && !finding.observed.is_empty()));
    }
}
