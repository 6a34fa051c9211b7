//! A software USRP N200 with its daughterboards, GPSDO and clock.
//!
//! [`N200`] is a [`Device`]: a function of datagrams and ticks. Its parts are a file each:
//!
//! ```text
//!   49152 control ── eeprom, firmware cells ─┐
//!                                            ├─ registers ─┬─ time (PPS)       ┌─ source
//!   49159 fifo ──────────────────────────────┘             ├─ rx 0, rx 1 ──────┤      49156, 49158
//!                                                          ├─ tx ── buffer ────┴─ sink  49157
//!   49172 gpsdo                                            └─ front_end ── spi, synthesiser, converter
//! ```
//!
//! Events are ordered by tick, and at one tick: time, commands, transmit, receive, losses of hosts, GPS. So nothing
//! depends on when the driver calls. Behaviour only read about, never seen on hardware, is in
//! `docs/internals/emulator.md`.

mod board;
mod control;
mod converter;
mod dsp;
mod eeprom;
mod front_end;
mod gpsdo;
mod hosts;
mod options;
mod registers;
mod report;
mod rx;
mod spi;
mod streams;
mod tx;

use std::net::{IpAddr, SocketAddr};

use takt_base::{Tick, TickRate, Ticks};
use takt_wire::n200::registers::firmware;
use takt_wire::n200::{Destination, DestinationAnswer, FifoCommand, MASTER_CLOCK_HZ, TxPacket, ports};

use crate::fault::PowerCycle;
use crate::front_end::with_cal;
use crate::shared::{Pps, TimedQueue, Timekeeper};
use crate::{Device, Outbox, Port};
use dsp::Surroundings;
use eeprom::Eeproms;
use front_end::FrontEnd;
use gpsdo::Gpsdo;
use hosts::{Hosts, Line};
use rx::RxDsp;
use spi::SpiBus;
use tx::TxDsp;

pub use crate::shared::{HostReport, OptionsError, RxReport, TxReport};
pub use crate::signals::Signals;
pub use board::{Board, BoardError};
pub use eeprom::EepromImages;
pub use options::{N200Options, OverflowPolicy, OverflowPolicyError};
pub use report::{ControlReport, N200Report, N200Status, Tuning};
pub use spi::SpiWrite;

/// The master clock: 100 MHz.
pub const CLOCK: TickRate = TickRate::from_hz(MASTER_CLOCK_HZ).unwrap();

/// Ticks between two PPS edges.
const PPS_TICKS: u64 = MASTER_CLOCK_HZ as u64;
/// Edges are whole seconds of the free-running counter.
const PPS: Pps = Pps::new(Tick(0), PPS_TICKS, 1);
/// Commands the register FIFO holds; hosts keep at most 63 in flight.
const FIFO_COMMANDS: usize = 64;

/// Serial lines, of which the GPSDO has the third.
const UARTS: std::ops::RangeInclusive<u16> = 49170..=49173;

/// The ports, in the order in which datagrams that arrived together take effect: commands before samples.
const PORTS: [Port; 9] = [
    Port(ports::CONTROL),
    Port(ports::FIFO),
    Port(ports::RX0),
    Port(ports::RX1),
    Port(ports::TX),
    Port(49170),
    Port(49171),
    Port(ports::GPSDO),
    Port(49173),
];

pub struct N200 {
    options: N200Options,
    /// All that was processed happened at or before this tick.
    now: Tick,
    time: Timekeeper,
    settings: [u32; 256],
    firmware: [u32; firmware::COUNT as usize],
    eeproms: Eeproms,
    /// Behind port 49159.
    fifo: TimedQueue<FifoCommand>,
    spi: SpiBus,
    front_end: FrontEnd,
    rx: [RxDsp; 2],
    tx: TxDsp,
    gpsdo: Option<Gpsdo>,
    hosts: Hosts,
    report: ControlReport,
}

impl N200 {
    /// Switches a device on at [`N200Options::born`].
    ///
    /// # Errors
    /// A serial or name that the EEPROM can't hold.
    pub fn new(options: N200Options, signals: Signals) -> Result<N200, OptionsError> {
        let born = options.born;
        let imperfections = options.imperfections();
        let Signals { sources: [first, second], sink } = with_cal(signals, CLOCK, imperfections);
        Ok(N200 {
            now: born,
            time: Timekeeper::power_up(born, PPS),
            settings: [0; 256],
            firmware: fresh_cells(&options),
            eeproms: Eeproms::new(options.images()?),
            fifo: TimedQueue::new(FIFO_COMMANDS),
            spi: SpiBus::new(),
            front_end: FrontEnd::new(options.board, imperfections),
            rx: [RxDsp::new(born, 0, first), RxDsp::new(born, 1, second)],
            tx: TxDsp::new(born, sink),
            gpsdo: options.gpsdo.then(|| Gpsdo::new(born, options.utc_at_tick_0_s)),
            hosts: Hosts::new(options.destinations.clone(), options.speed),
            report: ControlReport::default(),
            options,
        })
    }

