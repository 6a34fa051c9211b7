//! The thread that streams: between the radio and the ports of those that share it.
//!
//! ```text
//!  loop:  receive a block ── advance the radios ── what their hosts have sent ── send ── the sum to the radio
//! ```
//!
//! The block that comes is the clock. A thread that falls behind looks at its hosts' datagrams less often, so that the wide
//! samples go first.

use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Stop, WallClock};
use takt_dsp::shared_band::BandPlan;
use takt_emulator::emulate::Datagrams;
use takt_live::tap::TapWriter;
use takt_radio::RxEvent;

use crate::attend::Live;
use crate::error::ShareError;
use crate::file::MOST_RADIOS;
use crate::front_end::SharedFrontEnd;
use crate::handover::{Done, Member, Note, Order, StreamingEnd};
use crate::physical::Physical;
use crate::ports::{AllPorts, HostPorts};
use crate::report::{FrontEndReport, SharedRadioSummary};
use crate::slot::SharedRadio;
use crate::status::Snapshot;
use crate::{AnalogPolicy, AnalogWish, Band, SharedRadioReport};

/// Longest wait for samples: how soon a stop is seen.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// How often the policy is asked, and a person told.
const LOOK: Duration = Duration::from_millis(20);
/// A call that returned so soon found its samples waiting.
const AT_ONCE: Duration = Duration::from_micros(10);
/// How many blocks a thread that is behind receives for one look at its hosts' datagrams.
const BEHIND: u32 = 4;

/// Counts of the streaming thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) samples: u64,
    pub(crate) lost_samples: u64,
    pub(crate) overflows: u64,
    pub(crate) moves: u64,
    pub(crate) waited: Duration,
}

pub(crate) struct Streaming {
    pub(crate) physical: Physical,
    pub(crate) core: SharedFrontEnd,
    pub(crate) ports: AllPorts,
    wide: Box<[Complex32]>,
    /// The band out of the front end's of which a person was told, of each radio.
    told: Box<[Option<Band>]>,
    pub(crate) tally: Tally,
    end: StreamingEnd,
    /// A spectrum of the wide samples, for who watches.
    tap: TapWriter,
    begun: MonoNs,
}

impl Streaming {
    pub(crate) fn new(
        physical: Physical,
        core: SharedFrontEnd,
        block: usize,
        (end, tap): (StreamingEnd, TapWriter),
    ) -> Streaming {
        Streaming {
            physical,
            core,
            ports: AllPorts::new(MOST_RADIOS),
            wide: vec![Complex32::default(); block].into(),
            told: vec![None; MOST_RADIOS].into(),
            tally: Tally::default(),
            end,
            tap,
            begun: WallClock.now(),
        }
    }

    /// Tells the other thread that all is there.
    pub(crate) fn live(&self, live: Live) {
        self.end.note(Note::Live(Box::new(live)));
    }

    pub(crate) fn run(&mut self, stop: &Stop) -> Result<(), ShareError> {
        let (mut behind, mut looked) = (0, WallClock.now());
        self.begun = looked;
        while !stop.requested() {
            let asked = WallClock.now();
            let received = self.physical.recv(&mut self.wide, asked + LONGEST_WAIT)?;
            let got = WallClock.now();
            let waited = got - asked;
            self.tally.waited += waited;
            self.tally.samples += received.samples as u64;
            self.note(received.event);
            let samples = self.wide.get(..received.samples).unwrap_or_default();
            self.tap.offer(samples);
            self.core.receive(received.first, samples)?;
            self.core.advance(&mut self.ports);
            behind = if waited < AT_ONCE { (behind + 1) % BEHIND } else { 0 };
            if behind == 0 {
                self.serve()?;
            }
            self.flush()?;
            self.transmit()?;
            self.obey(got);
            if got - looked >= LOOK {
                looked = got;
                self.physical.look()?;
                self.follow()?;
                self.tell();
            }
        }
        Ok(())
    }

    /// For how long it has run.
    pub(crate) fn ran(&self) -> Duration {
        WallClock.now() - self.begun
    }

    fn note(&mut self, event: Option<RxEvent>) {
        match event {
            Some(RxEvent::Overflow { lost, .. }) => {
                self.tally.overflows += 1;
                self.tally.lost_samples += lost;
            }
            Some(RxEvent::Dropped { lost, .. }) => self.tally.lost_samples += lost,
            _ => {}
        }
    }

    fn serve(&mut self) -> Result<(), ShareError> {
        let core = &mut self.core;
        self.ports.each().try_for_each(|(radio, ports)| ports.serve(radio, core))
    }

