//! `dc` (GNU dc 1.4): a calculator in reverse Polish notation, on `bc`'s numbers.
//!
//! Running macros are kept in a list instead of the call stack, so that loops (`[...la x]`) neither
//! nest nor exhaust the stack.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::rc::Rc;

use box_applet::command::ChildCommand;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use num_bigint::BigInt;

use super::decimal::{Decimal, MAX};

#[derive(Clone, Copy, PartialEq, Eq)]
enum DcFlag {
    Expression,
    File,
}

const SPEC: Spec<DcFlag> = Spec::new(
    "[OPTION] [FILE]...",
    "Calculate in reverse Polish notation.",
    &[
        Opt::new(DcFlag::Expression, 'e', "expression").with_argument("EXPR", "Run EXPR"),
        Opt::new(DcFlag::File, 'f', "file").with_argument("FILE", "Run the commands in FILE"),
    ],
);

/// The maximum number of texts that run at a time, each called by the one before.
const MAX_DEPTH: usize = 100_000;

#[derive(Clone)]
enum DcValue {
    Number(Decimal),
    Text(Rc<Vec<u8>>),
}

/// The result of a command. The error is the text of the message after `dc: `.
type Result<T> = std::result::Result<T, &'static str>;

const EMPTY: &str = "stack empty";
const NOT_NUMERIC: &str = "non-numeric value";

#[derive(Default)]
struct DcMachine {
    stack: Vec<DcValue>,
    registers: HashMap<u8, Vec<DcValue>>,
    arrays: HashMap<(u8, i64), DcValue>,
    /// The running texts with their positions, the innermost last.
    texts: Vec<(Rc<Vec<u8>>, usize)>,
    scale: usize,
    input_base: i64,
    output_base: i64,
    line_length: usize,
    quit: bool,
}

/// Runs `dc`.
pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let line_length = ctx.env.get(b"DC_LINE_LENGTH").and_then(crate::common::number::parse_decimal);
    let mut m = DcMachine {
        input_base: 10,
        output_base: 10,
        line_length: line_length.and_then(|n| usize::try_from(n).ok()).unwrap_or(70),
        ..DcMachine::default()
    };
    let mut sources: Vec<DcSource> = p.options.into_iter().map(DcSource::from_option).collect();
    sources.extend(p.operands.into_iter().map(DcSource::File));
    if sources.is_empty() {
        sources.push(DcSource::File(b"-".to_vec()));
    }
    for source in sources {
        let Some(text) = source.read_text(ctx) else { continue };
        m.texts = vec![(Rc::new(text), 0)];
        m.run(ctx);
        if m.quit {
            break;
        }
    }
    Ok(Exit::SUCCESS)
}

/// The source of a program.
enum DcSource {
    Expression(Vec<u8>),
    File(Vec<u8>),
}

impl DcSource {
    fn from_option((flag, value): (DcFlag, Option<Vec<u8>>)) -> DcSource {
        match flag {
            DcFlag::Expression => DcSource::Expression(value.unwrap_or_default()),
            DcFlag::File => DcSource::File(value.unwrap_or_default()),
        }
    }

    /// Reads the program; `None` if it cannot be read, which is reported.
    fn read_text(self, ctx: &mut Ctx<'_>) -> Option<Vec<u8>> {
        let name = match self {
            DcSource::Expression(text) => return Some(text),
            DcSource::File(name) => name,
        };
        let text = ctx.read(&name).ok();
        if text.is_none() {
            let shown = String::from_utf8_lossy(&name);
            ctx.error(format_args!("Could not open file {shown}"));
        }
        text
    }
}

impl DcMachine {
    fn run(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(c) = self.take_byte() {
            match self.run_command(ctx, c) {
                Ok(()) => {}
                Err(why) => ctx.error(why),
            }
            if self.quit {
                return;
            }
        }
    }

    /// Takes the next byte of the innermost text; texts at their end are removed.
    fn take_byte(&mut self) -> Option<u8> {
        loop {
            let (text, at) = self.texts.last_mut()?;
            if let Some(c) = text.get(*at) {
                *at += 1;
                return Some(*c);
            }
            self.texts.pop();
        }
    }

    fn peek_byte(&self) -> Option<u8> {
        let (text, at) = self.texts.last()?;
        text.get(*at).copied()
    }

    /// Takes the next byte as part of a command: a register's name, or the comparison after `!`.
    fn take_letter(&mut self) -> Result<u8> {
        let (text, at) = self.texts.last_mut().ok_or("unexpected end of input")?;
        let c = *text.get(*at).ok_or("unexpected end of input")?;
        *at += 1;
        Ok(c)
    }

