//! Calls of built-in functions, which take their arguments from the stacks and push the result onto
//! the value stack.

use super::{AwkMachine, GlobalCell, Result};
use crate::builtin::AwkBuiltin as B;
use crate::code::AssignableTarget;
use crate::error::AwkRunError;
use crate::resolve::array_argument;
use crate::text::AwkText;
use crate::value::AwkValue;

impl AwkMachine<'_, '_> {
    pub(super) fn call_builtin(&mut self, b: B, n: usize) -> Result<()> {
        let result = match b {
            // These functions push their results themselves.
            B::Match => return self.match_function(n > 2),
            B::Split => return self.call_split(n, false),
            B::Patsplit => return self.call_patsplit(n),
            B::Gensub => return self.call_gensub(),
            B::Asort => return self.call_asort(n, false),
            B::Asorti => return self.call_asort(n, true),
            B::Length => {
                let v = self.pop();
                AwkValue::Num(self.call_length(&v))
            }
            B::Substr => {
                let length = if n > 2 { Some(self.pop_num()) } else { None };
                let start = self.pop_num();
                let text = self.pop_text();
                AwkValue::Str(self.call_substr(&text, start, length))
            }
            B::Index => {
                let part = self.pop_text();
                let text = self.pop_text();
                AwkValue::Num(self.index(&text, &part))
            }
            B::Toupper | B::Tolower => {
                let text = self.pop_text();
                AwkValue::Str(self.change_case(&text, b == B::Toupper))
            }
            B::Sprintf => {
                let args = self.pop_all(n);
                let mut out = Vec::new();
                self.format_values(&args, &mut out)?;
                AwkValue::Str(AwkText::from_vec(out))
            }
            B::Int => AwkValue::Num(self.pop_num().trunc()),
            B::Sqrt => {
                let x = self.pop_num();
                self.warn_negative("sqrt", x);
                AwkValue::Num(if x < 0.0 { -f64::NAN.abs() } else { x.sqrt() })
            }
            B::Log => {
                let x = self.pop_num();
                self.warn_negative("log", x);
                AwkValue::Num(if x < 0.0 { -f64::NAN.abs() } else { x.ln() })
            }
            B::Exp => AwkValue::Num(self.pop_num().exp()),
            B::Sin => AwkValue::Num(self.pop_num().sin()),
            B::Cos => AwkValue::Num(self.pop_num().cos()),
            B::Atan2 => {
                let x = self.pop_num();
                let y = self.pop_num();
                AwkValue::Num(y.atan2(x))
            }
            B::Rand => AwkValue::Num(self.random.next()),
            B::Srand => {
                let seed = if n > 0 { self.pop_num() } else { self.call_systime() };
                let old = std::mem::replace(&mut self.random.seed, seed);
                self.random.seed_sequence(seed as i64 as u32);
                AwkValue::Num(old)
            }
            B::And | B::Or | B::Xor | B::Compl | B::Lshift | B::Rshift => {
                AwkValue::Num(self.call_bitwise(b, n)?)
            }
            B::Strtonum => match self.pop() {
                AwkValue::Num(n) => AwkValue::Num(n),
                v => AwkValue::Num(super::bits::parse_strtonum(&v.text(&self.convfmt))),
            },
            B::Mkbool => AwkValue::bool(self.pop().is_true()),
            B::Systime => AwkValue::Num(self.call_systime()),
            B::Mktime => AwkValue::Num(self.call_mktime(n)?),
            B::Strftime => AwkValue::Str(self.call_strftime(n)?),
            B::System => {
                let command = self.pop_text();
                AwkValue::Num(self.call_system(&command)?)
            }
            B::Close => {
                let how = if n > 1 { Some(self.pop_text()) } else { None };
                let name = self.pop_text();
                AwkValue::Num(self.call_close(&name, how.as_deref())?)
            }
            B::Fflush => {
                let name = if n > 0 { Some(self.pop_text()) } else { None };
                AwkValue::Num(self.call_fflush(name.as_deref())?)
            }
            // There are no catalogs, so the result is the text itself.
            B::Dcgettext => self.first_of(n),
            B::Dcngettext => {
                let args = self.pop_all(n);
                let many = args.get(2).is_some_and(|v| v.num() != 1.0);
                args.get(usize::from(many)).cloned().unwrap_or(AwkValue::EMPTY)
            }
            B::Bindtextdomain => self.first_of(n),
            // These are compiled to separate instructions.
            B::Sub | B::Gsub | B::Isarray | B::Typeof => {
                return Err(AwkRunError::fatal(format!("{}: bad use", b.name())));
            }
        };
        self.stack.push(result);
        Ok(())
    }

