//! `eval` (POSIX XCU).

use super::BuiltinCall;
use crate::Shell;
use crate::run::{SourceText, TextKind};
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "")?;
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
    let text = SourceText { text, line, kind: TextKind::Eval };
    let r = shell.keeping_command(|s| s.run_text(text));
    shell.state.line = line;
    r
}
