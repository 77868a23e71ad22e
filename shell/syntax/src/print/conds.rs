//! `[[ ]]` expressions.

use super::CommandPrinter;
use crate::ast::Cond;

impl CommandPrinter<'_> {
    pub(super) fn print_cond(&mut self, cond: &Cond) {
        match cond {
            Cond::Not(inner) => {
                self.put_text(b"! ");
                self.cond_group(inner, !matches!(**inner, Cond::And(..) | Cond::Or(..)));
            }
            Cond::Group(inner) => self.cond_group(inner, false),
            Cond::And(a, b) => {
                self.cond_group(a, !matches!(**a, Cond::Or(..)));
                self.put_text(b" && ");
                self.cond_group(b, !matches!(**b, Cond::Or(..)));
            }
            Cond::Or(a, b) => {
                self.print_cond(a);
                self.put_text(b" || ");
                self.print_cond(b);
            }
            Cond::Word(w) => {
                self.put_text(b"-n ");
                self.put_text(&w.raw);
            }
            Cond::Unary(op, w) => {
                self.put_text(&[b'-', *op, b' ']);
                self.put_text(&w.raw);
            }
            Cond::Binary(op, a, b) => {
                self.put_text(&a.raw);
                self.put_text(b" ");
                self.put_text(op.spelling());
                self.put_text(b" ");
                self.put_text(&b.raw);
            }
        }
    }

    fn cond_group(&mut self, cond: &Cond, bare: bool) {
        if bare {
            return self.print_cond(cond);
        }
        self.put_text(b"( ");
        self.print_cond(cond);
        self.put_text(b" )");
    }
}
