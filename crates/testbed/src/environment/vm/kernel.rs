//! The kernel that guests run.

use std::cmp::Reverse;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use takt_host::Host;
use takt_host::call::quoted;
use takt_host::dirs::state_dir;
use takt_host::distribution::Family;
use takt_host::trusted::{Trust, TrustedDir};

use super::super::EnvironmentError;

/// A kernel image and, if it is modular, its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    pub(super) image: PathBuf,
    pub(super) release: String,
    /// `lib/modules/RELEASE`; `None`: everything is taken to be built in.
    pub(super) modules: Option<PathBuf>,
}

/// Names an image, or the folder into which a kernel package was unpacked.
const VARIABLE: &str = "TAKT_VM_KERNEL";

impl Kernel {
    /// The kernel that `TAKT_VM_KERNEL` names, else the best that was unpacked for guests, else the best of this
    /// machine.
    pub(super) fn find() -> Result<Kernel, EnvironmentError> {
        let unpacked = unpacked();
        let folders = match env::var_os(VARIABLE).map(PathBuf::from) {
            Some(named) if named.is_file() => {
                let release = release_of(&named).unwrap_or_else(|| "named".into());
                return Ok(Kernel { image: named, release, modules: None });
            }
            Some(named) => vec![named],
            None => {
                // Guests execute what is in there.
                TrustedDir::find(&state_dir(), Trust::Own)?;
                vec![unpacked.clone(), PathBuf::from("/")]
            }
        };
        let running = rustix::system::uname().release().to_string_lossy().into_owned();
        let found = |readable| folders.iter().find_map(|folder| best(candidates(folder, readable), &running));
        found(true).ok_or_else(|| {
            let closed = found(false).map(|kernel| kernel.image);
            let looked = folders.iter().map(|folder| folder.join("boot/vmlinuz-*").display().to_string());
            let mut looked = looked.collect::<Vec<_>>().join(", ");
            // As Ubuntu installs its kernels.
            if let Some(image) = &closed {
                looked += &format!("; {} may be read by root alone", image.display());
            }
            EnvironmentError::NoKernel { looked, fix: fix(closed.as_deref(), Family::of(&Host::this()), &unpacked) }
        })
    }

    /// The command that brings one, by the packages of this distribution.
    pub(super) fn package() -> Option<String> {
        package(Family::of(&Host::this()), &unpacked())
    }

    pub(super) fn config(&self) -> Option<PathBuf> {
        let file = self.image.with_file_name(format!("config-{}", self.release));
        file.is_file().then_some(file)
    }
}

fn unpacked() -> PathBuf {
    state_dir().join("kernel")
}

