//! The calls of the service for processes.

use super::ServiceCall;
use super::paths::ensure_home;
use super::processes::{BegunProcess, BoxProcess};
use crate::control::is_variable;
use crate::fault::{Fault, RpcCode, run_blocking};
use crate::rpc::process::{
    Empty, EventKind, EventResponse, InputBytes, InputEvent, ListResponse, ProcessConfig,
    ProcessInput, ProcessRequest, ProcessSelector, Selector, SendInputRequest, SendSignalRequest,
    StartEvent, StartRequest, StreamInputRequest, UpdateRequest,
};
use crate::rpc::{self, AnswerSender, MessageStream, answer_stream};
use axum::body::Body;
use axum::http::Response;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;
use wasibox::{Exec, Input, TerminalSize};
use wasibox_actions::ToolScope;

/// The maximum number of arguments and variables, and their bytes together.
const WORDS: usize = 4096;
const WORD_BYTES: usize = 2 << 20;

/// Answers a call of the service.
pub async fn answer(call: ServiceCall, method: &str, body: Body) -> Response<Body> {
    let form = call.form;
    match method {
        "List" => rpc::answer(form, list(&call, body).await),
        "Start" => match begin(&call, body).await {
            Ok((process, from, deadline)) => stream_events(call, process, from, deadline),
            Err(fault) => fail(form, fault),
        },
        "Connect" => match connect(&call, body).await {
            Ok((process, from)) => stream_events(call, process, from, None),
            Err(fault) => fail(form, fault),
        },
        "SendInput" => rpc::answer(form, send_input(&call, body).await),
        "StreamInput" => rpc::answer(form, stream_input(&call, body).await),
        "CloseStdin" => rpc::answer(form, close_input(&call, body).await),
        "SendSignal" => rpc::answer(form, send_signal(&call, body).await),
        "Update" => rpc::answer(form, resize(&call, body).await),
        _ => fail(form, Fault::unimplemented("the service has no such method")),
    }
}

fn fail(form: rpc::CallForm, fault: Fault) -> Response<Body> {
    rpc::answer::<Empty>(form, Err(fault))
}

fn selector(process: Option<ProcessSelector>) -> Option<Selector> {
    process.and_then(|process| process.selector)
}

async fn list(call: &ServiceCall, body: Body) -> Result<ListResponse, Fault> {
    let _: Empty = rpc::read_message(call.form, body).await?;
    call.check_scope(ToolScope::Read)?;
    Ok(ListResponse { processes: call.running.processes.list() })
}

type Begun = (Arc<BoxProcess>, Receiver<EventKind>, Option<Instant>);

/// Begins a process. It ends at the call's time limit, but continues if the client disconnects.
async fn begin(call: &ServiceCall, body: Body) -> Result<Begun, Fault> {
    call.check_scope(ToolScope::Run)?;
    let asked: StartRequest = rpc::read_message(call.form, body).await?;
    let timeout = rpc::call_timeout(&call.headers)?;
    let config = asked.process.ok_or_else(|| Fault::invalid("the request has no process"))?;
    let mut exec = make_exec(call, &config)?;
    // Clients that do not say so expect an input.
    if asked.stdin.unwrap_or(true) {
        exec.input = Input::Inherit;
    }
    exec.timeout = timeout;
    let terminal = asked.pty.map(|pty| terminal_size(pty.size));
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let running = call.running.clone();
    let cwd = exec.cwd.clone().unwrap_or_default();
    let spawned = run_blocking(move || {
        ensure_home(&running, &cwd)?;
        let begun = match terminal {
            Some(size) => running.session.spawn_terminal(exec, size).map(BegunProcess::OnTerminal),
            None => running.session.spawn(exec).map(BegunProcess::Piped),
        };
        begun.map_err(|e| match e {
            wasibox::Error::Sandbox(wasibox::SandboxError::Cwd { .. }) => {
                Fault::invalid(format!("cwd '{cwd}' does not exist"))
            }
            wasibox::Error::Sandbox(e) => Fault::invalid(e.to_string()),
            e => e.into(),
        })
    });
    let spawned = spawned.await?;
    let (process, from) = call.running.processes.add(&call.running, spawned, config, asked.tag)?;
    Ok((process, from, deadline))
}

