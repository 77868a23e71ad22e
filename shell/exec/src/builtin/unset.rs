//! `unset` (POSIX XCU).

use std::rc::Rc;

use sh_expand::{Attributes, ExpandCause, ExpandError, OwnedKey};

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::{is_name, split_reference};
use crate::state::options::ShOpt;
use crate::state::vars::{Dynamic, OUTERMOST, VarSlot, decimal_digits};

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "fnv")?;
    if p.has_letter(b'f') && p.has_letter(b'v') {
        shell.builtin_error(
            call.name(),
            &[b"cannot simultaneously unset a function and a variable"],
        );
        return Ok(1);
    }
    let mut status = 0;
    for arg in p.operands {
        if p.has_letter(b'f') {
            status |= unset_function(shell, call, arg);
            continue;
        }
        let (name, _) = split_reference(arg);
        if !is_name(name) {
            // Without -v, an invalid variable name may be a function's name; if it is not, nothing
            // happens.
            if !p.has_letter(b'v') {
                status |= unset_function(shell, call, arg);
                continue;
            }
            if p.has_letter(b'v') {
                shell.builtin_error(call.name(), &[b"`", arg, b"': not a valid identifier"]);
                status = 1;
            }
            continue;
        }
        if !p.has_letter(b'v')
            && !p.has_letter(b'n')
            && shell.state.vars.get(name).is_none()
            && shell.state.functions.contains_key(arg.as_slice())
        {
            status |= unset_function(shell, call, arg);
            continue;
        }
        match unset_variable(shell, arg, p.has_letter(b'n')) {
            Ok(()) => {}
            Err(UnsetRefusal::Key(e)) => return Err(shell.expansion_failed(e)),
            Err(UnsetRefusal::Reported(e)) => {
                shell.builtin_error(call.name(), &[&e.message()]);
                status = 1;
            }
        }
    }
    Ok(status)
}

/// The reason why a variable is not unset.
enum UnsetRefusal {
    /// The builtin reports the error and continues.
    Reported(ExpandError),
    /// A subscript that could not be expanded abandons the command.
    Key(ExpandError),
}

impl From<ExpandError> for UnsetRefusal {
    fn from(e: ExpandError) -> UnsetRefusal {
        UnsetRefusal::Reported(e)
    }
}

fn unset_function(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, name: &[u8]) -> i32 {
    if shell.state.functions.get(name).is_some_and(|f| f.attrs.intersects(Attributes::READONLY)) {
        shell.builtin_error(call.name(), &[name, b": cannot unset: readonly function"]);
        return 1;
    }
    if let Some(f) = Rc::make_mut(&mut shell.state.functions).remove(name)
        && f.attrs.intersects(Attributes::EXPORT)
    {
        shell.state.vars.touch_env();
    }
    0
}

fn unset_variable(
    shell: &mut Shell<'_>,
    arg: &[u8],
    nameref_itself: bool,
) -> Result<(), UnsetRefusal> {
    let (name, sub) = split_reference(arg);
    if nameref_itself
        && !shell.state.vars.get(name).is_some_and(|v| v.attrs.intersects(Attributes::NAMEREF))
    {
        return Ok(());
    }
    let target = if nameref_itself {
        crate::state::assign::AssignTarget { name: name.into(), subscript: None }
    } else {
        match shell.follow_nameref(name)? {
            // For a local nameref to its own name, the nameref itself is unset.
            target if target.name.first() == Some(&OUTERMOST) && sub.is_none() => {
                crate::state::assign::AssignTarget { name: name.into(), subscript: None }
            }
            target => target,
        }
    };
    let base = target.name.into_owned();
    if target.subscript.is_some()
        && sub.is_none()
        && matches!(shell.state.vars.get(&base), Some(v) if !v.is_array())
    {
        // Through a nameref, bash does not report a missing element.
        return Ok(());
    }
    if target.subscript.is_some() && sub.is_some() {
        // An element has no elements.
        return Ok(());
    }
    let sub = sub.map(|s| s.to_vec()).or_else(|| target.subscript.map(|s| s.to_vec()));
    let Some(v) = shell.state.vars.get(&base) else { return Ok(()) };
    if v.attrs.intersects(Attributes::READONLY) {
        return Err(ExpandError::from(ExpandCause::ReadonlyKept(base)).into());
    }
    match sub {
        Some(sub) => unset_element(shell, &base, &sub),
        // The next command sets it again.
        None if matches!(v.slot, VarSlot::Dynamic(Dynamic::Underscore)) => Ok(()),
        None => {
            let keep = shell.state.options.has_shopt(ShOpt::LocalVarUnset);
            shell.state.vars.unset_var(&base, keep);
            shell.after_set(&base);
            Ok(())
        }
    }
}

