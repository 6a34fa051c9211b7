//! Figures of a node for Prometheus. The table in `docs/reference/cluster.md` has a row for each.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::prometheus_text::encode;
use prometheus_client::registry::Registry;
use takt_bridge::LinkTally;
use takt_bridge::clock::Drift;
use takt_runtime::ComponentTally;

use super::page::{Page, Times, alone, by, labels, seconds};
use super::totals::{How, Series, Sums, Totals};
use crate::counts::Messages;
use crate::membership::Heartbeats;
use crate::message::{NodeFacts, RunFacts, TenantFacts};
use crate::quorum::Uncounted;

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Ready, and not started.
    Opened,
    /// Executed.
    Executing,
    /// Over, and kept for who asks.
    Ended,
}

impl Stage {
    /// As in the label `stage`.
    const ALL: [(Stage, &'static str); 3] =
        [(Stage::Opened, "opened"), (Stage::Executing, "executing"), (Stage::Ended, "ended")];
}

/// A run now.
#[derive(Debug)]
pub(crate) struct RunFigures {
    pub(crate) facts: RunFacts,
    pub(crate) stage: Stage,
    pub(crate) slot_ns: u64,
    pub(crate) offset_ns: i64,
    pub(crate) offset_bound_ns: u64,
    pub(crate) drift: Option<Drift>,
    /// Rest of its lease.
    pub(crate) lease_ns: u64,
}

/// All that a page is made of.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) cluster: String,
    pub(crate) facts: NodeFacts,
    pub(crate) runs: Vec<RunFigures>,
    pub(crate) messages: Messages,
    pub(crate) heartbeats: Heartbeats,
    pub(crate) sums: Sums,
    /// Peers that TLS refused.
    pub(crate) refused_peers: u64,
}

impl Figures {
    /// The page.
    ///
    /// # Errors
    /// None in practice: a text takes whatever is written.
    pub(crate) fn page(self) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("takt");
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Page(&mut encoder);
        self.node(page)?;
        self.tenants(page)?;
        self.messages(page)?;
        self.heartbeats(page)?;
        self.runs(page)?;
        self.executed(page)?;
        components(page, &self.sums.components)?;
        links(page, &SENT, &self.sums.sent)?;
        links(page, &RECEIVED, &self.sums.received)
    }
}

impl Figures {
    fn node(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let NodeFacts { node, version, class, cores, busy, agents, capacities, bytes_per_s, .. } = &self.facts;
        page.gauges("build_info", "1; the label has the version.", [(labels([("version", version)]), 1_u64)])?;
        let who = labels([("cluster", &self.cluster), ("node", node), ("class", class)]);
        page.gauges("node_info", "1; the labels have the node's name and the class of its cores.", [(who, 1_u64)])?;
        page.gauges("node_cores", "Cores on which the node lets workers run.", [alone(cores.len())])?;
        page.gauges("node_busy_cores", "Cores among these that have a worker or an agent.", [alone(busy.len())])?;
        page.gauges("node_agents", "Agents of labs on the node.", [alone(agents.len())])?;
        page.gauges(
            "node_core_multiply_accumulates_per_second",
            "Multiply-accumulate operations that a core does a second, as calibrated when the node began.",
            capacities.capacities.map(|calibrated| alone(calibrated.mac_per_s)),
        )?;
        page.gauges(
            "node_samples_bytes_per_second",
            "Rate of the interface of the node's samples, by its settings.",
            [alone(*bytes_per_s)],
        )
    }

    fn tenants(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let gauges: [TenantGauge; 4] = [
            ("tenant_cores", "Cores that a tenant has.", |one| Some(one.has.cores)),
            ("tenant_runs", "Runs of a tenant that have not ended.", |one| Some(one.has.runs)),
            (
                "tenant_quota_cores",
                "Cores that a tenant may have; missing where only the node's are the limit.",
                |one| one.quota.cores,
            ),
            ("tenant_quota_runs", "Runs that a tenant may have; missing where there is no limit.", |one| {
                one.quota.runs
            }),
        ];
        gauges.into_iter().try_for_each(|(name, help, of)| {
            let all = self.facts.tenants.iter();
            page.gauges(name, help, all.filter_map(|one| Some((labels([("tenant", one.tenant.name())]), of(one)?))))
        })
    }

    fn messages(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let messages = &self.messages;
        page.counters("questions", "Requests that the node got.", [alone(messages.questions())])?;
        page.counters("orders", "Orders that the node carried out.", by("order", messages.orders()))?;
        let refused = by("reason", messages.refusals());
        page.counters("messages_refused", "Messages to the node that changed nothing.", refused)?;
        let help = "Peers without a certificate of the cluster, which TLS refused.";
        page.counters("peers_refused", help, [alone(self.refused_peers)])
    }

