//! Calls that outlast their request, as tasks: the extension `io.modelcontextprotocol/tasks`.
//!
//! A call of a client that knows tasks answers its request if it ends within [`PATIENCE`].
//! Otherwise the answer is a task's identifier, and the call continues; `tasks/get` gives its
//! result, `tasks/cancel` ends it. All handlers of a server share the table, because requests of a
//! protocol version without connections have a handler each.
//!
//! # Invariants
//! - A task belongs to the session in which its call runs. Only clients of that session that may use
//!   the call's tool find it.
//! - A table holds at most [`TASKS`] tasks, [`PER_SESSION`] of one session, and [`RESULTS`] bytes of
//!   results. A call for which there is no room answers its request, however long it takes.
//!
//! # Deliberately absent
//! - `input_required`: no tool asks the client for anything, so `tasks/update` has no effect.
//! - Tasks that outlive the server. The commit of a call that has ended does, in the session's
//!   history.
//! - `notifications/tasks`, because requests without a connection have nobody to notify.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, DetailedTask, Task, TaskPayload, TaskStatus};
use rmcp::task_manager::current_timestamp;
use rmcp::transport::common::server_side_http::session_id;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wasibox_actions::{CallStop, ToolScope};

/// The time after which a call becomes a task.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of tasks, and of those of one session.
const TASKS: usize = 512;
const PER_SESSION: usize = 32;
/// The maximum number of bytes of all results. The oldest are removed for new ones.
const RESULTS: usize = 256 << 20;
/// The time for which a result is kept.
const KEPT: Duration = Duration::from_secs(600);
/// The time between two questions of a client, in milliseconds.
const INTERVAL: u64 = 1000;

/// The tasks of a server.
pub struct TaskTable {
    all: Mutex<HashMap<String, TaskEntry>>,
    /// The maximum number of bytes of all results.
    most: usize,
}

impl Default for TaskTable {
    fn default() -> TaskTable {
        TaskTable { all: Mutex::default(), most: RESULTS }
    }
}

/// The clients that may use a task.
pub struct TaskOwner {
    /// The name of the call's session, with its owner's prefix.
    pub session: String,
    /// The scope of the call's tool.
    pub scope: ToolScope,
}

struct TaskEntry {
    owner: TaskOwner,
    task: Task,
    begun: Instant,
    stop: Arc<CallStop>,
    is_cancelled: bool,
    ended: Option<TaskEnd>,
}

struct TaskEnd {
    payload: TaskPayload,
    bytes: usize,
    at: Instant,
}

impl TaskTable {
    /// Makes a task of a running call, or returns `None` if there are too many.
    pub fn begin(&self, owner: TaskOwner, tool: &str, stop: &Arc<CallStop>) -> Option<Task> {
        let mut all = self.lock();
        forget_old(&mut all);
        let of_session = all.values().filter(|entry| entry.owner.session == owner.session);
        if all.len() >= TASKS || of_session.count() >= PER_SESSION {
            return None;
        }
        let (id, now) = (session_id().to_string(), current_timestamp());
        let task = Task::new(id.clone(), TaskStatus::Working, now.clone(), now)
            .with_poll_interval_ms(INTERVAL)
            .with_status_message(format!("{tool} is running"));
        let entry = TaskEntry {
            owner,
            task: task.clone(),
            begun: Instant::now(),
            stop: stop.clone(),
            is_cancelled: false,
            ended: None,
        };
        all.insert(id, entry);
        Some(task)
    }

    /// Sets the end of a task's call.
    pub fn end(&self, id: &str, done: Result<CallToolResult, ErrorData>) {
        let mut all = self.lock();
        let Some(entry) = all.get_mut(id) else { return };
        let payload = match done {
            // What a call has done until it was cancelled is of no use to a client that gave up.
            _ if entry.is_cancelled => TaskPayload::Cancelled,
            Ok(result) => {
                TaskPayload::Completed { result: object_of(serde_json::to_value(result)) }
            }
            Err(error) => TaskPayload::Failed { error: object_of(serde_json::to_value(error)) },
        };
        let bytes = match &payload {
            TaskPayload::Completed { result } => {
                serde_json::to_vec(result).map_or(0, |json| json.len())
            }
            _ => 0,
        };
        let end = TaskEnd { payload, bytes, at: Instant::now() };
        let kept = end.at.duration_since(entry.begun) + KEPT;
        entry.task.ttl_ms = Some(u64::try_from(kept.as_millis()).unwrap_or(u64::MAX));
        entry.task.last_updated_at = current_timestamp();
        entry.task.status_message = None;
        entry.ended = Some(end);
        forget_large(&mut all, self.most, id);
    }

    /// Returns the state of a task, with its result if it has ended.
    ///
    /// # Errors
    /// Returns an error if there is no such task for a client with this session and these scopes.
    pub fn get(
        &self,
        id: &str,
        session: &str,
        scopes: &[ToolScope],
    ) -> Result<DetailedTask, ErrorData> {
        let mut all = self.lock();
        let entry = find(&mut all, id, session, scopes)?;
        let payload = entry.ended.as_ref().map_or(TaskPayload::Working, |end| end.payload.clone());
        Ok(DetailedTask::new(entry.task.clone(), payload))
    }

