//! Runs a command in a sandbox, for a session on threads and for a session's worker.

use crate::error::Error;
use std::os::fd::AsFd;
use std::sync::Arc;
use wasibox_protocol::{Command, End, Input, Outcome, Output};
use wasibox_sandbox::streams::{BytesInput, Capture, HostStream, OutputMeter, is_null_device};
use wasibox_sandbox::value::CellValue;
use wasibox_sandbox::{PlacedExec, RunSpec, SessionSandbox, StdStream};

/// The descriptors of the three streams to which [`Input::Inherit`] and [`Output::Inherit`] refer.
pub struct InheritedStreams<'a> {
    pub stdin: &'a dyn AsFd,
    pub stdout: &'a dyn AsFd,
    pub stderr: &'a dyn AsFd,
}

/// Runs a command to its end.
///
/// # Errors
/// If it could not be started, or reached a damaged part of the image.
pub fn exec_command(
    sandbox: &SessionSandbox,
    placed: PlacedExec,
    inherited: &InheritedStreams<'_>,
) -> Result<Outcome, Error> {
    let policy_limit = sandbox.policy().limits.output;
    let (argv, env, cwd) = (placed.argv(), placed.environment(), placed.directory());
    let exec = placed.exec;
    let stdin: Option<Arc<dyn StdStream>> = match exec.input {
        Input::Bytes(b) if b.is_empty() => None,
        Input::Bytes(b) => Some(BytesInput::new(b)),
        Input::Inherit if is_null_device(inherited.stdin) => None,
        Input::Inherit => Some(HostStream::input(inherited.stdin)?),
    };
    let limit = match exec.output {
        Output::Capture { limit } => Some(policy_limit.map_or(limit, |l| l.min(limit))),
        Output::Inherit => policy_limit,
    };
    let meter = OutputMeter::new(limit);
    let (out, err) = (Capture::new(meter.clone()), Capture::new(meter.clone()));
    let mut spec = RunSpec {
        argv,
        env,
        cwd,
        stdin,
        stdout: out.clone(),
        stderr: err.clone(),
        timeout: exec.timeout,
        keep: exec.keep_background,
    };
    if exec.output == Output::Inherit {
        spec.stdout = HostStream::output(inherited.stdout, meter.clone(), exec.raw_terminal)?;
        spec.stderr = HostStream::output(inherited.stderr, meter.clone(), exec.raw_terminal)?;
    }
    let mark = exec.list_files.then(|| sandbox.mark_files());
    let (result, value, put_back) = match exec.command {
        Command::Program(_) | Command::Script(_) => {
            (sandbox.run(spec)?, CellValue::default(), false)
        }
        Command::Cell { language, code } => {
            let ran = sandbox.cell(language.interpreter(), spec, &code)?;
            let value = CellValue::new(ran.value.map(lossy_text), ran.json.map(lossy_text));
            (ran.run, value.bounded(limit.unwrap_or(u64::MAX)), ran.is_gone)
        }
    };
    let changes = mark.map(|m| sandbox.changes_since(&m)).unwrap_or_default();
    let end = End::of_run(result.status.into(), result.limit, result.interrupted);
    Ok(Outcome {
        end,
        exit_code: end.exit_code(),
        stdout: out.close(),
        stderr: err.close(),
        truncated: meter.is_over(),
        duration_ms: result.duration.as_secs_f64() * 1000.0,
        cpu_ms: result.cpu.as_secs_f64() * 1000.0,
        peak_memory: result.peak_memory,
        limit_hit: result.limit,
        files_truncated: changes.truncated,
        files: wasibox_files::describe_changes(sandbox.vfs(), changes.list),
        ended: result.ended,
        background: result.left,
        value: value.text,
        value_json: value.json,
        value_bytes: value.bytes,
        put_back,
        commit: None,
    })
}

fn lossy_text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
