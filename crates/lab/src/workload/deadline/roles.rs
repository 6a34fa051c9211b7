//! The physical and the higher layer: each a thread of a process of its own, woken by a pipe.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use serde::{Deserialize, Serialize};
use takt_base::{Clock, Complex32, WallClock};
use takt_dsp::tdscdma::{
    ANSWER_SAMPLES, Answer, AnswerBurst, CHIPS, Cell, Converter, Downlink, Receiver, SAMPLES, SLOT_CHIPS,
};

use super::error::doing;
use super::memory::{At, Cells};
use super::seat::Seat;
use super::{DeadlineError, downlink, ns};

/// Which layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layer {
    Physical,
    Higher,
}

/// What a process of the exchange is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoleOptions {
    pub(crate) layer: Layer,
    /// The shared memory, as a file.
    pub(crate) memory: PathBuf,
    /// The pipe that wakes it.
    pub(crate) wake: PathBuf,
    /// The pipe that wakes who comes next.
    pub(crate) next: PathBuf,
    pub(crate) codes: usize,
    pub(crate) seed: u64,
    pub(crate) seat: Seat,
}

/// What it has to say in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Subframes it worked on.
    pub(crate) subframes: u64,
    /// Of these, blocks that the CRC called good.
    pub(crate) good: u64,
    /// Good blocks whose payload was not the one that was sent. The higher layer alone knows.
    pub(crate) wrong: u64,
}

/// A layer at work. It ends when whoever wakes it has gone.
#[derive(Debug)]
pub(crate) struct Role(JoinHandle<io::Result<Told>>);

/// What is full scale in a burst that is sent: its chips have a mean power of 1.
const AMPLITUDE: f32 = 0.15 * 32767.0;

