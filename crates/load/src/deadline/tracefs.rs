//! An instance of tracefs for takt alone, so that no other tracing is touched.
//!
//! The file system is mounted for this process alone, nowhere. The instance is removed when this is dropped; one that a
//! killed process left is removed by the next.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// An instance that traces. Its stamps are of the monotonic clock.
#[derive(Debug)]
pub(super) struct Instance {
    folder: PathBuf,
    _mount: OwnedFd,
}

const NAME: &str = "takt-trace-";
static MADE: AtomicU32 = AtomicU32::new(0);

impl Instance {
    /// Traces these events (`sched/sched_switch`), so many kilobytes of them for each core, and those of `more` that this
    /// kernel has.
    ///
    /// # Errors
    /// This process may not trace, or this kernel lacks one of the events.
    pub(super) fn begin(events: &[&str], more: &[&str], buffer_kb: u32) -> io::Result<Instance> {
        let (mount, instances) = instances()?;
        remove_orphans(&instances);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = instances.join(format!("{NAME}{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        let instance = Instance { folder, _mount: mount };
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &buffer_kb.to_string())?;
        let switch_on = |event: &&str| instance.write(&format!("events/{event}/enable"), "1");
        events.iter().try_for_each(switch_on)?;
        // A kernel of another processor has other interrupts.
        more.iter().for_each(|event| drop(switch_on(event)));
        Ok(instance)
    }

    pub(super) fn stop(&self) -> io::Result<()> {
        self.write("tracing_on", "0")
    }

    /// Contents of a file of the buffers: `trace`, or `per_cpu/cpu0/trace`.
    pub(super) fn text(&self, file: &str) -> io::Result<String> {
        fs::read_to_string(self.folder.join(file))
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.folder.join(file), text)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // A folder that can't be removed now, the next trace removes.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// A mount of the file system, and its folder of instances as long as that is open.
fn instances() -> io::Result<(OwnedFd, PathBuf)> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    let folder = PathBuf::from(format!("/proc/self/fd/{}/instances", mount.as_raw_fd()));
    Ok((mount, folder))
}

/// Instances of processes that have ended.
fn remove_orphans(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.strip_prefix(NAME).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_taken_where_it_may_be_and_leaves_nothing() {
        match Instance::begin(&["sched/sched_switch"], &["no/such_event"], 64) {
            Ok(instance) => {
                instance.stop().unwrap();
                let folder = instance.folder.clone();
                assert!(["trace", "per_cpu/cpu0/trace"].iter().all(|file| instance.text(file).is_ok()));
                assert!(folder.exists());
                drop(instance);
                // The trace's own mount is closed.
                let (_mount, instances) = instances().unwrap();
                let name = folder.file_name().unwrap();
                assert!(instances.exists() && !instances.join(name).exists(), "{name:?}");
            }
            Err(error) => takt_testing::skip(format_args!("tracing: {error}   (run as root)")),
        }
    }
}
