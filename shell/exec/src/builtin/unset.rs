//! `unset` (POSIX XCU).

use std::rc::Rc;

use sh_expand::{ErrorKind, ExpandError, OwnedKey};

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::{command_error, is_name, split_reference};
use crate::state::options::ShOpt;
use crate::state::vars::{Dynamic, OUTERMOST, Slot, decimal};

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "fnv") {
        Ok(p) => p,
        Err(r) => return r,
    };
    if p.has(b'f') && p.has(b'v') {
        shell.builtin_error(
            call.name(),
            &[b"cannot simultaneously unset a function and a variable"],
        );
        return Ok(1);
    }
    let mut status = 0;
    for arg in p.operands {
        if p.has(b'f') {
            status |= function(shell, call, arg);
            continue;
        }
        let (name, _) = split_reference(arg);
        if !is_name(name) {
            // Without -v an odd name may be a function's; if not, nothing happens.
            if !p.has(b'v') {
                status |= function(shell, call, arg);
                continue;
            }
            if p.has(b'v') {
                shell.builtin_error(call.name(), &[b"`", arg, b"': not a valid identifier"]);
                status = 1;
            }
            continue;
        }
        if !p.has(b'v')
            && !p.has(b'n')
            && shell.state.vars.get(name).is_none()
            && shell.state.functions.contains_key(arg.as_slice())
        {
            status |= function(shell, call, arg);
            continue;
        }
        if let Err(e) = variable(shell, arg, p.has(b'n')) {
            // An index that is no expression gives the whole line up.
            if matches!(e.kind, ErrorKind::Interrupted | ErrorKind::Abandon) || e.is_arithmetic() {
                return Err(shell.expansion_failed(e));
            }
            shell.builtin_error(call.name(), &[&e.message]);
            status = 1;
        }
    }
    Ok(status)
}

fn function(shell: &mut Shell<'_>, call: &Call<'_>, name: &[u8]) -> i32 {
    if shell.state.functions.get(name).is_some_and(|f| f.readonly) {
        shell.builtin_error(call.name(), &[name, b": cannot unset: readonly function"]);
        return 1;
    }
    if let Some(f) = Rc::make_mut(&mut shell.state.functions).remove(name)
        && f.export
    {
        shell.state.vars.touch_env();
    }
    0
}

fn variable(shell: &mut Shell<'_>, arg: &[u8], nameref_itself: bool) -> Result<(), ExpandError> {
    let (name, sub) = split_reference(arg);
    if nameref_itself && !shell.state.vars.get(name).is_some_and(|v| v.attrs.nameref) {
        return Ok(());
    }
    let target = if nameref_itself {
        crate::state::assign::Target { name: name.into(), subscript: None }
    } else {
        match shell.follow(name)? {
            // Of a local nameref to its own name, the nameref.
            target if target.name.first() == Some(&OUTERMOST) && sub.is_none() => {
                crate::state::assign::Target { name: name.into(), subscript: None }
            }
            target => target,
        }
    };
    let base = target.name.into_owned();
    if target.subscript.is_some()
        && sub.is_none()
        && matches!(shell.state.vars.get(&base), Some(v) if !v.is_array())
    {
        // Through a nameref bash does not tell that there is no such element.
        return Ok(());
    }
    let sub = sub.map(|s| s.to_vec()).or_else(|| target.subscript.map(|s| s.to_vec()));
    let Some(v) = shell.state.vars.get(&base) else { return Ok(()) };
    if v.attrs.readonly {
        let message = [base.as_slice(), b": cannot unset: readonly variable"].concat();
        return Err(ExpandError { kind: ErrorKind::Readonly, message });
    }
    match sub {
        Some(sub) => element(shell, &base, &sub),
        None => {
            let keep = shell.state.options.shopt(ShOpt::LocalVarUnset);
            shell.state.vars.unset(&base, keep);
            shell.after_set(&base);
            Ok(())
        }
    }
}

fn element(shell: &mut Shell<'_>, name: &[u8], sub: &[u8]) -> Result<(), ExpandError> {
    let all = sub == b"@" || sub == b"*";
    if sub.is_empty() {
        return Ok(());
    }
    match shell.state.vars.get(name).map(|v| &v.slot) {
        Some(Slot::Indexed(_)) if all => {
            // The array stays, without elements.
            if let Some(v) = shell.state.vars.get_mut(name) {
                v.slot = Slot::Indexed(Rc::default());
            }
            Ok(())
        }
        Some(Slot::Indexed(_)) => {
            let key = sh_expand::subscript_text_key(shell, name, sub)?;
            let OwnedKey::Index(i) = key else { return Ok(()) };
            if let Some(Slot::Indexed(a)) = shell.state.vars.get_mut(name).map(|v| &mut v.slot) {
                let a = Rc::make_mut(a);
                match a.resolve(i) {
                    Some(i) => a.unset(i),
                    None => {
                        let message = [b"[", sub, b"]: bad array subscript"].concat();
                        return Err(command_error(message));
                    }
                };
            }
            Ok(())
        }
        Some(Slot::Assoc(_)) => {
            let key = if all {
                OwnedKey::Name(sub.to_vec())
            } else {
                sh_expand::subscript_text_key(shell, name, sub)?
            };
            let key = match key {
                OwnedKey::Name(n) => n,
                OwnedKey::Index(i) => decimal(i),
            };
            if let Some(Slot::Assoc(a)) = shell.state.vars.get_mut(name).map(|v| &mut v.slot) {
                Rc::make_mut(a).unset(&key);
            }
            Ok(())
        }
        Some(Slot::Dynamic(Dynamic::BashAliases)) => {
            Rc::make_mut(&mut shell.state.aliases).remove(sub);
            Ok(())
        }
        Some(Slot::Dynamic(Dynamic::BashCmds)) => {
            Rc::make_mut(&mut shell.state.hashed).remove(sub);
            Ok(())
        }
        Some(Slot::Scalar(_) | Slot::Int(_)) => {
            if !all && sh_expand::subscript_text_key(shell, name, sub)? == OwnedKey::Index(0) {
                shell.state.vars.unset(name, false);
                return Ok(());
            }
            Err(command_error([name, b": not an array variable"].concat()))
        }
        _ => Ok(()),
    }
}
