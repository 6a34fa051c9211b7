//! `/proc/PID/stat` and `/proc/PID/schedstat`, which have the same form for a process and for a thread.

/// The fields of `stat` that takt uses. Times in ticks of `USER_HZ`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Name as the kernel has it: at most 15 bytes, and it may hold spaces and brackets.
    pub name: String,
    /// State letter of proc(5): `R`, `S`, `D`, ...
    pub state: char,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    /// Since boot: together with the number it names a process for good, however often the number is used again.
    pub start_ticks: u64,
    pub last_cpu: Option<u32>,
}

impl Stat {
    /// Reads one line. The name ends at the *last* closing bracket: a program may call itself `a) R 1`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Stat> {
        let open = text.find('(')?;
        let close = text.rfind(')')?;
        let name = text.get(open + 1..close)?.to_owned();
        // proc(5) numbers fields from 1; behind the name stands field 3.
        let fields: Vec<&str> = text.get(close + 1..)?.split_whitespace().take(64).collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            name,
            state: fields.first()?.chars().next()?,
            minor_faults: number(10)?,
            major_faults: number(12)?,
            user_ticks: number(14)?,
            system_ticks: number(15)?,
            start_ticks: number(22)?,
            last_cpu: number(39).and_then(|cpu| u32::try_from(cpu).ok()),
        })
    }
}

/// `schedstat`: exact times of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedstat {
    pub on_cpu_ns: u64,
    /// Ready to run and waiting for a CPU.
    pub run_delay_ns: u64,
}

impl Schedstat {
    #[must_use]
    pub fn parse(text: &str) -> Option<Schedstat> {
        let mut words = text.split_whitespace();
        Some(Schedstat { on_cpu_ns: words.next()?.parse().ok()?, run_delay_ns: words.next()?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let line = "16884 (a) R 1 (x) S 16874 16874 12510 0 -1 4194304 101 0 3 0 41 42 0 0 20 0 1 0 91354 3133440 388 \
                    18446744073709551615 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.name.as_str(), stat.state), ("a) R 1 (x", 'S'));
        assert_eq!((stat.minor_faults, stat.major_faults), (101, 3));
        assert_eq!((stat.user_ticks, stat.system_ticks, stat.start_ticks), (41, 42, 91_354));
        assert_eq!(stat.last_cpu, Some(1));
    }

    #[test]
    fn a_line_that_ends_early_is_refused() {
        assert_eq!(Stat::parse("1 (init) S 0 1 1"), None);
        assert_eq!(Stat::parse(") ("), None);
        assert_eq!(Schedstat::parse("12"), None);
    }

    #[test]
    fn the_kernels_own_lines_are_understood() {
        let stat = Stat::parse(&std::fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        assert!(stat.start_ticks > 0);
        assert!(stat.last_cpu.is_some());
        assert!(Schedstat::parse(&std::fs::read_to_string("/proc/self/schedstat").unwrap()).is_some());
    }
}
