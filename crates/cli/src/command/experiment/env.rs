//! `takt experiment run FILE --env-only KIND`: one environment on its path, and a shell in it.

use std::ffi::OsStr;

use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use miette::{IntoDiagnostic, Result};
use serde::Serialize;
use takt_base::parse_bytes;
use takt_host::leftovers::Registry;
use takt_testbed::environment::{
    EnvironmentError, EnvironmentKind, Limits, RuntimeName, Site, SiteError, SiteOptions, Spec, open,
};

use crate::signals::BesideAShell;
use crate::{Answer, Output, Problem};

/// Flags of `run`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// Measure nothing: start this environment on the path, open a shell in it, and remove it when the shell ends.
    #[arg(long, value_name = "ENVIRONMENT", value_parser = NotOnNodes)]
    env_only: Option<Environment>,
    /// With --env-only: CPU quota, in cores.
    #[arg(long, value_name = "N", requires = "env_only")]
    env_cpus: Option<f64>,
    /// With --env-only: memory limit, such as 512MiB.
    #[arg(long, value_name = "BYTES", requires = "env_only", value_parser = parse_bytes)]
    env_memory: Option<u64>,
    /// With --env-only container: its runtime, runc, crun, podman or docker [default: the first that works here].
    #[arg(long, value_name = "PROGRAM", requires = "env_only", value_parser = runtime)]
    env_runtime: Option<RuntimeName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Environment {
    /// Processes of this machine.
    Native,
    /// Processes of this machine with aarch64 instructions, in QEMU's user emulation.
    Aarch64,
    /// A container on this machine's kernel.
    Container,
    /// A virtual machine.
    Vm,
}

/// The names of environments, with a word of its own for nodes.
#[derive(Clone, Copy, Debug)]
struct NotOnNodes;

impl TypedValueParser for NotOnNodes {
    type Value = Environment;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> std::result::Result<Environment, clap::Error> {
        if value.to_str().is_some_and(|name| name.starts_with("node:")) {
            let why = "a node starts only agents of experiments: log in there for a shell, for example with ssh";
            return Err(command.clone().error(ErrorKind::InvalidValue, why));
        }
        EnumValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Environment::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

fn runtime(text: &str) -> Result<RuntimeName, String> {
    RuntimeName::named(text).ok_or_else(|| format!("one of {}", RuntimeName::ALL.map(RuntimeName::name).join(", ")))
}

impl Flags {
    /// The environment to look at; `None`: the experiment is to be run.
    pub fn spec(&self) -> Option<Spec> {
        let kind = match self.env_only? {
            Environment::Native => EnvironmentKind::Native,
            Environment::Aarch64 => EnvironmentKind::Aarch64,
            Environment::Container => EnvironmentKind::Container,
            Environment::Vm => EnvironmentKind::Vm,
        };
        let limits = Limits { cpus: self.env_cpus, memory_bytes: self.env_memory };
        Some(Spec { kind, limits, runtime: self.env_runtime, shell: true, ..Spec::default() })
    }
}

#[derive(Serialize)]
struct EnvironmentShown {
    in_force: takt_testbed::environment::InForce,
}

pub fn look(spec: &Spec, output: &Output) -> Result<Answer> {
    // Before anything is made: what a signal ends by itself takes nothing away.
    let signals = BesideAShell::register()?;
    let name = spec.kind.name();
    let what = format!("no {name} here");
    let run = Registry::system().begin("experiment run --env-only").into_diagnostic()?;
    let program = std::env::current_exe().into_diagnostic()?;
    let environment = open(spec, program, &run, None)
        .map_err(|error| Problem::caused(what.as_str(), error, EnvironmentError::fix))?;
    let site = Site::bring_up(&SiteOptions::default(), &*environment, &run, name)
        .map_err(|error| Problem::caused(what, error, SiteError::fix))?;
    if signals.any() {
        return Err(Problem::new(format!("stopped before the shell in {name} started"))
            .why("nothing is left of it")
            .into());
    }
    let holder = &site.in_force.holder;
    let by = holder.runtime.as_ref().map_or(String::new(), |runtime| format!(", by {runtime}"));
    let accelerator = holder.accelerator.as_ref().map_or(String::new(), |how| format!(" ({how})"));
    output.note(format!("{name}{by}{accelerator}, kernel {}: leave the shell to take it away", holder.kernel));
    for note in site.in_force.notes.iter().chain(&holder.not_accelerated) {
        output.note(format!("note: {note}"));
    }
    let attached = site.shell.attach(&signals.interrupted, &signals.ended);
    attached.map_err(|error| Problem::new(format!("the shell in {name} can't be reached")).why(error))?;
    let looked = EnvironmentShown { in_force: site.in_force.clone() };
    output.answer(&looked, || format!("{name} is gone"), Answer::Yes)
}
