//! A progress bar for work that knows how long it takes; nothing where nothing may move.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::Output;

/// The bar, on standard error. Gone when dropped.
pub struct Bar(ProgressBar);

impl Bar {
    pub fn new(output: &Output) -> Bar {
        Bar(drawn(output, 1, "{wide_bar} {msg}"))
    }

    /// What `work` gives; the bar is gone then.
    pub fn during<R>(output: &Output, work: impl FnOnce(&Bar) -> R) -> R {
        work(&Bar::new(output))
    }

    pub fn show(&self, elapsed: Duration, planned: Duration) {
        self.0.set_length(millis(planned).max(1));
        self.0.set_position(millis(elapsed));
        self.0.set_message(format!("{:.0} s left", planned.saturating_sub(elapsed).as_secs_f64()));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Hidden unless standard error is a terminal and the reader wants text.
pub fn drawn(output: &Output, length: u64, template: &str) -> ProgressBar {
    if !output.may_draw() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
