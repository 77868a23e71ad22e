//! Expressions and assignments.

use super::AwkCompiler;
use crate::ast::{AwkExpr, AwkVar, GetlineSource, Subscripts};
use crate::code::{ArrayPlace, AssignableTarget, AwkOp, GetlineInput, UpdateResult};
use crate::special::Special;
use crate::value::AwkValue;

impl AwkCompiler {
    /// Evaluates for the value.
    pub(super) fn expr(&mut self, e: &AwkExpr) {
        match e {
            AwkExpr::Num(n) => self.emit(AwkOp::Num(*n)),
            AwkExpr::Str(s) => self.string(s),
            AwkExpr::Regex(r) => {
                let p = self.pattern(r);
                self.emit(AwkOp::MatchRecord(p));
            }
            AwkExpr::TypedRegex(r) => {
                let n = self.constant(AwkValue::Regex(crate::text::AwkText::new(r)));
                self.emit(AwkOp::Const(n));
            }
            AwkExpr::Var(v) => self.load(*v),
            AwkExpr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit(if is_symtab(*v, subs) { AwkOp::Symbol } else { AwkOp::Element(place) });
            }
            AwkExpr::Field(n) => match constant_field(n) {
                Some(n) => self.emit(AwkOp::FieldAt(n)),
                None => {
                    self.expr(n);
                    self.emit(AwkOp::Field);
                }
            },
            AwkExpr::Group(e) => self.expr(e),
            // The parser lets lists stand only where they are taken apart.
            AwkExpr::List(list) => self.subscript(list),
            AwkExpr::Neg(e) => {
                self.expr(e);
                self.emit(AwkOp::Neg);
            }
            AwkExpr::Plus(e) => {
                self.expr(e);
                self.emit(AwkOp::Plus);
            }
            AwkExpr::Not(e) => {
                self.expr(e);
                self.emit(AwkOp::Not);
            }
            AwkExpr::Chain(first, rest) => {
                self.expr(first);
                for (op, e) in rest {
                    self.expr(e);
                    self.emit(AwkOp::Arith(*op));
                }
            }
            AwkExpr::Concat(list) => {
                list.iter().for_each(|e| self.expr(e));
                self.emit(AwkOp::Concat(list.len() as u32));
            }
            AwkExpr::Compare(cmp, a, b) => {
                self.expr(a);
                self.expr(b);
                self.emit(AwkOp::Compare(*cmp));
            }
            AwkExpr::Match { negate, text, pattern } => self.matching(*negate, text, pattern),
            AwkExpr::In(keys, v, subs) => {
                let place = self.array_place(*v, subs);
                self.subscript(keys);
                self.emit(AwkOp::In(place));
            }
            AwkExpr::And(list) => self.logic(list, true),
            AwkExpr::Or(list) => self.logic(list, false),
            AwkExpr::Cond(arms, last) => {
                let mut ends = Vec::new();
                for (cond, value) in arms {
                    let skip = self.jump_unless(cond);
                    self.expr(value);
                    ends.push(self.jump(AwkOp::Jump(0)));
                    skip.into_iter().for_each(|j| self.patch(j));
                }
                self.expr(last);
                ends.into_iter().for_each(|j| self.patch(j));
            }
            AwkExpr::Assign(..) | AwkExpr::Update(..) | AwkExpr::Step { .. } => {
                self.modify(e, true)
            }
            AwkExpr::Call(f, args) => self.call(*f, args),
            AwkExpr::Indirect(v, args) => self.indirect(*v, args),
            AwkExpr::Builtin(b, args) => self.builtin(*b, args),
            AwkExpr::Getline(input, target) => self.getline(input, target.as_deref()),
        }
    }

    /// Evaluates for the effects.
    pub(super) fn discard(&mut self, e: &AwkExpr) {
        match e {
            AwkExpr::Assign(..) | AwkExpr::Update(..) | AwkExpr::Step { .. } => {
                self.modify(e, false)
            }
            AwkExpr::Group(e) => self.discard(e),
            _ => {
                self.expr(e);
                self.emit(AwkOp::Pop);
            }
        }
    }

    /// Emits a test; the jumps returned are taken if it fails.
    pub(super) fn jump_unless(&mut self, e: &AwkExpr) -> Vec<usize> {
        match e {
            AwkExpr::Group(e) if !matches!(**e, AwkExpr::List(_)) => self.jump_unless(e),
            AwkExpr::Compare(cmp, a, b) => {
                self.expr(a);
                self.expr(b);
                vec![self.jump(AwkOp::JumpUnlessCmp(*cmp, 0))]
            }
            AwkExpr::And(list) => list.iter().flat_map(|e| self.jump_unless(e)).collect(),
            AwkExpr::Not(inner) => {
                self.expr(inner);
                vec![self.jump(AwkOp::JumpIf(0))]
            }
            _ => {
                self.expr(e);
                vec![self.jump(AwkOp::JumpUnless(0))]
            }
        }
    }

    fn logic(&mut self, list: &[AwkExpr], and: bool) {
        let mut decided = Vec::new();
        for e in list {
            self.expr(e);
            decided.push(self.jump(if and { AwkOp::JumpUnless(0) } else { AwkOp::JumpIf(0) }));
        }
        self.emit(AwkOp::Num(if and { 1.0 } else { 0.0 }));
        let end = self.jump(AwkOp::Jump(0));
        decided.into_iter().for_each(|j| self.patch(j));
        self.emit(AwkOp::Num(if and { 0.0 } else { 1.0 }));
        self.patch(end);
    }

    fn matching(&mut self, negate: bool, text: &AwkExpr, pattern: &AwkExpr) {
        if let AwkExpr::Regex(r) = strip(pattern) {
            let p = self.pattern(r);
            let record = matches!(text, AwkExpr::Field(n) if constant_field(n) == Some(0));
            if record {
                self.emit(AwkOp::MatchRecord(p));
                if negate {
                    self.emit(AwkOp::Not);
                }
                return;
            }
            self.expr(text);
            self.emit(AwkOp::Match(p, negate));
            return;
        }
        self.expr(text);
        self.expr(pattern);
        self.emit(AwkOp::MatchDynamic(negate));
    }

    /// Loads a variable.
    pub(super) fn load(&mut self, v: AwkVar) {
        let op = match (v, self.special(v)) {
            (_, Some(s)) if s.computed() => AwkOp::Special(s),
            (AwkVar::Global(n), _) => AwkOp::Global(n),
            (AwkVar::Local(n), _) => AwkOp::Local(n),
        };
        self.emit(op);
    }

    pub(super) fn var_target(&self, v: AwkVar) -> AssignableTarget {
        match (v, self.special(v)) {
            (_, Some(s)) if s.watched() => AssignableTarget::Special(s),
            (AwkVar::Global(n), _) => AssignableTarget::Global(n),
            (AwkVar::Local(n), _) => AssignableTarget::Local(n),
        }
    }

    /// One subscript from a list.
    fn subscript(&mut self, list: &[AwkExpr]) {
        list.iter().for_each(|e| self.expr(e));
        if list.len() > 1 {
            self.emit(AwkOp::Subscript(list.len() as u32));
        }
    }

    /// Walks into inner arrays by all subscripts; where the array is.
    pub(super) fn array_place(&mut self, v: AwkVar, subs: &[Vec<AwkExpr>]) -> ArrayPlace {
        let mut place = self.place(v);
        for list in subs {
            self.subscript(list);
            self.emit(AwkOp::Inner(place));
            place = ArrayPlace::Inner;
        }
        place
    }

    /// Leaves the last subscript on the stack; where its array is.
    pub(super) fn element_address(&mut self, v: AwkVar, subs: &Subscripts) -> ArrayPlace {
        let Some((last, outer)) = subs.split_last() else { return self.place(v) };
        let place = self.array_place(v, outer);
        self.subscript(last);
        place
    }

    /// Leaves the address (if it needs one) of something assignable on the stack.
    pub(super) fn target(&mut self, e: &AwkExpr) -> AssignableTarget {
        match e {
            AwkExpr::Var(v) => self.var_target(*v),
            AwkExpr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                if is_symtab(*v, subs) {
                    AssignableTarget::Symbol
                } else {
                    AssignableTarget::Element(place)
                }
            }
            AwkExpr::Field(n) => {
                if constant_field(n) == Some(0) {
                    return AssignableTarget::Record;
                }
                self.expr(n);
                AssignableTarget::Field
            }
            AwkExpr::Group(e) => self.target(e),
            // The parser makes nothing else assignable; a value to be thrown away.
            other => {
                self.expr(other);
                AssignableTarget::Field
            }
        }
    }

    fn modify(&mut self, e: &AwkExpr, wanted: bool) {
        let keep = if wanted { UpdateResult::New } else { UpdateResult::Nothing };
        match e {
            AwkExpr::Assign(target, value) => {
                if let (AwkExpr::Var(v), AwkExpr::Concat(parts)) = (&**target, &**value) {
                    // `s = s x` grows in place, unless x itself changes or shows s.
                    let grows = matches!(parts.first(), Some(AwkExpr::Var(w)) if w == v)
                        && parts[1..].iter().all(is_simple);
                    let t = self.var_target(*v);
                    if grows
                        && matches!(t, AssignableTarget::Global(_) | AssignableTarget::Local(_))
                    {
                        parts[1..].iter().for_each(|p| self.expr(p));
                        if parts.len() > 2 {
                            self.emit(AwkOp::Concat(parts.len() as u32 - 1));
                        }
                        self.emit(AwkOp::Append(t, keep));
                        return;
                    }
                }
                let t = self.target(target);
                self.expr(value);
                self.emit(if wanted { AwkOp::SetKeep(t) } else { AwkOp::Set(t) });
            }
            AwkExpr::Update(target, op, value) => {
                let t = self.target(target);
                self.expr(value);
                self.emit(AwkOp::Update(*op, t, keep));
            }
            AwkExpr::Step { target, delta, prefix } => {
                let t = self.target(target);
                let keep = if wanted && !prefix { UpdateResult::Old } else { keep };
                self.emit(AwkOp::Step(*delta as f32, t, keep));
            }
            _ => {}
        }
    }

    fn getline(&mut self, input: &GetlineSource, target: Option<&AwkExpr>) {
        let from = match input {
            GetlineSource::Main => GetlineInput::Main,
            GetlineSource::File(e) => {
                self.expr(e);
                GetlineInput::File
            }
            GetlineSource::Command(e) => {
                self.expr(e);
                GetlineInput::Command
            }
            GetlineSource::Coprocess(e) => {
                self.expr(e);
                GetlineInput::Coprocess
            }
        };
        let t = target.map(|t| self.target(t));
        self.emit(AwkOp::Getline(from, t));
    }
}

