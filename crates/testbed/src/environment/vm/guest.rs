//! The guest's side: the agent as first process, before which there is nothing: no file systems, no drivers, no
//! network.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, init_module, reboot};
use serde::{Deserialize, Serialize};
use takt_agent::{Failure, ServeError};

use crate::net::{PathEnd, PathError, Rtnetlink};

pub(super) const PROGRAM: &str = "/takt";
/// The [`Orders`], as JSON.
pub(super) const ORDERS: &str = "/orders.json";
/// The virtio-serial port on which it speaks.
pub(super) const PORT: &str = "takt.agent";
/// The virtio-serial port of a shell.
pub(super) const SHELL_PORT: &str = "takt.shell";
/// The shell, and where it finds programs.
pub(super) const SHELL: &str = "/bin/sh";
/// The path's end: the only network device of a guest.
pub(super) const INTERFACE: &str = "eth0";

/// Orders for the first process of a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Orders {
    /// Kernel modules, in the order in which they are to be loaded.
    pub(super) modules: Vec<String>,
    pub(super) link: Option<Link>,
    /// Whether the guest is to have a shell.
    pub(super) shell: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) address: Ipv4Addr,
    pub(super) prefix_len: u8,
    pub(super) gateway: Option<Ipv4Addr>,
    pub(super) mtu_bytes: u32,
}

impl Link {
    pub(super) fn of(end: &PathEnd) -> Link {
        let PathEnd { address, prefix_len, gateway, mtu_bytes, .. } = *end;
        Link { address, prefix_len, gateway, mtu_bytes }
    }
}