    fn pop(&mut self) -> Result<DcValue> {
        self.stack.pop().ok_or(EMPTY)
    }

    fn pop_number(&mut self) -> Result<Decimal> {
        match self.stack.last() {
            None => Err(EMPTY),
            Some(DcValue::Text(_)) => Err(NOT_NUMERIC),
            Some(DcValue::Number(n)) => {
                let n = n.clone();
                self.stack.pop();
                Ok(n)
            }
        }
    }

    /// Pops the top of the stack; returns `None` if it is a text or too large.
    fn pop_integer(&mut self) -> Result<Option<i64>> {
        Ok(match self.pop()? {
            DcValue::Number(n) => n.to_i64(),
            DcValue::Text(_) => None,
        })
    }

    /// Pops the two upper values and returns them, the lower one first; both stay if one of them is
    /// not a number.
    fn pop_pair(&mut self) -> Result<(Decimal, Decimal)> {
        match self.stack.as_slice() {
            [.., DcValue::Number(a), DcValue::Number(b)] => {
                let pair = (a.clone(), b.clone());
                self.stack.truncate(self.stack.len() - 2);
                Ok(pair)
            }
            [_, _, ..] => Err(NOT_NUMERIC),
            _ => Err(EMPTY),
        }
    }

    fn push(&mut self, n: Decimal) {
        self.stack.push(DcValue::Number(n));
    }

    fn run_command(&mut self, ctx: &mut Ctx<'_>, c: u8) -> Result<()> {
        match c {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => {}
            b'0'..=b'9' | b'A'..=b'F' | b'.' | b'_' => self.read_literal(c),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'~' | b'^' | b'|' | b'v' => {
                self.run_arithmetic(ctx, c)?
            }
            b'p' => {
                let text = self.show_value(self.stack.last().ok_or(EMPTY)?);
                let _ = ctx.stdout.write_all(&[&text[..], b"\n"].concat());
            }
            b'n' => {
                let top = self.pop()?;
                let _ = ctx.stdout.write_all(&self.show_value(&top));
            }
            b'P' => match self.pop()? {
                DcValue::Text(t) => drop(ctx.stdout.write_all(&t)),
                DcValue::Number(n) => {
                    let bytes = n.to_fixed(0).magnitude().to_bytes_be();
                    let _ = ctx.stdout.write_all(&bytes);
                }
            },
            b'f' => {
                for v in self.stack.iter().rev() {
                    let _ = ctx.stdout.write_all(&[&self.show_value(v)[..], b"\n"].concat());
                }
            }
            b'c' => self.stack.clear(),
            b'd' => {
                let top = self.stack.last().cloned().ok_or(EMPTY)?;
                self.stack.push(top);
            }
            b'r' => {
                let n = self.stack.len();
                if n >= 2 {
                    self.stack.swap(n - 1, n - 2);
                }
            }
            b'R' => {
                // A text counts as 0, as in GNU dc.
                let n = self.pop_integer()?.unwrap_or(0);
                let depth = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
                let depth = depth.min(self.stack.len());
                let from = self.stack.len() - depth;
                if depth > 1 && n > 0 {
                    self.stack[from..].rotate_left(1);
                } else if depth > 1 {
                    self.stack[from..].rotate_right(1);
                }
            }
            b's' | b'S' | b'l' | b'L' | b':' | b';' => self.run_register(c)?,
            b'i' | b'o' | b'k' => self.run_parameter(c)?,
            b'I' => self.push(Decimal::from_int(self.input_base)),
            b'O' => self.push(Decimal::from_int(self.output_base)),
            b'K' => self.push(Decimal::from_int(self.scale as i64)),
            b'z' => self.push(Decimal::from_int(self.stack.len() as i64)),
            b'Z' => {
                let n = match self.pop()? {
                    DcValue::Number(n) => n.length(),
                    DcValue::Text(t) => t.len(),
                };
                self.push(Decimal::from_int(n as i64));
            }
            b'X' => {
                let n = match self.pop()? {
                    DcValue::Number(n) => n.scale(),
                    DcValue::Text(_) => 0,
                };
                self.push(Decimal::from_int(n as i64));
            }
            b'a' => {
                let text = match self.pop()? {
                    DcValue::Number(n) => n.to_fixed(0).magnitude().to_bytes_le()[..1].to_vec(),
                    DcValue::Text(t) => t.iter().take(1).copied().collect(),
                };
                self.stack.push(DcValue::Text(Rc::new(text)));
            }
            b'[' => self.read_text(),
            b'x' => match self.pop()? {
                DcValue::Text(t) => self.call_text(t)?,
                number => self.stack.push(number),
            },
            b'<' | b'>' | b'=' => self.run_compare(c, false)?,
            b'!' => match self.peek_byte() {
                Some(c @ (b'<' | b'>' | b'=')) => {
                    self.take_letter()?;
                    self.run_compare(c, true)?;
                }
                _ => self.run_system(ctx),
            },
            b'?' => {
                let mut line = Vec::new();
                let _ = ctx.stdout.flush();
                let _ = ctx.stdin.read_until(b'\n', &mut line);
                self.call_text(Rc::new(line))?;
            }
            b'q' => self.leave_levels(2),
            b'Q' => {
                let n = self.pop_number()?.to_i64().filter(|n| *n > 0);
                self.leave_levels(
                    usize::try_from(n.ok_or("Q command requires a number >= 1")?)
                        .unwrap_or(usize::MAX),
                );
            }
            b'#' => while self.take_in_line().is_some() {},
            other => {
                let shown = char::from(other);
                ctx.error(format_args!("'{shown}' (0{other:o}) unimplemented"));
            }
        }
        Ok(())
    }

