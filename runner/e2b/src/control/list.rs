//! Lists with filters and pages, details, metrics, logs.

use super::life::describe_snapshot;
use super::{Answered, CLIENT, ControlRequest, decode, found, parse_query};
use crate::app::ENVD_VERSION;
use crate::fault::{Fault, json_response};
use crate::record::{OnTimeout, RecordKind, SandboxRecord};
use crate::sandbox::{KnownBox, UsageSample};
use crate::time::{format_ms, parse_ms};
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use wasibox_actions::ToolScope;

/// The number of entries of a page, by default and at most.
const PAGE: u64 = 100;
/// The header with the token of the next page.
const NEXT: &str = "x-next-token";

/// A sandbox with its record.
struct BoxEntry {
    known: Arc<KnownBox>,
    record: SandboxRecord,
}

impl BoxEntry {
    fn runs(&self) -> bool {
        self.known.running().is_some()
    }

    fn describe(&self, request: &ControlRequest) -> Value {
        let limits = &request.app.machine.policy().limits;
        json!({
            "sandboxID": self.known.id,
            "templateID": self.record.template,
            "alias": self.record.template,
            "clientID": CLIENT,
            "startedAt": format_ms(self.record.started),
            "endAt": format_ms(self.record.end),
            "cpuCount": 1,
            "memoryMB": limits.memory >> 20,
            "diskSizeMB": limits.disk.bytes >> 20,
            "metadata": self.record.metadata,
            "state": if self.runs() { "running" } else { "paused" },
            "envdVersion": ENVD_VERSION,
        })
    }
}

/// Returns the sandboxes that a query asks for, the newest first.
fn filter_boxes(request: &ControlRequest) -> Result<Vec<BoxEntry>, Fault> {
    let metadata: Vec<(String, String)> = request
        .parameter("metadata")
        .map(|text| parse_query(&text))
        .unwrap_or_default()
        .into_iter()
        .map(|(name, value)| (decode(&name, false), decode(&value, false)))
        .collect();
    let after = request.parameter("startedAfter");
    let after =
        after.map(|text| parse_ms(&text).ok_or_else(|| Fault::invalid("startedAfter is no date")));
    let after = after.transpose()?;
    let template = request.parameter("template");
    let all = request.app.registry.list(&request.holder, RecordKind::Sandbox)?;
    let entries = all.into_iter().map(|known| BoxEntry { record: known.record(), known });
    let is_asked = |entry: &BoxEntry| {
        metadata.iter().all(|(name, value)| entry.record.metadata.get(name) == Some(value))
            && after.is_none_or(|after| entry.record.started >= after)
            && template.as_ref().is_none_or(|template| entry.record.template == *template)
    };
    let mut entries: Vec<BoxEntry> = entries.filter(is_asked).collect();
    entries.sort_by(|a, b| (b.record.started, &b.known.id).cmp(&(a.record.started, &a.known.id)));
    Ok(entries)
}

/// `GET /sandboxes`: those that run.
pub fn list_running(request: &ControlRequest) -> Answered {
    let all = filter_boxes(request)?;
    found(all.iter().filter(|entry| entry.runs()).map(|entry| entry.describe(request)).collect())
}

/// `GET /v2/sandboxes`, `GET /snapshots`: one page, with the token of the next one in a header. The
/// token is the id of the page's last entry.
pub fn list_page(request: &ControlRequest, path: &str) -> Result<Response<Body>, Fault> {
    request.holder.check_scope(ToolScope::Read)?;
    let limit = request.number("limit")?.unwrap_or(PAGE);
    if !(1..=PAGE).contains(&limit) {
        return Err(Fault::invalid(format!("limit is 1 to {PAGE}")));
    }
    let all = if path == "/snapshots" { list_snapshots(request)? } else { list_boxes(request)? };
    let token = request.parameter("nextToken").filter(|token| !token.is_empty());
    let begin = match token {
        None => 0,
        Some(token) => {
            let place = all.iter().position(|(id, _)| *id == token);
            place.ok_or_else(|| Fault::invalid("nextToken is none of this list"))? + 1
        }
    };
    let end = all.len().min(begin + limit as usize);
    let page: Vec<Value> = all[begin..end].iter().map(|(_, document)| document.clone()).collect();
    let mut response = json_response(StatusCode::OK, &Value::Array(page));
    if end < all.len()
        && let Some((id, _)) = all[..end].last()
        && let Ok(token) = HeaderValue::from_str(id)
    {
        response.headers_mut().insert(NEXT, token);
    }
    Ok(response)
}

