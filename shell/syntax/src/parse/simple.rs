//! Simple commands (POSIX XCU 2.9.1; bash manual 3.2.2).

use super::command::assignment_word;
use crate::ast::{Command, CommandKind, CommandWord, SimpleCommand, Word};
use crate::lex::token::{Ctx, Lexeme, Tk, Token};
use crate::lex::{Machine, Res};

impl Machine<'_, '_> {
    /// A simple command, or a function definition that starts like one; its first token is
    /// read ahead.
    pub fn simple_command(&mut self) -> Res<Command> {
        let line = self.look.as_ref().map_or(self.line, |t| t.line);
        self.simple_command_from(SimpleCommand::default(), Ctx::COMMAND, line)
    }

    /// The same with its name read already, which has no assignments before it and names no
    /// function.
    pub fn simple_command_after(&mut self, name: Token) -> Res<Command> {
        let mut simple = SimpleCommand::default();
        let mut ctx = Ctx::PREFIX;
        match name.lexeme {
            Lexeme::Word(w) => {
                ctx = after_name(&w);
                simple.words.push(CommandWord::Word(w));
            }
            Lexeme::Assign(a) => simple.assignments.push(*a),
            _ => {}
        }
        self.simple_command_from(simple, ctx, name.line)
    }

    fn simple_command_from(&mut self, mut simple: SimpleCommand, mut ctx: Ctx, line: u32) -> Res<Command> {
        let mut redirects = Vec::new();
        loop {
            match self.next_kind(ctx)? {
                Tk::Word => {
                    let token = self.take();
                    match token.lexeme {
                        Lexeme::Assign(a) => {
                            if simple.words.is_empty() {
                                simple.assignments.push(*a);
                                ctx = Ctx::PREFIX;
                            } else if ctx.has(Ctx::DECL) {
                                simple.words.push(CommandWord::Assignment(*a));
                            } else {
                                simple.words.push(CommandWord::Word(assignment_word(*a)));
                            }
                        }
                        Lexeme::Word(w) => {
                            if simple.words.is_empty() {
                                ctx = after_name(&w);
                            }
                            simple.words.push(CommandWord::Word(w));
                        }
                        _ => {}
                    }
                }
                Tk::LParen
                    if simple.words.len() == 1 && simple.assignments.is_empty() && redirects.is_empty() =>
                {
                    let Some(CommandWord::Word(name)) = simple.words.pop() else {
                        return Err(self.unexpected());
                    };
                    return self.function_parens(name, line);
                }
                kind if is_redirect(kind) => {
                    redirects.push(self.redirect()?);
                    if simple.words.is_empty() {
                        ctx = Ctx::PREFIX;
                    }
                }
                _ if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() => {
                    return Err(self.unexpected());
                }
                _ => break,
            }
        }
        Ok(Command { kind: CommandKind::Simple(simple), redirects, line })
    }
}

/// How the operands of the command called `name` are read.
fn after_name(name: &Word) -> Ctx {
    match name.as_literal() {
        Some(b"declare" | b"typeset" | b"local" | b"export" | b"readonly") => Ctx::DECL,
        Some(b"let" | b"eval" | b"alias") => Ctx::LET,
        _ => Ctx::ARG,
    }
}

/// Whether a redirection starts with `kind`.
pub(super) fn is_redirect(kind: Tk) -> bool {
    matches!(
        kind,
        Tk::IoNumber(_)
            | Tk::IoVar
            | Tk::Less
            | Tk::Great
            | Tk::LessLess
            | Tk::LessLessDash
            | Tk::LessLessLess
            | Tk::GreatGreat
            | Tk::LessAmp
            | Tk::GreatAmp
            | Tk::LessGreat
            | Tk::GreatPipe
            | Tk::AmpGreat
            | Tk::AmpGreatGreat
    )
}
