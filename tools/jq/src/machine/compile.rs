//! From syntax tree to instructions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::code::{Func, Op, Operand, Program, Slot, TextSite};
use crate::builtins::Library;
use crate::lang::ast::{Expr, Loop, Part, Pattern, PatternKey};
use crate::value::{Str, Value, slice_key};

/// What does not compile, and where.
#[derive(Debug)]
pub struct CompileError {
    pub message: String,
    pub at: usize,
    /// The number of the module, as [`Compiler::module`] has it.
    pub module: usize,
}

/// What was compiled, or why not.
pub type Result<T = ()> = std::result::Result<T, CompileError>;

/// A name's meaning. `depth` counts the definitions around it.
#[derive(Debug)]
pub enum Binding<'a> {
    Var {
        name: String,
        depth: usize,
        at: u16,
    },
    /// A variable whose value is known: named arguments, `$ENV`, data modules.
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
        expr: &'a Expr,
        scope: Scope<'a>,
    },
    Label {
        name: String,
        depth: usize,
        at: u16,
    },
}

/// Names in sight, innermost first.
#[derive(Clone, Debug, Default)]
pub struct Scope<'a>(Option<Rc<(Binding<'a>, Scope<'a>)>>);

impl<'a> Scope<'a> {
    /// The scope with a name more.
    pub fn with(&self, binding: Binding<'a>) -> Scope<'a> {
        Scope(Some(Rc::new((binding, self.clone()))))
    }

    /// The innermost binding of which `f` makes something.
    pub fn find<'s, T>(&'s self, mut f: impl FnMut(&'s Binding<'a>) -> Option<T>) -> Option<T> {
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

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node).ok().and_then(|mut n| n.1.0.take());
        }
    }
}

/// A function that is being compiled.
#[derive(Debug, Default)]
struct Buffer {
    code: Vec<Op>,
    locals: u16,
}

/// Makes a program of syntax trees.
pub struct Compiler<'a> {
    pub program: Program,
    pub library: &'a Library,
    /// The number of the module that is being compiled; the main program has 0.
    pub module: usize,
    buffers: Vec<Buffer>,
    /// Functions that do not compile: errors where something calls them, as in jq.
    pub(super) broken: BTreeMap<u32, CompileError>,
}

