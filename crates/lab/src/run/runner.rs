//! The loop over rounds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;
use takt_agent::Failure;
use takt_base::{Stop, Utc};
use takt_load::Lost;

use super::Conditions;
use super::hopeless::Losses;
use super::plan::order;
use super::progress::{Event, Pace, Progress, Report};
use crate::about::host_and_kernel;
use crate::experiment::{Depth, Experiment, Point};
use crate::store::{NewRound, NewRun, Record, RoundState, RunRow, Store, StoreError};

/// Runs one round of a point.
pub trait Bench {
    /// Runs it and says what was measured and under which conditions. Returns `None` if `stop` was raised: a round cut
    /// short says nothing.
    ///
    /// # Errors
    /// The workload could not be run. If that is for good on this host, the round is entered as skipped.
    fn round(&mut self, point: &Point, stop: &Stop) -> Result<Option<Measured>, Failure>;

    /// Why a point can't be run on this machine at all, if it can't: its rounds are entered as skipped, with this reason.
    fn unavailable(&mut self, _point: &Point) -> Option<String> {
        None
    }

    /// Why this host is too busy for a round that could not be run, if it is: then that is an answer, and no error.
    fn too_busy(&mut self, _point: &Point) -> Option<String> {
        None
    }

    /// Loss of a round, by its record; `None` where that is no question.
    fn lost(&self, point: &Point, record: &Record) -> Option<Lost>;
}

#[derive(Clone, Debug)]
pub struct Measured {
    pub record: Record,
    pub conditions: Conditions,
}

/// So many rounds for which the host was too busy are enough to know it.
const BUSY_ENOUGH: usize = 3;

/// A run's input, and its store.
#[derive(Clone, Debug)]
pub struct RunPlan<'a> {
    pub experiment: &'a Experiment,
    pub depth: Depth,
    /// Options of the command that change what is run; a run is resumed only with the same.
    pub options: Value,
    pub host: Value,
    pub takt_version: String,
    /// Continue the newest unfinished run of the same file, depth and options, if there is one.
    pub resume: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub run: String,
    /// Whether every planned round is settled; if not, it was stopped.
    pub complete: bool,
    pub resumed: bool,
}

/// Why a run could not go on. The rounds that had ended are in the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The very first round could not be run: the rest would fail alike.
    #[error("takt can't run the first round: {label}")]
    First {
        label: String,
        #[source]
        failure: Failure,
    },
    /// The run to be resumed was measured on another machine, or another kernel.
    #[error("run {run} began on another host, {was}; this is {is}")]
    OtherHost { run: String, was: String, is: String },
}

/// Runs what is not yet in the store, in order, until all is done or `stop` is raised.
///
/// # Errors
/// The store can't be written, or the first round can't be run at all.
pub fn run(
    store: &Store,
    plan: &RunPlan<'_>,
    bench: &mut dyn Bench,
    report: Report<'_>,
    stop: &Stop,
) -> Result<Ran, RunError> {
    let points = plan.experiment.points(plan.depth);
    let (run, resumed) = plan.begin_or_resume(store, &points)?;
    let _lock = store.lock_run(&run)?;
    let mut session = Session {
        store,
        plan,
        run: &run,
        points: &points,
        order: order(plan.experiment, &points, plan.experiment.round_count(plan.depth)),
        bench,
        receiver: report,
        settled: BTreeSet::new(),
        attempts: BTreeMap::new(),
        repeats: 0,
        losses: Losses::default(),
        pace: Pace::default(),
        any_ran: false,
        busy: 0,
        gave_up: false,
    };
    session.recall()?;
    let complete = session.all_blocks(stop)?;
    if complete {
        store.finish_run(&run)?;
    }
    Ok(Ran { run, complete, resumed })
}

