//! Kill, pause, connect, time limits, forks, snapshots.

use super::create::check_timeout;
use super::{Answered, ControlRequest, describe_access, done, found};
use crate::fault::{Fault, RpcCode};
use crate::record::{RecordKind, SandboxRecord, TIMEOUT, random_text};
use crate::sandbox::KnownBox;
use crate::time::now_ms;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use wasibox::files;

/// The seconds that a fork runs if its request names none.
const FORK_TIMEOUT: u64 = 15;
/// The maximum number of forks of one request.
const FORKS: u64 = 100;

#[derive(Default, Deserialize)]
#[serde(default)]
struct TimeRequest {
    timeout: Option<u64>,
    duration: Option<u64>,
    count: Option<u64>,
    name: Option<String>,
}

/// Returns a sandbox, which is no snapshot.
fn find_sandbox(request: &ControlRequest, id: &str) -> Result<Arc<KnownBox>, Fault> {
    let known = request.find(id)?;
    match known.record().kind {
        RecordKind::Sandbox => Ok(known),
        RecordKind::Snapshot => Err(Fault::missing(format!("{id} is a snapshot"))),
    }
}

/// `DELETE /sandboxes/{id}`.
pub fn kill(request: &ControlRequest, id: &str) -> Answered {
    let known = find_sandbox(request, id)?;
    request.app.registry.remove(&known)?;
    done()
}

/// `POST /sandboxes/{id}/pause`.
pub fn pause(request: &ControlRequest, id: &str) -> Answered {
    let known = find_sandbox(request, id)?;
    if !known.stop() {
        let text = format!("the sandbox {id} is paused already");
        return Err(Fault::with_status(StatusCode::CONFLICT, RpcCode::FailedPrecondition, text));
    }
    done()
}

/// `POST /sandboxes/{id}/connect` and `/resume`: wakes the sandbox up if it sleeps; its time is only
/// extended.
pub fn connect(request: &ControlRequest, id: &str) -> Answered {
    let known = find_sandbox(request, id)?;
    let asked: TimeRequest = request.body()?;
    let end = now_ms() + check_timeout(asked.timeout.unwrap_or(TIMEOUT))? * 1000;
    let runs = known.running().is_some();
    known.change_record(|record| record.end = if runs { record.end.max(end) } else { end })?;
    known.start()?;
    let status = if runs { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Some(describe_access(&known))))
}

/// `POST /sandboxes/{id}/timeout`.
pub fn set_timeout(request: &ControlRequest, id: &str) -> Answered {
    let known = find_running(request, id)?;
    let asked: TimeRequest = request.body()?;
    let timeout = asked.timeout.ok_or_else(|| Fault::invalid("timeout is missing"))?;
    let end = now_ms() + check_timeout(timeout)? * 1000;
    known.change_record(|record| record.end = end)?;
    done()
}

/// `POST /sandboxes/{id}/refreshes`.
pub fn refresh(request: &ControlRequest, id: &str) -> Answered {
    let known = find_running(request, id)?;
    let asked: TimeRequest = request.body()?;
    let end = now_ms() + check_timeout(asked.duration.unwrap_or(TIMEOUT))? * 1000;
    known.change_record(|record| record.end = record.end.max(end))?;
    done()
}

fn find_running(request: &ControlRequest, id: &str) -> Result<Arc<KnownBox>, Fault> {
    let known = find_sandbox(request, id)?;
    if known.running().is_some() {
        return Ok(known);
    }
    Err(Fault::missing(format!("the sandbox {id} does not run")))
}

/// Makes the session's last commit have everything that its processes have written.
fn write_down(known: &KnownBox) -> Result<(), Fault> {
    if let Some(running) = known.running() {
        let look = files::Request::Stat { path: "/".into(), follow: true };
        running.session.files(&look)?;
    }
    Ok(())
}

/// `POST /sandboxes/{id}/fork`.
pub fn fork(request: &ControlRequest, id: &str) -> Answered {
    let known = find_sandbox(request, id)?;
    let asked: TimeRequest = request.body()?;
    let timeout = check_timeout(asked.timeout.unwrap_or(FORK_TIMEOUT))?;
    let count = asked.count.unwrap_or(1);
    if !(1..=FORKS).contains(&count) {
        return Err(Fault::invalid(format!("count is 1 to {FORKS}")));
    }
    write_down(&known)?;
    let before = known.record();
    let record = || {
        let begun = SandboxRecord::begin(before.template.clone(), timeout)?;
        Ok(SandboxRecord {
            token: begun.token,
            started: begun.started,
            end: begun.end,
            ..before.clone()
        })
    };
    let records = (0..count).map(|_| record()).collect::<Result<Vec<_>, Fault>>()?;
    let made = request.app.registry.fork(&request.holder, id, records)?;
    let describe = |known: &Arc<KnownBox>| json!({ "sandbox": describe_access(known) });
    Ok((StatusCode::CREATED, Some(made.iter().map(describe).collect())))
}

/// `POST /sandboxes/{id}/snapshots`.
pub fn make_snapshot(request: &ControlRequest, id: &str) -> Answered {
    let known = find_sandbox(request, id)?;
    let asked: TimeRequest = request.body()?;
    write_down(&known)?;
    let record = SandboxRecord {
        kind: RecordKind::Snapshot,
        token: random_text(32)?,
        names: asked.name.into_iter().collect(),
        source: Some(id.to_owned()),
        ..known.record()
    };
    let made = request.app.registry.fork(&request.holder, id, vec![record])?;
    let snapshot = made.first().ok_or_else(Fault::internal)?;
    Ok((StatusCode::CREATED, Some(describe_snapshot(snapshot))))
}

/// Describes a snapshot.
pub fn describe_snapshot(known: &KnownBox) -> Value {
    json!({ "snapshotID": known.id, "names": known.record().names })
}

/// `DELETE /templates/{id}`: the packages remove snapshots so.
pub fn remove_snapshot(request: &ControlRequest, id: &str) -> Answered {
    let known = request.find(id)?;
    if known.record().kind != RecordKind::Snapshot {
        return Err(Fault::missing(format!("there is no snapshot {id}")));
    }
    request.app.registry.remove(&known)?;
    found(Value::Null).map(|_| (StatusCode::NO_CONTENT, None))
}