impl Role {
    /// Starts it; it has its CPUs and its policy when this returns.
    ///
    /// # Errors
    /// They are refused, or what it shares with the others is not there.
    pub(crate) fn start(options: RoleOptions) -> Result<Role, DeadlineError> {
        let (told, ready) = mpsc::channel();
        let name = match options.layer {
            Layer::Physical => "takt-physical",
            Layer::Higher => "takt-higher",
        };
        let thread = thread::Builder::new().name(name.into()).spawn(move || serve(&options, &told));
        let thread = thread.map_err(doing("starting a thread"))?;
        match ready.recv() {
            Ok(ready) => ready.map(|()| Role(thread)),
            Err(mpsc::RecvError) => match thread.join() {
                Ok(_) => Err(doing("starting a layer")(io::ErrorKind::Other.into())),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }

    /// What it has to say; waits until who wakes it has gone.
    ///
    /// # Errors
    /// A pipe broke.
    pub(crate) fn finish(self) -> io::Result<Told> {
        self.0.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn serve(options: &RoleOptions, told: &Sender<Result<(), DeadlineError>>) -> io::Result<Told> {
    match prepare(options) {
        Ok((cells, wake, next, mut work)) => {
            // Whoever started it waits for this, unless it has gone.
            let _ = told.send(Ok(()));
            answer_all(&cells, wake, next, &mut *work)
        }
        Err(error) => {
            let _ = told.send(Err(error));
            Ok(Told::default())
        }
    }
}

type Prepared = (Cells, File, File, Box<dyn Work>);

fn prepare(options: &RoleOptions) -> Result<Prepared, DeadlineError> {
    let cells = Cells::open(&options.memory).map_err(doing("shared memory of the exchange"))?;
    let wake = File::open(&options.wake).map_err(doing("a pipe of the exchange"))?;
    let next = OpenOptions::new().write(true).open(&options.next).map_err(doing("a pipe of the exchange"))?;
    let (work, who): (Box<dyn Work>, _) = match options.layer {
        Layer::Physical => (Box::new(Physical::new(options.codes)?), "physical layer"),
        Layer::Higher => (Box::new(Higher::new(options)?), "higher layer"),
    };
    options.seat.take(who)?;
    Ok((cells, wake, next, work))
}

/// What a layer does with a subframe.
trait Work {
    /// Where it notes when it ran and when it was done.
    fn stamps(&self) -> (At, At);
    fn work(&mut self, cell: super::memory::Cell<'_>, number: u64, told: &mut Told);
    /// What can be made ready while nothing is waiting.
    fn prepare(&mut self, _cells: &Cells, _next: u64) {}
}

fn answer_all(cells: &Cells, mut wake: File, mut next: File, work: &mut dyn Work) -> io::Result<Told> {
    let (woke_at, done_at) = work.stamps();
    let mut told = Told::default();
    let mut number = [0; 8];
    work.prepare(cells, 0);
    loop {
        match wake.read_exact(&mut number) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(told),
            Err(error) => return Err(error),
        }
        let woke = ns(WallClock.now());
        let subframe = u64::from_le_bytes(number);
        let cell = cells.of(subframe);
        if !cell.holds(subframe) {
            continue;
        }
        cell.stamp(woke_at, woke);
        told.subframes += 1;
        work.work(cell, subframe, &mut told);
        cell.stamp(done_at, ns(WallClock.now()));
        cell.hand_on(subframe);
        match next.write_all(&number) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(told),
            written => written?,
        }
        work.prepare(cells, subframe + 1);
    }
}

/// Resamples, despreads, decodes; and has both answers ready.
struct Physical {
    receiver: Receiver,
    converter: Converter,
    answer: AnswerBurst,
    samples: Vec<Complex32>,
    chips: Vec<Complex32>,
    payload: Vec<u8>,
    burst: Vec<Complex32>,
    sent: [Vec<Complex32>; 2],
    ready_for: u64,
}

impl Physical {
    fn new(codes: usize) -> Result<Physical, DeadlineError> {
        let receiver = Receiver::new(Cell::default(), codes)?;
        Ok(Physical {
            converter: Converter::new(),
            answer: AnswerBurst::new(Cell::default()),
            samples: vec![Complex32::default(); SAMPLES],
            chips: vec![Complex32::default(); CHIPS],
            payload: vec![0; receiver.payload_bits()],
            burst: vec![Complex32::default(); SLOT_CHIPS],
            sent: [(); 2].map(|()| vec![Complex32::default(); ANSWER_SAMPLES]),
            ready_for: u64::MAX,
            receiver,
        })
    }

    /// Both answers to subframe `number` as samples.
    fn modulate(&mut self, number: u64) {
        for (answer, sent) in [Answer::Ack, Answer::Nack].into_iter().zip(&mut self.sent) {
            self.answer.transmit(answer, number, &mut self.burst);
            self.converter.answer_to_samples(&self.burst, sent);
        }
        self.ready_for = number;
    }
}

impl Work for Physical {
    fn stamps(&self) -> (At, At) {
        (At::PhysicalWoke, At::PhysicalDone)
    }

    fn work(&mut self, cell: super::memory::Cell<'_>, number: u64, told: &mut Told) {
        cell.block(&mut self.samples);
        self.converter.to_chips(&self.samples, &mut self.chips);
        let reception = self.receiver.receive(&self.chips, &mut self.payload);
        cell.put_payload(&self.payload);
        cell.tell_good(reception.answer == Answer::Ack);
        told.good += u64::from(reception.answer == Answer::Ack);
        if self.ready_for != number {
            // One was missed.
            self.modulate(number);
        }
        for (answer, sent) in [Answer::Ack, Answer::Nack].into_iter().zip(&self.sent) {
            cell.put_burst(answer, sent, AMPLITUDE);
        }
    }

    /// While the next subframe is on the air.
    fn prepare(&mut self, _cells: &Cells, next: u64) {
        self.modulate(next);
    }
}

/// Says which answer leaves, and takes the payload.
struct Higher {
    downlink: Downlink,
    seed: u64,
    payload: Vec<u8>,
    expected: Vec<u8>,
}

impl Higher {
    fn new(options: &RoleOptions) -> Result<Higher, DeadlineError> {
        let downlink = Downlink::new(Cell::default(), options.codes)?;
        let bits = downlink.payload_bits();
        Ok(Higher { downlink, seed: options.seed, payload: vec![0; bits], expected: vec![0; bits] })
    }
}

impl Work for Higher {
    fn stamps(&self) -> (At, At) {
        (At::HigherWoke, At::HigherDone)
    }

    fn work(&mut self, cell: super::memory::Cell<'_>, number: u64, told: &mut Told) {
        cell.payload(&mut self.payload);
        let good = cell.is_good();
        downlink::payload(&self.downlink, self.seed, number, &mut self.expected);
        told.good += u64::from(good);
        told.wrong += u64::from(good && self.payload != self.expected);
        cell.decide(if good { Answer::Ack } else { Answer::Nack });
    }
}