/// Returns the key that a subscript of `name` refers to.
fn subscript_key(shell: &mut Shell<'_>, name: &[u8], sub: &[u8]) -> Result<OwnedKey, UnsetRefusal> {
    sh_expand::subscript_text_key(shell, name, sub).map_err(|e| {
        if e.is_missing_element() { UnsetRefusal::Reported(e) } else { UnsetRefusal::Key(e) }
    })
}

fn bad_subscript(sub: &[u8]) -> UnsetRefusal {
    UnsetRefusal::Reported(ExpandError::bad_subscript(b"", sub))
}

fn unset_element(shell: &mut Shell<'_>, name: &[u8], sub: &[u8]) -> Result<(), UnsetRefusal> {
    let all = sub == b"@" || sub == b"*";
    if sub.is_empty() {
        return Ok(());
    }
    let Some(v) = shell.state.vars.get(name) else { return Ok(()) };
    match v.slot {
        VarSlot::Dynamic(Dynamic::BashAliases) => {
            Rc::make_mut(&mut shell.state.aliases).remove(sub);
        }
        VarSlot::Dynamic(Dynamic::BashCmds) => {
            shell.state.commands.forget_location(sub);
        }
        VarSlot::Dynamic(_) => {}
        _ if v.is_assoc() => return of_assoc(shell, name, sub, all),
        _ if v.is_array() => return of_indexed(shell, name, sub, all),
        // A scalar is its own element 0.
        _ => {
            if all || subscript_key(shell, name, sub)? != OwnedKey::Index(0) {
                return Err(ExpandError::from(ExpandCause::NotAnArray(name.to_vec())).into());
            } else {
                shell.state.vars.unset_var(name, false)
            }
        }
    }
    Ok(())
}

fn of_indexed(
    shell: &mut Shell<'_>,
    name: &[u8],
    sub: &[u8],
    all: bool,
) -> Result<(), UnsetRefusal> {
    if all {
        // The array stays, without elements.
        if let Some(VarSlot::Indexed(a)) = shell.state.vars.get_mut(name).map(|v| &mut v.slot) {
            *a = Rc::default();
        }
        return Ok(());
    }
    let OwnedKey::Index(i) = subscript_key(shell, name, sub)? else { return Ok(()) };
    match shell.state.vars.get_mut(name).map(|v| &mut v.slot) {
        Some(VarSlot::Indexed(a)) => {
            let a = Rc::make_mut(a);
            match a.resolve(i) {
                Some(i) => a.unset(i),
                None => return Err(bad_subscript(sub)),
            };
        }
        _ if i < 0 => return Err(bad_subscript(sub)),
        _ => {}
    }
    Ok(())
}

fn of_assoc(shell: &mut Shell<'_>, name: &[u8], sub: &[u8], all: bool) -> Result<(), UnsetRefusal> {
    // With `assoc_expand_once` the key is not expanded again.
    let literal = all || shell.state.options.has_shopt(ShOpt::AssocExpandOnce);
    let key = if literal {
        sub.to_vec()
    } else {
        match subscript_key(shell, name, sub)? {
            OwnedKey::Name(n) => n,
            OwnedKey::Index(i) => decimal_digits(i),
        }
    };
    if key.is_empty() {
        return Err(bad_subscript(sub));
    }
    if let Some(VarSlot::Assoc(a)) = shell.state.vars.get_mut(name).map(|v| &mut v.slot) {
        Rc::make_mut(a).unset(&key);
    }
    Ok(())
}
