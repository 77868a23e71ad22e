//! `[[ ]]` expressions.

use super::CommandPrinter;
use crate::ast::Cond;

impl CommandPrinter<'_> {
    pub(super) fn cond(&mut self, cond: &Cond) {
        match cond {
            Cond::Not(inner) => {
                self.put(b"! ");
                self.cond_group(inner, !matches!(**inner, Cond::And(..) | Cond::Or(..)));
            }
            Cond::Group(inner) => self.cond_group(inner, false),
            Cond::And(a, b) => {
                self.cond_group(a, !matches!(**a, Cond::Or(..)));
                self.put(b" && ");
                self.cond_group(b, !matches!(**b, Cond::Or(..)));
            }
            Cond::Or(a, b) => {
                self.cond(a);
                self.put(b" || ");
                self.cond(b);
            }
            Cond::Word(w) => {
                self.put(b"-n ");
                self.put(&w.raw);
            }
            Cond::Unary(op, w) => {
                self.put(&[b'-', *op, b' ']);
                self.put(&w.raw);
            }
            Cond::Binary(op, a, b) => {
                self.put(&a.raw);
                self.put(b" ");
                self.put(op.spelling());
                self.put(b" ");
                self.put(&b.raw);
            }
        }
    }

    fn cond_group(&mut self, cond: &Cond, bare: bool) {
        if bare {
            return self.cond(cond);
        }
        self.put(b"( ");
        self.cond(cond);
        self.put(b" )");
    }
}
