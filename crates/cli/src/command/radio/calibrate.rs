//! `takt radio calibrate`: the corrections of a front end, measured and written as UHD's files.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use miette::Result;
use serde::Serialize;
use takt_base::{parse_ip, parse_number, utc_ns_now};
use takt_packet::EngineKind;
use takt_radio::board::Side;
use takt_radio::calibration::{
    CalibratedPoint, CalibrationFileError, CalibrationFolder, CalibrationKind, CalibrationPlan, CalibrationReport,
    CalibrationTable, calibrate_radio,
};
use takt_radio::n200::{N200, OpenOptions, TxWish};
use takt_radio::{Model, Net, RadioError, WallNet, model_at};

use crate::{Answer, Bar, Output, Problem, radio_problem, stop_on_signal};

/// A sweep of more frequencies is a mistake: the narrowest board has 400 at UHD's step.
const MOST_FREQUENCIES: u64 = 100_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  takt radio calibrate --addr 192.168.10.2 --start 900M --stop 910M --transmit
  takt radio calibrate --addr 192.168.10.2 --start 900M --stop 910M --step 2M --tx-gain 20 --temperature 41.5 --transmit
  takt radio calibrate --addr 192.168.10.2 --start 900M --stop 910M --transmit --dry-run --json

The radio plays a tone and hears it through its calibration antenna (SBX: CAL). The files are
UHD's, in UHD's folder. UHD and `takt record --calibration uhd` apply them when they tune.

Exit status:
  0  every frequency was calibrated
  1  a frequency was not calibrated, or you stopped the sweep (then takt wrote no file)
  2  the command failed")]
pub struct Args {
    /// Address of the radio (N200 with a board that has the antenna CAL).
    #[arg(long, default_value = "127.0.0.1", value_parser = parse_ip)]
    addr: IpAddr,
    /// Lowest frequency in Hz [default: the board's].
    #[arg(long, value_name = "HZ", value_parser = parse_number)]
    start: Option<f64>,
    /// Highest frequency in Hz [default: the board's].
    #[arg(long, value_name = "HZ", value_parser = parse_number)]
    stop: Option<f64>,
    /// Spacing of the frequencies in Hz.
    #[arg(long, value_name = "HZ", default_value = "7.3M", value_parser = parse_number)]
    step: f64,
    /// Transmit gain in dB [default: the board's highest, as UHD's program uses].
    #[arg(long, value_name = "DB")]
    tx_gain: Option<f64>,
    /// Receive gain in dB [default: takt finds it at each frequency].
    #[arg(long, value_name = "DB")]
    rx_gain: Option<f64>,
    /// Temperature of the board in degrees Celsius, kept in the files. These radios have no sensor.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Write the files to this folder [default: UHD's].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Also write the text files of UHD before 4.0.
    #[arg(long)]
    csv: bool,
    /// Measure, and write no file.
    #[arg(long)]
    dry_run: bool,
    /// Transmit even if the radio is not takt's emulator.
    #[arg(long)]
    transmit: bool,
    /// Take over the radio even if another host uses it.
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Document {
    serial: String,
    rx_board_serial: String,
    tx_board_serial: String,
    temperature_c: Option<f64>,
    frequencies: u64,
    elapsed_s: f64,
    stopped: bool,
    files: Vec<PathBuf>,
    #[serde(flatten)]
    report: CalibrationReport,
}

impl Document {
    fn answer(&self) -> Answer {
        Answer::of(!self.stopped && self.report.skipped.is_empty() && !self.report.points.is_empty())
    }
}

pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let folder = match &args.out {
        Some(folder) => CalibrationFolder::at(folder),
        None => CalibrationFolder::of_user().map_err(file_problem)?,
    };
    let stop = stop_on_signal()?;
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Mmsg));
    let mut radio = open(args, &net)?;
    let plan = plan(args, &radio)?;
    let [rx_serial, tx_serial] = radio.identity().board_serials().map(str::to_owned);
    if !args.dry_run {
        // Minutes of measurement are worth nothing if no file can have the name.
        folder.path(CalibrationKind::RxIq, &rx_serial).map_err(file_problem)?;
        folder.path(CalibrationKind::TxIq, &tx_serial).map_err(file_problem)?;
    }
    for hz in [plan.start_hz, plan.stop_hz] {
        let wish = TxWish { frequency_hz: Some(hz), gain_db: Some(plan.tx_gain_db), antenna: Some("CAL") };
        let emission = radio.may_transmit(wish).map_err(radio_error)?;
        emission.iter().for_each(|emission| output.note(radio_problem::on_air(emission)));
    }
    let begun = Instant::now();
    let report =
        Bar::during(output, |bar| calibrate_radio(&mut radio, &plan, &mut |done| bar.steps(done, plan.count()), &stop));
    let report = report.map_err(radio_error)?;
    let mut document = Document {
        serial: radio.identity().serial.clone(),
        rx_board_serial: rx_serial,
        tx_board_serial: tx_serial,
        temperature_c: args.temperature,
        frequencies: plan.count(),
        elapsed_s: begun.elapsed().as_secs_f64(),
        stopped: stop.requested(),
        files: Vec::new(),
        report,
    };
    if !args.dry_run && !document.stopped {
        document.files = write(args, &folder, &document)?;
    }
    let answer = document.answer();
    output.answer(&document, || text(&document, args), answer)
}

