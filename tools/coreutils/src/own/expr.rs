//! `expr` (POSIX XCU expr; GNU manual "expr invocation", coreutils 9.1): integers of any size, patterns by
//! [`box_text::regex`].
//!
//! The expression is evaluated while it is parsed. Operands that `|` and `&` skip are parsed with
//! `is_live` false: then operators compute nothing, so that `1 \| 1 / 0` is 1.

use std::cmp::Ordering;
use std::io::Write;

use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit};
use box_text::regex::{Captures, Regex, RegexError, RegexOptions, RegexSyntax};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};

use crate::common::{input, quote};

const HELP: HelpPage = HelpPage::new(
    "EXPRESSION",
    "Print the value of EXPRESSION.",
    &[HelpSection::new(
        "Operators, from the weakest to the strongest",
        &[
            ("  A | B", "A unless it is empty or 0, else B"),
            ("  A & B", "A unless A or B is empty or 0, else 0"),
            ("  A < B, <=, =, !=, >=, >", "1 if so, else 0: of integers by value, else as texts"),
            ("  A + B, A - B", "Sum, difference"),
            ("  A * B, A / B, A % B", "Product, quotient, remainder"),
            (
                "  TEXT : REGEXP",
                "Match a basic regular expression at the start of TEXT: what \\( \\) matched, or \
        without them how many characters did",
            ),
            ("  match TEXT REGEXP", "The same"),
            ("  substr TEXT POS LENGTH", "Part of TEXT; its first character is at POS 1"),
            ("  index TEXT CHARS", "Where the first of CHARS is in TEXT, or 0"),
            ("  length TEXT", "How many characters TEXT has"),
            ("  + TOKEN", "TOKEN as a text, even if it is an operator"),
            ("  ( EXPRESSION )", "Value of EXPRESSION"),
        ],
    )],
)
.with_notes(
    "Exit status: 0 if the value is neither empty nor 0, 1 if it is, 2 if EXPRESSION \
        is not valid, 3 after another error.",
);

/// The status if the value cannot be written or takes too long to compute.
const ERROR: Exit = Exit(3);

/// The maximum nesting of operands, because each level takes some of the stack.
const MAX_DEPTH: usize = 400;

/// The binary operators, from the weakest level to the strongest.
const LEVELS: &[&[&[u8]]] = &[
    &[b"|"],
    &[b"&"],
    &[b"<", b"<=", b"=", b"==", b"!=", b">=", b">"],
    &[b"+", b"-"],
    &[b"*", b"/", b"%"],
    &[b":"],
];

/// The reason why an expression has no value.
#[derive(Debug)]
enum ExprProblem {
    /// An operand is missing after this word.
    Missing(Vec<u8>),
    Unexpected(Vec<u8>),
    UnexpectedClose,
    /// `)` is missing after this word, which is the last one.
    OpenAfter(Vec<u8>),
    /// This word is in the place of `)`.
    OpenInstead(Vec<u8>),
    TooDeep,
    NoInteger,
    DivisionByZero,
    Pattern(RegexError),
    /// Matching was stopped, because it takes too long.
    Endless,
}

impl ExprProblem {
    /// Returns the message in two parts.
    fn parts(&self) -> (&'static str, Vec<u8>) {
        match self {
            ExprProblem::Missing(word) => {
                ("syntax error: missing argument after ", quote::quote_in_sentence(word))
            }
            ExprProblem::Unexpected(word) => {
                ("syntax error: unexpected argument ", quote::quote_in_sentence(word))
            }
            ExprProblem::UnexpectedClose => ("syntax error: unexpected ')'", Vec::new()),
            ExprProblem::OpenAfter(word) => {
                ("syntax error: expecting ')' after ", quote::quote_in_sentence(word))
            }
            ExprProblem::OpenInstead(word) => {
                ("syntax error: expecting ')' instead of ", quote::quote_in_sentence(word))
            }
            ExprProblem::TooDeep => ("the expression is nested too deeply", Vec::new()),
            ExprProblem::NoInteger => ("non-integer argument", Vec::new()),
            ExprProblem::DivisionByZero => ("division by zero", Vec::new()),
            ExprProblem::Pattern(e) => ("", e.to_string().into_bytes()),
            ExprProblem::Endless => ("the pattern takes too long to match", Vec::new()),
        }
    }

