//! Figures of a node for Prometheus. The table in `docs/reference/cluster.md` has a row for each.

use takt_bridge::LinkTally;
use takt_bridge::clock::Drift;
use takt_runtime::ComponentTally;

use super::counts::{Heartbeats, Messages, Uncounted};
use super::text::{Family, MetricKind, Page};
use super::totals::{How, Series, Sums, Totals};
use crate::message::{NodeFacts, RunFacts};

/// Upper ends of the histogram of execution times: 1, 2 and 5 of each decade from a microsecond to a second.
pub(crate) const TIMES_NS: [u64; 19] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
];

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

/// The name of a gauge of runs, what it is, and where that stands.
type RunGauge = (&'static str, &'static str, fn(&RunFigures) -> f64);
/// The same of what is known of a drift.
type DriftGauge = (&'static str, &'static str, fn(Drift) -> f64);

/// All that a page is made of.
pub(crate) struct Figures<'a> {
    pub(crate) cluster: &'a str,
    pub(crate) facts: &'a NodeFacts,
    pub(crate) runs: &'a [RunFigures],
    pub(crate) messages: &'a Messages,
    pub(crate) heartbeats: Heartbeats,
    pub(crate) sums: &'a Sums,
    /// Peers that TLS refused.
    pub(crate) refused_peers: u64,
}

