//! From tokens to a typed program: a recursive-descent parser that also resolves names.
//!
//! | file | contents |
//! |---|---|
//! | `parse/item` | rules, functions |
//! | `parse/stmt` | statements |
//! | `parse/expr` | expressions down to operators |
//! | `parse/primary` | operands: constants, variables, calls, `getline` |

mod expr;
mod item;
mod primary;
mod stmt;

use std::collections::{HashMap, HashSet};

use crate::ast::{AwkFunction, AwkProgram, AwkVar, SourceLine};
use crate::error::AwkSyntaxError;
use crate::lex::{AwkLexer, AwkSource, Position};
use crate::special;
use crate::token::{AwkTok, Keyword};

/// The maximum nesting of expressions and statements.
const MAX_DEPTH: usize = 200;
/// The maximum length of a chain of comparisons, which associate to the left.
const MAX_CHAIN: usize = 100;

type Result<T> = std::result::Result<T, AwkSyntaxError>;

/// A parsed program and its warnings.
pub struct ParsedScript {
    pub program: AwkProgram,
    pub warnings: Vec<(Position, String)>,
    /// Warnings that are printed under `--lint` only.
    pub lint: Vec<String>,
}

/// Parses all sources as one program.
pub fn parse(sources: &[AwkSource], traditional: bool) -> Result<ParsedScript> {
    let mut p = AwkParser {
        lexer: AwkLexer::new(sources, traditional),
        tok: AwkTok::Eof,
        ahead: None,
        program: AwkProgram::default(),
        globals: HashMap::new(),
        functions: HashMap::new(),
        locals: Vec::new(),
        context: StatementContext::default(),
        no_gt: false,
        depth: 0,
        called: HashSet::new(),
    };
    for name in special::NAMES {
        p.declare_global(name.as_bytes());
    }
    p.advance_token()?;
    p.program_items()?;
    let lint = p.unmatched_functions();
    Ok(ParsedScript { program: p.program, warnings: p.lexer.warnings, lint })
}

/// The statements that are allowed at the current place.
#[derive(Clone, Copy, Debug, Default)]
struct StatementContext {
    loops: usize,
    switches: usize,
    in_function: bool,
    /// The name of the rule, if it is one such as BEGIN or END, in which `next` is not allowed.
    special_rule: Option<&'static str>,
}

struct AwkParser<'a> {
    lexer: AwkLexer<'a>,
    tok: AwkTok,
    /// A token read ahead, with its start.
    ahead: Option<(AwkTok, Position)>,
    program: AwkProgram,
    globals: HashMap<Vec<u8>, u32>,
    functions: HashMap<Vec<u8>, u32>,
    /// Parameters of the function being parsed.
    locals: Vec<Vec<u8>>,
    context: StatementContext,
    /// `>` is a redirection here, not a comparison (in `print` outside parentheses).
    no_gt: bool,
    depth: usize,
    /// Functions that are called by name.
    called: HashSet<u32>,
}

impl AwkParser<'_> {
    fn advance_token(&mut self) -> Result<()> {
        self.tok = match self.ahead.take() {
            Some((tok, start)) => {
                self.lexer.start = start;
                tok
            }
            None => self.lexer.next()?,
        };
        Ok(())
    }

    /// Returns the token after the current one.
    fn peek_token(&mut self) -> Result<&AwkTok> {
        if self.ahead.is_none() {
            let start = self.lexer.start;
            let tok = self.lexer.next()?;
            self.ahead = Some((tok, self.lexer.start));
            self.lexer.start = start;
        }
        Ok(self.ahead.as_ref().map_or(&AwkTok::Eof, |(t, _)| t))
    }

    fn parse_line(&self) -> SourceLine {
        SourceLine::new(self.lexer.start.source, self.lexer.start.line)
    }

    fn take_token(&mut self, tok: &AwkTok) -> Result<bool> {
        if self.tok == *tok {
            self.advance_token()?;
            return Ok(true);
        }
        Ok(false)
    }

    fn expect_token(&mut self, tok: &AwkTok) -> Result<()> {
        if self.take_token(tok)? { Ok(()) } else { Err(self.unexpected_token()) }
    }

    fn is_key(&self, k: Keyword) -> bool {
        self.tok == AwkTok::Key(k)
    }

    fn unexpected_token(&self) -> AwkSyntaxError {
        self.lexer.error_here(match self.tok {
            AwkTok::Newline => "unexpected newline or end of string",
            _ => "syntax error",
        })
    }

    fn skip_newlines(&mut self) -> Result<()> {
        while self.tok == AwkTok::Newline {
            self.advance_token()?;
        }
        Ok(())
    }

    /// Skips newlines and semicolons.
    fn skip_terminators(&mut self) -> Result<()> {
        while matches!(self.tok, AwkTok::Newline | AwkTok::Semi) {
            self.advance_token()?;
        }
        Ok(())
    }

    fn enter_level(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.lexer.error_here("nested too deeply"));
        }
        Ok(())
    }

    fn leave_level(&mut self) {
        self.depth -= 1;
    }

    /// Runs `f` one level deeper.
    fn parse_nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.enter_level()?;
        let result = f(self);
        self.leave_level();
        result
    }

    fn declare_global(&mut self, name: &[u8]) -> u32 {
        if let Some(n) = self.globals.get(name) {
            return *n;
        }
        let n = self.program.globals.len() as u32;
        self.program.globals.push(name.to_vec());
        self.globals.insert(name.to_vec(), n);
        n
    }

    /// Returns the variable of this name.
    fn resolve_variable(&mut self, name: &[u8]) -> Result<AwkVar> {
        if let Some(i) = self.locals.iter().rposition(|l| l == name) {
            return Ok(AwkVar::Local(i as u32));
        }
        if self.functions.get(name).is_some_and(|f| self.program.functions[*f as usize].defined) {
            let shown = String::from_utf8_lossy(name);
            let message = format!(
                "function `{shown}' called with space between name and `('\nor used as a variable or an array"
            );
            return Err(self.lexer.error_here(message));
        }
        Ok(AwkVar::Global(self.declare_global(name)))
    }

    /// Returns the function of this name, and declares it if it is new.
    fn declare_function(&mut self, name: &[u8]) -> u32 {
        if let Some(n) = self.functions.get(name) {
            return *n;
        }
        let n = self.program.functions.len() as u32;
        self.program.functions.push(AwkFunction {
            name: name.to_vec(),
            params: 0,
            body: Vec::new(),
            defined: false,
            line: self.parse_line(),
        });
        self.functions.insert(name.to_vec(), n);
        n
    }

    /// Returns the warnings of `--lint` about functions that are defined but never called, or
    /// called but never defined.
    fn unmatched_functions(&self) -> Vec<String> {
        let mut out = Vec::new();
        for (n, f) in self.program.functions.iter().enumerate() {
            let shown = String::from_utf8_lossy(&f.name);
            if !f.defined {
                out.push(format!("function `{shown}' called but never defined"));
            } else if !self.called.contains(&(n as u32)) {
                out.push(format!("function `{shown}' defined but never called directly"));
            }
        }
        out
    }
}
