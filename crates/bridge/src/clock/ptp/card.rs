//! With stamps in hardware ptp4l disciplines the clock of a network card, and `phc2sys` brings the system clock to it. How well it
//! does is measured here.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::time::{DynamicClockId, clock_gettime_dynamic};

use super::PtpError;
use super::system::{ahead_by, real_ns};

/// Folder in which the kernel says which clock an interface has.
const INTERFACES: &str = "/sys/class/net";

/// A system clock that is farther from the card's is not brought to it by anybody.
const FAR_NS: u64 = 1_000_000;

/// How far the system clock is from where the card's clock has PTP's time at most; `ahead_s`: PTP's time less the system clock's.
pub(super) fn distance_ns(interface: &str, ahead_s: i64) -> Result<u64, PtpError> {
    let path = device(Path::new(INTERFACES), interface)?;
    let clock = |source: io::Error| PtpError::Card { path: path.clone(), source };
    let file = File::open(&path).map_err(clock)?;
    let mut failed = None;
    let card_ns = || match clock_gettime_dynamic(DynamicClockId::Dynamic(file.as_fd())) {
        Ok(time) => time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs(),
        Err(error) => {
            failed = Some(error);
            0
        }
    };
    let ahead = ahead_by(real_ns, card_ns);
    if let Some(error) = failed {
        return Err(clock(error.into()));
    }
    let apart_ns = ahead.ns.saturating_sub(ahead_s.saturating_mul(1_000_000_000));
    if apart_ns.unsigned_abs() > FAR_NS {
        return Err(PtpError::Apart { interface: interface.to_owned(), apart_ns });
    }
    Ok(apart_ns.unsigned_abs().saturating_add(ahead.bound_ns))
}

/// The clock of an interface's card.
fn device(interfaces: &Path, interface: &str) -> Result<PathBuf, PtpError> {
    let none = || PtpError::NoCard { interface: interface.to_owned() };
    // The word of ptp4l is a name, and no way to somewhere else.
    let named = Some(interface).filter(|name| !name.contains('/') && !name.starts_with('.'));
    let clocks = interfaces.join(named.ok_or_else(none)?).join("device/ptp");
    let mut entries = fs::read_dir(clocks).map_err(|_| none())?;
    let entry = entries.find_map(Result::ok).ok_or_else(none)?;
    Ok(Path::new("/dev").join(entry.file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_an_interface_is_the_one_that_the_kernel_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("eth0/device/ptp/ptp3")).unwrap();
        fs::create_dir_all(folder.path().join("veth")).unwrap();
        assert_eq!(device(folder.path(), "eth0").unwrap(), Path::new("/dev/ptp3"));
        for none in ["veth", "eth1", "", "../eth0", "..", "eth0/../eth0"] {
            assert!(matches!(device(folder.path(), none), Err(PtpError::NoCard { .. })), "{none}");
        }
    }
}
