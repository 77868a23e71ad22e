//! An execution, and its events.

use super::ExecuteRequest;
use super::contexts::{CodeContext, CodeLanguage};
use super::output::{OutputPart, OutputSplitter, error_event, javascript_error, text_event};
use crate::app::E2bApp;
use crate::control::is_variable;
use crate::fault::Fault;
use crate::record::random_text;
use crate::sandbox::RunningBox;
use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;
use wasibox::{CallEvent, End, Exec, Outcome, Output, Streams, lock_mutex};
use wasibox_actions::CallStop;
use wasibox_http::RunningRequest;
use wasibox_http::tools::whole_characters;

/// The interval of events that show whether the client is still there.
const KEEPALIVE: Duration = Duration::from_secs(5);
/// The number of events that wait for a slow client; beyond that the execution waits, too.
const WAITING: usize = 64;

/// An execution that was asked for.
struct Execution {
    running: Arc<RunningBox>,
    context: Arc<CodeContext>,
    language: CodeLanguage,
    code: String,
    /// Variables of this execution, and those of all of the sandbox's.
    variables: BTreeMap<String, String>,
    stop: Arc<CallStop>,
    events: Sender<Value>,
}

/// Stops an execution when its client has disconnected, which drops the response's body.
struct StopGuard {
    stop: Arc<CallStop>,
    context: Arc<CodeContext>,
    is_over: Arc<Mutex<bool>>,
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        if !*lock_mutex(&self.is_over) {
            self.stop.stop();
            self.context.child.iter().for_each(|child| child.interrupt());
        }
    }
}

