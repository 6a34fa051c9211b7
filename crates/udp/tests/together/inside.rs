//! Tests that run again inside namespaces of their own, and what they need there.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use takt_base::Stop;
use takt_host::namespace::enter_network;
use takt_udp::{Notice, ServeOptions, ServeSummary, UdpOptions, UdpReport, run, serve};

/// Client 10.1.0.1 (c0) - r0 10.1.0.2 router 10.2.0.1 r1 - s0 10.2.0.2 server. Neighbours are known, so that nothing but
/// load and its control crosses.
pub const ROUTED: &str = "
mount -t tmpfs none /run && mkdir -p /run/netns && ip netns add router && ip netns add server
quiet() { $1 sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1; $1 ip link set lo up; }
quiet ''; quiet 'ip netns exec router'; quiet 'ip netns exec server'
ip link add c0 address 02:00:00:00:00:01 type veth peer name r0 address 02:00:00:00:00:02 netns router
ip -n router link add r1 address 02:00:00:00:00:03 type veth peer name s0 address 02:00:00:00:00:04 netns server
ip addr add 10.1.0.1/24 dev c0; ip link set c0 up; ip -n router addr add 10.1.0.2/24 dev r0; ip -n router link set r0 up
ip -n router addr add 10.2.0.1/24 dev r1; ip -n router link set r1 up
ip -n server addr add 10.2.0.2/24 dev s0; ip -n server link set s0 up
ip route add 10.2.0.0/24 via 10.1.0.2; ip -n server route add 10.1.0.0/24 via 10.2.0.1
ip netns exec router sysctl -qw net.ipv4.ip_forward=1
ip neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev c0 nud permanent
ip -n router neigh add 10.1.0.1 lladdr 02:00:00:00:00:01 dev r0 nud permanent
ip -n router neigh add 10.2.0.2 lladdr 02:00:00:00:00:04 dev r1 nud permanent
ip -n server neigh add 10.2.0.1 lladdr 02:00:00:00:00:03 dev s0 nud permanent
";

/// Client 10.1.0.1 (c0) - s0 10.1.0.2 server.
pub const CABLE: &str = "
mount -t tmpfs none /run && mkdir -p /run/netns && ip netns add server
ip link set lo up; ip link add c0 type veth peer name s0 netns server
ip addr add 10.1.0.1/24 dev c0; ip link set c0 up; ip -n server addr add 10.1.0.2/24 dev s0; ip -n server link set s0 up
ethtool -K c0 tx off >/dev/null; ip netns exec server ethtool -K s0 tx off >/dev/null
";

/// Runs `test` of this binary again in namespaces prepared by `setup` (a shell script); `true` inside.
pub fn inside(test: &str, setup: &str) -> bool {
    inside_with(&["--user", "--map-root-user", "--net", "--mount"], test, setup)
}

/// The same with the rights of this process: XDP knows none of a user namespace.
pub fn inside_as_root(test: &str, setup: &str) -> bool {
    inside_with(&["--net", "--mount"], test, setup)
}

fn inside_with(namespaces: &[&str], test: &str, setup: &str) -> bool {
    const MARK: &str = "TAKT_LAB_TEST_INSIDE";
    const READY: &str = "the namespaces are ready";
    if std::env::var(MARK).as_deref() == Ok(test) {
        return true;
    }
    let script = format!("{setup}\necho {READY}\nexec \"$0\" --exact {test} --nocapture");
    let mut command = Command::new("unshare");
    command.args(namespaces).args(["sh", "-exc", &script]);
    command.arg(std::env::current_exe().expect("this binary")).env(MARK, test);
    let run = match command.output() {
        Ok(run) => run,
        Err(error) => {
            takt_testing::skip(format_args!("unshare(1): {error}   (apt-get install util-linux)"));
            return false;
        }
    };
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    if !said.lines().any(|line| line == READY) {
        takt_testing::skip(format_args!("no such path can be built here: {said}"));
        return false;
    }
    assert!(run.status.success() && said.contains("1 passed"), "{test} inside, {}:\n{said}", run.status);
    false
}

/// Whether other people's programs are there; the test is skipped where they are not.
#[track_caller]
pub fn have(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| Command::new(program).arg("--version").output().is_err());
    if let Some(missing) = missing {
        takt_testing::skip(format_args!("{missing} is not installed   (apt-get install {missing})"));
    }
    missing.is_none()
}

/// Requests a stop when dropped, also when an assertion fails.
pub struct StopOnDrop(pub Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// Runs `work` beside a server in namespace `server`, or here, with the server's address and its notices as they come.
/// Returns the notices that `work` does not take as well.
pub fn beside<T>(
    namespace: Option<&'static str>,
    options: ServeOptions,
    work: impl FnOnce(SocketAddr, &mpsc::Receiver<Notice>) -> T,
) -> (T, ServeSummary, Vec<Notice>) {
    let (stop, (notices, received)) = (Stop::new(), mpsc::channel());
    let server = thread::spawn({
        let stop = stop.clone();
        move || {
            if let Some(name) = namespace {
                enter_network(format!("/run/netns/{name}")).expect("it was made");
            }
            let mut notice = |notice| notices.send(notice).expect("the test receives them");
            serve(&options, &mut notice, &stop).expect("it serves")
        }
    });
    let Ok(Notice::Ready(at)) = received.recv() else { panic!("a server says first where it is") };
    let result = {
        let _when_done = StopOnDrop(stop);
        work(at, &received)
    };
    (result, server.join().expect("in good order"), received.into_iter().collect())
}

/// As [`beside`], for `work` that needs no more than the server's address.
pub fn beside_server<T>(namespace: Option<&'static str>, at: &str, work: impl FnOnce(SocketAddr) -> T) -> T {
    beside(namespace, ServeOptions::at(at.parse().expect("an address")), |at, _| work(at)).0
}

/// One load; what it says adds up.
pub fn load(options: &UdpOptions) -> UdpReport {
    let report = run(options, &mut |_| {}, &Stop::new()).expect("the server is there");
    assert_eq!(report.way.lost.by_place.sum() + report.way.lost.unplaced, report.way.lost.total);
    assert_eq!(report.way.sent.datagrams, report.way.received.datagrams + report.way.lost.total);
    report
}
