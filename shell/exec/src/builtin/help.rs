//! `help` (bash manual 4.2): synopsis, summary and details of each builtin.

use box_text::glob;

use super::{Builtin, BuiltinCall, TABLE, help_text};
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "dms")?;
    let mut out = Vec::new();
    if p.operands.is_empty() {
        out.extend_from_slice(b"These shell commands are defined internally.  Type `help name' to find out\nmore about the function `name'.\n\n");
        for b in TABLE {
            out.extend_from_slice(format!(" {}\n", b.synopsis).as_bytes());
        }
        shell.write_out(&out);
        return Ok(0);
    }
    let mut status = 0;
    for pattern in p.operands {
        let compiled = glob::GlobPattern::new(pattern, glob::GlobOptions::default());
        let exact = TABLE.iter().any(|b| b.name.as_bytes() == pattern.as_slice());
        let matches: Vec<_> = TABLE
            .iter()
            .filter(|b| {
                if exact {
                    b.name.as_bytes() == pattern.as_slice()
                } else {
                    compiled.is_match(b.name.as_bytes()) || b.name.as_bytes().starts_with(pattern)
                }
            })
            .collect();
        if matches.is_empty() {
            shell.builtin_error(
                call.name(),
                &[
                    b"no help topics match `",
                    pattern,
                    b"'.  Try `help help' or `man -k ",
                    pattern,
                    b"' or `info ",
                    pattern,
                    b"'.",
                ],
            );
            status = 1;
            continue;
        }
        for b in matches {
            if p.has_letter(b'd') {
                out.extend_from_slice(format!("{} - {}\n", b.name, b.summary).as_bytes());
            } else if p.has_letter(b's') {
                out.extend_from_slice(format!("{}: {}\n", b.name, b.synopsis).as_bytes());
            } else {
                let manual = p.has_letter(b'm');
                out.extend_from_slice(describe_builtin(b, manual).as_bytes());
            }
        }
    }
    shell.write_out(&out);
    Ok(status)
}

impl Shell<'_> {
    /// Performs `NAME --help` and returns its status.
    pub(crate) fn tell_help(&mut self, name: &[u8]) -> i32 {
        if let Some(b) = TABLE.iter().find(|b| b.name.as_bytes() == name) {
            self.write_out(describe_builtin(b, false).as_bytes());
        }
        2
    }
}

/// Returns the whole description, plain or laid out as a manual page.
fn describe_builtin(b: &Builtin, manual: bool) -> String {
    let indented = |text: &str| -> String {
        let line = |l: &str| if l.is_empty() { "\n".into() } else { format!("    {l}\n") };
        text.lines().map(line).collect()
    };
    let details = indented(help_text::find_help(b.name).unwrap_or_default());
    if manual {
        return format!(
            "NAME\n    {} - {}\n\nSYNOPSIS\n    {}\n\nDESCRIPTION\n    {}\n\n{details}\n",
            b.name, b.summary, b.synopsis, b.summary
        );
    }
    format!("{}: {}\n    {}\n\n{details}", b.name, b.synopsis, b.summary)
}
