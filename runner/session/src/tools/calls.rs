//! A session's calls of host tools, which the node `/.box/tools` serves.

use super::drive::{CallSlot, DriveResult, Ticket, drive_future};
use super::schema::STACK;
use super::{HostTool, MAX_TOOLS, ToolContext, ToolDefinitionError, bounds};
use box_abi::tools::{PART, ToolFailure, ToolsAnswer as Reply, ToolsRequest};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wasibox_sandbox::HostToolPolicy;
use wasibox_vfs::{AnswerSlot, Service};

/// Maximum number of queued calls.
const QUEUE: usize = 64;
/// Maximum bytes of results that are kept for guests that have read them in part.
const HELD: usize = 64 << 20;
/// Maximum number of log entries that are kept until the session's call ends, and maximum bytes of
/// arguments and texts in one entry.
const ENTRIES: usize = 10_000;
const LOGGED: usize = 1024;

/// The service for a session's host tools. Clones refer to the same service.
#[derive(Clone)]
pub(crate) struct ToolCalls(Arc<ToolCallsInner>);

pub(super) struct ToolCallsInner {
    policy: HostToolPolicy,
    state: Mutex<ToolCallsState>,
}

#[derive(Default)]
struct ToolCallsState {
    tools: BTreeMap<String, HostTool>,
    /// The names of tools that the session has had before.
    formerly: BTreeSet<String>,
    /// Whether a call of the session is running.
    is_open: bool,
    /// The number of tool calls in this call of the session; `bytes` is the size of their arguments
    /// and results.
    calls: u64,
    bytes: u64,
    next: u64,
    running: usize,
    queue: VecDeque<HostToolJob>,
    /// Tool calls whose end was not logged yet.
    active: HashMap<u64, ActiveToolCall>,
    /// Results that were read in part.
    results: HashMap<u64, Vec<u8>>,
    held: usize,
    log: Vec<String>,
}

/// The data about a tool call that is kept until its end.
struct ActiveToolCall {
    name: String,
    arguments: String,
    begun: Instant,
    ticket: Arc<Ticket>,
}

/// A tool call that is to run.
struct HostToolJob {
    number: u64,
    tool: HostTool,
    arguments: Vec<u8>,
    answer: AnswerSlot,
    ticket: Arc<Ticket>,
}

type Outcome = Result<Vec<u8>, (ToolFailure, String)>;

fn lock_state(m: &Mutex<ToolCallsState>) -> MutexGuard<'_, ToolCallsState> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failure_reply(kind: ToolFailure, why: impl Into<String>) -> Reply {
    Reply::Failed(kind, why.into().into_bytes())
}

impl ToolCalls {
    /// Makes a service without tools, whose calls need the permission of this policy.
    pub fn new(policy: HostToolPolicy) -> ToolCalls {
        ToolCalls(Arc::new(ToolCallsInner { policy, state: Mutex::default() }))
    }

    /// Sets the session's tools.
    ///
    /// # Errors
    /// If two have one name, or there are too many.
    pub fn set(
        &self,
        tools: impl IntoIterator<Item = HostTool>,
    ) -> Result<(), ToolDefinitionError> {
        let tools = by_name(tools)?;
        lock_state(&self.0.state).tools = tools;
        Ok(())
    }

    /// Sets the session's tools, which were checked before.
    pub fn replace_tools(&self, tools: Vec<HostTool>) {
        let tools = tools.into_iter().map(|tool| (tool.name().to_owned(), tool)).collect();
        lock_state(&self.0.state).tools = tools;
    }

    /// Returns the session's tools.
    pub fn all_tools(&self) -> Vec<HostTool> {
        lock_state(&self.0.state).tools.values().cloned().collect()
    }

    /// Sets the names of tools that the session had before. Returns all names that it has ever had,
    /// if there are new ones.
    pub fn remember_former(&self, formerly: BTreeSet<String>) -> Option<BTreeSet<String>> {
        let mut state = lock_state(&self.0.state);
        let mut all = formerly.clone();
        // The list is bounded, because an embedder may give the session other tools each time.
        all.extend(state.tools.keys().take(MAX_TOOLS.saturating_sub(all.len())).cloned());
        let more = (all != formerly).then(|| all.clone());
        state.formerly = all;
        more
    }

    /// Returns whether the session has, or has had, any tools.
    pub fn is_of_use(&self) -> bool {
        let state = lock_state(&self.0.state);
        !state.tools.is_empty() || !state.formerly.is_empty()
    }

