//! A search against a real server: one session, a round a trial.

use std::sync::Mutex;
use std::time::Duration;

use takt_base::Stop;

use super::super::client::{Client, on_its_thread};
use super::super::error::UdpError;
use super::super::options::UdpOptions;
use super::super::report::SCHEMA;
use super::bisection::Goal;
use super::found::{Ask, find};
use super::options::SearchOptions;
use super::report::{Bursts, SearchOutcome, SearchProgress, SearchReport, SetBy, SizeFound, Trial, mean};

/// Datagrams of the longest burst that is tried.
const LONGEST_BURST: f64 = 1e6;

/// Searches the highest rate without loss, and the longest burst where that is requested, of each payload.
///
/// `progress` is called about five times a second. When `stop` is requested the search ends early and what was found is
/// reported, with `complete` false.
///
/// # Errors
/// As [`run`](super::super::run) has.
pub fn search(
    options: &SearchOptions,
    progress: &mut (dyn FnMut(SearchProgress) + Send),
    stop: &Stop,
) -> Result<SearchReport, UdpError> {
    options.check()?;
    let largest = options.payloads_bytes.iter().copied().max().unwrap_or_default();
    let load = UdpOptions { sizes: Vec::new(), payload_bytes: largest, ..options.load.clone() };
    // Written between trials, never under load.
    let at = Mutex::new(None);
    let show = |round| {
        let at = *at.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(at) = at {
            progress(SearchProgress { round, ..at });
        }
    };
    on_its_thread(&load, &mut { show }, |gauge| {
        let mut client = Client::open(&load, gauge, stop)?;
        let mut searcher = Searcher { options, client: &mut client, stop, at: &at, trials: 0 };
        let flat_out = UdpOptions { datagrams_per_s: None, ramp_from_per_s: None, burst: 1, ..load.clone() };
        let found = searcher.client.warm_up(&flat_out).and_then(|()| searcher.all());
        client.close()?;
        found
    })
}

struct Searcher<'a, 'b> {
    options: &'a SearchOptions,
    client: &'a mut Client<'b>,
    stop: &'a Stop,
    at: &'a Mutex<Option<SearchProgress>>,
    trials: u32,
}

impl Searcher<'_, '_> {
    fn all(&mut self) -> Result<SearchReport, UdpError> {
        let mut sizes = Vec::new();
        for &payload_bytes in &self.options.payloads_bytes {
            match self.size(payload_bytes)? {
                Some(found) => sizes.push(found),
                None => break,
            }
        }
        let searches =
            |size: &SizeFound| size.searches.len() + size.bursts.as_ref().map_or(0, |bursts| bursts.searches.len());
        let each = self.options.repeats as usize * if self.options.bursts { 2 } else { 1 };
        let complete = sizes.len() == self.options.payloads_bytes.len()
            && sizes.iter().all(|size| searches(size) == each)
            && !self.stop.requested();
        Ok(SearchReport { schema: SCHEMA, options: self.options.clone(), sizes, complete })
    }

    /// `None`: stopped before there was anything.
    fn size(&mut self, payload_bytes: usize) -> Result<Option<SizeFound>, UdpError> {
        let options = self.options;
        let flat = Ask { value: f64::INFINITY, duration: options.trial };
        let round = options.trial(payload_bytes, None, options.trial);
        let Some(mut flat_out) = self.trial(flat, &round, (0, false))? else { return Ok(None) };
        let sent_per_s = flat_out.sent as f64 / flat_out.sent_s.max(f64::MIN_POSITIVE) / ways(options);
        flat_out.intended = sent_per_s;
        let ceiling = options.ceiling_per_s.unwrap_or(f64::MAX).min(sent_per_s);
        let spans = (options.trial, options.confirm);
        let searches = self.repeated(options.goal(), ceiling, spans, (payload_bytes, false))?;
        let rates: Vec<f64> = searches.iter().filter_map(|found| found.value).collect();
        let datagrams_per_s = mean(&rates);
        let bursts = if options.bursts && !self.stop.requested() {
            let longest = LONGEST_BURST.min((ceiling * 2.0).max(1.0));
            let goal = Goal { floor: 0.5 / longest, ..options.goal() };
            let searches = self.repeated(goal, longest, (options.trial, None), (payload_bytes, true))?;
            Some(Bursts::of(searches, datagrams_per_s))
        } else {
            None
        };
        Ok(Some(SizeFound {
            payload_bytes,
            flat_out,
            datagrams_per_s,
            throughput_bps: datagrams_per_s.map(|per_s| per_s * payload_bytes as f64 * 8.0),
            estimate: takt_stats::mean(&rates, 0.95),
            set_by: most(&searches),
            searches,
            bursts,
        }))
    }

    /// As many searches as are requested; those that were stopped are not among them.
    fn repeated(
        &mut self,
        goal: Goal,
        ceiling: f64,
        spans: (Duration, Option<Duration>),
        (payload_bytes, burst): (usize, bool),
    ) -> Result<Vec<SearchOutcome>, UdpError> {
        let mut searches = Vec::new();
        for repeat in 1..=self.options.repeats {
            let mut run = |ask: Ask| {
                let (ask, round) = match burst {
                    false => (ask, self.options.trial(payload_bytes, Some(ask.value), ask.duration)),
                    true => {
                        let length = ask.value.round().max(1.0);
                        (Ask { value: length, ..ask }, self.options.burst(payload_bytes, length as u64))
                    }
                };
                self.trial(ask, &round, (repeat, burst))
            };
            let found = find(goal, ceiling, spans, &mut run)?;
            if !found.complete {
                break;
            }
            searches.push(found);
        }
        Ok(searches)
    }

    /// `None`: stopped before its end.
    fn trial(&mut self, ask: Ask, round: &UdpOptions, (repeat, burst): (u32, bool)) -> Result<Option<Trial>, UdpError> {
        if self.stop.requested() {
            return Ok(None);
        }
        let (payload_bytes, repeats) = (round.payload_bytes, self.options.repeats);
        let (intended, trials) = (ask.value, self.trials);
        let at = SearchProgress { payload_bytes, repeat, repeats, burst, intended, trials, round: Default::default() };
        *self.at.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(at);
        let report = self.client.round(round)?;
        if !report.complete {
            return Ok(None);
        }
        self.trials += 1;
        Ok(Some(Trial::of(ask, &report, self.options.loss_share)))
    }
}

fn ways(options: &SearchOptions) -> f64 {
    let direction = options.load.direction;
    f64::from(u8::from(direction.to_server()) + u8::from(direction.from_server()))
}

/// The most frequent limit; of equals the one that is worse for the path.
fn most(searches: &[SearchOutcome]) -> Option<SetBy> {
    let count = |set_by| searches.iter().filter(|found| found.set_by == set_by).count();
    let ranked = [SetBy::Ceiling, SetBy::Sender, SetBy::Path];
    ranked.into_iter().filter(|&set_by| count(set_by) > 0).max_by_key(|&set_by| count(set_by))
}
