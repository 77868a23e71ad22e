//! Expressions and assignments.

use super::Compiler;
use crate::ast::{Expr, Input, Subscripts, Var};
use crate::code::{From, Keep, Op, Place, Target};
use crate::special::Special;
use crate::value::Value;

impl Compiler {
    /// Evaluates for the value.
    pub(super) fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Num(n) => self.emit(Op::Num(*n)),
            Expr::Str(s) => self.string(s),
            Expr::Regex(r) => {
                let p = self.pattern(r);
                self.emit(Op::MatchRecord(p));
            }
            Expr::TypedRegex(r) => {
                let n = self.constant(Value::Regex(crate::text::Text::new(r)));
                self.emit(Op::Const(n));
            }
            Expr::Var(v) => self.load(*v),
            Expr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit(if is_symtab(*v, subs) { Op::Symbol } else { Op::Element(place) });
            }
            Expr::Field(n) => match constant_field(n) {
                Some(n) => self.emit(Op::FieldAt(n)),
                None => {
                    self.expr(n);
                    self.emit(Op::Field);
                }
            },
            Expr::Group(e) => self.expr(e),
            // The parser lets lists stand only where they are taken apart.
            Expr::List(list) => self.subscript(list),
            Expr::Neg(e) => {
                self.expr(e);
                self.emit(Op::Neg);
            }
            Expr::Plus(e) => {
                self.expr(e);
                self.emit(Op::Plus);
            }
            Expr::Not(e) => {
                self.expr(e);
                self.emit(Op::Not);
            }
            Expr::Chain(first, rest) => {
                self.expr(first);
                for (op, e) in rest {
                    self.expr(e);
                    self.emit(Op::Arith(*op));
                }
            }
            Expr::Concat(list) => {
                list.iter().for_each(|e| self.expr(e));
                self.emit(Op::Concat(list.len() as u32));
            }
            Expr::Compare(cmp, a, b) => {
                self.expr(a);
                self.expr(b);
                self.emit(Op::Compare(*cmp));
            }
            Expr::Match { negate, text, pattern } => self.matching(*negate, text, pattern),
            Expr::In(keys, v, subs) => {
                let place = self.array_place(*v, subs);
                self.subscript(keys);
                self.emit(Op::In(place));
            }
            Expr::And(list) => self.logic(list, true),
            Expr::Or(list) => self.logic(list, false),
            Expr::Cond(arms, last) => {
                let mut ends = Vec::new();
                for (cond, value) in arms {
                    let skip = self.jump_unless(cond);
                    self.expr(value);
                    ends.push(self.jump(Op::Jump(0)));
                    skip.into_iter().for_each(|j| self.patch(j));
                }
                self.expr(last);
                ends.into_iter().for_each(|j| self.patch(j));
            }
            Expr::Assign(..) | Expr::Update(..) | Expr::Step { .. } => self.modify(e, true),
            Expr::Call(f, args) => self.call(*f, args),
            Expr::Indirect(v, args) => self.indirect(*v, args),
            Expr::Builtin(b, args) => self.builtin(*b, args),
            Expr::Getline(input, target) => self.getline(input, target.as_deref()),
        }
    }

    /// Evaluates for the effects.
    pub(super) fn discard(&mut self, e: &Expr) {
        match e {
            Expr::Assign(..) | Expr::Update(..) | Expr::Step { .. } => self.modify(e, false),
            Expr::Group(e) => self.discard(e),
            _ => {
                self.expr(e);
                self.emit(Op::Pop);
            }
        }
    }

    /// Emits a test; the jumps returned are taken if it fails.
    pub(super) fn jump_unless(&mut self, e: &Expr) -> Vec<usize> {
        match e {
            Expr::Group(e) if !matches!(**e, Expr::List(_)) => self.jump_unless(e),
            Expr::Compare(cmp, a, b) => {
                self.expr(a);
                self.expr(b);
                vec![self.jump(Op::JumpUnlessCmp(*cmp, 0))]
            }
            Expr::And(list) => list.iter().flat_map(|e| self.jump_unless(e)).collect(),
            Expr::Not(inner) => {
                self.expr(inner);
                vec![self.jump(Op::JumpIf(0))]
            }
            _ => {
                self.expr(e);
                vec![self.jump(Op::JumpUnless(0))]
            }
        }
    }

    fn logic(&mut self, list: &[Expr], and: bool) {
        let mut decided = Vec::new();
        for e in list {
            self.expr(e);
            decided.push(self.jump(if and { Op::JumpUnless(0) } else { Op::JumpIf(0) }));
        }
        self.emit(Op::Num(if and { 1.0 } else { 0.0 }));
        let end = self.jump(Op::Jump(0));
        decided.into_iter().for_each(|j| self.patch(j));
        self.emit(Op::Num(if and { 0.0 } else { 1.0 }));
        self.patch(end);
    }

    fn matching(&mut self, negate: bool, text: &Expr, pattern: &Expr) {
        if let Expr::Regex(r) = strip(pattern) {
            let p = self.pattern(r);
            let record = matches!(text, Expr::Field(n) if constant_field(n) == Some(0));
            if record {
                self.emit(Op::MatchRecord(p));
                if negate {
                    self.emit(Op::Not);
                }
                return;
            }
            self.expr(text);
            self.emit(Op::Match(p, negate));
            return;
        }
        self.expr(text);
        self.expr(pattern);
        self.emit(Op::MatchDynamic(negate));
    }

    /// Loads a variable.
    pub(super) fn load(&mut self, v: Var) {
        let op = match (v, self.special(v)) {
            (_, Some(s)) if s.computed() => Op::Special(s),
            (Var::Global(n), _) => Op::Global(n),
            (Var::Local(n), _) => Op::Local(n),
        };
        self.emit(op);
    }

    pub(super) fn var_target(&self, v: Var) -> Target {
        match (v, self.special(v)) {
            (_, Some(s)) if s.watched() => Target::Special(s),
            (Var::Global(n), _) => Target::Global(n),
            (Var::Local(n), _) => Target::Local(n),
        }
    }

    /// One subscript from a list.
    fn subscript(&mut self, list: &[Expr]) {
        list.iter().for_each(|e| self.expr(e));
        if list.len() > 1 {
            self.emit(Op::Subscript(list.len() as u32));
        }
    }

    /// Walks into inner arrays by all subscripts; where the array is.
    pub(super) fn array_place(&mut self, v: Var, subs: &[Vec<Expr>]) -> Place {
        let mut place = self.place(v);
        for list in subs {
            self.subscript(list);
            self.emit(Op::Inner(place));
            place = Place::Inner;
        }
        place
    }

    /// Leaves the last subscript on the stack; where its array is.
    pub(super) fn element_address(&mut self, v: Var, subs: &Subscripts) -> Place {
        let Some((last, outer)) = subs.split_last() else { return self.place(v) };
        let place = self.array_place(v, outer);
        self.subscript(last);
        place
    }

    /// Leaves the address (if it needs one) of something assignable on the stack.
    pub(super) fn target(&mut self, e: &Expr) -> Target {
        match e {
            Expr::Var(v) => self.var_target(*v),
            Expr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                if is_symtab(*v, subs) { Target::Symbol } else { Target::Element(place) }
            }
            Expr::Field(n) => {
                if constant_field(n) == Some(0) {
                    return Target::Record;
                }
                self.expr(n);
                Target::Field
            }
            Expr::Group(e) => self.target(e),
            // The parser makes nothing else assignable; a value to be thrown away.
            other => {
                self.expr(other);
                Target::Field
            }
        }
    }

    fn modify(&mut self, e: &Expr, wanted: bool) {
        let keep = if wanted { Keep::New } else { Keep::Nothing };
        match e {
            Expr::Assign(target, value) => {
                if let (Expr::Var(v), Expr::Concat(parts)) = (&**target, &**value) {
                    // `s = s x` grows in place, unless x itself changes or shows s.
                    let grows = matches!(parts.first(), Some(Expr::Var(w)) if w == v)
                        && parts[1..].iter().all(is_simple);
                    let t = self.var_target(*v);
                    if grows && matches!(t, Target::Global(_) | Target::Local(_)) {
                        parts[1..].iter().for_each(|p| self.expr(p));
                        if parts.len() > 2 {
                            self.emit(Op::Concat(parts.len() as u32 - 1));
                        }
                        self.emit(Op::Append(t, keep));
                        return;
                    }
                }
                let t = self.target(target);
                self.expr(value);
                self.emit(if wanted { Op::SetKeep(t) } else { Op::Set(t) });
            }
            Expr::Update(target, op, value) => {
                let t = self.target(target);
                self.expr(value);
                self.emit(Op::Update(*op, t, keep));
            }
            Expr::Step { target, delta, prefix } => {
                let t = self.target(target);
                let keep = if wanted && !prefix { Keep::Old } else { keep };
                self.emit(Op::Step(*delta as f32, t, keep));
            }
            _ => {}
        }
    }

    fn getline(&mut self, input: &Input, target: Option<&Expr>) {
        let from = match input {
            Input::Main => From::Main,
            Input::File(e) => {
                self.expr(e);
                From::File
            }
            Input::Command(e) => {
                self.expr(e);
                From::Command
            }
            Input::Coprocess(e) => {
                self.expr(e);
                From::Coprocess
            }
        };
        let t = target.map(|t| self.target(t));
        self.emit(Op::Getline(from, t));
    }
}

