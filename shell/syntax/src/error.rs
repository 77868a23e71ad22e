//! Errors of the parser, worded as bash 5.2 words them.

use crate::ast::Text;

/// A syntax error.
///
/// Bash prints one to three lines for it, each with its own prefix; [`SyntaxError::lines`]
/// gives them as `(line number, message)`:
/// ```text
/// bash: line 3: syntax error near unexpected token `)'
/// bash: line 3: `echo )'
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {}", String::from_utf8_lossy(message))]
pub struct SyntaxError {
    /// Line of the first message, counted as the parser was told to.
    pub line: u32,
    /// The message without any prefix; empty when bash says nothing.
    pub message: Text,
    /// Further messages, such as the offending source line in `` `...' ``.
    pub more: Vec<(u32, Text)>,
    /// The input ended where more could have made it right.
    pub incomplete: bool,
    /// The parser's own limit was hit, not the grammar.
    pub limit: bool,
    /// What bash does after reporting it.
    pub kind: ErrorKind,
}

/// What bash does after a syntax error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorKind {
    /// The script ends with status 2; so do `eval` and `.`.
    #[default]
    Grammar,
    /// The input ended inside quotes or brackets: the script ends with the status of the last
    /// command, or with 2 if that is 0; `eval` and `.` return 2.
    Unclosed,
    /// An error inside `[[ ]]` or in the head of `for ((`: the script ends as if its input had ended
    /// there, with the status of the last command; `eval` and `.` return 2. There may be no
    /// message at all.
    Conditional,
    /// The same within a command substitution: the script ends with the status of the last
    /// command, or with 1 if that is 0; `eval` and `.` end the shell so.
    Substitution,
    /// Another error within a command substitution: the script ends with status 2, `eval` and
    /// `.` end the shell with 1.
    Nested,
    /// An error inside `name=(...)`: the line is dropped, the status is 1 and reading goes on
    /// with the next line, in `eval` and `.`, too.
    Array,
}

/// What is said of the head of `for ((`: it has less than three expressions, or more.
pub(crate) const FEW_EXPRESSIONS: &[u8] = b"syntax error: arithmetic expression required";
pub(crate) const MANY_EXPRESSIONS: &[u8] = b"syntax error: `;' unexpected";

impl SyntaxError {
    /// The head of `for ((` does not have three expressions: in `eval` and `.` this does not end a
    /// POSIX shell.
    pub fn is_in_arith_for(&self) -> bool {
        [FEW_EXPRESSIONS, MANY_EXPRESSIONS].contains(&&*self.message)
    }

    /// A quote was left open.
    pub(crate) fn leaves_quote_open(&self) -> bool {
        let open = [b"matching `\"'", b"matching `''", b"matching ``'"];
        open.iter().any(|end| self.message.ends_with(*end))
    }

    /// More input may complete the command.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Every message line with its line number, first to last.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let first = std::iter::once((self.line, &*self.message)).filter(|(_, m)| !m.is_empty());
        first.chain(self.more.iter().map(|(l, m)| (*l, &**m)))
    }

    /// The whole report: each line is `prefix`, `line N: `, message. The prefix of bash is
    /// `bash: `, `bash: -c: `, `script: ` and the like.
    pub fn render(&self, prefix: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for (line, message) in self.lines() {
            out.extend_from_slice(prefix);
            out.extend_from_slice(format!("line {line}: ").as_bytes());
            out.extend_from_slice(message);
            out.push(b'\n');
        }
        out
    }
}

/// Something bash warns about while reading, such as a here-document ended by the end of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub line: u32,
    /// The text after `warning: `.
    pub message: Text,
}

/// An arithmetic expression that does not parse.
///
/// Bash prints `EXPRESSION: MESSAGE (error token is "TOKEN")`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: {message} (error token is \"{}\")",
    String::from_utf8_lossy(expression),
    String::from_utf8_lossy(token)
)]
pub struct ArithError {
    /// The whole expression, leading blanks removed.
    pub expression: Text,
    /// Such as `syntax error: operand expected`.
    pub message: &'static str,
    /// The rest of the expression from the offending token on.
    pub token: Text,
}
