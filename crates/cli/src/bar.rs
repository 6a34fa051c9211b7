//! A progress bar for work that knows how long it takes; nothing where nothing may move.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use takt_base::plain::one_line;

use crate::Output;

/// The bar, on standard error. Gone when dropped.
pub struct Bar(ProgressBar);

impl Bar {
    pub fn new(output: &Output) -> Bar {
        Bar::like(output, 1, "{wide_bar} {msg}")
    }

    /// One of so many steps that looks as this template of indicatif's says. Hidden unless standard error is a terminal and the
    /// reader wants text.
    pub fn like(output: &Output, steps: u64, template: &str) -> Bar {
        if !output.may_draw() {
            return Bar(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(ProgressBar::new(steps).with_style(style))
    }

    /// Answer of `work`; the bar is gone then.
    pub fn during<R>(output: &Output, work: impl FnOnce(&Bar) -> R) -> R {
        work(&Bar::new(output))
    }

    pub fn show(&self, elapsed: Duration, planned: Duration) {
        self.steps(millis(elapsed), millis(planned).max(1));
        self.say(&format!("{:.0} s left", planned.saturating_sub(elapsed).as_secs_f64()));
    }

    /// `done` of `all` steps.
    pub fn steps(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// Lets `work` print on standard error while the bar is out of the way.
    pub fn apart(&self, work: impl FnOnce()) {
        self.0.suspend(work);
    }

    /// Shows text beside it, made plain: the bar's own sequences are put around it.
    pub fn say(&self, text: &str) {
        self.0.set_message(one_line(text).into_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_a_bar_does_not_act() {
        let bar = Bar(ProgressBar::hidden());
        bar.say("round \u{1b}]0;x\u{7} of \u{9b}2J\n");
        assert_eq!(bar.0.message(), "round \\u001b]0;x\\u0007 of \\u009b2J\\n");
    }
}
