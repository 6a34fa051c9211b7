//! Trace of the workers' last executions, in the format that Perfetto and Chrome draw.

use std::fmt::Write;

use super::Report;

impl Report {
    /// The last executions of every worker as a Chrome trace: a JSON document, one track a worker, time in microseconds
    /// from slot 0. Open it at <https://ui.perfetto.dev>.
    #[must_use]
    pub fn to_perfetto(&self) -> String {
        let mut text = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        let mut separator = "";
        for (worker, report) in self.workers.iter().enumerate() {
            for event in &report.trace {
                let name = self.components.get(event.component).map_or("", |component| component.name.as_str());
                let start_us = (event.slot * self.slot_ns + event.start_ns) as f64 / 1e3;
                let us = event.execution_ns as f64 / 1e3;
                // Names are letters, digits, `-` and `_`: nothing to escape. Writing to a String can't fail.
                let _ = write!(
                    text,
                    "{separator}{{\"ph\":\"X\",\"pid\":0,\"tid\":{worker},\"name\":\"{name}\",\"ts\":{start_us:.3},\
                     \"dur\":{us:.3},\"args\":{{\"slot\":{}}}}}",
                    event.slot
                );
                separator = ",";
            }
        }
        text.push_str("]}");
        text
    }
}