/// Why a guest could not be made ready. It is written to the console, whose last lines the lab shows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuestError {
    /// This is no guest of takt's.
    #[error("only the first process of a virtual machine may do this")]
    NotFirst,
    #[error("{what} {name} failed")]
    System { what: &'static str, name: String, source: io::Error },
    #[error("the guest can't set up its interface")]
    Path(#[from] PathError),
    #[error("the guest's agent failed")]
    Serve(#[from] ServeError),
}

/// Makes the guest ready, serves until the lab has gone, then ends the guest. Returns only where it is refused: outside
/// of a guest.
///
/// `serve`: what an agent does, as [`serve`](crate::serve) says it; it ends the guest if the lab is gone.
///
/// # Errors
/// [`GuestError::NotFirst`]; anything else ends the guest with a line on its console.
pub fn serve_guest(orders: &Path, serve: Serve) -> Result<(), GuestError> {
    if std::process::id() != 1 || !orders.starts_with(ORDERS) {
        return Err(GuestError::NotFirst);
    }
    let served = make_ready(orders).and_then(|()| speak(serve));
    if let Err(error) = served {
        let chain = Failure::of(&error, None).chain.join(": ");
        let _ = fs::write(CONSOLE, format!("takt guest: {chain}\n"));
    }
    end();
    Ok(())
}

/// QEMU ends at a restart (`-no-reboot`).
fn end() {
    let _ = reboot(RebootCommand::Restart);
}

fn make_ready(orders: &Path) -> Result<(), GuestError> {
    for (kind, at) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp")] {
        mount(kind, at, kind, MountFlags::empty(), None).map_err(|errno| system("mounting", at, errno.into()))?;
    }
    mount_control_groups()?;
    let text = fs::read(orders).map_err(|source| system("reading", ORDERS, source))?;
    let orders: Orders = serde_json::from_slice(&text).map_err(|error| system("reading", ORDERS, error.into()))?;
    for module in &orders.modules {
        load(module).map_err(|source| system("loading", module, source))?;
    }
    let mut netlink = Rtnetlink::open()?;
    netlink.set_up("lo")?;
    if let Some(Link { address, prefix_len, gateway, mtu_bytes }) = orders.link {
        netlink.set_mtu(INTERFACE, mtu_bytes)?;
        netlink.set_single(INTERFACE)?;
        netlink.add_address(INTERFACE, address, prefix_len)?;
        netlink.set_up(INTERFACE)?;
        gateway.map_or(Ok(()), |gateway| netlink.set_default_route(gateway))?;
    }
    if orders.shell {
        let port = port(SHELL_PORT)?;
        thread::spawn(move || shell(&port));
    }
    Ok(())
}

/// One tree for all, as on a current host; a kernel without control groups has no such folder.
fn mount_control_groups() -> Result<(), GuestError> {
    const AT: &str = "/sys/fs/cgroup";
    if !Path::new(AT).is_dir() {
        return Ok(());
    }
    mount("cgroup2", AT, "cgroup2", MountFlags::empty(), None).map_err(|errno| system("mounting", AT, errno.into()))
}

/// A shell whose terminal is the far end of the port; the guest ends with it.
fn shell(port: &Path) {
    let run = || -> io::Result<()> {
        let mut input = File::options().read(true).write(true).open(port)?;
        // Writing waits until a reader has connected; reading would find the end of the input before.
        input.write_all(b"a shell in the guest; the guest ends with it\n")?;
        let (output, errors) = (input.try_clone()?, input.try_clone()?);
        let mut command = Command::new(SHELL);
        command.arg("-i").env("PATH", "/bin").stdin(input).stdout(output).stderr(errors);
        command.status().map(|_| ())
    };
    if let Err(error) = run() {
        let _ = fs::write(CONSOLE, format!("takt guest: {SHELL}: {error}\n"));
    }
    end();
}

fn load(module: &str) -> io::Result<()> {
    match init_module(&fs::read(module)?, c"") {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// The device of the port of our name, once the kernel has found it.
fn port(wanted: &str) -> Result<PathBuf, GuestError> {
    let ours = |entry: &fs::DirEntry| {
        let name = fs::read_to_string(entry.path().join("name"));
        name.is_ok_and(|name| name.trim() == wanted)
    };
    let begun = Instant::now();
    loop {
        let ports = fs::read_dir("/sys/class/virtio-ports").into_iter().flatten().flatten();
        let device = ports.into_iter().find(ours).map(|entry| Path::new("/dev").join(entry.file_name()));
        if let Some(device) = device.filter(|device| device.exists()) {
            return Ok(device);
        }
        if begun.elapsed() > PATIENCE {
            return Err(system("waiting for port", wanted, io::ErrorKind::TimedOut.into()));
        }
        thread::sleep(LOOK);
    }
}

fn speak(serve: Serve) -> Result<(), GuestError> {
    let open = |path: &Path| File::options().read(true).write(true).open(path);
    let file = open(&port(PORT)?).map_err(|source| system("opening", PORT, source))?;
    let input = file.try_clone().map_err(|source| system("opening", PORT, source))?;
    Ok(serve(BufReader::new(GuestLine { port: input, received: false }), file, end)?)
}

/// Duties of an agent, answered over a line; the last is what to do when nobody reads any more.
type Serve = fn(BufReader<GuestLine>, File, fn()) -> Result<(), ServeError>;

/// The lab's requests. Until the lab has connected, a read of the port finds the end of the input at once.
#[derive(Debug)]
pub struct GuestLine {
    port: File,
    received: bool,
}

impl Read for GuestLine {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let begun = Instant::now();
        loop {
            let got = self.port.read(buffer)?;
            self.received |= got > 0;
            if got > 0 || self.received || begun.elapsed() > PATIENCE {
                return Ok(got);
            }
            thread::sleep(LOOK);
        }
    }
}

fn system(what: &'static str, name: &str, source: io::Error) -> GuestError {
    GuestError::System { what, name: name.to_owned(), source }
}

/// The lab looks there when no agent answers.
const CONSOLE: &str = "/dev/console";
/// How long a device may take to appear, and the lab to connect.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_back_as_they_were_written() {
        let link = Link { address: Ipv4Addr::new(192, 168, 10, 1), prefix_len: 24, gateway: None, mtu_bytes: 9000 };
        let orders = Orders { modules: vec!["/modules/virtio.ko".into()], link: Some(link), shell: true };
        let text = serde_json::to_vec(&orders).unwrap();
        assert_eq!(serde_json::from_slice::<Orders>(&text).unwrap(), orders);
    }

    #[test]
    fn outside_of_a_guest_nothing_is_mounted_and_nothing_restarted() {
        assert!(matches!(serve_guest(Path::new(ORDERS), crate::serve), Err(GuestError::NotFirst)));
    }
}