/// Returns the size of a terminal; a client that names none gets the usual one.
fn terminal_size(asked: Option<rpc::process::TerminalSize>) -> TerminalSize {
    let usual = TerminalSize::default();
    let bounded = |n: u32, usual: u16| match n {
        0 => usual,
        n => u16::try_from(n).unwrap_or(u16::MAX),
    };
    asked.map_or(usual, |size| TerminalSize {
        rows: bounded(size.rows, usual.rows),
        columns: bounded(size.cols, usual.columns),
    })
}

/// Sets the size of a process's terminal.
async fn resize(call: &ServiceCall, body: Body) -> Result<Empty, Fault> {
    call.check_scope(ToolScope::Run)?;
    let asked: UpdateRequest = rpc::read_message(call.form, body).await?;
    let process = call.running.processes.find_running(selector(asked.process))?;
    let size = asked.pty.and_then(|pty| pty.size);
    let size = size.ok_or_else(|| Fault::invalid("the request has no size"))?;
    run_blocking(move || process.resize(terminal_size(Some(size)))).await?;
    Ok(Empty {})
}

/// Returns the call that begins a process.
fn make_exec(call: &ServiceCall, config: &ProcessConfig) -> Result<Exec, Fault> {
    let bytes = config.args.iter().map(String::len).sum::<usize>()
        + config.envs.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    if config.args.len() + config.envs.len() > WORDS || bytes > WORD_BYTES {
        return Err(Fault::invalid("the process has too many arguments and variables"));
    }
    if config.cmd.is_empty()
        || config.cmd.contains('\0')
        || config.args.iter().any(|a| a.contains('\0'))
    {
        return Err(Fault::invalid("a process has a command, without zero bytes"));
    }
    if config.envs.iter().any(|(name, value)| !is_variable(name, value)) {
        return Err(Fault::invalid(
            "a variable's name has no '=' and no zero byte, and is not empty",
        ));
    }
    let user = call.user;
    let mut exec = Exec::new(std::iter::once(&config.cmd).chain(&config.args));
    exec.cwd = Some(user.absolute_path(config.cwd.as_deref().unwrap_or_default())?);
    let own = [("HOME", user.home()), ("USER", user.name()), ("LOGNAME", user.name())];
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let envs = call.running.envs.iter().chain(&config.envs).map(|(n, v)| (n.clone(), v.clone()));
    let mut all = std::collections::BTreeMap::from(own);
    all.extend(envs);
    exec.env = all.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    Ok(exec)
}

async fn connect(
    call: &ServiceCall,
    body: Body,
) -> Result<(Arc<BoxProcess>, Receiver<EventKind>), Fault> {
    call.check_scope(ToolScope::Run)?;
    let asked: ProcessRequest = rpc::read_message(call.form, body).await?;
    let process = call.running.processes.find(selector(asked.process))?;
    let from = process.subscribe();
    Ok((process, from))
}

/// Streams a process's events: its number, its output, its end.
fn stream_events(
    call: ServiceCall,
    process: Arc<BoxProcess>,
    mut from: Receiver<EventKind>,
    deadline: Option<Instant>,
) -> Response<Body> {
    let (to, response) = answer_stream(call.form);
    let keepalive = call.keepalive();
    tokio::spawn(async move {
        let gone = call.running.gone.clone();
        let result = tokio::select! {
            result = send_events(&to, &process, &mut from, keepalive, deadline) => result,
            () = to.closed() => return,
            () = gone.cancelled() => return to.break_off().await,
            () = wait_until(deadline) => Err(out_of_time()),
        };
        to.end(result).await;
        // The call counts until here.
        drop(call.counted);
    });
    response
}

fn out_of_time() -> Fault {
    Fault::new(RpcCode::DeadlineExceeded, "the process has run as long as it may")
}