/// Begins an execution, and returns the stream of its events.
pub fn begin(
    app: &Arc<E2bApp>,
    running: Arc<RunningBox>,
    asked: ExecuteRequest,
    counted: Arc<RunningRequest>,
) -> Result<Response<Body>, Fault> {
    let ExecuteRequest { code, context_id, language, env_vars } = asked;
    let (context, language) = match (context_id, language) {
        (Some(_), Some(_)) => {
            return Err(Fault::invalid("Only one of context_id or language can be provided"));
        }
        (Some(id), None) => {
            let context = running.contexts.find(&id)?;
            let language = context.language;
            (context, language)
        }
        (None, language) => {
            let language = CodeLanguage::named(language.as_deref())?;
            (running.contexts.of_language(language)?, language)
        }
    };
    let variables = env_vars.unwrap_or_default();
    if variables.iter().any(|(name, value)| !is_variable(name, value)) {
        return Err(Fault::invalid(
            "a variable's name has no '=' and no zero byte, and is not empty",
        ));
    }
    let known = app.registry.known(&running.id);
    let (events, from) = channel(WAITING);
    let (stop, is_over) = (Arc::<CallStop>::default(), Arc::<Mutex<bool>>::default());
    let guard =
        StopGuard { stop: stop.clone(), context: context.clone(), is_over: is_over.clone() };
    let gone = running.gone.clone();
    let execution = Execution { running, context, language, code, variables, stop, events };
    tokio::spawn(async move {
        let context = execution.context.clone();
        let mut count = context.count.lock().await;
        *count += 1;
        let number = json!({ "type": "number_of_executions", "execution_count": *count });
        if execution.events.send(number).await.is_ok() {
            context.set_stop(Some(execution.stop.clone()));
            let done = tokio::task::spawn_blocking(move || execution.run());
            if done.await.is_err() {
                tracing::error!("an execution has failed");
            }
            context.set_stop(None);
        }
        *lock_mutex(&is_over) = true;
        drop((count, counted, known));
    });
    let mut response = Response::new(Body::from_stream(event_stream(from, guard, gone)));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// Returns the lines of the events, with lines between them that keep the stream alive.
fn event_stream(
    from: Receiver<Value>,
    guard: StopGuard,
    gone: CancellationToken,
) -> impl futures_util::Stream<Item = std::io::Result<Bytes>> {
    futures_util::stream::unfold((from, guard, gone), |(mut from, guard, gone)| async move {
        let event = tokio::select! {
            event = from.recv() => event?,
            () = tokio::time::sleep(KEEPALIVE) => json!({ "type": "keepalive" }),
            // The connection ends within the response, as that of a machine that is gone.
            () = gone.cancelled() => {
                let end = std::io::ErrorKind::ConnectionAborted;
                return Some((Err(end.into()), (from, guard, gone)));
            }
        };
        Some((Ok(Bytes::from(format!("{event}\n"))), (from, guard, gone)))
    })
}

impl Execution {
    fn send(&self, event: Value) {
        // A failure means that the client has disconnected, which stops the execution.
        let _ = self.events.blocking_send(event);
    }

    /// Runs the execution to its end.
    fn run(self) {
        let done = match (self.language, &self.context.child) {
            (CodeLanguage::Python, Some(_)) => self.run_in_child(),
            (CodeLanguage::Python, None) => self.run_python(),
            (CodeLanguage::Bash, _) => self.run_bash(),
            (CodeLanguage::JavaScript | CodeLanguage::TypeScript, _) => self.run_javascript(),
        };
        if let Err(fault) = done {
            self.send(error_event("ExecutionError", &fault.message, ""));
        }
        self.running.owner.spend_cpu(self.stop.cpu_time());
        self.send(json!({ "type": "end_of_execution" }));
    }

    fn globals(&self) -> &BTreeMap<String, String> {
        &self.running.envs
    }

    fn run_in_child(&self) -> Result<(), Fault> {
        let Some(child) = &self.context.child else { return Ok(()) };
        let mark = OutputSplitter::mark(&random_text(26)?);
        let request = json!({
            "mark": mark, "code": self.code, "variables": self.variables, "globals": self.globals(),
        });
        let (events, rest) = (self.events.clone(), Mutex::new(Vec::new()));
        let errors = move |bytes: &[u8]| {
            let text = whole_characters(&mut lock_mutex(&rest), bytes);
            let _ = events.blocking_send(text_event(true, &text));
        };
        let mut rest = Vec::new();
        child.run(&request, &mark, Box::new(errors), &mut |part| self.send_part(part, &mut rest))
    }

    fn send_part(&self, part: OutputPart, rest: &mut Vec<u8>) {
        match part {
            OutputPart::Report(event) => self.send(event),
            OutputPart::Text(bytes) => {
                let text = whole_characters(rest, &bytes);
                if !text.is_empty() {
                    self.send(text_event(false, &text));
                }
            }
        }
    }

    fn run_python(&self) -> Result<(), Fault> {
        let mark = OutputSplitter::mark(&random_text(26)?);
        let arguments = json!([mark, self.code, self.variables, self.globals()]).to_string();
        let arguments = STANDARD.encode(arguments);
        let act = format!("run(*json.loads(base64.b64decode('{arguments}')))");
        let exec = Exec::python(super::driver_module(&act));
        let splitter = Mutex::new((OutputSplitter::new(&mark), Vec::new()));
        let outcome = self.call(exec, &|bytes| {
            let (splitter, rest) = &mut *lock_mutex(&splitter);
            splitter.take(bytes).into_iter().for_each(|part| self.send_part(part, rest));
        })?;
        let (splitter, mut rest) = splitter.into_inner().unwrap_or_else(|e| e.into_inner());
        self.send_part(OutputPart::Text(splitter.finish()), &mut rest);
        self.report_end(&outcome);
        Ok(())
    }

    fn run_javascript(&self) -> Result<(), Fault> {
        let mut all = self.globals().clone();
        all.extend(self.variables.clone());
        if !all.is_empty() {
            self.call_silently(Exec::javascript(format!(
                "void Object.assign(process.env, {})",
                json!(all)
            )))?;
        }
        let rest = Mutex::new(Vec::new());
        let outcome = self.call(Exec::javascript(self.code.clone()), &|bytes| {
            self.send_part(OutputPart::Text(bytes.to_vec()), &mut lock_mutex(&rest));
        })?;
        if let Some(value) = &outcome.value {
            let quoted = ["'", "\"", "`"]
                .iter()
                .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
            let mut event = json!({
                "type": "result", "is_main_result": true, "text": quoted.unwrap_or(value),
            });
            if let Some(json) =
                outcome.value_json.as_deref().and_then(|j| serde_json::from_str::<Value>(j).ok())
                && (json.is_object() || json.is_array())
            {
                event["json"] = json;
            }
            self.send(event);
        }
        if let End::Exited(1..) = outcome.end {
            let trace = String::from_utf8_lossy(&outcome.stderr).into_owned();
            let (name, value) = javascript_error(&trace);
            self.send(error_event(&name, &value, &trace));
        } else {
            self.report_end(&outcome);
        }
        for name in self.variables.keys() {
            let code = match self.globals().get(name) {
                Some(value) => format!("void (process.env[{}] = {})", json!(name), json!(value)),
                None => format!("void delete process.env[{}]", json!(name)),
            };
            self.call_silently(Exec::javascript(code))?;
        }
        Ok(())
    }

    fn run_bash(&self) -> Result<(), Fault> {
        let mut exec = Exec::script(self.code.clone());
        let mut all = self.globals().clone();
        all.extend(self.variables.clone());
        exec.env = all.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let rest = Mutex::new(Vec::new());
        let outcome = self.call(exec, &|bytes| {
            self.send_part(OutputPart::Text(bytes.to_vec()), &mut lock_mutex(&rest));
        })?;
        if let End::Exited(code @ 1..) = outcome.end {
            self.send(error_event("", &code.to_string(), ""));
        } else {
            self.report_end(&outcome);
        }
        let own: Vec<&String> =
            self.variables.keys().filter(|name| !self.globals().contains_key(*name)).collect();
        let is_name =
            |name: &&&String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let names: Vec<&str> = own.iter().filter(is_name).map(|name| name.as_str()).collect();
        if !names.is_empty() {
            self.call_silently(Exec::script(format!("unset -- {}", names.join(" "))))?;
        }
        Ok(())
    }

    /// Runs a call in the session. Standard output goes to `pass`, standard error to the client.
    fn call(&self, mut exec: Exec, pass: &(dyn Fn(&[u8]) + Sync)) -> Result<Outcome, Fault> {
        exec.list_files = false;
        exec.output = Output::Capture { limit: 64 << 10 };
        let rest = Mutex::new(Vec::new());
        let emit = |CallEvent::Output { is_error, bytes }: CallEvent<'_>| {
            if is_error {
                let text = whole_characters(&mut lock_mutex(&rest), bytes);
                if !text.is_empty() {
                    self.send(text_event(true, &text));
                }
            } else {
                pass(bytes);
            }
        };
        let streams = Streams { emit: Some(&emit), ..Streams::default() };
        Ok(self.stop.exec(&self.running.session, exec, streams)?)
    }

    fn call_silently(&self, mut exec: Exec) -> Result<(), Fault> {
        exec.list_files = false;
        self.stop.exec(&self.running.session, exec, Streams::default())?;
        Ok(())
    }

    /// Reports an end that the code has not brought about itself.
    fn report_end(&self, outcome: &Outcome) {
        let (name, value) = match outcome.end {
            End::Exited(0) => return,
            End::Exited(code) => {
                ("SystemExit", format!("the interpreter has ended with status {code}"))
            }
            End::Signaled(signal) => {
                ("InterpreterKilled", format!("the interpreter was ended by signal {signal}"))
            }
            End::Interrupted => ("KeyboardInterrupt", "the execution was interrupted".to_owned()),
            End::Limit(limit) => {
                ("LimitReached", format!("the limit of {} was reached", limit.name()))
            }
        };
        self.send(error_event(name, &value, &String::from_utf8_lossy(&outcome.stderr)));
    }
}
