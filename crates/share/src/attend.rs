//! Requests to a share that runs: its state, a radio more, a radio less.
//!
//! All of it happens beside the streaming thread: reading, measuring a radio's cost, opening its ports, making the radio. The
//! streaming thread only puts the finished radio in its place, or takes it out.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use takt_base::{Clock, MonoNs, Tick, WallClock, words};
use takt_dsp::shared_band::BandPlan;
use takt_live::tap::TapReader;
use takt_live::{Board, Spectrum};

use crate::control::{ControlAnswer, ControlRequest, ControlSocket};
use crate::cost::{Admission, HostMeter, ShareCores};
use crate::error::ShareError;
use crate::file::{MOST_RADIOS, RadioPlan, ShareFileError, SharePlan};
use crate::handover::{AttendingEnd, Done, Member, Note, Order};
use crate::lag::LagPorts;
use crate::ports::HostPorts;
use crate::report::{ShareReport, SharedRadioSummary};
use crate::run::{ShareNotice, ShareOptions};
use crate::slot::RadioMaker;
use crate::status::{FrontEndStatus, RadioStatus, ShareStatus, Snapshot};

/// Between two states that are kept for who watches.
const SHOW_EVERY: Duration = Duration::from_millis(100);

/// Facts that the streaming thread tells when it begins.
pub(crate) struct Live {
    pub(crate) maker: RadioMaker,
    /// The shared transform of what is received, which stays.
    pub(crate) shared: Option<BandPlan>,
    /// The same of what is sent.
    pub(crate) sends: Option<BandPlan>,
    /// The physical radio, in words.
    pub(crate) radio: String,
    pub(crate) latency_us: f64,
    pub(crate) admission: Admission<HostMeter>,
    /// Cores that were admitted.
    pub(crate) cores: ShareCores,
}

/// A radio of the share, and what is known of it here.
struct Known {
    number: usize,
    /// For its filters and its datagrams.
    cores: f64,
}

pub(crate) struct Attendant<'a> {
    options: &'a ShareOptions,
    /// As it is now; `known` has an entry for each of its radios.
    plan: SharePlan,
    known: Vec<Known>,
    /// Whether the front end was opened to transmit.
    transmits: bool,
    end: AttendingEnd,
    live: Option<Live>,
    socket: Option<ControlSocket>,
    /// `None`: behind hardware, or the ports can't be had.
    lag: Option<LagPorts>,
    removed: Vec<SharedRadioSummary>,
    /// Spectrum of the front end's band.
    tap: TapReader,
    /// When the state was kept last for who watches.
    shown: Option<MonoNs>,
}

/// Why a request is not granted.
enum Refusal {
    File(ShareFileError),
    Share(ShareError),
    NoSuchRadio(String),
    /// Another radio has the number.
    Taken(usize),
    /// The streaming thread does not answer.
    Silent,
}

impl From<ShareError> for Refusal {
    fn from(error: ShareError) -> Refusal {
        Refusal::Share(error)
    }
}

