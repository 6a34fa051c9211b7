//! Two ends of a cable: this process in one network namespace, and a thread of it in another, joined by a veth pair.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock};

const NEAR: Ipv4Addr = Ipv4Addr::new(10, 98, 0, 1);
/// Their hardware addresses.
pub const NEAR_MAC: [u8; 6] = [2, 0, 0, 0, 0x98, 1];
pub const FAR_MAC: [u8; 6] = [2, 0, 0, 0, 0x98, 2];
const FAR: Ipv4Addr = Ipv4Addr::new(10, 98, 0, 2);

type Job = Box<dyn FnOnce() + Send>;

/// The thread at the other end; none on loopback.
static THERE: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
/// The longest packet of the cable.
static MTU: OnceLock<usize> = OnceLock::new();

/// Whether this process has another end.
pub fn is_there() -> bool {
    THERE.get().is_some()
}

/// The address of this end.
pub fn near() -> Option<IpAddr> {
    is_there().then_some(NEAR.into())
}

/// The address of the other.
pub fn far() -> Option<IpAddr> {
    is_there().then_some(FAR.into())
}

/// The longest packet between the ends; none on loopback.
pub fn mtu() -> Option<usize> {
    MTU.get().copied()
}

/// Runs `job` at the other end, if there is one, and returns what it does. A socket stays where it was opened.
pub fn there<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> T {
    let Some(thread) = THERE.get() else { return job() };
    let (sender, receiver) = channel();
    let job = Box::new(move || drop(sender.send(job())));
    thread.lock().expect("no panic").send(job).expect("it listens");
    receiver.recv().expect("the job at the other end did not panic")
}

/// Runs `test` of this binary again as root in a network namespace of its own, one end of a cable; `true` inside it.
/// Outside `false`: the test is done, or skipped where that is not permitted.
pub fn over_a_cable(test: &str) -> bool {
    over_a_cable_of(1500, [""; 2], test)
}

/// The same, with four queues each way at this end, and one at the other: a veth runs no program that has fewer than its
/// peer sends by.
pub fn over_a_wide_cable(test: &str) -> bool {
    over_a_cable_of(1500, ["numrxqueues 4 numtxqueues 4", "numrxqueues 1 numtxqueues 1"], test)
}

/// The same with jumbo frames.
pub fn over_a_jumbo_cable(test: &str) -> bool {
    over_a_cable_of(9000, [""; 2], test)
}

/// The same, where the whole interface at this end is DPDK's by AF_XDP.
#[cfg(feature = "dpdk")]
pub fn over_a_cable_of_dpdks(test: &str) -> bool {
    in_a_namespace(test, || {
        lay(1500, [""; 2]);
        keep(super::DPDK_AF_XDP, NEAR, || ());
    })
}

/// The same over a tap: at this end DPDK's, a host of its own; at the other, in the same namespace, the kernel.
#[cfg(feature = "dpdk")]
pub fn over_a_tap(test: &str) -> bool {
    in_a_namespace(test, || {
        shell(
            "ip link set lo up; echo 1 > /proc/sys/net/ipv4/ip_nonlocal_bind; echo 0 > /proc/sys/net/ipv4/icmp_ratelimit",
        );
        keep(super::DPDK_TAP, Ipv4Addr::UNSPECIFIED, || {
            shell(&format!("ip addr add {FAR}/24 dev dtap0; ip link set dtap0 up"));
            shell("ethtool -K dtap0 tx off >/dev/null 2>&1 || true");
        });
        let (jobs, todo) = channel::<Job>();
        std::thread::spawn(move || todo.into_iter().for_each(|job| job()));
        stands(jobs, 1500);
    })
}

/// Holds a device of DPDK's until the process ends: a tap without an engine is gone, and DPDK 22.11 gives a queue back once. The
/// other end is `ready` once it is there; then each knows the other's hardware address.
#[cfg(feature = "dpdk")]
fn keep(kind: &str, address: Ipv4Addr, ready: impl FnOnce()) {
    let kind = kind.parse().expect("an engine");
    let ports = vec![takt_packet::PortSpec { bind: (address, 0).into(), peer: None }];
    let engine = takt_packet::open(kind, &takt_packet::Config::new(ports));
    let engine = Box::leak(engine.unwrap_or_else(|error| panic!("{kind}: {error} {error:?}")));
    ready();
    super::send_all(engine, Some((FAR, 9).into()), &[vec![0]]);
}

fn over_a_cable_of(mtu: usize, queues: [&str; 2], test: &str) -> bool {
    in_a_namespace(test, || lay(mtu, queues))
}

fn in_a_namespace(test: &str, lay: impl FnOnce()) -> bool {
    const MARK: &str = "TAKT_PACKET_TEST_CABLE";
    if std::env::var(MARK).as_deref() == Ok(test) {
        lay();
        return true;
    }
    if !Command::new("unshare").args(["--net", "true"]).output().is_ok_and(|out| out.status.success()) {
        takt_testing::skip("no network namespace without a user namespace, in which XDP works   (run as root)");
        return false;
    }
    let exe = std::env::current_exe().expect("this binary");
    // Records of its own: namespaces get the numbers of those that have ended, and interfaces here are all called alike.
    let records = std::env::temp_dir().join(format!("takt-test-{}-{test}", std::process::id()));
    let run = Command::new("unshare")
        .args(["--net", "--"])
        .arg(exe)
        .args(["--exact", test, "--nocapture"])
        .envs([(MARK, test.as_ref()), ("TAKT_RUN_DIR", records.as_os_str())])
        .output()
        .expect("it ran a moment ago");
    // There is none where no test made any.
    let _ = std::fs::remove_dir_all(records);
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "in the namespace, {}:\n{said}", run.status);
    assert!(said.contains("1 passed"), "the test is called {test}:\n{said}");
    false
}

/// A shell command in the namespace of the calling thread; it has to succeed.
pub fn shell(command: &str) {
    let out = Command::new("sh").args(["-ec", command]).output().expect("a shell");
    assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
}

fn lay(mtu: usize, [near, far]: [&str; 2]) {
    let (sender, receiver) = channel();
    std::thread::Builder::new().name("far".to_owned()).spawn(move || far_end(&sender)).expect("a thread");
    let (thread, jobs) = receiver.recv().expect("it reports its number");
    // Sums made by a device that is none would stay unfinished.
    shell(&format!(
        "ip link set lo up; ip link add near address 02:00:00:00:98:01 {near} type veth peer name far address 02:00:00:00:98:02 {far}; ip link set near mtu {mtu}; ip link set far mtu {mtu} netns {thread}; \
         ip addr add {NEAR}/24 dev near; ip link set near up; ethtool -K near tx off >/dev/null"
    ));
    stands(jobs, mtu);
    there(|| {
        shell(&format!(
            "ip link set lo up; ip addr add {FAR}/24 dev far; ip link set far up; ethtool -K far tx off >/dev/null; \
             echo 0 > /proc/sys/net/ipv4/icmp_ratelimit"
        ));
    });
}

/// From now on there is another end, which does these jobs.
fn stands(jobs: Sender<Job>, mtu: usize) {
    assert!(THERE.set(Mutex::new(jobs)).is_ok() && MTU.set(mtu).is_ok(), "one cable a process");
}

/// Runs jobs in a namespace of its own, until no sender of jobs is left.
fn far_end(sender: &Sender<(u32, Sender<Job>)>) {
    takt_host::namespace::unshare_network().expect("permitted a moment ago");
    let (jobs, todo): (_, Receiver<Job>) = channel();
    let thread = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
    sender.send((thread, jobs)).expect("it waits");
    for job in todo {
        job();
    }
}
