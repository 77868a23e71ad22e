//! Compiles the syntax tree to instructions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::code::{Func, JqOp, JqProgram, OpOperand, TextSite, VarAddress};
use crate::builtins::BuiltinLibrary;
use crate::lang::ast::{JqExpr, JqPattern, PatternKey, ReduceLoop, StringPart};
use crate::value::{Str, Value, slice_key};

/// A compile error, and its position.
#[derive(Debug)]
pub struct CompileError {
    pub message: String,
    pub at: usize,
    /// The number of the module in [`JqCompiler::module`].
    pub module: usize,
}

/// The result of a compiling function.
pub type Result<T = ()> = std::result::Result<T, CompileError>;

/// The meaning of a name. `depth` is the number of definitions around it.
#[derive(Debug)]
pub enum NameBinding<'a> {
    Var {
        name: String,
        depth: usize,
        at: u16,
    },
    /// A variable whose value is known: a named argument, `$ENV` or a data module.
    Global {
        name: String,
        value: Value,
    },
    Func {
        name: String,
        arity: usize,
        depth: usize,
        id: u32,
    },
    GlobalFunc {
        name: String,
        arity: usize,
        id: u32,
    },
    Param {
        name: String,
        depth: usize,
        at: u16,
    },
    /// A parameter of a built-in function that is expanded in place.
    Inline {
        name: &'a str,
        expr: &'a JqExpr,
        scope: NameScope<'a>,
    },
    Label {
        name: String,
        depth: usize,
        at: u16,
    },
}

/// The names in scope, innermost first.
#[derive(Clone, Debug, Default)]
pub struct NameScope<'a>(Option<Rc<(NameBinding<'a>, NameScope<'a>)>>);

impl<'a> NameScope<'a> {
    /// Returns the scope extended by a name.
    pub fn with_binding(&self, binding: NameBinding<'a>) -> NameScope<'a> {
        NameScope(Some(Rc::new((binding, self.clone()))))
    }

    /// Returns the result of `f` for the innermost binding for which it has one.
    pub fn find_binding<'s, T>(
        &'s self,
        mut f: impl FnMut(&'s NameBinding<'a>) -> Option<T>,
    ) -> Option<T> {
        let mut at = self;
        while let Some(node) = &at.0 {
            if let Some(t) = f(&node.0) {
                return Some(t);
            }
            at = &node.1;
        }
        None
    }
}

impl Drop for NameScope<'_> {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node).ok().and_then(|mut n| n.1.0.take());
        }
    }
}

/// A function that is being compiled.
#[derive(Debug, Default)]
struct FunctionBuffer {
    code: Vec<JqOp>,
    locals: u16,
}

/// A compiler that makes a program from syntax trees.
pub struct JqCompiler<'a> {
    pub program: JqProgram,
    pub library: &'a BuiltinLibrary,
    /// The number of the module that is being compiled; the main program has 0.
    pub module: usize,
    buffers: Vec<FunctionBuffer>,
    /// Functions that do not compile, which as in jq is an error only if something calls them.
    pub(super) broken: BTreeMap<u32, CompileError>,
}