    fn first_of(&mut self, n: usize) -> AwkValue {
        self.pop_all(n).into_iter().next().unwrap_or(AwkValue::EMPTY)
    }

    fn warn_negative(&mut self, name: &str, x: f64) {
        if x < 0.0 {
            let mut shown = Vec::new();
            self.convfmt.append(&mut shown, x);
            let shown = String::from_utf8_lossy(&shown).into_owned();
            self.print_warning(&format!("{name}: received negative argument {shown}"));
        }
    }

    /// Calls `@name(...)` where the name is a built-in function's.
    pub(super) fn indirect_builtin(&mut self, name: &[u8], n: usize) -> Result<()> {
        let from = self.locals.len().saturating_sub(n);
        let args = self.locals.split_off(from);
        let shown = String::from_utf8_lossy(name).into_owned();
        let Some(b) = B::by_name(name) else {
            return Err(AwkRunError::fatal(format!(
                "`{shown}' is not a function, so it cannot be called indirectly"
            )));
        };
        let (least, most) = b.arity();
        if n < least || n > most {
            return Err(AwkRunError::fatal(format!(
                "function `{shown}' called with wrong number of arguments"
            )));
        }
        // The index of the argument that is a regular expression.
        let pattern = match b {
            B::Sub | B::Gsub | B::Gensub => Some(0),
            B::Match => Some(1),
            B::Patsplit => Some(2),
            _ => None,
        };
        if let (B::Isarray | B::Typeof | B::Length, Some(GlobalCell::Array(a))) = (b, args.first())
        {
            let untyped = a.borrow().untyped;
            let answer = match b {
                B::Typeof if untyped => AwkValue::str(b"untyped"),
                B::Isarray => AwkValue::bool(!untyped),
                B::Length => AwkValue::Num(a.borrow().len() as f64),
                _ => AwkValue::str(b"array"),
            };
            self.stack.push(answer);
            return Ok(());
        }
        for (i, cell) in args.into_iter().enumerate() {
            match cell {
                GlobalCell::Value(v) if pattern == Some(i) => {
                    let re = self.pattern_from(&v)?;
                    self.patterns.push(re);
                }
                GlobalCell::Value(_) if array_argument(b, i) => {
                    return Err(AwkRunError::fatal(format!("{shown}: argument is not an array")));
                }
                GlobalCell::Value(v) => self.stack.push(v),
                GlobalCell::Array(a) if array_argument(b, i) => self.arrays.push(a),
                GlobalCell::Array(_) => {
                    return Err(AwkRunError::fatal("attempt to use array in a scalar context"));
                }
            }
        }
        match b {
            B::Sub | B::Gsub if n == 2 => {
                self.call_substitute(b == B::Gsub, AssignableTarget::Record)
            }
            B::Sub | B::Gsub => {
                // The target was passed by value, so the only result is the count.
                self.substitute_value(b == B::Gsub);
                Ok(())
            }
            B::Gensub if n == 3 => {
                let v = self.field_value(0);
                self.stack.push(v);
                self.call_builtin(b, 3)
            }
            B::Length if n == 0 => {
                let v = self.field_value(0);
                self.stack.push(v);
                self.call_builtin(b, 1)
            }
            B::Isarray | B::Typeof => {
                let v = self.pop();
                self.push_type(Ok(v), b == B::Typeof);
                Ok(())
            }
            _ => self.call_builtin(b, n),
        }
    }
}
