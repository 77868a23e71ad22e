//! What one operand of `declare` and its kin does: where the variable lives, its kind and
//! attributes, then its value.

use sh_expand::{Attributes, Cause, ExpandError, OwnedKey, Reach};

use super::declare::{Place, Request, Target, Value};
use super::declare_nameref::{
    AtHand, check_reference, make_nameref, mark_element, nameref_at_hand, through_reference,
};
use crate::Shell;
use crate::state::assign::{MAX_NAMEREFS, as_written, is_reference, make_array, split_reference};
use crate::state::options::{SetOpt, ShOpt};
use crate::state::vars::{OUTERMOST, Slot, Var};

pub(super) fn apply(
    shell: &mut Shell<'_>,
    command: &[u8],
    t: Target,
    q: Request,
    place: Place,
) -> Result<(), ExpandError> {
    let mut t = t;
    let mut written = t.name.clone();
    // Attributes other than -n go to what a nameref leads to.
    let level = match place {
        Place::Local => shell.state.vars.function_level().unwrap_or(0),
        _ => 0,
    };
    let own = shell.state.vars.get(&t.name).is_some_and(|v| v.level == level && level > 0);
    let here = place != Place::Local || own;
    if q.off.nameref
        && let Some(v) = shell.state.vars.get(&t.name)
        && v.attrs.nameref
        && v.attrs.readonly
        && v.is_set()
    {
        return Err(ExpandError::readonly(&t.name));
    }
    let marks = command == b"export" || command == b"readonly";
    if here && !q.on.nameref && !q.off.nameref && !marks {
        match nameref_at_hand(shell, &t, q, place, own)? {
            AtHand::Other => {}
            AtHand::Element => return Ok(()),
            AtHand::Removed => {
                if !matches!(t.value, Value::None) {
                    shell.error(&[b"warning: ", &t.name, b": removing nameref attribute"]);
                }
                let v = shell.state.vars.entry(&t.name);
                v.attrs.nameref = false;
                v.slot = Slot::Unset;
            }
        }
    }
    if !q.on.nameref
        && here
        && !matches!(t.value, Value::None)
        && let Some(v) = shell.state.vars.get(&t.name).filter(|v| v.attrs.nameref)
    {
        if let Value::Scalar(value) = &t.value
            && !v.is_set()
            && !is_reference(value)
        {
            // Nor is it a nameref any more.
            let refused = ExpandError::not_an_identifier(value);
            shell.state.vars.unset(&t.name, false);
            return Err(refused);
        }
        if q.off.nameref {
            return through_reference(shell, command, t, q, place);
        }
    }
    // With -g the global variable is meant, and not what a local nameref leads to.
    let hidden = place == Place::Global
        && t.subscript.is_none()
        && shell.state.vars.get(&t.name).is_some_and(|v| v.level > 0);
    let follow = !q.on.nameref && !q.off.nameref && here && !hidden;
    let mut to_element = false;
    if follow {
        let target = shell.follow(&t.name)?;
        if let (Some(sub), None) = (&target.subscript, &t.subscript) {
            t.subscript = Some(sub.to_vec());
            to_element = true;
            written = target.name.to_vec();
            if marks {
                let name = target.name.into_owned();
                return mark_element(shell, command, Target { name, ..t }, q);
            }
        }
        if target.name.first() == Some(&OUTERMOST) && place == Place::Local {
            let name = &t.name;
            return Err(ExpandError::not_an_identifier(name));
        }
        t.name = target.name.into_owned();
    }
    if hidden && !q.on.nameref && !q.off.nameref {
        follow_global(shell, &mut t);
    }
    let name = t.name.clone();
    if q.on.nameref
        && let Value::Scalar(target) = &t.value
        && !t.append
        && !target.is_empty()
    {
        // Before there is a variable at all.
        check_reference(target)?;
    }
    let global_hidden =
        place == Place::Global && shell.state.vars.get(&name).is_some_and(|v| v.level > 0);
    if global_hidden {
        return on_hidden_global(shell, command, &name, t, q);
    }
    match place {
        Place::Local => make_local(shell, &name, level, q, &t)?,
        Place::Visible | Place::Top if q.on.export || q.on.readonly => {
            let own = shell.state.here.own_scope;
            match shell.state.vars.get(&name) {
                Some(v) if own == Some(v.level) => shell.promote(&name),
                _ => shell.state.vars.outlive(&name, place == Place::Top),
            }
        }
        _ => {}
    }
    if q.on.nameref {
        return make_nameref(shell, command, &name, t, q);
    }
    if let Some(v) = shell.state.vars.get(&name)
        && v.attrs.readonly
        && (!matches!(t.value, Value::None) || q.off.readonly && command != b"readonly")
    {
        if command == b"export" && q.on.export {
            // It is exported all the same.
            shell.state.vars.entry(&name).attrs.export = true;
            shell.state.vars.touch_env();
        }
        let assigned = !marks && !matches!(t.value, Value::None);
        return Err(ExpandError::readonly(if assigned { &written } else { &name }));
    }
    let undo = match command {
        b"export" => q.off.export,
        b"readonly" => q.off.readonly,
        _ => false,
    };
    if undo && matches!(t.value, Value::None) && shell.state.vars.get(&name).is_none() {
        // With `-n` what is not there is not made.
        return Ok(());
    }
    let mut q = q;
    let allexport = shell.state.options.has(SetOpt::AllExport);
    let array = shell.state.vars.get(&name).is_some_and(Var::is_array);
    let scalar = matches!(t.value, Value::Scalar(_));
    // What is assigned is exported again.
    q.off.export &= !(allexport && scalar && t.subscript.is_none() && !array && !marks);
    // A variable that the global scope gets without a value is exported, too.
    q.on.export |= allexport
        && place != Place::Local
        && shell.state.vars.get(&name).is_none()
        && matches!(t.value, Value::None)
        && t.subscript.is_none()
        && !(q.on.indexed || q.on.assoc || q.off.export);
    let fresh = shell.state.vars.get(&name).is_none();
    let element = t.subscript.is_some();
    attributes_before(shell, &name, &written, q, &t, place)?;
    let marked = to_element && q.on.readonly && scalar;
    if marked {
        // Through a reference to an element bash marks the array before it assigns.
        attributes_after(shell, &name, q);
    }
    if let Err(e) = assign(shell, &name, t) {
        if marked && e.reach() == Reach::Readonly {
            // Nor does its status say so.
            let v = shell.state.vars.entry(&name);
            if fresh || v.is_set() {
                make_array(v, false);
            }
            shell.error(&[&e.message()]);
            return shell.refused().map(drop).map_err(|unwind| {
                shell.interrupted = Some(unwind);
                Cause::Interrupted.into()
            });
        }
        if element && e.is_missing_element() {
            // The array is made all the same.
            let v = shell.state.vars.entry(&name);
            v.attrs.indexed |= !v.is_assoc();
            match place {
                Place::Local if fresh => v.slot = Slot::Unset,
                _ if v.is_set() || fresh => make_array(v, false),
                _ => {}
            }
            attributes_after(shell, &name, q);
            return Err(e);
        }
        // An array begun with what is no number is there, with nothing in it.
        let v = shell.state.vars.entry(&name);
        if fresh && scalar && e.reach() == Reach::Number && v.is_array() {
            make_array(v, false);
        }
        return Err(e);
    }
    attributes_after(shell, &name, q);
    Ok(())
}

