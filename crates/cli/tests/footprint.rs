//! `docs/reference/footprint.md` says which sockets others can reach: the table is compared with programs that run as they do by
//! themselves, each in a network of its own with one interface.

mod support;

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use support::{Ended, Place, TAKT};
use takt_testing::{skip, wait_for};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/footprint.md");
/// The interface beside loopback.
const OUTSIDE: &str = "10.97.7.1";
const NETWORK: &str = "ip link set lo up; ip link add near type veth peer name far; ip addr add 10.97.7.1/24 dev near; \
                       ip link set near up; ip link set far up";

/// One socket that waits for others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Socket {
    Udp(IpAddr, u16),
    Tcp(IpAddr, u16),
    Unix(String),
}

/// A row of the page.
#[derive(Debug)]
struct Row {
    socket: String,
    address: String,
    port: String,
}

/// The rows of a command.
fn rows(command: &str) -> Vec<Row> {
    let page = fs::read_to_string(PAGE).expect("the page");
    let (_, section) = page.split_once("## Sockets that others can reach").expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let of_command = section.lines().map(cells).filter(|cells| cells.get(1) == Some(&format!("`{command}`")));
    of_command
        .map(|cells| Row { socket: cells[2].clone(), address: cells[3].clone(), port: cells[4].clone() })
        .collect()
}

impl Row {
    fn is_about(&self, socket: &Socket, pid: u32) -> bool {
        match socket {
            Socket::Udp(address, port) => self.socket == "UDP" && self.has(*address, *port),
            Socket::Tcp(address, port) => self.socket == "TCP" && self.has(*address, *port),
            Socket::Unix(name) => {
                let uid = rustix::process::getuid().as_raw();
                let own = self.port.replace("UID", &uid.to_string()).replace("PID", &pid.to_string());
                // A socket with a path is bound in a folder that is known by its descriptor.
                let name = if name.starts_with('/') { name.rsplit('/').next().unwrap_or(name) } else { name };
                self.socket == "UNIX" && name == own
            }
        }
    }

    fn has(&self, address: IpAddr, port: u16) -> bool {
        let here = match self.address.as_str() {
            "each interface or 0.0.0.0" => [OUTSIDE, "0.0.0.0"].contains(&address.to_string().as_str()),
            one => one == address.to_string(),
        };
        here && self.ports(port)
    }

    /// `any`, or numbers and `N to N`.
    fn ports(&self, port: u16) -> bool {
        let range = |text: &str| {
            let (first, last) = text.split_once(" to ").unwrap_or((text, text));
            (first.parse().expect("a port")..=last.parse::<u16>().expect("a port")).contains(&port)
        };
        if self.port == "any" { port >= 1024 } else { self.port.split(", ").any(range) }
    }
}

/// The sockets of a process that others can send to.
fn sockets(pid: u32) -> HashSet<Socket> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").filter_map(Result::ok);
    let target = |link: fs::DirEntry| Some(fs::read_link(link.path()).ok()?.to_str()?.to_owned());
    let own: HashSet<String> = descriptors
        .filter_map(target)
        .filter_map(|name| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let table = |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}")).unwrap_or_default();
    let mut found = HashSet::new();
    for (name, listens, kind) in [
        ("udp", "07", Socket::Udp as fn(IpAddr, u16) -> Socket),
        ("udp6", "07", Socket::Udp),
        ("tcp", "0A", Socket::Tcp),
        ("tcp6", "0A", Socket::Tcp),
    ] {
        for line in table(name).lines().skip(1) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            if cells.get(3) == Some(&listens) && cells.get(9).is_some_and(|inode| own.contains(*inode)) {
                let (address, port) = cells[1].split_once(':').expect("an end");
                found.insert(kind(address_of(address), u16::from_str_radix(port, 16).expect("a port")));
            }
        }
    }
    for line in table("unix").lines().skip(1) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if let [_, _, _, flags, _, _, inode, name] = cells[..]
            && own.contains(inode)
            && flags == "00010000"
        {
            found.insert(Socket::Unix(name.trim_start_matches('@').to_owned()));
        }
    }
    found
}

/// As the kernel writes it: words as this processor has them.
fn address_of(hex: &str) -> IpAddr {
    let word = |at: usize| u32::from_str_radix(&hex[at..at + 8], 16).expect("a word").to_ne_bytes();
    if hex.len() == 8 {
        return Ipv4Addr::from(word(0)).into();
    }
    let bytes: Vec<u8> = (0..4).flat_map(|n| word(8 * n)).collect();
    Ipv6Addr::from(<[u8; 16]>::try_from(bytes).expect("sixteen bytes")).into()
}

/// takt in a network of its own, stopped when it is dropped.
struct Running(Child);