    /// Takes the next byte before the end of the line.
    fn take_in_line(&mut self) -> Option<u8> {
        let (text, at) = self.texts.last_mut()?;
        let c = *text.get(*at)?;
        *at += 1;
        (c != b'\n').then_some(c)
    }

    /// Reads a number that begins with this byte. A digit keeps its value in every base: even in
    /// base 2, `9` is nine.
    fn read_literal(&mut self, first: u8) {
        let negative = first == b'_';
        if !negative && let Some((_, at)) = self.texts.last_mut() {
            // The loop below reads this byte again.
            *at -= 1;
        }
        let base = BigInt::from(self.input_base);
        let (mut whole, mut unit, mut places) = (BigInt::from(0), BigInt::from(1), 0usize);
        let mut point = false;
        while let Some(c) = self.peek_byte() {
            match c {
                b'0'..=b'9' | b'A'..=b'F' => {
                    whole = whole * &base + char::from(c).to_digit(16).unwrap_or(0);
                    if point {
                        unit *= &base;
                        places += 1;
                    }
                }
                b'.' if !point => point = true,
                _ => break,
            }
            let _ = self.take_letter();
        }
        let power = u32::try_from(places).unwrap_or(u32::MAX);
        let n = Decimal::from_fixed(whole * BigInt::from(10).pow(power) / unit, places);
        self.push(if negative { n.negate() } else { n });
    }

