//! `--hdr-log`: histograms of a measurement as a log of HdrHistogram.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use takt_stats::{Histogram, LogLine, Ns, write_log};

use crate::{Output, Problem};

/// The flag of a command that measures histograms.
#[derive(Clone, Debug, Default, Args)]
pub struct HdrLogArgs {
    /// Write the histograms as a log of HdrHistogram, which its tools read. Replaces an existing file.
    #[arg(long, value_name = "FILE")]
    hdr_log: Option<PathBuf>,
}

impl HdrLogArgs {
    /// Writes the log, if one is wanted. The measurement lasted `length` and has ended just now.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(
        &self,
        command: &str,
        length: Duration,
        all: &[(&str, &Histogram<Ns>)],
        output: &Output,
    ) -> Result<(), Problem> {
        let Some(path) = &self.hdr_log else { return Ok(()) };
        let begun = SystemTime::now().checked_sub(length).unwrap_or(SystemTime::UNIX_EPOCH);
        let line = |&(tag, histogram)| LogLine { tag, start: Duration::ZERO, length, histogram };
        let mut text = Vec::new();
        let written = write_log(&mut text, command, begun, &all.iter().map(line).collect::<Vec<_>>())
            .and_then(|()| takt_base::replace_file(path, &text));
        written.map_err(|error| {
            let what = format!("can't write the log of histograms to {}", path.display());
            Problem::new(what).why(error).fix("give --hdr-log a file that you may write")
        })?;
        output.note(format!("hdr log   {}", path.display()));
        Ok(())
    }
}
