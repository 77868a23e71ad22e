//! Pipelines, `!` and `time` (POSIX XCU 2.9.2; bash manual 3.2.3).

use crate::ast::{Command, CommandKind, Pipeline, PipelineStage, SimpleCommand, TimeFormat};
use crate::lex::token::{Kw, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses a pipeline whose first token is read ahead.
    #[inline(never)]
    pub fn parse_pipeline(&mut self) -> Res<Pipeline> {
        let mut timed = None;
        let mut negated = false;
        let mut prefixed = false;
        loop {
            match self.next_kind(TokenContext::COMMAND)? {
                Tk::Kw(Kw::Bang) => {
                    self.skip_token();
                    negated = !negated;
                }
                Tk::Kw(Kw::Time) => {
                    self.skip_token();
                    let posix = self.time_options()?;
                    if timed.is_none() || posix {
                        timed = Some(if posix { TimeFormat::Posix } else { TimeFormat::Bash });
                    }
                }
                _ => break,
            }
            prefixed = true;
        }
        let mut stages = Vec::new();
        let ends = match self.next_kind(TokenContext::COMMAND)? {
            Tk::Newline | Tk::Semi | Tk::Eof => true,
            // A lone `time` is allowed in `$(time)`, but not in `(time)`.
            Tk::RParen => !negated && self.subs > 0 && self.depth == self.sub_depth,
            _ => false,
        };
        if prefixed && ends {
            return Ok(Pipeline { timed, negated, stages });
        }
        loop {
            let stage = new_stage(&mut stages);
            self.parse_command(&mut stage.command)?;
            let kind = self.next_kind(TokenContext::RESERVED)?;
            stage.pipe_stderr = kind == Tk::PipeAmp;
            if !matches!(kind, Tk::Pipe | Tk::PipeAmp) {
                return Ok(Pipeline { timed, negated, stages });
            }
            self.skip_token();
            self.skip_newlines(TokenContext::COMMAND)?;
            match self.next_kind(TokenContext::COMMAND)? {
                Tk::Kw(Kw::Bang) => return Err(self.unexpected_token_error()),
                // After a `|`, `time` is an ordinary command.
                Tk::Kw(Kw::Time) => self.reserved_as_word(),
                _ => {}
            }
        }
    }

    /// Parses `-p` and `--` after `time` and returns whether `-p` was there.
    fn time_options(&mut self) -> Res<bool> {
        let mut posix = false;
        if self.next_is_text(b"-p")? {
            self.skip_token();
            posix = true;
        }
        if self.next_is_text(b"--")? {
            self.skip_token();
            // bash treats this like `-p`.
            posix = true;
        }
        Ok(posix)
    }
}

/// Adds a stage to be filled in.
#[inline(never)]
fn new_stage(stages: &mut Vec<PipelineStage>) -> &mut PipelineStage {
    let kind = CommandKind::Simple(SimpleCommand::default());
    let command = Command { kind, redirects: Vec::new(), line: 0 };
    // Reserves space for one stage only, because most pipelines have one and a stage is big.
    if stages.is_empty() {
        stages.reserve_exact(1);
    }
    stages.push_mut(PipelineStage { command, pipe_stderr: false })
}