    /// Reads a text in brackets, which may hold others.
    fn read_text(&mut self) {
        let mut out = Vec::new();
        let mut depth = 1;
        while let Ok(c) = self.take_letter() {
            match c {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            out.push(c);
        }
        self.stack.push(DcValue::Text(Rc::new(out)));
    }

    fn run_arithmetic(&mut self, ctx: &mut Ctx<'_>, c: u8) -> Result<()> {
        if c == b'v' {
            let DcValue::Number(n) = self.pop()? else {
                return Err("square root of nonnumeric attempted");
            };
            let root = n.sqrt(self.scale).ok_or("square root of negative number")?;
            self.push(root);
            return Ok(());
        }
        if c == b'|' {
            return self.power_modulo();
        }
        let (a, b) = self.pop_pair()?;
        if matches!(c, b'/' | b'%' | b'~') && b.is_zero() {
            self.push(a);
            self.push(b);
            return Err(if c == b'/' { "divide by zero" } else { "remainder by zero" });
        }
        let scale = self.scale;
        let none = "number too large";
        let result = match c {
            b'+' => a.add(&b),
            b'-' => a.subtract(&b),
            b'*' => a.multiply(&b, scale),
            b'/' => a.divide(&b, scale).ok_or(none)?,
            b'%' => a.modulo(&b, scale).ok_or(none)?,
            b'~' => {
                let quotient = a.divide(&b, scale).ok_or(none)?;
                self.push(quotient);
                a.modulo(&b, scale).ok_or(none)?
            }
            _ => {
                if b.has_fraction() {
                    let _ = ctx.stdout.flush();
                    let text = b"Runtime warning: non-zero scale in exponent\n";
                    let _ = ctx.stderr.write_all(text);
                }
                a.power(&b, scale).ok_or(none)?
            }
        };
        self.push(result);
        Ok(())
    }

    /// Runs `base exponent modulus |`, in integers.
    fn power_modulo(&mut self) -> Result<()> {
        let [.., DcValue::Number(base), DcValue::Number(exponent), DcValue::Number(modulus)] =
            self.stack.as_slice()
        else {
            return Err(if self.stack.len() < 3 { EMPTY } else { NOT_NUMERIC });
        };
        if modulus.is_zero() {
            return Err("remainder by zero");
        }
        if exponent.is_negative() {
            return Err("negative exponent");
        }
        let (b, e, m) = (base.to_fixed(0), exponent.to_fixed(0), modulus.to_fixed(0));
        // The result has the sign of the dividend, not of the modulus.
        let positive = b.magnitude().modpow(e.magnitude(), m.magnitude());
        let odd = e.magnitude().bit(0) && base.is_negative();
        let n = BigInt::from(positive);
        let n = Decimal::from_fixed(if odd { -n } else { n }, 0);
        self.stack.truncate(self.stack.len() - 3);
        self.push(n);
        Ok(())
    }

    fn run_register(&mut self, c: u8) -> Result<()> {
        let name = self.take_letter()?;
        match c {
            b's' => {
                let v = self.pop()?;
                let stack = self.registers.entry(name).or_default();
                stack.pop();
                stack.push(v);
            }
            b'S' => {
                let v = self.pop()?;
                self.registers.entry(name).or_default().push(v);
            }
            b'l' => {
                let v = self.registers.get(&name).and_then(|s| s.last()).cloned();
                self.stack.push(v.unwrap_or(DcValue::Number(Decimal::zero())));
            }
            b'L' => match self.registers.get_mut(&name).and_then(Vec::pop) {
                Some(v) => self.stack.push(v),
                None => return Err("stack register is empty"),
            },
            b':' => {
                let index = self.index()?;
                let v = self.pop()?;
                self.arrays.insert((name, index), v);
            }
            _ => {
                let index = self.index()?;
                let v = self.arrays.get(&(name, index)).cloned();
                self.stack.push(v.unwrap_or(DcValue::Number(Decimal::zero())));
            }
        }
        Ok(())
    }

    fn index(&mut self) -> Result<i64> {
        let n = self.pop_number()?.to_i64().filter(|n| *n >= 0);
        n.ok_or("array index must be a nonnegative integer")
    }

    fn run_parameter(&mut self, c: u8) -> Result<()> {
        let n = self.pop_integer()?;
        match (c, n) {
            (b'i', Some(n @ 2..=16)) => self.input_base = n,
            (b'i', _) => return Err("input base must be a number between 2 and 16 (inclusive)"),
            (b'o', Some(n)) if n > 1 => self.output_base = n,
            (b'o', _) => return Err("output base must be a number greater than 1"),
            (_, Some(n)) if n >= 0 => self.scale = usize::try_from(n).unwrap_or(MAX).min(MAX),
            _ => return Err("scale must be a nonnegative number"),
        }
        Ok(())
    }

    /// Runs a register's text if the comparison of the top of the stack with the value below it holds.
    fn run_compare(&mut self, c: u8, negate: bool) -> Result<()> {
        let name = self.take_letter()?;
        let (below, top) = self.pop_pair()?;
        let order = top.compare(&below);
        let holds = match c {
            b'<' => order.is_lt(),
            b'>' => order.is_gt(),
            _ => order.is_eq(),
        };
        if holds == negate {
            return Ok(());
        }
        match self.registers.get(&name).and_then(|s| s.last()).cloned() {
            Some(DcValue::Text(t)) => self.call_text(t),
            Some(number) => {
                self.stack.push(number);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Runs a text. If this was the last command of the calling text, that text is removed first,
    /// so that loops do not fill the list.
    fn call_text(&mut self, text: Rc<Vec<u8>>) -> Result<()> {
        if self.texts.len() > 1 && self.peek_byte().is_none() {
            self.texts.pop();
        }
        if self.texts.len() >= MAX_DEPTH {
            self.quit = true;
            return Err("recursion too deep");
        }
        self.texts.push((text, 0));
        Ok(())
    }

    /// Ends this many levels of texts; ending the outermost one ends the program.
    fn leave_levels(&mut self, levels: usize) {
        let left = self.texts.len().saturating_sub(levels);
        self.texts.truncate(left);
        self.quit = left == 0;
    }

    fn run_system(&mut self, ctx: &mut Ctx<'_>) {
        let mut line = Vec::new();
        while let Some(c) = self.take_in_line() {
            line.push(c);
        }
        ChildCommand::shell(&line).run(ctx);
    }

    /// Returns a value as it is printed: long numbers are continued after a backslash.
    fn show_value(&self, v: &DcValue) -> Vec<u8> {
        let text = match v {
            DcValue::Text(t) => return t.as_ref().clone(),
            DcValue::Number(n) => n.show(self.output_base).into_bytes(),
        };
        if self.line_length < 2 || text.len() < self.line_length {
            return text;
        }
        text.chunks(self.line_length - 1).collect::<Vec<_>>().join(&b"\\\n"[..])
    }
}
