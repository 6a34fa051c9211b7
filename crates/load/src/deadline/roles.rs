//! The physical and the higher layer: each a thread of a process of its own, woken by a pipe.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use num_complex::Complex;
use serde::{Deserialize, Serialize};
use takt_base::{Clock, Complex32, WallClock};
use takt_dsp::tdscdma::{
    ANSWER_SAMPLES, AnswerBurst, BlockAnswer, Cell, Converter, DOWNLINK_SLOTS, Downlink, Receiver, SAMPLES, SLOT_CHIPS,
    slot_samples,
};
use takt_host::thread_clock::ThreadClock;
use takt_wire::sample::full_scale;

use super::error::doing;
use super::memory::{At, Cell as SharedCell, Cells};
use super::placement::ThreadPlacement;
use super::{DeadlineError, downlink, ns};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layer {
    Physical,
    Higher,
}

impl Layer {
    /// Name of its thread, its name in errors, and what it stamps when it runs and when it is done.
    fn about(self) -> (&'static str, &'static str, [At; 2]) {
        match self {
            Layer::Physical => ("takt-physical", "physical layer", [At::PhysicalWoke, At::PhysicalDone]),
            Layer::Higher => ("takt-higher", "higher layer", [At::HigherWoke, At::HigherDone]),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleOptions {
    pub(crate) layer: Layer,
    /// The shared memory, as a file.
    pub(crate) memory: PathBuf,
    pub(crate) wake: PathBuf,
    /// The pipe that wakes the next one.
    pub(crate) next: PathBuf,
    pub(crate) codes: usize,
    pub(crate) seed: u64,
    pub(crate) placement: ThreadPlacement,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleReport {
    /// Subframes it worked on.
    pub subframes: u64,
    /// Blocks among these that the CRC called good.
    pub good: u64,
    /// Good blocks whose payload was not the one that was sent. The higher layer alone knows.
    pub wrong: u64,
}

/// A layer at work. It ends when the process that wakes it has gone.
#[derive(Debug)]
pub struct Role(JoinHandle<io::Result<RoleReport>>);

/// Both are made ready, before it is known which one leaves.
const ANSWERS: [BlockAnswer; 2] = [BlockAnswer::Ack, BlockAnswer::Nack];
/// Full scale in a burst that is sent: its chips have a mean power of 1.
const AMPLITUDE: f32 = 0.15 * full_scale::SC16;

impl Role {
    /// Starts it; it has its CPUs and its policy when this returns.
    ///
    /// # Errors
    /// They are refused, or what it shares with the others is not there.
    pub fn start(options: RoleOptions) -> Result<Role, DeadlineError> {
        let (started, ready) = mpsc::channel();
        let (name, ..) = options.layer.about();
        let thread = thread::Builder::new().name(name.into()).spawn(move || serve(&options, &started));
        let thread = thread.map_err(doing("starting a thread"))?;
        match ready.recv() {
            Ok(ready) => ready.map(|()| Role(thread)),
            Err(mpsc::RecvError) => match thread.join() {
                Ok(_) => Err(doing("starting a layer")(io::ErrorKind::Other.into())),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }

    /// Waits until the process that wakes it has gone, and returns what it counted.
    pub fn finish(self) -> io::Result<RoleReport> {
        self.0.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn serve(options: &RoleOptions, started: &Sender<Result<(), DeadlineError>>) -> io::Result<RoleReport> {
    // The thread that started it waits for this, unless it has gone.
    match prepare(options) {
        Ok((cells, wake, next, mut work)) => {
            let _ = started.send(Ok(()));
            let (.., stamps) = options.layer.about();
            answer_all(&cells, wake, next, stamps, &mut *work)
        }
        Err(error) => {
            let _ = started.send(Err(error));
            Ok(RoleReport::default())
        }
    }
}

type Prepared = (Cells, File, File, Box<dyn Work>);

fn prepare(options: &RoleOptions) -> Result<Prepared, DeadlineError> {
    let cells = Cells::open(&options.memory).map_err(doing("opening shared memory of the exchange"))?;
    let wake = File::open(&options.wake).map_err(doing("opening a pipe of the exchange"))?;
    let next = OpenOptions::new().write(true).open(&options.next).map_err(doing("opening a pipe of the exchange"))?;
    let work: Box<dyn Work> = match options.layer {
        Layer::Physical => Box::new(Physical::new(options.codes)?),
        Layer::Higher => Box::new(Higher::new(options)?),
    };
    let (_, who, _) = options.layer.about();
    options.placement.take(who)?;
    Ok((cells, wake, next, work))
}

trait Work {
    /// Whether all is there that the work needs; does what can be done with a part of it.
    fn begin(&mut self, _cell: SharedCell<'_>, _number: u64) -> bool {
        true
    }
    fn work(&mut self, cell: SharedCell<'_>, number: u64, report: &mut RoleReport);
    /// Makes things ready while nothing is waiting.
    fn prepare(&mut self, next: u64);
}

fn answer_all(
    cells: &Cells,
    mut wake: File,
    mut next: File,
    [woke_at, done_at]: [At; 2],
    work: &mut dyn Work,
) -> io::Result<RoleReport> {
    let mut report = RoleReport::default();
    let mut number = [0; 8];
    let clock = ThreadClock::of_this_thread();
    // For how long the core stood still while this layer worked on the subframe it is at.
    let (mut halted, mut at) = (Duration::ZERO, u64::MAX);
    work.prepare(0);
    loop {
        match wake.read_exact(&mut number) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(report),
            Err(error) => return Err(error),
        }
        let begun = clock.now();
        let subframe = u64::from_le_bytes(number);
        if at != subframe {
            (halted, at) = (Duration::ZERO, subframe);
        }
        let cell = cells.of(subframe);
        if !cell.holds(subframe) || !work.begin(cell, subframe) {
            halted += clock.halted_since(&begun);
            continue;
        }
        // After the check that all is there, so that this stamp is never earlier than the hand-over.
        cell.stamp(woke_at, ns(WallClock.now()));
        report.subframes += 1;
        work.work(cell, subframe, &mut report);
        cell.add_halted(halted + clock.halted_since(&begun));
        cell.stamp(done_at, ns(WallClock.now()));
        cell.hand_on(subframe);
        match next.write_all(&number) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(report),
            written => written?,
        }
        work.prepare(subframe + 1);
    }
}

/// Resamples and despreads each slot as soon as it is there, decodes, and has both answers ready.
struct Physical {
    receiver: Receiver,
    converter: Converter,
    answer: AnswerBurst,
    number: u64,
    /// Samples of it that were taken in.
    taken: usize,
    /// Its next downlink slot.
    slot: usize,
    samples: Vec<Complex32>,
    chips: Vec<Complex32>,
    payload: Vec<u8>,
    burst: Vec<Complex32>,
    converted: Vec<Complex32>,
    sent: [Vec<Complex<i16>>; 2],
    ready_for: u64,
}

impl Physical {
    fn new(codes: usize) -> Result<Physical, DeadlineError> {
        let receiver = Receiver::new(Cell::default(), codes)?;
        Ok(Physical {
            converter: Converter::new(),
            answer: AnswerBurst::new(Cell::default()),
            number: u64::MAX,
            taken: 0,
            slot: DOWNLINK_SLOTS.start,
            samples: vec![Complex32::default(); SAMPLES],
            chips: vec![Complex32::default(); SLOT_CHIPS],
            payload: vec![0; receiver.payload_bits()],
            burst: vec![Complex32::default(); SLOT_CHIPS],
            converted: vec![Complex32::default(); ANSWER_SAMPLES],
            sent: [(); 2].map(|()| vec![Complex::new(0, 0); ANSWER_SAMPLES]),
            ready_for: u64::MAX,
            receiver,
        })
    }

    /// Both answers to subframe `number` as samples.
    fn modulate(&mut self, number: u64) {
        let integer = |value: f32| (value * AMPLITUDE).round() as i16; // saturates
        for (answer, sent) in ANSWERS.into_iter().zip(&mut self.sent) {
            self.answer.transmit(answer, number, &mut self.burst);
            self.converter.answer_to_samples(&self.burst, &mut self.converted);
            for (raw, x) in sent.iter_mut().zip(&self.converted) {
                *raw = Complex::new(integer(x.re), integer(x.im));
            }
        }
        self.ready_for = number;
    }

    /// Turns to a subframe, and lays both answers ready.
    fn turn_to(&mut self, cell: SharedCell<'_>, number: u64) {
        (self.number, self.taken, self.slot) = (number, 0, DOWNLINK_SLOTS.start);
        if self.ready_for != number {
            // One was missed.
            self.modulate(number);
        }
        ANSWERS.into_iter().zip(&self.sent).for_each(|(answer, sent)| cell.put_burst(answer, sent));
    }

    /// Takes in the samples up to `filled`, and the slots that they complete.
    fn take_in(&mut self, cell: SharedCell<'_>, filled: usize) {
        if let Some(new) = self.samples.get_mut(self.taken..filled) {
            cell.block(self.taken, new);
            self.taken = filled;
        }
        while DOWNLINK_SLOTS.contains(&self.slot) && slot_samples(self.slot) <= self.taken {
            self.converter.slot_to_chips(self.slot, &self.samples, &mut self.chips);
            self.receiver.take_slot(self.slot, &self.chips);
            self.slot += 1;
        }
    }
}

impl Work for Physical {
    fn begin(&mut self, cell: SharedCell<'_>, number: u64) -> bool {
        if self.number != number {
            self.turn_to(cell, number);
        }
        match cell.filled() {
            // Woken for a part of what has been decoded meanwhile.
            SAMPLES => self.taken < SAMPLES,
            filled => {
                self.take_in(cell, filled);
                false
            }
        }
    }

    fn work(&mut self, cell: SharedCell<'_>, _number: u64, report: &mut RoleReport) {
        self.take_in(cell, SAMPLES);
        let reception = self.receiver.decode(&mut self.payload);
        cell.put_payload(&self.payload);
        cell.put_good(reception.answer == BlockAnswer::Ack);
        report.good += u64::from(reception.answer == BlockAnswer::Ack);
    }

    /// While the next subframe is on the air.
    fn prepare(&mut self, next: u64) {
        self.modulate(next);
    }
}

/// Says which answer leaves, and takes the payload.
struct Higher {
    downlink: Downlink,
    seed: u64,
    payload: Vec<u8>,
    expected: Vec<u8>,
    expects: u64,
}

impl Higher {
    fn new(options: &RoleOptions) -> Result<Higher, DeadlineError> {
        let downlink = Downlink::new(Cell::default(), options.codes)?;
        let bits = downlink.payload_bits();
        Ok(Higher { downlink, seed: options.seed, payload: vec![0; bits], expected: vec![0; bits], expects: u64::MAX })
    }
}

impl Work for Higher {
    fn work(&mut self, cell: SharedCell<'_>, number: u64, report: &mut RoleReport) {
        cell.payload(&mut self.payload);
        let good = cell.is_good();
        if self.expects != number {
            // One was missed.
            self.prepare(number);
        }
        report.good += u64::from(good);
        report.wrong += u64::from(good && self.payload != self.expected);
        cell.decide(if good { BlockAnswer::Ack } else { BlockAnswer::Nack });
    }

    fn prepare(&mut self, next: u64) {
        downlink::payload(&self.downlink, self.seed, next, &mut self.expected);
        self.expects = next;
    }
}
