//! Facts of the running kernel, as far as punctuality goes: pre-emption, clock tick, slice, real-time throttling.
//!
//! Each reader says `None` where the kernel does not say; nothing is guessed from a version.

use std::io::Read;

use serde::{Deserialize, Serialize};

use crate::host::Host;

/// When the kernel may take the processor from what it is doing itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preemption {
    /// Only where it says so itself: throughput first.
    None,
    /// At more such places.
    Voluntary,
    /// Anywhere but in critical sections, for a real-time thread; for others at the next tick (Linux 6.13 on).
    Lazy,
    /// Anywhere but in critical sections.
    Full,
    /// As full, and most critical sections as well (`PREEMPT_RT`).
    RealTime,
}

impl Preemption {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Preemption::None => "none",
            Preemption::Voluntary => "voluntary",
            Preemption::Lazy => "lazy",
            Preemption::Full => "full",
            Preemption::RealTime => "real-time",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreemptionInForce {
    pub model: Preemption,
    pub by: String,
    /// It can be changed while the kernel runs, at `/sys/kernel/debug/sched/preempt`.
    pub dynamic: bool,
}

/// The pre-emption model in force. From `/sys/kernel/realtime`, from what the scheduler shows in debugfs, from the kernel's
/// command line, from its configuration, in this order: each of the later ones can be overruled by those before.
#[must_use]
pub fn preemption(host: &Host) -> Option<PreemptionInForce> {
    let build = host.read_opt("/proc/sys/kernel/version").unwrap_or_default();
    let dynamic = build.contains("PREEMPT_DYNAMIC");
    let found = |model, by: &str| Some(PreemptionInForce { model, by: by.to_owned(), dynamic });
    if host.read_opt(REALTIME).as_deref() == Some("1") || build.contains("PREEMPT_RT") {
        return found(Preemption::RealTime, if build.contains("PREEMPT_RT") { VERSION } else { REALTIME });
    }
    if let Some(model) = host.read_opt(PREEMPT).and_then(|text| chosen(&text)) {
        return found(model, PREEMPT);
    }
    let cmdline = host.read_opt("/proc/cmdline").unwrap_or_default();
    let requested = cmdline.split_whitespace().rev().find_map(|word| model(word.strip_prefix("preempt=")?));
    if let Some(model) = requested.filter(|_| dynamic) {
        return found(model, "/proc/cmdline");
    }
    let (config, by) = config(host)?;
    let model = [
        ("CONFIG_PREEMPT_NONE", Preemption::None),
        ("CONFIG_PREEMPT_VOLUNTARY", Preemption::Voluntary),
        ("CONFIG_PREEMPT_LAZY", Preemption::Lazy),
        ("CONFIG_PREEMPT", Preemption::Full),
    ]
    .into_iter()
    .find_map(|(option, model)| is_built_in(&config, option).then_some(model))?;
    found(model, &by)
}

/// Ticks a second of the kernel's clock (`CONFIG_HZ`), if its configuration can be read.
#[must_use]
pub fn tick_hz(host: &Host) -> Option<u32> {
    config(host)?.0.lines().find_map(|line| line.strip_prefix("CONFIG_HZ=")?.parse().ok())
}

/// Whether the time of interrupts is taken out of that of the thread they met (`CONFIG_IRQ_TIME_ACCOUNTING`), if the
/// kernel's configuration can be read.
#[must_use]
pub fn accounts_interrupts_apart(host: &Host) -> Option<bool> {
    Some(is_built_in(&config(host)?.0, "CONFIG_IRQ_TIME_ACCOUNTING"))
}

/// Whether sleeps end when they should and not at a tick: the resolution of every clock is then 1 ns.
#[must_use]
pub fn high_resolution_timers(host: &Host) -> Option<bool> {
    let text = host.read_opt("/proc/timer_list")?;
    let resolutions =
        text.lines().filter_map(|line| line.trim().strip_prefix(".resolution:")?.split_whitespace().next());
    let mut resolutions = resolutions.filter_map(|ns| ns.parse::<u64>().ok()).peekable();
    resolutions.peek()?;
    Some(resolutions.all(|ns| ns == 1))
}

/// How long an ordinary thread runs before another's turn, nanoseconds (`base_slice_ns` of EEVDF, Linux 6.6 on).
#[must_use]
pub fn base_slice_ns(host: &Host) -> Option<u64> {
    host.read_opt("/sys/kernel/debug/sched/base_slice_ns")?.parse().ok()
}

const REALTIME: &str = "/sys/kernel/realtime";
const VERSION: &str = "/proc/sys/kernel/version";
const PREEMPT: &str = "/sys/kernel/debug/sched/preempt";

fn is_built_in(config: &str, option: &str) -> bool {
    config.lines().any(|line| line.strip_prefix(option) == Some("=y"))
}

/// The kernel's configuration and the file that holds it.
fn config(host: &Host) -> Option<(String, String)> {
    if let Some(text) = host.read_bytes(PACKED).ok().and_then(|packed| unpack(&packed)) {
        return Some((text, PACKED.to_owned()));
    }
    let release = host.read_opt("/proc/sys/kernel/osrelease")?;
    let files = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")];
    files.into_iter().find_map(|file| Some((host.read_opt(&file)?, file)))
}

/// A text packed with gzip; `None` if it is none, or longer than any configuration.
fn unpack(packed: &[u8]) -> Option<String> {
    let mut text = String::new();
    let read = flate2::read::GzDecoder::new(packed).take(CONFIG_LIMIT_BYTES).read_to_string(&mut text).ok()?;
    (read as u64 != CONFIG_LIMIT_BYTES).then_some(text)
}

const PACKED: &str = "/proc/config.gz";
const CONFIG_LIMIT_BYTES: u64 = 4 << 20;

/// The choice in brackets of `none voluntary (full) lazy`.
fn chosen(text: &str) -> Option<Preemption> {
    let (_, rest) = text.split_once('(')?;
    model(rest.split_once(')')?.0)
}

fn model(word: &str) -> Option<Preemption> {
    let models = [Preemption::None, Preemption::Voluntary, Preemption::Lazy, Preemption::Full];
    models.into_iter().find(|model| model.word() == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use proptest::prelude::*;

    const DYNAMIC: &str = "#1 SMP PREEMPT_DYNAMIC @0\n";

    fn model_of(tree: &Tree) -> Option<(Preemption, String)> {
        preemption(&tree.host()).map(|seen| (seen.model, seen.by))
    }

    fn packed(text: &str) -> Vec<u8> {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn who_can_overrule_is_read_first() {
        let tree = Tree::new().with("/proc/sys/kernel/osrelease", "6.18.44\n");
        assert_eq!(model_of(&tree), None, "nobody says so");
        let tree =
            tree.with("/boot/config-6.18.44", "CONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT is not set\nCONFIG_HZ=250\n");
        assert_eq!(model_of(&tree), Some((Preemption::None, "/boot/config-6.18.44".to_owned())));
        assert_eq!(tick_hz(&tree.host()), Some(250));
        let tree = tree.with(VERSION, DYNAMIC).with("/proc/cmdline", "quiet preempt=none preempt=full\n");
        assert_eq!(model_of(&tree), Some((Preemption::Full, "/proc/cmdline".to_owned())), "the last word counts");
        let tree = tree.with(PREEMPT, "none voluntary full (lazy)\n");
        assert_eq!(model_of(&tree), Some((Preemption::Lazy, PREEMPT.to_owned())));
        let tree = tree.with(REALTIME, "1\n");
        assert_eq!(model_of(&tree), Some((Preemption::RealTime, REALTIME.to_owned())));
        assert!(preemption(&tree.host()).unwrap().dynamic);
    }

    #[test]
    fn a_command_line_says_nothing_to_a_kernel_that_cannot_change() {
        let tree = Tree::new()
            .with("/proc/cmdline", "preempt=full\n")
            .with(VERSION, "#1 SMP PREEMPT\n")
            .with("/proc/sys/kernel/osrelease", "5.4.0\n")
            .with("/boot/config-5.4.0", "CONFIG_PREEMPT_VOLUNTARY=y\n");
        assert_eq!(model_of(&tree), Some((Preemption::Voluntary, "/boot/config-5.4.0".to_owned())));
    }

    #[test]
    fn a_packed_configuration_is_read_and_a_damaged_one_is_none() {
        let tree = Tree::new();
        tree.put_bytes(PACKED, &packed("CONFIG_HZ=1000\nCONFIG_PREEMPT=y\n"));
        assert_eq!(tick_hz(&tree.host()), Some(1000));
        assert_eq!(model_of(&tree), Some((Preemption::Full, PACKED.to_owned())));
        tree.put_bytes(PACKED, &packed("CONFIG_HZ=1000\n")[..12]);
        assert_eq!(tick_hz(&tree.host()), None);
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        assert_eq!(unpack(&packed(&"#".repeat(CONFIG_LIMIT_BYTES as usize + 1))), None);
    }

    #[test]
    fn timers_are_of_high_resolution_if_all_are() {
        let high = Tree::new()
            .with("/proc/timer_list", " clock 0:\n  .resolution: 1 nsecs\n clock 1:\n  .resolution: 1 nsecs\n");
        assert_eq!(high_resolution_timers(&high.host()), Some(true));
        let low = Tree::new().with("/proc/timer_list", " clock 0:\n  .resolution: 4000000 nsecs\n");
        assert_eq!(high_resolution_timers(&low.host()), Some(false));
        let hidden = Tree::new().with("/proc/timer_list", "Timer List Version: v0.10\n");
        assert_eq!(high_resolution_timers(&hidden.host()), None);
        assert_eq!(high_resolution_timers(&Tree::new().host()), None);
    }

    #[test]
    fn slices_are_read_or_not_known() {
        let tree = Tree::new();
        assert_eq!(base_slice_ns(&tree.host()), None);
        let tree = tree.with("/sys/kernel/debug/sched/base_slice_ns", "2800000\n");
        assert_eq!(base_slice_ns(&tree.host()), Some(2_800_000));
    }

    proptest! {
        #[test]
        fn hostile_files_never_panic(text in "[ -~\n]{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let tree = Tree::new().with(PREEMPT, &text).with("/proc/timer_list", &text).with(VERSION, &text);
            tree.put_bytes(PACKED, &bytes);
            let host = tree.host();
            let _ = (preemption(&host), tick_hz(&host), high_resolution_timers(&host));
        }
    }
}