/// Commands that open a `closed` image, or get another by the packages of this distribution, and the way to name one.
fn fix(closed: Option<&Path>, family: Family, folder: &Path) -> String {
    let open = |image: &Path| {
        format!("sudo chmod 0644 {}   (and again for each new kernel)", quoted(&image.to_string_lossy()))
    };
    let named = format!("set {VARIABLE}=FILE, to name an image of your own");
    [closed.map(open), package(family, folder), Some(named)].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The small kernel that Debian makes for guests is unpacked, not installed, so that this machine's boot loader never sees it.
/// Ubuntu and Fedora make none that comes in one piece.
fn package(family: Family, folder: &Path) -> Option<String> {
    match family {
        Family::Debian => Some(format!(
            "mkdir -p {folder} && cd /tmp && apt-get download $(apt-cache depends {DEBIAN} | sed -n 's/.*Depends: \
             \\(linux-image-.*\\)/\\1/p') && dpkg-deb -x linux-image-*-cloud-*.deb {folder}",
            folder = quoted(&folder.to_string_lossy())
        )),
        Family::Ubuntu => Some("sudo apt-get install linux-image-virtual && sudo chmod 0644 /boot/vmlinuz-*".into()),
        Family::Fedora => Some("sudo dnf install kernel-core".into()),
        Family::Other => None,
    }
}

const DEBIAN: &str = if cfg!(target_arch = "aarch64") { "linux-image-cloud-arm64" } else { "linux-image-cloud-amd64" };

/// Images of a root with their modules: those that this process may read, or those that it may not.
fn candidates(root: &Path, readable: bool) -> Vec<Kernel> {
    let entries = fs::read_dir(root.join("boot")).into_iter().flatten().flatten();
    let kernel = |image: PathBuf| {
        let release = release_of(&image)?;
        match File::open(&image) {
            Ok(_) if readable => {}
            Err(error) if !readable && error.kind() == io::ErrorKind::PermissionDenied => {}
            _ => return None,
        }
        let folders = ["lib/modules", "usr/lib/modules"].map(|folder| root.join(folder).join(&release));
        let modules = folders.into_iter().find(|folder| folder.join("kernel").is_dir());
        Some(Kernel { image, release, modules })
    };
    entries.map(|entry| entry.path()).filter_map(kernel).collect()
}

fn release_of(image: &Path) -> Option<String> {
    image.file_name()?.to_str()?.strip_prefix("vmlinuz-").map(str::to_owned)
}

/// One made for guests starts fastest; else the one that runs this machine, so that only the virtualisation differs;
/// else the newest. One without modules can't drive anything unless it was made for that.
fn best(mut kernels: Vec<Kernel>, running: &str) -> Option<Kernel> {
    kernels.retain(|kernel| kernel.modules.is_some());
    kernels.sort_by_key(|kernel| {
        let for_guests = ["cloud", "virtual", "kvm"].iter().any(|word| kernel.release.contains(word));
        Reverse((for_guests, kernel.release == running, numbers(&kernel.release)))
    });
    kernels.into_iter().next()
}

/// The numbers in a release, so that 6.10 is newer than 6.9.
fn numbers(release: &str) -> Vec<u64> {
    release.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(releases: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("boot")).unwrap();
        for release in releases {
            fs::write(dir.path().join("boot").join(format!("vmlinuz-{release}")), "").unwrap();
            fs::create_dir_all(dir.path().join("lib/modules").join(release).join("kernel")).unwrap();
        }
        fs::write(dir.path().join("boot/vmlinuz-9.9-without-modules"), "").unwrap();
        fs::write(dir.path().join("boot/config-1"), "").unwrap();
        dir
    }

    fn chosen(releases: &[&str], running: &str) -> Option<String> {
        best(candidates(root(releases).path(), true), running).map(|kernel| kernel.release)
    }

    #[test]
    fn made_for_guests_beats_running_beats_newest() {
        let all = ["6.9.0-amd64", "6.10.0-amd64", "6.1.0-amd64", "5.10.0-cloud-amd64"];
        assert_eq!(chosen(&all, "6.1.0-amd64").as_deref(), Some("5.10.0-cloud-amd64"));
        assert_eq!(chosen(&all[..3], "6.1.0-amd64").as_deref(), Some("6.1.0-amd64"));
        assert_eq!(chosen(&all[..3], "4.19").as_deref(), Some("6.10.0-amd64"));
        assert_eq!(chosen(&[], "6.1"), None, "one without modules is of no use");
    }

    #[test]
    fn a_kernel_for_root_alone_is_opened_first_and_packages_are_those_of_the_distribution() {
        let (image, folder) = (Path::new("/boot/vmlinuz-6.8.0-45-generic"), Path::new("/var/lib/takt/kernel"));
        let fix = |closed, family| fix(closed, family, folder).lines().map(str::to_owned).collect::<Vec<_>>();
        let named = "set TAKT_VM_KERNEL=FILE, to name an image of your own";
        let chmod = "sudo chmod 0644 /boot/vmlinuz-6.8.0-45-generic   (and again for each new kernel)";
        let ubuntu = "sudo apt-get install linux-image-virtual && sudo chmod 0644 /boot/vmlinuz-*";
        assert_eq!(fix(Some(image), Family::Ubuntu), [chmod, ubuntu, named]);
        assert_eq!(fix(None, Family::Fedora), ["sudo dnf install kernel-core", named]);
        assert_eq!(fix(None, Family::Other), [named]);
        assert!(fix(Some(image), Family::Debian)[1].contains("apt-cache depends linux-image-cloud-"));
    }

    #[test]
    fn the_fix_says_where_the_kernel_goes() {
        let fix = fix(None, Family::Debian, Path::new("/var/lib/takt/kernel"));
        assert!(fix.starts_with("mkdir -p /var/lib/takt/kernel && "), "dpkg-deb makes the last folder alone: {fix}");
        assert!(fix.contains("dpkg-deb -x linux-image-*-cloud-*.deb /var/lib/takt/kernel\n"), "{fix}");
    }
}
