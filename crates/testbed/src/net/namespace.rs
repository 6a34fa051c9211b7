//! A named network namespace, as `ip netns` makes them.

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::mount::MountPropagationFlags;
use takt_host::call;
use takt_host::leftovers::{Leftover, Registration, Run};
use takt_host::namespace::{
    NAMED_DIR, NamespaceError, add_tap, enter_network, remove_named, set_forwarding, unshare_network,
};

use super::PathError;
use super::rtnetlink::Rtnetlink;

/// A network namespace that exists as long as this value: mounted at `/run/netns/NAME`, so that `ip netns` sees it.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    registration: Option<Registration>,
}

impl Namespace {
    /// Makes the namespace `takt-PID-LABEL` of `run`, with its loopback interface up.
    pub fn create(run: &Run, label: &str) -> Result<Namespace, PathError> {
        let name = run.name(label);
        let directory = Path::new(NAMED_DIR);
        prepare(directory)?;
        let file = directory.join(&name);
        if file.exists() {
            return Err(PathError::Taken { name });
        }
        let registered = run.will_create(Leftover::NetworkNamespace { name: name.clone() });
        let registration =
            registered.map_err(|source| PathError::Register { name: name.clone(), source: Box::new(source) })?;
        // From here on dropping takes away what there is of it.
        let namespace = Namespace { name, registration: Some(registration) };
        File::options().write(true).create_new(true).open(&file).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => PathError::NotPermitted,
            _ => PathError::file("making the mount point of namespace", &namespace.name)(source),
        })?;
        namespace.mount(&file)?;
        namespace.netlink()?.set_up("lo")?;
        Ok(namespace)
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that stands for it; `nsenter --net=FILE` and [`enter_network`] take it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        Path::new(NAMED_DIR).join(&self.name)
    }

    /// Calls `work` on a thread inside it. Sockets that it opens stay inside.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, PathError> {
        on_own_thread(|| enter_network(self.path()).map(|()| work())).map_err(|source| self.error(source))
    }

    pub fn netlink(&self) -> Result<Rtnetlink, PathError> {
        self.inside(Rtnetlink::open)?
    }

    /// Makes a tap interface in it. Its other end is the process that opens it by its name inside the namespace.
    pub fn add_tap(&self, tap: &str) -> Result<(), PathError> {
        let made = self.inside(|| add_tap(tap))?;
        made.map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound => PathError::Missing {
                what: "a virtual machine on a path",
                needs: "/dev/net/tun, open for writing",
                source,
            },
            _ => PathError::file("making a tap through /dev/net/tun in", &self.name)(source),
        })
    }

    /// Makes it a router: what is not for itself is passed on.
    pub fn set_forwarding(&self) -> Result<(), PathError> {
        self.inside(|| set_forwarding(true))?.map_err(PathError::file("setting net.ipv4.ip_forward of", &self.name))
    }

    /// A new namespace comes into being on a thread of its own, is mounted, and outlives the thread through the mount.
    fn mount(&self, file: &Path) -> Result<(), PathError> {
        on_own_thread(|| {
            unshare_network().map_err(|source| self.error(source))?;
            settle();
            rustix::mount::mount_bind("/proc/thread-self/ns/net", file)
                .map_err(|errno| PathError::file("mounting namespace", &self.name)(errno.into()))
        })
    }

    /// The namespace as an open file, for netlink requests.
    pub(super) fn open(&self) -> Result<File, PathError> {
        File::open(self.path()).map_err(PathError::file("opening namespace", &self.name))
    }

    fn error(&self, source: NamespaceError) -> PathError {
        match source {
            NamespaceError::NotPermitted => PathError::NotPermitted,
            source => PathError::Namespace { name: self.name.clone(), source },
        }
    }

    /// Connects it with `other` by a veth pair, brings both ends up and gives them addresses in one /24.
    pub(super) fn connect(
        &self,
        other: &Namespace,
        here: (&str, Ipv4Addr),
        there: (&str, Ipv4Addr),
    ) -> Result<(), PathError> {
        let mut netlink = self.netlink()?;
        netlink.add_veth(here.0, there.0, &other.open()?)?;
        let mut other_netlink = other.netlink()?;
        for (netlink, (name, address)) in [(&mut netlink, here), (&mut other_netlink, there)] {
            netlink.add_address(name, address, 24)?;
            netlink.set_up(name)?;
        }
        Ok(())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let removed = remove_named(&self.name).map_err(|error| error.to_string());
        let released = removed.and_then(|_| {
            self.registration.take().map_or(Ok(()), Registration::released).map_err(|error| error.to_string())
        });
        if let Err(error) = released {
            tracing::warn!(namespace = self.name, error, "left behind; {} removes it", call::sudo_takt("clean"));
        }
    }
}

/// Calls `work` on a thread made for it: a thread that enters a namespace, or is bound to CPUs, stays so.
pub(crate) fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// As `ip netns` prepares the directory: a shared mount, so that a namespace removed here is removed in every mount
/// namespace that saw it.
fn prepare(directory: &Path) -> Result<(), PathError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => PathError::NotPermitted,
        _ => PathError::file("preparing", directory.display())(source),
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

/// Router solicitations and address detection would put packets into the counters that nobody sent on purpose, and a
/// filter by return path, which the first namespace may have on, would drop what crosses a router that is not complete
/// yet. The settings belong to the new namespace alone; a kernel without IPv6 has no such file, and nothing to silence.
fn settle() {
    for scope in ["default", "all"] {
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"), "1");
        let _ = fs::write(format!("/proc/sys/net/ipv4/conf/{scope}/rp_filter"), "0");
    }
}
