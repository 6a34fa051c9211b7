//! A software USRP X310 with two daughterboards: RFNoC over UDP, as UHD 4.3 to 4.11 speak it.
//!
//! [`X310`] is a [`Device`]: a function of datagrams and ticks. Its parts are a file each:
//!
//! ```text
//!   49152 firmware ──── claim, i2c ── eeprom, clock_chip ── clock, time (PPS)
//!   49153 CHDR ──┬───── management ── routes, output, input
//!                ├───── control ───── graph, slot: registers, converters, pins        ┌─ source
//!                └───── samples ───── slot: rx ── output (credit)   input ── tx ──────┴─ sink
//!   49158 frame probe
//! ```
//!
//! A driver counts nanoseconds; inside, ticks of the master clock count, which a host sets between 184.32 and 200 MHz
//! (`clock`). Events are ordered by tick, and at one tick: time, commands, transmit, receive, a lapsed claim. A claim
//! is a word between hosts: when it lapses or is given back, nothing else changes, and streams go on. Releases of UHD
//! differ in a few versions and in the form of control packets (`release`); a host that leaves for that is noted
//! (`unserved`). The protocol with its sources and what is proved of it is `docs/internals/x310.md`, to whose clauses
//! comments refer.

mod board;
mod claim;
mod clock;
mod clock_chip;
mod control;
mod converters;
mod eeprom;
mod firmware;
mod front_end;
mod graph;
mod i2c;
mod input;
mod management;
mod messages;
mod options;
mod output;
mod pins;
mod registers;
mod release;
mod report;
mod routes;
mod rx;
mod slot;
mod spi;
mod streams;
mod tx;
mod ubx;
mod unserved;

use std::net::SocketAddr;

use takt_base::{Tick, TickRate, Ticks};
use takt_wire::chdr::{Management, Packet, StreamCommand};
use takt_wire::x310::{FrameProbe, MASTER_CLOCK_HZ, ports};

use crate::fault::PowerCycle;
use crate::shared::{Permits, Timekeeper};
use crate::{Device, Outbox, Port};
use claim::Claim;
use clock::{DRIVER_HZ, MasterClock, Rate};
use clock_chip::ClockChip;
use control::Ports;
use firmware::BoardRegisters;
use graph::{CHANNELS, ENDPOINTS, SLOTS};
use i2c::I2cCore;
use messages::{Around, CHDR};
use output::Output;
use routes::Routes;
use slot::Slot;
use spi::SpiCore;
use unserved::Unserved;

pub use crate::shared::OptionsError;
pub use crate::signals::Signals;
pub use board::{Board, BoardError};
pub use eeprom::EepromImages;
pub use options::X310Options;
pub use release::{Release, Uhd, UhdError};
pub use report::{ControlReport, X310Report};

/// Clock that a driver counts: nanoseconds, whatever the master clock is.
pub const CLOCK: TickRate = TickRate::from_hz(DRIVER_HZ).unwrap();
/// The master clock it starts with: 200 MHz.
pub const MASTER_CLOCK: TickRate = TickRate::from_hz(MASTER_CLOCK_HZ).unwrap();

/// In the order in which datagrams that arrived together take effect.
const PORTS: [Port; 3] = [firmware::PORT, Port(ports::FRAME_PROBE), CHDR];

/// A stream endpoint: the id that a host gave it, and what leaves it. Arriving packets belong to the transmitter behind
/// it.
#[derive(Clone, Copy, Debug, Default)]
struct Endpoint {
    id: u16,
    output: Output,
}

pub struct X310 {
    options: X310Options,
    /// The release whose image it has now.
    release: Release,
    unserved: Unserved,
    clock: MasterClock,
    /// All that was processed happened at or before this tick of the master clock, and of the driver's.
    now: Tick,
    driver_now: Tick,
    time: Timekeeper,
    board: BoardRegisters,
    board_spi: SpiCore,
    clock_chip: ClockChip,
    claim: Claim,
    i2c: I2cCore,
    routes: Routes,
    endpoints: [Endpoint; ENDPOINTS],
    ports: Ports,
    slots: [Slot; SLOTS],
    permits: Permits,
    report: ControlReport,
}

