//! `rt-throttling`: real-time threads that never sleep are stopped for a while in every second.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "rt-throttling",
    topic: Topic::Kernel,
    title: "Real-time throttling",
    mechanism: "The kernel takes the processor from real-time threads when they have used their share of a period; a \
                polling driver that never sleeps is stopped for the rest of it, and the radio overflows.",
    looks_at: "`kernel.sched_rt_runtime_us` and `kernel.sched_rt_period_us`. A share of 95 % (the default) is a notice: \
               takt's threads sleep and do not meet it; polling drivers of other programs do. Less than 95 % stands.",
    probe,
    known: "At the default a thread of FIFO 1 that never sleeps lost 49, 48 and 52 ms in three successive seconds, and \
            none with -1 (Linux 6.18 with RT_GROUP_SCHED). Without RT_GROUP_SCHED, Linux 6.12 and newer give the same \
            50 ms to waiting ordinary tasks by other means (the fair server), which this setting does not touch. On a busy \
            machine `--prove` found 48 to 76 ms with the limit and 28 to 52 ms without: no gain shown.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "-1"),
        who_may_pay: "the whole machine: a real-time thread that runs wild then takes its CPU for good.",
    },
    proof: Proof::By(Measure::SpinGap),
    ..Rule::COMMON
};

const NAME: &str = "kernel.sched_rt_runtime_us";

fn probe(host: &Host) -> Look {
    let (runtime, period) = (sysctl(host, NAME)?, sysctl(host, "kernel.sched_rt_period_us")?);
    if runtime < 0 || runtime >= period {
        return fine(format!("none (sched_rt_runtime_us {runtime})"));
    }
    let observed = format!("{runtime} of {period} µs for real-time threads");
    // 95 %, without dividing by what a file claims.
    if i128::from(runtime) * 100 >= i128::from(period) * 95 {
        return notice(
            observed,
            "only threads that never sleep meet it (polling drivers under FIFO); takt's threads sleep",
        );
    }
    stands(observed, "at least 95 %, or -1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlimited_is_fine_the_default_a_notice_and_less_stands() {
        let of = |runtime| {
            [("/proc/sys/kernel/sched_rt_runtime_us", runtime), ("/proc/sys/kernel/sched_rt_period_us", "1000000\n")]
        };
        for (runtime, verdict) in
            [("-1\n", "fine"), ("1000000\n", "fine"), ("950000\n", "notice"), ("500000\n", "stands"), ("0\n", "stands")]
        {
            assert_eq!(word(&RULE, &of(runtime)), verdict, "{runtime}");
        }
        assert!(probe(&Tree::new().host()).is_err());
        assert_eq!(commands(&RULE, &of("950000\n")), ["sudo sysctl -w kernel.sched_rt_runtime_us=-1"]);
    }
}