/// Whether evaluating can neither change variables nor run anything.
fn is_simple(e: &AwkExpr) -> bool {
    match e {
        AwkExpr::Num(_) | AwkExpr::Str(_) | AwkExpr::Var(_) => true,
        AwkExpr::Field(e) | AwkExpr::Group(e) | AwkExpr::Neg(e) => is_simple(e),
        AwkExpr::Chain(first, rest) => is_simple(first) && rest.iter().all(|(_, e)| is_simple(e)),
        AwkExpr::Index(_, subs) => subs.iter().flatten().all(is_simple),
        AwkExpr::Builtin(
            crate::builtin::AwkBuiltin::Substr
            | crate::builtin::AwkBuiltin::Sprintf
            | crate::builtin::AwkBuiltin::Toupper
            | crate::builtin::AwkBuiltin::Tolower,
            args,
        ) => args.iter().all(is_simple),
        _ => false,
    }
}

/// `$3`: the number, if it is a small constant.
pub(super) fn constant_field(e: &AwkExpr) -> Option<u32> {
    match e {
        AwkExpr::Num(n) if n.fract() == 0.0 && (0.0..1e6).contains(n) => Some(*n as u32),
        _ => None,
    }
}

/// `SYMTAB[name]`.
fn is_symtab(v: AwkVar, subs: &Subscripts) -> bool {
    v == AwkVar::Global(Special::Symtab as u32) && subs.len() == 1
}

/// Without parentheses around it.
pub(super) fn strip(e: &AwkExpr) -> &AwkExpr {
    let mut e = e;
    while let AwkExpr::Group(inner) = e {
        e = inner;
    }
    e
}
