//! Simple commands (POSIX XCU 2.9.1): expand the words, perform assignments and redirections, then
//! call a function, a builtin or a program.

use std::rc::Rc;

use sh_expand::{ErrorReach, PendingPathnames, Str};
use sh_syntax::ast::{
    AssignValue, Assignment, Command, CommandWord, ParamName, RedirectFd, SimpleCommand, Word,
    WordPart,
};

use super::before::SCOPED;
use crate::Shell;

use crate::builtin::BuiltinCall;
use crate::command::ResolvedCommand;
use crate::shell::{Flow, Unwind};
use crate::state::assign::is_name;
use crate::state::here::CommandContext;
use crate::state::options::SetOpt;
use crate::state::vars::ScopeKind;

/// An assignment among the operands of a declaration builtin. An assignment to an element is passed
/// to the builtin as text instead.
pub struct DeclarationOperand<'c> {
    /// Its index in `argv`.
    pub index: usize,
    pub assignment: &'c Assignment,
    /// The expanded value of a scalar.
    pub value: Str,
}

/// The words of a simple command after expansion.
#[derive(Default)]
pub struct ExpandedWords<'c> {
    pub argv: Vec<Str>,
    pub operands: Vec<DeclarationOperand<'c>>,
}

/// The time for which the redirections of a simple command last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectReach {
    /// The redirections last for the command.
    Command,
    /// The redirections last for the process, which exists only for this command. So the replaced
    /// descriptors are not needed again.
    Process,
}

/// Applies `set -k`: assignments after the command's name also go to its environment.
fn with_keywords(s: &SimpleCommand, line: u32) -> SimpleCommand {
    let mut out = SimpleCommand { words: Vec::new(), ..s.clone() };
    for w in &s.words {
        match w {
            CommandWord::Word(word) => match keyword_assignment(word, line) {
                Some(a) => out.assignments.push(a),
                None => out.words.push(w.clone()),
            },
            CommandWord::Assignment(a) => out.assignments.push(a.clone()),
        }
    }
    out
}

/// Returns a word as an assignment if its source has that form.
fn keyword_assignment(word: &Word, line: u32) -> Option<Assignment> {
    let (WordPart::Literal(first), rest) = word.parts.split_first()? else { return None };
    let at = memchr::memchr(b'=', first)?;
    let (name, append) = match first[..at].strip_suffix(b"+") {
        Some(name) => (name, true),
        None => (&first[..at], false),
    };
    let (name, subscript) = if is_name(name) {
        (name, None)
    } else {
        // This is an element. The error that it cannot be set in this way is reported later.
        match sh_syntax::parse::parse_parameter(name, &Default::default()) {
            Some((ParamName::Variable(_), Some(subscript))) => {
                (&name[..memchr::memchr(b'[', name)?], Some(subscript))
            }
            _ => return None,
        }
    };
    let mut parts = Vec::with_capacity(word.parts.len());
    if first.len() > at + 1 {
        parts.push(WordPart::Literal(Rc::new(first[at + 1..].to_vec())));
    }
    parts.extend(rest.iter().cloned());
    Some(Assignment {
        name: name.into(),
        subscript,
        append,
        value: AssignValue::Scalar(Word { parts, raw: word.raw[at + 1..].into() }),
        raw: word.raw.clone(),
        line,
    })
}

