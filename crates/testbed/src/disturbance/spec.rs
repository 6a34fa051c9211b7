//! [`Spec`]: a disturbance as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use takt_base::nearest;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// An endless loop, as the study had it.
    Busy,
    /// Copies blocks far larger than any cache: memory bandwidth.
    Memory,
    /// Touches lines of a cache in no order: what others have there goes.
    Cache,
    /// Writes to a disk, and waits until it is there.
    Disk,
    /// Datagrams to itself over the loopback interface.
    Network,
    /// Starts processes that end at once.
    Fork,
    /// Sleeps of 50 µs without end (or of three times what a round costs, where that is more): timer interrupts and
    /// wake-ups.
    Timers,
}

impl Load {
    /// All, by their names.
    pub const ALL: [(&'static str, Load); 7] = [
        ("busy", Load::Busy),
        ("memory", Load::Memory),
        ("cache", Load::Cache),
        ("disk", Load::Disk),
        ("network", Load::Network),
        ("fork", Load::Fork),
        ("timers", Load::Timers),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        Load::ALL.iter().find(|(_, load)| *load == self).map_or("", |(name, _)| name)
    }

    /// All their names, joined.
    #[must_use]
    pub fn words(between: &str) -> String {
        Load::ALL.map(|(name, _)| name).join(between)
    }
}

/// How many processes of which kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Spec(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    load: Load,
    count: u32,
    per_core: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    #[error("unknown load \"{got}\": {remedy}")]
    Load { got: String, remedy: String },
    #[error("\"{got}\" is not a number of processes: give 1 to {MOST}, or a number for each core, such as 4x")]
    Count { got: String },
}

/// Processes of one kind at most.
const MOST: u32 = 256;

impl Spec {
    /// Load of each process, on so many cores.
    #[must_use]
    pub fn processes(&self, cores: usize) -> Vec<Load> {
        let count = |part: &Part| if part.per_core { part.count as usize * cores } else { part.count as usize };
        self.0.iter().flat_map(|part| std::iter::repeat_n(part.load, count(part))).collect()
    }

    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Spec, SpecError> {
        match text {
            "none" => Ok(Spec::default()),
            _ => text.split('+').map(part).collect::<Result<_, _>>().map(Spec),
        }
    }
}

fn part(text: &str) -> Result<Part, SpecError> {
    let (name, count) = text.trim().split_once(':').unwrap_or((text.trim(), "1"));
    let Some((_, load)) = Load::ALL.iter().find(|(known, _)| *known == name) else {
        let near = nearest(name, Load::ALL.map(|(name, _)| name));
        let remedy =
            near.map_or_else(|| format!("give one of {}", Load::words(", ")), |near| format!("did you mean {near}?"));
        return Err(SpecError::Load { got: name.to_owned(), remedy });
    };
    let per_core = count.ends_with('x');
    let number = count.strip_suffix('x').unwrap_or(count).parse().ok().filter(|count| (1..=MOST).contains(count));
    let count = number.ok_or_else(|| SpecError::Count { got: count.to_owned() })?;
    Ok(Part { load: *load, count, per_core })
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (n, part) in self.0.iter().enumerate() {
            let (plus, each) = (if n > 0 { "+" } else { "" }, if part.per_core { "x" } else { "" });
            write!(f, "{plus}{}:{}{each}", part.load.name(), part.count)?;
        }
        Ok(())
    }
}

kept_as_text!(Spec, SpecError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_of_processes_or_of_each_core() {
        let spec: Spec = "busy:4x+disk:1+fork".parse().unwrap();
        let processes = spec.processes(3);
        let of = |load| processes.iter().filter(|&&one| one == load).count();
        assert_eq!((processes.len(), of(Load::Busy), of(Load::Disk), of(Load::Fork)), (14, 12, 1, 1));
        assert_eq!(spec.to_string(), "busy:4x+disk:1+fork:1");
        assert_eq!(spec.to_string().parse(), Ok(spec));
        let none: Spec = "none".parse().unwrap();
        assert!(none.is_none() && none.processes(4).is_empty() && none.to_string() == "none");
    }

    #[test]
    fn a_wrong_word_is_answered_with_the_right_one() {
        let error = |text: &str| text.parse::<Spec>().unwrap_err().to_string();
        assert_eq!(error("bussy:4"), "unknown load \"bussy\": did you mean busy?");
        assert!(error("").starts_with("unknown load \"\": give one of busy, memory"), "{}", error(""));
        for count in ["busy:0", "busy:-1", "busy:x", "busy:257", "busy:", "busy:1+disk:many"] {
            assert!(error(count).contains("is not a number of processes"), "{count}");
        }
    }
}
