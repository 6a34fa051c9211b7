//! Kernels of takt's physical layer beside others' on one core: `phy-peers RAW_CSV [--quick]`. See README.md.

mod checks;
mod code;
mod fourier;
mod measure;
#[cfg(any(feature = "fec", feature = "fftw", feature = "liquid"))]
mod native;
mod symbols;

use std::fs::File;
use std::process::ExitCode;

use measure::Case;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let Some(raw) = arguments.iter().find(|argument| !argument.starts_with("--")) else {
        eprintln!("usage: phy-peers RAW_CSV [--quick]");
        return ExitCode::from(2);
    };
    let mut cases: Vec<Case> = Vec::new();
    cases.extend(checks::cases());
    cases.extend(code::cases());
    cases.extend(symbols::cases());
    cases.extend(fourier::cases());
    let mut file = File::create(raw).expect("a file that may be written");
    measure::run(cases, if quick { 7 } else { 31 }, &mut file);
    ExitCode::SUCCESS
}
