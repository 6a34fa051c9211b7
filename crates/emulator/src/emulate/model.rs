//! What is the emulator's and what is the radio's: a model knows how to build itself from options.

use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use takt_base::{Clock, Tick, TickRate, WallClock};

use super::eeprom_file::read_eeprom;
use super::signal_options::{picked, usual_setting};
use super::{EmulateError, Options, largest_datagram};
use crate::air::{Air, End};
use crate::fault::{PowerCycle, Stream, Streams};
use crate::policy::Destinations;
use crate::signals::{self, Setting, SignalError, Signals, Watch};
use crate::{Device, n200, sink, source, x310};

/// A radio that can be emulated.
pub trait Model: Device + PowerCycle + Streams + Sized + 'static {
    /// As users write it: `n200`.
    const NAME: &'static str;
    /// What its driver counts.
    const CLOCK: TickRate;
    /// The port on which hosts search.
    const DISCOVERY_PORT: u16;
    /// Buffer requested from the kernel for each port: more than its transmit windows take with the kernel's bookkeeping, which
    /// counts a datagram as up to twice its length.
    const BUFFER_BYTES: usize;
    /// Streams that no fault of it can strike.
    const LACKS: &'static [Stream];

    type Report: Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static;

    /// Builds the n-th radio of these options.
    ///
    /// # Errors
    /// An option is not for this model, or makes no sense.
    fn build(options: &Options, n: usize, site: Site<'_>) -> Result<(Self, Vec<Watch>), EmulateError>;

    fn report(&self) -> Self::Report;

    fn serial(&self) -> String;

    /// What a second of its clock is, ticks.
    fn clock_hz(&self) -> NonZeroU32;

    /// What its clock shows less the monotonic clock in such ticks, modulo 2^64.
    fn clock_offset_ticks(&self) -> u64;

    /// How often its EEPROMs were written, and what they hold, if that can be kept.
    fn eeproms(&self) -> Option<(u64, Vec<u8>)>;
}

/// What is around a radio that is built.
pub struct Site<'a> {
    /// Where it may send to.
    pub rule: Destinations,
    /// What its driver counts.
    pub clock: TickRate,
    /// The air it joins, and its number there.
    pub air: Option<(&'a mut Air, usize)>,
}

impl Site<'_> {
    /// What one of its antennas is connected to.
    fn signals(
        &mut self,
        channel: usize,
        source: &source::Spec,
        sink: &sink::Spec,
        setting: &Setting,
    ) -> Result<(Signals, Watch), SignalError> {
        let (signals, watch) = signals::open(source, sink, setting)?;
        let Some((air, radio)) = &mut self.air else { return Ok((signals, watch)) };
        let (signals, counts) = air.join(End { radio: *radio, channel }, signals.sources, signals.sink);
        Ok((signals, watch.with_air(counts)))
    }
}

/// The tick at which a radio is switched on now.
pub(super) fn present(clock: TickRate) -> Tick {
    Tick(clock.ticks_in_ns(u128::from(WallClock.now().0)).0)
}

fn serial(options: &Options, n: usize) -> String {
    options.serials.get(n).cloned().unwrap_or_else(|| format!("EMU{:03}", n + 1))
}

impl Model for n200::N200 {
    const NAME: &'static str = "n200";
    const CLOCK: TickRate = n200::CLOCK;
    const DISCOVERY_PORT: u16 = takt_wire::n200::ports::CONTROL;
    const BUFFER_BYTES: usize = 4 << 20;
    const LACKS: &'static [Stream] = &[];

    type Report = n200::N200Report;

    fn build(options: &Options, n: usize, mut site: Site<'_>) -> Result<(Self, Vec<Watch>), EmulateError> {
        let addr = options.addrs[n];
        let fresh = n200::Options::default();
        let board = match options.board {
            None => fresh.board,
            Some(board) => board.of_n200().ok_or(unfit::<Self>("--board", &board.to_string()))?,
        };
        let setting = usual_setting(n200::CLOCK, format!("N200 {}", serial(options, n)));
        let identity = n200::Options {
            serial: serial(options, n),
            name: options.names.get(n).cloned().unwrap_or(fresh.name),
            address: addr,
            board,
            gpsdo: options.gpsdo,
            hardware: options.hardware.unwrap_or(fresh.hardware),
            firmware: options.firmware.unwrap_or(fresh.firmware),
            firmware_minor: fresh.firmware_minor,
            fpga: options.fpga.unwrap_or(fresh.fpga),
            marked: !options.as_hardware,
            on_overflow: options.overflow,
            destinations: site.rule.clone(),
            born: present(site.clock),
            utc_at_tick_0_s: setting.utc_at_tick_0_ns.unwrap_or(0) / 1_000_000_000,
            eeproms: options.eeproms.get(n).map(PathBuf::as_path).map(read_eeprom).transpose()?.flatten(),
        };
        let (source, sink) = picked(options, n)?;
        let wrong = |source| EmulateError::Signals { addr, source };
        let (signals, watch) = site.signals(0, &source, &sink, &setting).map_err(wrong)?;
        let device = n200::N200::new(identity, signals).map_err(|source| EmulateError::Identity { addr, source })?;
        Ok((device, vec![watch]))
    }

    fn report(&self) -> n200::N200Report {
        self.report()
    }

    fn serial(&self) -> String {
        self.eeproms().motherboard().serial.as_str().to_owned()
    }

