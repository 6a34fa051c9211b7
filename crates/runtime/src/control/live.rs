//! A running waveform as `takt top` and the live page show it: slots, components, misses, and variables that can be set.
//!
//! Variables go through the waveform's own control socket, as `takt variable` does. They are asked for by a thread of their own:
//! an answer may take a slot, and a snapshot does not wait for it.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::Value as Json;
use takt_base::shown::time_ns;
use takt_base::{Clock, MonoNs, WallClock};
use takt_live::{Component, LatenessBar, Miss, SetVariable, Slots, Snapshot, Source, Variable, VariableValue};

use super::{Request, RequestAnswer, ask};
use crate::{Culprit, RunLook, RunView, SeenComponent, SeenMiss};

/// Between two questions for the variables.
const VARIABLES: Duration = Duration::from_secs(1);

/// Shows a running waveform: the source of a [`Publisher`](takt_live::Publisher).
#[derive(Debug)]
pub struct LiveRun {
    view: RunView,
    /// Whether slots have a length by a clock, so that a share of one means something.
    clocked: bool,
    variables: Vec<Variable>,
    asked: Option<MonoNs>,
    answer: Option<Receiver<Vec<Variable>>>,
}

impl LiveRun {
    /// A view of the waveform that this process runs. `clocked`: its slots begin at the edges of a clock.
    #[must_use]
    pub fn new(view: RunView, clocked: bool) -> LiveRun {
        LiveRun { view, clocked, variables: Vec::new(), asked: None, answer: None }
    }

    /// Takes the variables that have come, and asks for them again in time.
    fn look_at_variables(&mut self, now: MonoNs) {
        if let Some(answer) = &self.answer {
            match answer.try_recv() {
                Ok(variables) => (self.variables, self.answer) = (variables, None),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => self.answer = None,
            }
        }
        if self.asked.is_none_or(|at| now >= at + VARIABLES) {
            self.asked = Some(now);
            let (answer, received) = sync_channel(1);
            let asking = move || {
                if let Ok(RequestAnswer::Good(all)) = ask(std::process::id(), &Request::Variables) {
                    // The view may have ended meanwhile.
                    let _ = answer.send(variables(&all));
                }
            };
            // Without a thread there are no variables this time.
            let started = thread::Builder::new().name("takt-variables".to_owned()).spawn(asking);
            self.answer = started.is_ok().then_some(received);
        }
    }
}

impl Source for LiveRun {
    fn snapshot(&mut self) -> Snapshot {
        self.look_at_variables(WallClock.now());
        let (spectra, constellations) = self.view.signals(WallClock.now());
        let RunLook { slots, slot_ns, misses, lateness, recent, components } = self.view.look();
        let slots = Slots {
            count: slots,
            slot_ns: Some(slot_ns),
            misses: Some(misses),
            lateness: lateness.into_iter().map(LatenessBar::from).collect(),
            recent_misses: recent.iter().map(miss).collect(),
        };
        let share_of = self.clocked.then_some(slot_ns);
        Snapshot {
            slots: Some(slots),
            components: components.into_iter().map(|one| component(one, share_of)).collect(),
            variables: self.variables.clone(),
            outputs: self.view.outputs(),
            spectra,
            constellations,
            ..Snapshot::default()
        }
    }

    fn set(&mut self, variable: &SetVariable) -> Result<(), String> {
        let Some((component, name)) = variable.name.split_once('.') else {
            return Err(format!("{} is no COMPONENT.VARIABLE", variable.name));
        };
        let request = Request::Set {
            component: component.to_owned(),
            variable: name.to_owned(),
            value: variable.value.to_string(),
        };
        self.asked = None;
        match ask(std::process::id(), &request) {
            Ok(RequestAnswer::Good(_)) => Ok(()),
            Ok(RequestAnswer::Refused { why, .. }) => Err(why),
            Err(error) => Err(format!("the waveform does not answer: {error}")),
        }
    }