    /// Starts a call of the session.
    pub fn begin_call(&self) {
        let mut state = lock_state(&self.0.state);
        (state.is_open, state.calls, state.bytes) = (true, 0, 0);
    }

    /// Ends the session's call, which cancels its tool calls. Returns the entries for the log.
    pub fn end_call(&self) -> Vec<String> {
        let mut state = lock_state(&self.0.state);
        state.is_open = false;
        state.results.clear();
        state.held = 0;
        let queue = std::mem::take(&mut state.queue);
        for (_, active) in std::mem::take(&mut state.active) {
            active.ticket.cancel_call();
            let why = (ToolFailure::Cancelled, "the session's call has ended".to_owned());
            state.note_end(active, &Err(why));
        }
        let log = std::mem::take(&mut state.log);
        drop(state);
        // No guest waits for these answers any more.
        drop(queue);
        log
    }

    /// Returns the entries for the log so far.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut lock_state(&self.0.state).log)
    }

    fn list_reply(&self, from: u32) -> Reply {
        let state = lock_state(&self.0.state);
        let allowed = |tool: &&HostTool| self.0.policy.allows(tool.name());
        let mut rest =
            state.tools.values().filter(allowed).skip(from as usize).map(|t| &t.0.json).peekable();
        let (mut tools, mut bytes) = (Vec::new(), 0);
        while let Some(tool) = rest.next_if(|tool| bytes + tool.len() + 4 <= PART) {
            bytes += tool.len() + 4;
            tools.push(tool.clone());
        }
        Reply::Tools { tools, more: rest.peek().is_some() }
    }

    fn more_reply(&self, call: u64, from: u64) -> Reply {
        let mut state = lock_state(&self.0.state);
        let Some(result) = state.results.get(&call) else {
            return failure_reply(ToolFailure::Request, "there is no such result");
        };
        let rest = usize::try_from(from).ok().and_then(|from| result.get(from..));
        let rest = rest.unwrap_or_default();
        let bytes = rest[..rest.len().min(PART)].to_vec();
        let (len, is_last) = (result.len(), bytes.len() == rest.len());
        if is_last {
            state.results.remove(&call);
            state.held -= len;
        }
        Reply::Value { call, len: len as u64, bytes }
    }

    /// Starts a tool call, or queues it.
    fn begin_tool_call(&self, name: &[u8], arguments: &[u8], answer: AnswerSlot) {
        let shown = String::from_utf8_lossy(name).into_owned();
        let mut state = lock_state(&self.0.state);
        let tool = match state.judge_call(&self.0.policy, &shown, arguments) {
            Ok(tool) => tool,
            Err(why) => {
                let reply = failure_reply(why.0, why.1.clone());
                if state.is_open {
                    let active = ActiveToolCall::new(shown, arguments);
                    state.note_end(active, &Err(why));
                }
                drop(state);
                return answer.give(Ok(reply.encode()));
            }
        };
        state.calls += 1;
        state.bytes += arguments.len() as u64;
        state.next += 1;
        let number = state.next;
        let active = ActiveToolCall::new(shown, arguments);
        let ticket = active.ticket.clone();
        state.active.insert(number, active);
        let asker = answer.asker().clone();
        let arguments = arguments.to_vec();
        let job = HostToolJob { number, tool, arguments, answer, ticket: ticket.clone() };
        if state.running < self.0.policy.at_once {
            state.running += 1;
            drop(state);
            self.0.start_job(job);
        } else {
            state.queue.push_back(job);
            drop(state);
        }
        asker.when_gone(move || ticket.cancel_call());
    }
}

/// Returns the tools by name.
///
/// # Errors
/// If two have the same name, or there are too many.
pub(crate) fn by_name(
    tools: impl IntoIterator<Item = HostTool>,
) -> Result<BTreeMap<String, HostTool>, ToolDefinitionError> {
    let mut all = BTreeMap::new();
    for tool in tools {
        if let Some(tool) = all.insert(tool.name().to_owned(), tool) {
            return Err(ToolDefinitionError::Twice(tool.name().to_owned()));
        }
    }
    if all.len() > MAX_TOOLS { Err(ToolDefinitionError::TooMany) } else { Ok(all) }
}

