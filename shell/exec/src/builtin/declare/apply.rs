//! What one operand of `declare` and its kin does: where the variable lives, its kind and
//! attributes, then its value.

use sh_expand::{Attributes, Cause, ExpandError, OwnedKey, Reach};

use super::nameref::{
    AtHand, check_reference, make_nameref, mark_element, nameref_at_hand, through_reference,
};
use super::{Declaration, Place, Request, Target, Value, is_own};
use crate::Shell;
use crate::state::assign::{MAX_NAMEREFS, as_written, is_reference, make_array, split_reference};
use crate::state::options::{SetOpt, ShOpt};
use crate::state::vars::{OUTERMOST, Slot, Var};

/// An operand whose namerefs were followed.
struct Resolved {
    target: Target,
    /// The name that messages show: of a nameref the one that was written.
    written: Vec<u8>,
    /// A nameref led to an element.
    to_element: bool,
}

/// Declares what one operand says.
pub(super) fn apply(
    shell: &mut Shell<'_>,
    t: Target,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let Some(t) = reference_first(shell, t, d)? else { return Ok(()) };
    let Some(resolved) = followed(shell, t, d)? else { return Ok(()) };
    declare_at(shell, resolved, d)
}

/// Whether it is the visible variable that is declared, and no new one that hides it.
fn is_here(shell: &Shell<'_>, name: &[u8], place: Place) -> bool {
    place != Place::Local || is_own(shell, name)
}

/// Whether `declare -g` means a variable that another one hides.
fn is_hidden_global(shell: &Shell<'_>, name: &[u8], place: Place) -> bool {
    place == Place::Global && shell.state.vars.get(name).is_some_and(|v| v.level > 0)
}

/// What is done to an operand because it is a nameref. `None`: that was all.
fn reference_first(
    shell: &mut Shell<'_>,
    t: Target,
    d: Declaration<'_>,
) -> Result<Option<Target>, ExpandError> {
    let Request { on, off, .. } = d.request;
    if off.nameref
        && let Some(v) = shell.state.vars.get(&t.name)
        && v.attrs.nameref
        && v.attrs.readonly
        && v.is_set()
    {
        return Err(ExpandError::readonly(&t.name));
    }
    // Attributes other than -n go to what a nameref leads to.
    if on.nameref || !is_here(shell, &t.name, d.place) {
        return Ok(Some(t));
    }
    if !off.nameref && !d.is_mark() {
        match nameref_at_hand(shell, &t, d)? {
            AtHand::Other => {}
            AtHand::Element => return Ok(None),
            AtHand::Removed => {
                if t.value.is_some() {
                    shell.error(&[b"warning: ", &t.name, b": removing nameref attribute"]);
                }
                let v = shell.state.vars.entry(&t.name);
                v.attrs.nameref = false;
                v.slot = Slot::Unset;
            }
        }
    }
    if t.value.is_some()
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
        if off.nameref {
            return through_reference(shell, t, d).map(|()| None);
        }
    }
    Ok(Some(t))
}

/// Follows the operand's namerefs, unless they themselves are meant. `None`: it was an element that cannot be marked.
fn followed(
    shell: &mut Shell<'_>,
    mut t: Target,
    d: Declaration<'_>,
) -> Result<Option<Resolved>, ExpandError> {
    let mut written = t.name.clone();
    let mut to_element = false;
    if d.request.on.nameref || d.request.off.nameref {
        return Ok(Some(Resolved { target: t, written, to_element }));
    }
    if t.subscript.is_none() && is_hidden_global(shell, &t.name, d.place) {
        // With -g the global variable is meant, and not what a local nameref leads to.
        follow_global(shell, &mut t);
    } else if is_here(shell, &t.name, d.place) {
        let target = shell.follow(&t.name)?;
        if let (Some(sub), None) = (&target.subscript, &t.subscript) {
            t.subscript = Some(sub.to_vec());
            to_element = true;
            written = target.name.to_vec();
            if d.is_mark() {
                let name = target.name.into_owned();
                return mark_element(shell, Target { name, ..t }, d).map(|()| None);
            }
        }
        if target.name.first() == Some(&OUTERMOST) && d.place == Place::Local {
            return Err(ExpandError::not_an_identifier(&t.name));
        }
        t.name = target.name.into_owned();
    }
    Ok(Some(Resolved { target: t, written, to_element }))
}

/// Puts the variable where it is to live, then gives it what the operand says.
fn declare_at(shell: &mut Shell<'_>, r: Resolved, d: Declaration<'_>) -> Result<(), ExpandError> {
    let (t, on) = (&r.target, d.request.on);
    if on.nameref
        && let Value::Scalar(target) = &t.value
        && !t.append
        && !target.is_empty()
    {
        // Before there is a variable at all.
        check_reference(target)?;
    }
    if is_hidden_global(shell, &t.name, d.place) {
        return on_hidden_global(shell, r.target, d);
    }
    match d.place {
        Place::Local => make_local(shell, t, d)?,
        Place::Visible | Place::Top if on.export || on.readonly => {
            let before_builtin = shell.state.here.own_scope;
            match shell.state.vars.get(&t.name) {
                Some(v) if before_builtin == Some(v.level) => shell.promote(&t.name),
                _ => shell.state.vars.outlive(&t.name, d.place == Place::Top),
            }
        }
        _ => {}
    }
    if on.nameref {
        return make_nameref(shell, r.target, d);
    }
    refuse_readonly(shell, &r, d)?;
    let unmarks = match d.command {
        b"export" => d.request.off.export,
        b"readonly" => d.request.off.readonly,
        _ => false,
    };
    if unmarks && !t.value.is_some() && shell.state.vars.get(&t.name).is_none() {
        // With `-n` what is not there is not made.
        return Ok(());
    }
    give(shell, r, d)
}

