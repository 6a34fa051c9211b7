//! Which nodes a path has, and what the cables between them are.

use takt_path::model::HopSpec;
use takt_path::topology::NodeKind;

use super::spec::{PathName, PathSpec};

/// A node before it exists.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// One of the two ends.
    End,
    Switch,
    Router(Forwarding),
    /// A process that passes frames on as the model says, on a share of a core if one is given.
    Hop(HopSpec, Option<f64>),
}

/// How a router forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forwarding {
    /// The kernel, which hides what leaves behind the outer address.
    Masquerade,
    /// Programs of takt's own, which do not.
    Xdp,
}

/// A named part, and whether a rate is put on what leaves by its two interfaces, the one nearer to the host first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) part: Part,
    pub(super) limits: [bool; 2],
}

/// From the host to the radio.
pub(super) fn chain(spec: &PathSpec) -> Vec<Member> {
    let member = |name, part, limits| Member { name, part, limits };
    let mut members = vec![member("host", Part::End, [true; 2])];
    let masquerade = Part::Router(Forwarding::Masquerade);
    match spec.name {
        PathName::Direct => {}
        PathName::Switch => members.push(member("switch", Part::Switch, [true; 2])),
        PathName::Router => members.push(member("router", masquerade, [true; 2])),
        PathName::RouterSmall => {
            let share = Some(spec.cpu_share);
            // One device in two namespaces; between them no cable.
            members.push(member("small", Part::Hop(HopSpec::default(), share), [true, false]));
            members.push(member("router", masquerade, [false, true]));
        }
        PathName::RouterHw => {
            // The model has the rates of its ports in it.
            let model = spec.hardware().unwrap_or_default();
            members.push(member("hardware", Part::Hop(model, None), [false; 2]));
            members.push(member("router", masquerade, [false; 2]));
        }
        PathName::XdpRouter => members.push(member("router", Part::Router(Forwarding::Xdp), [true; 2])),
    }
    if let Some(impairing) = spec.impairing() {
        members.push(member("network", Part::Hop(impairing, None), [false; 2]));
    }
    members.push(member("radio", Part::End, [true; 2]));
    members
}

impl Part {
    pub(super) fn kind(&self) -> NodeKind {
        match self {
            Part::End => NodeKind::End,
            Part::Switch => NodeKind::Switch,
            Part::Router(_) => NodeKind::Router,
            Part::Hop(..) => NodeKind::Hop,
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match self {
            Part::End => Vec::new(),
            Part::Switch => vec!["bridge".into()],
            Part::Router(Forwarding::Masquerade) => vec!["kernel".into(), "NAT".into()],
            Part::Router(Forwarding::Xdp) => vec!["XDP, generic".into(), "no NAT".into()],
            Part::Hop(spec, share) => hop_notes(spec, *share),
        }
    }
}

fn hop_notes(spec: &HopSpec, share: Option<f64>) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(share.map(|share| format!("{:.0} % of a core", share * 100.0)));
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
