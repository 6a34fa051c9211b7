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
mod map;
#[cfg(feature = "cluster")]
mod node;
#[cfg(not(feature = "cluster"))]
#[path = "node_missing.rs"]
mod node;
mod paper;
mod play;
mod probe;
mod rate;
mod record;
mod report;
pub mod run;
mod stops;
mod udp;
mod variable;
mod wakeup;

use clap::Subcommand;

use crate::{Answer, Output};

/// One variant a command; its documentation is the line in `takt --help`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Will this host keep up with a radio? Measures, answers, says what limits it and what mends it.
    Check(check::Args),
    /// Run software radios that unmodified UHD takes for real ones.
    Emulate(emulate::Args),
    /// Discover radios.
    Find(find::Args),
    /// Describe a radio.
    Probe(probe::Args),
    /// Record samples from a radio into a SigMF file.
    Record(record::Args),
    /// Play a SigMF file to a radio.
    Play(play::Args),
    /// Stream at a rate and count everything that goes wrong.
    Rate(rate::Args),
    /// Datagram load: throughput, loss by place, jitter, latency.
    Udp(udp::Args),
    /// Execute a waveform on the beat: what every component costs, and who missed a slot.
    Run(run::Args),
    /// Which component runs on which core, how far that is from the best, and what to do next.
    Map(map::Args),
    /// What the cores of this machine can do, by kinds of work.
    Calibrate(calibrate::Args),
    /// Execution times as a table, in microseconds and in multiply-accumulates.
    Execinfo(execinfo::Args),
    /// Watch and set the variables of a waveform while it runs.
    Variable(variable::Args),
    /// Join a cluster: offer this machine's cores, and run parts of waveforms on them.
    Node(node::Args),
    /// Say what components there are; run one on files.
    Component(component::Args),
    /// Run experiments, list and export their records.
    Experiment(experiment::Args),
    /// Run a published study again, and set it beside the paper's figures.
    Paper(paper::Args),
    /// Draw the report of a run again.
    Report(report::Args),
    /// What in this host stands in the way, and the change that mends it.
    Doctor(doctor::Args),
    /// Does this machine stand still for longer than a radio waits? Only looks, while you work.
    Stops(stops::Args),
    /// How late is a thread that should wake up once a period? Every tick counted, from its intended time.
    Wakeup(wakeup::Args),
    /// Do the lab's work inside an environment; speaks JSON lines over standard input and output.
    #[command(hide = true)]
    Agent(agent::Args),
    /// Remove whatever a killed run left behind.
    Clean(clean::Args),
}

impl Command {
    pub fn run(self, output: &Output) -> miette::Result<Answer> {
        match self {
            Command::Check(args) => check::run(args, output),
            Command::Emulate(args) => emulate::run(args, output),
            Command::Find(args) => find::run(args, output),
            Command::Probe(args) => probe::run(args, output),
            Command::Record(args) => record::run(args, output),
            Command::Play(args) => play::run(args, output),
            Command::Rate(args) => rate::run(args, output),
            Command::Udp(args) => udp::run(args, output),
            Command::Run(args) => run::run(args, output),
            Command::Map(args) => map::run(args, output),
            Command::Calibrate(args) => calibrate::run(args, output),
            Command::Execinfo(args) => execinfo::run(args, output),
            Command::Variable(args) => variable::run(args, output),
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
