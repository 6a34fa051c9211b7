//! The commands, one file each.

mod agent;
mod calibrate;
mod check;
mod clean;
mod component;
mod doctor;
mod emulate;
mod execinfo;
mod experiment;
mod find;
mod link;
mod map;
#[cfg(feature = "cluster")]
mod node;
#[cfg(not(feature = "cluster"))]
#[path = "node_missing.rs"]
mod node;
mod paper;
mod play;
mod probe;
mod radio;
mod rate;
mod record;
mod report;
pub mod run;
#[cfg(feature = "serve")]
mod serve;
#[cfg(not(feature = "serve"))]
#[path = "serve_missing.rs"]
mod serve;
mod share;
mod stops;
mod top;
mod udp;
mod variable;
mod wakeup;

use clap::Subcommand;

use crate::{Answer, Output};

/// One variant a command; its documentation is the line in `takt --help`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check whether this host keeps up with a radio, and name what limits it and the fix.
    Check(check::Args),
    /// Run software N200s or X310s, which unmodified UHD drives like real radios.
    Emulate(emulate::Args),
    /// Let several programs use one radio. Each program gets a software N200 within that radio's band.
    Share(share::Args),
    /// Find radios.
    Find(find::Args),
    /// Describe a radio.
    Probe(probe::Args),
    /// Record samples from a radio into a SigMF recording.
    Record(record::Args),
    /// Play a SigMF recording to a radio.
    Play(play::Args),
    /// Calibrate a radio's front end: I/Q imbalance and DC offset, in UHD's files.
    Radio(radio::Args),
    /// Stream samples at a given rate, and count everything that goes wrong.
    Rate(rate::Args),
    /// Measure UDP throughput, loss by place, jitter and latency.
    Udp(udp::Args),
    /// Carry IP over an LTE link: base station, terminal, or both and the air between them.
    Link(link::Args),
    /// Run a waveform slot by slot. Reports what each component costs, and which one missed a slot.
    Run(run::Args),
    /// Map components to cores. Shows how far the mapping is from the best possible one, and what to do next.
    Map(map::Args),
    /// Measure how fast the cores of this machine are, by kind of work.
    Calibrate(calibrate::Args),
    /// Show execution times as a table, in microseconds and in multiply-accumulates.
    Execinfo(execinfo::Args),
    /// List and set the variables of a running waveform.
    Variable(variable::Args),
    /// Show takt's processes in a browser, and serve their counts to Prometheus.
    #[cfg_attr(not(feature = "serve"), command(about = "Show takt's processes in a browser (not in this build)"))]
    Serve(serve::Args),
    /// Watch takt's processes in a terminal: rates, letters, slots, components, links.
    Top(top::Args),
    /// Join a cluster: offer this machine's cores, and run parts of waveforms on them.
    #[cfg_attr(not(feature = "cluster"), command(about = "Join a cluster (not in this build)"))]
    Node(node::Args),
    /// List the components, or run one on files.
    Component(component::Args),
    /// Run experiments; list, show, compare and export their records.
    Experiment(experiment::Args),
    /// Repeat a published study, and compare the results with the paper's figures.
    Paper(paper::Args),
    /// Show the report of an earlier run again.
    Report(report::Args),
    /// Find what on this host disturbs a radio, and fix it.
    Doctor(doctor::Args),
    /// Measure, while you work, whether this machine stops for longer than a radio's buffers hold.
    Stops(stops::Args),
    /// Measure how late a periodic thread wakes up. Counts every wake-up from the time at which it was due.
    Wakeup(wakeup::Args),
    /// Measure inside an environment for the lab, which talks to it in JSON lines over standard input and output.
    #[command(hide = true)]
    Agent(agent::Args),
    /// Remove what killed runs left behind.
    Clean(clean::Args),
}

impl Command {
    pub fn run(self, output: &Output) -> miette::Result<Answer> {
        match self {
            Command::Check(args) => check::run(args, output),
            Command::Emulate(args) => emulate::run(args, output),
            Command::Share(args) => share::run(args, output),
            Command::Find(args) => find::run(args, output),
            Command::Probe(args) => probe::run(args, output),
            Command::Record(args) => record::run(args, output),
            Command::Play(args) => play::run(args, output),
            Command::Radio(args) => radio::run(args, output),
            Command::Rate(args) => rate::run(args, output),
            Command::Udp(args) => udp::run(args, output),
            Command::Link(args) => link::run(args, output),
            Command::Run(args) => run::run(args, output),
            Command::Map(args) => map::run(args, output),
            Command::Calibrate(args) => calibrate::run(args, output),
            Command::Execinfo(args) => execinfo::run(args, output),
            Command::Variable(args) => variable::run(args, output),
            Command::Serve(args) => serve::run(args, output),
            Command::Top(args) => top::run(args, output),
            Command::Node(args) => node::run(args, output),
            Command::Component(args) => component::run(args, output),
            Command::Experiment(args) => experiment::run(args, output),
            Command::Paper(args) => paper::run(args, output),
            Command::Report(args) => report::run(args, output),
            Command::Doctor(args) => doctor::run(args, output),
            Command::Stops(args) => stops::run(args, output),
            Command::Wakeup(args) => wakeup::run(args, output),
            Command::Agent(args) => agent::run(args, output),
            Command::Clean(args) => clean::run(args, output),
        }
    }
}
