//! Calls of the program's functions and of built-in ones.

use super::AwkCompiler;
use super::expr::{constant_field, strip_groups};
use crate::ast::{AwkExpr, AwkVar};
use crate::builtin::AwkBuiltin as B;
use crate::code::AwkOp;
use crate::resolve::array_argument;

impl AwkCompiler {
    pub(super) fn compile_call(&mut self, f: u32, args: &[AwkExpr]) {
        for (n, arg) in args.iter().enumerate() {
            match (self.params.is_array(f, n), arg) {
                (true, AwkExpr::Var(v)) => {
                    let place = self.place_of_array(*v);
                    self.emit_op(AwkOp::ArgArray(place));
                }
                (true, AwkExpr::Index(v, subs)) => {
                    let place = self.element_address(*v, subs);
                    self.emit_op(AwkOp::ArgElement(place));
                }
                _ => self.dynamic_argument(arg),
            }
        }
        self.emit_op(AwkOp::Call(f, args.len() as u32));
    }

    pub(super) fn compile_indirect(&mut self, v: AwkVar, args: &[AwkExpr]) {
        self.compile_load(v);
        args.iter().for_each(|a| self.dynamic_argument(a));
        self.emit_op(AwkOp::CallIndirect(args.len() as u32));
    }

    /// Compiles an argument that is an array only if the variable is one already.
    fn dynamic_argument(&mut self, arg: &AwkExpr) {
        match arg {
            AwkExpr::Var(v) if !self.special_variable(*v).is_some_and(|s| s.is_computed()) => {
                let place = self.place_of_array(*v);
                self.emit_op(AwkOp::ArgVar(place));
            }
            _ => {
                self.compile_expr(arg);
                self.emit_op(AwkOp::ArgValue);
            }
        }
    }

    pub(super) fn compile_builtin(&mut self, b: B, args: &[AwkExpr]) {
        match (b, args) {
            (B::Length, []) => self.emit_op(AwkOp::LengthRecord),
            (B::Length, [arg]) => match strip_groups(arg) {
                AwkExpr::Field(n) if constant_field(n) == Some(0) => {
                    self.emit_op(AwkOp::LengthRecord)
                }
                AwkExpr::Var(v) if !self.special_variable(*v).is_some_and(|s| s.is_computed()) => {
                    let place = self.place_of_array(*v);
                    self.emit_op(AwkOp::LengthOf(place));
                }
                AwkExpr::Index(v, subs) => {
                    // The element may be an inner array.
                    let place = self.element_address(*v, subs);
                    self.emit_op(AwkOp::LengthOfElement(place));
                }
                _ => {
                    self.compile_expr(arg);
                    self.emit_op(AwkOp::Builtin(b, 1));
                }
            },
            (B::Isarray | B::Typeof, [arg, ..]) => self.type_of(arg, b == B::Typeof),
            (B::Sub | B::Gsub, [pattern, replacement, rest @ ..]) => {
                self.pattern_argument(pattern);
                self.compile_expr(replacement);
                let record = AwkExpr::Field(Box::new(AwkExpr::Num(0.0)));
                let target = rest.first().map_or(&record, strip_groups);
                if matches!(target, AwkExpr::Var(_) | AwkExpr::Index(..) | AwkExpr::Field(_)) {
                    let t = self.compile_target(target);
                    self.emit_op(AwkOp::Subst(b == B::Gsub, t));
                } else {
                    // The target is not assignable, so the only result is the count.
                    self.compile_expr(target);
                    self.emit_op(AwkOp::SubstValue(b == B::Gsub));
                }
            }
            (B::Gensub, [pattern, rest @ ..]) => {
                self.pattern_argument(pattern);
                rest.iter().for_each(|a| self.compile_expr(a));
                if rest.len() == 2 {
                    self.emit_op(AwkOp::FieldAt(0));
                }
                self.emit_op(AwkOp::Builtin(b, 3));
            }
            (B::Match, [text, pattern, rest @ ..]) => {
                self.compile_expr(text);
                self.pattern_argument(pattern);
                rest.iter().for_each(|a| self.array_argument(a));
                self.emit_op(AwkOp::Builtin(b, args.len() as u32));
            }
            (B::Split | B::Patsplit, [text, array, rest @ ..]) => {
                self.compile_expr(text);
                self.array_argument(array);
                if let Some(separators) = rest.get(1) {
                    self.array_argument(separators);
                }
                // `//` splits the text into characters, as "" does.
                let each = b == B::Split
                    && matches!(rest.first(), Some(AwkExpr::Regex(r)) if r.is_empty());
                match rest.first() {
                    None => {}
                    Some(_) if each => self.compile_expr(&AwkExpr::Str(Vec::new())),
                    Some(AwkExpr::Regex(r)) => {
                        let p = self.pattern_index(r);
                        self.emit_op(AwkOp::Pattern(p));
                    }
                    Some(sep) if b == B::Split => self.compile_expr(sep),
                    Some(sep) => self.pattern_argument(sep),
                }
                // For a separator that is a string, `split` has special rules for single
                // characters.
                let literal = matches!(rest.first(), Some(AwkExpr::Regex(_)));
                let n = args.len() as u32;
                self.emit_op(if literal && !each && b == B::Split {
                    AwkOp::SplitPattern(n)
                } else {
                    AwkOp::Builtin(b, n)
                });
            }
            _ => {
                for (n, arg) in args.iter().enumerate() {
                    if array_argument(b, n) {
                        self.array_argument(arg);
                    } else {
                        self.compile_expr(arg);
                    }
                }
                self.emit_op(AwkOp::Builtin(b, args.len() as u32));
            }
        }
    }

    fn type_of(&mut self, arg: &AwkExpr, name: bool) {
        match strip_groups(arg) {
            AwkExpr::Var(v) if !self.special_variable(*v).is_some_and(|s| s.is_computed()) => {
                let place = self.place_of_array(*v);
                self.emit_op(AwkOp::TypeOf(place, name));
            }
            AwkExpr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit_op(AwkOp::TypeOfElement(place, name));
            }
            _ => {
                self.compile_expr(arg);
                self.emit_op(AwkOp::TypeOfValue(name));
            }
        }
    }

    /// Compiles an argument that is a pattern. One written as a regular expression is compiled in
    /// advance.
    fn pattern_argument(&mut self, e: &AwkExpr) {
        match strip_groups(e) {
            AwkExpr::Regex(r) => {
                let p = self.pattern_index(r);
                self.emit_op(AwkOp::Pattern(p));
            }
            _ => {
                self.compile_expr(e);
                self.emit_op(AwkOp::PatternDynamic);
            }
        }
    }

    fn array_argument(&mut self, e: &AwkExpr) {
        match strip_groups(e) {
            AwkExpr::Var(v) => {
                let place = self.place_of_array(*v);
                self.emit_op(AwkOp::Array(place));
            }
            AwkExpr::Index(v, subs) => {
                self.array_place(*v, subs);
            }
            // gawk reports "argument is not an array".
            other => {
                self.compile_expr(other);
                self.emit_op(AwkOp::NotArray);
            }
        }
    }
}
