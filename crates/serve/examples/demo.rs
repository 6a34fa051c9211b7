//! The page with two processes that are made up, to work on its looks: `cargo run -p takt-serve --example demo`.

#[path = "../tests/browser/shown.rs"]
mod shown;

use std::error::Error;
use std::io::Write;

use takt_base::Stop;
use takt_live::{Kind, Miss, Snapshot};
use takt_serve::{Place, ServeOptions, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let shown = shown::Shown::new();
    let miss = |slot, component: &str| Miss {
        slot,
        component: Some(component.to_owned()),
        stage: Some("execution".to_owned()),
        late_ns: Some(slot * 11_000 % 400_000),
    };
    let mut faults = shown::Faults { ebn0_db: 12.5, ..shown::Faults::default() };
    if std::env::args().any(|arg| arg == "faults") {
        faults.overflows = 3;
        faults.lost_samples = 4096;
        faults.misses = vec![miss(1204, "turbo decoder"), miss(5118, "turbo decoder"), miss(7340, "channel")];
    }
    *shown.faults.lock().map_err(|error| error.to_string())? = faults;
    let _first = shown::show(folder.path(), 4711, Kind::Run, "lte-link", shown);
    let _second = shown::show(folder.path(), 4712, Kind::Emulate, "n200 127.0.0.1", Snapshot::default);
    let place = Place::In(folder.path().to_owned());
    let server = Server::open(ServeOptions { listen: ([127, 0, 0, 1], 8258).into(), token: None, place })?;
    writeln!(std::io::stdout(), "ready {}", server.url())?;
    server.run(&Stop::new())?;
    Ok(())
}
