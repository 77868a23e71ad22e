//! The machine of `bc`: variables, functions, output.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Write};
use std::rc::Rc;

use box_applet::Ctx;

use super::decimal::{Decimal, MAX};
use super::parse::{BcArg, BcExpr, BcFunction, BcItem, BcPlace, Parameter, PrintItem, Statement};

/// The effect of a statement on control flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BcFlow {
    Next,
    Break,
    Continue,
    Return,
    Halt,
}

type Array = Rc<RefCell<BTreeMap<u64, Decimal>>>;

/// The maximum nesting of calls, because the stack is limited.
const MAX_CALLS: usize = 400;
/// The maximum array index, as in GNU bc.
const MAX_INDEX: u64 = 16_777_215;

#[derive(Default)]
pub(super) struct BcMachine {
    variables: HashMap<String, Decimal>,
    arrays: HashMap<String, Array>,
    functions: HashMap<String, Rc<BcFunction>>,
    scale: usize,
    ibase: u32,
    obase: i64,
    last: Decimal,
    result: Option<Decimal>,
    calls: usize,
    /// Whether the functions of `-l` are defined.
    math: bool,
    line_length: usize,
    /// The current column of the output line, for breaking long numbers.
    column: usize,
    /// The number of lines read so far, for messages.
    pub line: usize,
    pub status: u8,
}

type Outcome<T> = Result<T, String>;

impl BcMachine {
    pub(super) fn new(line_length: usize) -> BcMachine {
        BcMachine { ibase: 10, obase: 10, line_length, ..BcMachine::default() }
    }

    /// Applies `-l`: defines its functions and sets the scale to 20 digits.
    pub(super) fn use_math(&mut self) {
        self.math = true;
        self.scale = 20;
    }

    pub(super) fn run_item(&mut self, ctx: &mut Ctx<'_>, item: BcItem) -> Outcome<BcFlow> {
        match item {
            BcItem::Quit => Ok(BcFlow::Halt),
            BcItem::Define(f) => {
                self.functions.insert(f.name.clone(), f);
                Ok(BcFlow::Next)
            }
            BcItem::Statement(s) => {
                self.calls = 0;
                self.run_statement(ctx, &s)
            }
        }
    }

    fn run_statement(&mut self, ctx: &mut Ctx<'_>, s: &Statement) -> Outcome<BcFlow> {
        match s {
            Statement::Empty => {}
            Statement::Expr(e) => {
                let silent = matches!(e, BcExpr::Assign(..)) || self.is_void(e);
                let value = self.eval_expr(ctx, e)?;
                if !silent {
                    self.last = value.clone();
                    self.print_number(ctx, &value)?;
                    self.print_newline(ctx)?;
                }
            }
            Statement::Text(t) => self.print_text(ctx, t)?,
            Statement::Print(items) => {
                for i in items {
                    match i {
                        PrintItem::Text(t) => {
                            let t = expand_escapes(t);
                            self.print_text(ctx, &t)?;
                        }
                        PrintItem::Value(e) => {
                            let v = self.eval_expr(ctx, e)?;
                            self.last = v.clone();
                            self.print_number(ctx, &v)?;
                        }
                    }
                }
            }
            Statement::Block(list) => return self.run_block(ctx, list),
            Statement::If(c, then, otherwise) => {
                if !self.eval_expr(ctx, c)?.is_zero() {
                    return self.run_statement(ctx, then);
                } else if let Some(o) = otherwise {
                    return self.run_statement(ctx, o);
                }
            }
            Statement::For(init, c, step, body) => {
                if let Some(e) = init {
                    self.eval_expr(ctx, e)?;
                }
                loop {
                    if let Some(e) = c
                        && self.eval_expr(ctx, e)?.is_zero()
                    {
                        break;
                    }
                    match self.run_statement(ctx, body)? {
                        BcFlow::Break => break,
                        BcFlow::Next | BcFlow::Continue => {}
                        other => return Ok(other),
                    }
                    if let Some(e) = step {
                        self.eval_expr(ctx, e)?;
                    }
                }
            }
            Statement::Break => return Ok(BcFlow::Break),
            Statement::Continue => return Ok(BcFlow::Continue),
            Statement::Return(e) => {
                let value = match e {
                    Some(e) => self.eval_expr(ctx, e)?,
                    None => Decimal::zero(),
                };
                self.result = Some(value);
                return Ok(BcFlow::Return);
            }
            Statement::Halt => return Ok(BcFlow::Halt),
            Statement::Limits => {
                let text = format!(
                    "BC_BASE_MAX     = 2147483647\nBC_DIM_MAX      = {MAX_INDEX}\nBC_SCALE_MAX    = {MAX}\nBC_STRING_MAX   = 2147483647\n"
                );
                self.print_text(ctx, text.as_bytes())?;
            }
        }
        Ok(BcFlow::Next)
    }

