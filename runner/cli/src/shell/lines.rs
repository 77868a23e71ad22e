//! The line editor and its history, which is kept among the session's key-values, so that it stays
//! with the session.

use super::complete::Completions;
use crate::{CliFailure, message};
use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory, SearchDirection};
use rustyline::{CompletionType, Config, Editor};
use wasibox::Session;

/// The key of the editor's history.
const KEY: &[u8] = b"shell.history";
/// Maximum number of commands that are kept, and their bytes.
const LINES: usize = 1000;
const BYTES: usize = 256 << 10;

/// A line editor.
pub struct LineEditor(Editor<Completions, MemHistory>);

/// The result of reading a line.
pub enum EditedLine {
    Line(String),
    /// The user has cancelled the line.
    Nothing,
    End,
}

impl LineEditor {
    /// Makes an editor with the session's history.
    pub fn new(completions: Completions, session: &Session) -> Result<LineEditor, CliFailure> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .max_history_size(LINES)
            .and_then(|c| c.history_ignore_dups(true))
            .map_err(editor_failure)?
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).map_err(editor_failure)?;
        editor.set_helper(Some(completions));
        let before = session.value(KEY)?.unwrap_or_default();
        for line in before.split(|b| *b == 0).filter(|l| !l.is_empty()) {
            // Control characters are removed, because the store may come from elsewhere and the
            // editor shows lines unchanged.
            let line = String::from_utf8_lossy(line);
            let plain: String =
                line.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
            editor.add_history_entry(plain).map_err(editor_failure)?;
        }
        Ok(LineEditor(editor))
    }

    /// Reads a command; `dir` is the directory in which it will run.
    pub fn read(&mut self, prompt: &str, dir: &str) -> Result<EditedLine, CliFailure> {
        if let Some(completions) = self.0.helper_mut() {
            completions.set_directory(dir);
        }
        match self.0.readline(prompt) {
            Ok(line) => Ok(EditedLine::Line(line)),
            Err(ReadlineError::Interrupted) => Ok(EditedLine::Nothing),
            Err(ReadlineError::Eof) => Ok(EditedLine::End),
            Err(e) => Err(editor_failure(e)),
        }
    }

    /// Keeps a command for the arrow keys, here and for the next shell in the session.
    pub fn remember(&mut self, line: &str, session: &Session) {
        if !self.0.add_history_entry(line).unwrap_or(false) {
            return;
        }
        let history = self.0.history();
        let (mut kept, mut left) = (Vec::new(), BYTES);
        for n in (0..history.len()).rev() {
            let Ok(Some(found)) = history.get(n, SearchDirection::Forward) else { break };
            let Some(rest) = left.checked_sub(found.entry.len() + 1) else { break };
            left = rest;
            kept.push(found.entry.into_owned());
        }
        kept.reverse();
        // The command runs even if it cannot be kept.
        if let Err(e) = session.set_value(KEY, kept.join("\0").as_bytes()) {
            message::say_message(&format!("what was typed is not kept: {e}"));
        }
    }
}

fn editor_failure(e: ReadlineError) -> CliFailure {
    CliFailure::new(125, format!("the terminal: {e}"))
}