fn list_boxes(request: &ControlRequest) -> Result<Vec<(String, Value)>, Fault> {
    let states: Vec<String> = request
        .parameters("state")
        .iter()
        .flat_map(|text| text.split(','))
        .map(str::to_owned)
        .filter(|state| !state.is_empty())
        .collect();
    if states.iter().any(|state| !matches!(&**state, "running" | "paused")) {
        return Err(Fault::invalid("state is running or paused"));
    }
    let mut all = filter_boxes(request)?;
    if request.parameter("order").as_deref() == Some("asc") {
        all.reverse();
    }
    let state = |entry: &BoxEntry| if entry.runs() { "running" } else { "paused" };
    let is_asked =
        |entry: &&BoxEntry| states.is_empty() || states.iter().any(|s| s == state(entry));
    let entries = all.iter().filter(is_asked);
    Ok(entries.map(|entry| (entry.known.id.clone(), entry.describe(request))).collect())
}

fn list_snapshots(request: &ControlRequest) -> Result<Vec<(String, Value)>, Fault> {
    let (source, name) = (request.parameter("sandboxID"), request.parameter("name"));
    let mut all = request.app.registry.list(&request.holder, RecordKind::Snapshot)?;
    all.sort_by_key(|known| (std::cmp::Reverse(known.record().started), known.id.clone()));
    let is_asked = |known: &&Arc<KnownBox>| {
        let record = known.record();
        source.as_ref().is_none_or(|source| record.source.as_ref() == Some(source))
            && name.as_ref().is_none_or(|name| record.names.contains(name))
    };
    let all = all.iter().filter(is_asked);
    Ok(all.map(|known| (known.id.clone(), describe_snapshot(known))).collect())
}

/// `GET /sandboxes/{id}`.
pub fn get_sandbox(request: &ControlRequest, id: &str) -> Answered {
    let known = request.find(id)?;
    let record = known.record();
    if record.kind != RecordKind::Sandbox {
        return Err(Fault::missing(format!("there is no sandbox {id}")));
    }
    let on_timeout = match record.on_timeout {
        OnTimeout::Kill => "kill",
        OnTimeout::Pause => "pause",
    };
    let lifecycle = json!({ "autoResume": record.auto_resume, "onTimeout": on_timeout });
    let (token, grants) = (record.token.clone(), &request.app.machine.policy().network.allow);
    let mut document = BoxEntry { known, record }.describe(request);
    document["envdAccessToken"] = token.into();
    document["domain"] = Value::Null;
    document["lifecycle"] = lifecycle;
    document["allowInternetAccess"] = (!grants.is_empty()).into();
    found(document)
}

/// Describes samples: the CPU's share is that since the sample before.
fn describe_samples(request: &ControlRequest, samples: &[UsageSample]) -> Vec<Value> {
    let limits = &request.app.machine.policy().limits;
    let mut before: Option<UsageSample> = None;
    let describe = |sample: &UsageSample| {
        let passed = before.map_or(0, |b| sample.time.saturating_sub(b.time));
        let used = before.map_or(0, |b| sample.cpu_ms.saturating_sub(b.cpu_ms));
        before = Some(*sample);
        json!({
            "timestamp": format_ms(sample.time),
            "timestampUnix": sample.time / 1000,
            "cpuCount": 1,
            "cpuUsedPct": if passed == 0 { 0.0 } else { used as f64 * 100.0 / passed as f64 },
            "memUsed": sample.memory,
            "memTotal": limits.memory,
            "memCache": 0,
            "diskUsed": 0,
            "diskTotal": limits.disk.bytes,
        })
    };
    samples.iter().map(describe).collect()
}

/// `GET /sandboxes/{id}/metrics`.
pub fn get_metrics(request: &ControlRequest, id: &str) -> Answered {
    let known = request.find(id)?;
    let (start, end) = (request.number("start")?, request.number("end")?);
    let all = describe_samples(request, &known.samples());
    let is_asked = |sample: &Value| {
        let time = sample["timestampUnix"].as_u64().unwrap_or(0);
        start.is_none_or(|start| time >= start) && end.is_none_or(|end| time <= end)
    };
    found(all.into_iter().filter(is_asked).collect())
}

/// `GET /sandboxes/metrics`: the latest sample of each of these sandboxes.
pub fn latest_metrics(request: &ControlRequest) -> Answered {
    let ids = request.parameters("sandbox_ids");
    let mut all = serde_json::Map::new();
    for id in ids.iter().flat_map(|ids| ids.split(',')) {
        let Ok(known) = request.find(id) else { continue };
        if let Some(sample) = describe_samples(request, &known.samples()).pop() {
            all.insert(id.to_owned(), sample);
        }
    }
    found(json!({ "sandboxes": all }))
}

/// `GET /sandboxes/{id}/logs`: the processes that were begun and have ended.
pub fn get_logs(request: &ControlRequest, id: &str) -> Answered {
    let known = request.find(id)?;
    let entries = known.running().map(|running| running.processes.log()).unwrap_or_default();
    let line =
        |(time, line): &(u64, String)| json!({ "timestamp": format_ms(*time), "line": line });
    let entry = |(time, line): &(u64, String)| json!({ "timestamp": format_ms(*time), "message": line, "level": "info", "fields": {} });
    let lines: Vec<Value> = entries.iter().map(line).collect();
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    found(json!({ "logs": lines, "logEntries": entries }))
}
