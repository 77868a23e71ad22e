//! A shell for people over a WebSocket.
//!
//! Messages are JSON texts. The client sends `{"run": SCRIPT}`, and while the script runs
//! `{"stdin": TEXT}`, `{"end": true}` (no more input) and `{"interrupt": true}`. It receives
//! `{"stream": "stdout"|"stderr", "text": ...}`, and at the end of each script
//! `{"exit_code": N, "commit": N, "cwd": DIR}` or `{"problem": ...}`. One script runs at a time.
//!
//! Instead of a script, a client may begin a program on a terminal of its own:
//! `{"start": {"command": [WORDS], "rows": N, "columns": N}}`. It types by `{"keys": TEXT}`, sets the size
//! by `{"size": {"rows": N, "columns": N}}`, and receives `{"screen": TEXT}`: text with control
//! sequences, for a terminal emulator. Closing the socket hangs up.
//!
//! With `"keep": true` the terminal stays ([`crate::kept`]): the client receives
//! `{"terminal": N, "position": P, "command": TEXT}`, then output as binary messages, of which it
//! confirms what it has shown by `{"shown": POSITION}`, and in the end `{"ended": REPORT}`. The socket
//! is for this terminal from then on. Another one attaches by
//! `{"attach": {"terminal": N, "after": P, "rows": N, "columns": N}}`.

use crate::app::HttpApp;
use crate::gate::Caller;
use crate::kept::{TerminalAttach, attach, serve_follower, start_kept};
use crate::problem::HttpProblem;
use crate::screen::{RunningScreen, ScreenStart};
use crate::sessions::run_blocking;
use crate::tools::{CallStopGuard, whole_characters};
use axum::Extension;
use axum::body::Body;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::Response;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{PipeReader, Write};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{Sender, channel};
use wasibox::{
    CallEvent, Exec, InheritedStreams, Input, Output, ProcessFollower, ScreenSize, Session,
    Streams, lock_mutex,
};
use wasibox_actions::{CallStop, Refusal, ToolScope};

/// The maximum size of a message in bytes.
const MESSAGE: usize = 1 << 20;
/// The name of the WebSocket subprotocol.
const PROTOCOL: &str = "wasibox";
/// The number of messages that may wait for a slow reader; when there are more, the script waits
/// too.
const WAITING: usize = 64;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TerminalMessage {
    Run(String),
    Stdin(String),
    End(bool),
    Interrupt(bool),
    Start(ScreenStart),
    Attach(TerminalAttach),
    Keys(String),
    Size(ScreenSize),
}

impl TerminalMessage {
    /// Returns whether it begins something that needs the socket for itself.
    fn is_beginning(&self) -> bool {
        matches!(
            self,
            TerminalMessage::Run(_) | TerminalMessage::Start(_) | TerminalMessage::Attach(_)
        )
    }
}

/// Serves `GET /v1/sessions/{session}/terminal`.
pub async fn open_terminal(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    upgrade: WebSocketUpgrade,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Run)?;
    if app.registry.get("sandbox_exec").is_none() {
        return Err(HttpProblem::forbidden("this server runs no commands"));
    }
    let space = caller.space.clone();
    let session = run_blocking(move || space.open(&name)).await?;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(MESSAGE).max_frame_size(MESSAGE);
    let end = app.end.clone();
    Ok(upgrade.on_upgrade(move |socket| async move {
        tokio::select! {
            () = serve_socket(socket, session, caller) => {}
            () = end.cancelled() => {}
        }
    }))
}

/// A running script.
struct TerminalScript {
    input: Option<Sender<Vec<u8>>>,
    stop: Arc<CallStop>,
    _ended: CallStopGuard,
}

