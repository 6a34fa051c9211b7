//! `takt doctor`: what in this host stands in the way of a radio, and the change that mends it.

mod fix;
mod prove;
mod text;
mod undo;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use takt_base::parse_duration;
use takt_doctor::journal::{self, Entry};
use takt_doctor::{Diagnosis, RULES, Verdict};
use takt_host::dirs::state_dir_of;
use takt_host::{Host, call};

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt doctor                                  look; nothing is changed
  takt doctor --all                            what is fine, too
  takt doctor --explain socket-buffer-small    why it matters, what it costs, how it is looked at
  sudo takt doctor --fix                       mend what stands; asks before it changes anything
  sudo takt doctor --fix --only governor --yes
  sudo takt doctor --prove socket-buffer-small what the change is worth here, measured in turns
  sudo takt doctor --undo                      give back everything that was changed

Every change is written to a journal before it is made, and none outlives a reboot.
Exit status: 0 nothing stands in the way, or the change helps; 1 something does, or it does not; 2 it could not be carried \
out, or no rule could be judged.")]
pub struct Args {
    /// Look at, mend or give back this rule's subject only; repeat for several. --all lists the rules.
    #[arg(long, value_name = "RULE", value_parser = rules(), hide_possible_values = true)]
    only: Vec<String>,
    /// Say what a rule knows, and look at nothing.
    #[arg(long, value_name = "RULE", value_parser = rules(), hide_possible_values = true,
        conflicts_with_all = ["only", "fix", "undo", "root"])]
    explain: Option<String>,
    /// List every rule, also what is fine or only noted.
    #[arg(long)]
    all: bool,
    /// Mend what stands. Where others pay for it, the rule must be named or the question answered with yes.
    #[arg(long, conflicts_with = "undo")]
    fix: bool,
    /// Give back what --fix changed, newest first.
    #[arg(long)]
    undo: bool,
    /// Measure what a rule's change is worth on this host: rounds with it and without it in turns. Then it is given back,
    /// unless it helps and the question whether to keep it is answered with yes.
    #[arg(long, value_name = "RULE", value_parser = rules(), hide_possible_values = true,
        conflicts_with_all = ["only", "explain", "fix", "undo", "root", "all"])]
    prove: Option<String>,
    /// Pairs of rounds of --prove.
    #[arg(long, value_name = "N", default_value = "8")]
    pairs: u32,
    /// Length of a round of --prove.
    #[arg(long, value_name = "T", default_value = "1s", value_parser = parse_duration)]
    round: Duration,
    /// Keep the change that --prove measured, whatever came out.
    #[arg(long, requires = "prove")]
    keep: bool,
    /// Give back what a killed --prove left, by its name in the journal, when standard input ends.
    #[arg(long, value_name = "RUN", hide = true)]
    guard: Option<String>,
    /// Look at this network interface only, because the radio is behind it; without it at every card that is up.
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Ask nothing.
    #[arg(long)]
    yes: bool,
    /// Look at a copy of another host's /proc and /sys below this folder.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

fn rules() -> PossibleValuesParser {
    PossibleValuesParser::new(RULES.iter().map(|rule| rule.id))
}

#[derive(Serialize)]
struct Findings {
    /// Rules whose subject stands in the way.
    stands: Vec<String>,
    diagnoses: Vec<Diagnosis>,
    /// Changes that takt has made on this host since it was started, and not given back.
    changed: Vec<Entry>,
}

impl Findings {
    fn of(args: &Args, host: &Host) -> Findings {
        let diagnoses = takt_doctor::examine(host, |rule| args.picks(rule.id));
        let standing = diagnoses.iter().filter(|one| one.verdict == Verdict::Stands);
        let stands = standing.map(|one| one.id.clone()).collect();
        // A journal that cannot be read is reported by the commands that need it.
        let changed = journal::in_force(&state_dir_of(host), host).unwrap_or_default();
        Findings { stands, diagnoses, changed }
    }

    /// Whether no rule found out anything.
    fn knows_nothing(&self) -> bool {
        let hidden = |one: &Diagnosis| matches!(one.verdict, Verdict::NotVisible | Verdict::NotKnownHere);
        self.diagnoses.iter().all(hidden)
    }
}

impl Args {
    fn host(&self) -> Host {
        let host = self.root.as_ref().map_or_else(Host::this, Host::at);
        match &self.interface {
            Some(name) => host.for_interface(name),
            None => host,
        }
    }

    /// The call that gives back what was changed on this host.
    fn undo_call(&self) -> String {
        let root = self.root.as_ref().map(|root| format!(" --root {}", call::quoted(&root.to_string_lossy())));
        call::sudo_takt(format_args!("doctor --undo{}", root.unwrap_or_default()))
    }

    fn picks(&self, rule: &str) -> bool {
        self.only.is_empty() || self.names(rule)
    }

    fn names(&self, rule: &str) -> bool {
        self.only.iter().any(|only| only == rule)
    }
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    if let Some(run) = &args.guard {
        return prove::stand_guard(run);
    }
    there(&args)?;
    if let Some(id) = &args.prove {
        return prove::run(id, &args, output);
    }
    if let Some(id) = &args.explain {
        return explain(id, output);
    }
    if args.undo {
        return undo::run(&args, output);
    }
    if args.fix {
        return fix::run(&args, output);
    }
    let found = Findings::of(&args, &args.host());
    let answer = if found.knows_nothing() { Answer::Unknown } else { Answer::of(found.stands.is_empty()) };
    output.answer(&found, || text::findings(&found, args.all || !args.only.is_empty(), &args.undo_call()), answer)
}

/// Whether what is to be examined is there, so that a slip is not taken for a host without faults.
fn there(args: &Args) -> miette::Result<()> {
    if let Some(root) = args.root.as_ref().filter(|root| !root.join("proc").is_dir() && !root.join("sys").is_dir()) {
        return Err(Problem::new(format!("{} is no copy of a host", root.display()))
            .why("there is neither a folder proc nor a folder sys in it")
            .fix("--root DIR, where DIR/proc and DIR/sys are copies of another host's")
            .into());
    }
    let (host, folder) = (args.host(), "/sys/class/net");
    match host.interface() {
        // What an interface that has gone had is still given back.
        Some(name) if !args.undo && !host.list(folder).iter().any(|one| one == name) => {
            Err(Problem::new(format!("there is no interface {name}"))
                .fix(format!("--interface with one of {}", host.list(folder).join(", ")))
                .into())
        }
        _ => Ok(()),
    }
}

fn explain(id: &str, output: &Output) -> miette::Result<Answer> {
    let rule = takt_doctor::rule(id).expect("the parser takes only rules there are");
    let words = takt_doctor::explain(rule);
    output.answer(&serde_json::json!({ "id": rule.id, "explanation": words }), || words.clone(), Answer::Yes)
}
