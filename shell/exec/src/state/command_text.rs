//! `BASH_COMMAND`: the text of the command that runs, and what it was outside of the texts (`eval`, `.`) under way.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use sh_expand::Str;

/// The command's text, here and further out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CommandText {
    now: Str,
    /// Outside of the outermost `eval` or `.` of this subshell: the EXIT trap shows that.
    outer: Option<Str>,
    /// Outside of the outermost one of the shells around this subshell: where an error abandons commands, bash leaves
    /// that one too.
    outermost: Option<Str>,
}

/// What was shown before a text.
pub struct BeforeText {
    command: Str,
    is_outermost: bool,
}

impl CommandText {
    /// What `BASH_COMMAND` shows.
    pub fn now(&self) -> &Str {
        &self.now
    }

    /// It shows this from now on.
    pub fn set(&mut self, text: Vec<u8>) {
        self.now = Rc::new(text);
    }

    /// A text begins.
    pub fn enter_text(&mut self) -> BeforeText {
        let is_outermost = self.outer.is_none();
        if is_outermost {
            self.outer = Some(self.now.clone());
        }
        BeforeText { command: self.now.clone(), is_outermost }
    }

    /// The text ends: it shows what it did before.
    pub fn leave_text(&mut self, before: BeforeText) {
        if before.is_outermost {
            self.outer = None;
        }
        self.now = before.command;
    }

    /// A substitution begins, which is a text to its EXIT trap.
    pub fn enter_substitution(&mut self) {
        self.outer = Some(self.now.clone());
    }

    /// A subshell begins; `in_action`: within a trap's action, which is a text as well.
    pub fn enter_subshell(&mut self, in_action: bool) {
        let outer = self.outer.take().or_else(|| in_action.then(|| self.now.clone()));
        if self.outermost.is_none() {
            self.outermost = outer;
        }
    }

    /// The EXIT trap begins, outside of the texts of this subshell.
    pub fn enter_exit_trap(&mut self) {
        if let Some(command) = self.outer.take() {
            self.now = command;
        }
    }

    /// An error leaves the texts around the subshell as well: its EXIT trap shows the outermost.
    pub fn leave_all(&mut self) {
        if let Some(command) = self.outermost.take() {
            self.outer = Some(command);
        }
    }
}
