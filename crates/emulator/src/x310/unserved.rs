//! Hosts that leave: a host that reads a version it does not take gives the radio back at once, and its user reads only what that
//! host says (x310.md 18.4).
//!
//! ```text
//!   a host claims the radio ── reads the protocol ── speaks CHDR ── reads the radio block's version ── uses the block
//!                                  └ leaves: 1                            └ leaves: 2
//! ```

use takt_wire::chdr::Protocol;
use takt_wire::x310::RadioLayout;

use super::release::Release;

/// The version that the present host was told last and has done nothing since by which it would show that it takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    #[default]
    Nothing,
    Protocol,
    /// The version of the radio block, of which UHD reads the width next before it compares.
    Block,
    /// Both.
    BlockAndWidth,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unserved {
    told: Told,
    hosts: u64,
    advice: &'static str,
}

impl Unserved {
    /// Another host has the radio now.
    pub(super) fn arrived(&mut self) {
        self.told = Told::Nothing;
    }

    pub(super) fn told_protocol(&mut self) {
        self.told = Told::Protocol;
    }

    /// A packet of CHDR came: it takes the protocol.
    pub(super) fn spoke(&mut self) {
        if self.told == Told::Protocol {
            self.told = Told::Nothing;
        }
    }

    pub(super) fn told_block(&mut self) {
        self.told = Told::Block;
    }

    pub(super) fn told_width(&mut self) {
        self.told = if self.told == Told::Block { Told::BlockAndWidth } else { Told::Nothing };
    }

    /// It did something else with a radio block.
    pub(super) fn used_block(&mut self) {
        if matches!(self.told, Told::Block | Told::BlockAndWidth) {
            self.told = Told::Nothing;
        }
    }

    /// It gave the radio back, or its claim has lapsed.
    pub(super) fn left(&mut self, release: Release) {
        let advice = match self.told {
            Told::Nothing | Told::Block => return,
            Told::Protocol => for_protocol(release.protocol()),
            Told::BlockAndWidth => for_block(release.radio()),
        };
        (self.told, self.advice) = (Told::Nothing, advice);
        self.hosts += 1;
    }

    /// How many left so, and what the last of them needs.
    pub(super) fn hosts(&self) -> (u64, &'static str) {
        (self.hosts, self.advice)
    }
}

fn for_protocol(announced: Protocol) -> &'static str {
    match announced {
        Protocol::V1 => {
            "a host read RFNoC protocol 1.0 and left. UHD 4.11 wants 2.0: start the emulator with --uhd 4.11 (in a file: uhd = \
             \"4.11\")"
        }
        Protocol::V2 => {
            "a host read RFNoC protocol 2.0 and left. UHD up to 4.10 wants 1.0: start the emulator with --uhd and its version, \
             such as --uhd 4.10 (in a file: uhd = \"4.10\")"
        }
    }
}

fn for_block(announced: RadioLayout) -> &'static str {
    match announced {
        RadioLayout::V0 => {
            "a host read version 0.1 of the radio block and left. UHD 4.10 wants 1.0: start the emulator with --uhd 4.10 (in a \
             file: uhd = \"4.10\")"
        }
        RadioLayout::V1 => {
            "a host read version 1.0 of the radio block and left. UHD up to 4.9 wants 0.1: start the emulator with --uhd 4.9 (in \
             a file: uhd = \"4.9\")"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(what: &[fn(&mut Unserved)]) -> Unserved {
        let mut unserved = Unserved::default();
        unserved.arrived();
        what.iter().for_each(|step| step(&mut unserved));
        unserved
    }

    fn advice(release: Release, what: &[fn(&mut Unserved)]) -> Option<&'static str> {
        let mut unserved = told(what);
        unserved.left(release);
        let (hosts, advice) = unserved.hosts();
        (hosts > 0).then_some(advice)
    }

    #[test]
    fn a_host_that_reads_a_version_and_leaves_is_told_the_option_that_serves_it() {
        let protocol: &[fn(&mut Unserved)] = &[Unserved::told_protocol];
        let block: &[fn(&mut Unserved)] =
            &[Unserved::told_protocol, Unserved::spoke, Unserved::told_block, Unserved::told_width];
        for (release, steps, option) in [
            (Release::V4_3, protocol, "--uhd 4.11"),
            (Release::V4_10, protocol, "--uhd 4.11"),
            (Release::V4_11, protocol, "--uhd 4.10"),
            (Release::V4_9, block, "--uhd 4.10"),
            (Release::V4_10, block, "--uhd 4.9"),
        ] {
            let advice = advice(release, steps).expect("an advice");
            assert!(advice.contains(option), "{release}: {advice}");
        }
    }

    #[test]
    fn a_host_that_goes_on_is_served() {
        let steps: [&[fn(&mut Unserved)]; 4] = [
            &[],
            &[Unserved::told_protocol, Unserved::spoke],
            // takt's driver reads the version only.
            &[Unserved::told_protocol, Unserved::spoke, Unserved::told_block],
            &[Unserved::told_block, Unserved::told_width, Unserved::used_block],
        ];
        for steps in steps {
            assert_eq!(advice(Release::V4_3, steps), None);
        }
        let mut unserved = told(&[Unserved::told_protocol]);
        unserved.left(Release::V4_3);
        unserved.left(Release::V4_3);
        assert_eq!(unserved.hosts().0, 1, "each leaves once");
    }
}
