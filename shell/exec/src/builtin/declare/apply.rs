//! The steps for one operand of `declare` and its variants: find the variable, set its kind and
//! conversions, then its value, then the attributes that protect or export it.

use sh_expand::{Attributes, ExpandCause, ExpandError};

use super::operand::{DeclareOperand, DeclareValue};
use super::{Declaration, DeclareRequest, DeclareScope, is_own, nameref, set_cases};
use crate::Shell;
use crate::state::assign::{
    MAX_NAMEREFS, as_written, bracket_subscript, list_to_member, make_array, split_reference,
};
use crate::state::options::ShOpt;
use crate::state::vars::{OUTERMOST, ShellVar};

/// Declares one operand.
///
/// # Errors
/// Fails for a readonly variable, an array of the other kind, or a text that is not a reference,
/// and with the errors of expansions, subscripts and values.
pub(super) fn apply_declaration(
    shell: &mut Shell<'_>,
    mut t: DeclareOperand<'_>,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    if let (Some(sub), true) = (&t.subscript, t.value.is_list()) {
        return Err(list_to_member(&t.name, sub));
    }
    let DeclareRequest { on, off, .. } = d.request;
    if on.intersects(Attributes::NAMEREF) {
        nameref::check_operand(&t)?;
    }
    let is_new = d.place == DeclareScope::Local && !is_own(shell, &t.name);
    // Attributes other than -n go to the target of a nameref, unless a new local variable hides it.
    if !((on | off).intersects(Attributes::NAMEREF) || is_new) {
        follow_nameref(shell, &mut t, d)?;
    }
    let inherits = d.request.inherit || shell.state.options.has_shopt(ShOpt::LocalVarInherit);
    if let DeclareValue::List(elements) = t.value {
        // The words are expanded before a new variable hides one that they may refer to.
        let var = match d.place {
            DeclareScope::Global => shell.state.vars.global_var(&t.name),
            _ => shell.state.vars.get(&t.name).filter(|_| !is_new || inherits),
        };
        let assoc = on.intersects(Attributes::ASSOC) || var.is_some_and(ShellVar::is_assoc);
        t.value = DeclareValue::Elements(sh_expand::compound_elements(shell, assoc, elements)?);
    }
    if is_hidden_global(shell, &t.name, d) {
        return on_hidden_global(shell, t, d);
    }
    settle_scope(shell, &t, d)?;
    declare_visible(shell, t, d)
}

/// Returns whether `declare -g` refers to a variable that another one hides.
fn is_hidden_global(shell: &Shell<'_>, name: &[u8], d: Declaration<'_>) -> bool {
    d.place == DeclareScope::Global && shell.state.vars.get(name).is_some_and(|v| v.level > 0)
}

/// Replaces a nameref by its target.
fn follow_nameref(
    shell: &mut Shell<'_>,
    t: &mut DeclareOperand<'_>,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    if is_hidden_global(shell, &t.name, d) {
        follow_global(shell, t);
        return Ok(());
    }
    let target = shell.follow_nameref(&t.name)?;
    let written =
        target.subscript.as_ref().map(|sub| [&target.name, &bracket_subscript(sub)[..]].concat());
    if let Some(written) = written
        && (t.subscript.is_some() || t.value.is_list() || d.is_mark())
    {
        // An element has no elements, and an element cannot be exported.
        return Err(ExpandCause::NotAnIdentifier(written).into());
    }
    if target.name.first() == Some(&OUTERMOST) && d.place == DeclareScope::Local {
        return Err(ExpandError::not_an_identifier(&t.name));
    }
    if let Some(sub) = target.subscript {
        t.subscript = Some(sub.to_vec());
    }
    t.name = target.name.into_owned();
    Ok(())
}

/// Follows a global nameref that a local variable hides.
fn follow_global(shell: &Shell<'_>, t: &mut DeclareOperand<'_>) {
    for _ in 0..MAX_NAMEREFS {
        let var = shell
            .state
            .vars
            .global_var(&t.name)
            .filter(|v| v.attrs.intersects(Attributes::NAMEREF));
        let Some(next) = var.and_then(ShellVar::text).filter(|next| !next.is_empty()) else {
            return;
        };
        let (base, sub) = split_reference(&next);
        t.name = base.to_vec();
        if let Some(sub) = sub {
            t.subscript = Some(sub.to_vec());
            return;
        }
    }
}

