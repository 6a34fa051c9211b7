//! `takt stops`: does this machine stand still for longer than a radio waits?

use std::time::Duration;

use takt_base::parse_duration;
use takt_lab::check::Need;
use takt_lab::check::watch::{self, WatchError, WatchOptions};
use takt_report::screen;

use super::check::status;
use crate::{Answer, Bar, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sudo takt stops                               ten seconds, every core, an N200 at its full rate
  sudo takt stops --duration 10min              while you work; Ctrl-C ends it and shows what was seen
  takt stops --cores 0,1 --need n200:10M:rx     these cores, and what another stream's buffers hold

Nothing is streamed: a thread on each core wakes once a millisecond, which takes less than a hundredth of it. As root it comes
before every ordinary program; as an ordinary user it sees no wait for a core below 5 ms.

Exit status: 0 every stop fits into the buffers, with a margin; 1 one does not; 2 no core can be looked at.")]
pub struct Args {
    /// How long to look.
    #[arg(short, long, value_name = "T", default_value = "10s", value_parser = parse_duration)]
    duration: Duration,
    /// Cores to look at, such as 0,2-3 [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cores: Vec<usize>,
    /// The stream whose buffers stops are held against: MODEL:RATE[:rx|tx|duplex[:sc16|sc8]]; repeat for several.
    #[arg(long = "need", value_name = "MODEL:RATE", default_value = "n200:25M")]
    needs: Vec<Need>,
    /// Also list the longest stops one by one, and say what can't be seen.
    #[arg(long)]
    explain: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let options = WatchOptions { duration: args.duration, cores: args.cores, needs: args.needs };
    let stop = stop_on_signal()?;
    let look = |bar: &Bar| watch::watch(&options, &mut |elapsed| bar.show(elapsed, options.duration), &stop);
    let outcome = Bar::during(output, look).map_err(|error| Problem::caused("can't look for stops", error, fix))?;
    let answer = status(outcome.answer);
    output.screen(&outcome, || screen::stops::screen(&outcome), args.explain, answer)
}

fn fix(error: &WatchError) -> Option<String> {
    match error {
        WatchError::Nothing(_) => {
            Some("--cores with cores that this process may use (taskset -cp $$ lists them)".into())
        }
        _ => None,
    }
}
