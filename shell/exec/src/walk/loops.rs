//! Loops, and how `break` and `continue` unwind through them.

use std::ops::ControlFlow;
use std::rc::Rc;

use sh_expand::{Attributes, ErrorReach, PositionalList, Str};
use sh_syntax::ast::{ArithFor, Command, For, While};

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::options::SetOpt;
use crate::state::traps::Trap;
use crate::state::vars::OUTERMOST;

impl Shell<'_> {
    /// Handles the end of one round of a loop body: `Break` ends the loop with a result.
    fn loop_round(&mut self, r: Flow, status: &mut i32) -> ControlFlow<Flow> {
        match r {
            Ok(s) => {
                *status = s;
                ControlFlow::Continue(())
            }
            Err(Unwind::Break(n)) => {
                *status = self.state.status;
                ControlFlow::Break(if n <= 1 { Ok(*status) } else { Err(Unwind::Break(n - 1)) })
            }
            Err(Unwind::Continue(n)) if n <= 1 => {
                *status = self.state.status;
                ControlFlow::Continue(())
            }
            Err(Unwind::Continue(n)) => ControlFlow::Break(Err(Unwind::Continue(n - 1))),
            Err(other) => ControlFlow::Break(Err(other)),
        }
    }

    fn in_loop(&mut self, f: impl FnOnce(&mut Self) -> Flow) -> Flow {
        self.run_within(CommandContext::Loop, f)
    }

    pub(crate) fn while_command(&mut self, w: &While) -> Flow {
        self.in_loop(|s| {
            let mut status = 0;
            loop {
                s.loop_tick()?;
                let condition = s.ignoring_errexit(|s| s.run_list(&w.condition));
                // `continue` in the condition skips the body. Its status is 0, so that it ends an
                // `until`, as in bash.
                let skips_body = matches!(condition, Err(Unwind::Continue(n)) if n <= 1);
                let mut value = 0;
                if let ControlFlow::Break(r) = s.loop_round(condition, &mut value) {
                    // After `break` in the condition, the status is that of the last round.
                    return r.map(|_| status);
                }
                if (value == 0) == w.until {
                    return Ok(status);
                }
                if skips_body {
                    continue;
                }
                let body = s.run_list(&w.body);
                if let ControlFlow::Break(r) = s.loop_round(body, &mut status) {
                    return r;
                }
            }
        })
    }

    /// Returns the words that a `for` or `select` iterates over.
    fn loop_words(&mut self, f: &For) -> Result<PositionalList, Unwind> {
        let Some(words) = &f.words else { return Ok(self.state.params.list().clone()) };
        self.budget.expansion_bytes = 0;
        match sh_expand::expand_words(self, words) {
            Ok(out) => Ok(out.into()),
            Err(e) => Err(self.expansion_failed(e)),
        }
    }

    /// Sets the loop variable. If it is a nameref, the word becomes its target, except in `select`,
    /// which assigns to the target.
    fn set_loop_var(&mut self, name: &[u8], value: Str, points: bool) -> Result<bool, Unwind> {
        let mut nameref = points
            && self.state.vars.get(name).is_some_and(|v| v.attrs.intersects(Attributes::NAMEREF));
        if nameref {
            match self.follow_nameref(name) {
                Ok(target) => nameref = target.name.first() != Some(&OUTERMOST),
                Err(e) => {
                    self.print_error(&[&e.message()]);
                    return Ok(false);
                }
            }
        }
        if nameref && !crate::state::assign::is_reference(&value) {
            self.print_error(&[b"`", &value, b"': not a valid identifier"]);
            return Ok(false);
        }
        let r = if nameref {
            self.set_scalar(name, value)
        } else {
            self.assign_scalar_to(name, None, false, value)
        };
        match r {
            Ok(()) => Ok(true),
            Err(e) if e.reach() == ErrorReach::Readonly => {
                self.print_error(&[&e.message()]);
                self.refused()?;
                let options = &self.state.options;
                if options.has_set(SetOpt::Posix) && !options.is_interactive() {
                    // POSIX 2.8.1: a variable assignment error ends the shell.
                    Err(Unwind::Exit(self.status_given_up()))
                } else {
                    Ok(false)
                }
            }
            Err(e) if !points => {
                self.print_error(&[&e.message()]);
                Ok(false)
            }
            Err(e) => Err(self.expansion_failed(e)),
        }
    }

    pub(crate) fn for_command(&mut self, f: &For, c: &Command) -> Flow {
        self.state.line = c.line;
        if !crate::state::assign::is_name(&f.name) {
            return self.bad_loop_name(f, true);
        }
        self.in_loop(|s| {
            let words = s.loop_words(f)?;
            let mut status = 0;
            for word in words.iter() {
                s.loop_tick()?;
                s.state.line = c.line;
                if !s.run_debug_trap(c)? {
                    continue;
                }
                if s.is_tracing() {
                    s.trace_for(b"for ", f);
                }
                if !s.set_loop_var(&f.name, word.clone(), true)? {
                    return Ok(1);
                }
                let body = s.run_list(&f.body);
                if let ControlFlow::Break(r) = s.loop_round(body, &mut status) {
                    return r;
                }
            }
            Ok(status)
        })
    }

    /// Reports an invalid name, which ends a shell in POSIX mode, except in `select`.
    fn bad_loop_name(&mut self, f: &For, ends: bool) -> Flow {
        self.print_error(&[b"`", &f.name, b"': not a valid identifier"]);
        let options = &self.state.options;
        if ends && options.has_set(SetOpt::Posix) && !options.is_interactive() {
            Err(self.ends_with(2))
        } else {
            Ok(1)
        }
    }

    pub(crate) fn arith_for(&mut self, f: &ArithFor, c: &Command) -> Flow {
        self.in_loop(|s| {
            let mut status = 0;
            if let Some(init) = &f.init
                && s.loop_arith(init, c)?.is_none()
            {
                return Ok(1);
            }
            loop {
                s.loop_tick()?;
                if let Some(condition) = &f.condition {
                    match s.loop_arith(condition, c)? {
                        None => return Ok(1),
                        Some(0) => return Ok(status),
                        Some(_) => {}
                    }
                }
                let body = s.run_list(&f.body);
                if let ControlFlow::Break(r) = s.loop_round(body, &mut status) {
                    return r;
                }
                if let Some(step) = &f.step
                    && s.loop_arith(step, c)?.is_none()
                {
                    return Ok(1);
                }
            }
        })
    }

    fn loop_arith(
        &mut self,
        a: &sh_syntax::ast::ArithText,
        c: &Command,
    ) -> Result<Option<i64>, Unwind> {
        self.state.line = c.line;
        if self.mentions.commands || self.state.traps.sees_trap(Trap::Debug) {
            self.note_command(|| [b"((", a.word.raw.as_ref(), b"))"].concat());
        }
        if self.state.traps.sees_trap(Trap::Debug) {
            self.run_debug_action()?;
        }
        self.budget.expansion_bytes = 0;
        match self.traced_arith(a) {
            Ok(n) => Ok(Some(n)),
            Err(e) => self.expression_failed(b"((: ", e).map(|_| None),
        }
    }

    pub(crate) fn select_command(&mut self, f: &For, c: &Command) -> Flow {
        self.state.line = c.line;
        if !crate::state::assign::is_name(&f.name) {
            return self.bad_loop_name(f, false);
        }
        if self.is_tracing() {
            self.trace_for(b"select ", f);
        }
        self.in_loop(|s| {
            let words = s.loop_words(f)?;
            if words.is_empty() || !s.run_debug_trap(c)? {
                return Ok(0);
            }
            let mut status = 0;
            let mut show = true;
            loop {
                s.loop_tick()?;
                if show {
                    let menu = menu_text(&words, s.screen_columns());
                    s.write_err(&menu);
                }
                let ps3 = s.variable_text(b"PS3").unwrap_or_else(|| Rc::new(b"#? ".to_vec()));
                let ps3 = s.expand_prompt(&ps3).unwrap_or_default();
                s.write_err(&ps3);
                let mut line = Vec::new();
                let read = s.read_until(0, Some(b'\n'), usize::MAX, &mut line);
                if !matches!(read, Ok(true)) {
                    let _ = s.write_fd(1, b"\n");
                    s.set_quietly(b"REPLY", &line);
                    return Ok(1);
                }
                let reply = line.strip_suffix(b"\n").unwrap_or(&line).to_vec();
                s.set_quietly(b"REPLY", &reply);
                if reply.is_empty() {
                    show = true;
                    continue;
                }
                show = false;
                let n = sh_expand::arith::plain_integer(reply.trim_ascii()).unwrap_or(0);
                let chosen = usize::try_from(n - 1).ok().and_then(|i| words.get(i)).cloned();
                if !s.set_loop_var(&f.name, chosen.unwrap_or_default(), false)? {
                    return Ok(1);
                }
                let body = s.run_list(&f.body);
                if let ControlFlow::Break(r) = s.loop_round(body, &mut status) {
                    return r;
                }
                if s.variable_text(b"REPLY").is_none_or(|r| r.is_empty()) {
                    show = true;
                }
            }
        })
    }

    fn screen_columns(&mut self) -> usize {
        let c = self.variable_text(b"COLUMNS").unwrap_or_default();
        sh_expand::arith::plain_integer(&c).and_then(|c| usize::try_from(c).ok()).unwrap_or(80)
    }
}

