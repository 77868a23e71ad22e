//! The instruction loop.

use std::cmp::Ordering;

use super::update::calculate;
use super::{Cell, Flow, Frame, Iter, Machine, Result};
use crate::array::Slot;
use crate::ast::Cmp;
use crate::code::{Op, Pc, Place, Target};
use crate::error::RunError;
use crate::text::Text;
use crate::value::{Value, compare};

/// Deepest nesting of function calls.
const MAX_CALLS: usize = 400_000;

impl Machine<'_, '_> {
    /// Runs from `entry` to the end of that piece of code, or until a function entered by
    /// [`Machine::call_back`] returns.
    pub(super) fn execute(&mut self, entry: Pc) -> Result<Flow> {
        let code = self.code.clone();
        let mut pc = entry as usize;
        loop {
            self.pc = pc;
            let op = code.ops[pc];
            pc += 1;
            match op {
                Op::Num(n) => self.stack.push(Value::Num(n)),
                Op::Const(n) => self.stack.push(code.consts[n as usize].clone()),
                Op::Uninit => self.stack.push(Value::Uninit),
                Op::Global(n) => match &self.globals[n as usize] {
                    Cell::Value(v) => {
                        let v = v.clone();
                        self.stack.push(v);
                    }
                    Cell::Array(_) => return Err(self.array_as_scalar(Place::Global(n))),
                },
                Op::Local(n) => match &self.locals[self.base + n as usize] {
                    Cell::Value(v) => {
                        let v = v.clone();
                        self.stack.push(v);
                    }
                    Cell::Array(_) => return Err(self.array_as_scalar(Place::Local(n))),
                },
                Op::Special(s) => {
                    let v = self.load_special(s)?;
                    self.stack.push(v);
                }
                Op::FieldAt(n) => {
                    let v = self.field(n as usize);
                    self.stack.push(v);
                }
                Op::Field => {
                    let v = self.pop();
                    let n = self.field_number(&v)?;
                    let v = self.field(n);
                    self.stack.push(v);
                }
                Op::Element(place) => {
                    let (array, key) = self.subscript(place)?;
                    let v = self.element(&array, key)?;
                    self.stack.push(v);
                }
                Op::Symbol => {
                    let address = self.address(Target::Symbol)?;
                    let v = self.load_target(Target::Symbol, &address)?;
                    self.stack.push(v);
                }
                Op::Inner(place) => {
                    let (array, key) = self.subscript(place)?;
                    let inner = self.inner(&array, key)?;
                    self.arrays.push(inner);
                }
                Op::Array(place) => {
                    let array = self.array(place)?;
                    self.arrays.push(array);
                }
                Op::Subscript(n) => self.join_subscript(n as usize),
                Op::Set(t) => {
                    let v = self.pop();
                    let address = self.address(t)?;
                    self.store_target(t, address, v)?;
                }
                Op::SetKeep(t) => {
                    let v = self.pop();
                    let address = self.address(t)?;
                    self.store_target(t, address, v.clone())?;
                    self.stack.push(v);
                }
                Op::Update(arith, t, keep) => self.update(arith, t, keep)?,
                Op::Step(delta, t, keep) => self.step(f64::from(delta), t, keep)?,
                Op::Append(t, keep) => self.append(t, keep)?,
                Op::In(place) => {
                    let (array, key) = self.subscript(place)?;
                    let found = array.borrow().contains(&key);
                    self.stack.push(Value::bool(found));
                }
                Op::Delete(place) => {
                    let (array, key) = self.subscript(place)?;
                    array.borrow_mut().remove(&key);
                }
                Op::DeleteAll(place) => self.array(place)?.borrow_mut().clear(),
                Op::Dup => {
                    let v = self.stack.last().cloned().unwrap_or(Value::Uninit);
                    self.stack.push(v);
                }
                Op::Pop => {
                    self.stack.pop();
                }
                Op::Arith(arith) => {
                    let b = self.pop_num();
                    let a = self.pop_num();
                    let n = calculate(arith, a, b)?;
                    self.stack.push(Value::Num(n));
                }
                Op::Neg => {
                    let n = self.pop_num();
                    self.stack.push(Value::Num(-n));
                }
                Op::Plus => {
                    let n = self.pop_num();
                    self.stack.push(Value::Num(n));
                }
                Op::Not => {
                    let v = self.pop();
                    self.stack.push(Value::bool(!v.truth()));
                }
                Op::Concat(n) => self.concat(n as usize),
                Op::Compare(cmp) => {
                    let holds = self.compare_top(cmp);
                    self.stack.push(Value::bool(holds));
                }
                Op::Match(n, negate) => {
                    let re = self.regexes.fixed(n)?;
                    let v = self.pop();
                    let found = match &v {
                        Value::Str(t) | Value::Input(t) | Value::Regex(t) => re.is_match(t),
                        other => re.is_match(&other.text(&self.convfmt)),
                    };
                    self.stack.push(Value::bool(found != negate));
                }
                Op::MatchDynamic(negate) => {
                    let pattern = self.pop();
                    let re = self.pattern_from(&pattern)?;
                    let text = self.pop_text();
                    self.stack.push(Value::bool(re.is_match(&text) != negate));
                }
                Op::MatchRecord(n) => {
                    let re = self.regexes.fixed(n)?;
                    let found = re.is_match(self.record.text(&self.ofs, &self.convfmt));
                    self.stack.push(Value::bool(found));
                }
                Op::Jump(to) => pc = to as usize,
                Op::JumpIf(to) => {
                    if self.pop().truth() {
                        pc = to as usize;
                    }
                }
                Op::JumpUnless(to) => {
                    if !self.pop().truth() {
                        pc = to as usize;
                    }
                }
                Op::JumpUnlessCmp(cmp, to) => {
                    if !self.compare_top(cmp) {
                        pc = to as usize;
                    }
                }
                Op::Pattern(n) => {
                    let re = self.regexes.fixed(n)?;
                    self.patterns.push(re);
                }
                Op::PatternDynamic => {
                    let v = self.pop();
                    let re = self.pattern_from(&v)?;
                    self.patterns.push(re);
                }
                Op::ArgValue => {
                    let v = self.pop();
                    self.locals.push(Cell::Value(v));
                }
                Op::ArgVar(place) => {
                    let cell = match place {
                        Place::Global(n) => self.globals[n as usize].clone(),
                        Place::Local(n) => self.locals[self.base + n as usize].clone(),
                        Place::Inner => Cell::Value(Value::Uninit),
                    };
                    self.locals.push(cell);
                }
                Op::ArgArray(place) => {
                    let cell = self.array_or_scalar(place)?;
                    self.locals.push(cell);
                }
                Op::ArgElement(place) => {
                    let (array, key) = self.subscript(place)?;
                    let scalar = match array.borrow().get(&key) {
                        Some(Slot::Value(v)) if !matches!(v, Value::Uninit) => Some(v.clone()),
                        _ => None,
                    };
                    let cell = match scalar {
                        Some(v) => Cell::Value(v),
                        None => Cell::Array(self.inner(&array, key)?),
                    };
                    self.locals.push(cell);
                }
                Op::Call(f, args) => pc = self.enter(f, args as usize, pc)?,
                Op::CallIndirect(args) => {
                    let name = self.pop_text();
                    let name = name.strip_prefix(b"awk::").unwrap_or(&name);
                    let found = code.functions.iter().position(|f| f.name == name && !f.missing);
                    if let Some(f) = found {
                        pc = self.enter(f as u32, args as usize, pc)?;
                    } else {
                        self.indirect_builtin(name, args as usize)?;
                    }
                }
                Op::Missing(f) => return Err(self.missing(f)),
                Op::Return => {
                    let Some(frame) = self.frames.pop() else { return Ok(Flow::Done) };
                    self.locals.truncate(self.base);
                    self.base = frame.base;
                    self.iters.truncate(frame.iters);
                    if frame.ret == Pc::MAX {
                        return Ok(Flow::Done);
                    }
                    pc = frame.ret as usize;
                }
                Op::Builtin(b, n) => self.builtin(b, n as usize)?,
                Op::LengthOf(place) => self.length_of(place)?,
                Op::LengthRecord => {
                    let v = self.record.value(&self.ofs, &self.convfmt);
                    let n = self.length(&v);
                    self.stack.push(Value::Num(n));
                }
                Op::LengthOfElement(place) => {
                    let (array, key) = self.subscript(place)?;
                    let v = match array.borrow_mut().slot(key) {
                        Slot::Array(a) => Err(a.borrow().len()),
                        Slot::Value(v) => Ok(v.clone()),
                    };
                    let n = match v {
                        Err(n) => n as f64,
                        Ok(v) => self.length(&v),
                    };
                    self.stack.push(Value::Num(n));
                }
                Op::TypeOf(place, name) => self.type_of(place, name),
                Op::TypeOfElement(place, name) => self.type_of_element(place, name)?,
                Op::TypeOfValue(name) => {
                    let v = self.pop();
                    self.push_type(Ok(v), name);
                }
                Op::SplitPattern(n) => self.split(n as usize, true)?,
                Op::NotArray => return Err(RunError::fatal("argument is not an array")),
                Op::Subst(global, t) => self.substitute(global, t)?,
                Op::SubstValue(global) => self.substitute_value(global),
                Op::Getline(from, target) => self.getline(from, target)?,
                Op::Print(n, redirect) => self.print(n as usize, redirect)?,
                Op::Printf(n, redirect) => self.printf(n as usize, redirect)?,
                Op::ForIn(place) => {
                    let array = self.array(place)?;
                    let keys = self.sorted_keys(&array)?;
                    self.iters.push(Iter { keys: keys.into_iter() });
                }
                Op::ForNext(t, out) => {
                    let next = self.iters.last_mut().and_then(|i| i.keys.next());
                    match next {
                        Some(key) => {
                            let v = Value::Str(key.text());
                            self.store_target(t, super::place::Address::None, v)?;
                        }
                        None => pc = out as usize,
                    }
                }
                Op::ForEnd => {
                    self.iters.pop();
                }
                Op::InRange(n, to) => {
                    if self.ranges[n as usize] {
                        pc = to as usize;
                    }
                }
                Op::SetRange(n, on) => self.ranges[n as usize] = on,
                Op::Next => return Ok(Flow::Next),
                Op::NextFile => return Ok(Flow::NextFile),
                Op::Exit => {
                    let n = self.pop_num();
                    self.exit_status = (n as i64 & 0xff) as u8;
                    return Ok(Flow::Exit);
                }
                Op::ExitPlain => return Ok(Flow::Exit),
                Op::Done => return Ok(Flow::Done),
            }
        }
    }

