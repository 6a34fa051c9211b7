//! `takt udp send`: one load, and what became of it.

use std::time::Duration;

use takt_base::parse_duration;
use takt_stats::{Histogram, Ns};
use takt_udp::screen;
use takt_udp::{MadeBy, NoIperf3, Progress, UdpOptions, UdpReport, run as send};

use super::flags::{Engine, Rate, Server, Sizes, Ways, bar, count, load};
use super::problem;
use crate::{Answer, Bar, HdrLogArgs, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt udp send --addr 192.168.10.2                        1472-byte datagrams, flat out, 10 s
  takt udp send --addr 192.168.10.2 --size 64 --pps 20k    paced, which shows the latency
  takt udp send --addr 192.168.10.2 --bitrate 100M --bidir --json
  takt udp send --addr 192.168.10.2 --bitrate 10M..900M -i 1s    a ramp: at which rate does loss begin?
  takt udp send --addr 192.168.10.2 --pps 10k --burst 64   bursts of 64 at the same mean rate
  takt udp send --addr 192.168.10.2 --size imix --bitrate 50M
  takt udp send --addr 192.168.10.2 --pps 20k --cores 1 --policy fifo:50
  takt udp send --addr 192.168.10.2 --size 64 --generator xdp    made by the kernel
  takt udp send --addr 192.168.10.2 --pps 20k --hdr-log latency.hlog

Coming from iperf3 (without a rate, it sends UDP at 1 Mb/s; takt sends flat out):
  iperf3 -u -c HOST -b 100M -l 1400 -t 30         takt udp send -c HOST -b 100M -l 1400 -t 30
  iperf3 -u -c HOST -b 0 -R -P 4 -i 1 -O 2        takt udp send -c HOST -R -P 4 -i 1 -O 2
  iperf3 -u -c HOST -b 10M -k 5000 -w 4M -J       takt udp send -c HOST -b 10M -k 5000 -w 4M --iperf3-json

Exit status:
  0  everything arrived
  1  datagrams were lost, or could not be sent in time
  2  the command failed")]
pub(super) struct Args {
    #[command(flatten)]
    server: Server,
    /// Payload of a datagram, 16 to 9000 bytes: one size, several in turn (64,512,1472), or imix.
    #[arg(short = 'l', long, value_name = "BYTES", default_value = "1472")]
    size: Sizes,
    /// Payload rate in bit/s, such as 100M, or a ramp such as 10M..100M [default: flat out].
    #[arg(short = 'b', long, value_name = "RATE", conflicts_with = "pps")]
    bitrate: Option<Rate>,
    /// Rate in datagrams/s, such as 20k, or a ramp such as 1k..20k.
    #[arg(long, value_name = "RATE")]
    pps: Option<Rate>,
    /// Number of datagrams that leave at once, at the same mean rate.
    #[arg(long, value_name = "N", default_value_t = 1)]
    burst: u32,
    /// End after N datagrams, if --duration has not ended before.
    #[arg(short = 'k', long, value_name = "N", value_parser = count)]
    count: Option<u64>,
    /// How long to send.
    #[arg(short = 't', long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    duration: Duration,
    /// How long to send before the measurement begins.
    #[arg(short = 'O', long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    warm_up: Duration,
    #[command(flatten)]
    ways: Ways,
    /// Report by intervals of this length [default: 1s]. The text shows them only with this flag.
    #[arg(short = 'i', long, value_name = "TIME", value_parser = parse_duration)]
    interval: Option<Duration>,
    #[command(flatten)]
    engine: Engine,
    /// Maker of the datagrams: engine, or xdp (the kernel makes them, as xdp-trafficgen does: flat out, one size, root only).
    #[arg(long, value_name = "MAKER", default_value = "engine")]
    generator: MadeBy,
    /// Show where datagrams were lost, the distribution of latency, and the CPU time that each end used.
    #[arg(long)]
    explain: bool,
    /// Print the document that iperf3 -J prints, for scripts that read it. For one size and one direction.
    #[arg(long, conflicts_with_all = ["bidir", "explain"])]
    iperf3_json: bool,
    #[command(flatten)]
    log: HdrLogArgs,
}

pub(super) fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let (intervals, explain, iperf3) = (args.interval.is_some(), args.explain, args.iperf3_json);
    if let Some(sizes) = Some(args.size.0.len()).filter(|&sizes| iperf3 && sizes > 1) {
        return Err(unlike_iperf3(NoIperf3::Sizes(sizes)).into());
    }
    let log = args.log.clone();
    let options = args.options();
    let bar = bar(output);
    let report = send(&options, &mut |progress| draw(&bar, &progress), &stop);
    drop(bar);
    let report = report.map_err(|error| problem(&format!("can't send load to {}", options.server), error))?;
    let length = Duration::try_from_secs_f64(report.way.received.span_s).unwrap_or_default();
    log.write("takt udp send", length, &histograms(&report), output)?;
    let answer = Answer::of(report.is_clean());
    if iperf3 {
        let document = report.to_iperf3().map_err(unlike_iperf3)?;
        output.line(format!("{document:#}"));
        return Ok(answer);
    }
    output.screen(&report, || screen::screen(&report, intervals), explain, answer)
}

fn unlike_iperf3(error: NoIperf3) -> Problem {
    Problem::new("can't print iperf3's document")
        .why(error)
        .fix("give --json instead\ngive one --size, and omit --bidir")
}

/// Each histogram with its name in a log.
fn histograms(report: &UdpReport) -> Vec<(&'static str, &Histogram<Ns>)> {
    let mut all =
        vec![("latency", &report.way.histograms.latency_ns), ("pacing_error", &report.way.histograms.pacing_error_ns)];
    if let Some(way) = &report.from_server {
        all.extend([
            ("latency_from_server", &way.histograms.latency_ns),
            ("pacing_error_from_server", &way.histograms.pacing_error_ns),
        ]);
    }
    all
}

impl Args {
    fn options(self) -> UdpOptions {
        let usual = load(&self.server, &self.ways, self.engine);
        let Sizes(sizes) = self.size;
        let payload_bytes = sizes.first().copied().unwrap_or(usual.payload_bytes);
        let options = UdpOptions {
            payload_bytes,
            sizes: if sizes.len() > 1 { sizes } else { Vec::new() },
            burst: self.burst,
            datagrams: self.count,
            duration: self.duration,
            warm_up: self.warm_up,
            interval: self.interval.unwrap_or(usual.interval),
            generator: self.generator,
            ..usual
        };
        let rate = self.pps.or(self.bitrate.map(|rate| rate.over(8.0 * options.mean_payload_bytes())));
        UdpOptions {
            datagrams_per_s: rate.map(|rate| rate.to),
            ramp_from_per_s: rate.and_then(|rate| rate.from),
            ..options
        }
    }
}

fn draw(bar: &Bar, progress: &Progress) {
    let share = progress.elapsed.as_secs_f64() / progress.planned.as_secs_f64().max(f64::MIN_POSITIVE);
    bar.steps((share.min(1.0) * 1000.0) as u64, 1000);
    bar.say(&screen::progress(progress));
}
