//! Tokens.

use crate::builtin::AwkBuiltin;

/// A token of the language. Only the parser knows whether a `/` divides or begins a regular
/// expression; for the latter it calls [`crate::lex::AwkLexer::lex_regex`].
#[derive(Clone, Debug, PartialEq)]
pub enum AwkTok {
    Eof,
    Newline,
    Semi,
    Comma,
    LBrace,
    RBrace,
    LParen,
    RParen,
    LBracket,
    RBracket,
    Num(f64),
    Str(Vec<u8>),
    /// `@/re/`.
    TypedRegex(Vec<u8>),
    Name(Vec<u8>),
    /// A name with `(` right after it: a call to one of the program's functions.
    FuncName(Vec<u8>),
    /// `@name` with `(` right after it: a call through a variable.
    Indirect(Vec<u8>),
    Builtin(AwkBuiltin),
    Key(Keyword),
    Assign,
    /// `+= -= *= /= %= ^=`, the operator alone.
    OpAssign(AwkArith),
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Incr,
    Decr,
    Not,
    And,
    Or,
    Match,
    NoMatch,
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
    Append,
    Pipe,
    /// `|&`.
    Coproc,
    Question,
    Colon,
    Dollar,
}

/// Arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwkArith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
}

/// Reserved words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    Begin,
    End,
    BeginFile,
    EndFile,
    Break,
    Case,
    Continue,
    Default,
    Delete,
    Do,
    Else,
    Exit,
    For,
    Function,
    Getline,
    If,
    In,
    Next,
    NextFile,
    Print,
    Printf,
    Return,
    Switch,
    While,
}

/// Returns the keyword of this name.
pub fn find_keyword(name: &[u8]) -> Option<Keyword> {
    use Keyword as K;
    Some(match name {
        b"BEGIN" => K::Begin,
        b"END" => K::End,
        b"BEGINFILE" => K::BeginFile,
        b"ENDFILE" => K::EndFile,
        b"break" => K::Break,
        b"case" => K::Case,
        b"continue" => K::Continue,
        b"default" => K::Default,
        b"delete" => K::Delete,
        b"do" => K::Do,
        b"else" => K::Else,
        b"exit" => K::Exit,
        b"for" => K::For,
        b"function" | b"func" => K::Function,
        b"getline" => K::Getline,
        b"if" => K::If,
        b"in" => K::In,
        b"next" => K::Next,
        b"nextfile" => K::NextFile,
        b"print" => K::Print,
        b"printf" => K::Printf,
        b"return" => K::Return,
        b"switch" => K::Switch,
        b"while" => K::While,
        _ => return None,
    })
}