/// Puts the variable into its scope.
fn settle_scope(
    shell: &mut Shell<'_>,
    t: &DeclareOperand<'_>,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let on = d.request.on;
    match d.place {
        DeclareScope::Local => make_local(shell, &t.name, d.request)?,
        DeclareScope::Visible | DeclareScope::Top
            if on.intersects(Attributes::EXPORT | Attributes::READONLY) =>
        {
            let before_builtin = shell.state.here.own_scope;
            match shell.state.vars.get(&t.name) {
                Some(v) if before_builtin == Some(v.level) => shell.promote_variable(&t.name),
                _ => shell.state.vars.outlive_scope(&t.name, d.place == DeclareScope::Top),
            }
        }
        _ => {}
    }
    Ok(())
}

/// Gives the visible variable its attributes and its value.
fn declare_visible(
    shell: &mut Shell<'_>,
    t: DeclareOperand<'_>,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let DeclareRequest { on, off, .. } = d.request;
    if on.intersects(Attributes::NAMEREF) {
        return nameref::make_nameref(shell, t, d);
    }
    let var = shell.state.vars.get(&t.name);
    let is_readonly = var.is_some_and(|v| v.attrs.intersects(Attributes::READONLY));
    let unlocks =
        off.intersects(Attributes::NAMEREF) || off.intersects(Attributes::READONLY) && !d.is_mark();
    if is_readonly && (t.value.is_some() || unlocks) {
        return Err(ExpandError::readonly_variable(&t.name));
    }
    if d.is_mark() && off.intersects(Attributes::EXPORT) && !t.value.is_some() && var.is_none() {
        // `export -n` creates no variable.
        return Ok(());
    }
    attributes_before(shell, &t, d.request)?;
    let name = t.name.clone();
    assign_value(shell, t)?;
    attributes_after(shell, &name, d.request);
    Ok(())
}

/// Creates a variable of the function, hiding the visible one.
fn make_local(shell: &mut Shell<'_>, name: &[u8], q: DeclareRequest) -> Result<(), ExpandError> {
    let Some(level) = shell.state.vars.function_level() else { return Ok(()) };
    let visible = shell.state.vars.get(name).cloned();
    // `x=1 local x`: a variable that was already local keeps the value of the assignment, too.
    let given = visible.as_ref().is_some_and(|v| shell.state.here.own_scope == Some(v.level));
    match &visible {
        Some(v) if given => {
            shell.state.vars.reveal_hidden(name, v.level);
            *shell.state.vars.declare_var(name, level) =
                ShellVar { level, temporary: None, ..v.clone() };
        }
        Some(v) if v.level >= level => {
            if q.on.intersects(Attributes::EXPORT | Attributes::READONLY) {
                shell.state.vars.outlive_scope(name, true);
            }
            if let Some(t) = shell.state.vars.get_mut(name).and_then(|v| v.temporary.as_mut()) {
                t.local = true;
            }
        }
        _ => hide_visible(shell, name, q, visible)?,
    }
    Ok(())
}

/// Declares a new variable in the function's scope, in front of the visible one.
fn hide_visible(
    shell: &mut Shell<'_>,
    name: &[u8],
    q: DeclareRequest,
    visible: Option<ShellVar>,
) -> Result<(), ExpandError> {
    let level = shell.state.vars.function_level().unwrap_or(0);
    if visible.as_ref().is_some_and(|v| v.attrs.intersects(Attributes::READONLY) && v.level == 0) {
        // bash refuses to hide a readonly global.
        return Err(ExpandError::readonly_variable(name));
    }
    let inherit = q.inherit || shell.state.options.has_shopt(ShOpt::LocalVarInherit);
    if name == b"OPTIND" {
        // A function that parses options of its own starts from the first argument.
        shell.state.getopts = Default::default();
    }
    let v = shell.state.vars.declare_var(name, level);
    match visible {
        Some(old) if inherit => {
            v.slot = old.slot;
            v.attrs = old.attrs - Attributes::NAMEREF;
        }
        // A local variable starts with the value of the assignment before the call, or before an
        // outer call.
        Some(old) if old.temporary.is_some() => {
            v.slot = old.slot;
            v.attrs |= Attributes::EXPORT;
        }
        _ => {}
    }
    Ok(())
}

