//! Options of a receive stream.

use std::time::Duration;

use takt_wire::sample::Format;

/// Options of a receive stream. Start from [`RxOptions::new`] and change what matters.
#[derive(Clone, Debug, PartialEq)]
pub struct RxOptions {
    /// Samples per second; only what the radio makes exactly.
    pub rate_sps: f64,
    /// The DSP behind each channel of the stream: 0 or 1.
    pub channels: Vec<u8>,
    /// On the wire.
    pub format: Format,
    /// Samples in a datagram; `None` = as many as the frame holds. Fewer cost more and come sooner.
    pub samples_per_datagram: Option<usize>,
    /// How long samples may lie in the socket so that one wake-up fetches many datagrams; 0 = wake up for each. At most a
    /// quarter of what the receive buffer holds is waited for.
    pub coalesce: Duration,
    /// Never sleep while samples are waited for: the thread asks again at once, under AF_XDP does the driver's work meanwhile,
    /// and takes a whole core. Nothing lies in the socket then, whatever `coalesce` says.
    pub busy_poll: bool,
    /// Receive buffer asked of the kernel for each channel, bytes; it grants at most `net.core.rmem_max`.
    pub recv_buffer_bytes: usize,
    /// Have the buffer granted beyond that limit where this process may (`CAP_NET_ADMIN`). A measurement of what an ordinary
    /// program gets must not.
    pub force_buffer: bool,
    /// Ask the kernel when each datagram arrived: for [`super::RxStreamer::last_arrival`]. Costs a tenth of a microsecond
    /// a datagram.
    pub stamps: bool,
    /// Let the kernel hand over runs of datagrams joined (UDP GRO), where the interface's driver joins them: cheaper, and a
    /// loss in the socket's buffer is then seen by the samples' times alone.
    pub aggregate: bool,
}

impl RxOptions {
    /// Buffer that UHD requests from the kernel for an N200, bytes: a second of 12.5 MS/s. Few hosts grant it as they
    /// come.
    pub const USUAL_BUFFER_BYTES: usize = 50_000_000;

    /// DSP 0, sc16, full datagrams, up to 1 ms of samples fetched at once, as much buffer as UHD asks for an N200, beyond the
    /// kernel's limit where that is permitted, no stamps, datagram by datagram.
    #[must_use]
    pub fn new(rate_sps: f64) -> RxOptions {
        RxOptions {
            rate_sps,
            channels: vec![0],
            format: Format::Sc16,
            samples_per_datagram: None,
            coalesce: Duration::from_millis(1),
            busy_poll: false,
            recv_buffer_bytes: RxOptions::USUAL_BUFFER_BYTES,
            force_buffer: true,
            stamps: false,
            aggregate: false,
        }
    }

    /// How long samples may lie in the socket.
    pub(crate) fn nap(&self) -> Duration {
        if self.busy_poll { Duration::ZERO } else { self.coalesce }
    }
}
