//! `--analyze`: the possible effects of a script, as JSON on standard output. No part of it runs.

use std::io::Write;

use box_applet::{Ctx, Exit};
use sh_analyze::{AnalyzeOptions, CommandNames, analyze_script};
use sh_exec::state::options::ShOpt;

use crate::options::Invocation;

struct KnownCommands<'t>(&'t box_applet::AppletTable);

impl CommandNames for KnownCommands<'_> {
    fn is_builtin(&self, name: &[u8]) -> bool {
        sh_exec::builtin::find_builtin(name).is_some()
    }

    fn is_program(&self, name: &[u8]) -> bool {
        self.0.is_program(name)
    }
}

/// Prints the report and returns status 0, or 2 if the script has a syntax error.
pub fn run(ctx: &mut Ctx<'_>, inv: &Invocation, text: &[u8]) -> Exit {
    let extglob = inv.shopt.iter().any(|(o, on)| *o == ShOpt::ExtGlob && *on);
    let options = AnalyzeOptions { posix: inv.posix, extglob };
    let report = analyze_script(text, options, &KnownCommands(ctx.table));
    let written =
        ctx.stdout.write_all(report.to_json().as_bytes()).and_then(|()| ctx.stdout.flush());
    if let Err(e) = written {
        ctx.error(format!("write error: {}", box_sys::error_text(&e)));
        return Exit(1);
    }
    Exit(if report.errors.is_empty() { 0 } else { 2 })
}