    /// Returns the error of a call of a function that the program does not define.
    #[cold]
    fn missing(&self, f: u32) -> RunError {
        let name = String::from_utf8_lossy(&self.code.functions[f as usize].name).into_owned();
        RunError::fatal(format!("function `{name}' not defined"))
    }

    /// Enters a function whose arguments lie on top of the locals, and returns the address of its first instruction.
    fn enter(&mut self, f: u32, args: usize, ret: usize) -> Result<usize> {
        let function = &self.code.functions[f as usize];
        let (params, entry) = (function.params as usize, function.entry as usize);
        if args > params && function.missing {
            return Err(self.missing(f));
        }
        if args > params {
            let name = String::from_utf8_lossy(&function.name).into_owned();
            return Err(RunError::fatal(format!(
                "function `{name}' called with more arguments than declared"
            )));
        }
        if self.frames.len() >= MAX_CALLS {
            let name = String::from_utf8_lossy(&function.name).into_owned();
            return Err(RunError::fatal(format!(
                "function `{name}': calls nested too deeply ({MAX_CALLS})"
            )));
        }
        self.frames.push(Frame { ret: ret as Pc, base: self.base, iters: self.iters.len() });
        self.base = self.locals.len().saturating_sub(args);
        self.locals.resize(self.base + params, Cell::Value(Value::Uninit));
        Ok(entry)
    }

