//! Lists of CPUs as the kernel writes them: `0-3,8,10-11`.

/// CPUs above this number do not exist on any kernel; it bounds what a hostile list can make us allocate.
const CPU_LIMIT: usize = 8192;

/// The CPUs of a list in rising order; `None` if it is no such list. An empty text is the empty list.
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        cpus.extend(first..=last);
        if cpus.len() > CPU_LIMIT {
            return None;
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// The list as the kernel would write it.
pub fn format(cpus: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if cpu == *last + 1 => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let text = |&(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok().filter(|&cpu| cpu < CPU_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_and_single_cpus_are_read() {
        assert_eq!(parse("0-2,5,7-8\n"), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(parse(""), Some(vec![]));
        assert_eq!(parse("0-99999999999"), None);
        assert_eq!(parse("a"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(cpus in proptest::collection::btree_set(0usize..300, 0..40)) {
            let cpus: Vec<usize> = cpus.into_iter().collect();
            prop_assert_eq!(parse(&format(&cpus)), Some(cpus));
        }
    }
}
