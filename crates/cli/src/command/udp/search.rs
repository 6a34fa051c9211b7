//! `takt udp search`: the highest rate at which nothing is lost.

use std::time::Duration;

use takt_base::shown::duration;
use takt_base::{parse_duration, parse_number};
use takt_udp::UdpOptions;
use takt_udp::screen;
use takt_udp::search::{SearchOptions, search};

use super::flags::{Engine, Server, Sizes, Ways, bar, load, share};
use super::problem;
use crate::{Answer, Output, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt udp search --addr 192.168.10.2                 one size, three searches: about half a minute
  takt udp search --addr 192.168.10.2 --size 64,512,1472 --bursts
  takt udp search --addr 192.168.10.2 --size 18,82,210,466,978,1234,1472 --trial 2s --confirm 60s
                                                      RFC 2544's Ethernet frames and final trial
  takt udp search --addr 192.168.10.2 --loss 0.1% --reverse

The search is binary. It repeats a failing trial before it accepts it (--verify). Datagrams that the
sender could not send in time do not count as lost: the sender then sets the limit, and the table
says so.

Exit status:
  0  a rate was found for every size
  1  no rate was found for a size
  2  the command failed")]
pub(super) struct Args {
    #[command(flatten)]
    server: Server,
    /// Payload sizes to search for, 16 to 9000 bytes each, such as 64,512,1472.
    #[arg(short = 'l', long, value_name = "BYTES", default_value = "1472")]
    size: Sizes,
    /// Highest rate to offer, in datagrams/s [default: the rate of sending flat out].
    #[arg(long, value_name = "RATE", value_parser = parse_number)]
    max_pps: Option<f64>,
    /// Share of the sent datagrams that may be lost, such as 0.1%.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    loss: f64,
    /// Length of a trial.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    trial: Duration,
    /// How long the result must hold. If not longer than --trial, takt does not confirm it.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    confirm: Duration,
    /// How close the result must be to the lowest rate that fails, as a share of the latter.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    resolution: f64,
    /// Repeat a failing trial N times before accepting it.
    #[arg(long, value_name = "N", default_value_t = 1)]
    verify: u32,
    /// Run the whole search N times.
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeats: u32,
    /// Also search for the longest burst that passes, and report the buffer that it indicates.
    #[arg(long)]
    bursts: bool,
    /// How long to send before the measurement begins.
    #[arg(short = 'O', long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    warm_up: Duration,
    #[command(flatten)]
    ways: Ways,
    #[command(flatten)]
    engine: Engine,
}

pub(super) fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let options = args.options();
    if !output.wants_json() {
        output.note(format!("this takes up to about {}", duration(options.about().as_secs_f64().round())));
    }
    let bar = bar(output);
    let mut draw = |progress| bar.say(&screen::search::progress(&progress));
    let report = search(&options, &mut draw, &stop);
    drop(bar);
    let report = report.map_err(|error| problem(&format!("no search towards {}", options.load.server), error))?;
    output.screen(&report, || screen::search::screen(&report), true, Answer::of(report.is_found()))
}

impl Args {
    fn options(self) -> SearchOptions {
        let load = UdpOptions { warm_up: self.warm_up, ..load(&self.server, &self.ways, self.engine) };
        let Sizes(mut payloads_bytes) = self.size;
        payloads_bytes.sort_unstable();
        payloads_bytes.dedup();
        SearchOptions {
            payloads_bytes,
            ceiling_per_s: self.max_pps,
            loss_share: self.loss,
            trial: self.trial,
            confirm: Some(self.confirm).filter(|&confirm| confirm > self.trial),
            resolution: self.resolution,
            verify: self.verify,
            repeats: self.repeats,
            bursts: self.bursts,
            ..SearchOptions::of(load)
        }
    }
}