impl X310 {
    /// Switches a device on at [`X310Options::born`], each slot with its own signals.
    ///
    /// # Errors
    /// A serial or name that the EEPROM can't hold.
    pub fn new(options: X310Options, signals: [Signals; SLOTS]) -> Result<X310, OptionsError> {
        let clock = MasterClock::new();
        let (driver_now, now) = (options.born, clock.tick_at(options.born));
        let (images, board) = (options.images()?, options.board);
        let [a, b] = signals;
        let slot = |n, signals| Slot::new(n, now, board, options.imperfections(n), signals);
        Ok(X310 {
            release: options.uhd.image(),
            unserved: Unserved::default(),
            clock,
            now,
            driver_now,
            time: Timekeeper::power_up(now, clock.pps()),
            board: BoardRegisters::new(options.firmware, &images.mirror()),
            board_spi: SpiCore::default(),
            clock_chip: ClockChip::default(),
            claim: Claim::default(),
            i2c: I2cCore::new(images, board != Board::None),
            routes: Routes::new(),
            endpoints: [Endpoint::default(); ENDPOINTS],
            ports: control::ports(),
            slots: [slot(0, a), slot(1, b)],
            permits: Permits::new(options.destinations.clone()),
            report: ControlReport::default(),
            options,
        })
    }

    #[must_use]
    pub fn report(&self) -> X310Report {
        let [a, b] = self.slots.each_ref();
        let rate = self.clock.rate();
        let spi_writes = self.board_spi.count + a.spi_writes() + b.spi_writes();
        X310Report {
            rx: [a.rx[0].report(), a.rx[1].report(), b.rx[0].report(), b.rx[1].report()],
            tx: [a.tx.report, b.tx.report],
            control: ControlReport {
                spi_writes,
                eeprom_writes: self.i2c.written,
                unserved_hosts: self.unserved.hosts().0,
                ..self.report
            },
            hosts: self.permits.report.clone(),
            master_clock_hz: rate.ticks as f64 / rate.seconds as f64,
        }
    }

    #[must_use]
    pub fn eeproms(&self) -> &EepromImages {
        self.i2c.images()
    }

    /// How many hosts left because a version was not theirs, and which option would have served the last of them.
    #[must_use]
    pub fn unserved(&self) -> (u64, &'static str) {
        self.unserved.hosts()
    }

    /// Bytes written to its EEPROMs since it was switched on.
    #[must_use]
    pub fn eeprom_writes(&self) -> u64 {
        self.i2c.written
    }

    /// The master clock that its host has chosen, to the nearest hertz.
    #[must_use]
    pub fn master_clock(&self) -> TickRate {
        self.clock.timebase().rate()
    }

    /// Its clock's reading now minus the driver's counter in ticks of [`X310::master_clock`], modulo 2^64: changes when
    /// a host sets the time, or another master clock.
    #[must_use]
    pub fn clock_offset_ticks(&self) -> u64 {
        let driver_ns = CLOCK.ns_of(Ticks(self.driver_now.0));
        self.device_time(self.driver_now).wrapping_sub(self.master_clock().ticks_in_ns(driver_ns.into()).0)
    }

    /// Device time at a tick of the driver not long past.
    #[must_use]
    pub fn device_time(&self, driver: Tick) -> u64 {
        self.time.at(self.clock.tick_at(driver))
    }

