//! Redirections (POSIX XCU 2.7, bash manual 3.6) on the table of descriptors. The replaced
//! descriptors are kept and restored after the command.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::rc::Rc;

use box_sys::{FileKind, error_text, meta};
use sh_expand::{ErrorReach, ExpandCause};
use sh_syntax::ast::{Redirect, RedirectFd, RedirectOp, RedirectTarget, Word, WordPart};

use crate::Shell;
use crate::io::{DescriptorTarget, MAX_FD, MemoryInput, OpenFile, network};
use crate::shell::Unwind;
use crate::state::here::CommandContext;
use crate::state::options::{SetOpt, ShOpt};
use crate::state::vars::decimal_digits;

/// Descriptors to restore, in the order in which they were replaced.
pub type Saved = Vec<(u32, Option<DescriptorTarget>)>;

/// The reason why a redirection failed: `None` if a message has reported it, otherwise the way in
/// which execution unwinds.
type Failure = Option<Unwind>;

/// The lowest number for `{name}>`.
const FIRST_FREE: u32 = 10;

impl Shell<'_> {
    /// Performs redirections from left to right. On failure the completed ones are undone.
    pub(crate) fn apply_redirects(&mut self, list: &[Redirect]) -> Result<Saved, Failure> {
        let mut saved = Saved::with_capacity(list.len());
        for r in list {
            if let Err(e) = self.redirect_one(r, &mut saved) {
                self.restore_redirects(saved);
                return Err(e);
            }
        }
        Ok(saved)
    }

    /// Restores descriptors after writing out their output.
    pub(crate) fn restore_redirects(&mut self, saved: Saved) {
        self.sync_output();
        for (n, old) in saved.into_iter().rev() {
            self.state.fds.set(n, old);
        }
    }

    /// Makes the redirections permanent (`exec`).
    pub(crate) fn forget_saved(&mut self, saved: Saved) {
        self.sync_output();
        drop(saved);
    }

    fn put_descriptor(
        &mut self,
        r: &Redirect,
        n: u32,
        desc: Option<DescriptorTarget>,
        saved: &mut Saved,
    ) {
        if self.output.is_some() {
            self.sync_output();
        }
        let old = self.state.fds.set(n, desc);
        // The descriptor of `{name}>` stays open after the command.
        let stays = matches!(r.fd, RedirectFd::Var { .. })
            && !self.state.options.has_shopt(ShOpt::VarRedirClose);
        if !stays {
            saved.push((n, old));
        }
    }

    fn report_redirect(&mut self, what: &[u8], message: &str) -> Failure {
        self.print_error(&[what, b": ", message.as_bytes()]);
        None
    }

    fn redirect_one(&mut self, r: &Redirect, saved: &mut Saved) -> Result<(), Failure> {
        use RedirectOp as Op;
        let here = match &r.target {
            RedirectTarget::HereDoc(doc) => sh_expand::expand_heredoc(self, doc),
            RedirectTarget::Word(word) if r.op == Op::HereString => {
                sh_expand::expand_assignment_value(self, word).map(|mut text| {
                    Rc::make_mut(&mut text).push(b'\n');
                    text
                })
            }
            RedirectTarget::Word(word) => return self.redirect_to(r, word, saved),
        };
        let body = match here {
            Ok(body) => body,
            // A command in the here-document did not parse, which was reported. Only the redirected
            // command fails.
            Err(e)
                if r.op != Op::HereString
                    && *e.cause == ExpandCause::AlreadyPrinted(ErrorReach::Command) =>
            {
                return Err(None);
            }
            Err(e) => return Err(Some(self.expansion_failed(e))),
        };
        let fd = self.redirect_number(r, 0)?;
        self.put_descriptor(
            r,
            fd,
            Some(DescriptorTarget::Memory(Rc::new(MemoryInput::new(body)))),
            saved,
        );
        Ok(())
    }

    /// Performs a redirection to the file that a word names.
    fn redirect_to(&mut self, r: &Redirect, word: &Word, saved: &mut Saved) -> Result<(), Failure> {
        use RedirectOp as Op;
        let context = CommandContext::Redirection { both_ways: r.op == Op::ReadWrite };
        let expanded = self.run_within(context, |s| sh_expand::expand_redirect_target(s, word));
        let text = match expanded {
            Ok(t) => t,
            Err(e) if matches!(*e.cause, ExpandCause::Ambiguous(_)) => {
                if let Some(variable) = variable_of(&r.fd) {
                    return Err(self.report_redirect(&variable, "ambiguous redirect"));
                }
                self.print_error(&[&e.message()]);
                return Err(None);
            }
            Err(e) => return Err(Some(self.expansion_failed(e))),
        };
        match r.op {
            Op::DupRead | Op::DupWrite => self.duplicate_descriptor(r, &text, word, saved),
            Op::WriteBoth | Op::AppendBoth => {
                self.redirect_both(r, r.op == Op::AppendBoth, &text, saved)
            }
            op => {
                let desc = self.open_redirect(&text, op, r)?;
                let default = u32::from(!matches!(op, Op::Read | Op::ReadWrite));
                let fd = self.redirect_number(r, default)?;
                self.put_descriptor(r, fd, Some(desc), saved);
                Ok(())
            }
        }
    }

    fn redirect_both(
        &mut self,
        r: &Redirect,
        append: bool,
        text: &[u8],
        saved: &mut Saved,
    ) -> Result<(), Failure> {
        let op = if append { RedirectOp::Append } else { RedirectOp::Write };
        let desc = self.open_redirect(text, op, r)?;
        self.put_descriptor(r, 1, Some(desc.clone()), saved);
        self.put_descriptor(r, 2, Some(desc), saved);
        Ok(())
    }

    /// Performs `n>&m`, `n>&m-`, `n>&-` and `>&file`.
    fn duplicate_descriptor(
        &mut self,
        r: &Redirect,
        text: &[u8],
        word: &Word,
        saved: &mut Saved,
    ) -> Result<(), Failure> {
        let default = u32::from(r.op == RedirectOp::DupWrite);
        if text == b"-" {
            return self.close_descriptor(r, default, saved);
        }
        let (digits, moves) = match text.strip_suffix(b"-") {
            Some(d) => (d, true),
            None => (text, false),
        };
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            let output = matches!(r.fd, RedirectFd::Default | RedirectFd::Number(1));
            if r.op == RedirectOp::DupWrite && output && !moves {
                return self.redirect_both(r, false, text, saved);
            }
            if let Some(variable) = variable_of(&r.fd) {
                return Err(self.report_redirect(&variable, "ambiguous redirect"));
            }
            // Commands are not run a second time for the message.
            let plain = without_commands(&word.parts) == word.parts;
            let shown = if plain { digits } else { &*word.raw };
            return Err(self.report_redirect(shown, "ambiguous redirect"));
        }
        let n = std::str::from_utf8(digits).ok().and_then(|d| d.parse::<u32>().ok());
        let n = n.unwrap_or(u32::MAX);
        let own = match r.fd {
            RedirectFd::Default => Some(default),
            RedirectFd::Number(fd) => Some(fd),
            RedirectFd::Var { .. } => None,
        };
        if own == Some(n) && n < MAX_FD {
            // Nothing changes, even if the descriptor is closed.
            return Ok(());
        }
        let Some(desc) = self.state.fds.get(n).cloned() else {
            return Err(match r.fd {
                // If the number comes from an expansion, bash names the redirected descriptor in
                // the message, for example 3 in `3>&$n`.
                RedirectFd::Number(fd) if *word.raw != *text => {
                    self.report_redirect(&decimal_digits(i64::from(fd)), "Bad file descriptor")
                }
                _ if *word.raw == *text => self.report_redirect(digits, "Bad file descriptor"),
                _ => self.report_redirect(&word.raw, "Bad file descriptor"),
            });
        };
        let fd = self.redirect_number(r, default)?;
        self.put_descriptor(r, fd, Some(desc), saved);
        if moves && fd != n {
            self.put_descriptor(r, n, None, saved);
        }
        Ok(())
    }

    /// Performs `n>&-`; `{name}>&-` closes the descriptor that the variable names, permanently.
    fn close_descriptor(
        &mut self,
        r: &Redirect,
        default: u32,
        saved: &mut Saved,
    ) -> Result<(), Failure> {
        let RedirectFd::Var { name, subscript } = &r.fd else {
            let fd = self.redirect_number(r, default)?;
            self.put_descriptor(r, fd, None, saved);
            return Ok(());
        };
        let value = match subscript {
            None => self.variable_text(name),
            Some(s) => match sh_expand::subscript_key(self, name, s) {
                Ok(key) => self.element_text(name, &key),
                Err(e) => return Err(Some(self.expansion_failed(e))),
            },
        };
        let n = value.and_then(|t| sh_expand::arith::plain_integer(&t));
        let Some(n) = n.and_then(|n| u32::try_from(n).ok()) else {
            return Err(self.report_redirect(name, "ambiguous redirect"));
        };
        self.sync_output();
        self.state.fds.set(n, None);
        Ok(())
    }

    /// Returns the descriptor that a redirection changes; for `{name}` a free one, assigned to the
    /// variable.
    fn redirect_number(&mut self, r: &Redirect, default: u32) -> Result<u32, Failure> {
        match &r.fd {
            RedirectFd::Default => Ok(default),
            RedirectFd::Number(n) if *n < MAX_FD => Ok(*n),
            RedirectFd::Number(n) => {
                Err(self.report_redirect(&decimal_digits(i64::from(*n)), "Bad file descriptor"))
            }
            RedirectFd::Var { name, subscript } => {
                let Some(n) = self.state.fds.free_from(FIRST_FREE) else {
                    return Err(self.report_redirect(name, "Too many open files"));
                };
                let value = Rc::new(decimal_digits(i64::from(n)));
                if let Err(e) = self.assign_scalar_to(name, subscript.as_ref(), false, value) {
                    self.print_error(&[&e.message()]);
                    if e.reach() == ErrorReach::Readonly {
                        self.refused().map_err(Some)?;
                    }
                    let variable = variable_of(&r.fd).unwrap_or_default();
                    return Err(self.report_redirect(&variable, "cannot assign fd to variable"));
                }
                Ok(n)
            }
        }
    }

    /// Opens a file in the mode of an operator.
    fn open_redirect(
        &mut self,
        name: &[u8],
        op: RedirectOp,
        r: &Redirect,
    ) -> Result<DescriptorTarget, Failure> {
        if let Some(desc) = self.open_virtual(name) {
            return match desc {
                Some(d) => Ok(d),
                None => Err(self.report_redirect(name, "Bad file descriptor")),
            };
        }
        self.sync_output();
        if let Some(opened) = network::open_network(name) {
            return match opened {
                Ok(f) => Ok(DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(f), false)))),
                Err(no) => {
                    self.print_error(&[no.first.as_bytes()]);
                    Err(self.report_redirect(name, &error_text(&no.error)))
                }
            };
        }
        let path = self.absolute_path(name);
        match self.open_file(name, &path, op) {
            Ok(f) => {
                // Devices receive each write at once, so that an error belongs to its command.
                let stream = !name.starts_with(b"/dev/");
                Ok(DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(f), stream))))
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && op == RedirectOp::Write => {
                let variable = variable_of(&r.fd);
                let shown = variable.as_deref().unwrap_or(name);
                Err(self.report_redirect(shown, "cannot overwrite existing file"))
            }
            Err(e) => {
                let text = if name.is_empty() {
                    error_text(&io::Error::from(io::ErrorKind::NotFound))
                } else {
                    error_text(&e)
                };
                Err(self.report_redirect(name, &text))
            }
        }
    }

    fn open_file(&mut self, name: &[u8], path: &Path, op: RedirectOp) -> io::Result<std::fs::File> {
        if name.is_empty() {
            // An empty name does not refer to the working directory.
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut o = OpenOptions::new();
        match op {
            RedirectOp::Read => {
                return self.sys.open(path, o.read(true));
            }
            RedirectOp::ReadWrite => {
                o.read(true).write(true).create(true).truncate(false);
            }
            RedirectOp::Append => {
                o.append(true).create(true);
            }
            _ => {
                o.write(true).create(true);
                if op == RedirectOp::Write && self.state.options.has_set(SetOpt::NoClobber) {
                    // An existing regular file is refused; devices and pipes are not.
                    match meta::stat(path, true) {
                        Ok(s) if s.kind == FileKind::File => {
                            return Err(io::ErrorKind::AlreadyExists.into());
                        }
                        Ok(_) => {}
                        Err(_) => {
                            o.create_new(true);
                        }
                    }
                } else {
                    o.truncate(true);
                }
            }
        }
        meta::set_umask(self.state.umask);
        let other = self.state.umask != meta::umask_in_force();
        let fresh = other && meta::stat(path, true).is_err();
        let f = self.sys.open(path, &o)?;
        if fresh {
            let _ = meta::chmod(path, 0o666 & !self.state.umask);
        }
        Ok(f)
    }

    /// Opens `/dev/fd/N`, `/proc/self/fd/N`, `/dev/stdin`, `/dev/stdout` and `/dev/stderr`: the
    /// script's own descriptors. The outer `None` means an ordinary file.
    pub(crate) fn open_virtual(&self, name: &[u8]) -> Option<Option<DescriptorTarget>> {
        let n = match name {
            b"/dev/stdin" => 0,
            b"/dev/stdout" => 1,
            b"/dev/stderr" => 2,
            _ => {
                let digits = [b"/dev/fd/".as_slice(), b"/proc/self/fd/"]
                    .iter()
                    .find_map(|dir| name.strip_prefix(*dir))?;
                std::str::from_utf8(digits).ok()?.parse::<u32>().ok()?
            }
        };
        Some(self.state.fds.get(n).cloned())
    }
}

/// Returns the parts of a word without command and process substitutions.
fn without_commands(parts: &[WordPart]) -> Vec<WordPart> {
    let kept = |part: &WordPart| match part {
        WordPart::CommandSub(_) | WordPart::ProcessSub(_) => None,
        WordPart::DoubleQuoted(inner) => Some(WordPart::DoubleQuoted(without_commands(inner))),
        other => Some(other.clone()),
    };
    parts.iter().filter_map(kept).collect()
}

/// Returns the `NAME` or `NAME[SUBSCRIPT]` of `{NAME}>`, because some messages name it instead of
/// the file.
fn variable_of(fd: &RedirectFd) -> Option<Vec<u8>> {
    let RedirectFd::Var { name, subscript } = fd else { return None };
    let mut shown = name.to_vec();
    sh_expand::push_subscript(subscript.as_ref(), &mut shown);
    Some(shown)
}
