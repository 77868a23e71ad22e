//! A call as a run starts it: its arguments, its directory and its environment.

use serde::{Deserialize, Serialize};
use wasibox_protocol::{Command, Exec};
use wasibox_vfs::around::{self, HOME, SESSION_OPTION, SESSION_SHELL, ShellSurroundings};

/// A call that continues where the session's shell was.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacedExec {
    pub exec: Exec,
    /// The directory, umask and environment of the session's shell after the last call. `None` for
    /// a script, because its shell restores them itself.
    place: Option<ShellSurroundings>,
    /// Whether a script continues with the session's shell, instead of a fresh one.
    is_continued: bool,
}

impl PlacedExec {
    /// Makes a call start in the state of the session's shell, if one is kept.
    pub fn new(exec: Exec, state: Option<&[u8]>) -> PlacedExec {
        let is_script = matches!(exec.command, Command::Script(_));
        let place = state.filter(|_| !is_script).and_then(ShellSurroundings::from_state);
        PlacedExec { exec, place, is_continued: state.is_some() }
    }

    /// Returns the state with which a script's shell starts, if it differs from the last one's.
    /// Takes the variables out of the environment, because otherwise they would only be those of a
    /// fresh shell, and not be kept.
    pub fn state_after(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        if !matches!(self.exec.command, Command::Script(_)) {
            return None;
        }
        let cwd = self.exec.cwd.as_ref().map(|cwd| cwd.as_bytes());
        let state = around::state_after(state, cwd, &self.exec.env)?;
        self.exec.env.clear();
        Some(state)
    }

    /// Returns the arguments of the first process.
    pub fn argv(&self) -> Vec<Vec<u8>> {
        let word = |text: &str| text.as_bytes().to_vec();
        match &self.exec.command {
            Command::Program(argv) => argv.clone(),
            Command::Script(script) => {
                let option = self.is_continued.then(|| word(SESSION_OPTION));
                let rest = [word("-c"), script.clone()];
                [word(SESSION_SHELL)].into_iter().chain(option).chain(rest).collect()
            }
            Command::Cell { language, .. } => vec![word(language.program())],
        }
    }

    /// Returns the directory in which the command starts.
    pub fn directory(&self) -> Vec<u8> {
        let place = || self.place.as_ref()?.cwd.clone();
        match &self.exec.cwd {
            Some(cwd) => cwd.clone().into_bytes(),
            None => place().unwrap_or_else(|| HOME.into()),
        }
    }

    /// Returns the environment as `NAME=value` strings.
    pub fn environment(&self) -> Vec<Vec<u8>> {
        around::command_environment(self.place.as_ref(), &self.directory(), &self.exec.env)
    }
}

/// Returns the command as a person would type it.
pub fn command_text(command: &Command) -> Vec<u8> {
    match command {
        Command::Program(argv) => {
            argv.iter().map(|word| around::quote_word(word)).collect::<Vec<_>>().join(&b' ')
        }
        Command::Script(text) | Command::Cell { code: text, .. } => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_variables_replace_default_ones() {
        let mut e = Exec::new(["true"]);
        e.env = vec![(b"HOME".to_vec(), b"/x".to_vec()), (b"A".to_vec(), b"b=c".to_vec())];
        e.cwd = Some("/tmp".into());
        let env = PlacedExec::new(e, None).environment();
        let has = |s: &[u8]| env.iter().filter(|v| *v == s).count();
        assert_eq!((has(b"HOME=/x"), has(b"HOME=/home/user")), (1, 0));
        assert_eq!((has(b"A=b=c"), has(b"PWD=/tmp"), has(b"TZ=UTC")), (1, 1, 1));
    }

    #[test]
    fn a_script_is_shown_as_it_was_given() {
        assert_eq!(command_text(&Exec::script("ls *").command), b"ls *");
        assert_eq!(command_text(&Exec::new(["ls", "a b"]).command), b"ls 'a b'");
        let argv = PlacedExec::new(Exec::script("ls"), None).argv();
        assert_eq!(argv, [&b"bash"[..], b"-c", b"ls"]);
    }
}
