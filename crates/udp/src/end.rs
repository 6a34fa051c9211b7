//! Parts that both ends share: constants of the conversation, and sending a control message.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};
use takt_host::placement::Placement;
use takt_packet::{Config, Engine, EngineError, PortIndex, PortSpec, Wait};

use super::error::UdpError;
use super::protocol::message::{MESSAGE_BYTES, Message};

/// An end that has received nothing from the other for so long takes it for gone, and stops sending.
pub(super) const SILENCE: Duration = Duration::from_secs(3);
/// An end that has received nothing for so long while no load is on its way forgets the other end, and its result. Longer
/// than [`SILENCE`]: a busy machine lets a thread stand still for seconds, and waiting harms nobody.
pub(super) const GONE: Duration = Duration::from_secs(10);
/// The server has one port.
pub(super) const PORT: PortIndex = PortIndex(0);
/// How often each end says that it is alive.
pub(super) const ALIVE_EVERY: Duration = Duration::from_millis(100);
/// How long an answer is waited for before the request is repeated.
pub(super) const ASK_EVERY: Duration = Duration::from_millis(200);
/// Traffic has stopped when nothing came for so long.
pub(super) const QUIET: Duration = Duration::from_millis(200);
/// How often an end looks for an instant at which nothing waits to be received; a stranger may see to it that there is none.
pub(super) const SETTLE_TRIES: usize = 16;
/// A sender begins so long after its round did, so that the other end is there.
pub(super) const HEAD_START: Duration = Duration::from_millis(20);

/// Until when all that came to an end has been read. Silence is judged by this and not by the clock: what waits in the
/// socket of an end that stood still is not missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadUntil(MonoNs);

impl ReadUntil {
    /// Nothing can have come before this instant.
    pub(super) fn begin(now: MonoNs) -> ReadUntil {
        ReadUntil(now)
    }

    /// A receive call that began at `began` and waited for `wait` returned at `now` with nothing.
    pub(super) fn found_nothing(&mut self, began: MonoNs, wait: Wait, now: MonoNs) {
        let until = match wait {
            Wait::Until(end) if end <= now => end,
            _ => began,
        };
        self.0 = self.0.max(until);
    }

    pub(super) fn found(&mut self, arrived: MonoNs) {
        self.0 = self.0.max(arrived);
    }

    pub(super) fn since(self, last: MonoNs) -> Duration {
        self.0.saturating_since(last)
    }
}

/// Does `work` on a thread of the scope, made for load: placed so, woken in time.
pub(super) fn spawn_for_load<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    placement: Placement,
    work: impl FnOnce() -> Result<T, UdpError> + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, Result<T, UdpError>>, UdpError> {
    let work = move || {
        takt_host::slack::set_timer_slack_ns(NonZeroU64::MIN);
        placement.place_self()?;
        work()
    };
    Builder::new().name(name.into()).spawn_scoped(scope, work).map_err(|source| UdpError::Thread { source })
}

/// The engine's configuration for either end: any payload fits, a server does not know which will come.
pub(super) fn config(ports: Vec<PortSpec>, buffer_bytes: usize, payload_bytes: usize) -> Config {
    Config {
        recv_buffer_bytes: buffer_bytes,
        send_buffer_bytes: buffer_bytes,
        max_payload_bytes: payload_bytes.max(MESSAGE_BYTES),
        ..Config::new(ports)
    }
}

/// Sends a control message. One that does not leave is as one that is lost: an end that needs an answer asks again.
pub(super) fn send_message(
    engine: &mut dyn Engine,
    port: PortIndex,
    to: Option<SocketAddr>,
    message: &Message<'_>,
) -> Result<(), EngineError> {
    let mut batch = engine.reserve(1);
    batch.push(port, to, |frame| message.write(frame));
    batch.send(Wait::Until(WallClock.now() + Duration::from_millis(10)))?;
    Ok(())
}

/// The kernel's number for this boot of this machine; zeros where it has none.
pub(super) fn boot_id() -> [u8; 16] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let hex: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&hex, 16).unwrap_or(0).to_be_bytes()
}
