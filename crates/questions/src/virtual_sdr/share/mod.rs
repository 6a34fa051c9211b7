//! The study's own part: programs behind one front end that takt shares, against programs with a radio each.
//!
//! | part of `experiments/virtual-sdr/share.toml` | programs are |
//! | --- | --- |
//! | `native` | processes of this machine, each in a network namespace |
//! | `container` | in a container each |
//! | `guest` | in a virtual machine each |

mod charts;
mod judge;
mod limit;
mod read;

use charts::{CHARTS, EVIDENCE};
use judge::judge;

use crate::sweep::{Facts, Study};

pub(crate) const STUDY: Study = Study {
    name: "virtual-sdr/share",
    facts,
    charts: &CHARTS,
    evidence: &EVIDENCE,
    judge,
    points: |_, _| Vec::new(),
    link: |_| Vec::new(),
    caveats: &[
        "the front end and the radios of their own are takt's emulators, all on one core of this machine, whose CPU is in no figure",
        "a program's delay has the network between the radio and the program in it, but not that between a real radio and this host",
        "the power in a silent band is what leaks on the way from the front end to a program: programs that transmit are not heard",
    ],
};

/// The expectations that come with the program; a test reads the same text.
fn facts() -> Facts {
    toml::from_str(include_str!("../../../../../experiments/papers/virtual-sdr-share.toml"))
        .expect("tested to be right")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::testing::assert_of_its_paper;

    #[test]
    fn every_chart_and_claim_is_one_of_its_expectations() {
        let numbers = ["lossless_share", "neighbour_db", "added_delay_s", "share_cores", "share_cores_up_to"];
        assert_of_its_paper(&STUDY, &numbers);
        assert!(facts().own);
    }
}