    fn run_block(&mut self, ctx: &mut Ctx<'_>, list: &[Statement]) -> Outcome<BcFlow> {
        for s in list {
            match self.run_statement(ctx, s)? {
                BcFlow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(BcFlow::Next)
    }

    fn is_void(&self, e: &BcExpr) -> bool {
        matches!(e, BcExpr::Call(name, _) if self.functions.get(name).is_some_and(|f| f.void))
    }

    fn get(&mut self, ctx: &mut Ctx<'_>, p: &BcPlace) -> Outcome<Decimal> {
        Ok(match p {
            BcPlace::Name(n) => self.variables.get(n).cloned().unwrap_or_else(Decimal::zero),
            BcPlace::Element(n, i) => {
                let i = self.index(ctx, i)?;
                self.array_copy(n).borrow().get(&i).cloned().unwrap_or_else(Decimal::zero)
            }
            BcPlace::Scale => Decimal::from_int(self.scale as i64),
            BcPlace::Ibase => Decimal::from_int(i64::from(self.ibase)),
            BcPlace::Obase => Decimal::from_int(self.obase),
            BcPlace::Last => self.last.clone(),
        })
    }

    fn set(&mut self, ctx: &mut Ctx<'_>, p: &BcPlace, v: Decimal) -> Outcome<()> {
        match p {
            BcPlace::Name(n) => {
                self.variables.insert(n.clone(), v);
            }
            BcPlace::Element(n, i) => {
                let i = self.index(ctx, i)?;
                self.array_copy(n).borrow_mut().insert(i, v);
            }
            BcPlace::Scale => {
                self.scale = match v.to_i64() {
                    Some(n) if n < 0 => {
                        print_warning(ctx, "negative scale, set to 0");
                        0
                    }
                    Some(n) => usize::try_from(n).unwrap_or(MAX).min(MAX),
                    None => MAX,
                };
            }
            BcPlace::Ibase => {
                self.ibase = match v.to_i64() {
                    Some(n) if n < 2 => {
                        print_warning(ctx, "ibase too small, set to 2");
                        2
                    }
                    Some(n) if n <= 36 => n as u32,
                    _ => {
                        print_warning(ctx, "ibase too large, set to 36");
                        36
                    }
                };
            }
            BcPlace::Obase => {
                self.obase = match v.to_i64() {
                    Some(n) if n < 2 => {
                        print_warning(ctx, "obase too small, set to 2");
                        2
                    }
                    Some(n) => n.min(i64::from(i32::MAX)),
                    None => i64::from(i32::MAX),
                };
            }
            BcPlace::Last => self.last = v,
        }
        Ok(())
    }

    fn array_copy(&mut self, name: &str) -> Array {
        self.arrays.entry(name.to_string()).or_default().clone()
    }

    fn index(&mut self, ctx: &mut Ctx<'_>, e: &BcExpr) -> Outcome<u64> {
        let v = self.eval_expr(ctx, e)?;
        match v.to_i64().and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= MAX_INDEX) {
            Some(n) => Ok(n),
            None => Err("Array subscript out of bounds.".to_string()),
        }
    }

    fn eval_expr(&mut self, ctx: &mut Ctx<'_>, e: &BcExpr) -> Outcome<Decimal> {
        let truth = |b: bool| Decimal::from_int(i64::from(b));
        Ok(match e {
            BcExpr::Number(n) => Decimal::parse(n, self.ibase),
            BcExpr::Get(p) => self.get(ctx, p)?,
            BcExpr::Group(e) => self.eval_expr(ctx, e)?,
            BcExpr::Assign(0, p, v) => {
                let v = self.eval_expr(ctx, v)?;
                self.set(ctx, p, v.clone())?;
                v
            }
            BcExpr::Assign(op, p, v) => {
                let right = self.eval_expr(ctx, v)?;
                let left = self.get(ctx, p)?;
                let v = self.apply_operator(ctx, *op, &left, &right)?;
                self.set(ctx, p, v.clone())?;
                v
            }
            BcExpr::Before(up, p) | BcExpr::After(up, p) => {
                let old = self.get(ctx, p)?;
                let one = Decimal::from_int(if *up { 1 } else { -1 });
                let new = old.add(&one);
                self.set(ctx, p, new.clone())?;
                if matches!(e, BcExpr::Before(..)) { new } else { old }
            }
            BcExpr::Negate(e) => self.eval_expr(ctx, e)?.negate(),
            BcExpr::Not(e) => truth(self.eval_expr(ctx, e)?.is_zero()),
            BcExpr::Binary(op, a, b) => {
                let left = self.eval_expr(ctx, a)?;
                let right = self.eval_expr(ctx, b)?;
                self.apply_operator(ctx, *op, &left, &right)?
            }
            BcExpr::Compare(op, a, b) => {
                let left = self.eval_expr(ctx, a)?;
                let order = left.compare(&self.eval_expr(ctx, b)?);
                truth(match *op {
                    "==" => order.is_eq(),
                    "!=" => order.is_ne(),
                    "<" => order.is_lt(),
                    "<=" => order.is_le(),
                    ">" => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
            BcExpr::Logic(or, a, b) => {
                let left = !self.eval_expr(ctx, a)?.is_zero();
                let value = if left == *or { *or } else { !self.eval_expr(ctx, b)?.is_zero() };
                truth(value)
            }
            BcExpr::Length(e) => Decimal::from_int(self.eval_expr(ctx, e)?.length() as i64),
            BcExpr::ArrayLength(a) => {
                let n = self.array_copy(a).borrow().last_key_value().map_or(0, |(k, _)| k + 1);
                Decimal::from_int(n as i64)
            }
            BcExpr::Scale(e) => Decimal::from_int(self.eval_expr(ctx, e)?.scale() as i64),
            BcExpr::Sqrt(e) => {
                let v = self.eval_expr(ctx, e)?;
                v.sqrt(self.scale).ok_or("Square root of a negative number")?
            }
            BcExpr::Read => {
                let _ = ctx.stdout.flush();
                let mut line = Vec::new();
                let _ = ctx.stdin.read_until(b'\n', &mut line);
                let text = line.trim_ascii();
                let (negative, digits) = match text.strip_prefix(b"-") {
                    Some(d) => (true, d),
                    None => (false, text),
                };
                let good = !digits.is_empty()
                    && digits
                        .iter()
                        .all(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || *c == b'.')
                    && digits.iter().filter(|c| **c == b'.').count() <= 1;
                let v = if good { Decimal::parse(digits, self.ibase) } else { Decimal::zero() };
                if negative { v.negate() } else { v }
            }
            BcExpr::Call(name, args) => self.call_function(ctx, name, args)?,
        })
    }

    fn apply_operator(
        &mut self,
        ctx: &mut Ctx<'_>,
        op: u8,
        a: &Decimal,
        b: &Decimal,
    ) -> Outcome<Decimal> {
        Ok(match op {
            b'+' => a.add(b),
            b'-' => a.subtract(b),
            b'*' => a.multiply(b, self.scale),
            b'/' => a.divide(b, self.scale).ok_or("Divide by zero")?,
            b'%' => a.modulo(b, self.scale).ok_or("Modulo by zero")?,
            _ => {
                if b.has_fraction() {
                    print_warning(ctx, "non-zero scale in exponent");
                }
                a.power(b, self.scale).ok_or(if a.is_zero() {
                    "Divide by zero"
                } else {
                    "exponent too large in raise"
                })?
            }
        })
    }

    fn call_function(&mut self, ctx: &mut Ctx<'_>, name: &str, args: &[BcArg]) -> Outcome<Decimal> {
        let Some(f) = self.functions.get(name).cloned() else {
            return self.call_library(ctx, name, args);
        };
        if f.parameters.len() != args.len() {
            return Err("Parameter number mismatch".to_string());
        }
        if self.calls >= MAX_CALLS {
            return Err("function calls nested too deeply".to_string());
        }
        // An argument's value. All arguments are evaluated before any parameter is set.
        enum BcValue {
            Number(Decimal),
            Array(Array),
        }
        let mut values = Vec::new();
        for (p, a) in f.parameters.iter().zip(args) {
            values.push(match (p.array, a) {
                (false, BcArg::Value(e)) => BcValue::Number(self.eval_expr(ctx, e)?),
                (true, BcArg::Array(n)) => {
                    let array = self.array_copy(n);
                    if p.reference {
                        BcValue::Array(array)
                    } else {
                        BcValue::Array(Rc::new(RefCell::new(array.borrow().clone())))
                    }
                }
                // The bare name of an array stands for the array.
                (true, BcArg::Value(BcExpr::Get(BcPlace::Name(n)))) => {
                    BcValue::Array(self.array_copy(n))
                }
                _ => return Err("Parameter type mismatch".to_string()),
            });
        }
        let mut saved: Vec<(Parameter, Option<Decimal>, Option<Array>)> = Vec::new();
        let mut keep = |m: &mut BcMachine, p: &Parameter| {
            let old = if p.array {
                (None, m.arrays.remove(&p.name))
            } else {
                (m.variables.remove(&p.name), None)
            };
            saved.push((p.clone(), old.0, old.1));
        };
        for p in &f.parameters {
            keep(self, p);
        }
        for p in &f.autos {
            keep(self, p);
        }
        for (p, v) in f.parameters.iter().zip(values) {
            match v {
                BcValue::Number(n) => drop(self.variables.insert(p.name.clone(), n)),
                BcValue::Array(a) => drop(self.arrays.insert(p.name.clone(), a)),
            }
        }
        self.calls += 1;
        let before = self.result.take();
        let flow = self.run_block(ctx, &f.body);
        let result = std::mem::replace(&mut self.result, before).unwrap_or_else(Decimal::zero);
        self.calls -= 1;
        for (p, v, a) in saved.into_iter().rev() {
            if p.array {
                match a {
                    Some(a) => self.arrays.insert(p.name, a),
                    None => self.arrays.remove(&p.name),
                };
            } else {
                match v {
                    Some(v) => self.variables.insert(p.name, v),
                    None => self.variables.remove(&p.name),
                };
            }
        }
        match flow? {
            // `halt` in a function ends the program; it is passed on as an error without a message.
            BcFlow::Halt => Err(String::new()),
            _ => Ok(result),
        }
    }

    /// Calls a function of `-l`.
    fn call_library(&mut self, ctx: &mut Ctx<'_>, name: &str, args: &[BcArg]) -> Outcome<Decimal> {
        let unknown = || format!("Function {name} not defined.");
        if !self.math {
            return Err(unknown());
        }
        let mut values = Vec::new();
        for a in args {
            match a {
                BcArg::Value(e) => values.push(self.eval_expr(ctx, e)?),
                BcArg::Array(_) => return Err("Parameter type mismatch".to_string()),
            }
        }
        super::math::call_function(name, &values, self.scale).ok_or_else(unknown)?
    }

    fn print_text(&mut self, ctx: &mut Ctx<'_>, text: &[u8]) -> Outcome<()> {
        self.column = match text.iter().rposition(|c| *c == b'\n') {
            Some(i) => text.len() - i - 1,
            None => self.column + text.len(),
        };
        ctx.stdout.write_all(text).map_err(|e| write_failure(&e))
    }

    fn print_newline(&mut self, ctx: &mut Ctx<'_>) -> Outcome<()> {
        self.print_text(ctx, b"\n")
    }

    /// Prints a number. Long ones are broken with a backslash, as POSIX requires.
    fn print_number(&mut self, ctx: &mut Ctx<'_>, v: &Decimal) -> Outcome<()> {
        let text = v.show(self.obase);
        if self.line_length < 3 || self.column + text.len() < self.line_length - 1 {
            return self.print_text(ctx, text.as_bytes());
        }
        let mut out = Vec::with_capacity(text.len() + text.len() / 64);
        for b in text.bytes() {
            if self.column + 1 >= self.line_length - 1 {
                out.extend_from_slice(b"\\\n");
                self.column = 0;
            }
            out.push(b);
            self.column += 1;
        }
        ctx.stdout.write_all(&out).map_err(|e| write_failure(&e))
    }
}

fn print_warning(ctx: &mut Ctx<'_>, text: &str) {
    let _ = ctx.stdout.flush();
    let _ =
        ctx.stderr.write_all(format!("Runtime warning (func=(main), adr=0): {text}\n").as_bytes());
}

/// Resolves the escapes of `print`.
fn expand_escapes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut it = text.iter();
    while let Some(&c) = it.next() {
        if c != b'\\' {
            out.push(c);
            continue;
        }
        match it.next() {
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(b'q') => out.push(b'"'),
            Some(b'\\') => out.push(b'\\'),
            Some(c) => out.extend_from_slice(&[b'\\', *c]),
            None => out.push(b'\\'),
        }
    }
    out
}

/// Returns the message about a failed write. It is empty after a closed pipe, which ends the program
/// silently.
fn write_failure(e: &std::io::Error) -> String {
    match e.kind() {
        std::io::ErrorKind::BrokenPipe => String::new(),
        _ => box_sys::error_text(e),
    }
}
