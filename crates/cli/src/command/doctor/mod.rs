//! `takt doctor`: what in this host stands in the way of a radio, and the change that mends it.

mod fix;
mod text;
mod undo;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use takt_host::Host;
use takt_host::dirs::state_dir;
use takt_host::doctor::journal::{self, Entry};
use takt_host::doctor::{self, Diagnosis, RULES, Verdict};

use crate::answer::Answer;
use crate::output::Output;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt doctor                                  look; nothing is changed
  takt doctor --explain socket-buffer-small    why it matters, what it costs, how it is looked at
  sudo takt doctor --fix                       mend what stands; asks before it changes anything
  sudo takt doctor --fix --only governor --yes
  sudo takt doctor --undo                      give back everything that was changed

Every change is written to a journal before it is made, and none outlives a reboot.
Exit status: 0 nothing stands in the way, 1 something does, 2 it could not be carried out.")]
pub struct Args {
    /// Look at, mend or give back this rule's subject only; repeat for several.
    #[arg(long, value_name = "RULE", value_parser = rules())]
    only: Vec<String>,
    /// Say what a rule knows, and look at nothing.
    #[arg(long, value_name = "RULE", value_parser = rules(), conflicts_with_all = ["only", "fix", "undo", "root"])]
    explain: Option<String>,
    /// Mend what stands. Where others pay for it, the rule must be named or the question answered with yes.
    #[arg(long, conflicts_with = "undo")]
    fix: bool,
    /// Give back what --fix changed, newest first.
    #[arg(long)]
    undo: bool,
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

/// What was seen: the JSON document.
#[derive(Serialize)]
struct Seen {
    /// Rules whose subject stands in the way.
    stands: Vec<String>,
    diagnoses: Vec<Diagnosis>,
    /// Changes that takt has made and not given back.
    changed: Vec<Entry>,
}

impl Seen {
    fn of(args: &Args, host: &Host) -> Seen {
        let diagnoses = doctor::examine(host, |rule| args.picks(rule.id));
        let standing = diagnoses.iter().filter(|seen| seen.verdict == Verdict::Stands);
        let stands = standing.map(|seen| seen.id.clone()).collect();
        // A journal that cannot be read is told of by those who need it.
        let changed = journal::read(&state_dir()).map(|journal| journal.standing).unwrap_or_default();
        Seen { stands, diagnoses, changed }
    }
}

impl Args {
    fn host(&self) -> Host {
        self.root.as_ref().map_or_else(Host::this, Host::at)
    }

    fn picks(&self, rule: &str) -> bool {
        self.only.is_empty() || self.names(rule)
    }

    fn names(&self, rule: &str) -> bool {
        self.only.iter().any(|only| only == rule)
    }
}

/// Looks, explains, mends or gives back.
pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    if let Some(id) = &args.explain {
        return explain(id, output);
    }
    if args.undo {
        return undo::run(&args, output);
    }
    if args.fix {
        return fix::run(&args, output);
    }
    let seen = Seen::of(&args, &args.host());
    output.result(&seen, || text::seen(&seen))?;
    Ok(Answer::of(seen.stands.is_empty()))
}

fn explain(id: &str, output: &Output) -> miette::Result<Answer> {
    let rule = doctor::rule(id).expect("the parser takes only rules there are");
    let words = doctor::explain(rule);
    output.result(&serde_json::json!({ "id": rule.id, "explanation": words }), || words.clone())?;
    Ok(Answer::Yes)
}