fn open(args: &Args, net: &Arc<dyn Net>) -> Result<N200> {
    if model_at(net, args.addr).map_err(radio_error)? == Some(Model::X310) {
        let problem = Problem::new("can't calibrate an X310").why("takt can't drive the front end of an X310");
        return Err(problem
            .fix("use UHD's uhd_cal_rx_iq_balance, uhd_cal_tx_iq_balance and uhd_cal_tx_dc_offset")
            .into());
    }
    let options = OpenOptions { force: args.force, transmit: args.transmit, ..OpenOptions::default() };
    Ok(N200::open(net.clone(), args.addr, &options).map_err(radio_error)?)
}

fn plan(args: &Args, radio: &N200) -> Result<CalibrationPlan> {
    let board = radio.board();
    let missing = || {
        let boards = radio.identity().boards();
        Problem::new(format!("can't calibrate these boards: {boards}"))
            .why("they have no calibration antenna that takt knows; an SBX has one")
            .fix("takt probe   (shows boards and antennas)")
    };
    let has_antenna = [Side::Rx, Side::Tx].into_iter().all(|side| board.antennas(side).contains(&"CAL"));
    let range = board.frequencies_hz(Side::Rx).filter(|_| has_antenna).ok_or_else(missing)?;
    let gains = board.gains_db(Side::Tx).ok_or_else(missing)?;
    let (start, stop) = (args.start.unwrap_or(range.low), args.stop.unwrap_or(range.high));
    let megahertz = |hz: f64| hz / 1e6;
    if !(range.contains(start) && range.contains(stop) && start <= stop) {
        let got = format!("--start {} MHz, --stop {} MHz", megahertz(start), megahertz(stop));
        let fix =
            format!("name two from {} to {} MHz, the lower one first", megahertz(range.low), megahertz(range.high));
        return Err(Problem::new("this radio has no such frequencies").why(got).fix(fix).into());
    }
    let plan = CalibrationPlan {
        step_hz: args.step,
        rx_gain_db: args.rx_gain,
        ..CalibrationPlan::new(start, stop, args.tx_gain.unwrap_or(gains.high))
    };
    if !(args.step > 0.0 && (1..=MOST_FREQUENCIES).contains(&plan.count())) {
        let got = format!("--step {} Hz gives {} frequencies", args.step, plan.count());
        let fix = format!("name a step that gives 1 to {MOST_FREQUENCIES}, such as --step 7.3M");
        return Err(Problem::new("this step can't be used").why(got).fix(fix).into());
    }
    Ok(plan)
}

/// Writes a file for each kind that has results.
fn write(args: &Args, folder: &CalibrationFolder, document: &Document) -> Result<Vec<PathBuf>> {
    let measured_s = utc_ns_now().map_or(0, |ns| ns / 1_000_000_000);
    let mut files = Vec::new();
    for kind in CalibrationKind::ALL {
        let points = document.report.of_kind(kind);
        let rx = kind == CalibrationKind::RxIq;
        let serial = if rx { &document.rx_board_serial } else { &document.tx_board_serial };
        let name = CalibrationTable::named(kind, args.temperature);
        let table = CalibrationTable::new(name, serial.clone(), measured_s, points);
        if !table.points().is_empty() {
            files.extend(folder.save(kind, &table, args.csv).map_err(file_problem)?);
        }
    }
    Ok(files)
}

fn radio_error(error: RadioError) -> Problem {
    radio_problem::problem("calibrate the radio", error, "use the rate")
}

fn file_problem(error: CalibrationFileError) -> Problem {
    Problem::caused("can't keep calibration files", error, CalibrationFileError::fix)
}

fn text(document: &Document, args: &Args) -> String {
    let Document { report, serial, rx_board_serial, tx_board_serial, .. } = document;
    let mut lines = vec![
        format!("N200 serial {serial}, boards {rx_board_serial} (receive) and {tx_board_serial} (transmit)"),
        "  dB below the tone       receive image    transmit image           carrier".to_owned(),
        "  oscillator MHz         before   after    before   after    before   after".to_owned(),
    ];
    lines.extend(report.points.chunks(CalibrationKind::ALL.len()).map(row));
    let skipped = |skipped: &takt_radio::calibration::SkippedFrequency| {
        format!("  {:>14.3}         skipped: {}", skipped.lo_hz / 1e6, skipped.reason)
    };
    lines.extend(report.skipped.iter().map(skipped));
    lines.push(format!("  captures  {} in {:.1} s", report.captures, document.elapsed_s));
    lines.extend(document.files.iter().map(|path| format!("  written   {}", path.display())));
    let done = report.points.len() / CalibrationKind::ALL.len();
    lines.push(match (document.stopped, document.answer(), args.dry_run) {
        (true, ..) => format!("No: stopped after {done} of {} frequencies. No file was written.", document.frequencies),
        (_, Answer::Yes, true) => format!("Yes: {done} frequencies measured. No file was written, as you asked."),
        (_, Answer::Yes, false) => {
            format!("Yes: {done} frequencies calibrated. UHD applies them from its next start on.")
        }
        _ => format!("No: {done} of {} frequencies could be calibrated.", document.frequencies),
    });
    lines.join("\n")
}

/// Three corrections at one frequency.
fn row(points: &[CalibratedPoint]) -> String {
    let hz = points.first().map_or(0.0, |point| point.point.lo_hz);
    let cells = points.iter().map(|point| format!("    {:>6.1}  {:>6.1}", point.before_db, point.after_db));
    format!("  {:>14.3}     {}", hz / 1e6, cells.collect::<String>())
}