    fn show(&mut self, outputs: &[String]) {
        self.view.show(outputs);
    }

    fn idle(&mut self) {
        self.view.catch_up();
    }

    const IDLES: bool = true;
}

fn component(seen: SeenComponent, slot_ns: Option<u64>) -> Component {
    let SeenComponent { counts, mean_ns, core, feeds } = seen;
    Component {
        name: counts.name,
        kind: Some(counts.kind),
        core: core.and_then(|core| u32::try_from(core).ok()),
        executions: Some(counts.executions),
        misses: Some(counts.missed + counts.late),
        load_share: mean_ns.zip(slot_ns).map(|(mean, slot)| mean / slot as f64),
        worst_ns: counts.max_ns,
        edges: feeds,
    }
}

fn miss(seen: &SeenMiss) -> Miss {
    let (stage, late_ns) = match &seen.culprit {
        Culprit::Component { component, execution_ns, usual_ns, .. } => {
            let usual = time_ns(*usual_ns);
            let stage = format!("execution of {component}: {}, usually {usual}", time_ns(*execution_ns));
            (stage, Some(execution_ns.saturating_sub(*usual_ns)))
        }
        Culprit::Radio { component, .. } => (format!("samples did not reach {component}"), None),
        Culprit::Bridge { component, .. } => (format!("the packet of another node did not reach {component}"), None),
        Culprit::Release { worker, late_ns, .. } => (format!("worker {worker} was released late"), Some(*late_ns)),
    };
    Miss { slot: seen.slot, component: Some(seen.component.clone()), stage: Some(stage), late_ns }
}

/// As the control socket lists them.
fn variables(all: &Json) -> Vec<Variable> {
    let text = |one: &Json, key: &str| one[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let variable = |one: &Json| {
        let name = format!("{}.{}", text(one, "component")?, text(one, "variable")?);
        Some(Variable {
            name,
            value: value(&one["value"]),
            unit: text(one, "unit"),
            range: None,
            expected: text(one, "expected"),
            settable: true,
        })
    };
    all.as_array().into_iter().flatten().filter_map(variable).collect()
}

fn value(json: &Json) -> Option<VariableValue> {
    serde_json::from_value(json.clone()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_are_as_the_control_socket_lists_them() {
        let all = json!([
            { "component": "channel", "variable": "ebn0_db", "value": 3.5, "unit": "dB", "expected": "-20 to 60" },
            { "component": "gate", "variable": "open", "value": true, "unit": "", "expected": "true or false" },
            { "component": "late", "variable": "x", "value": null, "unit": "", "expected": "" },
            { "no": "variable" },
        ]);
        let read = variables(&all);
        assert_eq!(read.len(), 3);
        assert_eq!((read[0].name.as_str(), &read[0].value), ("channel.ebn0_db", &Some(VariableValue::Float(3.5))));
        assert_eq!((read[1].unit.clone(), &read[1].value), (None, &Some(VariableValue::Bool(true))));
        assert_eq!((&read[2].value, &read[2].expected), (&None, &None), "not known");
    }

    #[test]
    fn a_miss_says_which_stage_took_the_time() {
        let seen = |culprit| SeenMiss { component: "sink".into(), slot: 9, culprit };
        let slow = Culprit::Component {
            component: "turbo".into(),
            worker: 1,
            slot: 8,
            execution_ns: 9_000_000,
            usual_ns: 4_000_000,
        };
        let slow = miss(&seen(slow));
        assert_eq!((slow.slot, slow.component.as_deref(), slow.late_ns), (9, Some("sink"), Some(5_000_000)));
        assert_eq!(slow.stage.as_deref(), Some("execution of turbo: 9 ms, usually 4 ms"));
        let lost = miss(&seen(Culprit::Radio { component: "rx".into(), slot: 9 }));
        assert_eq!((lost.stage.as_deref(), lost.late_ns), (Some("samples did not reach rx"), None));
    }
}
