//! `cpu-weight`: a smaller share of CPU time than other programs get.

use takt_host::cgroup::own_folders;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "cpu-weight",
    topic: Topic::Groups,
    title: "Low scheduling weight",
    mechanism: "Among threads of normal priority, the scheduler divides CPU time by weight. A thread with a nice value \
                above 0, or in a group with a low weight, waits for the others.",
    looks_at: "The nice value of this process, and `cpu.weight` (or `cpu.shares`) of its groups. A problem above nice \
               0, or below the default weight of 100 (1024).",
    probe,
    known: "At nice 19, a thread gets a seventieth of what a thread at nice 0 gets, if both want the same core. Not \
            measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "start the program without nice; for a running program: sudo renice -n 0 -p PID",
        "for a unit: systemctl set-property UNIT CPUWeight=100",
    ])),
    ..Rule::COMMON
};

fn nice(host: &Host) -> Result<i64, ReadError> {
    let path = "/proc/self/stat";
    let text = host.read(path)?;
    // Field 19 of proc(5); field 3 follows the name.
    let field = text.rfind(')').and_then(|at| text.get(at + 1..)?.split_whitespace().nth(16)?.parse().ok());
    field.filter(|nice| (-20..=19).contains(nice)).ok_or_else(|| malformed(path, "a nice value in field 19", &text))
}

fn light(host: &Host) -> Result<Option<String>, ReadError> {
    let weight = |folder: &String| {
        let of = |file: &str, usual: u64| {
            let value: u64 = host.read_opt(&format!("{folder}/{file}"))?.parse().ok()?;
            (value < usual).then(|| format!("{file} {value} of {folder}"))
        };
        of("cpu.weight", 100).or_else(|| of("cpu.shares", 1024))
    };
    Ok(own_folders(host, "cpu")?.iter().find_map(weight))
}

fn probe(host: &Host) -> Look {
    let nice = nice(host)?;
    let light = light(host)?;
    if nice > 0 {
        return problem(format!("nice {nice}"), "nice 0 or less");
    }
    match light {
        Some(light) => problem(light, "the default weight"),
        None => fine(format!("nice {nice}, default weight")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(nice: i64) -> String {
        format!("1 (takt x) S {} 20 {nice} 1 0 7\n", "0 ".repeat(14).trim_end())
    }

    #[test]
    fn a_nice_program_and_a_light_group_are_a_problem() {
        let usual = ("/sys/fs/cgroup/a/b/cpu.weight", "100\n");
        let file = "/proc/self/stat";
        assert_eq!(verdict_in(&RULE, &v2(), &[usual, (file, &stat(0))]), ("fine", "nice 0, default weight".to_owned()));
        assert_eq!(verdict_in(&RULE, &v2(), &[usual, (file, &stat(19))]), ("problem", "nice 19".to_owned()));
        let light = (usual.0, "10\n");
        let observed = "cpu.weight 10 of /sys/fs/cgroup/a/b".to_owned();
        assert_eq!(verdict_in(&RULE, &v2(), &[light, (file, &stat(-5))]), ("problem", observed));
        let shares = ("/sys/fs/cgroup/x/a/cpu.shares", "2\n");
        assert_eq!(verdict_in(&RULE, &v1("cpu"), &[shares, (file, &stat(0))]).0, "problem");
        assert_eq!(verdict_in(&RULE, &v2(), &[usual, (file, "1 (x) S\n")]).0, "hidden");
    }

    #[test]
    fn the_kernels_own_line_is_understood() {
        assert!((-20..=19).contains(&nice(&Host::this()).unwrap()));
    }
}