impl Running {
    /// Waits until it prints a line that begins so; `None`, on record, where no namespaces are.
    fn start(place: &Place, arguments: &[&str], ready: &str) -> Option<Running> {
        let namespace = ["--user", "--map-current-user", "--keep-caps", "--net"];
        let can = Command::new("unshare").args(namespace).args(["sh", "-ec", NETWORK]).output();
        if !can.as_ref().is_ok_and(|out| out.status.success()) {
            skip(format!("no network namespace can be prepared here: {can:?}   (iproute2, user namespaces)"));
            return None;
        }
        let script = format!("{NETWORK}\nexec \"$0\" \"$@\"");
        let mut command = place.call("unshare");
        command.args(namespace).args(["sh", "-ec", &script, TAKT]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("unshare");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let running = Running(child);
        assert!(lines.any(|line| line.starts_with(ready)), "{arguments:?} ended before it was ready");
        // Nobody reads the rest, and a closed pipe is no error.
        Some(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Each socket has a row, and each row its socket.
fn is_as_the_page_says(command: &str, place: &Place, arguments: &[&str], ready: &str) {
    let rows = rows(command);
    assert!(!rows.is_empty(), "the page has no row for {command}");
    let Some(running) = Running::start(place, arguments, ready) else { return };
    let pid = running.0.id();
    // Some are opened by threads, a moment after the program is ready.
    wait_for(&format!("a socket for each row of {command}"), || {
        let sockets = sockets(pid);
        rows.iter().all(|row| sockets.iter().any(|socket| row.is_about(socket, pid))).then_some(())
    });
    for socket in sockets(pid) {
        assert!(rows.iter().any(|row| row.is_about(&socket, pid)), "{command} has {socket:?}, and the page {rows:#?}");
    }
    for row in rows.iter().filter(|row| row.port != "any" && row.socket != "UNIX") {
        let numbers = (1..=u16::MAX).filter(|port| row.ports(*port));
        let address = row.address.parse::<IpAddr>().expect("an address");
        let open = sockets(pid);
        let kind = if row.socket == "TCP" { Socket::Tcp } else { Socket::Udp };
        let missing: Vec<u16> = numbers.filter(|port| !open.contains(&kind(address, *port))).collect();
        assert!(missing.is_empty(), "{command} at {address}: {missing:?}");
    }
}

#[test]
fn a_server_of_load_is_where_the_page_says() {
    let place = Place::with("here", "");
    is_as_the_page_says("udp serve", &place, &["udp", "serve"], "ready udp");
}

#[test]
fn emulated_radios_are_where_the_page_says() {
    let place = Place::with("here", "");
    is_as_the_page_says("emulate n200", &place, &["emulate", "n200"], "ready n200");
    is_as_the_page_says("emulate x310", &place, &["emulate", "x310"], "ready x310");
}

#[test]
fn a_waveform_that_runs_is_reached_where_the_page_says() {
    let place = Place::with("here", "");
    let waveform = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/utran.toml");
    let run = ["run", waveform, "--slot", "50ms", "--slots", "100000", "--policy", "other"];
    is_as_the_page_says("run", &place, &run, "utran");
}

#[cfg(feature = "cluster")]
#[test]
fn a_node_of_a_usual_folder_is_where_the_page_says() {
    let place = Place::with("here", "");
    let made = place.takt(&["node", "certificates", "--out", "cluster", "a"]);
    assert!(made.status.success(), "{}", support::report(&made));
    assert!(
        support::text(&made.stdout).contains("--samples ADDRESS"),
        "it says how others reach it: {}",
        support::report(&made)
    );
    is_as_the_page_says("node", &place, &["node", "--folder", "cluster/a"], "ready node");
}

#[cfg(feature = "serve")]
#[test]
fn the_live_page_is_where_the_page_says() {
    let place = Place::with("here", "");
    is_as_the_page_says("serve", &place, &["serve"], "ready http");
}

#[test]
fn a_server_of_load_says_that_it_is_on_loopback_alone() {
    for (more, says) in [(&[][..], true), (&["--addr", "127.0.0.1"], false)] {
        let mut command = Command::new(TAKT);
        command.args(["udp", "serve", "--port", "0"]).args(more);
        let (mut child, _, line) = Ended::ready(command.stderr(Stdio::piped()));
        assert!(line.starts_with("ready udp 127.0.0.1:"), "{line}");
        let mut errors = child.0.stderr.take().expect("piped");
        kill_process(Pid::from_child(&child.0), Signal::TERM).expect("it is ours");
        let mut notes = String::new();
        errors.read_to_string(&mut notes).expect("text");
        assert_eq!(notes.contains("--addr ADDRESS"), says, "{notes}");
    }
}
