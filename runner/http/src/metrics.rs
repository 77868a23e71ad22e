//! Metrics, in Prometheus's text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wasibox::store::OwnerGrowth;

/// Upper bounds of a histogram's buckets, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 10.0, 60.0];

/// The counts since the server started.
#[derive(Default)]
pub struct Metrics(Mutex<HttpCounts>);

#[derive(Default)]
struct HttpCounts {
    /// The number of requests by method, route and status.
    requests: BTreeMap<(String, String, u16), u64>,
    /// The durations of requests by route.
    times: BTreeMap<String, TimeHistogram>,
    /// The number of calls by tool, and by whether the call was carried out.
    calls: BTreeMap<(&'static str, bool), u64>,
    cpu: Duration,
}

#[derive(Default)]
struct TimeHistogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

/// The current values of gauges.
pub struct GaugeReadings {
    pub running: usize,
    pub held: usize,
    pub awake: usize,
    /// Connections of the Model Context Protocol.
    pub connections: usize,
    /// The bytes that sessions take in the store.
    pub growth: Vec<OwnerGrowth>,
    /// The owner of the token that asks for the metrics.
    pub owner: String,
}

impl Metrics {
    /// Counts a finished request.
    pub fn count_request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.requests.entry((method.into(), route.into(), status)).or_default() += 1;
        let times = counts.times.entry(route.into()).or_default();
        let seconds = took.as_secs_f64();
        for (bucket, bound) in times.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
        times.count += 1;
        times.sum += seconds;
    }

    /// Counts a call of a tool.
    pub fn count_call(&self, tool: &'static str, is_done: bool, cpu: Duration) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.calls.entry((tool, is_done)).or_default() += 1;
        counts.cpu += cpu;
    }

    /// Returns all metrics as text.
    pub fn text(&self, now: &GaugeReadings) -> String {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        metric_head(
            &mut out,
            "wasibox_http_requests_total",
            "counter",
            "Requests that have ended.",
        );
        for ((method, route, status), n) in &counts.requests {
            let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
            let _ = writeln!(out, "wasibox_http_requests_total{{{labels}}} {n}");
        }
        let name = "wasibox_http_request_duration_seconds";
        metric_head(
            &mut out,
            name,
            "histogram",
            "The time from a request to the beginning of its answer.",
        );
        for (route, times) in &counts.times {
            for (n, bound) in times.buckets.iter().zip(BUCKETS) {
                let _ = writeln!(out, "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {n}");
            }
            let count = times.count;
            let _ = writeln!(out, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(out, "{name}_sum{{route=\"{route}\"}} {}", times.sum);
            let _ = writeln!(out, "{name}_count{{route=\"{route}\"}} {count}");
        }
        metric_head(&mut out, "wasibox_tool_calls_total", "counter", "Calls of tools by HTTP.");
        for ((tool, is_done), n) in &counts.calls {
            let _ =
                writeln!(out, "wasibox_tool_calls_total{{tool=\"{tool}\",done=\"{is_done}\"}} {n}");
        }
        let cpu = counts.cpu.as_secs_f64();
        metric_head(&mut out, "wasibox_guest_cpu_seconds_total", "counter", "CPU time of guests.");
        let _ = writeln!(out, "wasibox_guest_cpu_seconds_total {cpu}");
        for (name, help, n) in [
            ("wasibox_http_requests_running", "Requests that run.", now.running),
            ("wasibox_sessions_held", "Sessions that the server holds.", now.held),
            ("wasibox_sessions_awake", "Sessions that have a process.", now.awake),
            ("wasibox_mcp_connections", "Connections of MCP.", now.connections),
        ] {
            metric_head(&mut out, name, "gauge", help);
            let _ = writeln!(out, "{name} {n}");
        }
        let sum = |bytes: fn(&OwnerGrowth) -> u64| now.growth.iter().map(bytes).sum::<u64>();
        for (name, help, bytes) in [
            ("history", "The bytes that commits have added to the store.", sum(|o| o.history)),
            ("audit", "Sessions' logs.", sum(|o| o.audit)),
        ] {
            let name = format!("wasibox_store_{name}_bytes");
            metric_head(&mut out, &name, "gauge", help);
            let _ = writeln!(out, "{name} {bytes}");
        }
        // Only the figures of the requesting owner are shown, because an owner must not learn the
        // names of others.
        if let Some(own) = now.growth.iter().find(|o| o.owner == now.owner) {
            let OwnerGrowth { owner, history, audit } = own;
            for (name, bytes) in [("history", history), ("audit", audit)] {
                let name = format!("wasibox_token_{name}_bytes");
                metric_head(
                    &mut out,
                    &name,
                    "gauge",
                    "The bytes that the requesting token has added to the store.",
                );
                let _ = writeln!(out, "{name}{{owner=\"{owner}\"}} {bytes}");
            }
        }
        out
    }
}

fn metric_head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