/// Returns the menu in bash's layout: numbered words in columns that fit the width, with tabs
/// between them.
fn menu_text(words: &[Str], columns: usize) -> Vec<u8> {
    let digits = |n: usize| n.to_string().len();
    let width = |w: &Str| String::from_utf8_lossy(w).chars().count();
    let cell = words.iter().map(width).max().unwrap_or(0) + digits(words.len()) + 2 + 2;
    let across = columns.checked_div(cell).unwrap_or(1).max(1);
    let mut rows = words.len().div_ceil(across).max(1);
    // Instead of a single row, bash lists the words one below the other.
    if rows == 1 {
        rows = words.len();
    }
    let mut out = Vec::new();
    for row in 0..rows {
        let (mut at, mut column) = (row, 0);
        loop {
            let number = if column == 0 { digits(rows) } else { digits(words.len()) };
            out.extend_from_slice(format!("{:>number$}) ", at + 1).as_bytes());
            out.extend_from_slice(&words[at]);
            let end = column + width(&words[at]) + number + 2;
            at += rows;
            if at >= words.len() {
                break;
            }
            column += cell;
            indent_to(&mut out, end, column);
        }
        out.push(b'\n');
    }
    out
}

/// Appends tabs and blanks that lead from one column to another.
fn indent_to(out: &mut Vec<u8>, mut from: usize, to: usize) {
    while from < to {
        if to / 8 > from / 8 {
            out.push(b'\t');
            from += 8 - from % 8;
        } else {
            out.push(b' ');
            from += 1;
        }
    }
}
