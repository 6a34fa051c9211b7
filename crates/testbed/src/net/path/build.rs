//! From a specification to a path that stands.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use takt_host::bpf::{Table, load_xdp};
use takt_host::policy::{Policy, set_policy};
use takt_host::receive::Offload;
use takt_path::dhcp::Pool;
use takt_path::forward::{PASS, PORTS, Side, Way, program};
use takt_path::topology::{Link, LinkEnd, Node, Topology};

use super::super::{Namespace, PathError, RadioPair, Shape, nftables};
use super::chain::{Forwarding, Member, Part, chain};
use super::hops::{PRIORITY, RunningHop};
use super::lease::{self, lease};
use super::{Addressing, Build, Path, PathEnd, PathName, PathSpec};

/// Behind a router.
const INSIDE_HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
const INSIDE_ROUTER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
/// Before it: the radio's network, where the router has the host's place.
const OUTSIDE_ROUTER: Ipv4Addr = RadioPair::HOST_ADDR;
const PREFIX: u8 = 24;
/// The largest packet of Ethernet without jumbo frames.
const ETHERNET_MTU_BYTES: u32 = 1500;
/// Policy of the kernel's threads, which stand for hardware as hops do.
const FIFO: Policy = Policy::Fifo { priority: PRIORITY };
/// A host's own queue is bounded by its sockets' buffers, not by this.
const END_BUFFER_BYTES: u32 = 8 << 20;
/// Most that may leave at once: a thousandth of a second, so that the kernel's timers keep up, and two frames at least.
const BURST: u64 = 1000;

impl Path {
    /// Builds it. Each part is in the record of the run before it exists; what was made is gone if this fails.
    /// [`PathError::is_unavailable`] says whether it failed for what this machine lacks, or this process may not do.
    ///
    /// The thread that calls this must outlive the path: hops end with it.
    pub fn build(spec: &PathSpec, with: &Build<'_>) -> Result<Path, PathError> {
        let members = chain(spec);
        let create = |name: &str| Namespace::create(with.run, &format!("{}-{name}", with.label));
        let (host, radio) = (create("host")?, create("radio")?);
        let inner = members.iter().filter(|member| member.part != Part::End);
        let between = inner.map(|member| create(member.name)).collect::<Result<Vec<_>, _>>()?;
        let namespaces: Vec<&Namespace> = [&host].into_iter().chain(&between).chain([&radio]).collect();
        let building = Building { spec, members: &members, namespaces: &namespaces, host: &host, radio: &radio };
        building.cables()?;
        let hops = building.inner_nodes(with)?;
        let Threads { of, notes } = building.threads()?;
        let addresses = building.addresses()?;
        let topology = building.topology(&addresses);
        let (prefix_len, mtu_bytes) = (PREFIX, spec.mtu_bytes);
        let host = PathEnd {
            namespace: host,
            interface: "host0",
            address: addresses.host,
            prefix_len,
            gateway: addresses.host_gateway,
            mtu_bytes,
            hardware: hardware(0, true),
        };
        let radio = PathEnd {
            namespace: radio,
            interface: "radio0",
            address: RadioPair::RADIO_ADDR,
            prefix_len,
            // A router hides the host: nobody outside needs a way to its network.
            gateway: None,
            mtu_bytes,
            hardware: hardware(members.len() - 1, false),
        };
        let mut path =
            Path { spec: spec.clone(), topology, notes, limit: None, hops, threads: of, host, radio, between };
        if spec.name == PathName::RouterSmall {
            path.put_limit()?;
        }
        Ok(path)
    }
}

struct Addresses {
    host: Ipv4Addr,
    host_gateway: Option<Ipv4Addr>,
    /// Inside and outside.
    router: Option<[Ipv4Addr; 2]>,
}

/// Kernel threads, each with the node that it works for, and what a reader must know of them.
#[derive(Default)]
struct Threads {
    of: Vec<(&'static str, u32)>,
    notes: Vec<String>,
}

struct Building<'a> {
    spec: &'a PathSpec,
    members: &'a [Member],
    /// Namespace of each member.
    namespaces: &'a [&'a Namespace],
    host: &'a Namespace,
    radio: &'a Namespace,
}

