//! `-w`: each file is added or extracted only if the user says yes.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use box_applet::Ctx;

use super::TarFatal;
use super::options::{TarAction, TarOptions};

/// The terminal, from which the answers come if standard input is the archive.
const TERMINAL: &str = "/dev/tty";

/// The action that needs a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmedAction {
    Add,
    Extract,
}

/// Asks about each file of a run with `-w`.
pub struct Confirmation {
    /// The terminal, or `None` for standard input.
    terminal: Option<BufReader<File>>,
}

impl Confirmation {
    /// Returns the questions of a run; `None` if the command line does not ask for any.
    pub fn open(ctx: &Ctx<'_>, options: &TarOptions) -> Result<Option<Confirmation>, TarFatal> {
        if !options.is_interactive {
            return Ok(None);
        }
        if options.archive != b"-" || options.action == TarAction::Create {
            return Ok(Some(Confirmation { terminal: None }));
        }
        let file = File::open(ctx.path(TERMINAL.as_bytes()))
            .map_err(|e| TarFatal::cannot_open(TERMINAL.as_bytes(), &e))?;
        Ok(Some(Confirmation { terminal: Some(BufReader::new(file)) }))
    }

    /// Asks about one file. The answer is a line: yes if it begins with `y` or `Y`; the end of the
    /// input is no.
    pub fn is_confirmed(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &TarOptions,
        action: ConfirmedAction,
        name: &[u8],
    ) -> Result<bool, TarFatal> {
        let verb: &[u8] = match action {
            ConfirmedAction::Add => b"add '",
            ConfirmedAction::Extract => b"extract '",
        };
        let question = [verb, name, b"'?"].concat();
        // The archive, or the data of members, may take standard output.
        let takes_stdout =
            options.action.writes_to_stdout(&options.archive) || options.extract.to_stdout;
        let out = if takes_stdout { &mut ctx.stderr } else { &mut ctx.stdout };
        out.write_all(&question)?;
        out.flush()?;
        let mut answer = Vec::new();
        match &mut self.terminal {
            Some(terminal) => terminal.read_until(b'\n', &mut answer)?,
            None => ctx.stdin.read_until(b'\n', &mut answer)?,
        };
        if answer.is_empty() {
            out.write_all(b"\n")?;
        }
        Ok(matches!(answer.first(), Some(b'y' | b'Y')))
    }
}
