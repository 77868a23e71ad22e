//! The instruction loop.

use std::cmp::Ordering;

use super::update::apply_arith;
use super::{AwkFlow, AwkFrame, AwkMachine, GlobalCell, Iter, Result};
use crate::array::ElementSlot;
use crate::ast::AwkComparison;
use crate::code::{ArrayPlace, AssignableTarget, AwkOp, Pc};
use crate::error::AwkRunError;
use crate::text::AwkText;
use crate::value::{AwkValue, compare_values};

/// The maximum nesting of function calls.
const MAX_CALLS: usize = 400_000;

impl AwkMachine<'_, '_> {
    /// Runs from `entry` to the end of that piece of code, or until a function entered by
    /// [`AwkMachine::call_back`] returns.
    pub(super) fn execute_code(&mut self, entry: Pc) -> Result<AwkFlow> {
        let code = self.code.clone();
        let mut pc = entry as usize;
        loop {
            self.pc = pc;
            let op = code.ops[pc];
            pc += 1;
            match op {
                AwkOp::Num(n) => self.stack.push(AwkValue::Num(n)),
                AwkOp::Const(n) => self.stack.push(code.consts[n as usize].clone()),
                AwkOp::Uninit => self.stack.push(AwkValue::Uninit),
                AwkOp::Global(n) => match &self.globals[n as usize] {
                    GlobalCell::Value(v) => {
                        let v = v.clone();
                        self.stack.push(v);
                    }
                    GlobalCell::Array(_) => {
                        let v = self.scalar_at(ArrayPlace::Global(n))?.clone();
                        self.stack.push(v);
                    }
                },
                AwkOp::Local(n) => match &self.locals[self.base + n as usize] {
                    GlobalCell::Value(v) => {
                        let v = v.clone();
                        self.stack.push(v);
                    }
                    GlobalCell::Array(_) => {
                        let v = self.scalar_at(ArrayPlace::Local(n))?.clone();
                        self.stack.push(v);
                    }
                },
                AwkOp::Special(s) => {
                    let v = self.load_special(s)?;
                    self.stack.push(v);
                }
                AwkOp::FieldAt(n) => {
                    let v = self.field_value(n as usize);
                    self.stack.push(v);
                }
                AwkOp::Field => {
                    let v = self.pop();
                    let n = self.field_number(&v)?;
                    let v = self.field_value(n);
                    self.stack.push(v);
                }
                AwkOp::Element(place) => {
                    let (array, key) = self.pop_subscript(place)?;
                    let v = self.element_value(&array, key)?;
                    self.stack.push(v);
                }
                AwkOp::Symbol => {
                    let address = self.pop_address(AssignableTarget::Symbol)?;
                    let v = self.load_target(AssignableTarget::Symbol, &address)?;
                    self.stack.push(v);
                }
                AwkOp::Inner(place) => {
                    let (array, key) = self.pop_subscript(place)?;
                    let inner = self.inner_array(&array, key)?;
                    self.arrays.push(inner);
                }
                AwkOp::Array(place) => {
                    let array = self.array_at(place)?;
                    self.arrays.push(array);
                }
                AwkOp::Subscript(n) => self.join_subscript(n as usize),
                AwkOp::Set(t) => {
                    let v = self.pop();
                    let address = self.pop_address(t)?;
                    self.store_target(t, address, v)?;
                }
                AwkOp::SetKeep(t) => {
                    let v = self.pop();
                    let address = self.pop_address(t)?;
                    self.store_target(t, address, v.clone())?;
                    self.stack.push(v);
                }
                AwkOp::Update(arith, t, keep) => self.update_target(arith, t, keep)?,
                AwkOp::Step(delta, t, keep) => self.step_target(f64::from(delta), t, keep)?,
                AwkOp::Append(t, keep) => self.append_to_target(t, keep)?,
                AwkOp::In(place) => {
                    let (array, key) = self.pop_subscript(place)?;
                    let found = array.borrow().contains_key(&key);
                    self.stack.push(AwkValue::bool(found));
                }
                AwkOp::Delete(place) => {
                    let (array, key) = self.pop_subscript(place)?;
                    array.borrow_mut().remove(&key);
                }
                AwkOp::DeleteAll(place) => self.array_at(place)?.borrow_mut().clear_all(),
                AwkOp::Dup => {
                    let v = self.stack.last().cloned().unwrap_or(AwkValue::Uninit);
                    self.stack.push(v);
                }
                AwkOp::Pop => {
                    self.stack.pop();
                }
                AwkOp::Arith(arith) => {
                    let b = self.pop_num();
                    let a = self.pop_num();
                    let n = apply_arith(arith, a, b)?;
                    self.stack.push(AwkValue::Num(n));
                }
                AwkOp::Neg => {
                    let n = self.pop_num();
                    self.stack.push(AwkValue::Num(-n));
                }
                AwkOp::Plus => {
                    let n = self.pop_num();
                    self.stack.push(AwkValue::Num(n));
                }
                AwkOp::Not => {
                    let v = self.pop();
                    let holds = self.is_true(&v);
                    self.stack.push(AwkValue::bool(!holds));
                }
                AwkOp::Concat(n) => self.concat_values(n as usize),
                AwkOp::Compare(cmp) => {
                    let holds = self.compare_top(cmp);
                    self.stack.push(AwkValue::bool(holds));
                }
                AwkOp::Match(n, negate) => {
                    let re = self.regexes.static_regex(n)?;
                    let v = self.pop();
                    let found = match &v {
                        AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => {
                            re.is_match(t)
                        }
                        other => re.is_match(&other.text(&self.convfmt)),
                    };
                    self.stack.push(AwkValue::bool(found != negate));
                }
                AwkOp::MatchDynamic(negate) => {
                    let pattern = self.pop();
                    let re = self.pattern_from(&pattern)?;
                    let text = self.pop_text();
                    self.stack.push(AwkValue::bool(re.is_match(&text) != negate));
                }
                AwkOp::MatchRecord(n) => {
                    let re = self.regexes.static_regex(n)?;
                    let found = re.is_match(self.record.text(&self.ofs, &self.convfmt));
                    self.stack.push(AwkValue::bool(found));
                }
                AwkOp::Jump(to) => pc = to as usize,
                AwkOp::JumpIf(to) => {
                    let v = self.pop();
                    if self.is_true(&v) {
                        pc = to as usize;
                    }
                }
                AwkOp::JumpUnless(to) => {
                    let v = self.pop();
                    if !self.is_true(&v) {
                        pc = to as usize;
                    }
                }
                AwkOp::JumpUnlessCmp(cmp, to) => {
                    if !self.compare_top(cmp) {
                        pc = to as usize;
                    }
                }
                AwkOp::Pattern(n) => {
                    let re = self.regexes.static_regex(n)?;
                    self.patterns.push(re);
                }
                AwkOp::PatternDynamic => {
                    let v = self.pop();
                    let re = self.pattern_from(&v)?;
                    self.patterns.push(re);
                }
                AwkOp::ArgValue => {
                    let v = self.pop();
                    self.locals.push(GlobalCell::Value(v));
                }
                AwkOp::ArgVar(place) => {
                    let cell = match place {
                        ArrayPlace::Global(n) => self.globals[n as usize].clone(),
                        ArrayPlace::Local(n) => self.locals[self.base + n as usize].clone(),
                        ArrayPlace::Inner => GlobalCell::Value(AwkValue::Uninit),
                    };
                    self.locals.push(cell);
                }
                AwkOp::ArgArray(place) => {
                    let cell = self.array_or_scalar(place)?;
                    self.locals.push(cell);
                }
                AwkOp::ArgElement(place) => {
                    let (array, key) = self.pop_subscript(place)?;
                    let scalar = match array.borrow().get(&key) {
                        Some(ElementSlot::Value(v)) if !matches!(v, AwkValue::Uninit) => {
                            Some(v.clone())
                        }
                        _ => None,
                    };
                    let cell = match scalar {
                        Some(v) => GlobalCell::Value(v),
                        None => {
                            let is_new = !array.borrow().contains_key(&key);
                            let inner = self.inner_array(&array, key)?;
                            inner.borrow_mut().untyped |= is_new;
                            GlobalCell::Array(inner)
                        }
                    };
                    self.locals.push(cell);
                }
                AwkOp::Call(f, args) => pc = self.enter_function(f, args as usize, pc)?,
                AwkOp::CallIndirect(args) => {
                    let name = self.pop_text();
                    let name = name.strip_prefix(b"awk::").unwrap_or(&name);
                    let found = code.functions.iter().position(|f| f.name == name && !f.missing);
                    if let Some(f) = found {
                        pc = self.enter_function(f as u32, args as usize, pc)?;
                    } else {
                        self.indirect_builtin(name, args as usize)?;
                    }
                }
                AwkOp::Missing(f) => return Err(self.missing_function(f)),
                AwkOp::Return => {
                    let Some(frame) = self.frames.pop() else { return Ok(AwkFlow::Done) };
                    self.locals.truncate(self.base);
                    self.base = frame.base;
                    self.iters.truncate(frame.iters);
                    if frame.ret == Pc::MAX {
                        return Ok(AwkFlow::Done);
                    }
                    pc = frame.ret as usize;
                }
                AwkOp::Builtin(b, n) => self.call_builtin(b, n as usize)?,
                AwkOp::LengthOf(place) => self.length_of(place)?,
                AwkOp::LengthRecord => {
                    let v = self.record.value(&self.ofs, &self.convfmt);
                    let n = self.call_length(&v);
                    self.stack.push(AwkValue::Num(n));
                }
                AwkOp::LengthOfElement(place) => {
                    let (array, key) = self.pop_subscript(place)?;
                    let v = match array.borrow_mut().slot_or_insert(key) {
                        ElementSlot::Array(a) => Err(a.borrow().len()),
                        ElementSlot::Value(v) => Ok(v.clone()),
                    };
                    let n = match v {
                        Err(n) => n as f64,
                        Ok(v) => self.call_length(&v),
                    };
                    self.stack.push(AwkValue::Num(n));
                }
                AwkOp::TypeOf(place, name) => self.type_of(place, name),
                AwkOp::TypeOfElement(place, name) => self.type_of_element(place, name)?,
                AwkOp::TypeOfValue(name) => {
                    let v = self.pop();
                    self.push_type(Ok(v), name);
                }
                AwkOp::SplitPattern(n) => self.call_split(n as usize, true)?,
                AwkOp::NotArray => return Err(AwkRunError::fatal("argument is not an array")),
                AwkOp::Subst(global, t) => self.call_substitute(global, t)?,
                AwkOp::SubstValue(global) => self.substitute_value(global),
                AwkOp::Getline(from, target) => self.call_getline(from, target)?,
                AwkOp::Print(n, redirect) => self.print_values(n as usize, redirect)?,
                AwkOp::Printf(n, redirect) => self.print_formatted(n as usize, redirect)?,
                AwkOp::ForIn(place) => {
                    let array = self.array_at(place)?;
                    let keys = self.sorted_keys(&array)?;
                    self.iters.push(Iter { keys: keys.into_iter() });
                }
                AwkOp::ForNext(t, out) => {
                    let next = self.iters.last_mut().and_then(|i| i.keys.next());
                    match next {
                        Some(key) => {
                            let v = AwkValue::Str(key.text());
                            self.store_target(t, super::place::ElementAddress::None, v)?;
                        }
                        None => pc = out as usize,
                    }
                }
                AwkOp::ForEnd => {
                    self.iters.pop();
                }
                AwkOp::InRange(n, to) => {
                    if self.ranges[n as usize] {
                        pc = to as usize;
                    }
                }
                AwkOp::SetRange(n, on) => self.ranges[n as usize] = on,
                AwkOp::Next => return Ok(AwkFlow::Next),
                AwkOp::NextFile => return Ok(AwkFlow::NextFile),
                AwkOp::Exit => {
                    let n = self.pop_num();
                    self.exit_status = (n as i64 & 0xff) as u8;
                    return Ok(AwkFlow::Exit);
                }
                AwkOp::ExitPlain => return Ok(AwkFlow::Exit),
                AwkOp::Done => return Ok(AwkFlow::Done),
            }
        }
    }