/// Performs `declare -g` while a local hides the global variable, as if the global were visible.
fn on_hidden_global(
    shell: &mut Shell<'_>,
    t: DeclareOperand<'_>,
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let name = t.name.clone();
    let visible = shell.state.vars.get(&name).cloned();
    let hidden = shell.state.vars.global_mut(&name).clone();
    *shell.state.vars.entry_or_insert(&name) = hidden;
    let done = declare_visible(shell, t, d);
    let mut changed = shell.state.vars.entry_or_insert(&name).clone();
    changed.level = 0;
    if let Some(v) = visible {
        *shell.state.vars.entry_or_insert(&name) = v;
    }
    *shell.state.vars.global_mut(&name) = changed;
    done
}

/// Applies kind and conversions before the value, so that they affect it.
fn attributes_before(
    shell: &mut Shell<'_>,
    t: &DeclareOperand<'_>,
    q: DeclareRequest,
) -> Result<(), ExpandError> {
    let name = t.name.as_slice();
    let var = shell.state.vars.get(name);
    let is_assoc = var.is_some_and(ShellVar::is_assoc);
    let is_indexed = var.is_some_and(ShellVar::is_array) && !is_assoc;
    if q.on.intersects(Attributes::ASSOC) && is_indexed
        || q.on.intersects(Attributes::INDEXED) && is_assoc
    {
        // An array keeps its kind.
        return Err(ExpandCause::Conversion { name: name.to_vec(), from_assoc: is_assoc }.into());
    }
    if q.off.intersects(Attributes::INDEXED) && is_indexed
        || q.off.intersects(Attributes::ASSOC) && is_assoc
    {
        return Err(ExpandCause::Destruction(name.to_vec()).into());
    }
    let v = shell.state.vars.entry_or_insert(name);
    let a = &mut v.attrs;
    let given = q.on & (Attributes::INTEGER | Attributes::TRACE);
    let taken = q.off & (Attributes::INTEGER | Attributes::TRACE | Attributes::NAMEREF);
    *a = (*a | given) - taken;
    set_cases(a, q);
    let is_list = t.value.is_list() || t.subscript.is_some();
    if q.on.intersects(Attributes::ASSOC) {
        *a |= Attributes::ASSOC;
    } else if q.on.intersects(Attributes::INDEXED) || is_list && !is_assoc {
        *a |= Attributes::INDEXED;
    }
    if a.intersects(Attributes::ARRAY) && v.is_set() {
        // Arrays are not part of any environment.
        let exported = v.attrs.intersects(Attributes::EXPORT);
        make_array(v, false);
        if exported {
            shell.state.vars.touch_env();
        }
    }
    Ok(())
}

fn attributes_after(shell: &mut Shell<'_>, name: &[u8], q: DeclareRequest) {
    let v = shell.state.vars.entry_or_insert(name);
    let before = v.attrs;
    v.attrs |= q.on & (Attributes::READONLY | Attributes::EXPORT);
    v.attrs -= q.off & Attributes::EXPORT;
    if (before | v.attrs).intersects(Attributes::EXPORT) {
        shell.state.vars.touch_env();
    }
}

/// Assigns the operand's value.
fn assign_value(shell: &mut Shell<'_>, t: DeclareOperand<'_>) -> Result<(), ExpandError> {
    let name = t.name.as_slice();
    let is_array = shell.state.vars.get(name).is_some_and(ShellVar::is_array);
    match (t.value, t.subscript) {
        (DeclareValue::None, _) => Ok(()),
        (DeclareValue::List(elements), _) => shell.set_compound(name, elements, t.append),
        (DeclareValue::Elements(elements), _) => shell.set_elements(name, elements, t.append),
        (DeclareValue::Scalar(value), Some(sub)) => {
            let key = sh_expand::subscript_text_key(shell, name, &sub)?;
            let made = shell.set_array_element(name, &key, t.append, value);
            made.map_err(|error| as_written(error, name, &sub))
        }
        (DeclareValue::Scalar(value), None) => {
            // `declare -a "x=(1 2)"`: the text is a compound value.
            if is_array
                && value.starts_with(b"(")
                && value.ends_with(b")")
                && let Ok(elements) = sh_syntax::parse::parse_array(&value, &shell.parse_options())
            {
                return shell.set_compound(name, &elements, t.append);
            }
            if t.append { shell.append_scalar(name, value) } else { shell.put_scalar(name, value) }
        }
    }
}