impl ActiveToolCall {
    fn new(name: String, arguments: &[u8]) -> ActiveToolCall {
        let arguments = &arguments[..arguments.len().min(LOGGED)];
        let arguments = String::from_utf8_lossy(arguments).into_owned();
        ActiveToolCall { name, arguments, begun: Instant::now(), ticket: Arc::default() }
    }
}

impl ToolCallsState {
    /// Decides whether a tool call is allowed, before its arguments are parsed.
    fn judge_call(
        &self,
        policy: &HostToolPolicy,
        name: &str,
        arguments: &[u8],
    ) -> Result<HostTool, (ToolFailure, String)> {
        let no = |kind: ToolFailure, why: String| Err((kind, why));
        if !self.is_open {
            return no(ToolFailure::Cancelled, "no call of the session runs".into());
        }
        let Some(tool) = self.tools.get(name) else {
            return no(ToolFailure::Unknown, self.unknown(name));
        };
        if !policy.allows(name) {
            return no(ToolFailure::Denied, format!("the policy does not allow the tool '{name}'"));
        }
        let len = arguments.len() as u64;
        if len > policy.arguments {
            let most = policy.arguments;
            return no(
                ToolFailure::Limit,
                format!("the arguments have {len} bytes, of {most} at most"),
            );
        }
        if self.calls >= policy.calls {
            let most = policy.calls;
            return no(
                ToolFailure::Limit,
                format!("more than {most} calls of tools in one call of the session"),
            );
        }
        if self.bytes.saturating_add(len) > policy.bytes {
            return no(ToolFailure::Limit, too_many_bytes(policy));
        }
        if self.queue.len() >= QUEUE {
            return no(
                ToolFailure::Limit,
                format!("more than {QUEUE} calls of tools wait for their turn"),
            );
        }
        Ok(tool.clone())
    }

    fn unknown(&self, name: &str) -> String {
        if self.formerly.contains(name) {
            return format!(
                "the tool '{name}' is missing: the session had it where it ran before, and its host has not registered it here"
            );
        }
        let mut name = name.to_owned();
        name.truncate(name.floor_char_boundary(200));
        format!("there is no tool '{name}'")
    }

    /// Logs the end of a tool call.
    fn note_end(&mut self, call: ActiveToolCall, outcome: &Outcome) {
        if self.log.len() >= ENTRIES {
            return;
        }
        let mut entry = json!({
            "event": "tool",
            "tool": call.name,
            "arguments": call.arguments,
            "took_ms": (call.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        });
        match outcome {
            Ok(result) => entry["received"] = result.len().into(),
            Err((kind, why)) => {
                entry["failure"] = failure_word(*kind).into();
                entry["error"] = why[..why.floor_char_boundary(LOGGED)].into();
            }
        }
        self.log.push(entry.to_string());
    }
}

fn failure_word(kind: ToolFailure) -> &'static str {
    match kind {
        ToolFailure::Unknown => "unknown",
        ToolFailure::Arguments => "arguments",
        ToolFailure::Tool => "tool",
        ToolFailure::Denied => "denied",
        ToolFailure::Limit => "limit",
        ToolFailure::Cancelled => "cancelled",
        ToolFailure::Request => "request",
    }
}

fn too_many_bytes(policy: &HostToolPolicy) -> String {
    format!("more than {} bytes of arguments and results in one call of the session", policy.bytes)
}

impl ToolCallsInner {
    /// Runs a tool call on a thread of its own.
    fn start_job(self: &Arc<ToolCallsInner>, job: HostToolJob) {
        let slot = Arc::new(CallSlot(self.clone()));
        let shared = self.clone();
        let number = job.number;
        let work = move || {
            let HostToolJob { number, tool, arguments, answer, ticket } = job;
            let context = ToolContext { ticket, _slot: slot };
            let outcome = shared.run(&tool, &arguments, context);
            let reply = shared.finish_call(number, outcome);
            answer.give(Ok(reply.encode()));
        };
        // If the thread cannot be started, answer and slot are dropped together with the closure.
        let thread = std::thread::Builder::new().name("host tool call".into()).stack_size(STACK);
        if thread.spawn(work).is_err() {
            let why = "the host has no thread for the call".to_owned();
            self.finish_call(number, Err((ToolFailure::Limit, why)));
        }
    }