    fn around(&self) -> Around<'_> {
        Around {
            time: &self.time,
            routes: &self.routes,
            control_endpoint: self.endpoints[0].id,
            protocol: self.release.protocol(),
        }
    }

    /// Lets everything happen that is due up to the driver's tick `until`, in order.
    fn catch_up(&mut self, until: Tick, out: &mut dyn Outbox) {
        self.driver_now = self.driver_now.max(until);
        let until = self.clock.tick_at(self.driver_now);
        while let Some(at) = self.next_event().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.act(&mut InDriverTicks { clock: self.clock, out });
        }
        self.now = self.now.max(until);
    }

    /// When something happens next by itself; may be in the past after a datagram.
    fn next_event(&self) -> Option<Tick> {
        let now = self.now;
        let slots = self.slots.iter().filter_map(|slot| slot.next_event(now, &self.time, &self.endpoints));
        let others = [self.time.next_event(), self.next_command(now), self.claim.lapses_at()];
        slots.chain(others.into_iter().flatten()).min()
    }

    fn act(&mut self, out: &mut dyn Outbox) {
        let now = self.now;
        self.time.act(now);
        self.run_commands(now, out);
        let X310 { time, routes, endpoints, slots, release, .. } = self;
        let around = Around { time, routes, control_endpoint: endpoints[0].id, protocol: release.protocol() };
        for slot in slots {
            slot.act(now, endpoints, &around, out);
        }
        if self.claim.lapses_at().is_some_and(|at| at <= now) {
            self.claim.lapse();
            self.unserved.left(self.release);
        }
    }

    /// The clock chip makes another master clock.
    fn set_rate(&mut self, rate: Rate) {
        if rate == self.clock.rate() {
            return;
        }
        self.clock.set_rate(self.driver_now, rate);
        self.time.set_pps(self.now, self.clock.pps());
        let base = self.clock.timebase();
        for slot in &mut self.slots {
            slot.clocked(self.now, base);
        }
    }

    /// It has another image from now on. Waiting packets are in the language of the one before.
    fn serve(&mut self, release: Release) {
        if release != self.release {
            self.release = release;
            self.ports.iter_mut().for_each(crate::shared::TimedQueue::clear);
        }
    }

    /// Gives the daughterboards the clock chip's clocks.
    fn set_board_clocks(&mut self) {
        let boards_hz = self.clock_chip.boards_hz();
        for slot in &mut self.slots {
            slot.set_board_clocks(self.now, boards_hz);
        }
    }

    /// Bit 0: what leaves, bit 1: what arrives, bit 2: control (x310.md 6.4).
    fn reset_endpoint(&mut self, now: Tick, n: usize, what: u32) {
        if what & 1 != 0 {
            self.endpoints[n].output.close();
            self.slots[n / CHANNELS].rx[n % CHANNELS].clear(now);
        }
        if what & 2 != 0 && n.is_multiple_of(CHANNELS) {
            let id = self.endpoints[n].id;
            let (tx, channel) = self.slots[n / CHANNELS].tx_and_channel(id);
            tx.clear(now, channel.interpolation);
        }
        if what & 4 != 0 && n == 0 {
            self.ports.iter_mut().for_each(crate::shared::TimedQueue::clear);
        }
    }

    fn chdr(&mut self, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        let now = self.now;
        self.unserved.spoke();
        let Ok(packet) = Packet::parse_as(self.release.protocol(), bytes) else {
            self.report.malformed_datagrams += 1;
            return;
        };
        match packet {
            Packet::Management(request) => self.management(from, &request, out),
            Packet::Control(control) if self.is_for(control.destination) == Some(0) => self.control(now, control),
            Packet::Status(status) => match self.is_for(status.destination) {
                Some(n) => self.endpoints[n].output.status_arrived(&status),
                None => self.report.malformed_datagrams += 1,
            },
            Packet::Command(command) => self.stream(command.destination, out, &mut |slot, id, around, out| {
                let (tx, channel) = slot.tx_and_channel(id);
                tx.command(now, &command, &channel, around, out);
            }),
            Packet::Data(data) => self.stream(data.head.destination, out, &mut |slot, id, around, out| {
                let (tx, channel) = slot.tx_and_channel(id);
                tx.data(now, &data, &channel, around, out);
            }),
            Packet::Control(_) => self.report.malformed_datagrams += 1,
        }
    }

    /// The endpoint with this id. Before a host has given ids, none has any.
    fn is_for(&self, id: u16) -> Option<usize> {
        self.endpoints.iter().position(|endpoint| endpoint.id == id && id != 0)
    }

    /// Something for the transmitter behind an endpoint.
    fn stream(
        &mut self,
        destination: u16,
        out: &mut dyn Outbox,
        give: &mut dyn FnMut(&mut Slot, u16, &Around<'_>, &mut dyn Outbox),
    ) {
        let Some(n) = self.is_for(destination).filter(|n| n.is_multiple_of(CHANNELS)) else {
            self.report.malformed_datagrams += 1;
            return;
        };
        let X310 { time, routes, endpoints, slots, clock, release, .. } = self;
        let around = Around { time, routes, control_endpoint: endpoints[0].id, protocol: release.protocol() };
        let mut out = InDriverTicks { clock: *clock, out };
        give(&mut slots[n / CHANNELS], endpoints[n].id, &around, &mut out);
    }

    fn management(&mut self, from: SocketAddr, request: &Management, out: &mut dyn Outbox) {
        self.report.management += 1;
        let answer = self.manage(from, request);
        if let Some(reply) = answer.reply {
            out.send(self.driver_now, CHDR, from, &mut |frame| reply.write(frame).unwrap_or(0));
        }
        for command in answer.commands.into_iter().flatten() {
            self.send_command(&command, out);
        }
    }

    fn send_command(&self, command: &StreamCommand, out: &mut dyn Outbox) {
        let mut out = InDriverTicks { clock: self.clock, out };
        let _ =
            self.around().send(self.now, command.destination, &mut out, &mut |frame| command.write(frame).unwrap_or(0));
    }

    /// Requests and replies longer than what passes are lost, as on a wire (x310.md 5 and 15, trap 4).
    fn frame_probe(&mut self, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        let Ok(FrameProbe::Request { reply_bytes }) = FrameProbe::parse(bytes) else {
            self.report.malformed_datagrams += 1;
            return;
        };
        let wanted = reply_bytes as usize;
        if bytes.len().max(wanted) > self.options.frame_bytes {
            self.report.refused_probes += 1;
            return;
        }
        let reply = FrameProbe::Reply { request_bytes: bytes.len() as u32 };
        out.send(self.driver_now, Port(ports::FRAME_PROBE), from, &mut |frame| {
            reply.write_padded(wanted, frame).unwrap_or(0)
        });
    }
}

