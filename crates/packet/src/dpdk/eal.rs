//! DPDK's environment, once a process: in memory only (no files, no sockets), on no core of its own, silent.
//!
//! * **Huge pages** if 64 MiB of them are free when it starts; else ordinary ones, 128 MiB that are taken as they are used.
//! * **The PCI bus** is looked at only if the first engine of the process wants a card.
//! * It starts on a thread that then ends, since DPDK moves the thread it starts on to a core. One thread of DPDK's stays, and
//!   sleeps: it would handle a card's interrupts.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int};
use std::sync::OnceLock;

use crate::Missing;

/// So much has to be free in huge pages.
const HUGE_BYTES: u64 = 64 << 20;
/// MiB of ordinary pages, from which everything is taken where there are no huge ones.
const ORDINARY_MIB: u32 = 128;

unsafe extern "C" {
    fn takt_dpdk_start(count: c_int, arguments: *mut *mut c_char) -> c_int;
    fn takt_dpdk_log(into: *mut c_char, room: usize);
}

/// How it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) huge_pages: bool,
    pci: bool,
}

static STARTED: OnceLock<Result<Started, String>> = OnceLock::new();

/// Starts it, if it is not started yet.
pub(super) fn start(pci: bool) -> Result<Started, Missing> {
    let begin = || {
        let how = Started { huge_pages: free_huge_bytes() >= HUGE_BYTES, pci };
        let run = move || {
            // Files that DPDK keeps open must not keep the caller's network namespace, whose owner may want to remove
            // it.
            let _same_one = takt_host::namespace::enter_network("/proc/self/ns/net");
            init(arguments(how))
        };
        let thread = std::thread::Builder::new().name("dpdk-start".to_owned()).spawn(run);
        thread.map_err(|error| error.to_string())?.join().map_err(|_| "its thread ended".to_owned())??;
        Ok(how)
    };
    if pci && STARTED.get().is_none() {
        let free = free_huge_bytes();
        if free < HUGE_BYTES {
            return Err(Missing::HugePages { free_mib: free >> 20 });
        }
    }
    match STARTED.get_or_init(begin) {
        Ok(started) if pci && !started.pci => Err(Missing::DpdkPci),
        Ok(started) => Ok(*started),
        Err(why) => Err(Missing::DpdkStart { why: why.clone() }),
    }
}

fn arguments(how: Started) -> Vec<String> {
    let core = takt_host::affinity::own_cpus().first().copied().unwrap_or(0);
    let mut arguments: Vec<String> = ["takt", "--no-telemetry", "--log-level=error"].map(str::to_owned).into();
    // Name of a folder that DPDK makes, and the shim removes.
    arguments.push(format!("--file-prefix=takt-{}", std::process::id()));
    arguments.push(format!("--lcores=0@{core}"));
    if how.pci {
        // A device that no driver takes: all others wait until they are plugged in.
        arguments.push("--allow=0000:00:00.0".to_owned());
    } else {
        arguments.extend(["--no-pci", "--iova-mode=va"].map(str::to_owned));
    }
    if how.huge_pages {
        arguments.push("--in-memory".to_owned());
    } else {
        // DPDK does not know both at once, of which the former means these two as well.
        arguments.extend(["--no-shconf", "--no-huge"].map(str::to_owned));
        arguments.extend(["-m".to_owned(), ORDINARY_MIB.to_string()]);
    }
    arguments
}

fn init(arguments: Vec<String>) -> Result<(), String> {
    // DPDK keeps what it is given: these are never freed, once a process.
    let leaked = arguments.into_iter().filter_map(|argument| CString::new(argument).ok().map(CString::into_raw));
    let mut pointers: Vec<*mut c_char> = leaked.collect();
    let count = c_int::try_from(pointers.len()).unwrap_or(0);
    pointers.push(std::ptr::null_mut());
    // SAFETY: `count` strings that end with zero and a null pointer, as for a program's `main`; nobody else has the array
    // or the strings, and DPDK is started once (`STARTED`).
    let errno = unsafe { takt_dpdk_start(count, pointers.leak().as_mut_ptr()) };
    if errno == 0 { Ok(()) } else { Err(last_log(&std::io::Error::from_raw_os_error(errno).to_string())) }
}

/// Last log line of DPDK, or `otherwise` if there is none.
pub(super) fn last_log(otherwise: &str) -> String {
    let mut text = [0_u8; 240];
    // SAFETY: pointer and length describe an array that outlives the call.
    unsafe { takt_dpdk_log(text.as_mut_ptr().cast(), text.len()) };
    let text = String::from_utf8_lossy(text.split(|&byte| byte == 0).next().unwrap_or_default()).trim().to_owned();
    if text.is_empty() { otherwise.to_owned() } else { text }
}

fn free_huge_bytes() -> u64 {
    let number = |path: std::path::PathBuf| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let sizes = std::fs::read_dir("/sys/kernel/mm/hugepages").into_iter().flatten().flatten();
    let free = sizes.filter_map(|size| {
        let name = size.file_name();
        let kib: u64 = name.to_str()?.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        Some(number(size.path().join("free_hugepages"))? * kib * 1024)
    });
    free.sum()
}
