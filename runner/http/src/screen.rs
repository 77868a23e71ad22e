//! A program on a terminal of the session, for the WebSocket of [`crate::terminal`].

use crate::gate::Caller;
use crate::tools::whole_characters;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Read;
use std::sync::Arc;
use tokio::sync::mpsc::{Sender, channel};
use wasibox::{Exec, Outcome, ScreenSize, Session, TerminalSize};
use wasibox_actions::Refusal;

/// The number of typed messages that wait for a program that does not read; more are lost.
const WAITING: usize = 64;

/// The message that begins a program.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenStart {
    pub command: Vec<String>,
    #[serde(default)]
    rows: Option<u16>,
    #[serde(default)]
    columns: Option<u16>,
    /// Whether the terminal stays when the client leaves ([`crate::kept`]).
    #[serde(default)]
    pub keep: bool,
}

impl ScreenStart {
    /// Returns the size of the client's window, if it has given one.
    pub fn screen_size(&self) -> Option<ScreenSize> {
        Some(ScreenSize { rows: self.rows?, columns: self.columns? })
    }
}

enum ScreenInput {
    Keys(String),
    Size(ScreenSize),
}

/// A program that runs on a terminal. Dropping it hangs up, which ends programs as closing a window
/// does.
pub struct RunningScreen {
    input: Sender<ScreenInput>,
}

impl RunningScreen {
    /// Begins a program. What it shows goes to `messages`, and in the end its status.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn begin(
        session: &Arc<Session>,
        caller: &Caller,
        start: ScreenStart,
        messages: Sender<Value>,
    ) -> Result<RunningScreen, Refusal> {
        let size = start.screen_size().map_or_else(TerminalSize::default, TerminalSize::from);
        let process = session.spawn_terminal(Exec::new(start.command), size)?;
        let (input, mut typed) = channel(WAITING);
        let (keyboard, mut screen, end, pid) =
            (process.keyboard, process.screen, process.end, process.pid);
        let session = session.clone();
        tokio::task::spawn_blocking(move || {
            while let Some(next) = typed.blocking_recv() {
                let done = match next {
                    ScreenInput::Keys(text) => keyboard.type_bytes(text.as_bytes()),
                    ScreenInput::Size(size) => keyboard.resize(size.into()),
                };
                if done.is_err() {
                    return;
                }
            }
            // The client has left. A program that ignores the hang-up must not stay.
            drop(keyboard);
            session.signal(pid, 9);
        });
        let caller = caller.clone();
        tokio::task::spawn_blocking(move || {
            let (mut buf, mut rest) = (vec![0; 16 << 10], Vec::new());
            while let Ok(n @ 1..) = screen.read(&mut buf) {
                let text = whole_characters(&mut rest, &buf[..n]);
                if messages.blocking_send(json!({ "screen": text })).is_err() {
                    break;
                }
            }
            drop(screen);
            let end = end.wait();
            caller.owner.spend_cpu(end.cpu);
            let code = Outcome::from_end(end.end).exit_code;
            let _ = messages.blocking_send(json!({ "exit_code": code }));
        });
        Ok(RunningScreen { input })
    }

    /// Types text.
    pub fn type_text(&self, text: String) {
        // Text beyond the channel's capacity is lost, because the client does not wait for a
        // program that does not read.
        let _ = self.input.try_send(ScreenInput::Keys(text));
    }

    /// Sets the size of the window.
    pub fn resize(&self, size: ScreenSize) {
        let _ = self.input.try_send(ScreenInput::Size(size));
    }
}
