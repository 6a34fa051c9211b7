//! `serial-console`: kernel messages that go out by a slow wire.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "serial-console",
    topic: Topic::Kernel,
    title: "Kernel messages on a serial line",
    mechanism: "A kernel that prints to a serial console waits for each letter, with interrupts off for as long as a message \
                takes; a network card that comes up, or a program that faults, then stops a CPU.",
    looks_at: "Serial lines among `/proc/consoles`, and the first number of `kernel.printk`, below which messages are printed. \
               Never stands, since messages are few; a serial console that prints more than errors is noted.",
    probe,
    known: "87 µs a letter at 115 200 baud, 7 ms a line of 80; nothing where the driver prints by a thread of its own. Not \
            measured here.",
    fix: Fix::Consent { plan, who_may_pay: "whoever reads that console: warnings are in the log (dmesg) only." },
    proof: Proof::Not("it shows only while the kernel prints, which takt does not bring about"),
    ..Rule::COMMON
};

const NAME: &str = "kernel.printk";
/// Emergencies, alerts, critical conditions and errors: numbers 0 to 3.
const ERRORS: &str = "4";

/// Consoles whose names are those of serial lines.
fn serial(host: &Host) -> Result<Vec<String>, ReadError> {
    let slow = |name: &&str| {
        ["ttyS", "ttyAMA", "ttyUSB", "ttymxc", "ttyPS", "ttySAC"].iter().any(|kind| name.starts_with(kind))
    };
    let consoles = host.read("/proc/consoles")?;
    Ok(consoles.lines().filter_map(|line| line.split_whitespace().next()).filter(slow).map(str::to_owned).collect())
}

fn levels(host: &Host) -> Result<Vec<u32>, ReadError> {
    let path = "/proc/sys/kernel/printk";
    let text = host.read(path)?;
    let numbers: Option<Vec<u32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers.filter(|all| !all.is_empty()).ok_or_else(|| malformed(path, "numbers", &text))
}

fn probe(host: &Host) -> Look {
    let serial = serial(host)?;
    if serial.is_empty() {
        return fine("no serial console");
    }
    let level = levels(host)?[0];
    let observed = format!("{}, messages below level {level}", serial.join(", "));
    if level <= 4 { fine(observed) } else { notice(observed, "a message there stops a CPU for milliseconds") }
}

fn plan(host: &Host) -> Plan {
    let Ok(levels) = levels(host) else { return Ok(Vec::new()) };
    let rest: Vec<String> = levels.iter().skip(1).map(u32::to_string).collect();
    sysctl_becomes(host, NAME, &[&[ERRORS.to_owned()], rest.as_slice()].concat().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_console_that_prints_much_is_noted() {
        let (consoles, printk) = ("/proc/consoles", "/proc/sys/kernel/printk");
        let line = (consoles, "ttyS0                -W- (EC  p a)    4:64\ntty0 -WU (E) 4:1\n");
        let chatty = [line, (printk, "7\t4\t1\t7\n")];
        assert_eq!(verdict(&RULE, &chatty), ("notice", "ttyS0, messages below level 7".to_owned()));
        assert_eq!(commands(&RULE, &chatty), ["sudo sysctl -w kernel.printk=\"4 4 1 7\""]);
        assert_eq!(word(&RULE, &[line, (printk, "4\t4\t1\t7\n")]), "fine");
        assert_eq!(word(&RULE, &[(consoles, "tty0 -WU (EC) 4:1\n")]), "fine");
        assert_eq!(word(&RULE, &[line, (printk, "\n")]), "hidden");
        assert_eq!(word(&RULE, &[line]), "hidden");
    }
}
