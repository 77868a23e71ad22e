//! Calls of the program's functions and of built-in ones.

use super::AwkCompiler;
use super::expr::{constant_field, strip};
use crate::ast::{AwkExpr, AwkVar};
use crate::builtin::AwkBuiltin as B;
use crate::code::AwkOp;
use crate::resolve::array_argument;

impl AwkCompiler {
    pub(super) fn call(&mut self, f: u32, args: &[AwkExpr]) {
        for (n, arg) in args.iter().enumerate() {
            match (self.params.is_array(f, n), arg) {
                (true, AwkExpr::Var(v)) => {
                    let place = self.place(*v);
                    self.emit(AwkOp::ArgArray(place));
                }
                (true, AwkExpr::Index(v, subs)) => {
                    let place = self.element_address(*v, subs);
                    self.emit(AwkOp::ArgElement(place));
                }
                _ => self.dynamic_argument(arg),
            }
        }
        self.emit(AwkOp::Call(f, args.len() as u32));
    }

    pub(super) fn indirect(&mut self, v: AwkVar, args: &[AwkExpr]) {
        self.load(v);
        args.iter().for_each(|a| self.dynamic_argument(a));
        self.emit(AwkOp::CallIndirect(args.len() as u32));
    }

    /// An argument that is an array only if the variable is one already.
    fn dynamic_argument(&mut self, arg: &AwkExpr) {
        match arg {
            AwkExpr::Var(v) if !self.special(*v).is_some_and(|s| s.computed()) => {
                let place = self.place(*v);
                self.emit(AwkOp::ArgVar(place));
            }
            _ => {
                self.expr(arg);
                self.emit(AwkOp::ArgValue);
            }
        }
    }

    pub(super) fn builtin(&mut self, b: B, args: &[AwkExpr]) {
        match (b, args) {
            (B::Length, []) => self.emit(AwkOp::LengthRecord),
            (B::Length, [arg]) => match strip(arg) {
                AwkExpr::Field(n) if constant_field(n) == Some(0) => self.emit(AwkOp::LengthRecord),
                AwkExpr::Var(v) if !self.special(*v).is_some_and(|s| s.computed()) => {
                    let place = self.place(*v);
                    self.emit(AwkOp::LengthOf(place));
                }
                AwkExpr::Index(v, subs) => {
                    // Perhaps an inner array.
                    let place = self.element_address(*v, subs);
                    self.emit(AwkOp::LengthOfElement(place));
                }
                _ => {
                    self.expr(arg);
                    self.emit(AwkOp::Builtin(b, 1));
                }
            },
            (B::Isarray | B::Typeof, [arg, ..]) => self.type_of(arg, b == B::Typeof),
            (B::Sub | B::Gsub, [pattern, replacement, rest @ ..]) => {
                self.pattern_argument(pattern);
                self.expr(replacement);
                let record = AwkExpr::Field(Box::new(AwkExpr::Num(0.0)));
                let target = rest.first().map_or(&record, strip);
                if matches!(target, AwkExpr::Var(_) | AwkExpr::Index(..) | AwkExpr::Field(_)) {
                    let t = self.target(target);
                    self.emit(AwkOp::Subst(b == B::Gsub, t));
                } else {
                    // Not assignable: the count is all there is.
                    self.expr(target);
                    self.emit(AwkOp::SubstValue(b == B::Gsub));
                }
            }
            (B::Gensub, [pattern, rest @ ..]) => {
                self.pattern_argument(pattern);
                rest.iter().for_each(|a| self.expr(a));
                if rest.len() == 2 {
                    self.emit(AwkOp::FieldAt(0));
                }
                self.emit(AwkOp::Builtin(b, 3));
            }
            (B::Match, [text, pattern, rest @ ..]) => {
                self.expr(text);
                self.pattern_argument(pattern);
                rest.iter().for_each(|a| self.array_argument(a));
                self.emit(AwkOp::Builtin(b, args.len() as u32));
            }
            (B::Split | B::Patsplit, [text, array, rest @ ..]) => {
                self.expr(text);
                self.array_argument(array);
                if let Some(separators) = rest.get(1) {
                    self.array_argument(separators);
                }
                // `//` parts the characters, as "" does.
                let each = b == B::Split
                    && matches!(rest.first(), Some(AwkExpr::Regex(r)) if r.is_empty());
                match rest.first() {
                    None => {}
                    Some(_) if each => self.expr(&AwkExpr::Str(Vec::new())),
                    Some(AwkExpr::Regex(r)) => {
                        let p = self.pattern(r);
                        self.emit(AwkOp::Pattern(p));
                    }
                    Some(sep) if b == B::Split => self.expr(sep),
                    Some(sep) => self.pattern_argument(sep),
                }
                // A separator that is a string has split's own rules for single characters.
                let literal = matches!(rest.first(), Some(AwkExpr::Regex(_)));
                let n = args.len() as u32;
                self.emit(if literal && !each && b == B::Split {
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
                        self.expr(arg);
                    }
                }
                self.emit(AwkOp::Builtin(b, args.len() as u32));
            }
        }
    }

    fn type_of(&mut self, arg: &AwkExpr, name: bool) {
        match strip(arg) {
            AwkExpr::Var(v) if !self.special(*v).is_some_and(|s| s.computed()) => {
                let place = self.place(*v);
                self.emit(AwkOp::TypeOf(place, name));
            }
            AwkExpr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit(AwkOp::TypeOfElement(place, name));
            }
            _ => {
                self.expr(arg);
                self.emit(AwkOp::TypeOfValue(name));
            }
        }
    }

    /// A regular expression: compiled beforehand if it is written as one.
    fn pattern_argument(&mut self, e: &AwkExpr) {
        match strip(e) {
            AwkExpr::Regex(r) => {
                let p = self.pattern(r);
                self.emit(AwkOp::Pattern(p));
            }
            _ => {
                self.expr(e);
                self.emit(AwkOp::PatternDynamic);
            }
        }
    }

    fn array_argument(&mut self, e: &AwkExpr) {
        match strip(e) {
            AwkExpr::Var(v) => {
                let place = self.place(*v);
                self.emit(AwkOp::Array(place));
            }
            AwkExpr::Index(v, subs) => {
                self.array_place(*v, subs);
            }
            // gawk: "argument is not an array".
            other => {
                self.expr(other);
                self.emit(AwkOp::NotArray);
            }
        }
    }
}