    fn status(&self) -> Exit {
        if matches!(self, ExprProblem::Endless) { ERROR } else { Exit::USAGE }
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let is_long = |word: &[u8], name: &str| word.len() > 2 && name.as_bytes().starts_with(word);
    let words = match args {
        [only] if is_long(only, "--help") => return Ok(ctx.print(&HELP.text(&ctx.name))),
        [only] if is_long(only, "--version") => return Ok(ctx.print(&ctx.version())),
        [first, rest @ ..] if first == b"--" => rest,
        all => all,
    };
    if words.is_empty() {
        input::missing_operand(ctx, None);
        return Err(Exit::USAGE);
    }
    let mut parser = ExprParser { words, at: 0, depth: 0, utf8: ctx.env.is_utf8() };
    match parser.whole() {
        Ok(value) => {
            let status = if value.is_null() { Exit::FAILURE } else { Exit::SUCCESS };
            let line = [&*value.into_text(), b"\n"].concat();
            let written = ctx.stdout.write_all(&line).and_then(|()| ctx.stdout.flush());
            Ok(if written.is_ok() { status } else { ERROR })
        }
        Err(problem) => {
            let (text, word) = problem.parts();
            ctx.error_bytes(&[text.as_bytes(), &word]);
            Ok(problem.status())
        }
    }
}

/// A value: the text of an operand, or the result of an operator.
#[derive(Clone, Debug)]
enum ExprValue {
    Integer(BigInt),
    Text(Vec<u8>),
}

impl ExprValue {
    fn count(n: usize) -> ExprValue {
        ExprValue::Integer(n.into())
    }

    /// Returns whether `|` and `&` treat the value as false: it is empty, or zero.
    fn is_null(&self) -> bool {
        match self {
            ExprValue::Integer(n) => n.is_zero(),
            ExprValue::Text(text) if text.is_empty() => true,
            ExprValue::Text(text) => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                !digits.is_empty() && digits.iter().all(|c| *c == b'0')
            }
        }
    }

    fn into_text(self) -> Vec<u8> {
        match self {
            ExprValue::Integer(n) => n.to_string().into_bytes(),
            ExprValue::Text(text) => text,
        }
    }

    fn integer(&self) -> Option<BigInt> {
        match self {
            ExprValue::Integer(n) => Some(n.clone()),
            ExprValue::Text(text) => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
                if is_number { BigInt::parse_bytes(text, 10) } else { None }
            }
        }
    }
}

/// The words of an expression, and the position in them.
struct ExprParser<'w> {
    words: &'w [Vec<u8>],
    at: usize,
    depth: usize,
    /// Whether characters are UTF-8 sequences.
    utf8: bool,
}

