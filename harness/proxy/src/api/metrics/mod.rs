//! `/metrics`: Prometheus' text format, version 0.0.4. Toxiproxy's names keep their meaning, and count while bytes go,
//! not only when a connection ends; what only this proxy knows is under `chaos_proxy_`.

mod process;
mod text;

use super::{Api, Reply};
use crate::core::Core;
use crate::link::Link;
use crate::traffic::Traffic;
use text::Text;

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Whether the path exists: only with a metrics flag.
pub(crate) fn are_there(api: &Api) -> bool {
    api.options.proxy_metrics || api.options.runtime_metrics
}

/// The answer to every method.
pub(crate) fn answer(api: &Api) -> Reply {
    let options = &api.options;
    let mut text = Text::default();
    if options.proxy_metrics {
        toxiproxy(&mut text, &api.core);
        links(&mut text, &api.core);
        rules(&mut text, &api.core);
        log(&mut text, &api.core);
    }
    if options.runtime_metrics {
        process::write(&mut text, &api.core.runtime);
    }
    text.family("promhttp_metric_handler_errors_total", "counter", "Errors while the metrics were written.");
    for cause in ["encoding", "gathering"] {
        text.sample("promhttp_metric_handler_errors_total", &[("cause", cause)], 0);
    }
    Reply::text(200, CONTENT_TYPE, text.finish())
}

/// The counters that Toxiproxy has.
fn toxiproxy(text: &mut Text, core: &Core) {
    let received: fn(&Traffic) -> u64 = Traffic::received;
    let sent: fn(&Traffic) -> u64 = Traffic::sent;
    // What goes upstream is received from the client and sent to the upstream; downstream it is the other way round.
    let families = [
        ("toxiproxy_proxy_received_bytes_total", "Bytes received by a proxy, by the direction they go.", received),
        ("toxiproxy_proxy_sent_bytes_total", "Bytes sent by a proxy, by the direction they go.", sent),
    ];
    let links = core.all();
    for (i, (name, help, bytes)) in families.into_iter().enumerate() {
        text.family(name, "counter", help);
        for link in &links {
            let (client, upstream) = (bytes(&link.flow.client), bytes(&link.flow.upstream));
            let (down, up) = if i == 0 { (upstream, client) } else { (client, upstream) };
            for (direction, n) in [("downstream", down), ("upstream", up)] {
                labelled(text, name, direction, link, n);
            }
        }
    }
}

fn labelled(text: &mut Text, name: &str, direction: &str, link: &Link, n: u64) {
    let (listener, upstream) = (link.listen(), link.target().address);
    let upstream = upstream.as_deref().unwrap_or_default();
    let labels = [("direction", direction), ("listener", &listener), ("proxy", &link.name), ("upstream", upstream)];
    text.sample(name, &labels, n);
}

fn links(text: &mut Text, core: &Core) {
    let links = core.all();
    text.family("chaos_proxy_link_enabled", "gauge", "Whether the link accepts connections.");
    for link in &links {
        text.sample("chaos_proxy_link_enabled", &[("link", &link.name)], u64::from(link.bound().is_some()));
    }
    text.family("chaos_proxy_connections_open", "gauge", "Connections that are open now.");
    for link in &links {
        text.sample("chaos_proxy_connections_open", &[("link", &link.name)], link.connections());
    }
    text.family("chaos_proxy_requests_in_flight", "gauge", "Requests that have arrived and have no record yet.");
    for link in &links {
        text.sample("chaos_proxy_requests_in_flight", &[("link", &link.name)], link.live.in_flight() as u64);
    }
    text.family("chaos_proxy_requests_arrived_total", "counter", "Requests whose head came.");
    for link in &links {
        text.sample("chaos_proxy_requests_arrived_total", &[("link", &link.name)], link.live.arrivals());
    }
    text.family("chaos_proxy_toxics", "gauge", "Toxics that are on the link now.");
    for link in &links {
        text.sample("chaos_proxy_toxics", &[("link", &link.name)], link.toxics.list().len() as u64);
    }
    let tally = core.log.tally();
    text.family("chaos_proxy_attempts_total", "counter", "Recorded requests, by how they ended for the client.");
    for (link, counts) in &tally.links {
        for (outcome, n) in &counts.attempts {
            text.sample("chaos_proxy_attempts_total", &[("link", link), ("outcome", outcome)], *n);
        }
    }
    text.family("chaos_proxy_connections_total", "counter", "Recorded connections, by how they ended.");
    for (link, counts) in &tally.links {
        for (outcome, n) in &counts.connections {
            text.sample("chaos_proxy_connections_total", &[("link", link), ("outcome", outcome)], *n);
        }
    }
}

fn rules(text: &mut Text, core: &Core) {
    let tally = core.log.tally();
    text.family("chaos_proxy_faults_total", "counter", "Recorded requests and connections that a rule struck.");
    for (rule, counts) in &tally.rules {
        text.sample("chaos_proxy_faults_total", &[("rule", rule)], counts.struck);
    }
    text.family("chaos_proxy_rule_armed", "gauge", "Whether a rule is in force that was armed under this id.");
    for (rule, counts) in &tally.rules {
        let armed = u64::from(counts.armed > counts.disarmed);
        text.sample("chaos_proxy_rule_armed", &[("rule", rule)], armed);
    }
    text.family("chaos_proxy_epoch", "gauge", "Epoch of the fault set in force; every arming and disarming adds one.");
    text.sample("chaos_proxy_epoch", &[], core.engine.epoch());
    text.family("chaos_proxy_spoiling_notes_total", "counter", "Notes that say that evidence is missing.");
    text.sample("chaos_proxy_spoiling_notes_total", &[], tally.spoils);
}

fn log(text: &mut Text, core: &Core) {
    let depth = core.log.depth();
    text.family("chaos_proxy_log_records", "gauge", "Records that the event log keeps now.");
    text.sample("chaos_proxy_log_records", &[], depth.records as u64);
    text.family("chaos_proxy_log_bytes", "gauge", "Memory that they take, closely estimated.");
    text.sample("chaos_proxy_log_bytes", &[], depth.bytes as u64);
    text.family("chaos_proxy_log_dropped_total", "counter", "Records for which the event log had no room.");
    text.sample("chaos_proxy_log_dropped_total", &[], depth.dropped);
    text.family("chaos_proxy_log_cursor", "counter", "Records that the event log took, drained ones included.");
    text.sample("chaos_proxy_log_cursor", &[], depth.next);
    let Some(spans) = core.otlp_stats() else { return };
    for (name, help, n) in [
        ("chaos_proxy_otlp_spans_sent_total", "Spans that the collector took.", spans.sent),
        ("chaos_proxy_otlp_spans_failed_total", "Spans that the collector did not take.", spans.failed),
        ("chaos_proxy_otlp_spans_dropped_total", "Spans dropped because too many were waiting.", spans.dropped),
        ("chaos_proxy_otlp_records_unseen_total", "Records that the exporter was too slow to look at.", spans.unseen),
    ] {
        text.family(name, "counter", help);
        text.sample(name, &[], n);
    }
}