/// Whether evaluating can neither change variables nor run anything.
fn is_simple(e: &Expr) -> bool {
    match e {
        Expr::Num(_) | Expr::Str(_) | Expr::Var(_) => true,
        Expr::Field(e) | Expr::Group(e) | Expr::Neg(e) => is_simple(e),
        Expr::Chain(first, rest) => is_simple(first) && rest.iter().all(|(_, e)| is_simple(e)),
        Expr::Index(_, subs) => subs.iter().flatten().all(is_simple),
        Expr::Builtin(
            crate::builtin::Builtin::Substr
            | crate::builtin::Builtin::Sprintf
            | crate::builtin::Builtin::Toupper
            | crate::builtin::Builtin::Tolower,
            args,
        ) => args.iter().all(is_simple),
        _ => false,
    }
}

/// `$3`: the number, if it is a small constant.
pub(super) fn constant_field(e: &Expr) -> Option<u32> {
    match e {
        Expr::Num(n) if n.fract() == 0.0 && (0.0..1e6).contains(n) => Some(*n as u32),
        _ => None,
    }
}

/// `SYMTAB[name]`.
fn is_symtab(v: Var, subs: &Subscripts) -> bool {
    v == Var::Global(Special::Symtab as u32) && subs.len() == 1
}

/// Without parentheses around it.
pub(super) fn strip(e: &Expr) -> &Expr {
    let mut e = e;
    while let Expr::Group(inner) = e {
        e = inner;
    }
    e
}
