//! `BASH_COMMAND`: the text of the running command.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use sh_expand::Str;

/// The command's text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CommandText(Str);

impl CommandText {
    /// Returns the text that `BASH_COMMAND` shows.
    pub fn current_text(&self) -> &Str {
        &self.0
    }

    /// Sets the text that `BASH_COMMAND` shows.
    pub fn set(&mut self, text: Vec<u8>) {
        self.0 = Rc::new(text);
    }
}