    /// Its clock's reading minus its free-running counter, modulo 2^64: changes when a host sets the time.
    #[must_use]
    pub fn clock_offset_ticks(&self) -> u64 {
        self.time.offset()
    }

    #[must_use]
    pub fn report(&self) -> N200Report {
        N200Report {
            rx: self.rx.each_ref().map(RxDsp::report),
            tx: self.tx.report,
            control: ControlReport { spi_writes: self.spi.count, eeprom_writes: self.eeproms.written, ..self.report },
            hosts: self.hosts.report(),
            tuning: self.tuning(),
        }
    }

    /// Its state for a reader beside a stream. Allocates nothing.
    #[must_use]
    pub fn status(&self) -> N200Status {
        N200Status {
            host: self.hosts.present(self.now),
            rx: self.rx.each_ref().map(RxDsp::report),
            tx: self.tx.report,
            tuning: self.tuning(),
        }
    }

    /// Its frequencies and gains; allocates nothing.
    #[must_use]
    pub fn tuning(&self) -> Tuning {
        let gains = self.front_end.gains_db();
        Tuning {
            rx_hz: self.rx.each_ref().map(RxDsp::centre_hz),
            tx_hz: self.tx.centre_hz(),
            rx_gain_db: gains.map(|gains| gains[0]),
            tx_gain_db: gains.map(|gains| gains[1]),
        }
    }

    #[must_use]
    pub fn eeproms(&self) -> &EepromImages {
        self.eeproms.images()
    }

    /// Bytes written to its EEPROMs since it was switched on.
    #[must_use]
    pub fn eeprom_writes(&self) -> u64 {
        self.eeproms.written
    }

    /// The last SPI transactions, at most 64, the oldest first.
    pub fn spi_log(&self) -> impl Iterator<Item = SpiWrite> {
        self.spi.log()
    }

    /// Device time at a tick not long past.
    #[must_use]
    pub fn device_time(&self, tick: Tick) -> u64 {
        self.time.at(tick)
    }

    /// Lets everything happen that is due up to `until`, in order.
    fn catch_up(&mut self, until: Tick, out: &mut dyn Outbox) {
        while let Some(at) = self.next_event().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.act(out);
        }
        self.now = self.now.max(until);
    }

    /// When something happens next by itself; may be in the past after a datagram.
    fn next_event(&self) -> Option<Tick> {
        let now = self.now;
        let events = [
            self.time.next_event(),
            self.fifo.next_event(now, &self.time),
            self.tx.next_event(now, &self.time),
            self.rx[0].next_event(now, &self.time),
            self.rx[1].next_event(now, &self.time),
            self.next_loss(),
            self.gpsdo.as_ref().map(Gpsdo::next_event),
        ];
        events.into_iter().flatten().min()
    }

    fn act(&mut self, out: &mut dyn Outbox) {
        let now = self.now;
        self.time.act(now);
        while let Some(command) = self.fifo.pop_due(now, &self.time) {
            let ack = command.ack(self.execute(now, command.action));
            if let Some(to) = self.hosts.of(Line::Fifo) {
                out.send(now, Port(ports::FIFO), to, &mut |frame| ack.write(frame).unwrap_or(0));
            }
        }
        let (time, front_end) = (&self.time, &self.front_end);
        let around = |to| Surroundings { time, front_end, to, on_overflow: self.options.on_overflow };
        self.tx.act(now, &around(self.hosts.of(Line::Tx)), out);
        for (n, rx) in self.rx.iter_mut().enumerate() {
            rx.act(now, &around(self.hosts.of(Line::Rx(n))), out);
        }
        self.lose_hosts(now);
        if let Some(gpsdo) = &mut self.gpsdo {
            self.report.gps_sentences += gpsdo.act(now, self.hosts.of(Line::Gpsdo), out);
        }
    }

    /// When a host whose streams are running will count as gone.
    fn next_loss(&self) -> Option<Tick> {
        Line::ALL.into_iter().filter(|&line| self.streams(line)).filter_map(|line| self.hosts.gone_at(line)).min()
    }

    /// Whether something is sent on this line without being requested each time.
    fn streams(&self, line: Line) -> bool {
        match line {
            Line::Rx(n) => !self.rx[n].idle(),
            Line::Tx => self.tx.updating(),
            Line::Fifo => false,
            Line::Gpsdo => self.gpsdo.is_some(),
        }
    }

    fn lose_hosts(&mut self, now: Tick) {
        for line in Line::ALL {
            if self.streams(line) && self.hosts.gone_at(line).is_some_and(|at| at <= now) {
                self.lose(now, line);
            }
        }
    }

    /// Ends what a host that is gone had started, and its lock.
    fn lose(&mut self, now: Tick, line: Line) {
        self.hosts.lose(line);
        match line {
            Line::Rx(n) => self.rx[n].clear(now),
            Line::Tx => self.tx.stop_updates(),
            Line::Fifo | Line::Gpsdo => return,
        }
        self.unlock();
    }

    /// A datagram on a port that has a destination: is it one, and what becomes of it?
    fn destination(
        &mut self,
        now: Tick,
        line: Line,
        port: Port,
        from: SocketAddr,
        destination: Destination,
        out: &mut dyn Outbox,
    ) {
        match destination {
            Destination::Sender => {
                self.hosts.direct(now, line, from.ip(), from);
            }
            Destination::Named { address, port: other } => {
                let to = SocketAddr::new(IpAddr::V4(address), other);
                let known = self.hosts.direct(now, line, from.ip(), to);
                let answer = if known { DestinationAnswer::Resolved } else { DestinationAnswer::Unresolved };
                out.send(now, port, from, &mut |frame| answer.write(frame).unwrap_or(0));
            }
        }
    }

    fn rx_datagram(&mut self, now: Tick, n: usize, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        match Destination::parse(bytes) {
            Ok(destination) => self.destination(now, Line::Rx(n), Port(ports::RX[n]), from, destination, out),
            Err(_) => self.report.malformed_datagrams += 1,
        }
    }

    fn tx_datagram(&mut self, now: Tick, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        match TxPacket::parse(bytes) {
            Ok(TxPacket::Data(packet)) => self.tx.packet(now, &packet),
            Ok(TxPacket::Destination(destination)) => {
                self.destination(now, Line::Tx, Port(ports::TX), from, destination, out);
            }
            Err(_) => self.report.malformed_datagrams += 1,
        }
    }

    fn fifo_datagram(&mut self, now: Tick, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        if let Ok(destination) = Destination::parse(bytes) {
            return self.destination(now, Line::Fifo, Port(ports::FIFO), from, destination, out);
        }
        match FifoCommand::parse(bytes) {
            Ok(command) => {
                self.report.commands += 1;
                self.report.timed_commands += u64::from(command.tick.is_some());
                self.report.dropped_commands += u64::from(!self.fifo.push(now, command.tick, command));
            }
            Err(_) => self.report.malformed_datagrams += 1,
        }
    }

    /// Bytes on a serial line; only the GPSDO's leads anywhere.
    fn uart_datagram(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        let Some(gpsdo) = self.gpsdo.as_mut().filter(|_| port.0 == ports::GPSDO) else { return };
        if self.hosts.direct(now, Line::Gpsdo, from.ip(), from) {
            gpsdo.receive(now, bytes, from, out);
        }
    }
}