/// A variable of the function, hiding what was visible.
fn make_local(
    shell: &mut Shell<'_>,
    name: &[u8],
    level: u32,
    q: Request,
    t: &Target,
) -> Result<(), ExpandError> {
    if level == 0 {
        return Ok(());
    }
    let visible = shell.state.vars.get(name).cloned();
    // `x=1 local x`: one that was local already is as the assignment made it, too.
    let given = visible.as_ref().is_some_and(|v| shell.state.here.own_scope == Some(v.level));
    match &visible {
        Some(v) if given => {
            shell.state.vars.reveal(name, v.level);
            *shell.state.vars.declare(name, level) = Var { level, temporary: None, ..v.clone() };
        }
        Some(v) if v.level >= level => {
            if q.on.export || q.on.readonly {
                shell.state.vars.outlive(name, true);
            }
            if let Some(t) = shell.state.vars.get_mut(name).and_then(|v| v.temporary.as_mut()) {
                t.local = true;
            }
        }
        _ => hide(shell, name, level, q, visible)?,
    }
    let array = q.on.indexed || q.on.assoc || t.subscript.is_some();
    let array = array || matches!(t.value, Value::Elements(_));
    if array
        && !shell.state.options.shopt(ShOpt::LocalVarInherit)
        && let Some(v) = shell.state.vars.get_mut(name).filter(|v| v.is_set() && !v.is_array())
    {
        // The value does not become an element, as that of a global variable does.
        v.slot = Slot::Unset;
        v.attrs.assoc = q.on.assoc;
        v.attrs.indexed = !q.on.assoc;
        make_array(v, q.on.assoc);
    }
    Ok(())
}

