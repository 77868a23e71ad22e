//! Expressions and assignments.

use super::AwkCompiler;
use crate::ast::{AwkExpr, AwkVar, GetlineSource, Subscripts};
use crate::code::{ArrayPlace, AssignableTarget, AwkOp, GetlineInput, UpdateResult};
use crate::special::Special;
use crate::value::AwkValue;

impl AwkCompiler {
    /// Compiles an expression for its value, which is left on the stack.
    pub(super) fn compile_expr(&mut self, e: &AwkExpr) {
        match e {
            AwkExpr::Num(n) => self.emit_op(AwkOp::Num(*n)),
            AwkExpr::Str(s) => self.emit_string(s),
            AwkExpr::Regex(r) => {
                let p = self.pattern_index(r);
                self.emit_op(AwkOp::MatchRecord(p));
            }
            AwkExpr::TypedRegex(r) => {
                let n = self.constant_index(AwkValue::Regex(crate::text::AwkText::new(r)));
                self.emit_op(AwkOp::Const(n));
            }
            AwkExpr::Var(v) => self.compile_load(*v),
            AwkExpr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit_op(if is_symtab(*v, subs) {
                    AwkOp::Symbol
                } else {
                    AwkOp::Element(place)
                });
            }
            AwkExpr::Field(n) => match constant_field(n) {
                Some(n) => self.emit_op(AwkOp::FieldAt(n)),
                None => {
                    self.compile_expr(n);
                    self.emit_op(AwkOp::Field);
                }
            },
            AwkExpr::Group(e) => self.compile_expr(e),
            // The parser allows lists only where their elements are compiled one by one.
            AwkExpr::List(list) => self.compile_subscript(list),
            AwkExpr::Neg(e) => {
                self.compile_expr(e);
                self.emit_op(AwkOp::Neg);
            }
            AwkExpr::Plus(e) => {
                self.compile_expr(e);
                self.emit_op(AwkOp::Plus);
            }
            AwkExpr::Not(e) => {
                self.compile_expr(e);
                self.emit_op(AwkOp::Not);
            }
            AwkExpr::Chain(first, rest) => {
                self.compile_expr(first);
                for (op, e) in rest {
                    self.compile_expr(e);
                    self.emit_op(AwkOp::Arith(*op));
                }
            }
            AwkExpr::Concat(list) => {
                list.iter().for_each(|e| self.compile_expr(e));
                self.emit_op(AwkOp::Concat(list.len() as u32));
            }
            AwkExpr::Compare(cmp, a, b) => {
                self.compile_expr(a);
                self.compile_expr(b);
                self.emit_op(AwkOp::Compare(*cmp));
            }
            AwkExpr::Match { negate, text, pattern } => {
                self.compile_matching(*negate, text, pattern)
            }
            AwkExpr::In(keys, v, subs) => {
                let place = self.array_place(*v, subs);
                self.compile_subscript(keys);
                self.emit_op(AwkOp::In(place));
            }
            AwkExpr::And(list) => self.compile_logic(list, true),
            AwkExpr::Or(list) => self.compile_logic(list, false),
            AwkExpr::Cond(arms, last) => {
                let mut ends = Vec::new();
                for (cond, value) in arms {
                    let skip = self.jump_unless(cond);
                    self.compile_expr(value);
                    ends.push(self.emit_jump(AwkOp::Jump(0)));
                    skip.into_iter().for_each(|j| self.patch_jump(j));
                }
                self.compile_expr(last);
                ends.into_iter().for_each(|j| self.patch_jump(j));
            }
            AwkExpr::Assign(..) | AwkExpr::Update(..) | AwkExpr::Step { .. } => {
                self.compile_modify(e, true)
            }
            AwkExpr::Call(f, args) => self.compile_call(*f, args),
            AwkExpr::Indirect(v, args) => self.compile_indirect(*v, args),
            AwkExpr::Builtin(b, args) => self.compile_builtin(*b, args),
            AwkExpr::Getline(input, target) => self.compile_getline(input, target.as_deref()),
        }
    }

    /// Compiles an expression for its effects; no value is left on the stack.
    pub(super) fn compile_for_effect(&mut self, e: &AwkExpr) {
        match e {
            AwkExpr::Assign(..) | AwkExpr::Update(..) | AwkExpr::Step { .. } => {
                self.compile_modify(e, false)
            }
            AwkExpr::Group(e) => self.compile_for_effect(e),
            _ => {
                self.compile_expr(e);
                self.emit_op(AwkOp::Pop);
            }
        }
    }

    /// Compiles a condition, and returns the jumps that are taken if it is false.
    pub(super) fn jump_unless(&mut self, e: &AwkExpr) -> Vec<usize> {
        match e {
            AwkExpr::Group(e) if !matches!(**e, AwkExpr::List(_)) => self.jump_unless(e),
            AwkExpr::Compare(cmp, a, b) => {
                self.compile_expr(a);
                self.compile_expr(b);
                vec![self.emit_jump(AwkOp::JumpUnlessCmp(*cmp, 0))]
            }
            AwkExpr::And(list) => list.iter().flat_map(|e| self.jump_unless(e)).collect(),
            AwkExpr::Not(inner) => {
                self.compile_expr(inner);
                vec![self.emit_jump(AwkOp::JumpIf(0))]
            }
            _ => {
                self.compile_expr(e);
                vec![self.emit_jump(AwkOp::JumpUnless(0))]
            }
        }
    }

    fn compile_logic(&mut self, list: &[AwkExpr], and: bool) {
        let mut decided = Vec::new();
        for e in list {
            self.compile_expr(e);
            decided.push(self.emit_jump(if and { AwkOp::JumpUnless(0) } else { AwkOp::JumpIf(0) }));
        }
        self.emit_op(AwkOp::Num(if and { 1.0 } else { 0.0 }));
        let end = self.emit_jump(AwkOp::Jump(0));
        decided.into_iter().for_each(|j| self.patch_jump(j));
        self.emit_op(AwkOp::Num(if and { 0.0 } else { 1.0 }));
        self.patch_jump(end);
    }

    fn compile_matching(&mut self, negate: bool, text: &AwkExpr, pattern: &AwkExpr) {
        if let AwkExpr::Regex(r) = strip_groups(pattern) {
            let p = self.pattern_index(r);
            let record = matches!(text, AwkExpr::Field(n) if constant_field(n) == Some(0));
            if record {
                self.emit_op(AwkOp::MatchRecord(p));
                if negate {
                    self.emit_op(AwkOp::Not);
                }
                return;
            }
            self.compile_expr(text);
            self.emit_op(AwkOp::Match(p, negate));
            return;
        }
        self.compile_expr(text);
        self.compile_expr(pattern);
        self.emit_op(AwkOp::MatchDynamic(negate));
    }

    /// Loads a variable.
    pub(super) fn compile_load(&mut self, v: AwkVar) {
        let op = match (v, self.special_variable(v)) {
            (_, Some(s)) if s.is_computed() => AwkOp::Special(s),
            (AwkVar::Global(n), _) => AwkOp::Global(n),
            (AwkVar::Local(n), _) => AwkOp::Local(n),
        };
        self.emit_op(op);
    }

    pub(super) fn var_target(&self, v: AwkVar) -> AssignableTarget {
        match (v, self.special_variable(v)) {
            (_, Some(s)) if s.is_watched() => AssignableTarget::Special(s),
            (AwkVar::Global(n), _) => AssignableTarget::Global(n),
            (AwkVar::Local(n), _) => AssignableTarget::Local(n),
        }
    }

    /// Compiles a list of subscripts, which are joined to one on the stack.
    fn compile_subscript(&mut self, list: &[AwkExpr]) {
        list.iter().for_each(|e| self.compile_expr(e));
        if list.len() > 1 {
            self.emit_op(AwkOp::Subscript(list.len() as u32));
        }
    }

    /// Compiles the way through inner arrays by all subscripts, and returns the array's place.
    pub(super) fn array_place(&mut self, v: AwkVar, subs: &[Vec<AwkExpr>]) -> ArrayPlace {
        let mut place = self.place_of_array(v);
        for list in subs {
            self.compile_subscript(list);
            self.emit_op(AwkOp::Inner(place));
            place = ArrayPlace::Inner;
        }
        place
    }

    /// Compiles an element's last subscript, which is left on the stack, and returns its array's
    /// place.
    pub(super) fn element_address(&mut self, v: AwkVar, subs: &Subscripts) -> ArrayPlace {
        let Some((last, outer)) = subs.split_last() else { return self.place_of_array(v) };
        let place = self.array_place(v, outer);
        self.compile_subscript(last);
        place
    }

    /// Compiles something assignable, whose address, if it has one, is left on the stack.
    pub(super) fn compile_target(&mut self, e: &AwkExpr) -> AssignableTarget {
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
                self.compile_expr(n);
                AssignableTarget::Field
            }
            AwkExpr::Group(e) => self.compile_target(e),
            // The parser makes no other expression assignable.
            other => {
                self.compile_expr(other);
                AssignableTarget::Field
            }
        }
    }

    fn compile_modify(&mut self, e: &AwkExpr, wanted: bool) {
        let keep = if wanted { UpdateResult::New } else { UpdateResult::Nothing };
        match e {
            AwkExpr::Assign(target, value) => {
                if let (AwkExpr::Var(v), AwkExpr::Concat(parts)) = (&**target, &**value) {
                    // `s = s x` appends to `s` in place, unless evaluating `x` could change or use
                    // `s`.
                    let grows = matches!(parts.first(), Some(AwkExpr::Var(w)) if w == v)
                        && parts[1..].iter().all(is_simple);
                    let t = self.var_target(*v);
                    if grows
                        && matches!(t, AssignableTarget::Global(_) | AssignableTarget::Local(_))
                    {
                        parts[1..].iter().for_each(|p| self.compile_expr(p));
                        if parts.len() > 2 {
                            self.emit_op(AwkOp::Concat(parts.len() as u32 - 1));
                        }
                        self.emit_op(AwkOp::Append(t, keep));
                        return;
                    }
                }
                let t = self.compile_target(target);
                self.compile_expr(value);
                self.emit_op(if wanted { AwkOp::SetKeep(t) } else { AwkOp::Set(t) });
            }
            AwkExpr::Update(target, op, value) => {
                let t = self.compile_target(target);
                self.compile_expr(value);
                self.emit_op(AwkOp::Update(*op, t, keep));
            }
            AwkExpr::Step { target, delta, prefix } => {
                let t = self.compile_target(target);
                let keep = if wanted && !prefix { UpdateResult::Old } else { keep };
                self.emit_op(AwkOp::Step(*delta as f32, t, keep));
            }
            _ => {}
        }
    }

    fn compile_getline(&mut self, input: &GetlineSource, target: Option<&AwkExpr>) {
        let from = match input {
            GetlineSource::Main => GetlineInput::Main,
            GetlineSource::File(e) => {
                self.compile_expr(e);
                GetlineInput::File
            }
            GetlineSource::Command(e) => {
                self.compile_expr(e);
                GetlineInput::Command
            }
            GetlineSource::Coprocess(e) => {
                self.compile_expr(e);
                GetlineInput::Coprocess
            }
        };
        let t = target.map(|t| self.compile_target(t));
        self.emit_op(AwkOp::Getline(from, t));
    }
}

/// Returns whether evaluating an expression can neither change variables nor call functions.
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

/// Returns the number in `$3`, if it is a small constant.
pub(super) fn constant_field(e: &AwkExpr) -> Option<u32> {
    match e {
        AwkExpr::Num(n) if n.fract() == 0.0 && (0.0..1e6).contains(n) => Some(*n as u32),
        _ => None,
    }
}

/// Returns whether the element is `SYMTAB[name]`.
fn is_symtab(v: AwkVar, subs: &Subscripts) -> bool {
    v == AwkVar::Global(Special::Symtab as u32) && subs.len() == 1
}

/// Returns the expression without the parentheses around it.
pub(super) fn strip_groups(e: &AwkExpr) -> &AwkExpr {
    let mut e = e;
    while let AwkExpr::Group(inner) = e {
        e = inner;
    }
    e
}
