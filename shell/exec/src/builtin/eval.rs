//! `eval` (POSIX XCU).

use super::Call;
use crate::Shell;
use crate::run::{Text, TextKind};
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = shell.options(call, "")?;
    let args = p.operands;
    let joined;
    let text: &[u8] = match args {
        [] => return Ok(0),
        [one] => one,
        _ => {
            joined = args.iter().map(|a| a.as_slice()).collect::<Vec<_>>().join(&b' ');
            &joined
        }
    };
    let line = shell.state.line;
    let text = Text { text, line, kind: TextKind::Eval };
    let r = shell.keeping_command(|s| s.run_text(text));
    shell.state.line = line;
    r
}