/// Declares a new variable in the function's scope, in front of the visible one.
fn hide(
    shell: &mut Shell<'_>,
    name: &[u8],
    level: u32,
    q: Request,
    visible: Option<Var>,
) -> Result<(), ExpandError> {
    if let Some(v) = &visible {
        // bash refuses to hide a readonly global.
        if v.attrs.readonly && v.level == 0 {
            return Err(ExpandError::readonly(name));
        }
    }
    let inherit = q.inherit || shell.state.options.shopt(ShOpt::LocalVarInherit);
    if name == b"OPTIND" {
        // A function that parses options of its own starts anew.
        shell.state.getopts = Default::default();
    }
    let v = shell.state.vars.declare(name, level);
    match visible {
        Some(old) if inherit => {
            v.slot = old.slot;
            v.attrs = old.attrs;
            v.attrs.nameref = false;
        }
        // Assignments before the call, or one further out, are what the local starts with.
        Some(old) if old.temporary.is_some() => {
            v.slot = old.slot;
            v.attrs.export = true;
        }
        _ => {}
    }
    Ok(())
}

/// Where the global variable leads to that a local one hides.
fn follow_global(shell: &Shell<'_>, t: &mut Target) {
    for _ in 0..MAX_NAMEREFS {
        let var = shell.state.vars.global(&t.name).filter(|v| v.attrs.nameref);
        let Some(next) = var.and_then(Var::text).filter(|next| !next.is_empty()) else { return };
        let (base, sub) = split_reference(&next);
        t.name = base.to_vec();
        if let Some(sub) = sub {
            t.subscript = Some(sub.to_vec());
            return;
        }
    }
}

/// An array keeps its kind.
pub(super) fn other_kind_error(name: &[u8], is_assoc: bool) -> ExpandError {
    Cause::Conversion { name: name.to_vec(), from_assoc: is_assoc }.into()
}

/// Kind and conversions come before the value, so that they apply to it. Messages show the nameref
/// that was `written`.
pub(super) fn attributes_before(
    shell: &mut Shell<'_>,
    name: &[u8],
    written: &[u8],
    q: Request,
    t: &Target,
    place: Place,
) -> Result<(), ExpandError> {
    let existed = shell.state.vars.get(name).is_some();
    let has_value = !matches!(t.value, Value::None);
    let v = shell.state.vars.entry(name);
    let is_assoc = v.is_assoc();
    let is_indexed = matches!(v.slot, Slot::Indexed(_)) || v.attrs.indexed && !is_assoc;
    if q.on.assoc && is_indexed || q.on.indexed && is_assoc {
        return Err(other_kind_error(written, is_assoc));
    }
    // An element makes an array of what is not there.
    let made = t.subscript.is_some() && !v.is_set() && !v.is_array();
    if made && q.off.indexed && !q.on.assoc {
        v.attrs.indexed = true;
        if place != Place::Local && has_value {
            make_array(v, false);
        }
    }
    if (q.off.indexed && (is_indexed || made && !q.on.assoc)) || (q.off.assoc && is_assoc) {
        return Err(Cause::Destruction(written.to_vec()).into());
    }
    let a = &mut v.attrs;
    a.integer = (a.integer || q.on.integer) && !q.off.integer;
    a.trace = (a.trace || q.on.trace) && !q.off.trace;
    set_cases(a, q, false);
    a.lowercase &= !q.off.lowercase;
    a.uppercase &= !q.off.uppercase;
    a.capitalize &= !q.off.capitalize;
    if q.off.nameref {
        a.nameref = false;
    }
    if q.on.assoc {
        a.assoc = true;
    }
    let compound = matches!(t.value, Value::Elements(_));
    if !q.on.assoc
        && (q.on.indexed
            || (compound && !is_assoc)
            || (t.subscript.is_some() && !is_assoc && !has_value))
    {
        v.attrs.indexed = true;
    }
    if (v.attrs.indexed || v.attrs.assoc) && v.is_set() {
        make_array(v, false);
    }
    if v.attrs.export || q.on.export || q.off.export {
        shell.state.vars.touch_env();
    }
    if !existed {
        shell.state.vars.touch_env();
    }
    Ok(())
}

