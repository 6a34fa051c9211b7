//! The runner over a bench that measures nothing: what is run, in which order, what counts, what survives.

use std::collections::BTreeMap;

use serde_json::json;
use takt_agent::Failure;
use takt_base::Stop;
use takt_host::policy::PolicyError;
use takt_lab::experiment::{Depth, Experiment, Point};
use takt_lab::run::{Bench, Conditions, Event, Measured, Ran, RunError, RunPlan, run};
use takt_lab::store::{Record, RoundRow, RoundState, Store};
use takt_load::Lost;

const SWEEP: &str = r#"
question = "?"
[factors]
rate_sps = [1e6, 5e6, 10e6, 25e6]
[fixed]
mode = "rx"
workload = { kind = "rate", duration = "1s" }
[stop]
ascending = "rate_sps"
lost_share_above = 0.05
[rounds]
count = { full = 4, quick = 1 }
order = { seed = 3 }
valid = { repeats_max = 1, repeats_share_max = 1.0 }
"#;

/// Outcome of the bench's n-th round at a rate.
type Script = Box<dyn FnMut(f64, usize, &Stop) -> Result<(f64, Conditions), Failure>>;

struct Fake {
    script: Script,
    ran: Vec<f64>,
    busy: Option<&'static str>,
}

impl Fake {
    fn new(script: impl FnMut(f64, usize, &Stop) -> Result<(f64, Conditions), Failure> + 'static) -> Fake {
        Fake { script: Box::new(script), ran: Vec::new(), busy: None }
    }

    fn clean() -> Fake {
        Fake::new(|_, _, _| Ok((0.0, Conditions::default())))
    }
}

impl Bench for Fake {
    fn round(&mut self, point: &Point, stop: &Stop) -> Result<Option<Measured>, Failure> {
        let rate = point.workload.needs().stream.unwrap().rate_sps;
        self.ran.push(rate);
        let nth = self.ran.iter().filter(|&&ran| ran == rate).count();
        let (lost, conditions) = (self.script)(rate, nth, stop)?;
        if stop.requested() {
            return Ok(None);
        }
        let record = Record { result: json!({ "lost": lost, "rate": rate }), ..Record::default() };
        Ok(Some(Measured { record, conditions }))
    }

    fn too_busy(&mut self, _point: &Point) -> Option<String> {
        self.busy.map(str::to_owned)
    }

    fn lost(&self, _point: &Point, record: &Record) -> Option<Lost> {
        record.result["lost"].as_f64().map(Lost::own)
    }
}

fn sweep() -> Experiment {
    Experiment::parse("sweep", SWEEP).unwrap()
}

fn plan(experiment: &Experiment, depth: Depth, resume: bool) -> RunPlan<'_> {
    let host = json!({ "hostname": "lab-7", "kernel": "6.18" });
    RunPlan { experiment, depth, options: json!({}), host, takt_version: "0.1.0".into(), resume }
}

/// One session of the sweep; the rounds in the store afterwards.
fn session(store: &Store, bench: &mut Fake, resume: bool, stop: &Stop) -> (Result<Ran, RunError>, Vec<RoundRow>) {
    session_with(store, bench, resume, &mut |_| (), stop)
}

/// The same; `report` receives each event.
fn session_with(
    store: &Store,
    bench: &mut Fake,
    resume: bool,
    report: &mut dyn FnMut(&Event),
    stop: &Stop,
) -> (Result<Ran, RunError>, Vec<RoundRow>) {
    let ran = run(store, &plan(&sweep(), Depth::Full, resume), bench, &mut |event, _| report(event), stop);
    let rounds = store.runs().unwrap().first().map(|run| store.rounds(&run.id).unwrap());
    (ran, rounds.unwrap_or_default())
}

fn in_a_store<T>(work: impl FnOnce(&Store) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    work(&Store::open(dir.path()).unwrap())
}