    /// Ends a task's call, if it is still running.
    ///
    /// # Errors
    /// The same as [`TaskTable::get`].
    pub fn cancel(&self, id: &str, session: &str, scopes: &[ToolScope]) -> Result<(), ErrorData> {
        let mut all = self.lock();
        let entry = find(&mut all, id, session, scopes)?;
        if entry.ended.is_none() {
            entry.is_cancelled = true;
            entry.stop.stop();
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, TaskEntry>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find<'a>(
    all: &'a mut HashMap<String, TaskEntry>,
    id: &str,
    session: &str,
    scopes: &[ToolScope],
) -> Result<&'a mut TaskEntry, ErrorData> {
    forget_old(all);
    let is_theirs = |entry: &&mut TaskEntry| {
        entry.owner.session == session && scopes.contains(&entry.owner.scope)
    };
    let missing = || ErrorData::invalid_params("there is no such task", None);
    all.get_mut(id).filter(is_theirs).ok_or_else(missing)
}

/// Removes tasks whose results were kept long enough.
fn forget_old(all: &mut HashMap<String, TaskEntry>) {
    all.retain(|_, entry| entry.ended.as_ref().is_none_or(|end| end.at.elapsed() < KEPT));
}

/// Removes the oldest results, but not that of `newest`, until all have at most `most` bytes.
fn forget_large(all: &mut HashMap<String, TaskEntry>, most: usize, newest: &str) {
    let bytes = |entry: &TaskEntry| entry.ended.as_ref().map_or(0, |end| end.bytes);
    let mut sum: usize = all.values().map(bytes).sum();
    while sum > most {
        let ended = all.iter().filter(|(id, _)| *id != newest);
        let ended = ended.filter_map(|(id, entry)| Some((entry.ended.as_ref()?.at, id.clone())));
        let Some((_, oldest)) = ended.min() else { return };
        sum -= all.remove(&oldest).as_ref().map_or(0, bytes);
    }
}

fn object_of(value: serde_json::Result<Value>) -> Map<String, Value> {
    match value {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ContentBlock;

    fn begin(table: &TaskTable, session: &str) -> Option<Task> {
        let owner = TaskOwner { session: session.into(), scope: ToolScope::Run };
        table.begin(owner, "sandbox_exec", &Arc::default())
    }

    fn result(text: &str) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    #[test]
    fn a_task_is_found_by_clients_of_its_session_that_may_use_its_tool() {
        let table = TaskTable::default();
        let id = begin(&table, "a.mcp").unwrap().task_id;
        let all = &ToolScope::ALL;
        assert_eq!(table.get(&id, "a.mcp", all).unwrap().status(), TaskStatus::Working);
        assert!(table.get(&id, "b.mcp", all).is_err() && table.cancel(&id, "b.mcp", all).is_err());
        assert!(table.get(&id, "a.mcp", &[ToolScope::Read]).is_err());
        assert!(table.get("", "a.mcp", all).is_err());
        table.end(&id, Ok(result("done")));
        let found = table.get(&id, "a.mcp", all).unwrap();
        let TaskPayload::Completed { result } = found.payload else { panic!("{found:?}") };
        assert_eq!(result["content"][0]["text"], "done");
        assert!(found.task.ttl_ms.unwrap() >= 600_000);
        // A call that has ended cannot be cancelled any more.
        table.cancel(&id, "a.mcp", all).unwrap();
        assert_eq!(table.get(&id, "a.mcp", all).unwrap().status(), TaskStatus::Completed);
    }

    #[test]
    fn a_cancelled_task_is_that_whatever_its_call_says() {
        let table = TaskTable::default();
        let id = begin(&table, "s").unwrap().task_id;
        table.cancel(&id, "s", &ToolScope::ALL).unwrap();
        assert_eq!(table.get(&id, "s", &ToolScope::ALL).unwrap().status(), TaskStatus::Working);
        table.end(&id, Ok(result("half")));
        assert_eq!(table.get(&id, "s", &ToolScope::ALL).unwrap().status(), TaskStatus::Cancelled);
    }

    #[test]
    fn tasks_and_results_are_limited() {
        let table = TaskTable { most: 2500, ..TaskTable::default() };
        let first: Vec<Task> = (0..PER_SESSION).map(|_| begin(&table, "s").unwrap()).collect();
        assert!(begin(&table, "s").is_none());
        assert!(begin(&table, "other").is_some());
        // Three of these results are too many.
        let large = "x".repeat(1000);
        for task in &first[..3] {
            table.end(&task.task_id, Ok(result(&large)));
        }
        let found = |at: usize| table.get(&first[at].task_id, "s", &ToolScope::ALL);
        assert!(found(0).is_err());
        assert!(found(1).is_ok() && found(2).is_ok());
        assert!(begin(&table, "s").is_some());
    }
}
