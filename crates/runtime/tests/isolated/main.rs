//! Isolated components: what they compute is the same, and what they break costs their slots and nothing else.
//!
//! The process of an isolated component is this program again, which asks so first thing in `main`: hence no harness.

#[path = "../../../../tests/support/allocations.rs"]
mod allocations;
#[path = "../common/mod.rs"]
mod common;
#[path = "../../../../tests/support/strace.rs"]
mod strace;

type Tests = &'static [(&'static str, fn())];

macro_rules! tests {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name as fn())),*] };
}

mod components;
mod floats;
mod harm;
mod left;
mod quiet;
mod refused;
mod same;
mod setup;

use std::process::ExitCode;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a harness speaks")]
fn main() -> ExitCode {
    // Components panic on purpose here; a backtrace of each takes a busy machine seconds.
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    takt_runtime::isolated::serve_if_asked();
    let all = [same::TESTS, harm::TESTS, quiet::TESTS, left::TESTS, refused::TESTS].into_iter().flatten();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("endless") => left::endless(),
        Some("forgetful") => refused::forgetful(),
        Some("quiet") => quiet::quiet(),
        Some("--list") => all.for_each(|(name, _)| println!("{name}: test")),
        _ => {
            // As the standard harness does: `--skip NAME`, and names of which one is wanted.
            let (mut skip, mut names): (Vec<&String>, Vec<&String>) = (Vec::new(), Vec::new());
            let mut rest = arguments.iter();
            while let Some(argument) = rest.next() {
                match argument.as_str() {
                    "--skip" => skip.extend(rest.next()),
                    flag if flag.starts_with('-') => {}
                    _ => names.push(argument),
                }
            }
            let any = |of: &[&String], name: &str| of.iter().any(|part| name.contains(part.as_str()));
            let (mut passed, mut failed) = (0, 0);
            for (name, test) in all.filter(|(name, _)| (names.is_empty() || any(&names, name)) && !any(&skip, name)) {
                let good = std::panic::catch_unwind(test).is_ok();
                println!("test {name} ... {}", if good { "ok" } else { "FAILED" });
                *(if good { &mut passed } else { &mut failed }) += 1;
            }
            println!("test result: {}. {passed} passed; {failed} failed", if failed == 0 { "ok" } else { "FAILED" });
            return if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    ExitCode::SUCCESS
}
