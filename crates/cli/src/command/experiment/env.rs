//! `takt experiment run FILE --env-only KIND`: one environment on its path, and a shell in it.

use std::ffi::OsStr;

use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use miette::{IntoDiagnostic, Result};
use serde::Serialize;
use takt_host::leftovers::Registry;
use takt_testbed::environment::{
    EnvironmentError, Kind, Limits, RuntimeName, Site, SiteError, SiteOptions, Spec, open,
};

use crate::signals::BesideAShell;
use crate::{Answer, Output, Problem};

/// Flags of `run`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// Run nothing: bring this environment up on the path, open a shell in it, and take it away when the shell ends.
    #[arg(long, value_name = "ENVIRONMENT", value_parser = NotOnNodes)]
    env_only: Option<Environment>,
    /// With --env-only: CPUs' worth of time that it may use.
    #[arg(long, value_name = "N", requires = "env_only")]
    env_cpus: Option<f64>,
    /// With --env-only: memory that it may use, as 512MiB.
    #[arg(long, value_name = "BYTES", requires = "env_only", value_parser = bytes)]
    env_memory: Option<u64>,
    /// With --env-only container: what makes it: runc, crun, podman, docker [default: the first that works here].
    #[arg(long, value_name = "PROGRAM", requires = "env_only", value_parser = runtime)]
    env_runtime: Option<RuntimeName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Environment {
    /// Processes of this machine.
    Native,
    /// Processes of this machine whose instructions are an aarch64's, by QEMU's user emulation.
    Aarch64,
    /// A container of this machine's kernel.
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
            let why = "a node starts nothing but agents of experiments: for a shell log in there, with ssh for one";
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

fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit {
        "" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return Err(format!("{unit} is no unit of memory; KiB, MiB and GiB are")),
    };
    let number: u64 = number.parse().map_err(|_| format!("{text} is no number of bytes, as 512MiB is"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("{text} is more than there can be"))
}

impl Flags {
    /// What is to be looked at; `None`: the experiment is to be run.
    pub fn spec(&self) -> Option<Spec> {
        let kind = match self.env_only? {
            Environment::Native => Kind::Native,
            Environment::Aarch64 => Kind::Aarch64,
            Environment::Container => Kind::Container,
            Environment::Vm => Kind::Vm,
        };
        let limits = Limits { cpus: self.env_cpus, memory_bytes: self.env_memory };
        Some(Spec { kind, limits, runtime: self.env_runtime, shell: true, ..Spec::default() })
    }
}

#[derive(Serialize)]
struct Looked {
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
        return Err(Problem::new(format!("stopped before the shell in {name} was there"))
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
    let looked = Looked { in_force: site.in_force.clone() };
    output.answer(&looked, || format!("{name} is gone"), Answer::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_units() {
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("65536KiB"), Ok(64 << 20));
        assert_eq!(bytes("1073741824"), Ok(1 << 30));
        for wrong in ["", "MiB", "512MB", "-1", "1.5GiB", "99999999999GiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
