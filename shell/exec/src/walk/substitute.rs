//! Command substitution. Builtins and functions write into a buffer without a process; a program's
//! output comes through a pipe that is read while the program runs.

use std::rc::Rc;

use sh_syntax::ast::{CommandKind, CommandList, CommandSub, RedirectTarget};

use crate::Shell;
use crate::io::{Buffer, DescriptorTarget};
use crate::run::{SourceText, TextKind};
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::options::{SetOpt, ShOpt};

impl Shell<'_> {
    pub(crate) fn substitute_command(&mut self, sub: &Rc<CommandSub>) -> Result<Vec<u8>, Unwind> {
        self.check_depth()?;
        let source = match &sub.source {
            Some(text) => Some(text.to_vec()),
            // In POSIX mode, aliases in `$(...)` were looked up when it was read.
            None if !sub.backquoted && self.state.options.has_set(SetOpt::Posix) => None,
            None => self.text_with_aliases(&sub.body),
        };
        let line = self.state.line;
        if self.state.options.has_set(SetOpt::Verbose) {
            self.echo_input_redirect(sub);
        }
        if sub.is_file_read
            && let Some(text) = self.read_file_sub(sub)?
        {
            return Ok(self.trim_newlines(text));
        }
        let buffer = Buffer::default();
        let capture = buffer.clone();
        let charged = self.budget.expansion_bytes;
        let subs = std::mem::take(&mut self.process_subs);
        let action = self.state.here.action;
        let status = self.in_subshell(|s| {
            s.state.fds.set(1, Some(DescriptorTarget::Capture(capture)));
            s.drop_options();
            s.enter_context(CommandContext::Substitution { action });
            s.enter_context(CommandContext::Captured { calls: s.state.calls.depth() });
            let r = match &source {
                None => s.run_list(&sub.body),
                Some(text) => s.run_text(SourceText { text, line, kind: TextKind::Substitution }),
            };
            // An abandoned substitution has status 1, whatever the status of the abandoned command.
            match r {
                Err(Unwind::Discard(_)) => Err(Unwind::Discard(1)),
                r => r,
            }
        });
        self.end_process_subs(0);
        self.process_subs = subs;
        self.budget.expansion_bytes = charged;
        self.last_subst = Some(status);
        self.state.status = status;
        self.state.line = line;
        Ok(self.trim_newlines(take_buffer(buffer)))
    }

    /// Runs `f` in a subshell and returns its standard output.
    pub(crate) fn capture_output(
        &mut self,
        f: impl FnOnce(&mut Self) -> Flow,
    ) -> Result<Vec<u8>, Unwind> {
        self.check_depth()?;
        let buffer = Buffer::default();
        let capture = buffer.clone();
        self.in_subshell(|s| {
            s.state.fds.set(1, Some(DescriptorTarget::Capture(capture)));
            f(s)
        });
        Ok(take_buffer(buffer))
    }

    /// Prints a substitution that begins like `$(< file)` under `set -v`, because bash reads such a
    /// text once more to see whether it has that form.
    fn echo_input_redirect(&mut self, sub: &CommandSub) {
        let mut text = Vec::new();
        sh_syntax::print::print_substitution(&mut text, &sub.body);
        if text.starts_with(b"<") && !text.get(1).is_some_and(|c| b"<>&".contains(c)) {
            text.push(b'\n');
            self.write_err(&text);
        }
    }

    /// Returns the body as text if aliases could change its meaning, because they are expanded when
    /// it runs.
    pub(crate) fn text_with_aliases(&self, body: &CommandList) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let expands = self.state.options.has_shopt(ShOpt::ExpandAliases);
        if !expands && !self.mentions.aliases {
            return None;
        }
        sh_syntax::print::print_substitution(&mut text, body);
        let names = |what: &[u8]| memchr::memmem::find(&text, what).is_some();
        let relevant = if expands {
            self.state.aliases.keys().any(|name| names(name)) || names(b"alias")
        } else {
            names(b"expand_aliases")
        };
        relevant.then_some(text)
    }

    fn trim_newlines(&mut self, mut out: Vec<u8>) -> Vec<u8> {
        if memchr::memchr(0, &out).is_some() {
            out.retain(|c| *c != 0);
            self.print_error(&[b"warning: command substitution: ignored null byte in input"]);
        }
        while out.last() == Some(&b'\n') {
            out.pop();
        }
        out
    }

    /// Reads the file of `$(< file)`; `None` if the body has a different form. If the shell exits
    /// on errors, an unreadable file makes it exit, even in a command whose failure is ignored.
    fn read_file_sub(&mut self, sub: &CommandSub) -> Result<Option<Vec<u8>>, Unwind> {
        let [item] = sub.body.items.as_slice() else { return Ok(None) };
        let [stage] = item.and_or.first.stages.as_slice() else { return Ok(None) };
        let CommandKind::Simple(_) = &stage.command.kind else { return Ok(None) };
        let [redirect] = stage.command.redirects.as_slice() else { return Ok(None) };
        let RedirectTarget::Word(word) = &redirect.target else { return Ok(None) };
        let name = match sh_expand::expand_redirect_target(self, word) {
            Ok(n) => n,
            Err(e) => {
                self.print_error(&[&e.message()]);
                self.last_subst = Some(1);
                return Ok(Some(Vec::new()));
            }
        };
        self.about_to_look();
        let read = match self.open_virtual(&name) {
            Some(Some(desc)) => {
                let mut out = Vec::new();
                desc.read_to_end(&mut out).map(|()| out)
            }
            Some(None) => Err(crate::io::bad_fd()),
            None if name.is_empty() => Err(std::io::ErrorKind::NotFound.into()),
            None => self.read_file(&self.absolute_path(&name)),
        };
        match read {
            Ok(out) => {
                self.last_subst = Some(0);
                self.state.status = 0;
                Ok(Some(out))
            }
            Err(e) => {
                let text = box_sys::error_text(&e);
                self.print_error(&[&name, b": ", text.as_bytes()]);
                self.last_subst = Some(1);
                self.state.status = 1;
                if self.state.options.has_set(SetOpt::ErrExit) {
                    Err(Unwind::Exit(1))
                } else {
                    Ok(Some(Vec::new()))
                }
            }
        }
    }
}

/// Returns the content of a buffer, without a copy if this is its only owner.
pub(super) fn take_buffer(buffer: Buffer) -> Vec<u8> {
    match Rc::try_unwrap(buffer) {
        Ok(cell) => cell.into_inner(),
        Err(shared) => shared.borrow().clone(),
    }
}