/// A readonly variable takes no value, and stays readonly.
fn refuse_readonly(
    shell: &mut Shell<'_>,
    r: &Resolved,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let t = &r.target;
    let unlocks = d.request.off.readonly && d.command != b"readonly";
    if !(t.value.is_some() || unlocks)
        || !shell.state.vars.get(&t.name).is_some_and(|v| v.attrs.readonly)
    {
        return Ok(());
    }
    if d.command == b"export" && d.request.on.export {
        // It is exported all the same.
        shell.state.vars.entry(&t.name).attrs.export = true;
        shell.state.vars.touch_env();
    }
    let assigned = !d.is_mark() && t.value.is_some();
    Err(ExpandError::readonly(if assigned { &r.written } else { &t.name }))
}

/// Gives the variable its attributes and its value.
fn give(shell: &mut Shell<'_>, r: Resolved, d: Declaration<'_>) -> Result<(), ExpandError> {
    let Resolved { target: t, written, to_element } = r;
    let d = Declaration { request: with_allexport(shell, &t, d), ..d };
    let on = d.request.on;
    let (name, is_element) = (t.name.clone(), t.subscript.is_some());
    let is_scalar = matches!(t.value, Value::Scalar(_));
    let fresh = shell.state.vars.get(&name).is_none();
    attributes_before(shell, &written, &t, d)?;
    let marked = to_element && on.readonly && is_scalar;
    if marked {
        // Through a reference to an element bash marks the array before it assigns.
        attributes_after(shell, &name, d.request);
    }
    let Err(e) = assign(shell, t) else {
        attributes_after(shell, &name, d.request);
        return Ok(());
    };
    let v = shell.state.vars.entry(&name);
    if marked && e.reach() == Reach::Readonly {
        // Nor does its status say so.
        if fresh || v.is_set() {
            make_array(v, false);
        }
        shell.error(&[&e.message()]);
        return shell.refused().map(drop).map_err(|unwind| {
            shell.leaving.interrupted = Some(unwind);
            Cause::Interrupted.into()
        });
    }
    if is_element && e.is_missing_element() {
        // The array is made all the same.
        v.attrs.indexed |= !v.is_assoc();
        match d.place {
            Place::Local if fresh => v.slot = Slot::Unset,
            _ if v.is_set() || fresh => make_array(v, false),
            _ => {}
        }
        attributes_after(shell, &name, d.request);
    } else if fresh && is_scalar && e.reach() == Reach::Number && v.is_array() {
        // An array begun with what is no number is there, with nothing in it.
        make_array(v, false);
    }
    Err(e)
}

/// What is asked for where `set -a` exports what is assigned.
fn with_allexport(shell: &Shell<'_>, t: &Target, d: Declaration<'_>) -> Request {
    let mut q = d.request;
    if !shell.state.options.has(SetOpt::AllExport) {
        return q;
    }
    let old = shell.state.vars.get(&t.name);
    let scalar = matches!(t.value, Value::Scalar(_)) && t.subscript.is_none();
    // What is assigned is exported again.
    q.off.export &= !(scalar && !old.is_some_and(Var::is_array) && !d.is_mark());
    // A variable that the global scope gets without a value is exported, too.
    q.on.export |= d.place != Place::Local
        && old.is_none()
        && !t.value.is_some()
        && t.subscript.is_none()
        && !(q.on.indexed || q.on.assoc || q.off.export);
    q
}

/// A variable of the function, hiding what was visible.
fn make_local(shell: &mut Shell<'_>, t: &Target, d: Declaration<'_>) -> Result<(), ExpandError> {
    let Some(level) = shell.state.vars.function_level() else { return Ok(()) };
    let (name, q) = (t.name.as_slice(), d.request);
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
        _ => hide(shell, name, q, visible)?,
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
    q: Request,
    visible: Option<Var>,
) -> Result<(), ExpandError> {
    let level = shell.state.vars.function_level().unwrap_or(0);
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
    written: &[u8],
    t: &Target,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let (name, q) = (t.name.as_slice(), d.request);
    let existed = shell.state.vars.get(name).is_some();
    let has_value = t.value.is_some();
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
        if d.place != Place::Local && has_value {
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
    t: Target,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let mut request = d.request;
    request.on.indexed = false;
    let (name, valued) = (t.name.clone(), t.value.is_some());
    let bare = Target { value: Value::None, subscript: None, append: false, ..t };
    apply(shell, bare, Declaration { request, ..d })?;
    if valued && d.place != Place::Local {
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

/// Assigns the operand's value.
pub(super) fn assign(shell: &mut Shell<'_>, t: Target) -> Result<(), ExpandError> {
    let name = t.name.as_slice();
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
    t: Target,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let name = t.name.clone();
    // The elements and values are expanded with the local visible; the result is stored outside.
    let visible = shell.state.vars.get(&name).cloned();
    let hidden = shell.state.vars.global_mut(&name).clone();
    *shell.state.vars.entry(&name) = hidden;
    let r = if d.request.on.nameref {
        make_nameref(shell, t, d)
    } else {
        attributes_before(shell, &name, &t, d)
            .and_then(|()| assign(shell, t))
            .map(|()| attributes_after(shell, &name, d.request))
    };
    let mut changed = shell.state.vars.entry(&name).clone();
    changed.level = 0;
    if let Some(v) = visible {
        *shell.state.vars.entry(&name) = v;
    }
    *shell.state.vars.global_mut(&name) = changed;
    r
}