impl<'a> Compiler<'a> {
    /// A compiler with an empty main program.
    pub fn new(library: &'a Library) -> Compiler<'a> {
        let mut program = Program::default();
        program.funcs.push(Func::default());
        Compiler { program, library, module: 0, buffers: Vec::new(), broken: BTreeMap::new() }
    }

    /// Compiles the main expression and links everything.
    pub fn finish(mut self, main: &'a Expr, scope: &Scope<'a>) -> Result<Program> {
        self.begin();
        self.expr(main, scope)?;
        self.emit(Op::Emit);
        self.end(0);
        self.whole()?;
        self.program.link();
        Ok(self.program)
    }

    /// Fails if anything that can be called is broken.
    fn whole(&mut self) -> Result {
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
                let Op::Call(site) = op else { continue };
                let Some(site) = self.program.calls.get(*site as usize) else { continue };
                let ids = site.args.iter().chain([&site.callee]).filter_map(|c| c.id());
                queue.extend(ids.filter(|id| seen.insert(*id)));
            }
        }
        Ok(())
    }

    /// Compiles something; if that fails, the function that was begun for it is given up.
    pub(super) fn guarded(&mut self, f: impl FnOnce(&mut Self) -> Result) -> Result {
        let depth = self.buffers.len();
        let r = f(self);
        self.buffers.truncate(depth);
        r
    }

    /// Begins a function.
    pub fn begin(&mut self) {
        self.buffers.push(Buffer::default());
    }

    /// Ends a function.
    pub fn end(&mut self, id: u32) {
        if let (Some(b), Some(f)) = (self.buffers.pop(), self.program.funcs.get_mut(id as usize)) {
            f.code = b.code;
            f.locals = u32::from(b.locals);
        }
    }

    /// Depth of the function that is being compiled.
    pub fn depth(&self) -> usize {
        self.buffers.len().saturating_sub(1)
    }

    /// Adds an instruction to the function that is being compiled.
    pub fn emit(&mut self, op: Op) {
        if let Some(b) = self.buffers.last_mut() {
            b.code.push(op);
        }
    }

    /// Emits a jump whose target is not known yet.
    pub fn emit_jump(&mut self, op: impl FnOnce(u32) -> Op) -> usize {
        self.emit(op(0));
        self.here() as usize - 1
    }

    /// Where the next instruction will be.
    pub fn here(&self) -> u32 {
        self.buffers.last().map_or(0, |b| b.code.len() as u32)
    }

    /// Lets the jump at `at` lead here.
    pub fn land(&mut self, at: usize) {
        let here = self.here();
        let op = self.buffers.last_mut().and_then(|b| b.code.get_mut(at));
        if let Some(t) = op.and_then(Op::target) {
            *t = here;
        }
    }

    /// A new variable of the current function.
    pub fn slot(&mut self) -> Slot {
        let at = self.buffers.last_mut().map_or(0, |b| {
            // A program would have to have 65,535 binders in one function.
            b.locals = b.locals.saturating_add(1);
            b.locals - 1
        });
        Slot { level: 0, at }
    }

    /// How many definitions out one of that depth is.
    pub fn level(&self, depth: usize) -> u16 {
        (self.depth() - depth) as u16
    }

    /// Declares a variable for `scope`.
    pub fn declare(&mut self, name: &str, scope: &Scope<'a>) -> (Slot, Scope<'a>) {
        let slot = self.slot();
        let var = Binding::Var { name: name.to_string(), depth: self.depth(), at: slot.at };
        (slot, scope.with(var))
    }

    /// What a variable stands for; `None` if there is none of that name.
    pub fn variable(&self, name: &str, scope: &Scope<'a>) -> Option<Operand> {
        scope.find(|b| match b {
            Binding::Var { name: n, depth, at } if n == name => {
                Some(Operand::Var(Slot { level: self.level(*depth), at: *at }))
            }
            Binding::Global { name: n, value } if n == name => Some(Operand::Const(value.clone())),
            _ => None,
        })
    }

    /// An expression that needs no code of its own.
    pub fn simple(&self, e: &'a Expr, scope: &Scope<'a>) -> Option<Operand> {
        match e {
            Expr::Id => Some(Operand::Input),
            Expr::Var(name, _) => self.variable(name, scope),
            Expr::Index(t, k, false) => match (&**t, &**k) {
                (Expr::Id, Expr::Const(k @ Value::Str(_))) => Some(Operand::Field(k.clone())),
                _ => None,
            },
            Expr::Call(name, args, _) if args.is_empty() => {
                let (expr, scope) = scope.find(|b| match b {
                    Binding::Inline { name: n, expr, scope } if n == name => {
                        Some(Some((*expr, scope)))
                    }
                    // Something else has the name.
                    Binding::Func { name: n, arity: 0, .. }
                    | Binding::GlobalFunc { name: n, arity: 0, .. }
                    | Binding::Param { name: n, .. }
                        if n == name =>
                    {
                        Some(None)
                    }
                    _ => None,
                })??;
                self.simple(expr, scope)
            }
            other => other.constant().map(Operand::Const),
        }
    }

    /// Emits what computes arguments, the last one first, as jq does.
    pub fn args(
        &mut self,
        args: impl DoubleEndedIterator<Item = &'a Expr>,
        scope: &Scope<'a>,
    ) -> Result<Vec<Operand>> {
        let mut out = Vec::new();
        for e in args.rev() {
            out.push(match self.simple(e, scope) {
                Some(operand) => operand,
                None => {
                    self.argument(e, scope)?;
                    Operand::Stack
                }
            });
        }
        out.reverse();
        Ok(out)
    }

    /// Computes an argument and leaves it below the input.
    pub fn argument(&mut self, e: &'a Expr, scope: &Scope<'a>) -> Result {
        self.emit(Op::SubBegin);
        self.expr(e, scope)?;
        self.emit(Op::SubEnd);
        Ok(())
    }

    /// Computes something on a copy of the input.
    pub fn aside(&mut self, e: &'a Expr, scope: &Scope<'a>) -> Result {
        self.emit(Op::Dup);
        self.emit(Op::NestInc);
        self.expr(e, scope)?;
        self.emit(Op::NestDec);
        Ok(())
    }

    /// Compiles an expression.
    pub fn expr(&mut self, e: &'a Expr, scope: &Scope<'a>) -> Result {
        match e {
            Expr::Id => {}
            Expr::Recurse => self.emit(Op::Recurse),
            Expr::Const(v) => self.emit(Op::Const(v.clone())),
            Expr::Text(format, parts) => self.text(format.as_ref(), parts, scope)?,
            Expr::Format(name) => {
                let native = self.library.native("format", 1);
                self.native(native, vec![Operand::Const(name.as_str().into())]);
            }
            Expr::Index(t, k, opt) => self.index(t, k, *opt, scope)?,
            Expr::Slice(t, from, to, opt) => self.slice(t, [from, to], *opt, scope)?,
            Expr::Each(t, opt) => {
                self.expr(t, scope)?;
                self.emit(Op::Each(*opt));
            }
            Expr::Var(name, at) => match self.variable(name, scope) {
                Some(Operand::Var(slot)) => self.emit(Op::LoadVar(slot)),
                Some(Operand::Const(v)) => self.emit(Op::Const(v)),
                _ => {
                    let message = format!("${name} is not defined");
                    return Err(CompileError { message, at: *at, module: self.module });
                }
            },
            Expr::Call(name, args, at) => self.call(name, args, *at, scope)?,
            Expr::Array(_) | Expr::Object(_) if e.constant().is_some() => {
                self.emit(Op::Const(e.constant().unwrap_or(Value::Null)));
            }
            Expr::Array(None) => self.emit(Op::Const(Value::arr(Vec::new()))),
            Expr::Array(Some(e)) => self.collect(e, scope)?,
            Expr::Object(pairs) => self.object(pairs, scope)?,
            Expr::Neg(e) => {
                self.expr(e, scope)?;
                self.emit(Op::Negate);
            }
            Expr::Pipe(stages) => {
                for e in stages {
                    self.expr(e, scope)?;
                }
            }
            Expr::Comma(all) => self.comma(all, scope)?,
            Expr::Binary(op, a, b) => {
                let mut args = self.args([&**a, &**b].into_iter(), scope)?.into_iter();
                if let (Some(a), Some(b)) = (args.next(), args.next()) {
                    self.emit(Op::Binary(*op, a, b));
                }
            }
            Expr::And(a, b) => self.logic(a, b, true, scope)?,
            Expr::Or(a, b) => self.logic(a, b, false, scope)?,
            Expr::Alt(a, b) => self.alternative(a, b, scope)?,
            Expr::Assign(op, a, b) => self.assign(*op, a, b, scope)?,
            Expr::If(cond, then, otherwise) => {
                self.conditional(cond, then, otherwise.as_deref(), scope)?;
            }
            Expr::Try(body, handler) => self.attempt(body, handler.as_deref(), scope)?,
            Expr::Reduce(l) => self.reduce(l, scope)?,
            Expr::Foreach(l) => self.foreach(l, scope)?,
            Expr::Label(name, body) => {
                let slot = self.slot();
                self.emit(Op::Label(slot));
                let label = Binding::Label { name: name.clone(), depth: self.depth(), at: slot.at };
                self.expr(body, &scope.with(label))?;
            }
            Expr::Break(name, at) => self.break_to(name, *at, scope)?,
            Expr::Def(def, rest) => {
                let scope = self.define(def, scope);
                self.expr(rest, &scope)?;
            }
            Expr::As(source, patterns, body) => {
                self.emit(Op::Dup);
                self.emit(Op::NestInc);
                self.expr(source, scope)?;
                let scope = self.bind(patterns, scope)?;
                self.expr(body, &scope)?;
            }
        }
        Ok(())
    }

    /// `t[k]`.
    fn index(&mut self, t: &'a Expr, k: &'a Expr, opt: bool, scope: &Scope<'a>) -> Result {
        match self.simple(k, scope) {
            Some(k @ (Operand::Const(_) | Operand::Var(_))) => {
                self.expr(t, scope)?;
                self.emit(Op::IndexBy(k, opt));
            }
            _ => {
                self.argument(k, scope)?;
                self.expr(t, scope)?;
                self.emit(Op::Index(opt));
            }
        }
        Ok(())
    }

    /// `if cond then then else otherwise end`.
    fn conditional(
        &mut self,
        cond: &'a Expr,
        then: &'a Expr,
        otherwise: Option<&'a Expr>,
        scope: &Scope<'a>,
    ) -> Result {
        self.aside(cond, scope)?;
        let no = self.emit_jump(Op::JumpFalse);
        self.expr(then, scope)?;
        match otherwise {
            None => self.land(no),
            Some(e) => {
                let end = self.emit_jump(Op::Jump);
                self.land(no);
                self.expr(e, scope)?;
                self.land(end);
            }
        }
        Ok(())
    }

    /// `try body catch handler`.
    fn attempt(&mut self, body: &'a Expr, handler: Option<&'a Expr>, scope: &Scope<'a>) -> Result {
        let begin = self.emit_jump(Op::TryBegin);
        self.expr(body, scope)?;
        let done = self.emit_jump(Op::TryEnd);
        let end = self.emit_jump(Op::Jump);
        self.land(begin);
        self.land(done);
        match handler {
            Some(h) => self.expr(h, scope)?,
            None => self.emit(Op::Backtrack),
        }
        self.land(end);
        Ok(())
    }

    /// `break $name`.
    fn break_to(&mut self, name: &'a str, at: usize, scope: &Scope<'a>) -> Result {
        let slot = scope.find(|b| match b {
            Binding::Label { name: n, depth, at } if n == name => {
                Some(Slot { level: self.level(*depth), at: *at })
            }
            _ => None,
        });
        let Some(slot) = slot else {
            let message = format!("$*label-{name} is not defined");
            return Err(CompileError { message, at, module: self.module });
        };
        self.emit(Op::Break(slot));
        Ok(())
    }

    fn text(&mut self, format: Option<&String>, parts: &'a [Part], scope: &Scope<'a>) -> Result {
        for part in parts.iter().rev() {
            if let Part::Expr(e) = part {
                self.argument(e, scope)?;
            }
        }
        let parts = parts
            .iter()
            .map(|p| match p {
                Part::Text(t) => Some(Str::new(t.clone())),
                Part::Expr(_) => None,
            })
            .collect();
        self.program.texts.push(TextSite { format: format.cloned(), parts });
        self.emit(Op::Text(self.program.texts.len() as u32 - 1));
        Ok(())
    }

    fn slice(
        &mut self,
        t: &'a Expr,
        bounds: [&'a Option<Box<Expr>>; 2],
        opt: bool,
        scope: &Scope<'a>,
    ) -> Result {
        let constant = |e: &Option<Box<Expr>>| match e {
            None => Some(Value::Null),
            Some(e) => e.constant(),
        };
        let [from, to] = bounds;
        if let (Some(from), Some(to)) = (constant(from), constant(to)) {
            self.expr(t, scope)?;
            self.emit(Op::IndexBy(Operand::Const(slice_key(from, to)), opt));
            return Ok(());
        }
        for bound in bounds {
            match bound {
                Some(e) => self.argument(e, scope)?,
                None => {
                    self.emit(Op::SubBegin);
                    self.emit(Op::Const(Value::Null));
                    self.emit(Op::SubEnd);
                }
            }
        }
        self.emit(Op::SliceKey);
        self.expr(t, scope)?;
        self.emit(Op::Index(opt));
        Ok(())
    }

    /// `[e]`
    pub fn collect(&mut self, e: &'a Expr, scope: &Scope<'a>) -> Result {
        let slot = self.slot();
        self.emit(Op::InitArray(slot));
        let fork = self.emit_jump(Op::Fork);
        self.expr(e, scope)?;
        self.emit(Op::Append(slot));
        self.land(fork);
        self.emit(Op::TakeVar(slot));
        Ok(())
    }

    fn object(&mut self, pairs: &'a [(Expr, Expr)], scope: &Scope<'a>) -> Result {
        self.emit(Op::NewObject);
        for (k, v) in pairs {
            let mut operand = |e: &'a Expr| -> Result<Operand> {
                if let Some(o) = self.simple(e, scope) {
                    return Ok(o);
                }
                self.argument(e, scope)?;
                Ok(Operand::Stack)
            };
            let (k, v) = (operand(k)?, operand(v)?);
            self.emit(Op::Insert(k, v));
        }
        self.emit(Op::Pop);
        Ok(())
    }

    fn comma(&mut self, all: &'a [Expr], scope: &Scope<'a>) -> Result {
        let Some((last, others)) = all.split_last() else { return Ok(()) };
        let mut ends = Vec::new();
        for e in others {
            let fork = self.emit_jump(Op::Fork);
            self.expr(e, scope)?;
            ends.push(self.emit_jump(Op::Jump));
            self.land(fork);
        }
        self.expr(last, scope)?;
        ends.into_iter().for_each(|at| self.land(at));
        Ok(())
    }

    /// `and` and `or`: the second operand counts where the first one is `decides`.
    fn logic(&mut self, a: &'a Expr, b: &'a Expr, and: bool, scope: &Scope<'a>) -> Result {
        self.aside(a, scope)?;
        let first_false = self.emit_jump(Op::JumpFalse);
        if !and {
            self.emit(Op::Const(Value::Bool(true)));
        } else {
            self.truth(b, scope)?;
        }
        let end = self.emit_jump(Op::Jump);
        self.land(first_false);
        if and {
            self.emit(Op::Const(Value::Bool(false)));
        } else {
            self.truth(b, scope)?;
        }
        self.land(end);
        Ok(())
    }

    fn truth(&mut self, e: &'a Expr, scope: &Scope<'a>) -> Result {
        self.aside(e, scope)?;
        let no = self.emit_jump(Op::JumpFalse);
        self.emit(Op::Const(Value::Bool(true)));
        let end = self.emit_jump(Op::Jump);
        self.land(no);
        self.emit(Op::Const(Value::Bool(false)));
        self.land(end);
        Ok(())
    }

    fn alternative(&mut self, a: &'a Expr, b: &'a Expr, scope: &Scope<'a>) -> Result {
        let found = self.slot();
        let begin = self.emit_jump(|t| Op::AltBegin(t, found));
        self.expr(a, scope)?;
        let check = self.emit_jump(|t| Op::AltFound(t, found));
        let end = self.emit_jump(Op::Jump);
        self.land(begin);
        self.land(check);
        self.expr(b, scope)?;
        self.land(end);
        Ok(())
    }

    fn reduce(&mut self, l: &'a Loop, scope: &Scope<'a>) -> Result {
        let state = self.slot();
        self.emit(Op::Dup);
        self.expr(&l.init, scope)?;
        self.emit(Op::StoreVar(state));
        let fork = self.emit_jump(Op::Fork);
        self.expr(&l.source, scope)?;
        self.emit(Op::NestInc);
        let inner = self.bind(&l.patterns, scope)?;
        self.emit(Op::PushTake(state));
        self.expr(&l.update, &inner)?;
        self.emit(Op::StoreVar(state));
        self.emit(Op::Backtrack);
        self.land(fork);
        self.emit(Op::TakeVar(state));
        Ok(())
    }

    fn foreach(&mut self, l: &'a Loop, scope: &Scope<'a>) -> Result {
        let state = self.slot();
        self.emit(Op::Dup);
        self.expr(&l.init, scope)?;
        self.emit(Op::StoreVar(state));
        self.expr(&l.source, scope)?;
        self.emit(Op::NestInc);
        let inner = self.bind(&l.patterns, scope)?;
        self.emit(Op::PushTake(state));
        self.expr(&l.update, &inner)?;
        self.emit(Op::Dup);
        self.emit(Op::StoreVar(state));
        if let Some(e) = &l.extract {
            self.expr(e, &inner)?;
        }
        Ok(())
    }

    /// Takes the input apart by the first pattern that does it and lets what follows run without
    /// error. Expects `NestInc` before the input's computation, and undoes it.
    fn bind(&mut self, patterns: &'a [Pattern], scope: &Scope<'a>) -> Result<Scope<'a>> {
        let mut names = Vec::new();
        patterns.iter().for_each(|p| variables(p, &mut names));
        let mut inner = scope.clone();
        let mut slots = Vec::new();
        for name in names {
            let slot;
            (slot, inner) = self.declare(name, &inner);
            slots.push(slot);
        }
        let Some((last, others)) = patterns.split_last() else { return Ok(inner) };
        let mut ends = Vec::new();
        for p in others {
            let next = self.emit_jump(Op::PatternAlt);
            slots.iter().for_each(|s| self.emit(Op::ClearVar(*s)));
            self.pattern(p, &inner)?;
            ends.push(self.emit_jump(Op::Jump));
            self.land(next);
        }
        if !others.is_empty() {
            slots.iter().for_each(|s| self.emit(Op::ClearVar(*s)));
        }
        self.pattern(last, &inner)?;
        ends.into_iter().for_each(|at| self.land(at));
        self.emit(Op::NestDec);
        Ok(inner)
    }

    fn store(&mut self, name: &str, scope: &Scope<'a>) {
        if let Some(Operand::Var(slot)) = self.variable(name, scope) {
            self.emit(Op::StoreVar(slot));
        }
    }

    fn pattern(&mut self, p: &'a Pattern, scope: &Scope<'a>) -> Result {
        match p {
            Pattern::Var(name) => self.store(name, scope),
            Pattern::Array(items) => {
                for (i, p) in items.iter().enumerate() {
                    self.emit(Op::Dup);
                    self.emit(Op::IndexBy(Operand::Const(Value::int(i)), false));
                    self.pattern(p, scope)?;
                }
                self.emit(Op::Pop);
            }
            Pattern::Object(fields) => {
                for (key, p) in fields {
                    self.emit(Op::Dup);
                    match key {
                        PatternKey::Var(name) => {
                            let key = Operand::Const(name.as_str().into());
                            self.emit(Op::IndexBy(key, false));
                            if p.is_some() {
                                self.emit(Op::Dup);
                            }
                            self.store(name, scope);
                        }
                        PatternKey::Expr(e) => {
                            self.argument(e, scope)?;
                            self.emit(Op::Index(false));
                        }
                    }
                    if let Some(p) = p {
                        self.pattern(p, scope)?;
                    }
                }
                self.emit(Op::Pop);
            }
        }
        Ok(())
    }
}

/// The variables of a pattern, each once.
fn variables<'p>(p: &'p Pattern, out: &mut Vec<&'p str>) {
    let mut add = |name: &'p str| {
        if !out.contains(&name) {
            out.push(name);
        }
    };
    match p {
        Pattern::Var(name) => add(name),
        Pattern::Array(items) => items.iter().for_each(|p| variables(p, out)),
        Pattern::Object(fields) => {
            for (key, p) in fields {
                if let PatternKey::Var(name) = key
                    && !out.contains(&name.as_str())
                {
                    out.push(name);
                }
                if let Some(p) = p {
                    variables(p, out);
                }
            }
        }
    }
}