impl Device for X310 {
    fn ports(&self) -> &[Port] {
        &PORTS
    }

    fn datagram(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        self.catch_up(now, out);
        // Whoever may not be answered may change nothing either.
        if !self.permits.permit(from.ip()) {
            return;
        }
        match port.0 {
            ports::FIRMWARE => match self.firmware(bytes) {
                Some(reply) => {
                    out.send(self.driver_now, port, from, &mut |frame| reply.write(frame).unwrap_or(0));
                }
                None => self.report.malformed_datagrams += 1,
            },
            ports::CHDR => self.chdr(from, bytes, out),
            ports::FRAME_PROBE => self.frame_probe(from, bytes, out),
            _ => self.report.malformed_datagrams += 1,
        }
        self.catch_up(now, out);
    }

    fn refused(&mut self, _now: Tick, port: Port, by: SocketAddr) {
        if port != CHDR {
            return;
        }
        for endpoint in &mut self.endpoints {
            if self.routes.of(endpoint.output.destination) == Some(by) && endpoint.output.is_open() {
                endpoint.output.close();
                self.permits.report.lost += 1;
            }
        }
        self.routes.forget(by);
    }

    fn advance(&mut self, now: Tick, out: &mut dyn Outbox) {
        self.catch_up(now, out);
    }

    fn deadline(&self) -> Option<Tick> {
        self.next_event().map(|at| self.clock.driver_tick(at).max(self.driver_now + Ticks(1)))
    }
}

impl PowerCycle for X310 {
    fn power_cycle(&mut self, now: Tick) {
        self.driver_now = self.driver_now.max(now);
        self.now = self.now.max(self.clock.tick_at(self.driver_now));
        self.clock_chip = ClockChip::default();
        self.set_rate(Rate::USUAL);
        self.time = Timekeeper::power_up(self.now, self.clock.pps());
        self.board = BoardRegisters::new(self.options.firmware, &self.i2c.images().mirror());
        self.board_spi.reset();
        self.i2c.reset();
        self.claim = Claim::default();
        self.release = self.options.uhd.image();
        self.unserved.arrived();
        self.routes.clear();
        self.endpoints = [Endpoint::default(); ENDPOINTS];
        self.ports.iter_mut().for_each(crate::shared::TimedQueue::clear);
        for slot in &mut self.slots {
            slot.power_cycle(self.now);
        }
        self.set_board_clocks();
    }
}

/// An outbox for what counts ticks of the master clock.
struct InDriverTicks<'a> {
    clock: MasterClock,
    out: &'a mut dyn Outbox,
}

impl Outbox for InDriverTicks<'_> {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> crate::Sent {
        self.out.send(self.clock.driver_tick(due), from, to, fill)
    }
}
