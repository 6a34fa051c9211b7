//! Frames of one network device (`/proc/net/dev`).

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounts {
    pub name: String,
    /// Frames received. An aggregate that crosses whole counts as one.
    pub rx_frames: u64,
    /// Frames it had no room for, or the stack above it.
    pub rx_dropped: u64,
    /// Frames it received damaged, or lost before it could say more.
    pub rx_errors: u64,
    pub tx_frames: u64,
    pub tx_dropped: u64,
    pub tx_errors: u64,
}

impl DeviceCounts {
    /// Finds a device in the file's text: two lines of headings, then `name: ` and sixteen numbers.
    pub(super) fn parse(text: &str, name: &str) -> Option<DeviceCounts> {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
        let numbers = line.split_whitespace().map(|n| n.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let &[_, rx_frames, rx_errs, rx_dropped, rx_fifo, _, _, _, _, tx_frames, tx_errs, tx_dropped, tx_fifo, ..] =
            numbers.as_slice()
        else {
            return None;
        };
        Some(DeviceCounts {
            name: name.to_owned(),
            rx_frames,
            rx_dropped,
            rx_errors: rx_errs.saturating_add(rx_fifo),
            tx_frames,
            tx_dropped,
            tx_errors: tx_errs.saturating_add(tx_fifo),
        })
    }

    pub(super) fn since(&self, earlier: &DeviceCounts) -> DeviceCounts {
        DeviceCounts {
            name: self.name.clone(),
            rx_frames: self.rx_frames.saturating_sub(earlier.rx_frames),
            rx_dropped: self.rx_dropped.saturating_sub(earlier.rx_dropped),
            rx_errors: self.rx_errors.saturating_sub(earlier.rx_errors),
            tx_frames: self.tx_frames.saturating_sub(earlier.tx_frames),
            tx_dropped: self.tx_dropped.saturating_sub(earlier.tx_dropped),
            tx_errors: self.tx_errors.saturating_sub(earlier.tx_errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0
  eth0: 100 20 3 4 5 0 0 0 200 30 6 7 8 0 0 0
 eth01:9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
";

    #[test]
    fn a_device_is_found_by_its_whole_name() {
        let eth0 = DeviceCounts::parse(TEXT, "eth0").unwrap();
        assert_eq!((eth0.rx_frames, eth0.rx_errors, eth0.rx_dropped), (20, 8, 4));
        assert_eq!((eth0.tx_frames, eth0.tx_errors, eth0.tx_dropped), (30, 14, 7));
        assert_eq!(DeviceCounts::parse(TEXT, "eth01").map(|d| d.rx_frames), Some(9));
        assert_eq!(DeviceCounts::parse(TEXT, "eth"), None);
        assert_eq!(DeviceCounts::parse("eth0: 1 2 3", "eth0"), None);
        assert_eq!(eth0.since(&eth0).rx_frames, 0);
    }
}
