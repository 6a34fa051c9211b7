//! Parts that hand-written benchmarks share: whether they measure, or only show that they still run.

use std::time::Duration;

/// A bench that has not ended by then hangs. A bench that only runs takes seconds.
const HANG: Duration = Duration::from_secs(300);

/// Whether this is `cargo bench`. `cargo test --benches` wants one short turn; if that hangs, it ends with an error.
pub fn measures() -> bool {
    let measures = std::env::args().any(|argument| argument == "--bench");
    if !measures {
        std::thread::spawn(fail_when_it_hangs);
    }
    measures
}

#[expect(clippy::print_stderr, reason = "the only one left to speak")]
fn fail_when_it_hangs() {
    std::thread::sleep(HANG);
    eprintln!("no end after {} s", HANG.as_secs());
    std::process::exit(101);
}
