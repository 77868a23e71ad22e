//! A call: its request, and its output as it is written.

use wasibox::Refusal;
use wasibox::{CallEvent, CallOptions, Cancel, Exec, Outcome, Session, Streams};

/// Returns the call that options in JSON describe, with its standard input.
///
/// # Errors
/// Returns an error if the options do not describe a call.
pub fn parse_call(options: &str, stdin: Vec<u8>) -> Result<Exec, Refusal> {
    let exec = serde_json::from_str::<CallOptions>(options)?;
    let exec = exec.into_exec(stdin)?;
    // The check is done here because the caller then gets the error before anything begins.
    exec.check()?;
    Ok(exec)
}

/// A function that receives output: whether it is standard error, and its bytes.
pub type Chunk<'a> = &'a (dyn Fn(bool, &[u8]) + Sync);

/// Runs a call until it ends or is cancelled. With `chunk`, output is passed on as it is written,
/// in addition to the outcome.
///
/// # Errors
/// Returns an error if the call could not be started or was cancelled before it began, or if the
/// session's process died. A command that fails is an outcome, not an error.
pub fn run(
    session: &Session,
    mut exec: Exec,
    cancel: &Cancel,
    chunk: Option<Chunk<'_>>,
) -> Result<Outcome, Refusal> {
    // A call's own time limit never exceeds the policy's.
    exec.cap_timeout(session.policy().limits.timeout);
    let emit = chunk.map(|chunk| {
        move |CallEvent::Output { is_error, bytes }: CallEvent<'_>| chunk(is_error, bytes)
    });
    let emit = emit.as_ref().map(|emit| emit as &(dyn Fn(CallEvent<'_>) + Sync));
    let streams = Streams { emit, cancel: Some(cancel), ..Streams::default() };
    Ok(session.call(exec, streams)?)
}

/// Splits an outcome into standard output, standard error, and the rest as JSON in the format of
/// `runner exec --json`.
pub fn outcome_parts(mut outcome: Outcome) -> (Vec<u8>, Vec<u8>, String) {
    let stdout = std::mem::take(&mut outcome.stdout);
    let stderr = std::mem::take(&mut outcome.stderr);
    let rest = serde_json::to_string(&outcome).unwrap_or_else(|_| "{}".to_owned());
    (stdout, stderr, rest)
}
