//! `takt rate`: stream at a rate and count everything that goes wrong.

use std::convert::Infallible;
use std::net::IpAddr;
use std::time::Duration;

use takt_base::{parse_bytes, parse_duration, parse_number};
use takt_load::rate::{self, Notice, Options, RateError, Threads, WireFormat};
use takt_packet::EngineKind;
use takt_radio::n200::ClockSource;
use takt_report::screen;

use crate::policy::{Policy, cpus_is_cores, priority_is_policy};
use crate::radio_problem;
use crate::{Answer, Bar, Output, Problem, stop_on_signal};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  takt rate --addr 192.168.10.2 --rx 25M --duration 10s\n  \
    takt rate --addr 192.168.10.2 --rx 25M --tx 25M --transmit\n\n\
    Exit status: 0 nothing went wrong and the reader kept up, 1 not, 2 it could not be tried.")]
pub struct Args {
    /// The radio.
    #[arg(long, default_value = "127.0.0.1")]
    addr: IpAddr,
    /// Samples a second to receive: 100 MHz divided by a whole number.
    #[arg(long, value_name = "R", value_parser = parse_number)]
    rx: Option<f64>,
    /// Samples a second to transmit.
    #[arg(long, value_name = "R", value_parser = parse_number)]
    tx: Option<f64>,
    /// How long it is measured.
    #[arg(long, value_name = "T", default_value = "10s", value_parser = parse_duration)]
    duration: Duration,
    /// How long it streams before that.
    #[arg(long, value_name = "T", default_value = "500ms", value_parser = parse_duration)]
    warm_up: Duration,
    /// Packet engine: socket or mmsg.
    #[arg(long, value_name = "E", default_value = "mmsg")]
    engine: EngineKind,
    /// Samples on the wire.
    #[arg(long, default_value = "sc16", value_parser = ["sc16", "sc8"])]
    format: String,
    /// Receive DSPs: 0, 1 or 0,1.
    #[arg(long, value_name = "N", default_value = "0", value_delimiter = ',')]
    channels: Vec<u8>,
    /// Largest datagram; the path is probed up to it.
    #[arg(long, value_name = "BYTES", default_value = "1472", value_parser = parse_bytes)]
    frame: u64,
    /// Samples in a datagram, instead of as many as fit.
    #[arg(long, value_name = "N")]
    spp: Option<usize>,
    /// Let the kernel split aggregates on the way out (UDP GSO).
    #[arg(long)]
    aggregate: bool,
    /// How long received samples may wait so that one wake-up fetches many; 0s wakes up for each datagram.
    #[arg(long, value_name = "T", default_value = "2ms", value_parser = parse_duration)]
    coalesce: Duration,
    /// Receive buffer of the socket, beyond net.core.rmem_max (CAP_NET_ADMIN); otherwise what an ordinary program gets.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    recv_buffer: Option<u64>,
    /// One thread for both directions, or two.
    #[arg(long, value_name = "N", default_value = "2", value_parser = ["1", "2"])]
    threads: String,
    /// CPUs for the streaming threads: receiving, transmitting.
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Scheduling policy of the streaming threads: other, or fifo:PRIORITY.
    #[arg(long, value_name = "P", default_value = "other")]
    policy: Policy,
    #[arg(long = "priority", hide = true, value_parser = priority_is_policy)]
    _priority: Option<Infallible>,
    #[arg(long = "cpus", hide = true, value_parser = cpus_is_cores)]
    _cpus: Option<Infallible>,
    /// What the radio's clock follows: internal, external or mimo; another than its own must lock.
    #[arg(long, value_name = "R", default_value = "internal")]
    reference: ClockSource,
    /// Transmit, even with a radio that is not takt's own software radio.
    #[arg(long)]
    transmit: bool,
    /// Take the radio even from another host that uses it.
    #[arg(long)]
    force: bool,
    /// Say where samples were lost, what the buffer holds, and what each thread used.
    #[arg(long)]
    explain: bool,
}

impl Args {
    fn options(&self) -> Options {
        Options {
            addr: self.addr,
            rx_sps: self.rx,
            tx_sps: self.tx,
            duration: self.duration,
            warm_up: self.warm_up,
            format: if self.format == "sc8" { WireFormat::Sc8 } else { WireFormat::Sc16 },
            rx_channels: self.channels.clone(),
            engine: self.engine,
            aggregate: self.aggregate,
            frame_bytes: usize::try_from(self.frame).unwrap_or(usize::MAX),
            samples_per_datagram: self.spp,
            coalesce: self.coalesce,
            recv_buffer_bytes: self.recv_buffer.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            counter: false,
            threads: if self.threads == "1" { Threads::One } else { Threads::Two },
            cpus: self.cores.clone(),
            priority: self.policy.fifo_priority(),
            force: self.force,
            transmit: self.transmit,
            reference: self.reference,
        }
    }
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let notice = |bar: &Bar, notice| match notice {
        Notice::OnAir(emission) => output.note(radio_problem::on_air(&emission)),
        Notice::At(at) => bar.show(at.elapsed, at.planned),
    };
    let outcome = Bar::during(output, |bar| rate::run(&args.options(), &mut |now| notice(bar, now), &stop));
    let outcome = outcome.map_err(|error| problem(error, &args))?;
    output.screen(&outcome, || screen::rate::screen(&outcome), args.explain, Answer::of(outcome.clean))
}

fn problem(error: RateError, args: &Args) -> Problem {
    match error {
        RateError::NoRate => Problem::new("there is nothing to stream").why(error).fix("--rx 25M, --tx 25M or both"),
        RateError::Radio(error) => {
            let flag = match &error {
                takt_radio::RadioError::Rate { asked_sps, .. } if args.rx != Some(*asked_sps) => "--tx",
                _ => "--rx",
            };
            radio_problem::problem("stream", error, flag)
        }
        RateError::Buffer { asked_bytes, granted_bytes } => {
            Problem::new("the receive buffer asked for is not to be had")
                .why(RateError::Buffer { asked_bytes, granted_bytes })
                .fix(format!(
                    "sudo sysctl -w net.core.rmem_max={asked_bytes}\nor leave --recv-buffer away, for what an ordinary \
                     program gets"
                ))
        }
        RateError::Priority(error) => {
            let fix = error.fix().unwrap_or_else(|| "leave --policy away".to_owned());
            Problem::new("a streaming thread can't have that policy").why(error).fix(fix)
        }
        RateError::Affinity(error) => {
            Problem::new("a streaming thread can't have that CPU").why(error).fix("--cores with CPUs of this host")
        }
        error => Problem::new("can't stream").why(error),
    }
}
