//! Counts of takt's processes for Prometheus, in its text format. An unknown count is absent.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::prometheus_text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use takt_live::{Component, Link, Node, Radio, Slots};

use crate::processes::Sample;

pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The page of all processes.
///
/// # Errors
/// None in practice: a text takes whatever is written.
pub(crate) fn text(samples: &[Sample]) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("takt");
    registry.register_collector(Box::new(All(samples.to_vec())));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct All(Vec<Sample>);

type Labels = Vec<(&'static str, String)>;
/// One value of a family.
type Series<N> = (Labels, N);

impl Collector for All {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Page(&mut encoder);
        self.processes(page)?;
        self.radios(page)?;
        self.slots(page)?;
        self.components(page)?;
        self.links(page)?;
        self.nodes(page)
    }
}

impl All {
    /// What `of` finds in each process, with the label of that process.
    fn each<N>(&self, of: impl Fn(&Sample, &mut dyn FnMut(Labels, Option<N>))) -> Vec<Series<N>> {
        let mut all = Vec::new();
        for sample in &self.0 {
            of(sample, &mut |labels, value| {
                let pid = ("pid", sample.hello.pid.to_string());
                all.extend(value.map(|value| ([vec![pid], labels].concat(), value)));
            });
        }
        all
    }

    fn radio<N>(&self, of: impl Fn(&Radio) -> Option<N>) -> Vec<Series<N>> {
        self.each(|sample, add| sample.snapshot.radios.iter().for_each(|radio| add(of_radio(radio), of(radio))))
    }

    fn slot<N>(&self, of: impl Fn(&Slots) -> Option<N>) -> Vec<Series<N>> {
        self.each(|sample, add| sample.snapshot.slots.iter().for_each(|slots| add(Vec::new(), of(slots))))
    }

    fn component<N>(&self, of: impl Fn(&Component) -> Option<N>) -> Vec<Series<N>> {
        self.each(|sample, add| {
            let all = sample.snapshot.components.iter();
            all.for_each(|one| add(vec![("component", one.name.clone())], of(one)));
        })
    }

    fn link<N>(&self, of: impl Fn(&Link) -> Option<N>) -> Vec<Series<N>> {
        self.each(|sample, add| {
            sample.snapshot.links.iter().for_each(|link| add(vec![("link", link.name.clone())], of(link)));
        })
    }

    fn node<N>(&self, of: impl Fn(&Node) -> Option<N>) -> Vec<Series<N>> {
        self.each(|sample, add| {
            sample.snapshot.nodes.iter().for_each(|node| add(vec![("node", node.name.clone())], of(node)));
        })
    }

    fn processes(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let info = self.each(|sample, add| {
            let hello = &sample.hello;
            let labels = [("kind", hello.kind.name()), ("title", &hello.title), ("version", &hello.version)];
            add(labels.map(|(name, text)| (name, text.to_owned())).to_vec(), Some(1.0));
        });
        page.gauges("process", "1; the labels say what the process does", None, info)?;
        let running = self.each(|sample, add| add(Vec::new(), Some(seconds(sample.snapshot.t_ns))));
        page.gauges("process_running", "Time since the process began", Some(Unit::Seconds), running)?;
        let speed = self.each(|sample, add| add(Vec::new(), sample.snapshot.speed));
        page.gauges("speed", "Radio time per real time", Some(ratio()), speed)
    }

    fn radios(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        page.gauges(
            "radio_sample_rate",
            "Rate that was set, samples a second",
            None,
            self.radio(|radio| radio.rate_sps),
        )?;
        page.counters("radio_samples", "Samples received or handed to the kernel", self.radio(|radio| radio.samples))?;
        let lost = self.radio(|radio| radio.lost_samples);
        page.counters("radio_lost_samples", "Samples found to be missing", lost)?;
        let letters = self.each(|sample, add| {
            for radio in &sample.snapshot.radios {
                for (letter, count) in radio.letters.list() {
                    add([of_radio(radio), vec![("letter", letter.to_string())]].concat(), count);
                }
            }
        });
        page.counters("radio_events", "Events of a stream by letter: O, U, L, S, D", letters)
    }

