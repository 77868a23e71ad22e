//! The loop over instructions.

use std::rc::Rc;

use super::JqStop;
use super::code::{Callee, JqOp, JqProgram, OpOperand};
use super::stack::{ContainerWalk, ForkKind, JqClosure, JqFrame, NONE, Stacks};
use super::track::Track;
use crate::builtins::{self, JqHost};
use crate::value::{
    Map, Value, delete_paths, get_path, index, not_iterable, set_path, shown_value, slice_key,
    take_path,
};

/// The reason why an instruction is not followed by the next one.
#[derive(Debug)]
pub enum JumpReason {
    /// This path has no further output.
    Back,
    Error(Value),
    Break(u32),
    Halt,
    Output(Value),
}

impl From<Value> for JumpReason {
    fn from(v: Value) -> JumpReason {
        JumpReason::Error(v)
    }
}

type Step = Result<(), JumpReason>;

/// The maximum recursion, with some 300 MB of frames.
const MAX_FRAMES: usize = 1 << 23;

/// The maximum number of arguments of a native function.
const MAX_ARGS: usize = 4;

/// A running program.
pub struct JqMachine<'p> {
    pub program: &'p JqProgram,
    pub stacks: Stacks,
    pub next_label: u32,
    /// The number of finished `try` bodies between an error that is being propagated and the place
    /// where it began.
    pub outside: u32,
    started: bool,
}

