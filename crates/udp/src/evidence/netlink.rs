//! Questions to the kernel's routing socket (rtnetlink(7)): which device a route uses, how long its packets may be, and
//! what its queueing discipline dropped.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType};

pub(super) struct Route {
    pub(super) device: String,
    pub(super) index: u32,
}

/// The device that datagrams to an address leave through.
pub(super) fn route(to: IpAddr) -> io::Result<Route> {
    let mut question = RouteMessage::default();
    let (family, destination, bits) = match to {
        IpAddr::V4(ip) => (AddressFamily::Inet, RouteAddress::Inet(ip), 32),
        IpAddr::V6(ip) => (AddressFamily::Inet6, RouteAddress::Inet6(ip), 128),
    };
    question.header.address_family = family;
    question.header.destination_prefix_length = bits;
    question.attributes = vec![RouteAttribute::Destination(destination)];
    let socket = socket()?;
    let mut index = None;
    ask(&socket, RouteNetlinkMessage::GetRoute(question), 0, &mut |answer| {
        if let RouteNetlinkMessage::NewRoute(route) = answer {
            index = route.attributes.iter().find_map(|a| match a {
                RouteAttribute::Oif(index) => Some(*index),
                _ => None,
            });
        }
    })?;
    let index = index.ok_or_else(|| io::Error::other("a route without a device"))?;
    let device = rustix::net::netdevice::index_to_name(&socket, index)?;
    Ok(Route { device, index })
}

pub(super) fn mtu(device: u32) -> io::Result<u32> {
    let mut question = LinkMessage::default();
    question.header.index = device;
    let mut mtu = None;
    ask(&socket()?, RouteNetlinkMessage::GetLink(question), 0, &mut |answer| {
        if let RouteNetlinkMessage::NewLink(link) = answer {
            mtu = link.attributes.iter().find_map(|a| if let LinkAttribute::Mtu(mtu) = a { Some(*mtu) } else { None });
        }
    })?;
    mtu.ok_or_else(|| io::Error::other("a device without an MTU"))
}

/// Frames that the root queueing discipline of each interface here dropped since it was installed, by name. An interface
/// without one (veth by default, lo) keeps no queue, drops nothing here and is not named.
///
/// # Errors
/// The kernel's answer.
pub fn queue_drops() -> io::Result<BTreeMap<String, u64>> {
    let (socket, mut drops, mut nameless) = (socket()?, BTreeMap::new(), None);
    ask(&socket, RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default()), NLM_F_DUMP, &mut |answer| {
        if let RouteNetlinkMessage::NewQueueDiscipline(queue) = answer
            && queue.header.parent == TcHandle::ROOT
            && let Some(dropped) = queue.attributes.iter().find_map(dropped)
        {
            match rustix::net::netdevice::index_to_name(&socket, queue.header.index.cast_unsigned()) {
                Ok(name) => _ = drops.insert(name, dropped),
                Err(error) => nameless = Some(error),
            }
        }
    })?;
    nameless.map_or(Ok(drops), |error| Err(error.into()))
}

fn dropped(attribute: &TcAttribute) -> Option<u64> {
    let TcAttribute::Stats2(stats) = attribute else { return None };
    stats.iter().find_map(|stat| match stat {
        TcStats2::Queue(queue) => Some(u64::from(queue.drops)),
        _ => None,
    })
}

fn socket() -> io::Result<OwnedFd> {
    let family = rustix::net::AddressFamily::NETLINK;
    Ok(rustix::net::socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, None)?)
}

/// Asks, and hands each message of the answer to `each`.
fn ask(
    socket: &OwnedFd,
    question: RouteNetlinkMessage,
    flags: u16,
    each: &mut dyn FnMut(RouteNetlinkMessage),
) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::from(question));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    rustix::net::sendto(socket, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut buffer = vec![0; 32 * 1024];
    loop {
        let (got, _) = rustix::net::recv(socket, &mut buffer, RecvFlags::empty())?;
        let mut rest = buffer.get(..got).unwrap_or_default();
        while !rest.is_empty() {
            let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest).map_err(io::Error::other)?;
            let length = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(length..).unwrap_or_default();
            match message.payload {
                NetlinkPayload::InnerMessage(inner) => each(inner),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => return Ok(()),
            }
        }
        if flags & NLM_F_DUMP == 0 {
            return Ok(());
        }
    }
}