    fn slots(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        page.counters("slots", "Slots that have ended", self.slot(|slots| Some(slots.count)))?;
        page.counters("slots_missed", "Slots that a component missed", self.slot(|slots| slots.misses))?;
        let measured = self.slot(|slots| (!slots.lateness.is_empty()).then(|| Buckets::of(slots)));
        page.family("slot_lateness", "Lateness of the workers' release", Some(Unit::Seconds), &measured)
    }

    fn components(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let load = self.component(|one| one.load_share);
        page.gauges("component_load", "Share of a slot that executions take in the mean", Some(ratio()), load)?;
        let worst = self.component(|one| one.worst_ns.map(seconds));
        page.gauges("component_longest_execution", "Longest execution", Some(Unit::Seconds), worst)?;
        page.counters("component_executions", "Executions", self.component(|one| one.executions))?;
        page.counters("component_misses", "Executions that were late or left out", self.component(|one| one.misses))
    }

    fn links(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let states = self.each(|sample, add| {
            for link in &sample.snapshot.links {
                let state = link.state.as_ref();
                let labels = |state: &String| vec![("link", link.name.clone()), ("state", state.clone())];
                add(state.map(labels).unwrap_or_default(), state.map(|_| 1.0));
            }
        });
        page.gauges("link_state", "1; the label has the state", None, states)?;
        page.gauges("link_snr_db", "Signal-to-noise ratio, dB", None, self.link(|link| link.snr_db))?;
        let errors = self.link(|link| link.bler);
        page.gauges("link_block_errors", "Share of transport blocks with errors", Some(ratio()), errors)?;
        page.gauges("link_throughput", "Payload, bits a second", None, self.link(|link| link.throughput_bps))
    }

    fn nodes(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        page.gauges(
            "node_alive",
            "1 if the node is heard",
            None,
            self.node(|node| Some(f64::from(u8::from(node.alive)))),
        )?;
        let load = self.node(|node| node.load);
        page.gauges("node_load", "Share of the cores' time that waveforms take", Some(ratio()), load)
    }
}

fn of_radio(radio: &Radio) -> Labels {
    vec![("radio", radio.name.clone()), ("direction", radio.direction.name().to_owned())]
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Writes families; one without values is left out.
struct Page<'a, 'b>(&'a mut DescriptorEncoder<'b>);

impl Page<'_, '_> {
    fn gauges(&mut self, name: &str, help: &str, unit: Option<Unit>, all: Vec<Series<f64>>) -> fmt::Result {
        let all: Vec<_> = all.into_iter().map(|(labels, value)| (labels, ConstGauge::new(value))).collect();
        self.family(name, help, unit, &all)
    }

    fn counters(&mut self, name: &str, help: &str, all: Vec<Series<u64>>) -> fmt::Result {
        let all: Vec<_> = all.into_iter().map(|(labels, value)| (labels, ConstCounter::new(value))).collect();
        self.family(name, help, None, &all)
    }

    fn family<M: EncodeMetric>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        all: &[Series<M>],
    ) -> fmt::Result {
        let Some((_, first)) = all.first() else { return Ok(()) };
        let mut family = self.0.encode_descriptor(name, help, unit.as_ref(), first.metric_type())?;
        all.iter().try_for_each(|(labels, value)| value.encode(family.encode_family(labels)?))
    }
}

/// A histogram as a process sent it. Nobody adds up the values, so their sum is not a number:
/// quantiles come from the buckets.
struct Buckets {
    ends: Vec<(f64, u64)>,
    all: u64,
}

impl Buckets {
    fn of(slots: &Slots) -> Buckets {
        let mut ends: Vec<(f64, u64)> = slots.lateness.iter().map(|bar| (seconds(bar.upper_ns), bar.count)).collect();
        ends.push((f64::INFINITY, 0));
        let all = slots.lateness.iter().map(|bar| bar.count).sum();
        Buckets { ends, all }
    }
}

impl EncodeMetric for Buckets {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_histogram::<NoLabelSet>(f64::NAN, self.all, &self.ends, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

fn ratio() -> Unit {
    Unit::Other("ratio".to_owned())
}
