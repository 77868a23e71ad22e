//! `command` (POSIX XCU).

use super::BuiltinCall;
use crate::Shell;
use crate::command::ResolvedCommand;
use crate::shell::Flow;
use crate::state::here::CommandContext;
use crate::state::vars::{ScopeKind, ShellVar};
use sh_expand::Attributes;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "pVv")?;
    if p.operands.is_empty() {
        return Ok(0);
    }
    let scoped = p.has_letter(b'p');
    if scoped {
        // The search uses the standard PATH.
        shell.state.vars.push_scope(ScopeKind::Temporary);
        let level = shell.state.vars.scope_level();
        let exported =
            shell.state.vars.get(b"PATH").is_some_and(|v| v.attrs.intersects(Attributes::EXPORT));
        let v = shell.state.vars.declare_var(b"PATH", level);
        *v = ShellVar { level, ..ShellVar::scalar(b"/usr/local/bin:/usr/bin:/bin") };
        v.attrs.set(Attributes::EXPORT, exported);
        shell.state.vars.touch_env();
    }
    let r = if p.has_letter(b'v') || p.has_letter(b'V') {
        let how = if p.has_letter(b'V') {
            super::type_::DescriptionStyle::Long
        } else {
            super::type_::DescriptionStyle::Short
        };
        let mut any = false;
        for name in p.operands {
            any |= super::type_::describe_name(shell, name, call.name(), how, false);
        }
        Ok(i32::from(!any))
    } else {
        run_without_functions(shell, p.operands)
    };
    if scoped {
        shell.pop_scope();
    }
    r
}

/// Runs a command name, ignoring functions.
pub(crate) fn run_without_functions(shell: &mut Shell<'_>, argv: &[sh_expand::Str]) -> Flow {
    let name = &argv[0];
    if let Some(b) = shell.enabled_builtin(name) {
        let inner = BuiltinCall { argv, operands: &[] };
        let scoped = crate::walk::SCOPED.contains(&b.name);
        // An error of a special builtin does not end the shell here.
        let posix = shell.state.options.has_set(crate::state::options::SetOpt::Posix) && b.special;
        let r = shell
            .run_within(CommandContext::CommandBuiltin { scoped }, |s| s.run_builtin(b, &inner));
        return match r {
            Err(crate::Unwind::Exit(s) | crate::Unwind::GiveUp(s))
                if posix
                    && b.name != "exit"
                    && b.name != "exec"
                    && b.name != "eval"
                    && b.name != "." =>
            {
                Ok(s)
            }
            other => other,
        };
    }
    let found = shell.find_program(name);
    match found {
        ResolvedCommand::Program(p) => shell.run_program(&p, argv, None),
        ResolvedCommand::Nothing(m) => {
            let shown = m.file.as_deref().map_or(argv[0].as_slice(), box_sys::path::to_bytes);
            let shown = shown.to_vec();
            shell.print_error(&[&shown, b": ", m.why.to_string().as_bytes()]);
            Ok(m.exit_status())
        }
        _ => Ok(127),
    }
}
