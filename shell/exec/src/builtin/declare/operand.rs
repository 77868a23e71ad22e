//! Operands of `declare` and its variants: `name`, `name=value`, `name[subscript]=value`,
//! `name=(...)`.

use std::rc::Rc;

use sh_expand::{CompoundElement, Str};
use sh_syntax::ast::{ArrayElement, AssignValue};

use crate::state::assign::split_reference;
use crate::walk::DeclarationOperand;

/// A parsed operand.
pub(super) struct DeclareOperand<'c> {
    pub(super) name: Vec<u8>,
    pub(super) subscript: Option<Vec<u8>>,
    /// Whether the operator is `+=`.
    pub(super) append: bool,
    pub(super) value: DeclareValue<'c>,
}

/// The assigned value.
pub(super) enum DeclareValue<'c> {
    None,
    Scalar(Str),
    /// `(...)`: the expansion of its words depends on the array's kind.
    List(&'c [ArrayElement]),
    /// The elements of `(...)`, expanded.
    Elements(Vec<CompoundElement>),
}

impl DeclareValue<'_> {
    pub(super) fn is_some(&self) -> bool {
        !matches!(self, DeclareValue::None)
    }

    /// Returns whether the value is for a whole array.
    pub(super) fn is_list(&self) -> bool {
        matches!(self, DeclareValue::List(_) | DeclareValue::Elements(_))
    }
}

impl<'c> DeclareOperand<'c> {
    /// Returns an operand that is an assignment in the source.
    pub(super) fn from_source(o: &DeclarationOperand<'c>) -> DeclareOperand<'c> {
        let a = o.assignment;
        let value = match &a.value {
            AssignValue::Scalar(_) => DeclareValue::Scalar(o.value.clone()),
            AssignValue::Array(elements) => DeclareValue::List(elements),
        };
        let subscript = a.subscript.as_ref().map(|subscript| subscript.text().to_vec());
        DeclareOperand { name: a.name.to_vec(), subscript, append: a.append, value }
    }

    /// Parses an operand that is a word; `None` if its subscript has no end.
    pub(super) fn from_text(text: &[u8]) -> Option<DeclareOperand<'c>> {
        let Some(eq) = memchr::memchr(b'=', text) else {
            let (name, sub) = split_reference(text);
            let (name, subscript) = (name.to_vec(), sub.map(<[u8]>::to_vec));
            return Some(DeclareOperand {
                name,
                subscript,
                append: false,
                value: DeclareValue::None,
            });
        };
        // A subscript may contain `=`.
        let (name, subscript, rest) = match memchr::memchr(b'[', &text[..eq]) {
            Some(open) => {
                let inside = &text[open + 1..];
                let close = sh_expand::closing_bracket(inside)?;
                (&text[..open], Some(inside[..close].to_vec()), &inside[close + 1..])
            }
            None => {
                let end = if text[..eq].ends_with(b"+") { eq - 1 } else { eq };
                (&text[..end], None, &text[end..])
            }
        };
        let (append, value) = match rest.strip_prefix(b"+") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let value = DeclareValue::Scalar(Rc::new(value.strip_prefix(b"=")?.to_vec()));
        Some(DeclareOperand { name: name.to_vec(), subscript, append, value })
    }
}