impl Figures<'_> {
    /// The page.
    pub(crate) fn page(&self) -> String {
        let mut page = Page::default();
        self.node(&mut page);
        self.tenants(&mut page);
        self.messages(&mut page);
        self.runs(&mut page);
        components(&mut page, &self.sums.components);
        links(&mut page, self.sums);
        page.done()
    }

    fn node(&self, page: &mut Page) {
        let NodeFacts { node, version, class, cores, busy, agents, capacities, bytes_per_s, .. } = self.facts;
        page.gauge("takt_build_info", "1; the label has the version.").count(&[("version", version)], 1);
        let labels = [("cluster", self.cluster), ("node", node.as_str()), ("class", class.as_str())];
        page.gauge("takt_node_info", "1; the labels have the node's name and the class of its cores.")
            .count(&labels, 1);
        page.gauge("takt_node_cores", "Cores on which the node lets workers run.").count(&[], cores.len() as u64);
        page.gauge("takt_node_busy_cores", "Cores among these that have a worker or an agent.")
            .count(&[], busy.len() as u64);
        page.gauge("takt_node_agents", "Agents of labs on the node.").count(&[], agents.len() as u64);
        let mut rate = page.gauge(
            "takt_node_core_multiply_accumulates_per_second",
            "Multiply-accumulate operations that a core does a second, as calibrated when the node began.",
        );
        if let Some(capacities) = capacities.capacities {
            rate.figure(&[], capacities.mac_per_s);
        }
        page.gauge(
            "takt_node_samples_bytes_per_second",
            "Rate of the interface of the node's samples, by its settings.",
        )
        .figure(&[], *bytes_per_s);
    }

    fn tenants(&self, page: &mut Page) {
        let all = &self.facts.tenants;
        each(&mut page.gauge("takt_tenant_cores", "Cores that a tenant has."), all, |one, family| {
            family.count(&[("tenant", one.tenant.name())], one.has.cores.into());
        });
        each(&mut page.gauge("takt_tenant_runs", "Runs of a tenant that have not ended."), all, |one, family| {
            family.count(&[("tenant", one.tenant.name())], one.has.runs.into());
        });
        let quota = |family: &mut Family<'_>, tenant: &str, most: Option<u32>| {
            if let Some(most) = most {
                family.count(&[("tenant", tenant)], most.into());
            }
        };
        let help = "Cores that a tenant may have; missing where only the node's are the limit.";
        each(&mut page.gauge("takt_tenant_quota_cores", help), all, |one, family| {
            quota(family, one.tenant.name(), one.quota.cores);
        });
        let help = "Runs that a tenant may have; missing where there is no limit.";
        each(&mut page.gauge("takt_tenant_quota_runs", help), all, |one, family| {
            quota(family, one.tenant.name(), one.quota.runs);
        });
    }

    fn messages(&self, page: &mut Page) {
        page.counter("takt_questions_total", "Requests that the node got.").count(&[], self.messages.questions());
        let mut orders = page.counter("takt_orders_total", "Orders that the node carried out.");
        self.messages.orders().for_each(|(name, count)| orders.count(&[("order", name)], count));
        let mut refused = page.counter("takt_messages_refused_total", "Messages to the node that changed nothing.");
        self.messages.refusals().for_each(|(reason, count)| refused.count(&[("reason", reason)], count));
        page.counter("takt_peers_refused_total", "Peers without a certificate of the cluster, which TLS refused.")
            .count(&[], self.refused_peers);
        let Heartbeats { sent, unsent, received, refused } = self.heartbeats;
        page.counter("takt_heartbeats_sent_total", "Heartbeats of the node, one for each of its runs.")
            .count(&[], sent);
        page.counter("takt_heartbeats_unsent_total", "Heartbeats of the node that Zenoh did not take.")
            .count(&[], unsent);
        page.counter("takt_heartbeats_received_total", "Heartbeats of other members that counted.")
            .count(&[], received);
        let mut family = page.counter("takt_heartbeats_refused_total", "Heartbeats that did not count.");
        let by_reason = Uncounted::NAMES.into_iter().zip(refused);
        by_reason.for_each(|(reason, count)| family.count(&[("reason", reason)], count));
    }

    fn runs(&self, page: &mut Page) {
        let mut stages = page.gauge("takt_runs", "Runs on the node.");
        for (stage, name) in Stage::ALL {
            let there = self.runs.iter().filter(|run| run.stage == stage).count();
            stages.count(&[("stage", name)], there as u64);
        }
        page.counter("takt_runs_started_total", "Runs that the node began to execute.").count(&[], self.sums.started);
        let mut ended = page.counter("takt_runs_ended_total", "Runs that were executed here and have ended.");
        How::NAMES.into_iter().zip(self.sums.ended).for_each(|(how, count)| ended.count(&[("how", how)], count));
        let executed: Vec<&RunFigures> = self.runs.iter().filter(|run| run.stage == Stage::Executing).collect();
        each(&mut page.gauge("takt_run_info", "1; the labels say whose run it is."), &executed, |run, family| {
            let RunFacts { run, tenant, waveform, manager, .. } = &run.facts;
            family.count(&[("run", run), ("tenant", tenant.name()), ("waveform", waveform), ("manager", manager)], 1);
        });
        let figures: [RunGauge; 6] = [
            ("takt_run_slot", "The physical slot that a run is in.", |run| run.facts.slot as f64),
            ("takt_run_slot_seconds", "Length of its slots.", |run| seconds(run.slot_ns)),
            ("takt_run_watched", "1 if the node receives its manager's heartbeats.", |run| {
                f64::from(u8::from(run.facts.watched))
            }),
            ("takt_run_lease_seconds", "How long the node may go on if no other member reaches it.", |run| {
                seconds(run.lease_ns)
            }),
            ("takt_run_clock_offset_seconds", "Clock of the run's reference less the node's, as estimated.", |run| {
                run.offset_ns as f64 / 1e9
            }),
            ("takt_run_clock_offset_bound_seconds", "How far off that is at most.", |run| seconds(run.offset_bound_ns)),
        ];
        for (name, help, of) in figures {
            each(&mut page.gauge(name, help), &executed, |run, family| {
                family.figure(&[("run", &run.facts.run)], of(run));
            });
        }
        let drifts: [DriftGauge; 2] = [
            ("takt_run_clock_drift_ratio", "How fast the offset grows.", |drift| f64::from(drift.ppb) / 1e9),
            ("takt_run_clock_drift_bound_ratio", "How far off that is at most.", |drift| {
                f64::from(drift.bound_ppb) / 1e9
            }),
        ];
        for (name, help, of) in drifts {
            each(&mut page.gauge(name, help), &executed, |run, family| {
                if let Some(drift) = run.drift {
                    family.figure(&[("run", &run.facts.run)], of(drift));
                }
            });
        }
    }
}

fn components(page: &mut Page, all: &Totals<ComponentTally>) {
    let help = "Execution times of a component.";
    let mut times = page.family("takt_component_execution_seconds", MetricKind::Histogram, help);
    for (series, tally) in all.iter() {
        let up_to = |at: usize| tally.within.get(at).copied().unwrap_or(0);
        let within: Vec<(f64, u64)> = TIMES_NS.iter().enumerate().map(|(at, &ns)| (seconds(ns), up_to(at))).collect();
        times.histogram(&of_component(series), &within, tally.executions, seconds(tally.sum_ns));
    }
    let mut missed = page.counter("takt_component_misses_total", "Logical slots of a component that it did not make.");
    for (series, tally) in all.iter() {
        let skipped = tally.missed.saturating_sub(tally.lost);
        let kinds = [("skipped", skipped), ("lost", tally.lost), ("late", tally.late), ("fault", tally.faults)];
        for (kind, count) in kinds {
            missed.count(&[&of_component(series)[..], &[("kind", kind)]].concat(), count);
        }
    }
}