/// A round that a full host does not let run is an answer about the host, and no error.
#[test]
fn a_host_too_busy_for_rounds_ends_the_run_with_that_as_its_answer() {
    let silent = || Failure::saying("nothing answered as a radio within 1s");
    in_a_store(|store| {
        let mut bench = Fake { busy: Some("the host is full"), ..Fake::new(move |_, _, _| Err(silent())) };
        let (ran, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(ran.unwrap().complete, "the question is answered");
        let [round] = rounds.as_slice() else { panic!("one is enough: {rounds:?}") };
        assert_eq!((round.state, round.why.as_deref()), (RoundState::HostBusy, Some("the host is full")));
    });
    in_a_store(|store| {
        let script = move |_, nth, _: &Stop| if nth == 1 { Ok((0.0, Conditions::default())) } else { Err(silent()) };
        let mut bench = Fake { busy: Some("the host is full"), ..Fake::new(script) };
        let (ran, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(ran.unwrap().complete);
        let with = |state| rounds.iter().filter(|round| round.state == state).count();
        assert_eq!((with(RoundState::Valid), with(RoundState::HostBusy)), (4, 3), "a few more to be sure");
    });
    in_a_store(|store| {
        let (ran, rounds) = session(store, &mut Fake::new(move |_, _, _| Err(silent())), false, &Stop::new());
        assert!(matches!(ran, Err(RunError::First { .. })) && rounds.is_empty(), "a host with room: an error");
    });
}

#[test]
fn every_point_has_its_rounds_in_shuffled_blocks_after_a_first_that_ascends() {
    in_a_store(|store| {
        let mut bench = Fake::clean();
        let (ran, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(ran.unwrap().complete);
        assert_eq!(bench.ran[..4], [1e6, 5e6, 10e6, 25e6]);
        assert_eq!(rounds.len(), 16);
        for block in bench.ran.chunks(4) {
            let mut sorted = block.to_vec();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, [1e6, 5e6, 10e6, 25e6]);
        }
        assert!(bench.ran.chunks(4).skip(1).any(|block| block != [1e6, 5e6, 10e6, 25e6]), "shuffled");
        assert!(store.runs().unwrap()[0].finished.is_some());
    });
}

#[test]
fn rates_above_two_that_failed_clearly_are_skipped_with_the_reason() {
    in_a_store(|store| {
        let mut bench = Fake::new(|rate, _, _| Ok((if rate > 1e6 { 0.5 } else { 0.0 }, Conditions::default())));
        let (_, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(!bench.ran.contains(&25e6));
        let skipped: Vec<&RoundRow> = rounds.iter().filter(|round| round.state == RoundState::Skipped).collect();
        assert_eq!(skipped.len(), 4, "once in each block");
        assert!(skipped.iter().all(|round| round.record.is_none() && round.factors["rate_sps"] == json!(25e6)));
        assert_eq!(skipped[0].why.as_deref(), Some("lower rate_sps lost 50.0 % at 5M and 50.0 % at 10M"));
    });
}

#[test]
fn a_disturbed_round_is_kept_marked_and_run_once_more() {
    in_a_store(|store| {
        let mut bench = Fake::new(|rate, nth, _| {
            let foreign_cpu_share = if rate == 5e6 && nth == 1 { 0.4 } else { 0.0 };
            Ok((0.0, Conditions { foreign_cpu_share, ..Conditions::default() }))
        });
        let (_, rounds) = session(store, &mut bench, false, &Stop::new());
        let first: Vec<&RoundRow> = rounds.iter().filter(|r| r.block == 0 && r.factors["rate_sps"] == 5e6).collect();
        let states: Vec<(u32, RoundState)> = first.iter().map(|round| (round.attempt, round.state)).collect();
        assert_eq!(states, [(0, RoundState::Disturbed), (1, RoundState::Valid)]);
        assert!(first[0].record.is_some(), "what was measured is kept");
        assert_eq!(rounds.len(), 17);
    });
}

#[test]
fn an_emulator_that_is_always_late_is_given_up_after_the_repeats_and_never_counts() {
    in_a_store(|store| {
        let late = Conditions { excluded_share: Some(0.9), ..Conditions::default() };
        let mut bench = Fake::new(move |_, _, _| Ok((0.9, late)));
        let (ran, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(ran.unwrap().complete);
        assert_eq!(rounds.len(), 32, "each round and one repeat; none skipped as hopeless, since none counts");
        assert!(rounds.iter().all(|round| round.state == RoundState::EmulatorLate));
    });
}

#[test]
fn repeats_stay_a_small_part_of_the_run_but_for_what_is_needed() {
    in_a_store(|store| {
        let late = Conditions { excluded_share: Some(0.9), ..Conditions::default() };
        let mut bench = Fake::new(move |_, _, _| Ok((0.0, late)));
        let text = SWEEP.replace("repeats_share_max = 1.0", "repeats_share_max = 0.25, repeats_needed_max = 3");
        let need = "[[need]]\nmodel = \"n200\"\nmode = \"rx\"\nrate_sps = 25e6\nformat = \"sc16\"\n";
        let experiment = Experiment::parse("sweep", &(text + need)).unwrap();
        run(store, &plan(&experiment, Depth::Full, false), &mut bench, &mut |_, _| (), &Stop::new()).unwrap();
        let of = |rate: f64| bench.ran.iter().filter(|&&ran| ran == rate).count();
        assert_eq!(of(25e6), 4 * 4, "four blocks, each with its three repeats");
        assert_eq!(of(1e6) + of(5e6) + of(10e6), 3 * 4 + 4, "and a quarter of sixteen for all others");
    });
}

#[test]
fn repeats_come_last_and_first_to_the_point_of_which_fewest_rounds_count() {
    in_a_store(|store| {
        let mut bench = Fake::new(|rate, nth, _| {
            // 5 MS/s is disturbed once, 10 MS/s three times out of four.
            let disturbed = (rate == 5e6 && nth == 2) || (rate == 10e6 && nth <= 3);
            let foreign_cpu_share = if disturbed { 0.4 } else { 0.0 };
            Ok((0.0, Conditions { foreign_cpu_share, ..Conditions::default() }))
        });
        session(store, &mut bench, false, &Stop::new()).0.unwrap();
        assert_eq!(bench.ran.len(), 20);
        let planned: Vec<usize> =
            [1e6, 5e6, 10e6, 25e6].map(|rate| bench.ran[..16].iter().filter(|&&ran| ran == rate).count()).into();
        assert_eq!(planned, [4, 4, 4, 4], "first every round once");
        assert_eq!(bench.ran[16..18], [10e6, 10e6], "one of its rounds counts; then two; then three, as of 5 MS/s");
        let mut last = bench.ran[18..].to_vec();
        last.sort_by(f64::total_cmp);
        assert_eq!(last, [5e6, 10e6]);
    });
}

#[test]
fn if_the_first_round_cannot_be_run_nothing_is() {
    in_a_store(|store| {
        let mut bench = Fake::new(|_, _, _| Err(Failure::saying("no radio at 192.168.10.2")));
        let (ran, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(matches!(ran, Err(RunError::First { .. })));
        assert_eq!((bench.ran.len(), rounds.len()), (1, 0));
    });
}

#[test]
fn what_this_host_refuses_for_good_is_skipped_with_the_fix_be_it_the_first_round() {
    in_a_store(|store| {
        let mut bench = Fake::new(|rate, _, _| match rate {
            1e6 => Err(Failure::of(&PolicyError::NoDeadline { kernel: "Linux 3.10".into() }, Some("FIFO".into()))),
            _ => Ok((0.0, Conditions::default())),
        });
        let (ran, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(ran.unwrap().complete);
        let skipped: Vec<&RoundRow> = rounds.iter().filter(|round| round.state == RoundState::Skipped).collect();
        assert_eq!(skipped.len(), 4, "once in each block, and never again");
        let why = "this kernel (Linux 3.10) has no SCHED_DEADLINE (fix: FIFO)";
        assert!(skipped.iter().all(|round| round.why.as_deref() == Some(why)), "{:?}", skipped[0].why);
    });
}

#[test]
fn a_later_round_that_cannot_be_run_is_entered_as_failed_and_the_rest_goes_on() {
    in_a_store(|store| {
        let mut bench = Fake::new(|rate, _, _| match rate {
            5e6 => Err(Failure::saying("the agent has ended")),
            _ => Ok((0.0, Conditions::default())),
        });
        let (ran, rounds) = session(store, &mut bench, false, &Stop::new());
        assert!(ran.unwrap().complete);
        let failed = rounds.iter().filter(|round| round.state == RoundState::Failed);
        assert_eq!(failed.count(), 8, "four blocks, each with its repeat");
    });
}

#[test]
fn a_round_cut_short_by_ctrl_c_is_not_entered_and_resuming_runs_it_and_no_other_twice() {
    in_a_store(|store| {
        let stop = Stop::new();
        let mut bench = Fake::new({
            let mut left = 7;
            move |_, _, stop: &Stop| {
                left -= 1;
                if left == 0 {
                    stop.request();
                }
                Ok((0.0, Conditions::default()))
            }
        });
        let (ran, rounds) = session(store, &mut bench, false, &stop);
        assert_eq!((ran.unwrap().complete, rounds.len(), bench.ran.len()), (false, 6, 7));

        let mut second = Fake::clean();
        let (ran, rounds) = session(store, &mut second, true, &Stop::new());
        let ran = ran.unwrap();
        assert!(ran.complete && ran.resumed);
        assert_eq!((rounds.len(), second.ran.len()), (16, 10));
        assert_eq!(second.ran[0], bench.ran[6], "it goes on where it was cut");
        let mut each: BTreeMap<String, usize> = BTreeMap::new();
        rounds.iter().for_each(|round| *each.entry(round.factors["rate_sps"].to_string()).or_default() += 1);
        assert!(each.values().all(|&rounds| rounds == 4), "{each:?}");
        assert_eq!(store.runs().unwrap().len(), 1);
    });
}

#[test]
fn resuming_remembers_what_was_hopeless() {
    in_a_store(|store| {
        let stop = Stop::new();
        let mut bench = Fake::new(|_, _, _| Ok((0.5, Conditions::default())));
        let mut ended = 0;
        let mut stop_after_two = |event: &Event| {
            ended += usize::from(matches!(event, Event::Ended { .. }));
            if ended == 2 {
                stop.request();
            }
        };
        session_with(store, &mut bench, false, &mut stop_after_two, &stop).0.unwrap();
        assert_eq!(bench.ran, [1e6, 5e6]);
        let mut second = Fake::clean();
        let (_, rounds) = session(store, &mut second, true, &Stop::new());
        let in_first_block: Vec<(f64, RoundState)> = rounds
            .iter()
            .filter(|round| round.block == 0)
            .map(|round| (round.factors["rate_sps"].as_f64().unwrap(), round.state))
            .collect();
        use RoundState::{Skipped, Valid};
        assert_eq!(in_first_block, [(1e6, Valid), (5e6, Valid), (10e6, Skipped), (25e6, Skipped)]);
    });
}

#[test]
fn without_resume_an_unfinished_run_is_left_and_a_new_one_begun() {
    in_a_store(|store| {
        let stop = Stop::new();
        stop.request();
        session(store, &mut Fake::clean(), false, &stop).0.unwrap();
        let (ran, _) = session(store, &mut Fake::clean(), false, &Stop::new());
        assert!(!ran.unwrap().resumed);
        assert_eq!(store.runs().unwrap().len(), 2);
    });
}

#[test]
fn progress_counts_up_to_all_and_what_remains_goes_down_to_nothing() {
    in_a_store(|store| {
        let mut reports = Vec::new();
        let report = &mut |event: &Event, progress: &takt_lab::run::Progress| {
            reports.push((matches!(event, Event::Ended { .. }), progress.done, progress.planned, progress.remaining));
        };
        run(store, &plan(&sweep(), Depth::Quick, false), &mut Fake::clean(), report, &Stop::new()).unwrap();
        let done: Vec<(bool, usize)> = reports.iter().map(|&(ended, done, ..)| (ended, done)).collect();
        assert_eq!(done, [(false, 0), (true, 1), (false, 1), (true, 2), (false, 2), (true, 3), (false, 3), (true, 4)]);
        assert!(reports.iter().all(|&(_, _, planned, _)| planned == 4));
        let (first, last) = (reports.first().unwrap().3, reports.last().unwrap().3);
        assert!(first > last && last.is_zero());
    });
}