    fn clock_hz(&self) -> NonZeroU32 {
        n200::CLOCK.into()
    }

    fn clock_offset_ticks(&self) -> u64 {
        self.clock_offset_ticks()
    }

    fn eeproms(&self) -> Option<(u64, Vec<u8>)> {
        Some((self.eeprom_writes(), self.eeproms().to_bytes()))
    }
}

impl Model for x310::X310 {
    const NAME: &'static str = "x310";
    const CLOCK: TickRate = x310::CLOCK;
    const DISCOVERY_PORT: u16 = takt_wire::x310::ports::FIRMWARE;
    // Both transmitters are behind one port, with 2 MiB each.
    const BUFFER_BYTES: usize = 16 << 20;
    const LACKS: &'static [Stream] = &[Stream::Rx0, Stream::Rx1, Stream::Gps];

    type Report = x310::X310Report;

    fn build(options: &Options, n: usize, mut site: Site<'_>) -> Result<(Self, Vec<Watch>), EmulateError> {
        let addr: Ipv4Addr = options.addrs[n];
        refuse_n200_options(options)?;
        let fresh = x310::Options::default();
        let board = match options.board {
            None => fresh.board,
            Some(board) => board.of_x310().ok_or(unfit::<Self>("--board", &board.to_string()))?,
        };
        let identity = x310::Options {
            serial: serial(options, n),
            name: options.names.get(n).cloned().unwrap_or(fresh.name),
            address: addr,
            board,
            fpga: options.fpga.unwrap_or(fresh.fpga),
            firmware: options.firmware.map_or(fresh.firmware, |major| major << 16),
            frame_bytes: fresh.frame_bytes.min(largest_datagram(addr)),
            destinations: site.rule.clone(),
            born: present(site.clock),
        };
        let (source, sink) = picked(options, n)?;
        // Both slots receive the same; each transmitter has a cable and a file of its own.
        let mut watches = Vec::new();
        let mut slot = |channel: usize, name: &str| {
            let setting = usual_setting(x310::MASTER_CLOCK, format!("X310 {} slot {name}", identity.serial));
            let wrong = |source| EmulateError::Signals { addr, source };
            let (signals, watch) = site.signals(channel, &source, &of_slot(&sink, name), &setting).map_err(wrong)?;
            watches.push(watch);
            Ok::<_, EmulateError>(signals)
        };
        let signals = [slot(0, "a")?, slot(1, "b")?];
        let device = x310::X310::new(identity, signals).map_err(|source| EmulateError::Identity { addr, source })?;
        Ok((device, watches))
    }

    fn report(&self) -> x310::X310Report {
        self.report()
    }

    fn serial(&self) -> String {
        self.serial().to_owned()
    }

    fn clock_hz(&self) -> NonZeroU32 {
        self.master_clock().into()
    }

    fn clock_offset_ticks(&self) -> u64 {
        self.clock_offset_ticks()
    }

    fn eeproms(&self) -> Option<(u64, Vec<u8>)> {
        None
    }
}

/// A sink with the slot's letter behind its name: `sent.sc16` becomes `sent-a.sc16`.
fn of_slot(sink: &sink::Spec, slot: &str) -> sink::Spec {
    let named = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = match path.extension() {
            Some(extension) => format!("{stem}-{slot}.{}", extension.to_string_lossy()),
            None => format!("{stem}-{slot}"),
        };
        path.with_file_name(name)
    };
    match sink {
        sink::Spec::Null => sink::Spec::Null,
        sink::Spec::File { path, format } => sink::Spec::File { path: named(path), format: *format },
        sink::Spec::Sigmf { path, format } => sink::Spec::Sigmf { path: named(path), format: *format },
    }
}

/// Options that only an N200 has.
fn refuse_n200_options(options: &Options) -> Result<(), EmulateError> {
    let usual = Options::default();
    let given = [
        ("--gpsdo", options.gpsdo),
        ("--overflow continue", options.overflow != usual.overflow),
        ("--eeprom", !options.eeproms.is_empty()),
        ("--hardware", options.hardware.is_some()),
        ("--as-hardware", options.as_hardware),
        ("--redirect", options.redirect),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(unfit::<x310::X310>(option, "")),
        None => Ok(()),
    }
}

fn unfit<M: Model>(option: &'static str, value: &str) -> EmulateError {
    EmulateError::Unfit { model: M::NAME, option: format!("{option} {value}").trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_records_into_a_file_of_its_own() {
        for (given, want) in [
            ("file:path=/tmp/x.y.sc16,format=sc16", "file:path=/tmp/x.y-b.sc16,format=sc16"),
            ("sigmf:path=sent,format=sc16", "sigmf:path=sent-b,format=sc16"),
            ("null", "null"),
        ] {
            assert_eq!(of_slot(&given.parse().unwrap(), "b").to_string(), want);
        }
    }

    #[test]
    fn what_only_an_n200_has_is_refused_by_name() {
        let refused = |options: Options| refuse_n200_options(&options).unwrap_err().to_string();
        assert_eq!(refused(Options { gpsdo: true, ..Options::default() }), "an x310 has no --gpsdo");
        assert_eq!(refused(Options { as_hardware: true, ..Options::default() }), "an x310 has no --as-hardware");
        assert_eq!(refused(Options { redirect: true, ..Options::default() }), "an x310 has no --redirect");
        assert!(refuse_n200_options(&Options::default()).is_ok());
    }
}
