//! A path with the environment that holds the host side, as the study of virtualised radios drew it (its Figure 2): the
//! address moves inside, and the namespace that had it becomes a bridge.

use takt_path::topology::{Link, LinkEnd, Node, NodeKind, Topology};

use super::EnvironmentFacts;

/// `path` as it is seen from inside of `holder`.
pub(super) fn inside(mut path: Topology, holder: &EnvironmentFacts) -> Topology {
    let (Some(inner), Some(outer)) = (&holder.interface, outer_end(&holder.environment)) else { return path };
    if let Some(host) = path.nodes.first_mut() {
        host.kind = NodeKind::Switch;
        host.notes = vec!["bridge".to_owned()];
    }
    let address = path.links.first_mut().and_then(|link| link.ends[0].address.take());
    let ends = [LinkEnd { interface: inner.clone(), address }, LinkEnd { interface: outer.to_owned(), address: None }];
    let node = Node { name: holder.environment.clone(), kind: NodeKind::End, notes: notes(holder) };
    path.nodes.insert(0, node);
    path.links.insert(0, Link { ends, rate_bps: None });
    path
}

/// The interface of the bridge that leads inside; `None`: nothing does.
fn outer_end(environment: &str) -> Option<&'static str> {
    match environment {
        "container" => Some("veth0"),
        "vm" => Some("tap0"),
        _ => None,
    }
}

fn notes(holder: &EnvironmentFacts) -> Vec<String> {
    let EnvironmentFacts { runtime, accelerator, cpus, memory_bytes, .. } = holder;
    let cpus = cpus.map(|cpus| format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" }));
    let memory = memory_bytes.map(|bytes| format!("{} MiB", bytes >> 20));
    let limits: Vec<String> = [cpus, memory].into_iter().flatten().collect();
    let limits = (!limits.is_empty()).then(|| limits.join(", "));
    let accelerator = accelerator.as_ref().map(|accelerator| match accelerator.as_str() {
        "tcg" => "software emulation".to_owned(),
        other => other.to_owned(),
    });
    [runtime.clone(), accelerator, limits].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cable() -> Topology {
        let node = |name: &str| Node { name: name.into(), kind: NodeKind::End, notes: Vec::new() };
        let end =
            |interface: &str, address: &str| LinkEnd { interface: interface.into(), address: Some(address.into()) };
        let ends = [end("host0", "192.168.10.1/24"), end("radio0", "192.168.10.2/24")];
        Topology {
            name: "direct".into(),
            nodes: vec![node("host"), node("radio")],
            links: vec![Link { ends, rate_bps: Some(1_000_000_000) }],
        }
    }

    fn facts(environment: &str, interface: &str) -> EnvironmentFacts {
        let (environment, interface) = (environment.into(), Some(interface.into()));
        EnvironmentFacts { environment, interface, ..EnvironmentFacts::default() }
    }

    #[test]
    fn a_container_has_the_address_and_the_host_is_a_bridge_between() {
        let (runtime, cpus, memory_bytes) = (Some("runc 1.1.5".into()), Some(2.0), Some(1 << 30));
        let holder = EnvironmentFacts { runtime, cpus, memory_bytes, ..facts("container", "veth1") };
        let drawn = inside(cable(), &holder);
        let names: Vec<&str> = drawn.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["container", "host", "radio"]);
        assert_eq!(drawn.nodes[0].notes, ["runc 1.1.5", "2 CPUs, 1024 MiB"]);
        assert_eq!(drawn.nodes[1].kind, NodeKind::Switch);
        let ends =
            |link: usize| drawn.links[link].ends.each_ref().map(|end| (end.interface.as_str(), end.address.as_deref()));
        assert_eq!(ends(0), [("veth1", Some("192.168.10.1/24")), ("veth0", None)]);
        assert_eq!(ends(1), [("host0", None), ("radio0", Some("192.168.10.2/24"))]);
        assert_eq!(drawn.links.len() + 1, drawn.nodes.len());
    }

    #[test]
    fn a_guest_says_what_executes_it_and_native_changes_nothing() {
        let (runtime, accelerator) = (Some("QEMU 7.2.22".into()), Some("tcg".into()));
        let guest = EnvironmentFacts { runtime, accelerator, ..facts("vm", "eth0") };
        let drawn = inside(cable(), &guest);
        assert_eq!(drawn.nodes[0].notes, ["QEMU 7.2.22", "software emulation"]);
        assert_eq!(drawn.links[0].ends[1].interface, "tap0");
        assert_eq!(inside(cable(), &facts("native", "host0")), cable());
    }
}
