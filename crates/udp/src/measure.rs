//! One end's counters around a round.

use std::net::IpAddr;

use takt_host::ReadError;
use takt_host::accounting::{Snapshot, Usage};
use takt_host::policy::policy;
use takt_packet::{Counters, DpdkDevice, Engine, FramePath};

use super::evidence::NetCounts;
use super::side::{EndCpu, EndEvidence, Received, Sent, Side};

/// How datagrams pass whose control messages alone the engine carries.
const GENERATED: &str = "made by the kernel's XDP";

/// Counters read before a round.
#[derive(Debug)]
pub(super) struct Measure {
    other_end: IpAddr,
    cpu: Snapshot,
    net: NetCounts,
    engine: Counters,
}

impl Measure {
    /// Reads them. Nothing may be sent or received between this and the round.
    pub(super) fn begin(engine: &dyn Engine, other_end: IpAddr) -> Result<Measure, ReadError> {
        let cpu = Snapshot::take()?;
        let net = NetCounts::read(other_end);
        Ok(Measure { other_end, cpu, net, engine: engine.counters() })
    }

    /// The kernel's counters as they are now. To be read when the round is over, and before its socket is found empty: then
    /// all that they count has been received, and what comes later is counted neither here nor there.
    pub(super) fn net(&self) -> NetCounts {
        NetCounts::read(self.other_end)
    }

    /// Reads the others again, and says what happened in between. `generated`: what was sent passed the engine by.
    pub(super) fn end(
        self,
        net: &NetCounts,
        engine: &dyn Engine,
        name: &str,
        generated: bool,
        sent: Option<Sent>,
        received: Option<Received>,
    ) -> Result<Side, ReadError> {
        let (now, was) = (engine.counters(), self.engine);
        let mut net = net.since(&self.net);
        let usage = Snapshot::take()?.since(&self.cpu);
        let undeliverable = now.undeliverable_datagrams - was.undeliverable_datagrams;
        let load_sent =
            sent.as_ref().filter(|_| !generated).map_or(0, |sent| sent.datagrams).saturating_sub(undeliverable);
        // Datagrams of load that were handed to us, for whatever they were.
        let load = |r: &Received| r.datagrams + r.duplicates + r.too_old + r.too_far + r.foreign;
        let load_received = received.as_ref().map_or(0, load);
        let limits = engine.limits();
        let drops = now.receive_buffer_drops.zip(was.receive_buffer_drops).map(|(now, was)| now - was);
        if let (FramePath::Dpdk { device: DpdkDevice::AfPacket, .. }, Some(udp)) = (limits.path, &mut net.udp) {
            // Its interface is the kernel's too, which drops a copy of each datagram at the port and counts it as an error.
            let copies = now.received_datagrams - was.received_datagrams + drops.unwrap_or(0);
            udp.in_errors = udp.in_errors.saturating_sub(copies);
        }
        let evidence = EndEvidence {
            engine: name.to_owned(),
            engine_path: if generated { GENERATED.to_owned() } else { limits.path.words().to_owned() },
            engine_choice: engine.choice().map(ToString::to_string),
            engine_queues: engine.queues().map(str::to_owned),
            recv_buffer_bytes: limits.recv_buffer_bytes,
            aggregates_sends: limits.aggregates_sends,
            aggregates_receives: limits.aggregates_receives,
            // The thread that asks carried the load.
            policy: policy(0).ok().map(|policy| policy.to_string()),
            busy_poll: limits.busy_poll,
            kernel_stamps: limits.stamps,
            receive_buffer_drops: drops,
            control_sent: (now.sent_datagrams - was.sent_datagrams).saturating_sub(load_sent),
            control_received: (now.received_datagrams - was.received_datagrams).saturating_sub(load_received),
            undeliverable,
            congested: now.congested_sends - was.congested_sends,
            foreign: received.as_ref().map_or(0, |received| received.foreign),
            send_calls: now.send_calls - was.send_calls,
            receive_calls: now.receive_calls - was.receive_calls,
            softnet_dropped: usage.softnet.map(|softnet| softnet.dropped_frames),
            net,
        };
        Ok(Side { sent, received, evidence, cpu: cpu(&usage) })
    }
}

fn cpu(usage: &Usage) -> EndCpu {
    let own = u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).ok();
    let thread = usage.process.threads.iter().find(|thread| Some(thread.tid) == own);
    let seconds = |ns: u64| ns as f64 / 1e9;
    let share = |ns: u64| ns as f64 / usage.machine.total_ns().max(1) as f64;
    EndCpu {
        wall_s: seconds(usage.wall_ns),
        process_s: seconds(usage.process.cpu_ns),
        thread_s: thread.map(|thread| seconds(thread.cpu_ns)),
        thread_system_s: thread.map(|thread| seconds(thread.system_ns)),
        machine_softirq_share: share(usage.machine.softirq_ns),
        machine_busy_share: share(usage.machine.busy_ns()),
        machine_cpus: usage.cpus.len(),
        foreign_s: seconds(usage.foreign_task_cpu_ns),
    }
}