impl RunPlan<'_> {
    fn begin_or_resume(&self, store: &Store, points: &[Point]) -> Result<(String, bool), RunError> {
        let depth = self.depth.name();
        let earlier = if self.resume { store.unfinished(&self.experiment.text, depth, &self.options)? } else { None };
        if let Some(RunRow { id, host, .. }) = earlier {
            let (was, is) = (host_and_kernel(&host), host_and_kernel(&self.host));
            if was != is {
                return Err(RunError::OtherHost { run: id, was, is });
            }
            return Ok((id, true));
        }
        let new = NewRun {
            experiment: self.experiment.name.clone(),
            file: self.experiment.text.clone(),
            depth: depth.into(),
            seed: self.experiment.rounds.seed,
            options: self.options.clone(),
            host: self.host.clone(),
            takt_version: self.takt_version.clone(),
            points: points.iter().map(Point::row).collect(),
        };
        Ok((store.begin_run(&new)?, false))
    }
}

/// One session of a run: from a start or a resumption to its end or interruption.
struct Session<'a> {
    store: &'a Store,
    plan: &'a RunPlan<'a>,
    run: &'a str,
    points: &'a [Point],
    order: Vec<Vec<usize>>,
    bench: &'a mut dyn Bench,
    receiver: Report<'a>,
    /// Block and point of each round that counts, or is skipped.
    settled: BTreeSet<(u32, u32)>,
    /// Attempts so far of each round that has some.
    attempts: BTreeMap<(u32, u32), u32>,
    /// Second and further attempts so far, of needed rates apart.
    repeats: usize,
    losses: Losses,
    pace: Pace,
    /// Some round of this run could be run.
    any_ran: bool,
    /// Rounds for which the host was too busy.
    busy: usize,
    /// It was for the first round, or for several: the rest would end alike.
    gave_up: bool,
}

