//! A named network namespace, as `ip netns` makes them.

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::mount::{MountPropagationFlags, UnmountFlags};
use takt_host::namespace::{NamespaceError, enter_network, unshare_network};

use super::PathError;
use super::rtnetlink::Rtnetlink;

/// A network namespace that exists as long as this value: mounted at `/run/netns/NAME`, so that `ip netns` sees it.
#[derive(Debug)]
pub struct Namespace {
    name: String,
}

impl Namespace {
    /// Makes a namespace called `name`, with its loopback interface up.
    ///
    /// # Errors
    /// No permission, or the name is taken.
    pub fn create(name: &str) -> Result<Namespace, PathError> {
        let directory = Path::new(DIRECTORY);
        prepare(directory)?;
        let file = directory.join(name);
        let failed = |what| move |source| PathError::File { what, name: name.into(), source };
        File::options().write(true).create_new(true).open(&file).map_err(refused).map_err(|e| match e {
            Refused::NotPermitted => PathError::NotPermitted,
            Refused::Other(source) => failed("making the mount point of namespace")(source),
        })?;
        // From here on the file exists and dropping takes it away again.
        let namespace = Namespace { name: name.into() };
        namespace.mount(&file)?;
        namespace.inside(Rtnetlink::open)??.set_up("lo")?;
        Ok(namespace)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that stands for it; `nsenter --net=FILE` and [`enter_network`] take it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        Path::new(DIRECTORY).join(&self.name)
    }

    /// Calls `work` on a thread inside it. What it opens (sockets) stays inside.
    ///
    /// # Errors
    /// The namespace can't be entered.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, PathError> {
        let entered = thread::scope(|scope| {
            let worker = scope.spawn(|| enter_network(self.path()).map(|()| work()));
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        entered.map_err(|source| self.error(source))
    }

    /// A new namespace comes into being on a thread of its own, is mounted, and outlives the thread through the mount.
    fn mount(&self, file: &Path) -> Result<(), PathError> {
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                unshare_network().map_err(|source| self.error(source))?;
                quiet_ipv6();
                rustix::mount::mount_bind("/proc/thread-self/ns/net", file).map_err(|errno| PathError::File {
                    what: "mounting namespace",
                    name: self.name.clone(),
                    source: errno.into(),
                })
            });
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn error(&self, source: NamespaceError) -> PathError {
        match source {
            NamespaceError::NotPermitted => PathError::NotPermitted,
            source => PathError::Namespace { name: self.name.clone(), source },
        }
    }

    /// Connects it with `other` by a veth pair, brings both ends up and gives them addresses in one /24.
    ///
    /// # Errors
    /// A name or address is taken, or the kernel has no veth.
    pub(super) fn connect(
        &self,
        other: &Namespace,
        here: (&str, Ipv4Addr),
        there: (&str, Ipv4Addr),
    ) -> Result<(), PathError> {
        let peer_in = File::open(other.path()).map_err(|source| PathError::File {
            what: "opening namespace",
            name: other.name.clone(),
            source,
        })?;
        let mut netlink = self.inside(Rtnetlink::open)??;
        netlink.add_veth(here.0, there.0, &peer_in)?;
        let mut other_netlink = other.inside(Rtnetlink::open)??;
        for (netlink, (name, address)) in [(&mut netlink, here), (&mut other_netlink, there)] {
            netlink.add_address(name, address, 24)?;
            netlink.set_up(name)?;
        }
        Ok(())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let file = self.path();
        // Lazily: a child that has not ended yet keeps the namespace, not its name. Not mounted: nothing to take off.
        let _ = rustix::mount::unmount(&file, UnmountFlags::DETACH);
        if let Err(error) = fs::remove_file(&file) {
            tracing::warn!(namespace = self.name, %error, "left behind; takt clean removes it");
        }
    }
}

/// Where named namespaces live (ip-netns(8)).
const DIRECTORY: &str = "/run/netns";

/// As `ip netns` prepares the directory: a shared mount, so that a namespace removed here is removed in every mount
/// namespace that saw it.
fn prepare(directory: &Path) -> Result<(), PathError> {
    let failed = |source: io::Error| match refused(source) {
        Refused::NotPermitted => PathError::NotPermitted,
        Refused::Other(source) => PathError::File { what: "preparing", name: directory.display().to_string(), source },
    };
    fs::create_dir_all(directory).map_err(failed)?;
    let share = || rustix::mount::mount_change(directory, MountPropagationFlags::SHARED | MountPropagationFlags::REC);
    match share() {
        // It is no mount point yet.
        Err(rustix::io::Errno::INVAL) => {
            rustix::mount::mount_bind_recursive(directory, directory).map_err(|e| failed(e.into()))?;
            share().map_err(|e| failed(e.into()))
        }
        done => done.map_err(|e| failed(e.into())),
    }
}

enum Refused {
    NotPermitted,
    Other(io::Error),
}

fn refused(source: io::Error) -> Refused {
    match source.kind() {
        io::ErrorKind::PermissionDenied => Refused::NotPermitted,
        _ => Refused::Other(source),
    }
}

/// Router solicitations and address detection would put packets into the counters that nobody sent on purpose. The
/// setting belongs to the new namespace alone; a kernel without IPv6 has no such file, and nothing to silence.
fn quiet_ipv6() {
    for scope in ["default", "all"] {
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"), "1");
    }
}
