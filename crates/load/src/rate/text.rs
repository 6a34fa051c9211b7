//! An outcome as people read it: a table, where samples were lost, and the answer.

use std::fmt::Write as _;

use super::{Outcome, Radio, Rx, Thread};

impl Outcome {
    /// The whole as text; the last line is the answer.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "{}", self.headline())?;
        writeln!(text, "                  samples    datagrams   lost samples   events")?;
        let (rx, tx) = (&self.rx, &self.tx);
        if self.options.rx_sps.is_some() {
            let [samples, datagrams, lost] = [rx.samples, rx.datagrams, rx.dropped].map(grouped);
            let events = [("O", rx.overflows), ("D", rx.sequence_errors), ("L", rx.late), ("timeouts", rx.timeouts)];
            writeln!(text, "  receive  {samples:>14} {datagrams:>12} {lost:>14}{}", counts(events))?;
        }
        if self.options.tx_sps.is_some() {
            let [samples, datagrams] = [tx.samples, tx.datagrams].map(grouped);
            let events = [("U", tx.underflows), ("S", tx.sequence_errors), ("L", tx.late), ("timeouts", tx.timeouts)];
            writeln!(text, "  transmit {samples:>14} {datagrams:>12} {:>14}{}", "-", counts(events))?;
        }
        writeln!(text, "  CPU      {}", self.cpu_line())?;
        if self.options.rx_sps.is_some() {
            writeln!(text, "  where    {}", places(rx))?;
            writeln!(text, "  buffer   {}", buffer(rx))?;
            writeln!(text, "  backlog  {}", backlog(rx))?;
        }
        for note in self.oddities().chain(self.unlocked()) {
            writeln!(text, "  note     {note}")?;
        }
        writeln!(text, "{}", self.answer())
    }

    fn headline(&self) -> String {
        let ways = [("receive", self.options.rx_sps), ("transmit", self.options.tx_sps)];
        let rate = |(way, sps): (&str, Option<f64>)| Some(format!("{way} {} MS/s", mega(sps?)));
        let rates: Vec<String> = ways.into_iter().filter_map(rate).collect();
        let per_datagram = self.rx.samples_per_datagram.max(self.tx.samples_per_datagram);
        let (Radio { model, serial, .. }, engine) = (&self.radio, self.options.engine);
        let (rates, format, wall_s) = (rates.join(", "), self.options.format.name(), self.wall_s);
        format!(
            "{model} serial {serial} · {rates} · {format}, {per_datagram} samples a datagram · engine {engine} · \
             {wall_s:.1} s"
        )
    }

    fn cpu_line(&self) -> String {
        let total = self.cpu.host_ms_per_msample.map_or("-".to_owned(), |ms| format!("{ms:.2} ms a million samples"));
        let share =
            |thread: &Thread| format!("{} {:.0} %", thread.name, 100.0 * thread.seconds / self.wall_s.max(1e-9));
        let streaming = self.cpu.threads.iter().filter(|thread| thread.name.starts_with("takt-"));
        let threads: Vec<String> = streaming.map(share).collect();
        format!("{total} ({})", threads.join(", "))
    }

    fn oddities(&self) -> impl Iterator<Item = String> {
        let rx = &self.rx;
        let all = [
            ("datagrams made no sense", rx.bad_datagrams),
            ("datagrams came out of order and were put back", rx.reordered_datagrams),
            ("datagrams came twice or too late", rx.stale_datagrams),
            ("gaps contradict the 4-bit count", rx.uncorroborated_gaps),
            ("messages have no name", rx.unknown_messages + self.tx.unknown_reports),
            ("datagrams were given up when the radio had run dry", self.tx.given_up_datagrams),
            ("commands to the radio had to be repeated", self.radio.repeated_commands),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}"))
    }

    /// What of the radio was not locked.
    fn unlocked(&self) -> impl Iterator<Item = String> {
        let radio = &self.radio;
        let all = [
            (radio.reference_locked, "the radio's clock does not follow its reference: its rate is not what it says"),
            (radio.rx_lo_locked, "the receive oscillator is not locked"),
            (radio.tx_lo_locked, "the transmit oscillator is not locked"),
        ];
        all.into_iter().filter(|(locked, _)| *locked == Some(false)).map(|(_, what)| what.to_owned())
    }

    fn answer(&self) -> String {
        if self.clean {
            return format!("Yes: nothing was lost in {:.1} s.", self.wall_s);
        }
        if !self.complete {
            return format!("No: ended after {:.1} s, before its time.", self.wall_s);
        }
        let (rx, tx) = (&self.rx, &self.tx);
        let faults = [
            (rx.dropped, "samples lost"),
            (rx.unsent_samples, "samples not sent by the radio"),
            (rx.overflows, "overflows"),
            (rx.late + tx.late, "late"),
            (rx.timeouts, "times nothing came"),
            (tx.underflows, "underflows"),
            (tx.sequence_errors, "datagrams missed by the radio"),
            (tx.timeouts, "times the radio took nothing"),
            (rx.unknown_messages + tx.unknown_reports, "messages without a name"),
            (rx.retimed, "times the radio's clock was set"),
            (rx.expected_samples.abs_diff(rx.samples + rx.dropped + rx.unsent_samples), "samples unaccounted for"),
        ];
        let mut reasons: Vec<String> =
            faults.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(n))).collect();
        reasons.extend(falls_behind(rx));
        reasons.extend((rx.backlog.stuck && rx.dropped == 0).then(|| NOT_CAUGHT_UP.to_owned()));
        format!("No: {} in {:.1} s.", reasons.join(", "), self.wall_s)
    }
}

