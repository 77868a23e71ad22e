//! `declare -n` (bash manual 3.4): variables that refer to others.

use sh_expand::{Attributes, ExpandCause, ExpandError, Str};

use super::operand::{DeclareOperand, DeclareValue};
use super::{Declaration, set_cases};
use crate::Shell;
use crate::state::assign::{is_reference, split_reference};
use crate::state::vars::{ShellVar, VarSlot};

/// Turns an existing variable into a nameref.
pub(super) fn make_nameref(
    shell: &mut Shell<'_>,
    t: DeclareOperand<'_>,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let (name, on) = (t.name.as_slice(), d.request.on);
    let old = shell.state.vars.get(name);
    if old.is_some_and(ShellVar::is_array) {
        return Err(ExpandCause::ArrayAsReference(name.to_vec()).into());
    }
    if old.is_some_and(|v| v.attrs.intersects(Attributes::READONLY)) {
        return Err(ExpandError::readonly_variable(name));
    }
    let before = old.and_then(ShellVar::text);
    let target: Option<Str> = match t.value {
        DeclareValue::Scalar(text) if t.append => {
            Some([before.unwrap_or_default().as_slice(), &text].concat().into())
        }
        DeclareValue::Scalar(text) => Some(text),
        // The variable's previous value becomes its reference.
        DeclareValue::None | DeclareValue::List(_) | DeclareValue::Elements(_) => before,
    };
    if let Some(target) = &target {
        check_reference(shell, name, target, d)?;
    }
    let v = shell.state.vars.entry_or_insert(name);
    v.attrs -= Attributes::INTEGER;
    v.attrs |= Attributes::NAMEREF | on & (Attributes::TRACE);
    set_cases(&mut v.attrs, d.request);
    if let Some(target) = target {
        v.slot = VarSlot::Scalar(target);
    }
    v.attrs |= on & (Attributes::READONLY | Attributes::EXPORT);
    Ok(())
}

/// Refuses an operand that cannot become a nameref, before a variable is created for it.
pub(super) fn check_operand(t: &DeclareOperand<'_>) -> Result<(), ExpandError> {
    match &t.value {
        value if t.subscript.is_some() || value.is_list() => {
            Err(ExpandCause::ArrayAsReference(t.name.clone()).into())
        }
        DeclareValue::Scalar(text) if !t.append && text.is_empty() => {
            Err(ExpandError::not_an_identifier(text))
        }
        DeclareValue::Scalar(text) if !t.append && !is_reference(text) => {
            Err(ExpandCause::NotAReference(text.to_vec()).into())
        }
        _ => Ok(()),
    }
}

/// Refuses a text that is not a reference, and a reference to the variable itself. In functions the
/// latter is allowed with a warning, and refers to the global variable of that name.
fn check_reference(
    shell: &mut Shell<'_>,
    name: &[u8],
    target: &[u8],
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    if !is_reference(target) {
        return Err(ExpandCause::NotAReference(target.to_vec()).into());
    }
    if split_reference(target).0 != name {
        return Ok(());
    }
    if shell.state.vars.function_level().is_none() {
        return Err(ExpandCause::SelfReference(name.to_vec()).into());
    }
    shell.builtin_error(d.command, &[b"warning: ", name, b": circular name reference"]);
    Ok(())
}