impl<'a> JqCompiler<'a> {
    /// Creates a compiler with an empty main program.
    pub fn new(library: &'a BuiltinLibrary) -> JqCompiler<'a> {
        let mut program = JqProgram::default();
        program.funcs.push(Func::default());
        JqCompiler { program, library, module: 0, buffers: Vec::new(), broken: BTreeMap::new() }
    }

    /// Compiles the main expression and links everything.
    pub fn finish_program(mut self, main: &'a JqExpr, scope: &NameScope<'a>) -> Result<JqProgram> {
        self.begin_function();
        self.compile_expr(main, scope)?;
        self.emit_op(JqOp::Emit);
        self.end_function(0);
        self.check_whole()?;
        self.program.link();
        Ok(self.program)
    }

    /// Fails if anything that can be called is broken.
    fn check_whole(&mut self) -> Result {
        if self.broken.is_empty() {
            return Ok(());
        }
        let mut seen = BTreeSet::from([0]);
        let mut queue = vec![0];
        while let Some(id) = queue.pop() {
            if let Some(e) = self.broken.remove(&id) {
                return Err(e);
            }
            let Some(func) = self.program.funcs.get(id as usize) else { continue };
            for op in &func.code {
                let JqOp::Call(site) = op else { continue };
                let Some(site) = self.program.calls.get(*site as usize) else { continue };
                let ids = site.args.iter().chain([&site.callee]).filter_map(|c| c.id());
                queue.extend(ids.filter(|id| seen.insert(*id)));
            }
        }
        Ok(())
    }

    /// Compiles with `f`; if that fails, drops the functions that it has begun.
    pub(super) fn compile_guarded(&mut self, f: impl FnOnce(&mut Self) -> Result) -> Result {
        let depth = self.buffers.len();
        let r = f(self);
        self.buffers.truncate(depth);
        r
    }

    /// Begins a function.
    pub fn begin_function(&mut self) {
        self.buffers.push(FunctionBuffer::default());
    }

    /// Ends a function.
    pub fn end_function(&mut self, id: u32) {
        if let (Some(b), Some(f)) = (self.buffers.pop(), self.program.funcs.get_mut(id as usize)) {
            f.code = b.code;
            f.locals = u32::from(b.locals);
        }
    }

    /// Returns the depth of the function that is being compiled.
    pub fn current_depth(&self) -> usize {
        self.buffers.len().saturating_sub(1)
    }

    /// Adds an instruction to the function that is being compiled.
    pub fn emit_op(&mut self, op: JqOp) {
        if let Some(b) = self.buffers.last_mut() {
            b.code.push(op);
        }
    }

    /// Emits a jump whose target is not known yet.
    pub fn emit_jump(&mut self, op: impl FnOnce(u32) -> JqOp) -> usize {
        self.emit_op(op(0));
        self.next_pc() as usize - 1
    }

    /// Returns the address of the next instruction.
    pub fn next_pc(&self) -> u32 {
        self.buffers.last().map_or(0, |b| b.code.len() as u32)
    }

    /// Makes the next instruction the target of the jump at `at`.
    pub fn land_jump(&mut self, at: usize) {
        let here = self.next_pc();
        let op = self.buffers.last_mut().and_then(|b| b.code.get_mut(at));
        if let Some(t) = op.and_then(JqOp::target) {
            *t = here;
        }
    }

    /// Creates a new variable of the current function.
    pub fn new_slot(&mut self) -> VarAddress {
        let at = self.buffers.last_mut().map_or(0, |b| {
            // This saturates only for a function with 65,535 variables.
            b.locals = b.locals.saturating_add(1);
            b.locals - 1
        });
        VarAddress { level: 0, at }
    }

    /// Returns the number of definitions between the current one and one of that depth.
    pub fn level_of(&self, depth: usize) -> u16 {
        (self.current_depth() - depth) as u16
    }

    /// Declares a variable for `scope`.
    pub fn declare_variable(
        &mut self,
        name: &str,
        scope: &NameScope<'a>,
    ) -> (VarAddress, NameScope<'a>) {
        let slot = self.new_slot();
        let var =
            NameBinding::Var { name: name.to_string(), depth: self.current_depth(), at: slot.at };
        (slot, scope.with_binding(var))
    }

    /// Returns the operand for a variable; `None` if no variable has that name.
    pub fn variable_operand(&self, name: &str, scope: &NameScope<'a>) -> Option<OpOperand> {
        scope.find_binding(|b| match b {
            NameBinding::Var { name: n, depth, at } if n == name => {
                Some(OpOperand::Var(VarAddress { level: self.level_of(*depth), at: *at }))
            }
            NameBinding::Global { name: n, value } if n == name => {
                Some(OpOperand::Const(value.clone()))
            }
            _ => None,
        })
    }

    /// Returns an expression as an operand, if it needs no code.
    pub fn simple_operand(&self, e: &'a JqExpr, scope: &NameScope<'a>) -> Option<OpOperand> {
        match e {
            JqExpr::Id => Some(OpOperand::Input),
            JqExpr::Var(name, _) => self.variable_operand(name, scope),
            JqExpr::Index(t, k, false) => match (&**t, &**k) {
                (JqExpr::Id, JqExpr::Const(k @ Value::Str(_))) => Some(OpOperand::Field(k.clone())),
                _ => None,
            },
            JqExpr::Call(name, args, _) if args.is_empty() => {
                let (expr, scope) = scope.find_binding(|b| match b {
                    NameBinding::Inline { name: n, expr, scope } if n == name => {
                        Some(Some((*expr, scope)))
                    }
                    // A binding of another kind has the name.
                    NameBinding::Func { name: n, arity: 0, .. }
                    | NameBinding::GlobalFunc { name: n, arity: 0, .. }
                    | NameBinding::Param { name: n, .. }
                        if n == name =>
                    {
                        Some(None)
                    }
                    _ => None,
                })??;
                self.simple_operand(expr, scope)
            }
            other => other.constant().map(OpOperand::Const),
        }
    }

    /// Emits the code that computes arguments, the last one first, as jq does.
    pub fn compile_args(
        &mut self,
        args: impl DoubleEndedIterator<Item = &'a JqExpr>,
        scope: &NameScope<'a>,
    ) -> Result<Vec<OpOperand>> {
        let mut out = Vec::new();
        for e in args.rev() {
            out.push(match self.simple_operand(e, scope) {
                Some(operand) => operand,
                None => {
                    self.compile_argument(e, scope)?;
                    OpOperand::Stack
                }
            });
        }
        out.reverse();
        Ok(out)
    }

    /// Compiles the computation of an argument, which is left below the input.
    pub fn compile_argument(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result {
        self.emit_op(JqOp::SubBegin);
        self.compile_expr(e, scope)?;
        self.emit_op(JqOp::SubEnd);
        Ok(())
    }

    /// Compiles the evaluation of an expression on a copy of the input.
    pub fn compile_aside(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result {
        self.emit_op(JqOp::Dup);
        self.emit_op(JqOp::NestInc);
        self.compile_expr(e, scope)?;
        self.emit_op(JqOp::NestDec);
        Ok(())
    }

    /// Compiles an expression.
    pub fn compile_expr(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result {
        match e {
            JqExpr::Id => {}
            JqExpr::Recurse => self.emit_op(JqOp::Recurse),
            JqExpr::Const(v) => self.emit_op(JqOp::Const(v.clone())),
            JqExpr::Text(format, parts) => self.compile_text(format.as_ref(), parts, scope)?,
            JqExpr::Format(name) => {
                let native = self.library.find_native("format", 1);
                self.emit_native(native, vec![OpOperand::Const(name.as_str().into())]);
            }
            JqExpr::Index(t, k, opt) => self.index(t, k, *opt, scope)?,
            JqExpr::Slice(t, from, to, opt) => self.compile_slice(t, [from, to], *opt, scope)?,
            JqExpr::Each(t, opt) => {
                self.compile_expr(t, scope)?;
                self.emit_op(JqOp::Each(*opt));
            }
            JqExpr::Var(name, at) => match self.variable_operand(name, scope) {
                Some(OpOperand::Var(slot)) => self.emit_op(JqOp::LoadVar(slot)),
                Some(OpOperand::Const(v)) => self.emit_op(JqOp::Const(v)),
                _ => {
                    let message = format!("${name} is not defined");
                    return Err(CompileError { message, at: *at, module: self.module });
                }
            },
            JqExpr::Call(name, args, at) => self.compile_call(name, args, *at, scope)?,
            JqExpr::Array(_) | JqExpr::Object(_) if e.constant().is_some() => {
                self.emit_op(JqOp::Const(e.constant().unwrap_or(Value::Null)));
            }
            JqExpr::Array(None) => self.emit_op(JqOp::Const(Value::arr(Vec::new()))),
            JqExpr::Array(Some(e)) => self.compile_collect(e, scope)?,
            JqExpr::Object(pairs) => self.compile_object(pairs, scope)?,
            JqExpr::Neg(e) => {
                self.compile_expr(e, scope)?;
                self.emit_op(JqOp::Negate);
            }
            JqExpr::Pipe(stages) => {
                for e in stages {
                    self.compile_expr(e, scope)?;
                }
            }
            JqExpr::Comma(all) => self.compile_comma(all, scope)?,
            JqExpr::Binary(op, a, b) => {
                let mut args = self.compile_args([&**a, &**b].into_iter(), scope)?.into_iter();
                if let (Some(a), Some(b)) = (args.next(), args.next()) {
                    self.emit_op(JqOp::Binary(*op, a, b));
                }
            }
            JqExpr::And(a, b) => self.compile_logic(a, b, true, scope)?,
            JqExpr::Or(a, b) => self.compile_logic(a, b, false, scope)?,
            JqExpr::Alt(a, b) => self.compile_alternative(a, b, scope)?,
            JqExpr::Assign(op, a, b) => self.compile_assign(*op, a, b, scope)?,
            JqExpr::If(cond, then, otherwise) => {
                self.compile_conditional(cond, then, otherwise.as_deref(), scope)?;
            }
            JqExpr::Try(body, handler) => self.compile_attempt(body, handler.as_deref(), scope)?,
            JqExpr::Reduce(l) => self.compile_reduce(l, scope)?,
            JqExpr::Foreach(l) => self.compile_foreach(l, scope)?,
            JqExpr::Label(name, body) => {
                let slot = self.new_slot();
                self.emit_op(JqOp::Label(slot));
                let label = NameBinding::Label {
                    name: name.clone(),
                    depth: self.current_depth(),
                    at: slot.at,
                };
                self.compile_expr(body, &scope.with_binding(label))?;
            }
            JqExpr::Break(name, at) => self.break_to(name, *at, scope)?,
            JqExpr::Def(def, rest) => {
                let scope = self.define_function(def, scope);
                self.compile_expr(rest, &scope)?;
            }
            JqExpr::As(source, patterns, body) => {
                self.emit_op(JqOp::Dup);
                self.emit_op(JqOp::NestInc);
                self.compile_expr(source, scope)?;
                let scope = self.bind_patterns(patterns, scope)?;
                self.compile_expr(body, &scope)?;
            }
        }
        Ok(())
    }

    /// Compiles `t[k]`.
    fn index(&mut self, t: &'a JqExpr, k: &'a JqExpr, opt: bool, scope: &NameScope<'a>) -> Result {
        match self.simple_operand(k, scope) {
            Some(k @ (OpOperand::Const(_) | OpOperand::Var(_))) => {
                self.compile_expr(t, scope)?;
                self.emit_op(JqOp::IndexBy(k, opt));
            }
            _ => {
                self.compile_argument(k, scope)?;
                self.compile_expr(t, scope)?;
                self.emit_op(JqOp::Index(opt));
            }
        }
        Ok(())
    }

    /// Compiles `if cond then then else otherwise end`.
    fn compile_conditional(
        &mut self,
        cond: &'a JqExpr,
        then: &'a JqExpr,
        otherwise: Option<&'a JqExpr>,
        scope: &NameScope<'a>,
    ) -> Result {
        self.compile_aside(cond, scope)?;
        let no = self.emit_jump(JqOp::JumpFalse);
        self.compile_expr(then, scope)?;
        match otherwise {
            None => self.land_jump(no),
            Some(e) => {
                let end = self.emit_jump(JqOp::Jump);
                self.land_jump(no);
                self.compile_expr(e, scope)?;
                self.land_jump(end);
            }
        }
        Ok(())
    }

    /// Compiles `try body catch handler`.
    fn compile_attempt(
        &mut self,
        body: &'a JqExpr,
        handler: Option<&'a JqExpr>,
        scope: &NameScope<'a>,
    ) -> Result {
        let begin = self.emit_jump(JqOp::TryBegin);
        self.compile_expr(body, scope)?;
        let done = self.emit_jump(JqOp::TryEnd);
        let end = self.emit_jump(JqOp::Jump);
        self.land_jump(begin);
        self.land_jump(done);
        match handler {
            Some(h) => self.compile_expr(h, scope)?,
            None => self.emit_op(JqOp::Backtrack),
        }
        self.land_jump(end);
        Ok(())
    }

    /// Compiles `break $name`.
    fn break_to(&mut self, name: &'a str, at: usize, scope: &NameScope<'a>) -> Result {
        let slot = scope.find_binding(|b| match b {
            NameBinding::Label { name: n, depth, at } if n == name => {
                Some(VarAddress { level: self.level_of(*depth), at: *at })
            }
            _ => None,
        });
        let Some(slot) = slot else {
            let message = format!("$*label-{name} is not defined");
            return Err(CompileError { message, at, module: self.module });
        };
        self.emit_op(JqOp::Break(slot));
        Ok(())
    }

    fn compile_text(
        &mut self,
        format: Option<&String>,
        parts: &'a [StringPart],
        scope: &NameScope<'a>,
    ) -> Result {
        for part in parts.iter().rev() {
            if let StringPart::Expr(e) = part {
                self.compile_argument(e, scope)?;
            }
        }
        let parts = parts
            .iter()
            .map(|p| match p {
                StringPart::Text(t) => Some(Str::new(t.clone())),
                StringPart::Expr(_) => None,
            })
            .collect();
        self.program.texts.push(TextSite { format: format.cloned(), parts });
        self.emit_op(JqOp::Text(self.program.texts.len() as u32 - 1));
        Ok(())
    }

    fn compile_slice(
        &mut self,
        t: &'a JqExpr,
        bounds: [&'a Option<Box<JqExpr>>; 2],
        opt: bool,
        scope: &NameScope<'a>,
    ) -> Result {
        let constant = |e: &Option<Box<JqExpr>>| match e {
            None => Some(Value::Null),
            Some(e) => e.constant(),
        };
        let [from, to] = bounds;
        if let (Some(from), Some(to)) = (constant(from), constant(to)) {
            self.compile_expr(t, scope)?;
            self.emit_op(JqOp::IndexBy(OpOperand::Const(slice_key(from, to)), opt));
            return Ok(());
        }
        for bound in bounds {
            match bound {
                Some(e) => self.compile_argument(e, scope)?,
                None => {
                    self.emit_op(JqOp::SubBegin);
                    self.emit_op(JqOp::Const(Value::Null));
                    self.emit_op(JqOp::SubEnd);
                }
            }
        }
        self.emit_op(JqOp::SliceKey);
        self.compile_expr(t, scope)?;
        self.emit_op(JqOp::Index(opt));
        Ok(())
    }

    /// Compiles `[e]`.
    pub fn compile_collect(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result {
        let slot = self.new_slot();
        self.emit_op(JqOp::InitArray(slot));
        let fork = self.emit_jump(JqOp::Fork);
        self.compile_expr(e, scope)?;
        self.emit_op(JqOp::Append(slot));
        self.land_jump(fork);
        self.emit_op(JqOp::TakeVar(slot));
        Ok(())
    }

    fn compile_object(&mut self, pairs: &'a [(JqExpr, JqExpr)], scope: &NameScope<'a>) -> Result {
        self.emit_op(JqOp::NewObject);
        for (k, v) in pairs {
            let mut operand = |e: &'a JqExpr| -> Result<OpOperand> {
                if let Some(o) = self.simple_operand(e, scope) {
                    return Ok(o);
                }
                self.compile_argument(e, scope)?;
                Ok(OpOperand::Stack)
            };
            let (k, v) = (operand(k)?, operand(v)?);
            self.emit_op(JqOp::Insert(k, v));
        }
        self.emit_op(JqOp::Pop);
        Ok(())
    }

    fn compile_comma(&mut self, all: &'a [JqExpr], scope: &NameScope<'a>) -> Result {
        let Some((last, others)) = all.split_last() else { return Ok(()) };
        let mut ends = Vec::new();
        for e in others {
            let fork = self.emit_jump(JqOp::Fork);
            self.compile_expr(e, scope)?;
            ends.push(self.emit_jump(JqOp::Jump));
            self.land_jump(fork);
        }
        self.compile_expr(last, scope)?;
        ends.into_iter().for_each(|at| self.land_jump(at));
        Ok(())
    }

    /// Compiles `and` and `or`, which evaluate the second operand only if the first does not decide
    /// the result.
    fn compile_logic(
        &mut self,
        a: &'a JqExpr,
        b: &'a JqExpr,
        and: bool,
        scope: &NameScope<'a>,
    ) -> Result {
        self.compile_aside(a, scope)?;
        let first_false = self.emit_jump(JqOp::JumpFalse);
        if !and {
            self.emit_op(JqOp::Const(Value::Bool(true)));
        } else {
            self.compile_truth(b, scope)?;
        }
        let end = self.emit_jump(JqOp::Jump);
        self.land_jump(first_false);
        if and {
            self.emit_op(JqOp::Const(Value::Bool(false)));
        } else {
            self.compile_truth(b, scope)?;
        }
        self.land_jump(end);
        Ok(())
    }

    fn compile_truth(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result {
        self.compile_aside(e, scope)?;
        let no = self.emit_jump(JqOp::JumpFalse);
        self.emit_op(JqOp::Const(Value::Bool(true)));
        let end = self.emit_jump(JqOp::Jump);
        self.land_jump(no);
        self.emit_op(JqOp::Const(Value::Bool(false)));
        self.land_jump(end);
        Ok(())
    }

    fn compile_alternative(
        &mut self,
        a: &'a JqExpr,
        b: &'a JqExpr,
        scope: &NameScope<'a>,
    ) -> Result {
        let found = self.new_slot();
        let begin = self.emit_jump(|t| JqOp::AltBegin(t, found));
        self.compile_expr(a, scope)?;
        let check = self.emit_jump(|t| JqOp::AltFound(t, found));
        let end = self.emit_jump(JqOp::Jump);
        self.land_jump(begin);
        self.land_jump(check);
        self.compile_expr(b, scope)?;
        self.land_jump(end);
        Ok(())
    }

    fn compile_reduce(&mut self, l: &'a ReduceLoop, scope: &NameScope<'a>) -> Result {
        let state = self.new_slot();
        self.emit_op(JqOp::Dup);
        self.compile_expr(&l.init, scope)?;
        self.emit_op(JqOp::StoreVar(state));
        let fork = self.emit_jump(JqOp::Fork);
        self.compile_expr(&l.source, scope)?;
        self.emit_op(JqOp::NestInc);
        let inner = self.bind_patterns(&l.patterns, scope)?;
        self.emit_op(JqOp::PushTake(state));
        self.compile_expr(&l.update, &inner)?;
        self.emit_op(JqOp::StoreVar(state));
        self.emit_op(JqOp::Backtrack);
        self.land_jump(fork);
        self.emit_op(JqOp::TakeVar(state));
        Ok(())
    }

    fn compile_foreach(&mut self, l: &'a ReduceLoop, scope: &NameScope<'a>) -> Result {
        let state = self.new_slot();
        self.emit_op(JqOp::Dup);
        self.compile_expr(&l.init, scope)?;
        self.emit_op(JqOp::StoreVar(state));
        self.compile_expr(&l.source, scope)?;
        self.emit_op(JqOp::NestInc);
        let inner = self.bind_patterns(&l.patterns, scope)?;
        self.emit_op(JqOp::PushTake(state));
        self.compile_expr(&l.update, &inner)?;
        self.emit_op(JqOp::Dup);
        self.emit_op(JqOp::StoreVar(state));
        if let Some(e) = &l.extract {
            self.compile_expr(e, &inner)?;
        }
        Ok(())
    }

    /// Compiles destructuring the input by the first pattern for which the code after it runs
    /// without error. Expects that `NestInc` came before the computation of the input, and emits
    /// the matching `NestDec`.
    fn bind_patterns(
        &mut self,
        patterns: &'a [JqPattern],
        scope: &NameScope<'a>,
    ) -> Result<NameScope<'a>> {
        let mut names = Vec::new();
        patterns.iter().for_each(|p| pattern_variables(p, &mut names));
        let mut inner = scope.clone();
        let mut slots = Vec::new();
        for name in names {
            let slot;
            (slot, inner) = self.declare_variable(name, &inner);
            slots.push(slot);
        }
        let Some((last, others)) = patterns.split_last() else { return Ok(inner) };
        let mut ends = Vec::new();
        for p in others {
            let next = self.emit_jump(JqOp::PatternAlt);
            slots.iter().for_each(|s| self.emit_op(JqOp::ClearVar(*s)));
            self.compile_pattern(p, &inner)?;
            ends.push(self.emit_jump(JqOp::Jump));
            self.land_jump(next);
        }
        if !others.is_empty() {
            slots.iter().for_each(|s| self.emit_op(JqOp::ClearVar(*s)));
        }
        self.compile_pattern(last, &inner)?;
        ends.into_iter().for_each(|at| self.land_jump(at));
        self.emit_op(JqOp::NestDec);
        Ok(inner)
    }

    fn compile_store(&mut self, name: &str, scope: &NameScope<'a>) {
        if let Some(OpOperand::Var(slot)) = self.variable_operand(name, scope) {
            self.emit_op(JqOp::StoreVar(slot));
        }
    }

    fn compile_pattern(&mut self, p: &'a JqPattern, scope: &NameScope<'a>) -> Result {
        match p {
            JqPattern::Var(name) => self.compile_store(name, scope),
            JqPattern::Array(items) => {
                for (i, p) in items.iter().enumerate() {
                    self.emit_op(JqOp::Dup);
                    self.emit_op(JqOp::IndexBy(OpOperand::Const(Value::int(i)), false));
                    self.compile_pattern(p, scope)?;
                }
                self.emit_op(JqOp::Pop);
            }
            JqPattern::Object(fields) => {
                for (key, p) in fields {
                    self.emit_op(JqOp::Dup);
                    match key {
                        PatternKey::Var(name) => {
                            let key = OpOperand::Const(name.as_str().into());
                            self.emit_op(JqOp::IndexBy(key, false));
                            if p.is_some() {
                                self.emit_op(JqOp::Dup);
                            }
                            self.compile_store(name, scope);
                        }
                        PatternKey::Expr(e) => {
                            self.compile_argument(e, scope)?;
                            self.emit_op(JqOp::Index(false));
                        }
                    }
                    if let Some(p) = p {
                        self.compile_pattern(p, scope)?;
                    }
                }
                self.emit_op(JqOp::Pop);
            }
        }
        Ok(())
    }
}

/// Collects the variables of a pattern, each once.
fn pattern_variables<'p>(p: &'p JqPattern, out: &mut Vec<&'p str>) {
    let mut add = |name: &'p str| {
        if !out.contains(&name) {
            out.push(name);
        }
    };
    match p {
        JqPattern::Var(name) => add(name),
        JqPattern::Array(items) => items.iter().for_each(|p| pattern_variables(p, out)),
        JqPattern::Object(fields) => {
            for (key, p) in fields {
                if let PatternKey::Var(name) = key
                    && !out.contains(&name.as_str())
                {
                    out.push(name);
                }
                if let Some(p) = p {
                    pattern_variables(p, out);
                }
            }
        }
    }
}