    /// Returns the error of a call of a function that the program does not define.
    #[cold]
    fn missing_function(&self, f: u32) -> AwkRunError {
        let name = String::from_utf8_lossy(&self.code.functions[f as usize].name).into_owned();
        AwkRunError::fatal(format!("function `{name}' not defined"))
    }

    /// Enters a function whose arguments lie on top of the locals, and returns the address of its
    /// first instruction.
    fn enter_function(&mut self, f: u32, args: usize, ret: usize) -> Result<usize> {
        let function = &self.code.functions[f as usize];
        let (params, entry) = (function.params as usize, function.entry as usize);
        if args > params && function.missing {
            return Err(self.missing_function(f));
        }
        if args > params {
            let name = String::from_utf8_lossy(&function.name).into_owned();
            return Err(AwkRunError::fatal(format!(
                "function `{name}' called with more arguments than declared"
            )));
        }
        if self.frames.len() >= MAX_CALLS {
            let name = String::from_utf8_lossy(&function.name).into_owned();
            return Err(AwkRunError::fatal(format!(
                "function `{name}': calls nested too deeply ({MAX_CALLS})"
            )));
        }
        self.frames.push(AwkFrame { ret: ret as Pc, base: self.base, iters: self.iters.len() });
        self.base = self.locals.len().saturating_sub(args);
        self.locals.resize(self.base + params, GlobalCell::Value(AwkValue::Uninit));
        Ok(entry)
    }