fn counts(events: [(&str, u64); 4]) -> String {
    events.map(|(name, count)| format!("   {name} {count}")).concat()
}

fn places(rx: &Rx) -> String {
    let places = &rx.lost_by_place;
    let buffer = places.receive_buffer_datagrams.map_or("not visible".to_owned(), grouped);
    let [radio, path, takt] = [places.radio_samples, places.path_datagrams, places.takt_datagrams].map(grouped);
    let lost = grouped(rx.lost_datagrams);
    let host = format!("receive buffer of this host {buffer}   takt {takt}");
    format!("radio {radio} samples   path {path}   {host}   ({lost} datagrams lost)")
}

fn buffer(rx: &Rx) -> String {
    let (kib, ms) = (rx.recv_buffer_bytes / 1024, rx.recv_buffer_s * 1e3);
    let pause_ms = rx.longest_pause_ns as f64 / 1e6;
    format!("{kib} KiB hold {ms:.1} ms of this stream; the reader's longest pause was {pause_ms:.1} ms")
}

fn backlog(rx: &Rx) -> String {
    let trend = match (falls_behind(rx), rx.backlog.slope) {
        (Some(sentence), _) => sentence,
        (None, _) if rx.backlog.stuck => NOT_CAUGHT_UP.to_owned(),
        (None, Some(_)) if rx.backlog.growing => "it grew until the buffer was full".to_owned(),
        (None, Some(_)) => "it did not grow".to_owned(),
        (None, None) => "too little was read to say whether it grew".to_owned(),
    };
    let [most, at_end] = [rx.backlog.largest_ns, rx.backlog.at_end_ns].map(|ns| ns as f64 / 1e6);
    format!("at most {most:.1} ms behind the radio, {at_end:.1} ms at the end; {trend}")
}

/// By how much the reader is too slow, and what will come of it. Where samples were lost, the buffer was full, and how fast
/// the backlog grew says less than they do.
fn falls_behind(rx: &Rx) -> Option<String> {
    let slope = rx.backlog.slope.filter(|_| rx.backlog.growing && rx.dropped == 0)?;
    let after =
        rx.backlog.time_to_loss_s.map_or(String::new(), |after_s| format!(", and loses samples after {after_s:.1} s"));
    Some(format!("the reader falls behind by {:.1} % of the stream{after}", slope * 100.0))
}

const NOT_CAUGHT_UP: &str = "the reader had not caught up when it ended";

fn mega(sps: f64) -> String {
    let text = format!("{:.6}", sps / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Digits in groups of three.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([0, 999, 1000, 12_345_678].map(grouped), ["0", "999", "1 000", "12 345 678"]);
    }

    #[test]
    fn rates_lose_their_zeros() {
        assert_eq!([25e6, 195_312.5, 3_571_428.571].map(mega), ["25", "0.195312", "3.571429"]);
    }
}