impl Session<'_> {
    /// Takes up what earlier sessions left.
    fn recall(&mut self) -> Result<(), RunError> {
        for round in self.store.rounds(self.run)? {
            let Some(point) = self.points.get(round.point as usize) else { continue };
            if let (RoundState::Valid, Some(record)) = (round.state, &round.record) {
                self.bench.lost(point, record).inspect(|lost| self.losses.note(round.point as usize, lost.own_share));
            }
            self.any_ran |= round.record.is_some();
            self.note((round.block, round.point), round.state, round.attempt);
        }
        Ok(())
    }

    /// Books an attempt that has ended.
    fn note(&mut self, place: (u32, u32), state: RoundState, attempt: u32) {
        if matches!(state, RoundState::Valid | RoundState::Skipped) {
            self.settled.insert(place);
        }
        if attempt > 0 && !self.is_needed(place.1) {
            self.repeats += 1;
        }
        self.attempts.insert(place, attempt + 1);
    }

    /// Every round once, block by block, then the repeats; `false` if stopped. A host that is too busy ends it.
    fn all_blocks(&mut self, stop: &Stop) -> Result<bool, RunError> {
        for place in self.places() {
            if self.gave_up {
                return Ok(true);
            }
            if !self.attempts.contains_key(&place) && (stop.requested() || !self.one_round(place, stop)?) {
                return Ok(false);
            }
        }
        // Last, and not each where it failed: what disturbed a round is likely to disturb the next one too, and only
        // now is it known who is short of rounds.
        while let Some(place) = self.next_repeat().filter(|_| !self.gave_up) {
            if stop.requested() || !self.one_round(place, stop)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Block and point of all rounds, in order.
    fn places(&self) -> Vec<(u32, u32)> {
        let blocks = (0..).zip(&self.order);
        blocks.flat_map(|(block, order)| order.iter().map(move |&point| (block, point as u32))).collect()
    }

    /// The round to be run again next: of what is needed first, then of the point of which fewest rounds count.
    fn next_repeat(&self) -> Option<(u32, u32)> {
        let counted = |point: u32| self.settled.iter().filter(|place| place.1 == point).count();
        let open = self.places().into_iter().filter(|place| self.may_repeat(*place));
        open.min_by_key(|place| (!self.is_needed(place.1), counted(place.1), self.attempts.get(place).copied()))
    }

    /// Whether a round does not count and is worth another attempt: always (within a bound) where a need is about it,
    /// else as long as repeats are a small part of the run.
    fn may_repeat(&self, place: (u32, u32)) -> bool {
        let valid = &self.plan.experiment.rounds.valid;
        let Some(&attempts) = self.attempts.get(&place).filter(|_| !self.settled.contains(&place)) else {
            return false;
        };
        if self.is_needed(place.1) {
            return attempts <= valid.repeats_needed_max;
        }
        attempts <= valid.repeats_max && self.repeats < self.repeats_limit()
    }

    fn repeats_limit(&self) -> usize {
        let planned: usize = self.order.iter().map(Vec::len).sum();
        (planned as f64 * self.plan.experiment.rounds.valid.repeats_share_max).ceil() as usize
    }

    fn is_needed(&self, point: u32) -> bool {
        self.points.get(point as usize).is_some_and(|point| self.plan.experiment.is_needed(point))
    }

    /// Runs or skips one round; `false` if it was cut short.
    fn one_round(&mut self, place: (u32, u32), stop: &Stop) -> Result<bool, RunError> {
        let (block, number) = (place.0, place.1 as usize);
        let attempt = self.attempts.get(&place).copied().unwrap_or(0);
        let started = Utc::now().to_string();
        let blank = NewRound { point: place.1, block, attempt, started, ..NewRound::default() };
        let skipped = |why: String| (RoundState::Skipped, Some(why));
        let points = self.points;
        let Some(point) = points.get(number) else { return Ok(true) };
        let hopeless = self.losses.hopeless(self.plan.experiment, points, number);
        if let Some(why) = hopeless.or_else(|| self.bench.unavailable(point)) {
            let (state, why) = skipped(why);
            self.finish(point, NewRound { state, why, ..blank }, None)?;
            return Ok(true);
        }
        self.store.room_for_a_round()?;
        let begins = Event::Begins { label: point.label(), attempt };
        self.report(&begins);
        let begun = Instant::now();
        let measured = self.bench.round(point, stop);
        let took = begun.elapsed();
        let blank = NewRound { took_s: took.as_secs_f64(), ..blank };
        let (state, why) = match measured {
            Ok(None) => return Ok(false),
            Ok(Some(Measured { record, conditions })) => {
                self.any_ran = true;
                self.pace.note(point.about(), took);
                let (state, why) = self.plan.experiment.rounds.valid.judge(&conditions);
                let lost = self.bench.lost(point, &record);
                self.finish(point, NewRound { state, why, record: Some(record), ..blank }, lost)?;
                return Ok(true);
            }
            Err(failure) if failure.lasting => skipped(failure.with_fix()),
            Err(failure) => match self.bench.too_busy(point) {
                Some(why) => {
                    self.busy += 1;
                    self.gave_up = !self.any_ran || self.busy >= BUSY_ENOUGH;
                    (RoundState::HostBusy, Some(why))
                }
                None if !self.any_ran => return Err(RunError::First { label: point.label(), failure }),
                None => (RoundState::Failed, Some(failure.to_string())),
            },
        };
        self.finish(point, NewRound { state, why, ..blank }, None)?;
        Ok(true)
    }

    /// Enters a round that has ended.
    fn finish(&mut self, point: &Point, round: NewRound, lost: Option<Lost>) -> Result<(), RunError> {
        self.store.finish_round(self.run, &round)?;
        let place = (round.block, round.point);
        if let (RoundState::Valid, Some(lost)) = (round.state, lost) {
            self.losses.note(round.point as usize, lost.own_share);
        }
        self.note(place, round.state, round.attempt);
        let ended = Event::Ended { label: point.label(), kind: point.kind, state: round.state, why: round.why, lost };
        self.report(&ended);
        Ok(())
    }

    fn report(&mut self, event: &Event) {
        let nominal_of = |place: &(u32, u32)| self.points.get(place.1 as usize).map_or(Duration::ZERO, Point::about);
        let places = self.places();
        let first = places.iter().filter(|place| !self.attempts.contains_key(place)).map(nominal_of);
        let again = places.iter().filter(|place| self.may_repeat(**place));
        let left = self.repeats_limit().saturating_sub(self.repeats);
        let again: Duration = again.take(left).map(nominal_of).sum();
        let remaining = self.pace.expect(first.sum::<Duration>() + again);
        let progress = Progress { done: self.settled.len(), planned: places.len(), remaining };
        (self.receiver)(event, &progress);
    }
}