impl Device for N200 {
    fn ports(&self) -> &[Port] {
        &PORTS
    }

    fn datagram(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        self.catch_up(now, out);
        let now = self.now;
        // Whoever may not be answered may change nothing either.
        if !self.hosts.permit(from.ip()) {
            return;
        }
        self.hosts.sign_of_life(now, from.ip());
        match port.0 {
            ports::CONTROL => self.control(now, from, bytes, out),
            ports::FIFO => self.fifo_datagram(now, from, bytes, out),
            ports::RX0 => self.rx_datagram(now, 0, from, bytes, out),
            ports::RX1 => self.rx_datagram(now, 1, from, bytes, out),
            ports::TX => self.tx_datagram(now, from, bytes, out),
            uart if UARTS.contains(&uart) => self.uart_datagram(now, port, from, bytes, out),
            _ => self.report.malformed_datagrams += 1,
        }
        self.catch_up(now, out);
    }

    fn refused(&mut self, now: Tick, port: Port, by: SocketAddr) {
        let now = self.now.max(now);
        let line = match port.0 {
            ports::RX0 => Line::Rx(0),
            ports::RX1 => Line::Rx(1),
            ports::TX => Line::Tx,
            ports::GPSDO => Line::Gpsdo,
            _ => return,
        };
        if self.hosts.of(line) == Some(by) {
            self.lose(now, line);
        }
    }

    fn advance(&mut self, now: Tick, out: &mut dyn Outbox) {
        self.catch_up(now, out);
    }

    fn deadline(&self) -> Option<Tick> {
        self.next_event().map(|at| at.max(self.now + Ticks(1)))
    }
}

impl PowerCycle for N200 {
    fn power_cycle(&mut self, now: Tick) {
        let now = self.now.max(now);
        self.now = now;
        self.time = Timekeeper::power_up(now, PPS);
        self.settings = [0; 256];
        self.firmware = fresh_cells(&self.options);
        self.fifo.clear();
        self.front_end = FrontEnd::new(self.options.board, self.options.imperfections());
        for rx in &mut self.rx {
            rx.power_cycle(now);
        }
        self.tx.power_cycle(now);
        self.gpsdo = self.options.gpsdo.then(|| Gpsdo::new(now, self.options.utc_at_tick_0_s));
        self.hosts.clear();
        self.update(now);
    }
}

fn fresh_cells(options: &N200Options) -> [u32; firmware::COUNT as usize] {
    let mut cells = [0; firmware::COUNT as usize];
    cells[firmware::MINOR as usize] = options.firmware_minor;
    cells
}
