//! `takt share status`, `add` and `remove`: what the share that runs is asked.

use std::path::PathBuf;

use serde_json::Value as Json;
use takt_base::words;
use takt_host::call;
use takt_share::ShareStatus;
use takt_share::control::{self, ControlAnswer, ControlRequest, MOST_ADDED_BYTES};

use super::{radio_keys, state};
use crate::waveform::{text_of, unreadable_file};
use crate::{Answer, Output, Problem};

/// The share that is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 done, 2 the command failed.")]
pub struct Share {
    /// Process that shares the radio, if there are several.
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt share add more.toml
  takt share add --radio name=third,addr=127.0.0.13,rate=1e6,transmit=true

The file has [[radio]] tables alone: docs/reference/share.md. takt adds all of them or none.

Exit status: 0 done, 2 the command failed.")]
pub struct Added {
    /// File with the radios.
    #[arg(value_name = "FILE", required_unless_present = "radio", conflicts_with = "radio")]
    file: Option<PathBuf>,
    /// One radio: keys of the file and their values.
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = radio_keys::to_toml)]
    radio: Option<String>,
    #[command(flatten)]
    share: Share,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Its program gets errors, as if somebody had unplugged the radio. The other radios continue.

Exit status: 0 done, 2 the command failed.")]
pub struct Removed {
    /// Name of the radio.
    name: String,
    #[command(flatten)]
    share: Share,
}

pub fn status(args: &Share, output: &Output) -> miette::Result<Answer> {
    let process = process(args.process)?;
    let unread =
        |error| Problem::new("can't read the answer").why(error).fix("use the same version of takt on both sides");
    let status: ShareStatus = serde_json::from_value(ask(process, &ControlRequest::Status)?).map_err(unread)?;
    output.answer(&status, || state::text(&status), Answer::Yes)
}

pub fn add(args: Added, output: &Output) -> miette::Result<Answer> {
    let (file, text) = match (args.radio, args.file) {
        (Some(radio), _) => ("--radio".to_owned(), radio),
        (None, Some(path)) => {
            let name = path.display().to_string();
            let example = "see docs/reference/share.md for the tables";
            let text = text_of(&path, MOST_ADDED_BYTES);
            (name.clone(), text.map_err(|error| unreadable_file("radios", &name, error, example))?)
        }
        (None, None) => {
            return Err(Problem::new("no radio to add").fix("give FILE\ngive --radio KEY=VALUE,...").into());
        }
    };
    if text.len() > MOST_ADDED_BYTES {
        let why = format!("it has more than {MOST_ADDED_BYTES} bytes");
        return Err(Problem::new(format!("can't read {file}")).why(why).fix("add fewer radios at a time").into());
    }
    let answer = ask(process(args.share.process)?, &ControlRequest::Add { file, text })?;
    output.answer(&answer, || added(&answer), Answer::Yes)
}

pub fn remove(args: Removed, output: &Output) -> miette::Result<Answer> {
    let answer = ask(process(args.share.process)?, &ControlRequest::Remove { name: args.name.clone() })?;
    output.answer(&answer, || format!("removed radio {}", args.name), Answer::Yes)
}

fn added(answer: &Json) -> String {
    let text = |radio: &Json, key: &str| radio[key].as_str().unwrap_or_default().to_owned();
    let radios = answer["added"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lines = radios.iter().map(|radio| format!("added {} {}\n", text(radio, "name"), text(radio, "addr")));
    let percent = |key: &str| 100.0 * answer[key].as_f64().unwrap_or_default();
    let cost = format!(
        "front end and radios need {:.0} % of a core at their highest rates, and {:.0} % are allowed",
        percent("cores_needed"),
        percent("cores_allowed")
    );
    lines.collect::<String>() + &cost
}

/// The process that was named, or the only one of this user that shares a radio.
fn process(named: Option<u32>) -> miette::Result<u32> {
    if let Some(process) = named {
        return Ok(process);
    }
    let what = || Problem::new("no share can be reached");
    let processes = control::running().map_err(|error| what().why(error).fix("takt clean"))?;
    match &processes[..] {
        [only] => Ok(*only),
        [] => {
            let why = "no `takt share` is running under this user";
            Err(what().why(why).fix(format!("{}   (in another terminal)", call::takt("share --radios FILE"))).into())
        }
        several => {
            let list: Vec<String> = several.iter().map(ToString::to_string).collect();
            let why = format!("{} are running: processes {}", several.len(), words::list(&list));
            Err(what().why(why).fix(format!("give --process {}", several[0])).into())
        }
    }
}

fn ask(process: u32, request: &ControlRequest) -> miette::Result<Json> {
    let unanswered = |error: std::io::Error| {
        Problem::new(format!("process {process} can't be reached"))
            .why(error)
            .fix("name a process that runs `takt share`")
    };
    match control::ask(process, request).map_err(unanswered)? {
        ControlAnswer::Good(answer) => Ok(answer),
        ControlAnswer::Refused { why, fix } => {
            Err(Problem::new("takt share refused the request").why(why).fix(fix).into())
        }
    }
}