    /// Calls a function of the program from a built-in one.
    pub(super) fn call_back(&mut self, f: u32, args: Vec<GlobalCell>) -> Result<AwkValue> {
        let n = args.len();
        self.locals.extend(args);
        let entry = self.enter_function(f, n, Pc::MAX as usize)?;
        match self.execute_code(entry as Pc)? {
            AwkFlow::Done => Ok(self.pop()),
            _ => Err(AwkRunError::fatal("`next' or `exit' in a comparison function")),
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
        self.stack.push(AwkValue::Str(AwkText::from_vec(out)));
    }

    fn concat_values(&mut self, n: usize) {
        let from = self.stack.len().saturating_sub(n);
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        for v in &self.stack[from..] {
            v.append_to(&mut out, &self.convfmt);
        }
        self.stack.truncate(from);
        self.stack.push(AwkValue::Str(AwkText::new(&out)));
        self.scratch = out;
    }

    /// Pops two values and compares them.
    #[inline]
    fn compare_top(&mut self, cmp: AwkComparison) -> bool {
        let b = self.pop();
        let a = self.pop();
        if let (AwkValue::Num(x), AwkValue::Num(y)) = (&a, &b) {
            return match cmp {
                AwkComparison::Lt => x < y,
                AwkComparison::Le => x <= y,
                AwkComparison::Eq => x == y,
                AwkComparison::Ne => x != y,
                AwkComparison::Gt => x > y,
                AwkComparison::Ge => x >= y,
            };
        }
        let numbers = self.settings.non_decimal;
        let numbers = numbers.then(|| (self.comparable_number(&a), self.comparable_number(&b)));
        let order = match numbers {
            Some((Some(x), Some(y))) => {
                x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
            }
            _ => compare_values(&a, &b, &self.convfmt, self.regexes.ignores_case()),
        };
        match cmp {
            AwkComparison::Lt => order == Ordering::Less,
            AwkComparison::Le => order != Ordering::Greater,
            AwkComparison::Eq => order == Ordering::Equal,
            AwkComparison::Ne => order != Ordering::Equal,
            AwkComparison::Gt => order == Ordering::Greater,
            AwkComparison::Ge => order != Ordering::Less,
        }
    }
}
