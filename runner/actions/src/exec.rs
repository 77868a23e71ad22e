//! One call of a client, and the commands that it runs; `sandbox_exec`, which runs a script in the
//! session's shell.

use crate::client::Client;
use crate::show;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wasibox::{
    CAPTURE, CallEvent, CallOptions, Cancel, Error, Exec, Interrupt, Outcome, Output, Refusal,
    Session, Streams,
};
use wasibox_providers::RequestStop;

/// The arguments of `sandbox_exec`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxExec {
    /// Script for bash: pipes, loops, several lines.
    command: String,
    /// Seconds.
    #[serde(default)]
    #[schemars(extend("default" = crate::schema::CALL_TIMEOUT))]
    timeout: Option<f64>,
    /// Standard input.
    #[serde(default)]
    stdin: Option<String>,
    /// Directory to go to; by default where the last call has left.
    #[serde(default)]
    cwd: Option<String>,
    /// Variables to export.
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    /// Let processes started with & continue after the call.
    #[serde(default)]
    background: bool,
    /// The maximum bytes of each stream, 32 KiB by default; more is cut to beginning and end.
    #[serde(default)]
    max_output: Option<u64>,
}

impl ToolAction for SandboxExec {
    type Answer = Outcome;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<Outcome>, Refusal> {
        let session = call.session()?;
        let options = CallOptions {
            script: Some(self.command),
            env: self.env.unwrap_or_default(),
            cwd: self.cwd,
            timeout: self.timeout,
            keep_background: self.background,
            ..CallOptions::default()
        };
        let exec = call.make_exec(options, self.stdin)?;
        let outcome = call.exec(&session, exec)?;
        Ok(show::command_result(&session, outcome, self.max_output))
    }
}

/// A handle that ends a call from another thread and reports the CPU time it has used.
#[derive(Default)]
pub struct CallStop {
    cancel: Cancel,
    /// The request of a call that needs a server of others.
    requests: RequestStop,
    target: OnceLock<Interrupt>,
    /// CPU time in microseconds.
    cpu: AtomicU64,
}

impl CallStop {
    /// Ends the command or the request that the call makes, and prevents further ones.
    pub fn stop(&self) {
        self.requests.stop();
        match self.target.get() {
            Some(target) => self.cancel.cancel(target),
            None => self.cancel.cancel(&Interrupt::default()),
        }
    }

    /// Runs a command until it ends or is stopped. One call uses one session.
    ///
    /// # Errors
    /// The same as [`Session::call`].
    pub fn exec(
        &self,
        session: &Session,
        exec: Exec,
        streams: Streams<'_>,
    ) -> Result<Outcome, Error> {
        let _ = self.target.set(session.interrupter());
        let outcome = session.call(exec, Streams { cancel: Some(&self.cancel), ..streams })?;
        self.cpu.fetch_add((outcome.cpu_ms * 1000.0) as u64, Ordering::Relaxed);
        Ok(outcome)
    }

    /// Returns the handle that ends requests to servers of others.
    pub fn requests(&self) -> &RequestStop {
        &self.requests
    }

    /// Returns the streams of a request that waits until the call is stopped.
    pub(crate) fn streams(&self, session: &Session) -> Streams<'_> {
        let _ = self.target.set(session.interrupter());
        Streams { cancel: Some(&self.cancel), ..Streams::default() }
    }

    /// Returns the CPU time of the commands that the call has run.
    pub fn cpu_time(&self) -> Duration {
        Duration::from_micros(self.cpu.load(Ordering::Relaxed))
    }
}

/// One call of a client.
pub struct ClientCall<'a> {
    pub client: &'a Client,
    pub stop: &'a CallStop,
    /// Receives output as it is written; without a receiver this costs nothing.
    pub emit: Option<&'a (dyn Fn(CallEvent<'_>) + Sync)>,
}

impl ClientCall<'_> {
    /// Returns the client's session.
    pub(crate) fn session(&self) -> Result<Arc<Session>, Refusal> {
        self.client.session()
    }

    /// Returns the command that a client asks for, with a time limit within the machine's.
    ///
    /// # Errors
    /// If the time is invalid, or there is nothing to run.
    pub(crate) fn make_exec(
        &self,
        options: CallOptions,
        stdin: Option<String>,
    ) -> Result<Exec, Refusal> {
        let timeout = self.client.space().machine().call_timeout(options.timeout)?;
        let stdin = stdin.unwrap_or_default().into_bytes();
        let mut exec = options.into_exec(stdin)?;
        exec.timeout = Some(timeout);
        Ok(exec)
    }

    /// Runs a command in a session until it ends or is stopped.
    pub(crate) fn exec(&self, session: &Session, mut exec: Exec) -> Result<Outcome, Refusal> {
        exec.output = Output::Capture { limit: session.policy().limits.output.unwrap_or(CAPTURE) };
        let streams = Streams { emit: self.emit, ..Streams::default() };
        Ok(self.stop.exec(session, exec, streams)?)
    }
}