impl<'p> JqMachine<'p> {
    /// Creates a machine that computes the program's outputs for `input`.
    pub fn new(program: &'p JqProgram, input: Value) -> JqMachine<'p> {
        let mut stacks = Stacks::new();
        let locals = program.funcs.first().map_or(0, |f| f.locals);
        let frame = JqFrame { env: NONE, ret_pc: 0, ret_frame: NONE, locals: 0, closures: 0 };
        stacks.enter_frame(frame, locals);
        stacks.push(input);
        JqMachine { program, stacks, next_label: 0, outside: 0, started: false }
    }

    /// Returns the next output; `None` at the end, which is also reached after an error.
    pub fn next(&mut self, host: &mut JqHost<'_>) -> Option<Result<Value, JqStop>> {
        let mut pc = self.program.funcs.first()?.entry;
        let mut leave = std::mem::replace(&mut self.started, true).then_some(JumpReason::Back);
        let program = self.program;
        loop {
            match leave.take() {
                None => {}
                Some(JumpReason::Output(v)) => return Some(Ok(v)),
                Some(JumpReason::Halt) => return Some(Err(JqStop::Halt)),
                Some(raised) => match self.unwind_to_fork(raised) {
                    Ok(Some(to)) => pc = to,
                    Ok(None) => return None,
                    Err(stop) => return Some(Err(stop)),
                },
            }
            while let Some(op) = program.code.get(pc as usize) {
                pc += 1;
                if let Err(l) = self.run_op(op, &mut pc, host) {
                    leave = Some(l);
                    break;
                }
            }
        }
    }

    fn operand_value(&mut self, o: &OpOperand, input: &Value) -> Result<Value, JumpReason> {
        Ok(match o {
            OpOperand::Stack => self.stacks.pop(),
            OpOperand::Input => input.clone(),
            OpOperand::Const(v) => v.clone(),
            OpOperand::Var(slot) => self.stacks.variable_value(*slot).clone(),
            OpOperand::Field(k) => index(input, k)?,
        })
    }

    #[inline]
    fn run_op(&mut self, op: &JqOp, pc: &mut u32, host: &mut JqHost<'_>) -> Step {
        let s = &mut self.stacks;
        match op {
            JqOp::Const(v) => {
                s.pop();
                s.push(v.clone());
            }
            JqOp::Dup => s.push(s.peek_value().clone()),
            JqOp::Pop => {
                s.pop();
            }
            JqOp::SubBegin => {
                s.push(s.peek_value().clone());
                s.nest_tracking(true);
            }
            JqOp::SubEnd => {
                s.nest_tracking(false);
                let (result, input) = (s.pop(), s.pop());
                s.push(result);
                s.push(input);
            }
            JqOp::NestInc => s.nest_tracking(true),
            JqOp::NestDec => s.nest_tracking(false),
            JqOp::Index(opt) => {
                let (t, k) = (s.pop(), s.pop());
                self.index(&t, &k, *opt)?;
            }
            JqOp::IndexBy(k, opt) => {
                let t = s.pop();
                match k {
                    OpOperand::Const(k) => self.index(&t, k, *opt)?,
                    k => {
                        let k = self.operand_value(k, &Value::Null)?;
                        self.index(&t, &k, *opt)?;
                    }
                }
            }
            JqOp::SliceKey => {
                let (input, end, start) = (s.pop(), s.pop(), s.pop());
                s.push(slice_key(start, end));
                s.push(input);
            }
            JqOp::Each(opt) => return self.begin_each(*opt, *pc),
            JqOp::Recurse => {
                let v = s.pop();
                if !s.is_intact(&v) {
                    return Err(self.lost_path("iterate through", None, &v));
                }
                if is_open(&v) {
                    let walk = ContainerWalk { last: Some(v.clone()), ..ContainerWalk::default() };
                    s.push_fork(ForkKind::Recurse { walk: Box::new(walk), pc: *pc });
                }
                s.push(v);
            }
            JqOp::LoadVar(slot) => {
                s.pop();
                let v = s.variable_value(*slot).clone();
                s.push(v);
            }
            JqOp::TakeVar(slot) => {
                s.pop();
                let v = std::mem::replace(s.variable_value(*slot), Value::Null);
                s.push(v);
            }
            JqOp::PushVar(slot) => {
                let v = s.variable_value(*slot).clone();
                s.push(v);
            }
            JqOp::PushTake(slot) => {
                let v = std::mem::replace(s.variable_value(*slot), Value::Null);
                s.push(v);
            }
            JqOp::StoreVar(slot) => {
                let v = s.pop();
                *s.variable_value(*slot) = v;
            }
            JqOp::ClearVar(slot) => *s.variable_value(*slot) = Value::Null,
            JqOp::InitArray(slot) => *s.variable_value(*slot) = Value::arr(Vec::new()),
            JqOp::Append(slot) => {
                let v = s.pop();
                add_item(s.variable_value(*slot), v);
                return Err(JumpReason::Back);
            }
            JqOp::Jump(to) => *pc = *to,
            JqOp::JumpFalse(to) => {
                if !s.pop().is_truthy() {
                    *pc = *to;
                }
            }
            JqOp::Backtrack => return Err(JumpReason::Back),
            JqOp::BacktrackFalse => {
                if !s.pop().is_truthy() {
                    return Err(JumpReason::Back);
                }
            }
            JqOp::Fork(to) => s.push_fork(ForkKind::Alt(*to)),
            JqOp::TryBegin(to) => s.push_fork(ForkKind::Try(*to)),
            JqOp::TryEnd(to) => {
                let own = |f: &ForkKind| matches!(f, ForkKind::Try(t) if t == to);
                match s.forks.last() {
                    // The body has no more outputs, so there is nothing left to catch.
                    Some(f) if own(&f.kind) => s.cut_forks(s.forks.len() - 1),
                    _ => s.push_fork(ForkKind::TryDone),
                }
            }
            JqOp::AltBegin(to, slot) => {
                *s.variable_value(*slot) = Value::Bool(false);
                let place = s.variable_place(*slot);
                s.push_fork(ForkKind::Or(*to, place));
            }
            JqOp::AltFound(to, slot) => {
                if !s.peek_value().is_truthy() {
                    return Err(JumpReason::Back);
                }
                *s.variable_value(*slot) = Value::Bool(true);
                let place = s.variable_place(*slot);
                let own = |f: &ForkKind| matches!(f, ForkKind::Or(t, p) if t == to && *p == place);
                if s.forks.last().is_some_and(|f| own(&f.kind)) {
                    s.cut_forks(s.forks.len() - 1);
                }
            }
            JqOp::PatternAlt(to) => s.push_fork(ForkKind::PatternAlt(*to)),
            JqOp::Label(slot) => {
                *s.variable_value(*slot) = Value::Num(f64::from(self.next_label));
                s.push_fork(ForkKind::Label(self.next_label));
                self.next_label = self.next_label.wrapping_add(1);
            }
            JqOp::Break(slot) => {
                let id = s.variable_value(*slot).as_num().unwrap_or_default() as u32;
                return Err(JumpReason::Break(id));
            }
            JqOp::Mark(slot) => {
                let len = s.forks.len();
                *s.variable_value(*slot) = Value::int(len);
            }
            JqOp::Cut(slot) => {
                let len = s.variable_value(*slot).as_num().unwrap_or_default() as usize;
                s.cut_forks(len);
            }
            JqOp::NewObject => {
                let input = s.pop();
                s.push(Value::obj(Map::default()));
                s.push(input);
            }
            JqOp::Insert(k, v) => {
                let input = s.pop();
                let v = self.operand_value(v, &input)?;
                let k = self.operand_value(k, &input)?;
                let Value::Str(k) = k else {
                    return Err(Value::str(format!(
                        "Cannot use {} ({}) as object key",
                        k.type_name(),
                        shown_value(&k, 14)
                    ))
                    .into());
                };
                let s = &mut self.stacks;
                let mut o = s.pop();
                if let Value::Obj(o) = &mut o {
                    Rc::make_mut(o).insert(k, v);
                }
                s.push(o);
                s.push(input);
            }
            JqOp::Binary(op, a, b) => {
                let input = s.pop();
                let on_stack = matches!(a, OpOperand::Stack).then(|| s.pop());
                let b = self.operand_value(b, &input)?;
                let a = match (on_stack, a) {
                    (Some(a), _) => a,
                    (None, OpOperand::Input) => input,
                    (None, other) => self.operand_value(other, &input)?,
                };
                self.stacks.push(builtins::apply_binary(*op, a, b)?);
            }
            JqOp::Negate => {
                let v = s.pop();
                s.push(builtins::negate_value(v)?);
            }
            JqOp::Text(site) => return self.run_text(*site),
            JqOp::Native(site) => return self.call_native(*site, host),
            JqOp::Range(stepped) => return self.begin_range(*stepped, *pc),
            JqOp::Call(site) => return self.call_function(*site, pc, false),
            JqOp::TailCall(site) => return self.call_function(*site, pc, true),
            JqOp::Ret => {
                if let Some(frame) = s.frames.get(s.frame as usize).copied() {
                    s.leave_frame(frame);
                    s.frame = frame.ret_frame;
                    *pc = frame.ret_pc;
                }
            }
            JqOp::PathBegin => {
                let v = s.peek_value().clone();
                s.track = Some(Rc::new(Track::new(v, s.track.take())));
            }
            JqOp::PathEnd => {
                let v = s.pop();
                if !s.is_intact(&v) {
                    let shown = shown_value(&v, 29);
                    return Err(
                        Value::str(format!("Invalid path expression with result {shown}")).into()
                    );
                }
                if let Some(t) = s.track.take() {
                    s.track.clone_from(&t.outer);
                    s.push(t.to_value());
                }
            }
            JqOp::GetPath(path) => {
                let input = s.pop();
                let path = self.operand_value(path, &input)?;
                return self.get_path(&input, &path);
            }
            JqOp::SetPath(state, path, value) => {
                let (path, value) =
                    (s.variable_value(*path).clone(), s.variable_value(*value).clone());
                self.put_state(*state, &path, value)?;
                return Err(JumpReason::Back);
            }
            JqOp::TakePath(state, path) => {
                let path = s.variable_value(*path).clone();
                let keys = path.as_arr().unwrap_or_default();
                let v = take_path(s.variable_value(*state), keys)?;
                s.push(v);
            }
            JqOp::PutPath(state, path) => {
                let value = s.pop();
                let path = s.variable_value(*path).clone();
                self.put_state(*state, &path, value)?;
                return Err(JumpReason::Back);
            }
            JqOp::AddTo(list, v) => {
                let v = s.variable_value(*v).clone();
                add_item(s.variable_value(*list), v);
                return Err(JumpReason::Back);
            }
            JqOp::DeletePaths(state, gone) => {
                let gone = std::mem::replace(s.variable_value(*gone), Value::Null);
                let v = std::mem::replace(s.variable_value(*state), Value::Null);
                s.push(delete_paths(v, &gone)?);
            }
            JqOp::Emit => return Err(JumpReason::Output(s.pop())),
        }
        Ok(())
    }

    /// Returns jq's message for an access to a value that is not a path.
    fn lost_path(&self, action: &str, key: Option<&Value>, t: &Value) -> JumpReason {
        let of = key.map(|k| format!(" {} of", shown_value(k, 14))).unwrap_or_default();
        JumpReason::Error(Value::str(format!(
            "Invalid path expression near attempt to {action}{of} {}",
            shown_value(t, 29)
        )))
    }

    fn index(&mut self, t: &Value, k: &Value, opt: bool) -> Step {
        if !self.stacks.is_intact(t) {
            return Err(self.lost_path("access element", Some(k), t));
        }
        let v = match index(t, k) {
            Ok(v) => v,
            Err(_) if opt => return Err(JumpReason::Back),
            Err(e) => return Err(e.into()),
        };
        self.stacks.follow_key(k, &v);
        self.stacks.push(v);
        Ok(())
    }

    fn begin_each(&mut self, opt: bool, pc: u32) -> Step {
        let s = &mut self.stacks;
        let v = s.pop();
        if !s.is_intact(&v) {
            return Err(self.lost_path("iterate through", None, &v));
        }
        match v {
            Value::Arr(items) => s.push_fork(ForkKind::Array { items, next: 0, pc }),
            Value::Obj(map) => s.push_fork(ForkKind::Object { map, next: 0, pc }),
            _ if opt => {}
            other => return Err(not_iterable(&other).into()),
        }
        Err(JumpReason::Back)
    }

    fn begin_range(&mut self, stepped: bool, pc: u32) -> Step {
        let s = &mut self.stacks;
        s.pop();
        let step = if stepped { s.pop().as_num() } else { Some(1.0) };
        let (end, next) = (s.pop().as_num(), s.pop().as_num());
        let (Some(step), Some(end), Some(next)) = (step, end, next) else {
            return Err(Value::from("Range bounds must be numeric").into());
        };
        if step != 0.0 {
            s.push_fork(ForkKind::Range { next, end, step, pc });
        }
        Err(JumpReason::Back)
    }

    fn run_text(&mut self, site: u32) -> Step {
        let Some(site) = self.program.texts.get(site as usize) else { return Ok(()) };
        self.stacks.pop();
        let mut out = String::new();
        for part in &site.parts {
            match part {
                Some(t) => out.push_str(t),
                None => {
                    let v = self.stacks.pop();
                    let name = site.format.as_deref().unwrap_or("text");
                    builtins::format_into(&mut out, &v, name)?;
                }
            }
        }
        self.stacks.push(Value::str(out));
        Ok(())
    }

    fn call_native(&mut self, site: u32, host: &mut JqHost<'_>) -> Step {
        let Some(site) = self.program.natives.get(site as usize) else { return Ok(()) };
        let input = self.stacks.pop();
        let mut args = [const { Value::Null }; MAX_ARGS];
        for (o, arg) in site.args.iter().zip(&mut args) {
            *arg = self.operand_value(o, &input)?;
        }
        match (site.native.run)(host, input, &mut args) {
            Ok(v) => self.stacks.push(v),
            Err(_) if host.halted.is_some() => return Err(JumpReason::Halt),
            Err(e) => return Err(e.into()),
        }
        Ok(())
    }

    fn make_closure(&self, callee: Callee) -> JqClosure {
        let s = &self.stacks;
        match callee {
            Callee::Func { id, level } => JqClosure { func: id, env: s.env_frame(level) },
            Callee::Global { id } => JqClosure { func: id, env: NONE },
            Callee::Param { level, at } => {
                let frame = s.frames.get(s.env_frame(level) as usize);
                let place = frame.map_or(0, |f| f.closures as usize) + at as usize;
                s.closures.get(place).copied().unwrap_or(JqClosure { func: 0, env: NONE })
            }
        }
    }

    fn call_function(&mut self, site: u32, pc: &mut u32, tail: bool) -> Step {
        let Some(site) = self.program.calls.get(site as usize) else { return Ok(()) };
        let callee = self.make_closure(site.callee);
        let mut args = [JqClosure { func: 0, env: NONE }; 8];
        let few = site.args.len() <= args.len();
        let mut more = Vec::new();
        for (i, c) in site.args.iter().enumerate() {
            let closure = self.make_closure(*c);
            match args.get_mut(i) {
                Some(a) if few => *a = closure,
                _ => more.push(closure),
            }
        }
        let args = if few { &args[..site.args.len()] } else { &more };
        let s = &mut self.stacks;
        if s.frames.len() >= MAX_FRAMES {
            return Err(Value::from("Recursion too deep").into());
        }
        let (mut ret_pc, mut ret_frame) = (*pc, s.frame);
        if tail && let Some(frame) = s.frames.get(s.frame as usize).copied() {
            // The callee returns to the place to which this frame would have returned.
            (ret_pc, ret_frame) = (frame.ret_pc, frame.ret_frame);
            s.leave_frame(frame);
        }
        let closures = s.closures.len() as u32;
        s.closures.extend_from_slice(args);
        let locals = s.locals.len() as u32;
        let func = self.program.funcs.get(callee.func as usize);
        let (entry, count) = func.map_or((0, 0), |f| (f.entry, f.locals));
        s.enter_frame(JqFrame { env: callee.env, ret_pc, ret_frame, locals, closures }, count);
        *pc = entry;
        Ok(())
    }

    fn get_path(&mut self, input: &Value, path: &Value) -> Step {
        let Value::Arr(keys) = path else {
            return Err(Value::from("Path must be specified as an array").into());
        };
        let v = get_path(input, keys)?;
        if self.stacks.is_tracking() {
            if !self.stacks.is_intact(input) {
                return Err(self.lost_path("access element", Some(path), input));
            }
            for k in keys.iter() {
                self.stacks.follow_key(k, &v);
            }
        }
        self.stacks.push(v);
        Ok(())
    }

    fn put_state(&mut self, state: super::code::VarAddress, path: &Value, value: Value) -> Step {
        let keys = path.as_arr().unwrap_or_default();
        let root = std::mem::replace(self.stacks.variable_value(state), Value::Null);
        *self.stacks.variable_value(state) = set_path(root, keys, value)?;
        Ok(())
    }
}

/// Returns whether a recursion continues into a value, because it is a container with elements.
pub fn is_open(v: &Value) -> bool {
    match v {
        Value::Arr(a) => !a.is_empty(),
        Value::Obj(o) => !o.is_empty(),
        _ => false,
    }
}

fn add_item(list: &mut Value, v: Value) {
    if let Value::Arr(items) = list {
        Rc::make_mut(items).push(v);
    }
}
