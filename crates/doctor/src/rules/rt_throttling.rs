//! `rt-throttling`: real-time threads that never sleep are stopped for a while in every second.

use takt_host::Host;
use takt_host::ReadError;

use super::super::rule::{Effect, Finding, Fix, KernelRange, Measure, Proof, Rule, Topic};
use super::super::setting::{Change, Setting, SettingError};

pub(super) static RULE: Rule = Rule {
    id: "rt-throttling",
    topic: Topic::Kernel,
    title: "Real-time throttling",
    mechanism: "The kernel takes the processor from real-time threads when they have used their share of a period; a \
                polling driver that never sleeps is stopped for the rest of it, and the radio overflows.",
    looks_at: "`kernel.sched_rt_runtime_us` and `kernel.sched_rt_period_us`. A share of 95 % (the default) is a notice: \
               takt's threads sleep and do not meet it; polling drivers of other programs do. Less than 95 % stands.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "At the default a thread of FIFO 1 that never sleeps lost 49, 48 and 52 ms in three successive seconds, and \
                none with -1 (Linux 6.18 with RT_GROUP_SCHED). Without RT_GROUP_SCHED, Linux 6.12 and newer give the same \
                50 ms to waiting ordinary tasks by other means (the fair server), which this setting does not touch. On a busy \
                machine `--prove` found 48 to 76 ms with the limit and 28 to 52 ms without: no gain shown.",
        here: None,
    },
    fix: Fix::Consent {
        plan,
        who_may_pay: "the whole machine: a real-time thread that runs wild then takes its CPU for good.",
    },
    proof: Proof::By(Measure::SpinGap),
};

fn probe(host: &Host) -> Result<Finding, ReadError> {
    let runtime = host.read_number("/proc/sys/kernel/sched_rt_runtime_us")?;
    let period = host.read_number("/proc/sys/kernel/sched_rt_period_us")?;
    if runtime < 0 || runtime >= period {
        return Ok(Finding::Fine { seen: format!("none (sched_rt_runtime_us {runtime})") });
    }
    let seen = format!("{runtime} of {period} µs for real-time threads");
    // 95 %, without dividing by what a file claims.
    if i128::from(runtime) * 100 >= i128::from(period) * 95 {
        let note =
            "only threads that never sleep meet it (polling drivers under FIFO); takt's threads sleep".to_owned();
        return Ok(Finding::Notice { seen, note });
    }
    Ok(Finding::Stands { seen, wanted: "at least 95 %, or -1".to_owned() })
}

fn plan(host: &Host) -> Result<Vec<Change>, SettingError> {
    let setting = Setting::Sysctl("kernel.sched_rt_runtime_us".to_owned());
    let was = setting.get(host)?;
    Ok(vec![Change { setting, was, becomes: "-1".to_owned() }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_host::testing::Tree;

    fn tree(runtime: &str) -> Tree {
        Tree::new()
            .with("/proc/sys/kernel/sched_rt_runtime_us", runtime)
            .with("/proc/sys/kernel/sched_rt_period_us", "1000000\n")
    }

    #[test]
    fn unlimited_is_fine_the_default_a_notice_and_less_stands() {
        assert!(matches!(probe(&tree("-1\n").host()).unwrap(), Finding::Fine { .. }));
        assert!(matches!(probe(&tree("1000000\n").host()).unwrap(), Finding::Fine { .. }));
        assert!(matches!(probe(&tree("950000\n").host()).unwrap(), Finding::Notice { .. }));
        assert!(matches!(probe(&tree("500000\n").host()).unwrap(), Finding::Stands { .. }));
        assert!(matches!(probe(&tree("0\n").host()).unwrap(), Finding::Stands { .. }));
        assert!(probe(&Tree::new().host()).is_err());
    }

    #[test]
    fn the_fix_lifts_the_limit() {
        assert_eq!(
            plan(&tree("950000\n").host()).unwrap()[0].command(),
            "sudo sysctl -w kernel.sched_rt_runtime_us=-1"
        );
    }
}
