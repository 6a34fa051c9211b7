//! Boundary between emulator and radio: a model knows how to build itself from options.

use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use takt_base::{Speed, Tick, TickRate};

use super::eeprom_file::{Kept, fitted, kept};
use super::pacing::Strain;
use super::signal_options::{picked, usual_setting};
use super::{EmulateError, EmulatorOptions, largest_datagram};
use crate::air::{Air, End};
use crate::fault::{PowerCycle, Stream, Streams};
use crate::policy::Destinations;
use crate::signals::{self, Setting, SignalError, Signals, Watch};
use crate::{Device, n200, sink, source, x310};

/// A radio that can be emulated.
pub trait Model: Device + PowerCycle + Streams + Sized + 'static {
    /// As users write it: `n200`.
    const NAME: &'static str;
    /// Clock that its driver counts.
    const CLOCK: TickRate;
    /// The port on which hosts search.
    const DISCOVERY_PORT: u16;
    /// Buffer requested from the kernel for each port: more than its transmit windows take with the kernel's bookkeeping, which
    /// counts a datagram as up to twice its length.
    const BUFFER_BYTES: usize;
    /// Streams that no fault of it can strike.
    const LACKS: &'static [Stream];
    /// Whether a host may find that a version is not its own, and leave: whether [`Model::unserved`] is worth asking.
    const MAY_NOT_SERVE: bool = false;

    type Report: Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static;

    /// Builds the n-th radio of these options.
    ///
    /// # Errors
    /// An option is not for this model, or makes no sense.
    fn build(options: &EmulatorOptions, n: usize, site: Site<'_>) -> Result<(Self, Vec<Watch>), EmulateError>;

    fn report(&self) -> Self::Report;

    fn serial(&self) -> String;

    /// Ticks of its clock in a second.
    fn clock_hz(&self) -> NonZeroU32;

    /// Its clock's reading less the monotonic clock in such ticks, modulo 2^64.
    fn clock_offset_ticks(&self) -> u64;

    /// How often its EEPROMs were written, and what they hold.
    fn eeproms(&self) -> (u64, Vec<u8>);

    /// Those of its counts that say whether its hosts keep up.
    fn strain(report: &Self::Report) -> Strain;

    /// For a person: the versions that decide which hosts take a radio of these options, if there are any.
    fn announces(_options: &EmulatorOptions) -> Option<String> {
        None
    }

    /// How many hosts have left because a version was not theirs, and for a person: what would have served the last of them.
    fn unserved(&self) -> (u64, &'static str) {
        (0, "")
    }
}

/// Environment of a radio that is built.
pub struct Site<'a> {
    /// Destinations to which it may send.
    pub rule: Destinations,
    /// The tick of its driver at which it is switched on.
    pub born: Tick,
    /// UTC at tick 0 of its driver, in whole seconds since 1970.
    pub utc_at_tick_0_s: u64,
    /// How fast its time passes. It counts waits for its hosts in their seconds.
    pub speed: Speed,
    /// How much of what is sent is kept in memory, samples.
    pub keep_samples: Option<u64>,
    /// The air it joins, and its number there.
    pub air: Option<(&'a mut Air, usize)>,
}

impl Site<'_> {
    /// Signals at one of its antennas.
    fn signals(
        &mut self,
        channel: usize,
        source: &source::Spec,
        sink: &sink::Spec,
        setting: &Setting,
    ) -> Result<(Signals, Watch), SignalError> {
        let (mut signals, mut watch) = signals::open(source, sink, setting)?;
        if let Some(most_samples) = self.keep_samples {
            signals = watch.remember(signals, setting, most_samples)?;
        }
        if let Some((air, radio)) = &mut self.air {
            let (joined, counts) = air.join(End { radio: *radio, channel }, signals.sources, signals.sink);
            (signals, watch) = (joined, watch.with_air(counts));
        }
        let signals = watch.tap(signals, setting);
        Ok((signals, watch))
    }
}

