//! Which nodes a path has, and what the cables between them are.

use takt_path::model::HopSpec;
use takt_path::topology::NodeKind;

use super::spec::{PathName, PathSpec};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    End,
    Switch,
    /// Before a router: keeps who sends from waiting for it. A frame that finds the router's ring full is lost here.
    Card,
    Router(Forwarding),
    Hop(HopSpec),
}

/// Nodes whose work is done by their router, and charged to it.
pub const CARDS: [&str; 2] = ["lan-card", "wan-card"];

/// Frames that a virtual pair keeps for the thread that works it off (`VETH_RING_SIZE` of drivers/net/veth.c).
const RING_FRAMES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forwarding {
    /// The kernel, which hides what leaves behind the outer address.
    Masquerade,
    /// Programs of takt's own, which do so as well.
    Xdp,
}

/// A named part, and whether a rate is put on what leaves by its two interfaces, the one nearer to the host first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) part: Part,
    pub(super) limits: [bool; 2],
}

pub(super) fn chain(spec: &PathSpec) -> Vec<Member> {
    let member = |name, part, limits| Member { name, part, limits };
    let mut members = vec![member("host", Part::End, [true; 2])];
    let masquerade = Part::Router(Forwarding::Masquerade);
    match spec.name {
        PathName::Direct => {}
        PathName::Switch => members.push(member("switch", Part::Switch, [true; 2])),
        PathName::Router => members.push(member("router", masquerade, [true; 2])),
        PathName::RouterSmall => {
            // One device in three namespaces; between them no cable. Frames come in at its cables' rate, so they leave
            // at it, and a rate there would be work that the router does not do.
            members.push(member(CARDS[0], Part::Card, [false; 2]));
            members.push(member("router", masquerade, [false; 2]));
            members.push(member(CARDS[1], Part::Card, [false; 2]));
        }
        PathName::RouterHw => {
            // The model has the rates of its ports in it.
            let model = spec.hardware().unwrap_or_default();
            members.push(member("hardware", Part::Hop(model), [false; 2]));
            members.push(member("router", masquerade, [false; 2]));
        }
        PathName::XdpRouter => members.push(member("router", Part::Router(Forwarding::Xdp), [true; 2])),
    }
    if let Some(impairing) = spec.impairing() {
        members.push(member("network", Part::Hop(impairing), [false; 2]));
    }
    members.push(member("radio", Part::End, [true; 2]));
    members
}

impl Part {
    /// Whether the kernel does its work, and kernel threads of its own can: an end, a bridge, a router. A card is none, so
    /// that what it does is its router's.
    pub(super) fn has_threads(&self) -> bool {
        matches!(self, Part::End | Part::Switch | Part::Router(_))
    }

    pub(super) fn kind(&self) -> NodeKind {
        match self {
            Part::End => NodeKind::End,
            Part::Switch | Part::Card => NodeKind::Switch,
            Part::Router(_) => NodeKind::Router,
            Part::Hop(_) => NodeKind::Hop,
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match self {
            Part::End => Vec::new(),
            Part::Switch => vec!["bridge".into()],
            Part::Card => vec!["a network card".into(), format!("ring of {RING_FRAMES}")],
            Part::Router(Forwarding::Masquerade) => vec!["kernel".into(), "NAT".into()],
            Part::Router(Forwarding::Xdp) => vec!["XDP in the driver".into(), "NAT".into()],
            Part::Hop(spec) => hop_notes(spec),
        }
    }
}

fn hop_notes(spec: &HopSpec) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(processor) = spec.processor {
        let (us, ns) = (processor.per_frame_ns as f64 / 1e3, processor.per_byte_ps as f64 / 1e3);
        notes.push(format!("{us:.1} µs a frame"));
        notes.push(format!("{ns:.0} ns a byte of it"));
        notes.push(format!("ring of {}", processor.ring_frames));
    }
    let impairments = &spec.impairments;
    let ms = |ns: u64| format!("{} ms", ns as f64 / 1e6);
    if impairments.delay_ns > 0 {
        notes.push(format!("delay {} ± {}", ms(impairments.delay_ns), ms(impairments.jitter_ns)));
    }
    for (what, share) in
        [("loss", impairments.loss), ("doubled", impairments.duplicate), ("held back", impairments.reorder)]
    {
        if share > 0.0 {
            notes.push(format!("{what} {} %", share * 100.0));
        }
    }
    notes
}
