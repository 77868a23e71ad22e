//! Code that may run to its end before its reader starts: builtins that write a bounded amount and
//! neither read standard input, nor wait, nor start anything; and compound commands that consist
//! only of these. Such a stage of a pipeline needs no process.

use sh_syntax::ast::{Command, CommandKind, CommandList, CommandWord, Word, WordPart};

use super::stages::literal_text;
use crate::Shell;

/// The maximum depth of functions that are inspected.
const MAX_DEPTH: u32 = 8;

/// Builtins that qualify.
const SAFE: &[&[u8]] = &[
    b":",
    b"[",
    b"alias",
    b"break",
    b"caller",
    b"cd",
    b"continue",
    b"declare",
    b"dirs",
    b"echo",
    b"export",
    b"false",
    b"hash",
    b"help",
    b"history",
    b"jobs",
    b"let",
    b"local",
    b"popd",
    b"printf",
    b"pushd",
    b"pwd",
    b"readonly",
    b"return",
    b"set",
    b"shift",
    b"shopt",
    b"test",
    b"times",
    b"trap",
    b"true",
    b"type",
    b"typeset",
    b"ulimit",
    b"umask",
    b"unalias",
    b"unset",
    b"exit",
    b"getopts",
    b"compgen",
    b"enable",
];

impl Shell<'_> {
    pub(crate) fn is_bounded(&self, c: &Command) -> bool {
        self.is_bounded_command(c, 0)
    }

    fn bounded_list(&self, l: &CommandList, depth: u32) -> bool {
        l.items.iter().all(|i| {
            !i.background
                && i.and_or.first.timed.is_none()
                && std::iter::once(&i.and_or.first).chain(i.and_or.rest.iter().map(|(_, p)| p)).all(
                    |p| {
                        p.timed.is_none()
                            && p.stages.len() == 1
                            && p.stages.iter().all(|s| self.is_bounded_command(&s.command, depth))
                    },
                )
        })
    }

    fn is_bounded_command(&self, c: &Command, depth: u32) -> bool {
        if depth > MAX_DEPTH || !c.redirects.iter().all(harmless_redirect) {
            return false;
        }
        let depth = depth + 1;
        match &c.kind {
            CommandKind::Simple(s) => match s.words.first() {
                None => true,
                Some(CommandWord::Assignment(_)) => false,
                Some(CommandWord::Word(w)) => {
                    let Some(name) = literal_text(w) else { return false };
                    // Substitutions in the words are allowed: they may run any command, but the
                    // shell expands the words itself in either case.
                    if let Some(f) = self.state.functions.get(name) {
                        return f
                            .function
                            .get()
                            .is_ok_and(|f| self.is_bounded_command(&f.body, depth + 2));
                    }
                    SAFE.contains(&name)
                        && self.enabled_builtin(name).is_some()
                        && s.words.iter().all(|w| match w {
                            CommandWord::Word(w) => no_substitution(w),
                            CommandWord::Assignment(_) => true,
                        })
                }
            },
            CommandKind::Brace(l) => self.bounded_list(l, depth),
            CommandKind::Subshell(l) => self.bounded_list(l, depth),
            CommandKind::If(i) => {
                i.branches
                    .iter()
                    .all(|(c, b)| self.bounded_list(c, depth) && self.bounded_list(b, depth))
                    && i.otherwise.as_ref().is_none_or(|b| self.bounded_list(b, depth))
            }
            CommandKind::For(f) => {
                f.words.as_ref().is_none_or(|w| w.iter().all(no_substitution))
                    && self.bounded_list(&f.body, depth)
            }
            CommandKind::Case(k) => k.arms.iter().all(|a| self.bounded_list(&a.body, depth)),
            CommandKind::Arith(_) | CommandKind::Cond(_) | CommandKind::Function(_) => true,
            CommandKind::While(_)
            | CommandKind::ArithFor(_)
            | CommandKind::Select(_)
            | CommandKind::Coproc(_) => false,
        }
    }
}

fn harmless_redirect(r: &sh_syntax::ast::Redirect) -> bool {
    use sh_syntax::ast::{RedirectOp as Op, RedirectTarget};
    match (&r.target, r.op) {
        (RedirectTarget::HereDoc(_), _) => true,
        (RedirectTarget::Word(w), Op::DupRead | Op::DupWrite) => literal_text(w).is_some(),
        (RedirectTarget::Word(w), Op::HereString) => no_substitution(w),
        (RedirectTarget::Word(w), _) => literal_text(w) == Some(b"/dev/null"),
    }
}

/// Returns whether a word has no process substitution, which would start a process. Command
/// substitutions are waited for here as in any other place.
fn no_substitution(w: &Word) -> bool {
    w.parts.iter().all(|p| !matches!(p, WordPart::ProcessSub(_)))
}
