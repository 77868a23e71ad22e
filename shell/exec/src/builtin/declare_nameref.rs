//! What `declare` and its kin do with namerefs: making them, and operands that are some.

use sh_expand::{Attributes, ErrorKind, ExpandError};

use super::declare::{Place, Request, Target, Value};
use super::declare_apply::{apply, assign, attributes_before, set_cases};
use crate::Shell;
use crate::state::assign::{bracketed, command_error, is_reference, split_reference};
use crate::state::options::SetOpt;
use crate::state::vars::{Slot, Var};

/// `declare +n r=value`: the value and other attributes still go to what the nameref leads to.
pub(super) fn through_reference(
    shell: &mut Shell<'_>,
    command: &[u8],
    t: Target,
    q: Request,
    place: Place,
) -> Result<(), ExpandError> {
    let reference = t.name.clone();
    let mut q = q;
    q.off.nameref = false;
    apply(shell, command, t, q, place).map_err(|e| match e.kind {
        ErrorKind::Readonly => readonly_variable(&reference),
        _ => e,
    })?;
    shell.state.vars.entry(&reference).attrs.nameref = false;
    Ok(())
}

pub(super) fn readonly_variable(name: &[u8]) -> ExpandError {
    let message = [name, b": readonly variable"].concat();
    ExpandError { kind: ErrorKind::Readonly, message }
}

/// What `declare` does first with an operand that is a nameref. Found by experiment.
pub(super) enum AtHand {
    /// It is none, or is followed.
    Other,
    /// A local one to an element, of which no local variable is made.
    Element,
    /// It becomes an array, as the operand has a subscript.
    Removed,
}

pub(super) fn nameref_at_hand(
    shell: &Shell<'_>,
    t: &Target,
    q: Request,
    place: Place,
    own: bool,
) -> Result<AtHand, ExpandError> {
    let Some(v) = shell.state.vars.get(&t.name).filter(|v| v.attrs.nameref) else {
        return Ok(AtHand::Other);
    };
    if place == Place::Global && v.level > 0 {
        return Ok(AtHand::Other);
    }
    let set = v.is_set();
    let target = shell.follow(&t.name)?;
    let element = set && target.subscript.is_some();
    let plain = !own && q.on == Attributes::default();
    let leads = set && !element && (!plain || shell.state.vars.get(&target.name).is_some());
    Ok(match (&t.subscript, &t.value) {
        _ if own && element => AtHand::Element,
        (Some(_), Value::None) if place != Place::Global && !leads => AtHand::Removed,
        (Some(_), Value::Scalar(_)) if !own => AtHand::Removed,
        _ => AtHand::Other,
    })
}

/// `export` and `readonly` of a nameref to an element: it gets its value, and bash complains.
pub(super) fn mark_element(
    shell: &mut Shell<'_>,
    command: &[u8],
    t: Target,
    q: Request,
) -> Result<(), ExpandError> {
    let sub = t.subscript.as_deref().unwrap_or_default();
    let shown = [t.name.as_slice(), &bracketed(sub)].concat();
    if !matches!(t.value, Value::None) {
        let name = t.name.clone();
        attributes_before(shell, &name, Request::default(), &t, Place::Visible)?;
        assign(shell, &name, t)?;
    }
    if !q.off.export {
        shell.builtin_error(command, &[b"`", &shown, b"': not a valid identifier"]);
    }
    Ok(())
}

/// `declare -n r+=text`: what the nameref is to refer to in all.
pub(super) fn append_reference(
    shell: &mut Shell<'_>,
    name: &[u8],
    text: &mut sh_expand::Str,
) -> Result<(), ExpandError> {
    if !is_reference(text) {
        return Err(command_error([b"`", text.as_slice(), b"': not a valid identifier"].concat()));
    }
    if let Some(old) = shell.state.vars.get(name).and_then(Var::text) {
        *text = [old.as_slice(), text].concat().into();
    }
    Ok(())
}

/// Whether a nameref may refer to a text.
pub(super) fn check_reference(target: &[u8]) -> Result<(), ExpandError> {
    if target.is_empty() {
        return Err(command_error(b"`': not a valid identifier".to_vec()));
    }
    if is_reference(target) {
        return Ok(());
    }
    Err(command_error([b"`", target, b"': invalid variable name for name reference"].concat()))
}

pub(super) fn make_nameref(
    shell: &mut Shell<'_>,
    command: &[u8],
    name: &[u8],
    value: Value,
    q: Request,
) -> Result<(), ExpandError> {
    let old = shell.state.vars.get(name).cloned();
    let target = match &value {
        Value::Scalar(s) => Some(s.clone()),
        _ => old.as_ref().filter(|v| !v.attrs.nameref && !v.is_array()).and_then(Var::text),
    };
    let given = matches!(value, Value::Scalar(_));
    if let Some(t) = &target {
        if !given && t.is_empty() {
            return Err(command_error(b"`': invalid variable name for name reference".to_vec()));
        }
        check_reference(t)?;
        let (base, _) = split_reference(t);
        let in_function = shell.state.vars.function_level().is_some();
        // What a variable held before may be its own name.
        if base == name && given {
            if !in_function || old.as_ref().is_none_or(|v| v.level == 0) {
                let message = [name, b": nameref variable self references not allowed"].concat();
                return Err(command_error(message));
            }
            shell.builtin_error(command, &[b"warning: ", name, b": circular name reference"]);
        }
    }
    let readonly = old.as_ref().is_some_and(|v| v.attrs.readonly);
    let array = old.as_ref().is_some_and(|v| v.is_array() && (v.is_set() || !readonly));
    if array || matches!(value, Value::Elements(_)) {
        let message = [name, b": reference variable cannot be an array"].concat();
        return Err(command_error(message));
    }
    if readonly {
        return Err(readonly_variable(name));
    }
    let allexport = shell.state.options.has(SetOpt::AllExport);
    let v = shell.state.vars.entry(name);
    v.attrs.nameref = true;
    v.attrs.integer = q.on.integer && !given;
    v.attrs.trace |= q.on.trace;
    set_cases(&mut v.attrs, q, true);
    let cases = Attributes { integer: false, ..v.attrs };
    if let Some(t) = target {
        let text = if given { shell.converted(cases, t)? } else { t };
        shell.state.vars.entry(name).slot = Slot::Scalar(text);
    }
    let v = shell.state.vars.entry(name);
    v.attrs.readonly |= q.on.readonly;
    if q.on.export || allexport {
        v.attrs.export = true;
    }
    Ok(())
}
