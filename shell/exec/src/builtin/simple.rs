//! `:`, `true`, `false`, `times`, `suspend`, and builtins that have no effect here.

use super::Call;
use crate::Shell;
use crate::shell::Flow;

pub fn colon(_: &mut Shell<'_>, _: &Call<'_>) -> Flow {
    Ok(0)
}

pub fn false_(_: &mut Shell<'_>, _: &Call<'_>) -> Flow {
    Ok(1)
}

/// CPU times are not known to a guest.
pub fn times(shell: &mut Shell<'_>, _: &Call<'_>) -> Flow {
    shell.out(b"0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n");
    Ok(0)
}

pub fn suspend(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    shell.builtin_error(call.name(), &[b"cannot suspend: no job control"]);
    Ok(1)
}