impl<'a> Attendant<'a> {
    pub(crate) fn new(plan: &SharePlan, options: &'a ShareOptions, end: AttendingEnd, tap: TapReader) -> Attendant<'a> {
        Attendant {
            options,
            plan: plan.clone(),
            known: (0..plan.radios.len()).map(|number| Known { number, cores: 0.0 }).collect(),
            transmits: plan.radios.iter().any(|radio| radio.transmit),
            end,
            live: None,
            socket: None,
            lag: None,
            removed: Vec::new(),
            tap,
            shown: None,
        }
    }

    /// Shows what there is to be known, and answers who asks.
    pub(crate) fn attend(&mut self, notify: &mut dyn FnMut(ShareNotice)) {
        self.tell(notify);
        self.say_how_late(notify);
        self.show();
        let Some(socket) = self.socket.take() else { return };
        socket.attend(|request| self.answer(request, notify));
        self.socket = Some(socket);
        self.listen(notify);
    }

    /// Answers takt's own question about speed and lateness, at most one.
    fn say_how_late(&mut self, notify: &mut dyn FnMut(ShareNotice)) {
        let Some(mut lag) = self.lag.take() else { return };
        match lag.attend(|addr| self.clock_offset_ticks(addr)) {
            Ok(()) => self.lag = Some(lag),
            Err(error) => notify(ShareNotice::NoLagPorts { why: chain(&error) }),
        }
    }

    fn clock_offset_ticks(&self, addr: Ipv4Addr) -> u64 {
        let number = self.plan.radios.iter().zip(&self.known).find(|(radio, _)| radio.addr == addr);
        let now = self.look().ok();
        let of_radio = number.zip(now).and_then(|((_, known), now)| {
            let radio = now.radios.iter().find(|radio| radio.number == known.number)?;
            Some(radio.clock_offset_ticks)
        });
        of_radio.unwrap_or_default()
    }

    /// Has the lag ports of the radios that there are now.
    fn listen(&mut self, notify: &mut dyn FnMut(ShareNotice)) {
        let addrs = self.plan.radios.iter().map(|radio| radio.addr).collect();
        if let Some(Err(error)) = self.lag.as_mut().map(|lag| lag.listen(addrs)) {
            self.lag = None;
            notify(ShareNotice::NoLagPorts { why: chain(&error) });
        }
    }

    /// Shows what there is to be known.
    pub(crate) fn tell(&mut self, notify: &mut dyn FnMut(ShareNotice)) {
        while let Some(note) = self.end.note() {
            match note {
                Note::Transmits(emission) => notify(ShareNotice::Transmits(emission)),
                Note::Calibrated(tables) => notify(ShareNotice::Calibrated(tables)),
                Note::Live(live) => self.begin(*live, notify),
                Note::OutOfBand { number, band, wide } => {
                    let name = self.radio(number).map(|radio| radio.name.clone());
                    name.into_iter().for_each(|name| notify(ShareNotice::OutOfBand { name, band, wide }));
                }
                Note::Moved { by, centre_hz } => {
                    let by = by.and_then(|number| Some(self.radio(number)?.name.clone()));
                    notify(ShareNotice::Moved { by, centre_hz });
                }
            }
        }
    }

    /// Keeps the state for who watches, while somebody does.
    fn show(&mut self) {
        let options = self.options;
        let Some(board) = options.watched.as_ref().filter(|board| board.is_watched()) else { return };
        let now = WallClock.now();
        if self.shown.is_some_and(|at| now < at + SHOW_EVERY) {
            return;
        }
        self.shown = Some(now);
        self.keep(board, now);
    }

    fn keep(&mut self, board: &Board, now: MonoNs) {
        // A streaming thread that does not answer has no state to show this time.
        let Ok(status) = self.status() else { return };
        let band = status.front_end.band;
        let spectrum = self.tap.spectrum("front end", Some(band.centre_hz), band.width_hz, now);
        let spectra: Vec<Spectrum> = spectrum.into_iter().collect();
        board.keep(takt_live::Snapshot { spectra, ..status.shown(self.transmits) });
    }

    /// The report of the streaming thread, with the radios that were removed.
    pub(crate) fn ended(self, mut report: ShareReport) -> ShareReport {
        report.radios.extend(self.removed);
        report
    }

    fn begin(&mut self, live: Live, notify: &mut dyn FnMut(ShareNotice)) {
        self.known.iter_mut().zip(&live.cores.radios).for_each(|(known, cores)| known.cores = *cores);
        notify(ShareNotice::Cost { cores: live.cores.total() });
        let settings = &live.maker.settings;
        // Hardware says nothing, and nobody asks what stands behind it.
        self.lag = settings.software.then(|| LagPorts::new(self.options.addr, settings.destinations.clone()));
        self.live = Some(live);
        self.listen(notify);
        if self.options.control {
            match ControlSocket::open() {
                Ok(socket) => self.socket = Some(socket),
                Err(error) => notify(ShareNotice::NoControl { why: chain(&error) }),
            }
        }
        self.plan.radios.iter().for_each(|radio| notify(ready(radio)));
    }

    fn radio(&self, number: usize) -> Option<&RadioPlan> {
        let at = self.known.iter().position(|known| known.number == number)?;
        self.plan.radios.get(at)
    }

    fn answer(&mut self, request: ControlRequest, notify: &mut dyn FnMut(ShareNotice)) -> ControlAnswer {
        let answer = match request {
            ControlRequest::Status => self.status().map(good),
            ControlRequest::Add { file, text } => self.add(&file, &text, notify).map(|added| {
                notify_ready(&added, notify);
                let radio = |radio: &RadioPlan| json!({ "name": radio.name, "addr": radio.addr });
                let added: Vec<_> = added.iter().map(radio).collect();
                let (needed, allowed) = (self.cores_needed(), self.options.cores);
                ControlAnswer::Good(json!({ "added": added, "cores_needed": needed, "cores_allowed": allowed }))
            }),
            ControlRequest::Remove { name } => self.remove(&name).inspect(|_| {
                notify(ShareNotice::Removed { name: name.clone() });
            }),
        };
        answer.unwrap_or_else(Refusal::answer)
    }

    fn look(&self) -> Result<Box<Snapshot>, Refusal> {
        let empty = Box::new(Snapshot::new(&self.plan.front_end, MOST_RADIOS));
        match self.end.ask(Order::Look(empty)) {
            Some(Done::Looked(snapshot)) => Ok(snapshot),
            _ => Err(Refusal::Silent),
        }
    }

    fn status(&self) -> Result<ShareStatus, Refusal> {
        let Some(live) = &self.live else { return Err(Refusal::Silent) };
        let now = self.look()?;
        let (ran_s, waited_s) = (now.ran.as_secs_f64(), now.tally.waited.as_secs_f64());
        let radios = self.plan.radios.iter().zip(&self.known).filter_map(|(plan, known)| {
            let of_radio = now.radios.iter().find(|radio| radio.number == known.number)?;
            Some(RadioStatus::of(plan, known.cores, of_radio, &now))
        });
        Ok(ShareStatus {
            process: std::process::id(),
            duration_s: ran_s,
            busy: 1.0 - (waited_s / ran_s.max(1e-9)).min(1.0),
            cores_needed: self.cores_needed(),
            cores_allowed: self.options.cores,
            latency_us: live.latency_us,
            front_end: FrontEndStatus {
                radio: live.radio.clone(),
                band: now.band,
                gain_db: now.gain_db,
                policy: self.plan.front_end.policy,
                moves: now.tally.moves,
                samples: now.tally.samples,
                lost_samples: now.tally.lost_samples,
                overflows: now.tally.overflows,
                underflows: now.physical.underflows,
                late: now.physical.late,
                sequence_errors: now.physical.sequence_errors,
                sum: now.sum,
            },
            radios: radios.collect(),
        })
    }

    /// Of the front end and the radios that there are.
    fn cores_needed(&self) -> f64 {
        let front_end = self.live.as_ref().map_or(0.0, |live| live.cores.front_end);
        front_end + self.known.iter().map(|known| known.cores).sum::<f64>()
    }

    /// Adds all radios of a text, or none.
    fn add(&mut self, file: &str, text: &str, notify: &mut dyn FnMut(ShareNotice)) -> Result<Vec<RadioPlan>, Refusal> {
        let added = self.plan.parse_more(file, text).map_err(Refusal::File)?;
        let (plan, cores) = self.admit(&added)?;
        let now = self.look()?.now;
        let mut members = Vec::new();
        for radio in &added {
            members.push(self.member(radio, members.len(), now)?);
        }
        for (member, radio) in members.into_iter().zip(&added) {
            let number = member.radio.number();
            match self.end.ask(Order::Add(member)) {
                Some(Done::Added) => {
                    self.plan.radios.push(radio.clone());
                    self.known.push(Known { number, cores: 0.0 });
                }
                Some(Done::NotAdded(member)) => return Err(Refusal::Taken(member.radio.number())),
                _ => return Err(Refusal::Silent),
            }
        }
        self.plan = plan;
        self.known.iter_mut().zip(cores).for_each(|(known, cores)| known.cores = cores);
        notify(ShareNotice::Cost { cores: self.cores_needed() });
        Ok(added)
    }

    /// The plan with these radios, and the cores that each of its radios needs.
    fn admit(&mut self, added: &[RadioPlan]) -> Result<(SharePlan, Vec<f64>), Refusal> {
        let Some(live) = &mut self.live else { return Err(Refusal::Silent) };
        let transforms = [live.shared.as_ref(), live.sends.as_ref()];
        let (mut plan, mut cores) = (self.plan.clone(), Vec::new());
        for radio in added {
            if IpAddr::V4(radio.addr) == self.options.addr {
                return Err(ShareError::OwnAddress { name: radio.name.clone(), addr: radio.addr }.into());
            }
            if radio.transmit && !self.transmits {
                return Err(ShareError::ReceiveOnly { name: radio.name.clone() }.into());
            }
            plan.radios.push(radio.clone());
            cores = live.admission.more(&plan, transforms)?.radios;
        }
        Ok((plan, cores))
    }

    /// Makes a radio and opens its ports: the one behind so many others.
    fn member(&self, radio: &RadioPlan, others: usize, born: Tick) -> Result<Member, Refusal> {
        let Some(live) = &self.live else { return Err(Refusal::Silent) };
        let is_free = |number: &usize| self.known.iter().all(|known| known.number != *number);
        let Some(number) = (0..MOST_RADIOS).filter(is_free).nth(others) else { return Err(Refusal::Silent) };
        let made = Box::new(live.maker.make(number, radio, born)?);
        let ports = Box::new(HostPorts::open(self.options.engine, radio.addr, made.device())?);
        Ok(Member { radio: made, ports })
    }

    /// Removes a radio. Its ports close, so its program gets what the kernel says of a port that nobody has.
    fn remove(&mut self, name: &str) -> Result<ControlAnswer, Refusal> {
        let Some(at) = self.plan.radios.iter().position(|radio| radio.name == name) else {
            return Err(Refusal::NoSuchRadio(self.no_such_radio(name)));
        };
        let (Some(live), Some(known)) = (&self.live, self.known.get(at)) else { return Err(Refusal::Silent) };
        let Some(Done::Removed(Some(member))) = self.end.ask(Order::Remove(known.number)) else {
            return Err(Refusal::Silent);
        };
        let summary = member.report(live.maker.band(), live.shared.as_ref());
        self.plan.radios.remove(at);
        self.known.remove(at);
        if self.removed.len() >= MOST_RADIOS {
            self.removed.remove(0);
        }
        let answer = good(&summary);
        self.removed.push(summary);
        Ok(answer)
    }

    fn no_such_radio(&self, name: &str) -> String {
        let known: Vec<&str> = self.plan.radios.iter().map(|radio| radio.name.as_str()).collect();
        format!("no radio is called `{}`; the radios are {}", takt_toml::shortened(name), words::list(&known))
    }
}

impl Refusal {
    fn answer(self) -> ControlAnswer {
        let (why, fix) = match self {
            Refusal::File(error) => (format!("{}: {error}", error.place), error.fix()),
            Refusal::Share(error) => {
                let fix = error.fix().unwrap_or_else(|| "give the radio another `addr`, `name` or `serial`".to_owned());
                (chain(&error), fix)
            }
            Refusal::NoSuchRadio(why) => (why, "name one of these radios".to_owned()),
            Refusal::Taken(number) => (format!("another radio has place {number}"), "try again".to_owned()),
            Refusal::Silent => {
                ("its streaming thread does not answer".to_owned(), "give that thread more of a core".to_owned())
            }
        };
        ControlAnswer::Refused { why, fix }
    }
}

fn ready(radio: &RadioPlan) -> ShareNotice {
    ShareNotice::Ready { name: radio.name.clone(), addr: radio.addr }
}

fn notify_ready(added: &[RadioPlan], notify: &mut dyn FnMut(ShareNotice)) {
    added.iter().for_each(|radio| notify(ready(radio)));
}

fn good(answer: impl Serialize) -> ControlAnswer {
    match serde_json::to_value(answer) {
        Ok(answer) => ControlAnswer::Good(answer),
        Err(error) => ControlAnswer::Refused { why: error.to_string(), fix: "report this error".to_owned() },
    }
}

/// An error and its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
