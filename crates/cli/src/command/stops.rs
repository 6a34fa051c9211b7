//! `takt stops`: does this machine stand still for longer than a radio waits?

use std::time::Duration;

use takt_base::parse_duration;
use takt_page::ReportAnswer;
use takt_questions::check::watch::screen;
use takt_questions::check::watch::{self, WatchError, WatchOptions};

use super::check::needed;
use crate::{Answer, Bar, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sudo takt stops                               ten seconds, every core, an N200 at its full rate
  sudo takt stops --duration 10min              while you work; Ctrl-C ends it and shows the result
  takt stops --cores 0,1 --need n200:10M:rx     these cores, and the buffers of another stream

takt streams nothing: a thread on each core wakes up once per millisecond, which takes less than 1 %
of the core. As root, this thread runs before every ordinary program. As an ordinary user, it sees
no wait for a core below 5 ms.

Exit status:
  0  every stop fits into the buffers, with a margin
  1  a stop does not fit
  2  no core can be watched")]
pub struct Args {
    /// How long to watch.
    #[arg(short = 't', long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    duration: Duration,
    /// Cores to watch, such as 0,2 [default: all].
    #[arg(long, value_name = "CORES", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Stream whose buffers must hold the stops: MODEL:RATE[:rx|tx|duplex[:sc16|sc8]]. Repeat for several.
    #[arg(long = "need", value_name = "MODEL:RATE", default_value = "n200:25M")]
    needs: Vec<String>,
    /// Also list the longest stops one by one, and what takt can't see.
    #[arg(long)]
    explain: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let options = WatchOptions { duration: args.duration, cores: args.cores, needs: needed(&args.needs)? };
    let stop = stop_on_signal()?;
    let look = |bar: &Bar| watch::watch(&options, &mut |elapsed| bar.show(elapsed, options.duration), &stop);
    let outcome = Bar::during(output, look).map_err(|error| Problem::caused("can't look for stops", error, fix))?;
    let answer = ReportAnswer::from(outcome.answer).into();
    output.screen(&outcome, || screen::screen(&outcome), args.explain, answer)
}

fn fix(error: &WatchError) -> Option<String> {
    match error {
        WatchError::Nothing(_) => {
            Some("give --cores with cores that this process may use (taskset -cp $$ lists them)".into())
        }
        _ => None,
    }
}