    /// Calls a function of the program from a built-in one.
    pub(super) fn call_back(&mut self, f: u32, args: Vec<Cell>) -> Result<Value> {
        let n = args.len();
        self.locals.extend(args);
        let entry = self.enter(f, n, Pc::MAX as usize)?;
        match self.execute(entry as Pc)? {
            Flow::Done => Ok(self.pop()),
            _ => Err(RunError::fatal("`next' or `exit' in a comparison function")),
        }
    }

    fn join_subscript(&mut self, n: usize) {
        let from = self.stack.len().saturating_sub(n);
        let mut out = Vec::with_capacity(32);
        for (i, v) in self.stack[from..].iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(&self.subsep);
            }
            v.append_to(&mut out, &self.convfmt);
        }
        self.stack.truncate(from);
        self.stack.push(Value::Str(Text::from_vec(out)));
    }

    fn concat(&mut self, n: usize) {
        let from = self.stack.len().saturating_sub(n);
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        for v in &self.stack[from..] {
            v.append_to(&mut out, &self.convfmt);
        }
        self.stack.truncate(from);
        self.stack.push(Value::Str(Text::new(&out)));
        self.scratch = out;
    }

    /// Takes two values and compares.
    #[inline]
    fn compare_top(&mut self, cmp: Cmp) -> bool {
        let b = self.pop();
        let a = self.pop();
        if let (Value::Num(x), Value::Num(y)) = (&a, &b) {
            return match cmp {
                Cmp::Lt => x < y,
                Cmp::Le => x <= y,
                Cmp::Eq => x == y,
                Cmp::Ne => x != y,
                Cmp::Gt => x > y,
                Cmp::Ge => x >= y,
            };
        }
        let order = compare(&a, &b, &self.convfmt, self.regexes.icase());
        match cmp {
            Cmp::Lt => order == Ordering::Less,
            Cmp::Le => order != Ordering::Greater,
            Cmp::Eq => order == Ordering::Equal,
            Cmp::Ne => order != Ordering::Equal,
            Cmp::Gt => order == Ordering::Greater,
            Cmp::Ge => order != Ordering::Less,
        }
    }
}
