//! `takt variable`: watch and set the variables of a waveform while it runs.

use miette::Result;
use serde_json::Value as Json;
use takt_graph::Override;
use takt_host::call;
use takt_runtime::control::{self, FoundSockets, Request, UnansweredError};

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt variable                       list all variables
  takt variable channel.ebn0_db=3     set one

Exit status: 0 done, 2 the command failed.")]
pub struct Args {
    /// Set this variable at the next slot edge. Without it, takt lists all of them with their values.
    #[arg(value_name = "COMPONENT.VARIABLE=VALUE")]
    set: Option<Override>,
    /// Process that runs the waveform, if there are several.
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let request = match args.set {
        None => Request::Variables,
        Some(Override { component, param, value }) => Request::Set { component, variable: param, value },
    };
    let answer = ask(process(args.process, output)?, &request)?;
    let text = || match &answer {
        Json::Array(all) if all.is_empty() => "The waveform has no variables.".to_owned(),
        Json::Array(all) => all.iter().map(line).collect::<Vec<_>>().join("\n"),
        one => line(one),
    };
    output.answer(&answer, text, Answer::Yes)
}

/// The process that was named, or the only one of this user that runs a waveform. Notes what only has the name of one.
pub fn process(named: Option<u32>, output: &Output) -> Result<u32> {
    if let Some(process) = named {
        return Ok(process);
    }
    let what = || Problem::new("no waveform can be reached");
    let FoundSockets { processes, foreign } = control::running();
    foreign.iter().for_each(|foreign| output.note(foreign.to_string()));
    match &processes[..] {
        [only] => Ok(*only),
        [] => {
            let why = "no waveform is running under this user";
            Err(what().why(why).fix(format!("{}   (in another terminal)", call::takt("run WAVEFORM"))).into())
        }
        several => {
            let list: Vec<String> = several.iter().map(ToString::to_string).collect();
            let why = format!("{} are running: processes {}", several.len(), list.join(", "));
            Err(what().why(why).fix(format!("give --process {}", several[0])).into())
        }
    }
}

/// Asks the waveform that a process runs.
pub fn ask(process: u32, request: &Request) -> Result<Json, Problem> {
    control::answer_of(process, request).map_err(unanswered)
}

pub fn unanswered(error: UnansweredError) -> Problem {
    match error {
        UnansweredError::Unreachable { process, source } => Problem::new(format!("process {process} can't be reached"))
            .why(source)
            .fix("name a process that runs `takt run`"),
        UnansweredError::Refused { why, fix } => Problem::new("the waveform refuses").why(why).fix(fix),
        error => Problem::new("no mapping suits the waveform that runs")
            .why(error)
            .fix("use the same version of takt on both sides"),
    }
}

fn line(one: &Json) -> String {
    let text = |key: &str| match &one[key] {
        Json::String(text) => text.clone(),
        Json::Null => "-".to_owned(),
        other => other.to_string(),
    };
    let name = format!("{}.{}", text("component"), text("variable"));
    let about = if one["expected"].is_null() { String::new() } else { format!("   {}", text("expected")) };
    format!("{name:<28} {}{about}", text("value"))
}
