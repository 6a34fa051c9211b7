//! Files for the ports of a component.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, stdin, stdout};

use takt_graph::{InputShape, OutputShape, Shape};
use takt_runtime::job::{ItemsError, Reader, Writer};

use crate::{Output, Problem};

/// Opens what the inputs read.
/// Errors: a port has no file, or two; a file can't be opened.
pub fn sources(inputs: &[String], packed: bool, shape: &Shape) -> Result<Vec<Reader>, Problem> {
    let names: Vec<&str> = shape.inputs.iter().map(|port| port.name.as_str()).collect();
    let files = assign(inputs, &names, "--in")?;
    if files.iter().filter(|file| *file == "-").count() > 1 {
        return Err(
            Problem::new("two inputs can't both come from standard input").fix("give --in PORT=FILE for all but one")
        );
    }
    let open = |(file, port): (&String, &InputShape)| source(file, port, packed);
    files.iter().zip(&shape.inputs).map(open).collect()
}

/// Makes what the outputs write.
/// Errors: a port has no file, or two; a file can't be opened.
pub fn sinks(outputs: &[String], packed: bool, shape: &Shape, output: &Output) -> Result<Vec<Writer>, Problem> {
    let names: Vec<&str> = shape.outputs.iter().map(|port| port.name.as_str()).collect();
    let files = assign(outputs, &names, "--out")?;
    let piped = files.iter().filter(|file| *file == "-").count();
    if piped > 1 || (piped == 1 && output.wants_json()) {
        let what = if piped > 1 { "two outputs" } else { "an output and the JSON document" };
        return Err(Problem::new(format!("{what} can't both go to standard output")).fix("give --out PORT=FILE"));
    }
    let create = |(file, port): (&String, &OutputShape)| sink(file, port, packed);
    files.iter().zip(&shape.outputs).map(create).collect()
}

/// `-` is standard input.
fn source(name: &str, port: &InputShape, packed: bool) -> Result<Reader, Problem> {
    if name == "-" {
        return Ok(Reader::new("standard input", stdin(), None, port.item, packed));
    }
    let file = File::open(name).map_err(|source| refused(name, source))?;
    let about = file.metadata().map_err(|source| refused(name, source))?;
    let size_bytes = about.is_file().then_some(about.len());
    Ok(Reader::new(name, BufReader::with_capacity(1 << 16, file), size_bytes, port.item, packed))
}

/// `-` is standard output, which may not be a terminal.
fn sink(name: &str, port: &OutputShape, packed: bool) -> Result<Writer, Problem> {
    if name != "-" {
        let file = File::create(name).map_err(|source| refused(name, source))?;
        return Ok(Writer::new(name, BufWriter::with_capacity(1 << 16, file), port.item, packed));
    }
    if stdout().is_terminal() {
        let why = format!("output `{}` would go to the terminal", port.name);
        let fix = format!("give --out {}=FILE\npipe the output to another program: ... | xxd", port.name);
        return Err(Problem::new("can't use a file").why(why).fix(fix));
    }
    Ok(Writer::new("standard output", BufWriter::new(stdout()), port.item, packed))
}

/// A file for each port: named ones by name, one without a name for the only port.
fn assign(given: &[String], ports: &[&str], flag: &str) -> Result<Vec<String>, Problem> {
    let mut files: Vec<Option<String>> = vec![None; ports.len()];
    for one in given {
        let named =
            one.split_once('=').and_then(|(name, file)| Some((ports.iter().position(|port| *port == name)?, file)));
        let (port, file) = match named {
            Some((port, file)) => (port, file),
            None if ports.len() == 1 => (0, one.as_str()),
            None if ports.is_empty() => {
                let what = Problem::new(format!("can't take {flag} {one}"));
                return Err(what.why("the component has no such port").fix(format!("omit {flag}")));
            }
            None => {
                let what = Problem::new(format!("can't tell which port {flag} {one} is for"));
                let ways: Vec<String> = ports.iter().map(|port| format!("{flag} {port}=FILE")).collect();
                return Err(what
                    .why(format!("the component has {}", ports.len()))
                    .fix(format!("give {}", ways.join(" "))));
            }
        };
        if files[port].replace(file.to_owned()).is_some() {
            return Err(Problem::new(format!("port `{}` was given two files", ports[port]))
                .fix(format!("give one {flag} for each port")));
        }
    }
    // A single port speaks through a pipe.
    if let [file] = &mut files[..] {
        file.get_or_insert_with(|| "-".to_owned());
    }
    let missing = files.iter().zip(ports).find_map(|(file, port)| file.is_none().then_some(port));
    if let Some(port) = missing {
        let what = Problem::new(format!("port `{port}` was given no file"));
        return Err(what.fix(format!("give {flag} {port}=FILE\ngive {flag} {port}=/dev/null")));
    }
    Ok(files.into_iter().flatten().collect())
}

fn refused(name: &str, source: io::Error) -> Problem {
    Problem::caused("can't use a file", ItemsError::Io { name: name.to_owned(), source }, ItemsError::fix)
}
