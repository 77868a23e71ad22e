//! `help` (bash manual 4.2): synopsis, summary and details of each builtin.

use box_text::glob;

use super::{Builtin, BuiltinCall, TABLE, help_text};
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "dms")?;
    let mut out = Vec::new();
    if p.operands.is_empty() {
        list_commands(shell, &mut out);
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
                out.extend_from_slice(b.help_text(manual).as_bytes());
            }
        }
    }
    shell.write_out(&out);
    Ok(status)
}

/// Adds a line for each builtin, and for each command.
fn list_commands(shell: &Shell<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Builtins of the shell, which `help NAME' describes:\n\n");
    for b in TABLE {
        out.extend_from_slice(format!(" {}\n", b.synopsis).as_bytes());
    }
    out.extend_from_slice(b"\nCommands, which `man NAME' and `NAME --help' describe:\n\n");
    let applets = shell.table.applets().iter().map(|a| (a.name, a.summary));
    let mut commands: Vec<_> = applets.chain(shell.table.programs().iter().copied()).collect();
    commands.sort_unstable();
    for (name, summary) in commands {
        out.extend_from_slice(format!(" {name:<12} {summary}\n").as_bytes());
    }
}

impl Shell<'_> {
    /// Performs `NAME --help` and returns its status.
    pub(crate) fn print_help(&mut self, name: &[u8]) -> i32 {
        if let Some(b) = TABLE.iter().find(|b| b.name.as_bytes() == name) {
            self.write_out(b.help_text(false).as_bytes());
        }
        2
    }
}

impl Builtin {
    /// Returns the whole description, plain or laid out as a manual page.
    pub fn help_text(&self, manual: bool) -> String {
        let indented = |text: &str| -> String {
            let line = |l: &str| if l.is_empty() { "\n".into() } else { format!("    {l}\n") };
            text.lines().map(line).collect()
        };
        let details = indented(help_text::find_help(self.name).unwrap_or_default());
        if manual {
            return format!(
                "NAME\n    {} - {}\n\nSYNOPSIS\n    {}\n\nDESCRIPTION\n    {}\n\n{details}\n",
                self.name, self.summary, self.synopsis, self.summary
            );
        }
        format!("{}: {}\n    {}\n\n{details}", self.name, self.synopsis, self.summary)
    }

    /// Returns the summary in the form for lists of commands: without capital letter and full stop.
    pub fn list_summary(&self) -> String {
        let text = self.summary.strip_suffix('.').unwrap_or(self.summary);
        let mut letters = text.chars();
        letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
    }
}
