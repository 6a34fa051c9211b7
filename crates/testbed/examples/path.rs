//! Brings a path up by hand, calibrates it, and keeps it until Enter is pressed. Needs root.
//!
//! ```sh
//! cargo build --release -p takt-testbed --example path
//! sudo target/release/examples/path router-hw rate=100M loss=1%
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::{BufReader, stdin, stdout};
use std::time::Duration;

use takt_host::leftovers::Registry;
use takt_testbed::net::{Build, Path, PathSpec, Towards};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        // The hops of the path are this program once more.
        Some((first, options)) if first == "agent" => agent(options),
        Some((name, options)) => show(name, options),
        None => Err(format!("which path? {}", PathSpec::NAMES.join(", ")).into()),
    }
}

fn show(name: &str, options: &[String]) -> Result<(), Box<dyn Error>> {
    let mut spec = PathSpec::named(name)?;
    for option in options {
        let (key, value) = option.split_once('=').ok_or_else(|| format!("{option} is not OPTION=VALUE"))?;
        spec.set(key, value)?;
    }
    let run = Registry::system().begin("path")?;
    let program = std::env::current_exe()?;
    let mut path = Path::build(&spec, &Build { run: &run, label: name, program: &program, cpus: &[] })?;
    println!("{}", serde_json::to_string_pretty(&path.topology)?);
    for payload_bytes in [16, 128, 512, 1472] {
        let ceiling = path.ceiling(Towards::Radio, payload_bytes, Duration::from_millis(600))?;
        let most = ceiling.specified_per_s.map_or("no limit".into(), |most| format!("{most:.0}"));
        println!(
            "{payload_bytes:>5} B  {:>8.0} datagrams/s of {most}, {:.0} offered, set by {:?}",
            ceiling.datagrams_per_s, ceiling.offered_per_s, ceiling.set_by
        );
    }
    println!("{}", serde_json::to_string_pretty(&path.look()?)?);
    println!("host   sudo ip netns exec {} sh", path.host.namespace.name());
    println!("radio  {} in {}; Enter ends it", path.radio.address, path.radio.namespace.name());
    stdin().read_line(&mut String::new())?;
    Ok(())
}

fn agent(options: &[String]) -> Result<(), Box<dyn Error>> {
    if let Some(at) = options.iter().position(|option| option == "--netns") {
        takt_host::namespace::enter_network(options.get(at + 1).ok_or("--netns FILE")?)?;
    }
    takt_testbed::serve(BufReader::new(stdin()), stdout(), || std::process::exit(2))?;
    Ok(())
}
