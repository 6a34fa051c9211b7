//! Two cables in a network namespace of a test's own.

use std::process::Command;
use std::thread;

use takt_packet::link::{LinkPort, NOTE_BYTES};
use takt_path::hop::{HopOptions, LARGE_BUFFER_BYTES};
use takt_path::model::HopSpec;

/// Runs `work` on a thread in a new namespace with two cables, `a0`-`a1` and `b0`-`b1`.
pub fn between_two_cables(work: impl FnOnce() + Send + 'static) {
    let test = thread::current().name().unwrap_or_default().to_owned();
    // Named as the test, which a skip goes on record with.
    let inside = thread::Builder::new().name(test).spawn(|| {
        if let Err(error) = takt_host::namespace::unshare_network() {
            return takt_testing::skip(format_args!("{error}   (run as root)"));
        }
        let script = "for s in all default; do echo 1 > /proc/sys/net/ipv6/conf/$s/disable_ipv6; done; \
                      for c in a b; do ip link add ${c}0 type veth peer name ${c}1 && ip link set ${c}0 up && \
                      ip link set ${c}1 up || exit 1; done";
        // A child is born in its thread's namespace.
        match Command::new("sh").args(["-c", script]).status() {
            Ok(status) if status.success() => work(),
            failed => {
                takt_testing::skip(format_args!("two cables: {failed:?}   (apt-get install iproute2; modprobe veth)"));
            }
        }
    });
    inside.unwrap().join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

pub fn options(spec: HopSpec) -> HopOptions {
    HopOptions {
        spec,
        ports: ["a1".into(), "b1".into()],
        mtu_bytes: 1500,
        buffer_bytes: LARGE_BUFFER_BYTES,
        priority: None,
    }
}

pub fn port(name: &str) -> LinkPort {
    LinkPort::open(name, 64, 1514, 1 << 20).unwrap()
}

/// An empty note, then a frame of a type that nobody knows, with its number in it.
pub fn frame(number: u32, bytes: usize) -> Vec<u8> {
    let mut frame = vec![0; NOTE_BYTES];
    frame.extend([0xff; 6]);
    frame.extend([2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    frame.extend(number.to_be_bytes());
    frame.resize(NOTE_BYTES + bytes, 0);
    frame
}