    fn heartbeats(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let Heartbeats { sent, unsent, received, refused } = self.heartbeats;
        page.counters("heartbeats_sent", "Heartbeats of the node, one for each of its runs.", [alone(sent)])?;
        page.counters("heartbeats_unsent", "Heartbeats of the node that Zenoh did not take.", [alone(unsent)])?;
        page.counters("heartbeats_received", "Heartbeats of other members that counted.", [alone(received)])?;
        let refused = by("reason", Uncounted::NAMES.into_iter().zip(refused));
        page.counters("heartbeats_refused", "Heartbeats that did not count.", refused)
    }

    fn runs(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let there = |stage| self.runs.iter().filter(|run| run.stage == stage).count();
        let stages = by("stage", Stage::ALL.into_iter().map(|(stage, name)| (name, there(stage))));
        page.gauges("runs", "Runs on the node.", stages)?;
        page.counters("runs_started", "Runs that the node began to execute.", [alone(self.sums.started)])?;
        let ended = by("how", How::NAMES.into_iter().zip(self.sums.ended));
        page.counters("runs_ended", "Runs that were executed here and have ended.", ended)
    }

    /// Runs that are executed now.
    fn executed(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let executed = || self.runs.iter().filter(|run| run.stage == Stage::Executing);
        let infos = executed().map(|run| {
            let RunFacts { run, tenant, waveform, manager, .. } = &run.facts;
            let whose =
                [("run", run.as_str()), ("tenant", tenant.name()), ("waveform", waveform), ("manager", manager)];
            (labels(whose), 1_u64)
        });
        page.gauges("run_info", "1; the labels say whose run it is.", infos)?;
        RUN_GAUGES.into_iter().try_for_each(|(name, help, of)| {
            let known = executed().filter_map(|run| Some((labels([("run", &run.facts.run)]), of(run)?)));
            page.gauges(name, help, known)
        })
    }
}

/// The name of a gauge of tenants, what it is, and where that stands.
type TenantGauge = (&'static str, &'static str, fn(&TenantFacts) -> Option<u32>);
/// The same of runs that are executed.
type RunGauge = (&'static str, &'static str, fn(&RunFigures) -> Option<f64>);

const RUN_GAUGES: [RunGauge; 8] = [
    ("run_slot", "The physical slot that a run is in.", |run| Some(run.facts.slot as f64)),
    ("run_slot_seconds", "Length of its slots.", |run| Some(seconds(run.slot_ns))),
    ("run_watched", "1 if the node receives its manager's heartbeats.", |run| {
        Some(f64::from(u8::from(run.facts.watched)))
    }),
    ("run_lease_seconds", "How long the node may go on if no other member reaches it.", |run| {
        Some(seconds(run.lease_ns))
    }),
    ("run_clock_offset_seconds", "Clock of the run's reference less the node's, as estimated.", |run| {
        Some(run.offset_ns as f64 / 1e9)
    }),
    ("run_clock_offset_bound_seconds", "How far off that is at most.", |run| Some(seconds(run.offset_bound_ns))),
    ("run_clock_drift_ratio", "How fast the offset grows.", |run| Some(f64::from(run.drift?.ppb) / 1e9)),
    ("run_clock_drift_bound_ratio", "How far off that is at most.", |run| Some(f64::from(run.drift?.bound_ppb) / 1e9)),
];

fn components(page: &mut Page<'_, '_>, all: &Totals<ComponentTally>) -> fmt::Result {
    let times: Vec<_> = all.iter().map(|(series, tally)| (labels(of_component(series)), Times::of(tally))).collect();
    page.family("component_execution_seconds", "Execution times of a component.", &times)?;
    let missed = all.iter().flat_map(|(series, tally)| {
        let skipped = tally.missed.saturating_sub(tally.lost);
        let kinds = [("skipped", skipped), ("lost", tally.lost), ("late", tally.late), ("fault", tally.faults)];
        kinds.map(|(kind, count)| ([labels(of_component(series)), labels([("kind", kind)])].concat(), count))
    });
    page.counters("component_misses", "Logical slots of a component that it did not make.", missed)
}

