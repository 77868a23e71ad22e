//! Lines that the prompt itself understands: they move the session instead of running in it.

use wasibox::Session;

use crate::session::position_text;
use crate::{CliFailure, message, print_text};

/// Maximum bytes of a command of which the first line is shown.
const LINE: u64 = 1 << 20;

/// The greeting of the prompt.
pub const GREETING: &str =
    "Lines are kept as commits. `undo' takes the last one back, `help' says more, `exit' leaves.";

const HELP: &str = "For the prompt:
  undo [N]     take back the last commit, or the last N: files, variables, directory
  redo         take the last undo back
  fork NAME    make another session of the store with the present state
  exit [N]     leave, as Ctrl-D does

Everything else runs in the session (`help cd' describes a builtin, `man ls' a command). Lines of
programs alone have a terminal, and are a commit if they change files. Ctrl-C ends what runs.
Processes started with `&' continue, until an undo.";

/// A line for the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptWord {
    Undo(u32),
    Redo,
    Fork(String),
    Help,
}

impl PromptWord {
    /// Returns the request of a line, if it is for the prompt.
    pub fn parse(line: &str) -> Option<PromptWord> {
        let words: Vec<&str> = line.split_whitespace().collect();
        Some(match words.as_slice() {
            ["undo"] => PromptWord::Undo(1),
            ["undo", n] => PromptWord::Undo(n.parse().ok().filter(|n| *n > 0)?),
            ["redo"] => PromptWord::Redo,
            ["fork", name] => PromptWord::Fork((*name).to_owned()),
            ["help"] => PromptWord::Help,
            _ => return None,
        })
    }

    /// Carries the request out, and prints where the session is then.
    ///
    /// # Errors
    /// Fails if there is nothing to undo or redo, or the name is taken.
    pub fn act(&self, session: &Session) -> Result<(), CliFailure> {
        let mut now = session.head()?;
        match self {
            PromptWord::Undo(n) => {
                for _ in 0..*n {
                    now = session.undo()?;
                }
            }
            PromptWord::Redo => now = session.redo()?,
            PromptWord::Fork(name) => {
                session.fork(name)?;
                return print_text(&format!("{name}\n"));
            }
            PromptWord::Help => {
                message::print_hint(HELP);
                return Ok(());
            }
        }
        let command = session.store()?.with_objects(|o| now.call.command.load_bytes(o, LINE));
        print_text(&position_text(&now, &command.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_prompt_are_found() {
        assert_eq!(PromptWord::parse(" undo "), Some(PromptWord::Undo(1)));
        assert_eq!(PromptWord::parse("undo 3"), Some(PromptWord::Undo(3)));
        assert_eq!(PromptWord::parse("fork b"), Some(PromptWord::Fork("b".into())));
        for no in ["undo x", "undo 0", "undo; ls", "help cd", "fork", "redo it", "echo undo"] {
            assert_eq!(PromptWord::parse(no), None, "{no}");
        }
    }
}
