//! The file: what it may say, read into an [`Experiment`] or refused as a whole.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use takt_base::Mistyped;
use takt_load::Contradiction;
use takt_load::setting::UnknownLevel;
use toml::Spanned;

use super::count::Count;
use super::error::{Complaint, FileError, meant};
use super::need::Need;
use super::node::Table;
use super::on_node;
use super::part::{self, Part, RawPart, Spelling};
use super::{Depth, Point};

#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name: the file's, without directory and `.toml`.
    pub name: String,
    pub question: String,
    pub study: Option<Study>,
    pub rounds: Rounds,
    /// Its parts; a file without `[[part]]` is one part called as the file.
    pub parts: Vec<Part>,
    /// Rates that a verdict is about.
    pub needs: Vec<Need>,
    /// The file, as read: it goes into the store with the run.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { name = \"aloe\", figures = [\"6\"] }")]
pub struct Study {
    pub name: String,
    /// The figures repeated.
    #[serde(default)]
    pub figures: Vec<String>,
    /// Rules that were fixed before its data were seen.
    pub rules: Option<Rules>,
}

/// The rules of a study, fixed before its data are seen. A change gives them a new number, and answers under the old ones are
/// not compared with those under the new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { number = 2, since = \"2026-11-23\", changed = \"...\" }")]
pub struct Rules {
    /// Counts the changes.
    pub number: u32,
    /// The day from which they hold, `YYYY-MM-DD`.
    pub since: String,
    pub changed: String,
    /// Rounds that do not count, whatever their outcome; empty in files of older versions.
    #[serde(default)]
    pub set_aside: String,
    /// Methods that compute figures and claims; empty in files of older versions.
    #[serde(default)]
    pub estimator: String,
    /// Times above or below which something counts, by name; the rounds must have been measured with the same.
    #[serde(default)]
    pub limits: BTreeMap<String, String>,
}

impl Rules {
    /// Which rules, since when, and what changed; without a full stop.
    #[must_use]
    pub fn in_words(&self) -> String {
        let Rules { number, since, changed, set_aside, estimator, .. } = self;
        let more = [("excluded", set_aside), ("estimator", estimator)];
        let more = more.iter().filter(|(_, words)| !words.is_empty()).map(|(name, words)| format!("; {name}: {words}"));
        let more = more.collect::<String>();
        format!("rules {number} of the study, fixed on {since} before its data were seen: {changed}{more}")
    }
}

/// How often each point is measured, in which order, and which rounds count.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    pub full: u32,
    pub quick: u32,
    /// Whether each block is shuffled; a block holds each point once, so that drift hits all alike.
    pub shuffled: bool,
    pub seed: u64,
    pub valid: Valid,
}

/// Conditions for a round to count. One that does not is kept, marked and run again.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table such as { repeats_max = 1 }")]
pub struct Valid {
    /// Largest share of the machine's CPU time that others may use.
    pub foreign_cpu_share_max: f64,
    /// Largest share of the machine's CPU time that the hypervisor may take.
    pub steal_share_max: f64,
    /// Largest share of a round that may be excluded, since the emulator was late or a core stood still.
    pub excluded_share_max: f64,
    /// How often a round that does not count is run again at most.
    pub repeats_max: u32,
    /// As many rounds are run again at most, as a share of the planned ones.
    pub repeats_share_max: f64,
    /// How often a round of a needed rate is run again at most; the share does not bind these.
    pub repeats_needed_max: u32,
}

impl Default for Valid {
    fn default() -> Valid {
        Valid {
            foreign_cpu_share_max: 0.05,
            steal_share_max: 0.02,
            excluded_share_max: 0.5,
            repeats_max: 1,
            repeats_share_max: 0.25,
            repeats_needed_max: 4,
        }
    }
}

/// When higher levels of a factor are not worth running any more.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with ascending and lost_share_above")]
pub struct Stop {
    /// The factor that grows harder with its level.
    pub ascending: String,
    /// A round has failed clearly if more than this share was lost.
    pub lost_share_above: f64,
    /// As many lower levels must have failed clearly in their latest counted round.
    #[serde(default = "two")]
    pub levels: usize,
}

fn two() -> usize {
    2
}

impl Experiment {
    #[must_use]
    pub fn is_needed(&self, point: &Point) -> bool {
        let stream = point.workload.needs().stream;
        self.needs.iter().any(|need| stream == Some(need.stream()))
    }

    /// Reads and checks a file. `name` is its name without directory and `.toml`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place and what would be right.
    pub fn parse(name: &str, text: &str) -> Result<Experiment, FileError> {
        check(name, text, Spelling::Present).map_err(|complaint| complaint.within(&format!("{name}.toml"), text))
    }