/// Only one of the case attributes holds; asking for two at once gives none. `all`: also none where
/// none is asked for.
pub(super) fn set_cases(attrs: &mut Attributes, q: Request, all: bool) {
    let cases = u8::from(q.on.lowercase) + u8::from(q.on.uppercase) + u8::from(q.on.capitalize);
    if cases > 0 || all {
        attrs.lowercase = q.on.lowercase && cases == 1;
        attrs.uppercase = q.on.uppercase && cases == 1;
        attrs.capitalize = q.on.capitalize && cases == 1;
    }
}

/// What `declare -aA` leaves after its complaint: an associative array, with nothing in it.
pub(super) fn assoc_instead(
    shell: &mut Shell<'_>,
    command: &[u8],
    t: Target,
    q: Request,
    place: Place,
) -> Result<(), ExpandError> {
    let mut q = q;
    q.on.indexed = false;
    let (name, valued) = (t.name.clone(), !matches!(t.value, Value::None));
    let bare = Target { value: Value::None, subscript: None, append: false, ..t };
    apply(shell, command, bare, q, place)?;
    if valued && place != Place::Local {
        make_array(shell.state.vars.entry(&name), true);
    }
    Ok(())
}

fn attributes_after(shell: &mut Shell<'_>, name: &[u8], q: Request) {
    let v = shell.state.vars.entry(name);
    v.attrs.readonly |= q.on.readonly;
    v.attrs.export = (v.attrs.export || q.on.export) && !q.off.export;
    if q.on.export || q.off.export {
        shell.state.vars.touch_env();
    }
}

pub(super) fn assign(shell: &mut Shell<'_>, name: &[u8], t: Target) -> Result<(), ExpandError> {
    let Some(v) = shell.state.vars.get(name) else { return Ok(()) };
    let array = v.attrs.indexed || v.attrs.assoc;
    match t.value {
        Value::None => Ok(()),
        Value::Elements(elements) => shell.set_elements(name, elements, t.append),
        Value::Scalar(value) => {
            if let Some(s) = t.subscript {
                let key = sh_expand::subscript_text_key(shell, name, &s)?;
                let made = shell.set_array_element(name, &key, t.append, value);
                return made.map_err(|error| as_written(error, name, &s));
            }
            // `declare -a "x=(1 2)"`: the text is a compound value.
            if array
                && value.starts_with(b"(")
                && value.ends_with(b")")
                && let Ok(elements) = sh_syntax::parse::parse_array(&value, &shell.parse_options())
            {
                return shell.set_compound(name, &elements, t.append);
            }
            if array {
                // As an element: `set -a` does not export it.
                let key = match shell.is_assoc(name) {
                    true => OwnedKey::Name(b"0".to_vec()),
                    false => OwnedKey::Index(0),
                };
                return shell.set_array_element(name, &key, t.append, value);
            }
            if t.append { shell.append_scalar(name, value) } else { shell.put_scalar(name, value) }
        }
    }
}

/// `declare -g` while a local hides the global: work on it as if it were visible.
fn on_hidden_global(
    shell: &mut Shell<'_>,
    command: &[u8],
    name: &[u8],
    t: Target,
    q: Request,
) -> Result<(), ExpandError> {
    // The elements and values are expanded with the local visible; the result is stored outside.
    let visible = shell.state.vars.get(name).cloned();
    let hidden = shell.state.vars.global_mut(name).clone();
    *shell.state.vars.entry(name) = hidden;
    let r = if q.on.nameref {
        make_nameref(shell, command, name, t, q)
    } else {
        attributes_before(shell, name, name, q, &t, Place::Global)
            .and_then(|()| assign(shell, name, t))
            .map(|()| attributes_after(shell, name, q))
    };
    let mut changed = shell.state.vars.entry(name).clone();
    changed.level = 0;
    if let Some(v) = visible {
        *shell.state.vars.entry(name) = v;
    }
    *shell.state.vars.global_mut(name) = changed;
    r
}