async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn send_events(
    to: &AnswerSender,
    process: &BoxProcess,
    from: &mut Receiver<EventKind>,
    keepalive: Duration,
    deadline: Option<Instant>,
) -> Result<(), Fault> {
    let mut event = Some(EventKind::Start(StartEvent { pid: process.pid }));
    while let Some(next) = event {
        to.send(&EventResponse::new(next)).await;
        event = loop {
            match tokio::time::timeout(keepalive, from.recv()).await {
                Ok(next) => break next,
                Err(_) => to.send(&EventResponse::new(EventKind::Keepalive(Empty {}))).await,
            };
        };
    }
    match process.end() {
        // The sandbox ends the process at the same time limit, and may be first.
        Some(_) if deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
            Err(out_of_time())
        }
        Some(end) => {
            to.send(&EventResponse::new(EventKind::End(end))).await;
            Ok(())
        }
        None => Err(Fault::new(RpcCode::Unavailable, "the process is no longer followed")),
    }
}

/// Writes to a process on a thread for that, because it may not read for long.
async fn write_input(process: Arc<BoxProcess>, input: Option<ProcessInput>) -> Result<(), Fault> {
    let bytes = match input.and_then(|input| input.input) {
        Some(InputBytes::Stdin(bytes)) => bytes,
        Some(InputBytes::Pty(bytes)) if process.has_terminal() => bytes,
        Some(InputBytes::Pty(_)) => {
            return Err(Fault::invalid("the process has no terminal: begin it with pty"));
        }
        None => return Err(Fault::invalid("the request has no input")),
    };
    run_blocking(move || process.write_input(&bytes)).await
}

async fn send_input(call: &ServiceCall, body: Body) -> Result<Empty, Fault> {
    call.check_scope(ToolScope::Run)?;
    let asked: SendInputRequest = rpc::read_message(call.form, body).await?;
    let process = call.running.processes.find_running(selector(asked.process))?;
    write_input(process, asked.input).await?;
    Ok(Empty {})
}

async fn stream_input(call: &ServiceCall, body: Body) -> Result<Empty, Fault> {
    call.check_scope(ToolScope::Run)?;
    let mut stream = MessageStream::new(call.form, body);
    let mut process = None;
    while let Some((message, bytes)) = stream.next::<StreamInputRequest>().await? {
        if !call.running.owner.spend_bytes(bytes as u64) {
            return Err(Fault::new(RpcCode::ResourceExhausted, "too many bytes within an hour"));
        }
        match (message.event, &process) {
            (Some(InputEvent::Start(start)), None) => {
                process = Some(call.running.processes.find_running(selector(start.process))?);
            }
            (Some(InputEvent::Data(data)), Some(process)) => {
                write_input(process.clone(), data.input).await?;
            }
            (Some(InputEvent::Keepalive(_)), _) => {}
            _ => return Err(Fault::invalid("a stream of input begins with its process")),
        }
    }
    Ok(Empty {})
}

async fn close_input(call: &ServiceCall, body: Body) -> Result<Empty, Fault> {
    call.check_scope(ToolScope::Run)?;
    let asked: ProcessRequest = rpc::read_message(call.form, body).await?;
    call.running.processes.find_running(selector(asked.process))?.close_input();
    Ok(Empty {})
}

async fn send_signal(call: &ServiceCall, body: Body) -> Result<Empty, Fault> {
    call.check_scope(ToolScope::Run)?;
    let asked: SendSignalRequest = rpc::read_message(call.form, body).await?;
    let signal = u8::try_from(asked.signal).ok().filter(|signal| matches!(signal, 9 | 15));
    let signal =
        signal.ok_or_else(|| Fault::invalid("the signal is SIGNAL_SIGTERM or SIGNAL_SIGKILL"))?;
    let process = call.running.processes.find_running(selector(asked.process))?;
    call.running.session.signal(process.pid, signal);
    if signal == 9 {
        // The next request must no longer find it.
        process.wait_end().await;
    }
    Ok(Empty {})
}
