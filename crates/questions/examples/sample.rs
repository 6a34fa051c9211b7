//! Writes sample reports of every kind, to be looked at: `cargo run -p takt-questions --example sample -- DIR`.
#[path = "../tests/support/mod.rs"]
mod support;

use std::path::PathBuf;

use takt_page::{Depth, TextStyle};
use takt_questions::check;

fn main() -> std::io::Result<()> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    std::fs::create_dir_all(&dir)?;
    for (name, outcome) in support::all() {
        let report = check::report(&outcome);
        std::fs::write(dir.join(format!("{name}.html")), report.to_html())?;
        std::fs::write(dir.join(format!("{name}.json")), report.to_json())?;
        for figure in report.figures().filter(|_| name == "fails") {
            std::fs::write(dir.join(format!("{}.svg", figure.id)), figure.to_svg())?;
            std::fs::write(dir.join(format!("{}.csv", figure.id)), figure.to_csv())?;
        }
        let style = TextStyle { depth: Depth::Full, ..TextStyle::default() };
        std::fs::write(dir.join(format!("{name}.txt")), report.to_text(&style))?;
    }
    Ok(())
}