fn serial(options: &EmulatorOptions, n: usize) -> String {
    options.serials.get(n).cloned().unwrap_or_else(|| format!("EMU{:03}", n + 1))
}

impl Model for n200::N200 {
    const NAME: &'static str = "n200";
    const CLOCK: TickRate = n200::CLOCK;
    const DISCOVERY_PORT: u16 = takt_wire::n200::ports::CONTROL;
    const BUFFER_BYTES: usize = 4 << 20;
    const LACKS: &'static [Stream] = &[];

    type Report = n200::N200Report;

    fn build(options: &EmulatorOptions, n: usize, mut site: Site<'_>) -> Result<(Self, Vec<Watch>), EmulateError> {
        let addr = options.addrs[n];
        if let Some(uhd) = options.uhd {
            return Err(unfit::<Self>("--uhd", &uhd.to_string()));
        }
        let fresh = n200::N200Options::default();
        let eeproms = kept(options, n, n200::EepromImages::from_bytes, n200::EepromImages::BYTES)?;
        let board = match fitted(options, n, eeproms.as_ref().map(Kept::of_n200))? {
            None => fresh.board,
            Some(board) => board.of_n200().ok_or(unfit::<Self>("--board", &board.to_string()))?,
        };
        let setting = usual_setting(n200::CLOCK, format!("N200 {}", serial(options, n)), site.utc_at_tick_0_s);
        let identity = n200::N200Options {
            serial: serial(options, n),
            name: options.names.get(n).cloned().unwrap_or(fresh.name),
            address: addr,
            board,
            gpsdo: options.gpsdo,
            imperfect: options.imperfect,
            hardware: options.hardware.unwrap_or(fresh.hardware),
            firmware: options.firmware.unwrap_or(fresh.firmware),
            firmware_minor: fresh.firmware_minor,
            fpga: options.fpga.unwrap_or(fresh.fpga),
            marked: !options.as_hardware,
            on_overflow: options.overflow,
            destinations: site.rule.clone(),
            born: site.born,
            utc_at_tick_0_s: site.utc_at_tick_0_s,
            speed: site.speed,
            eeproms,
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

    fn eeproms(&self) -> (u64, Vec<u8>) {
        (self.eeprom_writes(), self.eeproms().to_bytes())
    }

    fn strain(report: &n200::N200Report) -> Strain {
        Strain::of(&report.rx, &[report.tx])
    }
}

impl Model for x310::X310 {
    const NAME: &'static str = "x310";
    const CLOCK: TickRate = x310::CLOCK;
    const DISCOVERY_PORT: u16 = takt_wire::x310::ports::FIRMWARE;
    // Both transmitters are behind one port, with 2 MiB each.
    const BUFFER_BYTES: usize = 16 << 20;
    const LACKS: &'static [Stream] = &[Stream::Rx0, Stream::Rx1, Stream::Gps];
    const MAY_NOT_SERVE: bool = true;

    type Report = x310::X310Report;

    fn build(options: &EmulatorOptions, n: usize, mut site: Site<'_>) -> Result<(Self, Vec<Watch>), EmulateError> {
        let addr: Ipv4Addr = options.addrs[n];
        refuse_n200_options(options)?;
        let fresh = x310_image(options);
        let eeproms = kept(options, n, x310::EepromImages::from_bytes, x310::EepromImages::BYTES)?;
        let board = match fitted(options, n, eeproms.as_ref().map(Kept::of_x310))? {
            None => fresh.board,
            Some(board) => board.of_x310().ok_or(unfit::<Self>("--board", &board.to_string()))?,
        };
        let identity = x310::X310Options {
            serial: serial(options, n),
            name: options.names.get(n).cloned().unwrap_or(fresh.name),
            address: addr,
            board,
            imperfect: options.imperfect,
            uhd: fresh.uhd,
            fpga: fresh.fpga,
            firmware: fresh.firmware,
            frame_bytes: fresh.frame_bytes.min(largest_datagram(addr)),
            destinations: site.rule.clone(),
            born: site.born,
            speed: site.speed,
            eeproms,
        };
        let (source, sink) = picked(options, n)?;
        // Both slots receive the same; each transmitter has a cable and a file of its own.
        let mut watches = Vec::new();
        let mut slot = |channel: usize, name: &str| {
            let hw = format!("X310 {} slot {name}", identity.serial);
            let setting = usual_setting(x310::MASTER_CLOCK, hw, site.utc_at_tick_0_s);
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
        self.eeproms().motherboard().serial.as_str().to_owned()
    }

    fn clock_hz(&self) -> NonZeroU32 {
        self.master_clock().into()
    }

    fn clock_offset_ticks(&self) -> u64 {
        self.clock_offset_ticks()
    }

    fn eeproms(&self) -> (u64, Vec<u8>) {
        (self.eeprom_writes(), self.eeproms().to_bytes())
    }

    fn strain(report: &x310::X310Report) -> Strain {
        Strain::of(&report.rx, &report.tx)
    }

    fn announces(options: &EmulatorOptions) -> Option<String> {
        let image = x310_image(options);
        Some(image.uhd.announces(image.fpga, image.firmware))
    }

    fn unserved(&self) -> (u64, &'static str) {
        self.unserved()
    }
}

/// The usual radio with the image that the options name, and the versions that it is to report instead.
fn x310_image(options: &EmulatorOptions) -> x310::X310Options {
    let image = x310::X310Options::serving(options.uhd.unwrap_or_default());
    x310::X310Options {
        fpga: options.fpga.unwrap_or(image.fpga),
        firmware: options.firmware.map_or(image.firmware, |major| major << 16),
        ..image
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
fn refuse_n200_options(options: &EmulatorOptions) -> Result<(), EmulateError> {
    let usual = EmulatorOptions::default();
    let given = [
        ("--gpsdo", options.gpsdo),
        ("--overflow continue", options.overflow != usual.overflow),
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
    fn an_x310_announces_the_versions_of_the_release_and_those_that_are_named() {
        let usual = EmulatorOptions::default();
        let of = |uhd: &str| EmulatorOptions { uhd: Some(uhd.parse().unwrap()), ..EmulatorOptions::default() };
        let other = EmulatorOptions { firmware: Some(7), fpga: Some(0x0026_0004), ..of("4.10") };
        for (options, says) in [
            (&usual, "RFNoC 1.0, radio block 0.1, FPGA 39.0, firmware 6.0: for UHD 4.3 to 4.9"),
            (&of("4.11"), "RFNoC 2.0, radio block 1.0, FPGA 39.3, firmware 6.1: for UHD 4.11"),
            (&other, "RFNoC 1.0, radio block 1.0, FPGA 38.4, firmware 7.0: for UHD 4.10"),
        ] {
            let announced = x310::X310::announces(options).unwrap();
            assert!(announced.contains(says), "{announced}");
        }
        assert_eq!(n200::N200::announces(&usual), None);
    }

    #[test]
    fn what_only_an_n200_has_is_refused_by_name() {
        let refused = |options: EmulatorOptions| refuse_n200_options(&options).unwrap_err().to_string();
        assert_eq!(refused(EmulatorOptions { gpsdo: true, ..EmulatorOptions::default() }), "an x310 has no --gpsdo");
        assert_eq!(
            refused(EmulatorOptions { as_hardware: true, ..EmulatorOptions::default() }),
            "an x310 has no --as-hardware"
        );
        assert_eq!(
            refused(EmulatorOptions { redirect: true, ..EmulatorOptions::default() }),
            "an x310 has no --redirect"
        );
        assert!(refuse_n200_options(&EmulatorOptions::default()).is_ok());
    }
}
