//! `takt doctor`: finds what on this host keeps a radio from its deadlines, and fixes it.

mod fix;
mod prove;
mod text;
mod undo;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use takt_base::{nearest, parse_duration};
use takt_doctor::journal::{self, Entry};
use takt_doctor::{Diagnosis, RULES, Verdict};
use takt_host::dirs::state_dir_of;
use takt_host::{Host, call};

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt doctor                                  examine the host; change nothing
  takt doctor --all                            list every rule
  takt doctor --explain socket-buffer-small    say why a rule matters and what it costs
  sudo takt doctor --fix                       fix the problems; ask before each fix
  sudo takt doctor --fix --only governor --yes
  sudo takt doctor --prove socket-buffer-small measure whether a change helps on this host
  sudo takt doctor --undo                      undo all changes

takt writes every change to a journal before it makes it. No change outlives a reboot.
Exit status: 0 no problem, or the change helps; 1 a problem, or the change does not help; 2 an error, or no rule could \
decide.")]
pub struct Args {
    /// Check, fix or undo only what this rule is about. Repeat for several. --all lists the rules.
    #[arg(long, value_name = "RULE")]
    only: Vec<String>,
    /// Explain this rule, and check nothing.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["only", "fix", "undo", "root"])]
    explain: Option<String>,
    /// List every rule, also those that are fine or only noted.
    #[arg(long)]
    all: bool,
    /// Fix the problems found. takt asks before each fix. With --yes, it applies a fix with side effects only if you name its rule
    /// with --only.
    #[arg(long, conflicts_with = "undo")]
    fix: bool,
    /// Undo what --fix changed, newest first.
    #[arg(long)]
    undo: bool,
    /// Measure whether a rule's fix helps on this host, in alternating rounds with and without it. Then takt undoes the fix,
    /// unless it helps and you answer yes to keeping it.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["only", "explain", "fix", "undo", "root", "all"])]
    prove: Option<String>,
    /// Number of pairs of rounds for --prove.
    #[arg(long, value_name = "N", default_value = "8")]
    pairs: u32,
    /// Length of a round for --prove.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    round: Duration,
    /// Keep the fix that --prove measured, whatever the result.
    #[arg(long, requires = "prove")]
    keep: bool,
    /// Undo what a killed --prove left, by its name in the journal, when standard input ends.
    #[arg(long, value_name = "RUN", hide = true)]
    guard: Option<String>,
    /// Check only this network interface, which leads to the radio. Without it, takt checks every card that is up.
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Ask no questions.
    #[arg(long)]
    yes: bool,
    /// Check a copy of another host's /proc and /sys in this directory.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Serialize)]
struct Findings {
    /// The rules that found a problem.
    problems: Vec<String>,
    diagnoses: Vec<Diagnosis>,
    /// Changes that takt has made on this host since boot and not undone.
    changed: Vec<Entry>,
}

impl Findings {
    fn of(args: &Args, host: &Host) -> Findings {
        let diagnoses = takt_doctor::examine(host, |rule| args.picks(rule.id));
        let problems = diagnoses.iter().filter(|one| one.verdict == Verdict::Problem);
        let problems = problems.map(|one| one.id.clone()).collect();
        // The commands that need the journal report one that cannot be read.
        let changed = journal::in_force(&state_dir_of(host), host).unwrap_or_default();
        Findings { problems, diagnoses, changed }
    }

    /// Whether no rule could decide.
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

    /// The call that undoes the changes on this host.
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
    named(&args)?;
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
    let answer = if found.knows_nothing() { Answer::Unknown } else { Answer::of(found.problems.is_empty()) };
    output.answer(&found, || text::findings(&found, args.all || !args.only.is_empty(), &args.undo_call()), answer)
}

/// Fails if a rule is named that does not exist.
fn named(args: &Args) -> Result<(), Problem> {
    let mut ids = args.only.iter().chain(&args.explain).chain(&args.prove);
    let Some(unknown) = ids.find(|id| takt_doctor::rule(id).is_none()) else { return Ok(()) };
    let list = format!("{}   (lists the rules)", call::takt("doctor --all"));
    let fix = match nearest(unknown, RULES.iter().map(|rule| rule.id)) {
        Some(near) => format!("did you mean {near}?\n{list}"),
        None => list,
    };
    Err(Problem::new(format!("no rule is called `{unknown}`")).fix(fix))
}

/// Fails if the host to examine is not there, so that a typing error does not look like a host without problems.
fn there(args: &Args) -> miette::Result<()> {
    if let Some(root) = args.root.as_ref().filter(|root| !root.join("proc").is_dir() && !root.join("sys").is_dir()) {
        return Err(Problem::new(format!("{} is not a copy of a host", root.display()))
            .why("it has neither a folder proc nor a folder sys")
            .fix("give --root DIR, where DIR/proc and DIR/sys are copies of another host's")
            .into());
    }
    let (host, folder) = (args.host(), "/sys/class/net");
    match host.interface() {
        // takt still undoes changes to an interface that is gone.
        Some(name) if !args.undo && !host.list(folder).iter().any(|one| one == name) => {
            Err(Problem::new(format!("there is no interface {name}"))
                .fix(format!("give --interface one of {}", host.list(folder).join(", ")))
                .into())
        }
        _ => Ok(()),
    }
}

fn explain(id: &str, output: &Output) -> miette::Result<Answer> {
    let rule = takt_doctor::rule(id).expect("the rule was found before");
    let words = takt_doctor::explain(rule);
    output.answer(&serde_json::json!({ "id": rule.id, "explanation": words }), || words.clone(), Answer::Yes)
}
