//! What queues dropped, which `/proc/net/dev` does not say: the kernel answers through netlink.

use std::collections::BTreeMap;
use std::io;

use netlink_packet_core::{NLM_F_DUMP, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2};
use rustix::net::RecvFlags;

use super::PathError;
use super::rtnetlink::Rtnetlink;

impl Rtnetlink {
    /// Frames that the root queue of each interface has dropped since it was installed, by the interface's number. An
    /// interface without a queue of its own (veth without a rate) drops none there and is not named.
    pub fn queue_drops(&mut self) -> Result<BTreeMap<i32, u64>, PathError> {
        self.dump_queues().map_err(|source| PathError::Netlink { what: "counters of queues".into(), source })
    }

    fn dump_queues(&mut self) -> io::Result<BTreeMap<i32, u64>> {
        self.send(RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default()), NLM_F_DUMP)?;
        let (mut drops, mut buffer) = (BTreeMap::new(), vec![0; 32 * 1024]);
        loop {
            let (got, _) = rustix::net::recv(&self.socket, &mut buffer, RecvFlags::empty())?;
            let mut rest = buffer.get(..got).unwrap_or_default();
            while !rest.is_empty() {
                let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest).map_err(io::Error::other)?;
                let length = (message.header.length as usize).next_multiple_of(4);
                rest = rest.get(length..).unwrap_or_default();
                match message.payload {
                    NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewQueueDiscipline(queue)) => {
                        let dropped = queue.attributes.iter().find_map(dropped);
                        if let Some(dropped) = dropped.filter(|_| queue.header.parent == TcHandle::ROOT) {
                            drops.insert(queue.header.index, dropped);
                        }
                    }
                    NetlinkPayload::InnerMessage(_) => {}
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    _ => return Ok(drops),
                }
            }
        }
    }
}

fn dropped(attribute: &TcAttribute) -> Option<u64> {
    let TcAttribute::Stats2(stats) = attribute else { return None };
    stats.iter().find_map(|stat| match stat {
        TcStats2::Queue(queue) => Some(u64::from(queue.drops)),
        _ => None,
    })
}
