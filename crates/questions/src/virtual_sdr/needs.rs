//! A part about a virtual machine needs a guest that the processor executes. A guest in software is slower by a factor that says
//! nothing about the paper's.

use crate::sweep::SweepOutcome;

/// Why a part that was measured is shown and not judged, if it is not.
pub(super) fn software_guest(part: &str, outcome: &SweepOutcome) -> Option<String> {
    let guest = part.split(" over ").any(|name| name == "vm");
    (guest && outcome.accelerator() == Some("tcg")).then(|| "guest in software, without KVM".to_owned())
}