async fn serve_socket(socket: WebSocket, session: Arc<Session>, caller: Caller) {
    let (mut to, mut from) = socket.split();
    let (messages, mut outgoing) = channel::<Value>(WAITING);
    let mut script: Option<TerminalScript> = None;
    let mut screen: Option<RunningScreen> = None;
    loop {
        tokio::select! {
            message = outgoing.recv() => {
                let Some(message) = message else { return };
                if message.get("stream").is_none() && message.get("screen").is_none() {
                    (script, screen) = (None, None);
                }
                let text = Utf8Bytes::from(message.to_string());
                if to.send(Message::Text(text)).await.is_err() {
                    return;
                }
            }
            message = from.next() => {
                let said = match message {
                    Some(Ok(Message::Text(text))) => serde_json::from_str(&text),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    _ => return,
                };
                let problem = |why: String| json!({ "problem": HttpProblem::invalid(why).document() });
                if script.is_none()
                    && screen.is_none()
                    && let Ok(message) = &said
                    && let Some(begun) = begin_follower(&session, message).await
                {
                    match begun {
                        Ok(follower) => {
                            return serve_follower(to, from, &session, &caller, follower).await;
                        }
                        Err(e) => {
                            let answer = json!({ "problem": e.document() }).to_string();
                            if to.send(Message::Text(answer.into())).await.is_err() {
                                return;
                            }
                            continue;
                        }
                    }
                }
                let answer = match (said, &mut script) {
                    (Err(e), _) => Some(problem(e.to_string())),
                    (Ok(message), _) if screen.is_some() && message.is_beginning() => {
                        Some(problem("a program runs already".into()))
                    }
                    (Ok(TerminalMessage::Start(start)), None) => {
                        let (session, caller, messages) =
                            (session.clone(), caller.clone(), messages.clone());
                        let begun = run_blocking(move || {
                            RunningScreen::begin(&session, &caller, start, messages)
                        });
                        match begun.await {
                            Ok(begun) => {
                                screen = Some(begun);
                                None
                            }
                            Err(e) => Some(json!({ "problem": e.document() })),
                        }
                    }
                    (Ok(message), Some(_)) if message.is_beginning() => {
                        Some(problem("a script runs already".into()))
                    }
                    (Ok(TerminalMessage::Keys(text)), _) => {
                        if let Some(screen) = &screen {
                            screen.type_text(text);
                        }
                        None
                    }
                    (Ok(TerminalMessage::Size(size)), _) => {
                        if let Some(screen) = &screen {
                            screen.resize(size);
                        }
                        None
                    }
                    (Ok(TerminalMessage::Run(text)), None) => {
                        script = begin_script(&session, &caller, text, messages.clone());
                        script.is_none().then(|| problem("the script cannot be started".into()))
                    }
                    (Ok(TerminalMessage::Stdin(text)), Some(TerminalScript { input: Some(input), .. })) => {
                        // Input beyond the channel's capacity is lost, because the terminal does
                        // not wait for a script that does not read.
                        let _ = input.try_send(text.into_bytes());
                        None
                    }
                    (Ok(TerminalMessage::End(true)), Some(script)) => {
                        script.input = None;
                        None
                    }
                    (Ok(TerminalMessage::Interrupt(true)), Some(script)) => {
                        script.stop.stop();
                        None
                    }
                    (Ok(_), _) => None,
                };
                if let Some(answer) = answer
                    && to.send(Message::Text(answer.to_string().into())).await.is_err()
                {
                    return;
                }
            }
        }
    }
}

/// Begins what follows a terminal that stays, if the message asks for it.
async fn begin_follower(
    session: &Arc<Session>,
    message: &TerminalMessage,
) -> Option<Result<ProcessFollower, HttpProblem>> {
    match message {
        TerminalMessage::Start(start) if start.keep => {
            Some(start_kept(session, start.clone()).await)
        }
        TerminalMessage::Attach(to) => Some(attach(session, to)),
        _ => None,
    }
}

fn begin_script(
    session: &Arc<Session>,
    caller: &Caller,
    text: String,
    messages: Sender<Value>,
) -> Option<TerminalScript> {
    let stop = Arc::new(CallStop::default());
    let (input, mut typed) = channel::<Vec<u8>>(WAITING);
    let (reader, mut writer) = std::io::pipe().ok()?;
    // The thread ends with the input, or when the script has ended, which closes the other end of
    // the pipe.
    tokio::task::spawn_blocking(move || {
        while let Some(bytes) = typed.blocking_recv() {
            if writer.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    let (session, caller, theirs) = (session.clone(), caller.clone(), stop.clone());
    tokio::task::spawn_blocking(move || {
        let done = run(&session, text, reader, &theirs, &messages);
        caller.owner.spend_cpu(theirs.cpu_time());
        let message = match done {
            Ok(message) => message,
            Err(refusal) => json!({ "problem": HttpProblem::from(refusal).document() }),
        };
        let _ = messages.blocking_send(message);
    });
    Some(TerminalScript { input: Some(input), _ended: CallStopGuard(stop.clone()), stop })
}

fn run(
    session: &Session,
    text: String,
    stdin: PipeReader,
    stop: &CallStop,
    messages: &Sender<Value>,
) -> Result<Value, Refusal> {
    let mut exec = Exec::script(text);
    // All output is passed on, and none is kept.
    (exec.input, exec.output, exec.list_files) = (Input::Inherit, Output::Inherit, false);
    let rests = [const { Mutex::new(Vec::new()) }; 2];
    let emit = |CallEvent::Output { is_error, bytes }: CallEvent<'_>| {
        let text = whole_characters(&mut lock_mutex(&rests[usize::from(is_error)]), bytes);
        let stream = if is_error { "stderr" } else { "stdout" };
        // A failure is ignored, because the script is stopped when the client has disconnected.
        let _ = messages.blocking_send(json!({ "stream": stream, "text": text }));
    };
    let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
    let inherited = InheritedStreams { stdin: &stdin, stdout: &stdout, stderr: &stderr };
    let streams = Streams { inherited: Some(&inherited), emit: Some(&emit), ..Streams::default() };
    let outcome = stop.exec(session, exec, streams)?;
    let cwd = String::from_utf8_lossy(&session.directory()?).into_owned();
    Ok(json!({
        "exit_code": outcome.exit_code,
        "limit_hit": outcome.limit_hit.map(|l| l.name()),
        "commit": outcome.commit,
        "cwd": cwd,
    }))
}
