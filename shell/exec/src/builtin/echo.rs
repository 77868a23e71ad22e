//! `echo` (bash manual 4.2).

use box_text::escape::{EscapeDialect, decode_escapes};

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{SetOpt, ShOpt};

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let mut args = call.args();
    let xpg = shell.state.options.has_shopt(ShOpt::XpgEcho);
    let (mut newline, mut escapes) = (true, xpg);
    // With xpg_echo in POSIX mode, even -n is text.
    let options = !(xpg && shell.state.options.has_set(SetOpt::Posix));
    while let (true, Some(a)) = (options, args.first()) {
        let letters = match a.strip_prefix(b"-") {
            Some(l) if !l.is_empty() && l.iter().all(|c| matches!(c, b'n' | b'e' | b'E')) => l,
            _ => break,
        };
        for l in letters {
            match l {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        args = &args[1..];
    }
    let mut out = Vec::with_capacity(args.iter().map(|a| a.len() + 1).sum());
    for (i, a) in args.iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        if escapes && memchr::memchr(b'\\', a).is_some() {
            let d = decode_escapes(a, EscapeDialect::Echo);
            out.extend_from_slice(&d.bytes);
            if d.stop {
                newline = false;
                break;
            }
        } else {
            out.extend_from_slice(a);
        }
    }
    if newline {
        out.push(b'\n');
    }
    shell.write_out(&out);
    Ok(0)
}