/// The interface of node `index` of `count` that looks to the host, or to the radio.
fn interface(index: usize, count: usize, to_radio: bool) -> &'static str {
    match (index, to_radio) {
        (0, _) => "host0",
        _ if index + 1 == count => "radio0",
        (_, false) => "lan0",
        (_, true) => "wan0",
    }
}

/// A locally administered address, different for all interfaces of a path.
fn hardware(index: usize, to_radio: bool) -> [u8; 6] {
    [0x02, 0x74, 0x6b, 0, u8::try_from(index).unwrap_or(u8::MAX), to_radio.into()]
}

impl Building<'_> {
    fn cables(&self) -> Result<(), PathError> {
        let count = self.members.len();
        for (index, pair) in self.namespaces.windows(2).enumerate() {
            let [near, far] = pair else { continue };
            let (here, there) = (interface(index, count, true), interface(index + 1, count, false));
            near.netlink()?.add_veth(here, there, &far.open()?)?;
            self.ready(index, here, true)?;
            self.ready(index + 1, there, false)?;
        }
        Ok(())
    }

    fn ready(&self, index: usize, name: &str, to_radio: bool) -> Result<(), PathError> {
        let (Some(namespace), Some(member)) = (self.namespaces.get(index), self.members.get(index)) else {
            return Ok(());
        };
        let mut netlink = namespace.netlink()?;
        netlink.set_hardware_address(name, hardware(index, to_radio))?;
        netlink.set_mtu(name, self.spec.mtu_bytes)?;
        let [to_host, away] = member.limits;
        if let Some(rate_bps) = self.spec.rate_bps.filter(|_| if to_radio { away } else { to_host }) {
            let end = member.part == Part::End;
            let two_frames = 2 * (self.spec.mtu_bytes + 38);
            let burst_bytes = u32::try_from(rate_bps / 8 / BURST).unwrap_or(u32::MAX).max(two_frames);
            let buffer_bytes = if end { END_BUFFER_BYTES } else { self.spec.buffer_bytes };
            netlink.set_rate(name, &Shape { rate_bps, burst_bytes, buffer_bytes })?;
        }
        netlink.set_up(name)?;
        // Most aggregates (TSO) would pass by the queue and the thread of the other end: a cable carries frames.
        if self.has_threads() {
            namespace.offload(name, Offload::Segment, false)?;
        }
        // A frame in a driver's program has no place for the kernel's note that its checksum is unfinished.
        if self.spec.name == PathName::XdpRouter {
            namespace.offload(name, Offload::Checksum, false)?;
        }
        Ok(())
    }

    fn inner_nodes(&self, with: &Build<'_>) -> Result<Vec<RunningHop>, PathError> {
        let mut hops = Vec::new();
        for (index, (member, namespace)) in self.members.iter().zip(self.namespaces).enumerate() {
            match &member.part {
                Part::End => {}
                Part::Switch | Part::Card => bridge(namespace)?,
                Part::Router(forwarding) => {
                    namespace.set_forwarding()?;
                    match forwarding {
                        Forwarding::Masquerade => namespace.inside(|| nftables::masquerade("wan0"))??,
                        Forwarding::Xdp => self.forward(index, namespace)?,
                    }
                }
                Part::Hop(model) => {
                    hops.push(RunningHop::start(member.name, namespace, model.clone(), self.spec.mtu_bytes, with)?);
                }
            }
        }
        Ok(hops)
    }

    /// If the kernel works between the ends: threads of its own for each node. If there can't be any, the sender does
    /// the work, and a note says so; a router that is to be limited can't do without.
    fn threads(&self) -> Result<Threads, PathError> {
        if !self.has_threads() {
            return Ok(Threads::default());
        }
        match self.start_threads() {
            Err(error) if error.is_unavailable() && self.spec.name != PathName::RouterSmall => {
                let note = format!(
                    "what the nodes of path {} cost is charged to whoever sends to them: {error}",
                    self.spec.name
                );
                Ok(Threads { of: Vec::new(), notes: vec![note] })
            }
            started => started,
        }
    }

    fn start_threads(&self) -> Result<Threads, PathError> {
        let mut threads = Threads::default();
        for (index, (member, namespace)) in self.members.iter().zip(self.namespaces).enumerate() {
            let sides = [(index > 0).then_some(false), (index + 1 < self.members.len()).then_some(true)];
            for to_radio in sides.into_iter().flatten().filter(|_| member.part.has_threads()) {
                let name = interface(index, self.members.len(), to_radio);
                threads.of.push((member.name, namespace.give_thread(name)?));
            }
        }
        let refused = threads.of.iter().find_map(|(_, thread)| set_policy(*thread, FIFO).err());
        threads
            .notes
            .extend(refused.map(|why| format!("the nodes of path {} work at normal priority: {why}", self.spec.name)));
        Ok(threads)
    }

    /// Whether the kernel works between the ends: if not, there is no work to account to one of several nodes.
    fn has_threads(&self) -> bool {
        self.members.iter().any(|member| member.part != Part::End && member.part.has_threads())
    }

    /// Puts a program on each interface of a router, in the driver. The kernel translates what the programs leave
    /// alone.
    fn forward(&self, index: usize, namespace: &Namespace) -> Result<(), PathError> {
        namespace.inside(|| nftables::masquerade("wan0"))??;
        let ports = Table::of_bytes(PORTS).map_err(PathError::Program)?;
        let mut netlink = namespace.netlink()?;
        // Towards the radio there may be a hop, which has no addresses of its own.
        let radio = hardware(self.members.len() - 1, false);
        let ways = [("lan0", Side::Inside, "wan0", radio), ("wan0", Side::Outside, "lan0", hardware(0, true))];
        for (name, side, out, next) in ways {
            let to_radio = side == Side::Outside;
            let way = Way {
                side,
                own: hardware(index, to_radio),
                inside: INSIDE_HOST,
                outside: OUTSIDE_ROUTER,
                radio: RadioPair::RADIO_ADDR,
                out_index: netlink.index(out)?,
                out_own: hardware(index, !to_radio),
                next,
            };
            netlink.attach_xdp(name, &self.load(&program(&way, ports.descriptor()))?)?;
        }
        self.receives_frames(index - 1, true)?;
        self.receives_frames(index + 1, false)
    }

    /// A virtual interface takes what a program sends it only where the kernel polls it: with GRO, or with a program of
    /// its own, which is what a hop gets, since GRO would join frames before it.
    fn receives_frames(&self, index: usize, to_radio: bool) -> Result<(), PathError> {
        let (Some(namespace), Some(member)) = (self.namespaces.get(index), self.members.get(index)) else {
            return Ok(());
        };
        let name = interface(index, self.members.len(), to_radio);
        match member.part {
            Part::Hop(_) => namespace.netlink()?.attach_xdp(name, &self.load(&PASS)?),
            _ => namespace.offload(name, Offload::Join, true),
        }
    }

    fn load(&self, program: &[u64]) -> Result<OwnedFd, PathError> {
        // A frame larger than Ethernet's may not fit a page.
        load_xdp(program, self.spec.mtu_bytes > ETHERNET_MTU_BYTES).map_err(PathError::Program)
    }

    fn addresses(&self) -> Result<Addresses, PathError> {
        let host = lease::PathEnd { namespace: self.host, interface: "host0" };
        let radio = lease::PathEnd { namespace: self.radio, interface: "radio0" };
        let mut nodes = self.members.iter().zip(self.namespaces).enumerate();
        let router = nodes.find(|(_, (member, _))| matches!(member.part, Part::Router(_)));
        give(radio, RadioPair::RADIO_ADDR)?;
        give(radio, RadioPair::SECOND_RADIO_ADDR)?;
        let by_dhcp = self.spec.addressing == Addressing::Dhcp;
        // The study's scenario I: a server on the same switch gives addresses.
        let outside =
            Pool { server: RadioPair::RADIO_ADDR, prefix_len: PREFIX, first: OUTSIDE_ROUTER, count: 1, router: None };
        let Some((index, (_, namespace))) = router else {
            let address = match by_dhcp {
                true => lease(radio, outside, host, hardware(0, true))?.address,
                false => give(host, RadioPair::HOST_ADDR)?,
            };
            return Ok(Addresses { host: address, host_gateway: None, router: None });
        };
        let router = lease::PathEnd { namespace, interface: "lan0" };
        let wan = lease::PathEnd { interface: "wan0", ..router };
        let outer = match self.spec.addressing {
            Addressing::Static => give(wan, OUTSIDE_ROUTER)?,
            Addressing::Outside | Addressing::Dhcp => lease(radio, outside, wan, hardware(index, true))?.address,
        };
        give(router, INSIDE_ROUTER)?;
        let inside = Pool { server: INSIDE_ROUTER, first: INSIDE_HOST, router: Some(INSIDE_ROUTER), ..outside };
        let address = match by_dhcp {
            true => lease(router, inside, host, hardware(0, true))?.address,
            false => {
                give(host, INSIDE_HOST)?;
                host.namespace.netlink()?.set_default_route(INSIDE_ROUTER)?;
                INSIDE_HOST
            }
        };
        Ok(Addresses { host: address, host_gateway: Some(INSIDE_ROUTER), router: Some([INSIDE_ROUTER, outer]) })
    }

    fn topology(&self, addresses: &Addresses) -> Topology {
        let count = self.members.len();
        let address = |index: usize, to_radio: bool| {
            let member = self.members.get(index)?;
            let address = match (&member.part, addresses.router) {
                (Part::End, _) if index == 0 => addresses.host,
                (Part::End, _) => RadioPair::RADIO_ADDR,
                (Part::Router(_), Some(sides)) => sides[usize::from(to_radio)],
                _ => return None,
            };
            Some(format!("{address}/{PREFIX}"))
        };
        let end = |index, to_radio| LinkEnd {
            interface: interface(index, count, to_radio).into(),
            address: address(index, to_radio),
        };
        let node =
            |member: &Member| Node { name: member.name.into(), kind: member.part.kind(), notes: member.part.notes() };
        let link = |index: usize| {
            let sides = [(index, 1), (index + 1, 0)];
            let limits = |(node, side): (usize, usize)| {
                let member = self.members.get(node)?;
                let modelled = match &member.part {
                    Part::Hop(model) => model.rate_bps,
                    _ => None,
                };
                modelled.or(self.spec.rate_bps.filter(|_| member.limits.get(side) == Some(&true)))
            };
            // Inside a device of two namespaces the model's port is not between them.
            let within = matches!(self.members.get(index + 1), Some(Member { part: Part::Router(_), .. }))
                && matches!(self.members.get(index), Some(Member { part: Part::Hop(..), .. }));
            let rate_bps = if within { None } else { sides.into_iter().filter_map(limits).min() };
            Link { ends: [end(index, true), end(index + 1, false)], rate_bps }
        };
        Topology {
            name: self.spec.name.to_string(),
            nodes: self.members.iter().map(node).collect(),
            links: (0..count - 1).map(link).collect(),
        }
    }
}

fn give(end: lease::PathEnd<'_>, address: Ipv4Addr) -> Result<Ipv4Addr, PathError> {
    end.namespace.netlink()?.add_address(end.interface, address, PREFIX)?;
    Ok(address)
}

fn bridge(namespace: &Namespace) -> Result<(), PathError> {
    let mut netlink = namespace.netlink()?;
    netlink.add_bridge("bridge0")?;
    for port in ["lan0", "wan0"] {
        netlink.enslave(port, "bridge0")?;
    }
    netlink.set_up("bridge0")
}