fn of_component(series: &Series) -> [(&'static str, &str); 3] {
    [("tenant", &series.tenant), ("waveform", &series.waveform), ("component", &series.name)]
}

/// The name of a counter of links, what it counts, and where that stands.
type LinkCounter = (&'static str, &'static str, fn(&LinkTally) -> u64);

const SENT: [LinkCounter; 5] = [
    ("link_sent_slots", "Slots handed to the thread that sends.", |link| link.slots),
    ("link_sent_datagrams", "Datagrams sent.", |link| link.datagrams),
    ("link_sent_bytes", "UDP payloads of datagrams sent.", |link| link.bytes),
    ("link_unsent_datagrams", "Datagrams that the kernel would not send.", |link| link.unsent_datagrams),
    ("link_sent_crowded_slots", "Slots that found no room on their way out.", |link| link.crowded_slots),
];

const RECEIVED: [LinkCounter; 9] = [
    ("link_received_slots", "Slots that came whole and in time.", |link| link.slots),
    ("link_lost_slots", "Slots that were not there when they were needed.", |link| link.lost_slots),
    ("link_late_slots", "Slots among these that came whole after that.", |link| link.late_slots),
    ("link_missed_by_producer_slots", "Slots that the producer had missed.", |link| link.missed_slots),
    ("link_received_crowded_slots", "Slots that found no room on their way in.", |link| link.crowded_slots),
    ("link_received_datagrams", "Datagrams received.", |link| link.datagrams),
    ("link_received_bytes", "UDP payloads of datagrams received.", |link| link.bytes),
    ("link_late_datagrams", "Datagrams of slots that were over.", |link| link.late_datagrams),
    ("link_broken_datagrams", "Datagrams that fit no slot of the stream.", |link| link.broken_datagrams),
];

fn links(page: &mut Page<'_, '_>, counters: &[LinkCounter], all: &Totals<LinkTally>) -> fmt::Result {
    counters.iter().try_for_each(|&(name, help, of)| {
        let counts = all.iter().map(|(Series { tenant, waveform, name, peer }, tally)| {
            let whose = [("tenant", tenant.as_str()), ("waveform", waveform), ("output", name), ("peer", peer)];
            (labels(whose), of(tally))
        });
        page.counters(name, help, counts)
    })
}

#[cfg(test)]
mod tests {
    use super::super::page::{MOST_CHARS, TIMES_NS};
    use super::*;
    use crate::counts::Reason;
    use crate::tenant::Tenant;

    const DOCS: &str = include_str!("../../../../docs/reference/cluster.md");

    /// A page with a sample of each family: of a node with one run of one component and one link each way, by these names.
    fn page(name: &str) -> String {
        let tenants = serde_json::json!([{ "tenant": name, "quota": { "cores": 2, "runs": 1 }, "has": { "cores": 1, "runs": 1 } }]);
        let facts: NodeFacts = serde_json::from_value(serde_json::json!({
            "node": name, "version": "1.2.3", "class": name, "capacities": { "capacities": { "mac_per_s": 3e9 } },
            "cores": [1, 2], "busy": [2], "bytes_per_s": 1.25e8, "clock": "10.0.0.1:7", "runs": [], "tenants": tenants,
        }))
        .unwrap();
        let mut messages = Messages::default();
        messages.order("open");
        messages.refused(Reason::Replayed);
        messages.refused(Reason::Replayed);
        let tenant: Tenant = serde_json::from_value(name.into()).unwrap();
        let run = RunFacts {
            run: name.to_owned(),
            tenant,
            waveform: name.to_owned(),
            components: Vec::new(),
            slot: 7,
            manager: name.to_owned(),
            watched: true,
        };
        let figures = |stage| RunFigures {
            facts: run.clone(),
            stage,
            slot_ns: 10_000_000,
            offset_ns: -1_500,
            offset_bound_ns: 250,
            drift: Some(Drift { ppb: -12_300, bound_ppb: 4_100 }),
            lease_ns: 1_900_000_000,
        };
        let mut sums = Sums { started: 1, ended: [1, 0, 2], ..Sums::default() };
        let [tenant, waveform, component, peer] = [name; 4].map(str::to_owned);
        let series = Series { tenant, waveform, name: component, peer };
        let within = TIMES_NS.iter().map(|&ns| if ns < 50_000 { 0 } else { 4 }).collect();
        let tally = ComponentTally {
            executions: 5,
            within,
            sum_ns: 2_000_300_000,
            missed: 3,
            lost: 1,
            late: 2,
            ..ComponentTally::default()
        };
        sums.components.add(series.clone(), &tally);
        let link = LinkTally { slots: 10, bytes: 14_720, lost_slots: 2, late_slots: 1, ..LinkTally::default() };
        sums.sent.add(series.clone(), &link);
        sums.received.add(series, &link);
        let heartbeats = Heartbeats { sent: 9, received: 8, refused: [0, 0, 0, 0, 3, 0], unsent: 0 };
        let runs = [figures(Stage::Executing), figures(Stage::Ended)].into();
        let cluster = "lab".to_owned();
        Figures { cluster, facts, runs, messages, heartbeats, sums, refused_peers: 4 }.page().unwrap()
    }

    #[test]
    fn figures_are_on_the_page_in_base_units_once_each() {
        let page = page("a");
        for sample in [
            "takt_node_info{cluster=\"lab\",node=\"a\",class=\"a\"} 1",
            "takt_node_cores 2",
            "takt_node_busy_cores 1",
            "takt_node_core_multiply_accumulates_per_second 3000000000",
            "takt_tenant_quota_cores{tenant=\"a\"} 2",
            "takt_orders_total{order=\"open\"} 1",
            "takt_orders_total{order=\"stop\"} 0",
            "takt_messages_refused_total{reason=\"replayed\"} 2",
            "takt_messages_refused_total{reason=\"unsigned\"} 0",
            "takt_peers_refused_total 4",
            "takt_heartbeats_refused_total{reason=\"replayed\"} 3",
            "takt_runs{stage=\"executing\"} 1",
            "takt_runs_ended_total{how=\"cut_off\"} 2",
            "takt_run_lease_seconds{run=\"a\"} 1.9",
            "takt_run_clock_offset_seconds{run=\"a\"} -0.0000015",
            "takt_run_clock_drift_ratio{run=\"a\"} -0.0000123",
            "takt_run_clock_drift_bound_ratio{run=\"a\"} 0.0000041",
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"2e-05\"} 0",
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"5e-05\"} 4",
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"1\"} 4",
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"+Inf\"} 5",
            "takt_component_execution_seconds_sum{tenant=\"a\",waveform=\"a\",component=\"a\"} 2.0003",
            "takt_component_misses_total{tenant=\"a\",waveform=\"a\",component=\"a\",kind=\"skipped\"} 2",
            "takt_component_misses_total{tenant=\"a\",waveform=\"a\",component=\"a\",kind=\"lost\"} 1",
            "takt_link_received_bytes_total{tenant=\"a\",waveform=\"a\",output=\"a\",peer=\"a\"} 14720",
            "takt_link_lost_slots_total{tenant=\"a\",waveform=\"a\",output=\"a\",peer=\"a\"} 2",
        ] {
            let there = page.lines().filter(|line| !line.starts_with('#')).filter(|line| value(line) == value(sample));
            assert_eq!(there.count(), 1, "{sample}\n{page}");
        }
    }

    /// A sample's name with its labels, and its value however it is written.
    fn value(sample: &str) -> (&str, f64) {
        let (name, value) = sample.rsplit_once(' ').unwrap();
        (name, value.parse().unwrap())
    }

    #[test]
    fn a_hostile_name_is_one_value_of_bounded_length() {
        let page = page(&format!("a\"}} 7\nup{{x=\"\\\u{1b}[2J\r{}", "é".repeat(10_000)));
        let line = page.lines().find(|line| line.starts_with("takt_tenant_cores{")).expect("a sample");
        let (begin, end) = ("takt_tenant_cores{tenant=\"a\\\"} 7\\nup{x=\\\"\\\\\u{fffd}[2J\u{fffd}é", "é\"} 1");
        assert!(line.starts_with(begin) && line.ends_with(end), "{line}");
        assert_eq!(line.matches('é').count() + 18, MOST_CHARS);
        assert!(!page.chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn what_names_say_makes_no_line_of_the_page() {
        let hostile = "x\"} 1\n# TYPE takt_up gauge\ntakt_up{y=\"\\";
        let metrics = |name: &str| -> Vec<String> {
            page(name).lines().map(|line| line.split(['{', '"']).next().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(metrics(hostile), metrics("a"));
    }

    #[test]
    fn the_reference_has_a_row_for_each_metric_and_no_other() {
        let page = page("a");
        let families = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let mut shown: Vec<(String, String)> = families
            .filter_map(|line| line.split_once(' '))
            .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
            .collect();
        let mut documented = Vec::new();
        for row in DOCS.lines().filter(|line| line.starts_with("| `takt_")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let names = cells[1].split(", ").map(|name| name.trim_matches('`').to_owned());
            documented.extend(names.map(|name| (name, cells[2].to_owned())));
        }
        shown.sort();
        documented.sort();
        assert_eq!(shown, documented);
    }
}