    /// Reads the file of a recorded run; settings may have the names of an older version.
    ///
    /// # Errors
    /// As above.
    pub fn recorded(name: &str, text: &str) -> Result<Experiment, FileError> {
        check(name, text, Spelling::Any).map_err(|complaint| complaint.within(&format!("{name}.toml"), text))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    question: String,
    study: Option<Study>,
    #[serde(default)]
    factors: Table,
    #[serde(default)]
    fixed: Table,
    stop: Option<Spanned<Stop>>,
    rounds: RawRounds,
    #[serde(default)]
    part: Vec<Spanned<RawPart>>,
    #[serde(default)]
    need: Vec<Need>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with count and order")]
struct RawRounds {
    count: Spanned<Count>,
    order: RawOrder,
    #[serde(default)]
    valid: Valid,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { seed = 1 }")]
struct RawOrder {
    seed: u64,
    #[serde(default = "yes")]
    shuffled_blocks: bool,
}

fn yes() -> bool {
    true
}

fn check(name: &str, text: &str, spelling: Spelling) -> Result<Experiment, Complaint> {
    let raw: RawFile = toml::from_str(text).map_err(|error| of_toml(&error))?;
    let rounds = rounds(raw.rounds)?;
    let spans: Vec<Range<usize>> = raw.part.iter().map(Spanned::span).collect();
    let parts = if raw.part.is_empty() {
        let whole = RawPart::whole(name, raw.factors, raw.fixed, raw.stop);
        vec![part::check(whole, 0..text.len(), spelling)?]
    } else {
        no_level_outside_parts(&raw.factors, &raw.fixed)?;
        let checked =
            raw.part.into_iter().zip(&spans).map(|(part, span)| part::check(part.into_inner(), span.clone(), spelling));
        checked.collect::<Result<_, _>>()?
    };
    for (n, part) in parts.iter().enumerate() {
        if parts.iter().take(n).any(|other| other.name == part.name) {
            let place = text.find(&format!("\"{}\"", part.name)).map_or(0..0, |at| at..at + part.name.len() + 2);
            return Err(Complaint::new(place, format!("two parts are called {}", part.name), "rename one of them"));
        }
    }
    let experiment = Experiment {
        name: name.into(),
        question: raw.question,
        study: raw.study,
        rounds,
        parts,
        needs: raw.need,
        text: text.into(),
    };
    no_contradiction(&experiment, &spans)?;
    Ok(experiment)
}

/// No point has settings that rule each other out.
fn no_contradiction(experiment: &Experiment, spans: &[Range<usize>]) -> Result<(), Complaint> {
    for depth in [Depth::Full, Depth::Quick] {
        let points = experiment.read_points(depth).map_err(|unknown| unread(&unknown, &experiment.text))?;
        points.iter().try_for_each(|point| no_contradiction_at(point, experiment, spans))?;
    }
    Ok(())
}

fn no_contradiction_at(point: &Point, experiment: &Experiment, spans: &[Range<usize>]) -> Result<(), Complaint> {
    let contradiction = point.workload.contradiction().or_else(|| on_node::contradiction(point));
    let Some(Contradiction { setting, what, remedy }) = contradiction else { return Ok(()) };
    // A part reaches to the next; its own span is that of its head.
    let begin = spans.get(point.part).map_or(0, |span| span.start);
    let end = spans.get(point.part + 1).map_or(experiment.text.len(), |span| span.start);
    let named = experiment.text.get(begin..end).and_then(|text| text.find(setting));
    let place = named.map_or(begin..begin, |at| begin + at..begin + at + setting.len());
    Err(Complaint::new(place, what, remedy))
}

/// A level that a setting accepts and that nothing reads.
fn unread(unknown: &UnknownLevel, text: &str) -> Complaint {
    let place = text.find(unknown.name).map_or(0..0, |at| at..at + unknown.name.len());
    Complaint::new(place, unknown.to_string(), "report it: this is a bug in takt")
}

fn rounds(raw: RawRounds) -> Result<Rounds, Complaint> {
    let span = raw.count.span();
    let Count { full, quick } = raw.count.into_inner();
    if !(1..=ROUNDS_MAX).contains(&full) || !(1..=ROUNDS_MAX).contains(&quick) {
        let remedy = format!("give each from 1 to {ROUNDS_MAX}");
        return Err(Complaint::new(span, format!("rounds can't be {full} and {quick}"), remedy));
    }
    let RawOrder { seed, shuffled_blocks } = raw.order;
    Ok(Rounds { full, quick, shuffled: shuffled_blocks, seed, valid: raw.valid })
}

const ROUNDS_MAX: u32 = 10_000;

fn no_level_outside_parts(factors: &Table, fixed: &Table) -> Result<(), Complaint> {
    match factors.keys().chain(fixed.keys()).next() {
        None => Ok(()),
        Some(name) => {
            let what = format!("{} is outside the parts", name.get_ref());
            Err(Complaint::new(name.span(), what, "move it into a [[part]]"))
        }
    }
}

/// A complaint of the TOML reader or serde, with a guess at what was meant.
fn of_toml(error: &toml::de::Error) -> Complaint {
    let span = error.span().unwrap_or(0..0);
    let message = error.message();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((word, known)) if message.starts_with("unknown ") => {
            let remedy = meant(word, known.iter().copied(), format!("use one of: {}", known.join(", ")));
            let what = if message.starts_with("unknown field") { "key" } else { "word" };
            Complaint::new(span, format!("unknown {what} \"{word}\""), remedy)
        }
        Some((word, _)) if message.starts_with("missing field") => {
            Complaint::new(span, format!("\"{word}\" is missing"), format!("add \"{word}\" here"))
        }
        _ => match Mistyped::read(message) {
            Some(slip) => {
                Complaint::new(span, format!("{} is not allowed here", slip.found), format!("give {}", slip.expected))
            }
            None => {
                let mut lines = message.lines();
                let what = lines.next().unwrap_or("not TOML");
                Complaint::new(span, what, lines.next().unwrap_or("fix the syntax here"))
            }
        },
    }
}