fn of_component(series: &Series) -> [(&'static str, &str); 3] {
    [("tenant", &series.tenant), ("waveform", &series.waveform), ("component", &series.name)]
}

/// The name of a counter of links, what it counts, and where that stands.
type LinkCounter = (&'static str, &'static str, fn(&LinkTally) -> u64);

const SENT: [LinkCounter; 5] = [
    ("takt_link_sent_slots_total", "Slots handed to the thread that sends.", |link| link.slots),
    ("takt_link_sent_datagrams_total", "Datagrams sent.", |link| link.datagrams),
    ("takt_link_sent_bytes_total", "UDP payloads of datagrams sent.", |link| link.bytes),
    ("takt_link_unsent_datagrams_total", "Datagrams that the kernel would not send.", |link| link.unsent_datagrams),
    ("takt_link_sent_crowded_slots_total", "Slots that found no room on their way out.", |link| link.crowded_slots),
];

const RECEIVED: [LinkCounter; 9] = [
    ("takt_link_received_slots_total", "Slots that came whole and in time.", |link| link.slots),
    ("takt_link_lost_slots_total", "Slots that were not there when they were needed.", |link| link.lost_slots),
    ("takt_link_late_slots_total", "Slots among these that came whole after that.", |link| link.late_slots),
    ("takt_link_missed_by_producer_slots_total", "Slots that the producer had missed.", |link| link.missed_slots),
    ("takt_link_received_crowded_slots_total", "Slots that found no room on their way in.", |link| link.crowded_slots),
    ("takt_link_received_datagrams_total", "Datagrams received.", |link| link.datagrams),
    ("takt_link_received_bytes_total", "UDP payloads of datagrams received.", |link| link.bytes),
    ("takt_link_late_datagrams_total", "Datagrams of slots that were over.", |link| link.late_datagrams),
    ("takt_link_broken_datagrams_total", "Datagrams that fit no slot of the stream.", |link| link.broken_datagrams),
];

fn links(page: &mut Page, sums: &Sums) {
    let sent = SENT.iter().map(|counter| (counter, &sums.sent));
    for (&(name, help, of), all) in sent.chain(RECEIVED.iter().map(|counter| (counter, &sums.received))) {
        let mut family = page.counter(name, help);
        for (Series { tenant, waveform, name, peer }, tally) in all.iter() {
            let labels = [("tenant", tenant.as_str()), ("waveform", waveform), ("output", name), ("peer", peer)];
            family.count(&labels, of(tally));
        }
    }
}

/// A family's samples, of all that has some.
fn each<T>(family: &mut Family<'_>, all: &[T], mut of: impl FnMut(&T, &mut Family<'_>)) {
    all.iter().for_each(|one| of(one, family));
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::counts::Reason;
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
        let runs = [figures(Stage::Executing), figures(Stage::Ended)];
        let (messages, sums) = (&messages, &sums);
        Figures { cluster: "lab", facts: &facts, runs: &runs, messages, heartbeats, sums, refused_peers: 4 }.page()
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
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"0.00002\"} 0",
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"0.00005\"} 4",
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"1\"} 4",
            "takt_component_execution_seconds_bucket{tenant=\"a\",waveform=\"a\",component=\"a\",le=\"+Inf\"} 5",
            "takt_component_execution_seconds_sum{tenant=\"a\",waveform=\"a\",component=\"a\"} 2.0003",
            "takt_component_misses_total{tenant=\"a\",waveform=\"a\",component=\"a\",kind=\"skipped\"} 2",
            "takt_component_misses_total{tenant=\"a\",waveform=\"a\",component=\"a\",kind=\"lost\"} 1",
            "takt_link_received_bytes_total{tenant=\"a\",waveform=\"a\",output=\"a\",peer=\"a\"} 14720",
            "takt_link_lost_slots_total{tenant=\"a\",waveform=\"a\",output=\"a\",peer=\"a\"} 2",
        ] {
            assert_eq!(page.lines().filter(|line| *line == sample).count(), 1, "{sample}\n{page}");
        }
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