impl ExprParser<'_> {
    fn whole(&mut self) -> Result<ExprValue, ExprProblem> {
        let value = self.binary(0, true)?;
        match self.words.get(self.at) {
            Some(extra) => Err(ExprProblem::Unexpected(extra.clone())),
            None => Ok(value),
        }
    }

    /// Takes the next word if it is one of these.
    fn take_one_of(&mut self, words: &[&'static [u8]]) -> Option<&'static [u8]> {
        let next = self.words.get(self.at)?;
        let found = words.iter().find(|word| next == *word)?;
        self.at += 1;
        Some(found)
    }

    /// Takes the next word; it is an error if there is none.
    fn take_word(&mut self) -> Result<Vec<u8>, ExprProblem> {
        let word = self.words.get(self.at).ok_or_else(|| ExprProblem::Missing(self.last_word()))?;
        self.at += 1;
        Ok(word.clone())
    }

    fn last_word(&self) -> Vec<u8> {
        self.at.checked_sub(1).and_then(|at| self.words.get(at)).cloned().unwrap_or_default()
    }

    /// Parses the operators of a level and of all stronger ones.
    fn binary(&mut self, level: usize, is_live: bool) -> Result<ExprValue, ExprProblem> {
        let Some(operators) = LEVELS.get(level) else {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(ExprProblem::TooDeep);
            }
            let value = self.operand(is_live);
            self.depth -= 1;
            return value;
        };
        let mut left = self.binary(level + 1, is_live)?;
        while let Some(operator) = self.take_one_of(operators) {
            let is_right_live = match operator {
                b"|" => is_live && left.is_null(),
                b"&" => is_live && !left.is_null(),
                _ => is_live,
            };
            let right = self.binary(level + 1, is_right_live)?;
            left = match operator {
                b"|" if !left.is_null() => left,
                b"|" if right.is_null() => ExprValue::count(0),
                b"|" => right,
                b"&" if left.is_null() || right.is_null() => ExprValue::count(0),
                b"&" => left,
                _ if !is_live => ExprValue::count(0),
                b":" => self.matched(left.into_text(), &right.into_text())?,
                b"+" | b"-" | b"*" | b"/" | b"%" => calculated(operator, &left, &right)?,
                _ => ExprValue::count(usize::from(is_true(operator, left, right))),
            };
        }
        Ok(left)
    }

    /// Parses a word, a parenthesis, or a function with its operands.
    fn operand(&mut self, is_live: bool) -> Result<ExprValue, ExprProblem> {
        // Only an operand is parsed after a function, no operation, so the level is the strongest.
        let level = LEVELS.len();
        let function = self.take_one_of(&[b"+", b"length", b"match", b"index", b"substr"]);
        let value = match function {
            Some(b"+") => ExprValue::Text(self.take_word()?),
            Some(b"length") => {
                let text = self.binary(level, is_live)?.into_text();
                ExprValue::count(self.characters(&text).count())
            }
            Some(b"match") => {
                let text = self.binary(level, is_live)?.into_text();
                let pattern = self.binary(level, is_live)?.into_text();
                if is_live { self.matched(text, &pattern)? } else { ExprValue::count(0) }
            }
            Some(b"index") => {
                let text = self.binary(level, is_live)?.into_text();
                let wanted = self.binary(level, is_live)?.into_text();
                let at =
                    self.characters(&text).position(|c| self.characters(&wanted).any(|w| w == c));
                ExprValue::count(at.map_or(0, |at| at + 1))
            }
            Some(_) => {
                let text = self.binary(level, is_live)?.into_text();
                let from = self.binary(level, is_live)?;
                let length = self.binary(level, is_live)?;
                ExprValue::Text(self.part(&text, &from, &length))
            }
            None => match self.take_one_of(&[b"(", b")"]) {
                Some(b"(") => {
                    let value = self.binary(0, is_live)?;
                    match self.words.get(self.at) {
                        None => return Err(ExprProblem::OpenAfter(self.last_word())),
                        Some(word) if word != b")" => {
                            return Err(ExprProblem::OpenInstead(word.clone()));
                        }
                        Some(_) => self.at += 1,
                    }
                    value
                }
                Some(_) => return Err(ExprProblem::UnexpectedClose),
                None => ExprValue::Text(self.take_word()?),
            },
        };
        Ok(value)
    }

    /// Returns the characters of a text; a byte that belongs to no character is returned as one.
    fn characters<'t>(&self, text: &'t [u8]) -> Box<dyn Iterator<Item = &'t [u8]> + 't> {
        if !self.utf8 {
            return Box::new(text.chunks(1));
        }
        Box::new(text.utf8_chunks().flat_map(|chunk| {
            let valid = chunk.valid();
            let of = move |(at, c): (usize, char)| valid.as_bytes().get(at..at + c.len_utf8());
            valid.char_indices().filter_map(of).chain(chunk.invalid().chunks(1))
        }))
    }

    /// Returns `length` characters from a position on, which counts from 1; empty unless both are
    /// positive numbers.
    fn part(&self, text: &[u8], from: &ExprValue, length: &ExprValue) -> Vec<u8> {
        let one_up = |value: &ExprValue| {
            let n = value.integer().filter(|n| *n > BigInt::zero())?;
            Some(n.to_usize().unwrap_or(usize::MAX))
        };
        let (Some(from), Some(length)) = (one_up(from), one_up(length)) else { return Vec::new() };
        self.characters(text).skip(from - 1).take(length).flatten().copied().collect()
    }

    /// Matches a pattern at the start of a text.
    fn matched(&self, text: Vec<u8>, pattern: &[u8]) -> Result<ExprValue, ExprProblem> {
        let options = RegexOptions::new(RegexSyntax::Expr).utf8(self.utf8);
        let regex = Regex::new(pattern, &options).map_err(ExprProblem::Pattern)?;
        let mut groups = Captures::default();
        let found = regex.captures_at(&text, 0, &mut groups);
        if regex.gave_up() {
            return Err(ExprProblem::Endless);
        }
        // If any match is at the start, it is the leftmost one.
        let end = groups.get(0).filter(|(start, _)| found && *start == 0).map(|(_, end)| end);
        let matched = end.and_then(|end| text.get(..end));
        if regex.group_count() == 0 {
            return Ok(ExprValue::count(matched.map_or(0, |text| self.characters(text).count())));
        }
        let group = matched.and_then(|_| groups.get(1)).and_then(|(a, b)| text.get(a..b));
        Ok(ExprValue::Text(group.unwrap_or_default().to_vec()))
    }
}

fn calculated(
    operator: &[u8],
    left: &ExprValue,
    right: &ExprValue,
) -> Result<ExprValue, ExprProblem> {
    let (Some(a), Some(b)) = (left.integer(), right.integer()) else {
        return Err(ExprProblem::NoInteger);
    };
    if matches!(operator, b"/" | b"%") && b.is_zero() {
        return Err(ExprProblem::DivisionByZero);
    }
    Ok(ExprValue::Integer(match operator {
        b"+" => a + b,
        b"-" => a - b,
        b"*" => a * b,
        b"/" => a / b,
        _ => a % b,
    }))
}

/// Compares two integers by value, and other texts by their bytes.
fn is_true(operator: &[u8], left: ExprValue, right: ExprValue) -> bool {
    let order = match (left.integer(), right.integer()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => left.into_text().cmp(&right.into_text()),
    };
    match operator {
        b"<" => order == Ordering::Less,
        b"<=" => order != Ordering::Greater,
        b">=" => order != Ordering::Less,
        b">" => order == Ordering::Greater,
        b"!=" => order != Ordering::Equal,
        _ => order == Ordering::Equal,
    }
}
