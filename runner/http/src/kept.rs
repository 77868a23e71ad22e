//! A terminal that outlives its WebSocket, for [`crate::terminal`].
//!
//! It is a process of the session with a number ([`Session::start_process`]), so a client that was cut
//! off comes back to it by its number and position, several clients can share it, and it appears among
//! the session's processes. Output comes as binary messages. The client confirms what it has shown, so
//! that a program that prints without end waits for the screen, and neither side collects its output.

use crate::gate::Caller;
use crate::problem::HttpProblem;
use crate::screen::ScreenStart;
use crate::sessions::run_blocking;
use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Sender, channel};
use wasibox::{
    FollowedOutput, ProcessFollower, ProcessKill, ProcessStart, ProcessWrite, ScreenSize, Session,
};
use wasibox_actions::Refusal;

/// The maximum bytes of output in one message.
const PART: usize = 32 << 10;
/// The number of messages that wait for the socket.
const WAITING: usize = 4;
/// The interval of pings, and the time without an answer after which the client is gone.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(60);
/// The time without a client after which a terminal is hung up, and the interval at which that is
/// checked.
const LONELY: Duration = Duration::from_secs(3600);
const LOOK: Duration = Duration::from_secs(60);
/// The signal of a terminal whose window was closed.
const HANG_UP: u8 = 1;

/// The message that follows a process on a terminal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalAttach {
    terminal: u64,
    /// The position up to which the client has its output; by default it gets the last 256 KiB.
    #[serde(default)]
    after: Option<u64>,
    #[serde(default)]
    rows: Option<u16>,
    #[serde(default)]
    columns: Option<u16>,
}

/// A message of a client that follows a terminal.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum KeptMessage {
    Keys(String),
    Size(ScreenSize),
    /// The position up to which output was shown.
    Shown(u64),
}

/// Begins a program on a terminal that stays when the client leaves, and follows it.
///
/// # Errors
/// If it cannot be started.
pub async fn start_kept(
    session: &Arc<Session>,
    start: ScreenStart,
) -> Result<ProcessFollower, HttpProblem> {
    let theirs = session.clone();
    let follower = run_blocking(move || {
        let size = start.screen_size();
        let argv = Some(start.command);
        let start = ProcessStart { argv, terminal: true, size, ..ProcessStart::default() };
        let number = theirs.start_process(&start)?.process;
        Ok(theirs.follow_process(number, Some(0))?)
    });
    let follower = follower.await?;
    tokio::spawn(hang_up_lonely(Arc::downgrade(session), follower.report().process));
    Ok(follower)
}

/// Follows a process.
///
/// # Errors
/// If there is none with this number.
pub fn attach(session: &Session, attach: &TerminalAttach) -> Result<ProcessFollower, HttpProblem> {
    let refuse = |e| HttpProblem::from(Refusal::from(e));
    let follower = session.follow_process(attach.terminal, attach.after).map_err(refuse)?;
    if let (Some(rows), Some(columns)) = (attach.rows, attach.columns) {
        // One that has ended has no size.
        let size = Some(ScreenSize { rows, columns });
        let process = attach.terminal;
        let _ = session.write_process(&ProcessWrite { process, size, ..ProcessWrite::default() });
    }
    Ok(follower)
}

/// Hangs up a terminal when it has had no client for long.
async fn hang_up_lonely(session: std::sync::Weak<Session>, number: u64) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(session) = session.upgrade() else { return };
        match session.unfollowed_time(number) {
            Ok(Some(time)) if time >= LONELY => {
                let kill = ProcessKill { process: number, signal: Some(HANG_UP), wait: Some(5.0) };
                let end = move || {
                    let kill = session.kill_process(&kill);
                    if kill.is_ok_and(|report| report.exit_code.is_none()) {
                        let kill = ProcessKill { process: number, ..ProcessKill::default() };
                        let _ = session.kill_process(&kill);
                    }
                };
                let _ = tokio::task::spawn_blocking(end).await;
                return;
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Passes output of the follower on as messages, until the process has ended or the client is gone.
fn send_output(follower: &ProcessFollower, messages: &Sender<Message>) {
    let text = |value: serde_json::Value| Message::Text(value.to_string().into());
    loop {
        let (last, message) = match follower.next_output(PART) {
            FollowedOutput::Bytes { bytes, dropped } => {
                if dropped > 0
                    && messages.blocking_send(text(json!({ "dropped": dropped }))).is_err()
                {
                    return;
                }
                (false, Message::Binary(bytes.into()))
            }
            FollowedOutput::Ended(report) => (true, text(json!({ "ended": report }))),
            FollowedOutput::Stopped => return,
        };
        if messages.blocking_send(message).is_err() || last {
            return;
        }
    }
}

/// Serves a socket whose client follows a terminal, until one of them ends.
pub async fn serve_follower(
    mut to: SplitSink<WebSocket, Message>,
    mut from: SplitStream<WebSocket>,
    session: &Session,
    caller: &Caller,
    follower: ProcessFollower,
) {
    let _running = &caller.running;
    let follower = Arc::new(follower);
    let number = follower.report().process;
    let begun = json!({
        "terminal": number, "position": follower.from(), "command": follower.report().command,
    });
    if to.send(Message::Text(begun.to_string().into())).await.is_err() {
        return;
    }
    let (messages, mut outgoing) = channel(WAITING);
    let theirs = follower.clone();
    tokio::task::spawn_blocking(move || send_output(&theirs, &messages));
    let mut ping = tokio::time::interval(PING);
    let mut heard = Instant::now();
    loop {
        let message = tokio::select! {
            message = outgoing.recv() => match message {
                Some(message) => Some(message),
                None => break,
            },
            _ = ping.tick() => {
                if heard.elapsed() > SILENCE {
                    break;
                }
                Some(Message::Ping(Default::default()))
            }
            message = from.next() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => {
                        let done = act(session, &follower, number, &text);
                        done.err().map(|problem| {
                            let answer = json!({ "problem": problem.document() });
                            Message::Text(answer.to_string().into())
                        })
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                    _ => break,
                }
            }
        };
        if let Some(message) = message {
            // A client that reads nothing is gone sometime.
            let sent = tokio::time::timeout(SILENCE, to.send(message)).await;
            if !matches!(sent, Ok(Ok(()))) {
                break;
            }
        }
    }
    follower.stop();
    let _ = tokio::time::timeout(Duration::from_secs(1), to.close()).await;
}

/// Carries out a message of the client.
fn act(
    session: &Session,
    follower: &ProcessFollower,
    process: u64,
    text: &str,
) -> Result<(), HttpProblem> {
    let write = match serde_json::from_str(text) {
        Ok(KeptMessage::Shown(position)) => {
            follower.confirm(position);
            return Ok(());
        }
        Ok(KeptMessage::Keys(text)) => ProcessWrite { process, text, ..ProcessWrite::default() },
        Ok(KeptMessage::Size(size)) => {
            ProcessWrite { process, size: Some(size), ..ProcessWrite::default() }
        }
        Err(e) => return Err(HttpProblem::invalid(e.to_string())),
    };
    session.write_process(&write).map(drop).map_err(|e| HttpProblem::from(Refusal::from(e)))
}