    /// Passes the place of a tool call that has ended to the next one in the queue.
    pub fn next(self: Arc<ToolCallsInner>) {
        let job = {
            let mut state = lock_state(&self.state);
            let job = state.queue.pop_front();
            if job.is_none() {
                state.running -= 1;
            }
            job
        };
        if let Some(job) = job {
            self.start_job(job);
        }
    }

    fn run(&self, tool: &HostTool, arguments: &[u8], context: ToolContext) -> Outcome {
        let definition = &*tool.0;
        let arguments = parse_arguments(arguments).map_err(|why| (ToolFailure::Arguments, why))?;
        definition.input.check_value(&arguments).map_err(|why| (ToolFailure::Arguments, why))?;
        let timeout = definition.timeout.or(self.policy.timeout);
        let until = timeout.and_then(|t| Instant::now().checked_add(t));
        let ticket = context.ticket.clone();
        let value = match drive_future(|| (definition.act)(arguments, context), &ticket, until) {
            DriveResult::Done(Ok(value)) => value,
            DriveResult::Done(Err(e)) => return Err((ToolFailure::Tool, e.message().to_owned())),
            DriveResult::Cancelled => {
                return Err((ToolFailure::Cancelled, "nobody waits for it".into()));
            }
            DriveResult::Late => {
                let seconds = timeout.unwrap_or(Duration::ZERO).as_secs_f64();
                return Err((ToolFailure::Limit, format!("the tool took longer than {seconds} s")));
            }
        };
        if let Some(Err(why)) = definition.output.as_ref().map(|schema| schema.check_value(&value))
        {
            return Err((ToolFailure::Tool, format!("its result does not fit its schema: {why}")));
        }
        let failed = |e: serde_json::Error| (ToolFailure::Tool, e.to_string());
        let result = serde_json::to_vec(&value).map_err(failed)?;
        let (len, most) = (result.len(), self.policy.result);
        if len as u64 > most {
            return Err((
                ToolFailure::Limit,
                format!("the result has {len} bytes, of {most} at most"),
            ));
        }
        Ok(result)
    }

    /// Logs the end of a tool call, and returns the reply to its guest.
    fn finish_call(&self, call: u64, outcome: Outcome) -> Reply {
        let mut state = lock_state(&self.state);
        let Some(active) = state.active.remove(&call) else {
            // The session's call has ended before, and the next one may be running.
            return failure_reply(ToolFailure::Cancelled, "the session's call has ended");
        };
        let outcome = outcome.and_then(|result| {
            let len = result.len();
            if state.bytes.saturating_add(len as u64) > self.policy.bytes {
                return Err((ToolFailure::Limit, too_many_bytes(&self.policy)));
            }
            if len > PART && state.held + len > HELD {
                let why = format!("results of more than {HELD} bytes wait to be read");
                return Err((ToolFailure::Limit, why));
            }
            state.bytes += len as u64;
            Ok(result)
        });
        state.note_end(active, &outcome);
        match outcome {
            Ok(mut result) => {
                let len = result.len();
                let bytes = result[..len.min(PART)].to_vec();
                if len > PART {
                    result.shrink_to_fit();
                    state.held += len;
                    state.results.insert(call, result);
                }
                Reply::Value { call, len: len as u64, bytes }
            }
            Err((kind, why)) => {
                let end = why.floor_char_boundary(PART);
                failure_reply(kind, &why[..end])
            }
        }
    }
}

/// Parses arguments, which are a JSON object; an empty text is an empty object.
fn parse_arguments(arguments: &[u8]) -> Result<Value, String> {
    if arguments.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(Map::new()));
    }
    bounds::check_json(arguments)?;
    match serde_json::from_slice(arguments) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("the arguments are no object of JSON".into()),
        Err(e) => Err(format!("the arguments are no JSON: {e}")),
    }
}

impl Service for ToolCalls {
    fn serves_node(&self, name: &str) -> bool {
        name == "tools" && self.is_of_use()
    }

    fn take_request(&self, _: &str, request: Vec<u8>, answer: AnswerSlot) {
        let reply = match ToolsRequest::decode(&request) {
            None => failure_reply(ToolFailure::Request, "not a request"),
            Some(ToolsRequest::List { from }) => self.list_reply(from),
            Some(ToolsRequest::More { call, from }) => self.more_reply(call, from),
            Some(ToolsRequest::Call { name, arguments }) => {
                return self.begin_tool_call(name, arguments, answer);
            }
        };
        answer.give(Ok(reply.encode()));
    }
}
