//! How deep the processors sleep, and how long they take to wake.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::call::WITH_SUDO;
use crate::host::Host;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// As the driver calls it: `POLL`, `C1`, `C6`.
    pub name: String,
    /// How long the CPU takes to leave it at most, by the driver's account.
    pub exit_us: u64,
    pub disabled: bool,
}

/// The idle states of a CPU, shallowest first; none if the kernel shows none.
#[must_use]
pub fn states(host: &Host, cpu: usize) -> Vec<IdleState> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let number = |name: &String| name.strip_prefix("state")?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = host.list(&folder).iter().filter_map(number).collect();
    numbers.sort_unstable();
    let read = |n: u32| {
        let file = |what| host.read_opt(&format!("{folder}/state{n}/{what}"));
        Some(IdleState {
            name: file("name")?,
            exit_us: file("latency")?.parse().ok()?,
            disabled: file("disable")? == "1",
        })
    };
    numbers.into_iter().filter_map(read).collect()
}

/// The longest wake-up from idle that this machine's programs allow now, microseconds: the least of what they requested
/// at `/dev/cpu_dma_latency`. `None`: it can't be read, which takes root.
#[must_use]
pub fn latency_limit_us(host: &Host) -> Option<u32> {
    let bytes = host.read_start(LATENCY, 4).ok()?;
    let limit = i32::from_ne_bytes(bytes.try_into().ok()?);
    u32::try_from(limit).ok()
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LatencyError {
    /// Only root may, unless the file was given to others.
    #[error("limiting how deep idle cores sleep needs write access to /dev/cpu_dma_latency, which belongs to root")]
    NotPermitted,
    #[error("there is no /dev/cpu_dma_latency: the kernel lacks CPU_IDLE, or this is a container")]
    NotThere,
    #[error("takt can't limit how deep idle cores sleep through /dev/cpu_dma_latency")]
    Io(#[source] io::Error),
}

impl LatencyError {
    #[must_use]
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            LatencyError::NotPermitted => Some(WITH_SUDO),
            LatencyError::NotThere => Some("run it on the host itself, outside the container"),
            LatencyError::Io(_) => None,
        }
    }
}

/// Keeps all processors of the machine from sleeping deeper than a wake-up of so long allows. The kernel takes the limit
/// back when this is dropped or its process ends, however it ends, so nothing needs to be recorded.
#[derive(Debug)]
pub struct LatencyLimit {
    _open: File,
}

impl LatencyLimit {
    /// Requests wake-ups within `limit_us` (PM QoS); 0 keeps processors from sleeping at all, which costs power and heat.
    pub fn request(limit_us: u32) -> Result<LatencyLimit, LatencyError> {
        LatencyLimit::request_at(&Host::this(), limit_us)
    }

    fn request_at(host: &Host, limit_us: u32) -> Result<LatencyLimit, LatencyError> {
        let limit = i32::try_from(limit_us).unwrap_or(i32::MAX);
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(host.path(LATENCY))?;
            file.write_all(&limit.to_ne_bytes())?;
            Ok(file)
        };
        open().map(|file| LatencyLimit { _open: file }).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => LatencyError::NotThere,
            io::ErrorKind::PermissionDenied => LatencyError::NotPermitted,
            _ => LatencyError::Io(error),
        })
    }
}

const LATENCY: &str = "/dev/cpu_dma_latency";

/// State of processors while nothing runs on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idle {
    /// They sleep as deeply as they may. In a guest that halts a virtual processor, and its hypervisor decides when it runs
    /// again.
    #[default]
    Sleep,
    /// They look for work in a loop, which costs power and, in a guest, its hypervisor's processor time.
    Poll,
}

impl Idle {
    /// Makes processors do so until the returned limit is dropped.
    pub fn request(self) -> Result<Option<LatencyLimit>, LatencyError> {
        (self == Idle::Poll).then(|| LatencyLimit::request(0)).transpose()
    }
}

impl FromStr for Idle {
    type Err = String;

    fn from_str(text: &str) -> Result<Idle, String> {
        match text {
            "sleep" => Ok(Idle::Sleep),
            "poll" => Ok(Idle::Poll),
            _ => Err(format!("`{text}` is not what an idle core can do; expected: sleep or poll")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn states_are_in_the_order_of_their_numbers() {
        let mut tree = Tree::new();
        for (n, name, exit_us, off) in [(0, "POLL", 0, 0), (1, "C1", 2, 0), (10, "C10", 890, 1)] {
            let folder = format!("/sys/devices/system/cpu/cpu3/cpuidle/state{n}");
            tree = tree
                .with(&format!("{folder}/name"), name)
                .with(&format!("{folder}/latency"), &format!("{exit_us}\n"))
                .with(&format!("{folder}/disable"), &format!("{off}\n"));
        }
        let states = states(&tree.host(), 3);
        assert_eq!(states.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["POLL", "C1", "C10"]);
        assert_eq!(states[2], IdleState { name: "C10".to_owned(), exit_us: 890, disabled: true });
        assert!(super::states(&tree.host(), 0).is_empty());
    }

    #[test]
    fn idle_processors_sleep_unless_set_to_poll() {
        assert!(Idle::default().request().unwrap().is_none());
        assert_eq!("poll".parse(), Ok(Idle::Poll));
        assert_eq!(
            "halt".parse::<Idle>().unwrap_err(),
            "`halt` is not what an idle core can do; expected: sleep or poll"
        );
        match Idle::Poll.request() {
            Ok(limit) => {
                assert!(limit.is_some());
                assert_eq!(latency_limit_us(&Host::this()), Some(0));
            }
            Err(error) => takt_testing::skip(format_args!("limits of the kernel's latency: {error}   (run as root)")),
        }
    }

    #[test]
    fn a_limit_is_a_number_of_the_processor_in_a_file() {
        let tree = Tree::new();
        assert!(matches!(LatencyLimit::request_at(&tree.host(), 5), Err(LatencyError::NotThere)));
        tree.put_bytes(LATENCY, &2_000_000_000i32.to_ne_bytes());
        assert_eq!(latency_limit_us(&tree.host()), Some(2_000_000_000));
        let limit = LatencyLimit::request_at(&tree.host(), 5).unwrap();
        assert_eq!(latency_limit_us(&tree.host()), Some(5));
        drop(limit);
        tree.put_bytes(LATENCY, &[1, 2]);
        assert_eq!(latency_limit_us(&tree.host()), None);
    }

    #[test]
    fn the_kernel_takes_the_limit_and_takes_it_back() {
        let before = latency_limit_us(&Host::this());
        match LatencyLimit::request(3) {
            Ok(limit) => {
                assert!(latency_limit_us(&Host::this()).is_some_and(|limit| limit <= 3));
                drop(limit);
                // Others may ask for limits at the same time; ours is no more among them.
                assert!(before.is_none_or(|before| before <= 3) || latency_limit_us(&Host::this()) != Some(3));
            }
            Err(error) => {
                assert!(matches!(error, LatencyError::NotPermitted | LatencyError::NotThere), "{error}");
                assert!(error.fix().is_some());
                takt_testing::skip(format_args!("limits of the kernel's latency: {error}   (run as root)"));
            }
        }
    }
}
