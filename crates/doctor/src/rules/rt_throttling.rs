//! `rt-throttling`: the kernel stops real-time threads that never sleep for part of every second.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "rt-throttling",
    topic: Topic::Kernel,
    title: "Real-time throttling",
    mechanism: "The kernel stops real-time threads that have used up their share of a period. A polling driver that \
                never sleeps stops for the rest of the period, and the radio overflows.",
    looks_at: "`kernel.sched_rt_runtime_us` and `kernel.sched_rt_period_us`. A problem below 95 %. A share of 95 % \
               (the default) is a notice: it stops polling drivers of other programs, but not takt's threads, which \
               sleep.",
    probe,
    known: "At the default, a FIFO 1 thread that never sleeps lost 49, 48 and 52 ms in three successive seconds. With \
            -1 it lost none (Linux 6.18 with RT_GROUP_SCHED). Without RT_GROUP_SCHED, the fair server of Linux 6.12 \
            and newer gives the same 50 ms to waiting ordinary tasks, whatever this setting says. \
            On a busy host, `--prove` found 48 to 76 ms with the limit and 28 to 52 ms without: no gain shown.",
    fix: Fix::Consent {
        plan: |host| sysctl_becomes(host, NAME, "-1"),
        affects: "the whole host: a runaway real-time thread then keeps its core.",
    },
    proof: Proof::By(Measure::SpinGap),
    ..Rule::COMMON
};

const NAME: &str = "kernel.sched_rt_runtime_us";

fn probe(host: &Host) -> Look {
    let (runtime, period) = (sysctl(host, NAME)?, sysctl(host, "kernel.sched_rt_period_us")?);
    if runtime < 0 || runtime >= period {
        return fine(format!("no limit (sched_rt_runtime_us {runtime})"));
    }
    let observed = format!("{runtime} of {period} µs for real-time threads");
    // 95 %, without dividing by a number from a file.
    if i128::from(runtime) * 100 >= i128::from(period) * 95 {
        return notice(
            observed,
            "affects only threads that never sleep (polling drivers under FIFO); takt's threads sleep",
        );
    }
    problem(observed, "at least 95 %, or -1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlimited_is_fine_the_default_a_notice_and_less_is_a_problem() {
        let of = |runtime| {
            [("/proc/sys/kernel/sched_rt_runtime_us", runtime), ("/proc/sys/kernel/sched_rt_period_us", "1000000\n")]
        };
        for (runtime, verdict) in [
            ("-1\n", "fine"),
            ("1000000\n", "fine"),
            ("950000\n", "notice"),
            ("500000\n", "problem"),
            ("0\n", "problem"),
        ] {
            assert_eq!(word(&RULE, &of(runtime)), verdict, "{runtime}");
        }
        assert!(probe(&Tree::new().host()).is_err());
        assert_eq!(commands(&RULE, &of("950000\n")), ["sudo sysctl -w kernel.sched_rt_runtime_us=-1"]);
    }
}
