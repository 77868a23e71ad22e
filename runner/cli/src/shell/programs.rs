//! Which lines run on a terminal of the session.
//!
//! A call has no terminal, because its output is kept in its outcome. A line that consists of
//! programs alone has no need of the session's shell beyond its directory and environment, so it
//! runs beside calls, on a terminal, and makes its commit when it ends.

use std::collections::BTreeSet;

use sh_syntax::ast::{Command, CommandKind, CommandList, CommandWord, RedirectTarget, Word};
use sh_syntax::parse::{ParseOptions, parse_all};

/// Returns whether a line consists of programs alone: pipelines and lists of simple commands in the
/// foreground, each the name of a program with literal operands. What the shell does itself, and
/// what it would expand, is for a call: it may define a name or change a variable.
pub fn is_for_terminal(line: &str, programs: &BTreeSet<String>) -> bool {
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    let Ok(list) = parse_all(line.as_bytes(), &options) else { return false };
    !list.items.is_empty() && is_of_programs(&list, programs)
}

fn is_of_programs(list: &CommandList, programs: &BTreeSet<String>) -> bool {
    list.items.iter().all(|item| {
        let pipelines =
            std::iter::once(&item.and_or.first).chain(item.and_or.rest.iter().map(|(_, p)| p));
        !item.background
            && pipelines.flat_map(|p| &p.stages).all(|stage| is_program(&stage.command, programs))
    })
}

fn is_program(command: &Command, programs: &BTreeSet<String>) -> bool {
    let CommandKind::Simple(simple) = &command.kind else { return false };
    let Some(CommandWord::Word(name)) = simple.words.first() else { return false };
    let name = std::str::from_utf8(&name.raw).unwrap_or_default();
    let is_literal_word = |word: &CommandWord| match word {
        CommandWord::Word(word) => is_literal(word),
        CommandWord::Assignment(_) => false,
    };
    let is_literal_target = |target: &RedirectTarget| match target {
        RedirectTarget::Word(word) => is_literal(word),
        _ => false,
    };
    simple.assignments.is_empty()
        && programs.contains(name)
        && simple.words.iter().all(is_literal_word)
        && command.redirects.iter().all(|r| is_literal_target(&r.target))
}

/// Returns whether nothing in a word depends on the state of the shell.
fn is_literal(word: &Word) -> bool {
    let is_special = |b: &u8| matches!(b, b'$' | b'`' | b'(');
    !word.raw.iter().any(is_special)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_programs_are_found() {
        let programs = ["ls", "less", "vi", "grep"].map(String::from).into();
        for yes in ["vi a", "ls | less", "ls *.c && vi 'a b'", "grep x < f > g", "ls; ls"] {
            assert!(is_for_terminal(yes, &programs), "{yes}");
        }
        for no in [
            "cd /tmp",
            "vi $f",
            "ls &",
            "X=1 ls",
            "for i in a; do ls; done",
            "ls | while read x; do :; done",
            "ls `pwd`",
            "vi <(ls)",
            "(ls)",
            "f() { ls; }",
            "cat <<E\nE",
            "if",
            "",
            "mine",
            "ls; x=1",
        ] {
            assert!(!is_for_terminal(no, &programs), "{no}");
        }
    }
}
