//! Calls of the program's functions and of built-in ones.

use super::Compiler;
use super::expr::{constant_field, strip};
use crate::ast::{Expr, Var};
use crate::builtin::Builtin as B;
use crate::code::Op;
use crate::resolve::array_argument;

impl Compiler {
    pub(super) fn call(&mut self, f: u32, args: &[Expr]) {
        for (n, arg) in args.iter().enumerate() {
            match (self.params.is_array(f, n), arg) {
                (true, Expr::Var(v)) => {
                    let place = self.place(*v);
                    self.emit(Op::ArgArray(place));
                }
                (true, Expr::Index(v, subs)) => {
                    let place = self.element_address(*v, subs);
                    self.emit(Op::ArgElement(place));
                }
                _ => self.dynamic_argument(arg),
            }
        }
        self.emit(Op::Call(f, args.len() as u32));
    }

    pub(super) fn indirect(&mut self, v: Var, args: &[Expr]) {
        self.load(v);
        args.iter().for_each(|a| self.dynamic_argument(a));
        self.emit(Op::CallIndirect(args.len() as u32));
    }

    /// An argument that is an array only if the variable is one already.
    fn dynamic_argument(&mut self, arg: &Expr) {
        match arg {
            Expr::Var(v) if !self.special(*v).is_some_and(|s| s.computed()) => {
                let place = self.place(*v);
                self.emit(Op::ArgVar(place));
            }
            _ => {
                self.expr(arg);
                self.emit(Op::ArgValue);
            }
        }
    }

    pub(super) fn builtin(&mut self, b: B, args: &[Expr]) {
        match (b, args) {
            (B::Length, []) => self.emit(Op::LengthRecord),
            (B::Length, [arg]) => match strip(arg) {
                Expr::Field(n) if constant_field(n) == Some(0) => self.emit(Op::LengthRecord),
                Expr::Var(v) if !self.special(*v).is_some_and(|s| s.computed()) => {
                    let place = self.place(*v);
                    self.emit(Op::LengthOf(place));
                }
                Expr::Index(v, subs) => {
                    // Perhaps an inner array.
                    let place = self.element_address(*v, subs);
                    self.emit(Op::LengthOfElement(place));
                }
                _ => {
                    self.expr(arg);
                    self.emit(Op::Builtin(b, 1));
                }
            },
            (B::Isarray | B::Typeof, [arg, ..]) => self.type_of(arg, b == B::Typeof),
            (B::Sub | B::Gsub, [pattern, replacement, rest @ ..]) => {
                self.pattern_argument(pattern);
                self.expr(replacement);
                let record = Expr::Field(Box::new(Expr::Num(0.0)));
                let target = rest.first().map_or(&record, strip);
                if matches!(target, Expr::Var(_) | Expr::Index(..) | Expr::Field(_)) {
                    let t = self.target(target);
                    self.emit(Op::Subst(b == B::Gsub, t));
                } else {
                    // Not assignable: the count is all there is.
                    self.expr(target);
                    self.emit(Op::SubstValue(b == B::Gsub));
                }
            }
            (B::Gensub, [pattern, rest @ ..]) => {
                self.pattern_argument(pattern);
                rest.iter().for_each(|a| self.expr(a));
                if rest.len() == 2 {
                    self.emit(Op::FieldAt(0));
                }
                self.emit(Op::Builtin(b, 3));
            }
            (B::Match, [text, pattern, rest @ ..]) => {
                self.expr(text);
                self.pattern_argument(pattern);
                rest.iter().for_each(|a| self.array_argument(a));
                self.emit(Op::Builtin(b, args.len() as u32));
            }
            (B::Split | B::Patsplit, [text, array, rest @ ..]) => {
                self.expr(text);
                self.array_argument(array);
                if let Some(separators) = rest.get(1) {
                    self.array_argument(separators);
                }
                // `//` parts the characters, as "" does.
                let each =
                    b == B::Split && matches!(rest.first(), Some(Expr::Regex(r)) if r.is_empty());
                match rest.first() {
                    None => {}
                    Some(_) if each => self.expr(&Expr::Str(Vec::new())),
                    Some(Expr::Regex(r)) => {
                        let p = self.pattern(r);
                        self.emit(Op::Pattern(p));
                    }
                    Some(sep) if b == B::Split => self.expr(sep),
                    Some(sep) => self.pattern_argument(sep),
                }
                // A separator that is a string has split's own rules for single characters.
                let literal = matches!(rest.first(), Some(Expr::Regex(_)));
                let n = args.len() as u32;
                self.emit(if literal && !each && b == B::Split {
                    Op::SplitPattern(n)
                } else {
                    Op::Builtin(b, n)
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
                self.emit(Op::Builtin(b, args.len() as u32));
            }
        }
    }

    fn type_of(&mut self, arg: &Expr, name: bool) {
        match strip(arg) {
            Expr::Var(v) if !self.special(*v).is_some_and(|s| s.computed()) => {
                let place = self.place(*v);
                self.emit(Op::TypeOf(place, name));
            }
            Expr::Index(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit(Op::TypeOfElement(place, name));
            }
            _ => {
                self.expr(arg);
                self.emit(Op::TypeOfValue(name));
            }
        }
    }

    /// A regular expression: compiled beforehand if it is written as one.
    fn pattern_argument(&mut self, e: &Expr) {
        match strip(e) {
            Expr::Regex(r) => {
                let p = self.pattern(r);
                self.emit(Op::Pattern(p));
            }
            _ => {
                self.expr(e);
                self.emit(Op::PatternDynamic);
            }
        }
    }

    fn array_argument(&mut self, e: &Expr) {
        match strip(e) {
            Expr::Var(v) => {
                let place = self.place(*v);
                self.emit(Op::Array(place));
            }
            Expr::Index(v, subs) => {
                self.array_place(*v, subs);
            }
            // gawk: "argument is not an array".
            other => {
                self.expr(other);
                self.emit(Op::NotArray);
            }
        }
    }
}
