//! The study `virtual-sdr`: what a container and a virtual machine cost an Ethernet-attached radio.
//!
//! | part of `experiments/virtual-sdr` | figures of the paper |
//! | --- | --- |
//! | `link` (link.toml) | 3a, 3b, 3c, 4: datagrams by size |
//! | `radio` (radio.toml) | 5, 6, 7: samples by rate and mode |
//! | `wire` (link.toml) | 3c on a wire as the paper's |
//! | `noise` | none: the same point measured twice |

mod charts;
mod claims;
mod needs;
mod why;

use charts::{CHARTS, EVIDENCE};
use claims::judge;

use super::sweep::{Facts, Study};

pub(super) const STUDY: Study = Study {
    name: "virtual-sdr",
    facts,
    charts: &CHARTS,
    evidence: &EVIDENCE,
    judge,
    does_not_say: &[
        "the paper's radio is an N200 behind a 1 Gb/s card; here it is takt's own, one core of the same machine",
        "the paper's virtual machine is VirtualBox's; here it is QEMU's, with what accelerates it stated at each site",
    ],
};

/// The facts that come with the program.
///
/// # Panics
/// Never: a test reads the same text.
fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/virtual-sdr.toml")).expect("tested to be right")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chart_and_claim_is_a_figure_of_the_paper() {
        let facts = facts();
        for plan in &CHARTS {
            assert!(facts.figures.iter().any(|figure| figure.number == plan.number), "{}", plan.number);
        }
        let known = |number: &String| facts.figures.iter().any(|figure| figure.number == *number);
        assert!(facts.claims.iter().all(|claim| claim.figures.iter().all(known)));
        for name in [
            "alike_within",
            "close_within",
            "container_bytes_from",
            "container_share_from",
            "vm_share_up_to",
            "vm_cpu_times",
        ] {
            assert!(facts.number(name).is_finite(), "{name}");
        }
    }
}
