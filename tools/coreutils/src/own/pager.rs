//! `less` and `more`: there is no terminal to page on, so they pass text through, which is
//! what both do when their output is no terminal.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use crate::common::input::{self, Stop};

/// Flags of the real programs that only matter on a terminal.
const FLAGS: &[Opt] = &[
    Opt::flag('E', "QUIT-AT-EOF", "(no effect: nothing is paged)"),
    Opt::flag('F', "quit-if-one-screen", "(no effect)"),
    Opt::flag('G', "HILITE-SEARCH", "(no effect)"),
    Opt::flag('I', "IGNORE-CASE", "(no effect)"),
    Opt::flag('M', "LONG-PROMPT", "(no effect)"),
    Opt::flag('N', "LINE-NUMBERS", "number lines"),
    Opt::flag('R', "RAW-CONTROL-CHARS", "(no effect)"),
    Opt::flag('S', "chop-long-lines", "(no effect)"),
    Opt::flag('X', "no-init", "(no effect)"),
    Opt::flag('c', "clear-screen", "(no effect)"),
    Opt::flag('d', "dumb", "(no effect)"),
    Opt::flag('e', "quit-at-eof", "(no effect)"),
    Opt::flag('f', "force", "(no effect)"),
    Opt::flag('g', "hilite-search", "(no effect)"),
    Opt::flag('i', "ignore-case", "(no effect)"),
    Opt::flag('l', "", "(no effect)"),
    Opt::flag('m', "long-prompt", "(no effect)"),
    Opt::flag('n', "line-numbers", "(no effect)"),
    Opt::value('p', "pattern", "PATTERN", "(no effect)"),
    Opt::flag('q', "quiet", "(no effect)"),
    Opt::flag('r', "raw-control-chars", "(no effect)"),
    Opt::flag('s', "squeeze-blank-lines", "squeeze multiple blank lines into one"),
    Opt::flag('u', "plain", "(no effect)"),
    Opt::value('x', "tabs", "N", "(no effect)"),
];

const SPEC: Spec = Spec {
    usage: "[options] [file...]",
    about: "Print files; where there is a terminal, page by page. Here there is none.",
    options: FLAGS,
    after: "",
    posix_order: false,
};

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    // `+G`, `+/text`, `-50`: where to begin and how many lines a page has.
    let args: Vec<Vec<u8>> = args
        .iter()
        .filter(|a| {
            !matches!(a.as_slice(), [b'+', _, ..])
                && !matches!(a.as_slice(), [b'-', c, ..] if c.is_ascii_digit())
        })
        .cloned()
        .collect();
    let p = match SPEC.parse_or_exit(ctx, &args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    let headers = ctx.name == "more" && files.len() > 1;
    let mut blank = false;
    let mut number = 0u64;
    for file in files {
        let out = &mut ctx.stdout;
        let result =
            input::open(&mut ctx.stdin, &ctx.cwd, file).map_err(Stop::Read).and_then(|mut r| {
                if headers {
                    let bar = b"::::::::::::::\n";
                    input::put(out, &[bar, file.as_slice(), b"\n", bar].concat())?;
                }
                if !p.has('s') && !p.has('N') {
                    return input::copy(&mut r, out);
                }
                input::for_each_line(&mut r, b'\n', |line, ended| {
                    if p.has('s') && line.is_empty() && std::mem::replace(&mut blank, true) {
                        return Ok(true);
                    }
                    blank = line.is_empty();
                    number += 1;
                    if p.has('N') {
                        input::put(out, format!("{number:>7} ").as_bytes())?;
                    }
                    input::put(out, line)?;
                    input::put(out, if ended { b"\n" } else { b"" })?;
                    Ok(true)
                })
            });
        match result {
            Ok(()) => {}
            Err(Stop::Read(e)) => {
                let text = box_sys::strerror(&e);
                let directory = e.raw_os_error() == Some(box_sys::errno::code::EISDIR);
                let _ = ctx.stdout.flush();
                let line = match (directory, ctx.name == "more") {
                    (true, true) => [b"\n*** ", file.as_slice(), b": directory ***\n\n"].concat(),
                    (true, false) => [file.as_slice(), b" is a directory\n"].concat(),
                    (false, true) => {
                        [b"more: cannot open ", file.as_slice(), b": ", text.as_bytes(), b"\n"]
                            .concat()
                    }
                    (false, false) => [file.as_slice(), b": ", text.as_bytes(), b"\n"].concat(),
                };
                let _ = ctx.stderr.write_all(&line);
            }
            Err(Stop::Write) => return Exit::FAILURE,
        }
    }
    // Neither program takes a file it cannot show for a failure of its own.
    Exit::SUCCESS
}
