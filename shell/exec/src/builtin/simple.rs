//! `:`, `true`, `false`, `times`, `suspend`, and builtins that have no effect here.

use super::Call;
use crate::Shell;
use crate::shell::Flow;

pub fn colon(_: &mut Shell<'_>, _: &Call<'_>) -> Flow {
    Ok(0)
}

/// There is no line editing; scripts written for interactive shells call it all the same.
pub fn bind(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    if !shell.state.options.interactive {
        shell.builtin_error(call.name(), &[b"warning: line editing not enabled"]);
    }
    if let Err(r) = shell.options(call, "lvpsVPSXf:q:m:u:r:x:") {
        return r;
    }
    Ok(0)
}

pub fn false_(_: &mut Shell<'_>, _: &Call<'_>) -> Flow {
    Ok(1)
}

/// CPU times of the shell and of its children (POSIX XCU times).
pub fn times(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    if let Err(r) = shell.options(call, "") {
        return r;
    }
    let t = box_sys::events::cpu_times();
    let show = |d: std::time::Duration| {
        format!("{}m{}.{:03}s", d.as_secs() / 60, d.as_secs() % 60, d.subsec_millis())
    };
    let text = format!(
        "{} {}\n{} {}\n",
        show(t.user),
        show(t.system),
        show(t.children_user),
        show(t.children_system)
    );
    shell.out(text.as_bytes());
    Ok(0)
}

pub fn suspend(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    shell.builtin_error(call.name(), &[b"cannot suspend: no job control"]);
    Ok(1)
}