impl Shell<'_> {
    pub(crate) fn run_simple(
        &mut self,
        s: &SimpleCommand,
        c: &Command,
        reach: RedirectReach,
    ) -> Flow {
        self.check_budgets()?;
        if self.state.options.has_set(SetOpt::NoExec) && !self.state.options.is_interactive() {
            return Ok(0);
        }
        self.state.line = c.line;
        self.budget.expansion_bytes = 0;
        self.last_subst = None;
        if (self.mentions.commands || !self.state.traps.is_empty()) && !self.run_debug_trap(c)? {
            return Ok(0);
        }
        let moved;
        let s = if self.state.options.has_set(SetOpt::Keyword) {
            moved = with_keywords(s, c.line);
            &moved
        } else {
            s
        };
        self.ending_process_subs(|shell| {
            if s.words.is_empty() {
                return shell.assignments_only(s, c);
            }
            let words = shell.expand_words(s)?;
            if words.argv.is_empty() {
                shell.assignments_only(s, c)
            } else {
                shell.dispatch_command(&words, s, c, reach)
            }
        })
    }

    /// Expands the words, keeping assignment operands apart.
    pub(crate) fn expand_words<'c>(
        &mut self,
        s: &'c SimpleCommand,
    ) -> Result<ExpandedWords<'c>, Unwind> {
        let mut out =
            ExpandedWords { argv: Vec::with_capacity(s.words.len()), ..ExpandedWords::default() };
        let mut late = PendingPathnames::default();
        for w in &s.words {
            let r = match w {
                CommandWord::Word(word) => {
                    sh_expand::expand_word_into(self, word, &mut out.argv, &mut late)
                }
                CommandWord::Assignment(a) => self.expand_operand(a, &mut out, &mut late),
            };
            r.map_err(|e| self.expansion_failed(e))?;
        }
        match late.finish_paths(self, &mut out.argv) {
            Ok(moved) => {
                for operand in &mut out.operands {
                    let before = moved.iter().filter(|(at, _)| *at < operand.index);
                    let by: isize = before.map(|(_, by)| by).sum();
                    operand.index = operand.index.saturating_add_signed(by);
                }
                Ok(out)
            }
            Err(e) => Err(self.expansion_failed(e)),
        }
    }

    fn expand_operand<'c>(
        &mut self,
        a: &'c Assignment,
        out: &mut ExpandedWords<'c>,
        late: &mut PendingPathnames,
    ) -> Result<(), sh_expand::ExpandError> {
        if let AssignValue::Scalar(value) = &a.value
            && self.state.options.has_set(SetOpt::BraceExpand)
            && value.raw.contains(&b'{')
        {
            // If brace expansion applies, it makes ordinary words of the assignment.
            let mut parts = value.parts.clone();
            let at = a.raw.len() - value.raw.len();
            parts.insert(0, WordPart::Quoted(Rc::new(a.raw[..at].to_vec())));
            if sh_expand::expand_braces_into(self, &parts, &mut out.argv, late)? {
                return Ok(());
            }
        }
        let index = out.argv.len();
        let value = match &a.value {
            AssignValue::Scalar(word) => {
                // The builtin receives an element as text, finds the end of the subscript and
                // expands it once more.
                let mut text = match &a.subscript {
                    Some(subscript) => {
                        let key = sh_expand::subscript_text(self, subscript)?;
                        let sign: &[u8] = if a.append { b"+=" } else { b"=" };
                        [a.name.as_ref(), b"[", key.as_slice(), b"]", sign].concat()
                    }
                    None => a.raw[..a.raw.len() - word.raw.len()].to_vec(),
                };
                let value = sh_expand::expand_assignment_value(self, word)?;
                text.extend_from_slice(&value);
                out.argv.push(Rc::new(text));
                value
            }
            // The builtin expands its words, because its options determine how.
            AssignValue::Array(_) => {
                self.trace_assignment(a, None);
                out.argv.push(Rc::new(a.name.to_vec()));
                Str::default()
            }
        };
        if a.subscript.is_none() || matches!(a.value, AssignValue::Array(_)) {
            out.operands.push(DeclarationOperand { index, assignment: a, value });
        }
        Ok(())
    }

    /// Runs a command without a command word: assignments stay in force, redirections are performed
    /// and undone.
    fn assignments_only(&mut self, s: &SimpleCommand, c: &Command) -> Flow {
        for a in &s.assignments {
            self.perform_assignment(a).map_err(|e| self.assignment_failed(e))?;
        }
        self.state.last_arg = Str::default();
        if c.redirects.iter().any(|r| matches!(r.fd, RedirectFd::Var { .. })) {
            // bash forks for `{name}>`, so neither the variable nor the descriptor persists.
            let status = self.in_subshell(|s| match s.apply_redirects(&c.redirects) {
                Ok(_) => Ok(0),
                Err(Some(u)) => Err(u),
                Err(None) => Ok(1),
            });
            return Ok(if status != 0 { status } else { self.last_subst.unwrap_or(0) });
        }
        if !c.redirects.is_empty() {
            match self.apply_redirects(&c.redirects) {
                Ok(saved) => self.restore_redirects(saved),
                Err(Some(u)) => return Err(u),
                Err(None) => {
                    self.set_status(1);
                    return Ok(1);
                }
            }
        }
        Ok(self.last_subst.unwrap_or(0))
    }

    pub(super) fn assignment_failed(&mut self, e: sh_expand::ExpandError) -> Unwind {
        let readonly = e.reach() == ErrorReach::Readonly;
        let u = self.expansion_failed(e);
        // POSIX 2.8.1: an assignment error ends a non-interactive shell.
        if readonly
            && self.state.options.has_set(SetOpt::Posix)
            && !self.state.options.has_set(SetOpt::ErrExit)
            && !self.state.options.is_interactive()
        {
            return Unwind::GiveUp(self.status_given_up());
        }
        u
    }

    fn dispatch_command(
        &mut self,
        words: &ExpandedWords<'_>,
        s: &SimpleCommand,
        c: &Command,
        reach: RedirectReach,
    ) -> Flow {
        let argv = &words.argv;
        if argv[0].starts_with(b"%") {
            return self.job_command(words);
        }
        let mut found = self.find_command(&argv[0]);
        let special = matches!(&found, ResolvedCommand::Builtin(b) if b.special);
        let posix = self.state.options.has_set(SetOpt::Posix);
        let scoped = !s.assignments.is_empty();
        // POSIX 2.9.1: assignments before a special builtin stay.
        let persist = special && posix;
        if scoped {
            self.state.vars.push_scope(ScopeKind::Temporary);
            if let Err(u) = self.temporary_assignments(&s.assignments, special) {
                self.pop_scope();
                return Err(u);
            }
            found = self.find_again(found, &argv[0], &s.assignments);
        }
        self.trace_behind(argv, scoped);
        let r = match &found {
            ResolvedCommand::Builtin(b) if scoped && !SCOPED.contains(&b.name) => {
                let scope = self.state.vars.scope_level();
                self.run_within(CommandContext::Builtin { scope }, |s| {
                    s.with_redirects(&found, words, (c, reach), scoped)
                })
            }
            _ => self.with_redirects(&found, words, (c, reach), scoped),
        };
        if scoped {
            if persist {
                // A variable stays with its current value, unless the builtin has unset it.
                for a in &s.assignments {
                    self.promote_variable(&a.name);
                }
            }
            self.pop_scope();
        }
        // A command that was abandoned does not set `$_`.
        let abandoned = matches!(r, Err(Unwind::Discard(_)));
        if let Some(last) = argv.last().filter(|_| !abandoned) {
            self.state.last_arg = last.clone();
        }
        match r {
            Ok(status) => {
                self.state.status = status;
                Ok(status)
            }
            Err(u) => Err(u),
        }
    }

    /// Runs `%job` as `fg %job`, before any redirection.
    fn job_command(&mut self, words: &ExpandedWords<'_>) -> Flow {
        let mut argv = vec![Rc::new(b"fg".to_vec())];
        argv.extend(words.argv.iter().cloned());
        let words = ExpandedWords { argv, ..ExpandedWords::default() };
        let found = self.find_command(b"fg");
        if self.is_tracing() {
            self.trace_command(&words.argv[1..]);
        }
        let status = self.run_found(&found, &words, None, false)?;
        self.state.status = status;
        Ok(status)
    }

    fn with_redirects(
        &mut self,
        found: &ResolvedCommand,
        words: &ExpandedWords<'_>,
        (c, reach): (&Command, RedirectReach),
        scoped: bool,
    ) -> Flow {
        if c.redirects.is_empty() {
            let r = self.run_found(found, words, Some(c), scoped);
            self.leaving.keeps_redirects = false;
            return r;
        }
        let redirected = self.redirect_found(found, c, scoped);
        let saved = match redirected {
            Ok(saved) if reach == RedirectReach::Process => {
                self.forget_saved(saved);
                Vec::new()
            }
            Ok(saved) => saved,
            // A program's redirections affect only its own process.
            Err(Some(Unwind::Exit(s) | Unwind::GiveUp(s) | Unwind::Discard(s)))
                if matches!(found, ResolvedCommand::Program(_) | ResolvedCommand::Nothing(_)) =>
            {
                return Ok(s);
            }
            Err(Some(u)) => return Err(u),
            Err(None) => {
                self.set_status(1);
                let special = matches!(found, ResolvedCommand::Builtin(b) if b.special);
                let options = &self.state.options;
                return if special && options.has_set(SetOpt::Posix) && !options.is_interactive() {
                    Err(self.ends_with(1))
                } else {
                    Ok(1)
                };
            }
        };
        let mut r = self.run_found(found, words, Some(c), scoped);
        if matches!(found, ResolvedCommand::Builtin(_)) {
            self.sync_output();
            if let Some(e) = self.finish_output() {
                let text = box_sys::error_text(&e);
                self.builtin_error(&words.argv[0], &[b"write error: ", text.as_bytes()]);
                r = r.map(|s| if s == 0 { 1 } else { s });
            }
        }
        // `exec` without a command makes its redirections stay.
        let stay = r.is_ok() && std::mem::take(&mut self.leaving.keeps_redirects);
        if stay {
            self.forget_saved(saved)
        } else {
            self.restore_redirects(saved)
        }
        r
    }

    /// Performs the redirections of a command. For a program, assignments in their expansions
    /// belong to the program's own process, too.
    fn redirect_found(
        &mut self,
        found: &ResolvedCommand,
        c: &Command,
        scoped: bool,
    ) -> Result<crate::redirect::Saved, Option<Unwind>> {
        if !matches!(found, ResolvedCommand::Program(_)) || scoped {
            return self.redirect_unscoped(c, scoped);
        }
        let vars = self.state.vars.clone();
        let r = self.apply_redirects(&c.redirects);
        self.state.vars = vars;
        r
    }

    /// Performs redirections. If the assignments before the command are in a scope (`scoped`), the
    /// expansions do not see them.
    pub(crate) fn redirect_unscoped(
        &mut self,
        c: &Command,
        scoped: bool,
    ) -> Result<crate::redirect::Saved, Option<Unwind>> {
        if !scoped {
            return self.apply_redirects(&c.redirects);
        }
        let vars = self.state.vars.lift_scope();
        let r = self.apply_redirects(&c.redirects);
        self.state.vars.put_scope(ScopeKind::Temporary, vars);
        r
    }

    pub(crate) fn run_found(
        &mut self,
        found: &ResolvedCommand,
        words: &ExpandedWords<'_>,
        c: Option<&Command>,
        scoped: bool,
    ) -> Flow {
        let alone = std::mem::take(&mut self.state.here.alone);
        match found {
            ResolvedCommand::Builtin(b) => {
                let call = BuiltinCall { argv: &words.argv, operands: &words.operands };
                match self.run_builtin(b, &call) {
                    // In a subshell that runs only this builtin, bash turns an abandoned command
                    // into a failure.
                    Err(Unwind::Discard(_)) if alone => Ok(1),
                    r => r,
                }
            }
            ResolvedCommand::Function(f) => self.call_function(f, &words.argv, scoped),
            ResolvedCommand::Program(p) => self.run_program(p, &words.argv, c),
            ResolvedCommand::Nothing(e) => self.command_missing(e, &words.argv),
        }
    }
}

impl Shell<'_> {
    /// Performs the assignments and the trace of a command that is about to be spawned; the caller
    /// removes the scope.
    pub(crate) fn begin_program(
        &mut self,
        words: &ExpandedWords<'_>,
        s: &SimpleCommand,
    ) -> Result<(), Unwind> {
        self.temporary_assignments(&s.assignments, false)?;
        if self.is_tracing() {
            self.trace_command(&words.argv);
        }
        Ok(())
    }
}