    fn flush(&mut self) -> Result<(), ShareError> {
        self.ports.each().try_for_each(|(_, ports)| ports.flush())
    }

    fn transmit(&mut self) -> Result<(), ShareError> {
        let (physical, mut sent) = (&mut self.physical, Ok(()));
        self.core.transmit(&mut |burst| {
            if sent.is_ok() {
                sent = physical.send(burst);
            }
        });
        sent
    }

    /// Does what the other thread has ordered.
    fn obey(&mut self, now: MonoNs) {
        let Some(order) = self.end.order() else { return };
        let done = match order {
            Order::Look(mut snapshot) => {
                self.look(&mut snapshot, now);
                Done::Looked(snapshot)
            }
            Order::Add(Member { radio, ports }) => {
                let number = radio.number();
                match self.core.put(radio) {
                    None => {
                        // The place of a radio's ports is free if that of the radio is.
                        let _ = self.ports.put(number, Some(ports));
                        Done::Added
                    }
                    Some(radio) => Done::NotAdded(Member { radio, ports }),
                }
            }
            Order::Remove(number) => {
                self.told.get_mut(number).into_iter().for_each(|told| *told = None);
                let ports = self.ports.put(number, None);
                Done::Removed(self.core.remove(number).zip(ports).map(|(radio, ports)| Member { radio, ports }))
            }
        };
        self.end.done(done);
    }

    fn look(&self, snapshot: &mut Snapshot, now: MonoNs) {
        snapshot.now = self.core.now();
        snapshot.ran = now - self.begun;
        snapshot.band = self.core.band();
        snapshot.gain_db = self.physical.gain_db();
        (snapshot.tally, snapshot.physical) = (self.tally, self.physical.tally);
        snapshot.sum = self.core.sum_report();
        self.core.note(&mut snapshot.radios);
    }

    /// Moves oscillator and gain as the policy says.
    fn follow(&mut self) -> Result<(), ShareError> {
        let Some(AnalogWish { centre_hz, gain_db, radio }) = self.core.wish() else { return Ok(()) };
        let gain_db = gain_db.filter(|gain_db| Some(*gain_db) != self.physical.gain_db());
        if centre_hz.is_none() && gain_db.is_none() {
            return Ok(());
        }
        let from = self.physical.set(centre_hz, gain_db)?;
        if let Some(centre_hz) = centre_hz {
            self.core.moved(from, centre_hz);
            self.tally.moves += 1;
            self.end.note(Note::Moved { by: radio, centre_hz });
        }
        Ok(())
    }

    fn tell(&mut self) {
        for (number, told) in self.told.iter_mut().enumerate() {
            let out = self.core.out_of_band(number);
            if out == *told {
                continue;
            }
            let wide = self.core.band();
            // Without room for the note, it is told at the next look.
            if out.is_none_or(|band| self.end.note(Note::OutOfBand { number, band, wide })) {
                *told = out;
            }
        }
    }

    pub(crate) fn front_end_report(&self, radio: String, policy: AnalogPolicy) -> FrontEndReport {
        let (tally, physical) = (self.tally, self.physical.tally);
        FrontEndReport {
            radio,
            band: self.core.band(),
            policy,
            moves: tally.moves,
            samples: tally.samples,
            lost_samples: tally.lost_samples,
            overflows: tally.overflows,
            sum: self.core.sum_report(),
            unsent_samples: physical.unsent_samples,
            underflows: physical.underflows,
            late: physical.late,
            sequence_errors: physical.sequence_errors,
        }
    }

    pub(crate) fn radio_reports(&self) -> Vec<SharedRadioSummary> {
        let numbers = self.core.numbers().filter_map(|number| self.ports.get(number));
        self.core.report().into_iter().zip(numbers).map(|(shared, ports)| summary(shared, ports)).collect()
    }
}

/// Counts of a radio and of its ports.
fn summary(shared: SharedRadioReport, ports: &HostPorts) -> SharedRadioSummary {
    SharedRadioSummary { shared, datagrams: Datagrams::from(ports.counters()), unsent_datagrams: ports.unsent() }
}

impl Member {
    /// Its counts, behind a front end with this band and this shared transform.
    pub(crate) fn report(&self, front_end: Band, shared: Option<&BandPlan>) -> SharedRadioSummary {
        let radio: &SharedRadio = &self.radio;
        summary(radio.report(front_end, shared), &self.ports)
    }
}
