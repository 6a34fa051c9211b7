//! The study `virtual-sdr`: what a container and a virtual machine cost an Ethernet-attached radio.
//!
//! | part of `experiments/virtual-sdr` | figures of the paper |
//! | --- | --- |
//! | `link` (link.toml) | 3a, 3b, 3c, 4: datagrams by size |
//! | `radio` (radio.toml) | 5, 6, 7: samples by rate and mode |
//! | `wire` (link.toml) | 3c on a wire as the paper's |
//! | `noise` | none: the same point measured twice |
//!
//! `share` is a part of its own, which no paper has: programs behind one front end.

mod charts;
mod judge;
mod needs;
pub(crate) mod share;
mod why;

use charts::{CHARTS, EVIDENCE};
use judge::judge;

use crate::sweep::{Facts, Study};

pub(super) const STUDY: Study = Study {
    name: "virtual-sdr",
    facts,
    charts: &CHARTS,
    evidence: &EVIDENCE,
    judge,
    points: |_, _| Vec::new(),
    link: |_| Vec::new(),
    caveats: &[
        "the paper's radio is an N200 behind a 1 Gb/s card; here it is takt's emulator on a core of the same machine",
        "the paper's virtual machine is VirtualBox's; here it is QEMU's, with its accelerator named at each site",
    ],
};

/// The facts that come with the program; a test reads the same text.
fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/virtual-sdr.toml")).expect("tested to be right")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::testing::assert_of_its_paper;

    #[test]
    fn every_chart_and_claim_is_a_figure_of_the_paper() {
        let (alike, container) = (["alike_within", "close_within"], ["container_bytes_from", "container_share_from"]);
        let numbers = [alike, container, ["vm_share_up_to", "vm_cpu_times"], ["wire_bps", "wire_full_share"]].concat();
        assert_of_its_paper(&STUDY, &numbers);
    }
}
