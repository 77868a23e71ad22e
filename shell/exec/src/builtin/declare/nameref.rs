//! What `declare` and its kin do with namerefs: making them, and operands that are some.

use sh_expand::{Attributes, Cause, ExpandError, Reach, Str};

use super::apply::{apply, assign, attributes_before, set_cases};
use super::{Declaration, Place, Request, Target, Value, is_own};
use crate::Shell;
use crate::state::assign::{bracketed, is_reference, split_reference};
use crate::state::options::SetOpt;
use crate::state::vars::{Slot, Var};

/// `declare +n r=value`: the value and other attributes still go to what the nameref leads to.
pub(super) fn through_reference(
    shell: &mut Shell<'_>,
    t: Target,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let reference = t.name.clone();
    let plain = d.request.on == Attributes::default() && t.subscript.is_none() && !t.append;
    if let Value::Scalar(text) = &t.value
        && d.place == Place::Local
        && plain
        && let Ok(to) = shell.follow(&reference)
        && (to.subscript.is_some() || shell.state.vars.get(&to.name).is_some())
    {
        if to.subscript.is_some() {
            return Ok(());
        }
        // A local one to a variable that there is: it gets the value, which is to be a name.
        if !is_reference(text) {
            return Err(ExpandError::not_an_identifier(text));
        }
        let v = shell.state.vars.entry(&reference);
        v.attrs.nameref = false;
        v.slot = Slot::Scalar(text.clone());
        return Ok(());
    }
    let mut request = d.request;
    request.off.nameref = false;
    apply(shell, t, Declaration { request, ..d }).map_err(|e| match e.reach() {
        Reach::Readonly => ExpandError::readonly(&reference),
        _ => e,
    })?;
    shell.state.vars.entry(&reference).attrs.nameref = false;
    Ok(())
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
    d: Declaration<'_>,
) -> Result<AtHand, ExpandError> {
    let own = d.place == Place::Local && is_own(shell, &t.name);
    let Some(v) = shell.state.vars.get(&t.name).filter(|v| v.attrs.nameref) else {
        return Ok(AtHand::Other);
    };
    if d.place == Place::Global && v.level > 0 {
        return Ok(AtHand::Other);
    }
    let set = v.is_set();
    let target = shell.follow(&t.name)?;
    let element = set && target.subscript.is_some();
    let plain = !own && d.request.on == Attributes::default();
    let leads = set && !element && (!plain || shell.state.vars.get(&target.name).is_some());
    Ok(match (&t.subscript, &t.value) {
        _ if own && element => AtHand::Element,
        (Some(_), Value::None) if d.place != Place::Global && !leads => AtHand::Removed,
        (Some(_), Value::Scalar(_)) if !own => AtHand::Removed,
        _ => AtHand::Other,
    })
}

/// `export` and `readonly` of a nameref to an element: it gets its value, and bash complains.
pub(super) fn mark_element(
    shell: &mut Shell<'_>,
    t: Target,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let sub = t.subscript.as_deref().unwrap_or_default();
    let shown = [t.name.as_slice(), &bracketed(sub)].concat();
    if t.value.is_some() {
        let name = t.name.clone();
        let plain = Declaration { request: Request::default(), ..d };
        attributes_before(shell, &name, &t, plain)?;
        assign(shell, t)?;
    }
    if !d.request.off.export {
        shell.builtin_error(d.command, &[b"`", &shown, b"': not a valid identifier"]);
    }
    Ok(())
}

/// Whether a nameref may refer to a text.
pub(super) fn check_reference(target: &[u8]) -> Result<(), ExpandError> {
    if is_reference(target) {
        return Ok(());
    }
    Err(Cause::NotAReference(target.to_vec()).into())
}

/// Makes a nameref of the variable that there is now.
pub(super) fn make_nameref(
    shell: &mut Shell<'_>,
    t: Target,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let (name, q) = (t.name.as_slice(), d.request);
    let old = shell.state.vars.get(name).cloned();
    let list = matches!(t.value, Value::Elements(_));
    let given = match t.value {
        Value::Scalar(text) => Some(text),
        Value::None | Value::Elements(_) => None,
    };
    // What a variable held before may be its own name.
    if let Some(text) = &given {
        refers_elsewhere(shell, Some(d.command), name, text)?;
    }
    let plain = old.as_ref().filter(|v| !v.attrs.nameref && !v.is_array());
    let bare = given.is_none();
    let held = plain.and_then(Var::text).filter(|_| bare);
    if let Some(text) = &held {
        if text.is_empty() {
            return Err(Cause::NotAReference(Vec::new()).into());
        }
        check_reference(text)?;
    }
    let readonly = old.as_ref().is_some_and(|v| v.attrs.readonly);
    let array = old.as_ref().is_some_and(|v| v.is_array() && (v.is_set() || !readonly));
    if array || list {
        return Err(Cause::ArrayAsReference(name.to_vec()).into());
    }
    if readonly {
        return Err(ExpandError::readonly(name));
    }
    let target = match given {
        Some(text) => {
            let before = old.as_ref().and_then(Var::text).filter(|_| t.append);
            let text = whole_reference(shell, name, before, text)?;
            let mut attrs = old.map(|v| v.attrs).unwrap_or_default();
            attrs.integer = false;
            set_cases(&mut attrs, q, true);
            Some(shell.converted(attrs, text)?)
        }
        None => held,
    };
    let allexport = shell.state.options.has(SetOpt::AllExport);
    let v = shell.state.vars.entry(name);
    v.attrs.nameref = true;
    v.attrs.integer = q.on.integer && bare;
    v.attrs.trace |= q.on.trace;
    set_cases(&mut v.attrs, q, true);
    if let Some(text) = target {
        v.slot = Slot::Scalar(text);
    }
    v.attrs.readonly |= q.on.readonly;
    v.attrs.export |= q.on.export || allexport;
    Ok(())
}

/// What `declare -n r+=text` refers to in all: `before` and the text.
fn whole_reference(
    shell: &mut Shell<'_>,
    name: &[u8],
    before: Option<Str>,
    text: Str,
) -> Result<Str, ExpandError> {
    let Some(before) = before else {
        return match is_reference(&text) {
            true => Ok(text),
            false => Err(ExpandError::not_an_identifier(&text)),
        };
    };
    let whole: Str = [before.as_slice(), &text].concat().into();
    if !is_reference(&whole) {
        // Of the text alone nothing bad can be said.
        return Err(match is_reference(&text) {
            true => ExpandError::told(Reach::Command),
            false => ExpandError::not_an_identifier(&text),
        });
    }
    refers_elsewhere(shell, None, name, &whole)?;
    Ok(whole)
}

/// A nameref to its own name: an error; in functions a warning, as it means the global variable there.
/// The `command` is named if it is what was written.
fn refers_elsewhere(
    shell: &mut Shell<'_>,
    command: Option<&[u8]>,
    name: &[u8],
    text: &[u8],
) -> Result<(), ExpandError> {
    if split_reference(text).0 != name {
        return Ok(());
    }
    let in_function = shell.state.vars.function_level().is_some();
    let warning: [&[u8]; 3] = [b"warning: ", name, b": circular name reference"];
    let refused = ExpandError::from(Cause::SelfReference(name.to_vec()));
    match (command, in_function) {
        (Some(command), true) => shell.builtin_error(command, &warning),
        (None, true) => shell.error(&warning),
        (Some(_), false) => return Err(refused),
        (None, false) => {
            shell.tell(b"", &refused);
            return Err(ExpandError::told(Reach::Command));
        }
    }
    Ok(())
}
