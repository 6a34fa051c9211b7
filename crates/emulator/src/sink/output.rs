//! Output of a recorder: a file of samples, or recordings.

use std::path::{Path, PathBuf};

use takt_base::{Complex32, TickRate, utc_text};
use takt_dsp::file::{Existing, FileError, SampleFormat, SampleWriter};
use takt_dsp::sigmf::{Capture, Global, Writer, base_name};

use super::begin::Begin;
use super::memory::Memory;
use super::{Setting, Spec};

pub(super) enum Output {
    File(SampleWriter),
    Sigmf(Box<Sigmf>),
    Memory(Memory),
}

impl Output {
    /// `None` for a sink that records nothing.
    pub(super) fn create(spec: &Spec, setting: &Setting) -> Result<Option<Output>, FileError> {
        Ok(match spec {
            Spec::Null => None,
            Spec::File { path, format } => Some(Output::File(SampleWriter::create(path, *format, Existing::Replace)?)),
            Spec::Sigmf { path, format } => {
                Some(Output::Sigmf(Box::new(Sigmf::create(path, *format, setting.clone())?)))
            }
        })
    }

    /// Begins a new run.
    pub(super) fn begin(&mut self, run: Begin) -> Result<(), FileError> {
        match self {
            Output::File(_) => Ok(()),
            Output::Sigmf(sigmf) => sigmf.begin(run),
            Output::Memory(memory) => {
                memory.begin(run);
                Ok(())
            }
        }
    }

    pub(super) fn write(&mut self, samples: &[Complex32]) -> Result<(), FileError> {
        match self {
            Output::File(file) => file.write(samples),
            Output::Sigmf(sigmf) => sigmf.writer.write(samples),
            Output::Memory(memory) => {
                memory.write(samples);
                Ok(())
            }
        }
    }

    /// Nothing is added to what was written last.
    pub(super) fn end(&mut self) {
        if let Output::Memory(memory) = self {
            memory.end();
        }
    }

    pub(super) fn checkpoint(&mut self) -> Result<(), FileError> {
        match self {
            Output::File(_) | Output::Memory(_) => Ok(()),
            Output::Sigmf(sigmf) => sigmf.writer.checkpoint(),
        }
    }

    /// Samples beyond full scale so far.
    pub(super) fn clipped(&self) -> u64 {
        match self {
            Output::File(file) => file.clipped(),
            Output::Sigmf(sigmf) => sigmf.clipped + sigmf.writer.clipped(),
            Output::Memory(_) => 0,
        }
    }

    pub(super) fn files(&self) -> u64 {
        match self {
            Output::File(_) => 1,
            Output::Sigmf(sigmf) => sigmf.number,
            Output::Memory(_) => 0,
        }
    }
}

/// A recording has one rate and one clock: with another begins a new recording, NAME-2, NAME-3.
pub(super) struct Sigmf {
    base: PathBuf,
    format: SampleFormat,
    setting: Setting,
    number: u64,
    /// Step of its samples, and the clock's ticks and their seconds.
    rate: Option<(u32, [u64; 2])>,
    writer: Writer,
    /// In the recordings before this one.
    clipped: u64,
}

impl Sigmf {
    fn create(path: &Path, format: SampleFormat, setting: Setting) -> Result<Sigmf, FileError> {
        let base = base_name(path);
        let writer = Writer::create(&base, global(format, &setting, setting.clock), Existing::Replace)?;
        Ok(Sigmf { base, format, setting, number: 1, rate: None, writer, clipped: 0 })
    }

    fn begin(&mut self, run: Begin) -> Result<(), FileError> {
        let clock = run.mark.clock;
        let rate = Some((run.step, clock.ratio()));
        if self.rate.is_some() && self.rate != rate {
            self.writer.checkpoint()?;
            self.clipped += self.writer.clipped();
            self.number += 1;
            let mut name = self.base.clone().into_os_string();
            name.push(format!("-{}", self.number));
            self.writer =
                Writer::create(Path::new(&name), global(self.format, &self.setting, clock.rate()), Existing::Replace)?;
        }
        if self.rate != rate {
            self.rate = rate;
            self.writer.set_sample_rate(clock.hz() / f64::from(run.step.max(1)));
            self.writer.set_field("takt:clock_hz", clock.rate().hz());
        }
        let since_0_ns = clock.ns_at(run.tick);
        self.writer.begin_capture(Capture {
            global_index: Some(run.tick.0 / u64::from(run.step.max(1))),
            frequency_hz: Some(run.centre_hz),
            datetime: self.setting.utc_at_tick_0_ns.and_then(|utc| utc.checked_add(since_0_ns)).map(utc_text),
            other: [("takt:tick", run.tick.0)].into_iter().collect(),
            ..Capture::default()
        });
        Ok(())
    }
}

fn global(format: SampleFormat, setting: &Setting, clock: TickRate) -> Global {
    let mut global = Global { hw: Some(setting.hw.clone()), ..Global::new(format) };
    global.other.insert("takt:clock_hz", clock.hz());
    global
}
