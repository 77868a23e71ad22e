//! sed: POSIX sed with GNU's extensions (GNU sed 4.9), a small compiler and a machine.
//!
//! | stage | file |
//! |---|---|
//! | command line, script pieces | `lib` |
//! | script text to commands, jumps resolved | `parse`, `script` |
//! | the machine: pattern space, hold space, cycle | `machine` |
//! | `ed`, the other line editor; it shares the regular expressions | `ed` |
//!
//! # Invariants
//! - A script is compiled completely before the first line is read.
//! - Text is bytes; characters are UTF-8 unless the locale is `C`.
//! - Standard input is read through the applet's own buffer, so that after `q` the next reader
//!   of a seekable input continues after the last line read.
//!
//! Deliberately absent: `--debug`'s annotated run (the option is accepted).
#![forbid(unsafe_code)]

mod ed;
mod error;
mod machine;
mod parse;
mod script;

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Applet, Ctx, Ended, Exit};
use box_sys::error_text;

use error::ScriptError;
use machine::SedSettings;
use parse::SedDialect;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("ed", ed::run, "edit text by commands for lines"),
    Applet::new("sed", run, "edit streams by a script of line commands"),
];

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SedFlag {
    Quiet,
    Debug,
    Expression,
    File,
    FollowSymlinks,
    InPlace,
    LineLength,
    Posix,
    RegexpExtended,
    Separate,
    Sandbox,
    Unbuffered,
    NullData,
}

/// The options, once.
const SPEC: Spec<SedFlag> = Spec::new(
    "[OPTION]... SCRIPT [FILE]...\n[OPTION]... {-e SCRIPT | -f FILE}... [FILE]...",
    "Edit the lines of each FILE by the commands of SCRIPT, and print them.",
    &[
        Opt::new(SedFlag::Quiet, 'n', "quiet").with_help("Print only what the script prints"),
        Opt::long(SedFlag::Quiet, "silent").with_help(words::SAME),
        Opt::long(SedFlag::Debug, "debug").with_help(words::IGNORED),
        Opt::new(SedFlag::Expression, 'e', "expression")
            .with_argument("SCRIPT", "Add SCRIPT to the commands"),
        Opt::new(SedFlag::File, 'f', "file").with_argument("FILE", "Add the commands in FILE"),
        Opt::long(SedFlag::FollowSymlinks, "follow-symlinks")
            .with_help("With -i: change what a symbolic link points to"),
        Opt::new(SedFlag::InPlace, 'i', "in-place")
            .may_take("SUFFIX", "Change the files in place; keep the old contents as FILESUFFIX"),
        Opt::new(SedFlag::LineLength, 'l', "line-length")
            .with_argument("N", "Wrap the lines of `l' at N characters (70)"),
        Opt::long(SedFlag::Posix, "posix")
            .with_help("Behave as POSIX says, without GNU's extensions"),
        Opt::new(SedFlag::RegexpExtended, 'E', "regexp-extended")
            .with_help("Take patterns as extended regular expressions"),
        Opt::new(SedFlag::RegexpExtended, 'r', "").with_help(words::SAME),
        Opt::new(SedFlag::Separate, 's', "separate")
            .with_help("Treat each file separately: line numbers and $"),
        Opt::long(SedFlag::Sandbox, "sandbox").with_help("Refuse the commands e, r and w"),
        Opt::new(SedFlag::Unbuffered, 'u', "unbuffered").with_help("Write each line at once"),
        Opt::new(SedFlag::NullData, 'z', "null-data").with_help(words::NUL_LINES),
        Opt::long(SedFlag::NullData, "zero-terminated").with_help(words::SAME),
    ],
)
.with_examples(&[
    ("sed 's/old/new/g' FILE", "Replace text in each line"),
    ("sed -i.bak 's/old/new/' FILE", "Change the file, and keep the old one"),
    ("sed -n '10,20p' FILE", "Print some lines"),
    ("sed '/^#/d' FILE", "Leave out lines that match"),
]);

/// A piece of the script, with its name for messages.
struct ScriptPiece {
    /// The offset at which it begins in the joined script.
    offset: usize,
    /// The file's name; `None` for the n-th expression.
    file: Option<Vec<u8>>,
    expression: usize,
}

/// Compiles the script and runs it over the files.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut operands = parsed.operands.clone();
    let (text, pieces) = join_script(ctx, &parsed, &mut operands)?;
    let utf8 = ctx.env.is_utf8();
    let posix = parsed.has_option(SedFlag::Posix) || ctx.env.get(b"POSIXLY_CORRECT").is_some();
    let dialect = SedDialect {
        extended: parsed.has_option(SedFlag::RegexpExtended),
        posix: parsed.has_option(SedFlag::Posix),
        sandbox: parsed.has_option(SedFlag::Sandbox),
        utf8,
        null_data: parsed.has_option(SedFlag::NullData),
    };
    let script = match parse::parse(&text, dialect) {
        Ok(s) => s,
        Err(e) => {
            report_script_error(ctx, &text, &pieces, &e);
            // GNU sed does not treat these as usage errors.
            return Ok(if e.offset.is_none() { Exit(4) } else { Exit::FAILURE });
        }
    };
    let line_length = line_length(ctx, &parsed)?;
    let in_place = parsed
        .options
        .iter()
        .rev()
        .find(|(id, _)| *id == SedFlag::InPlace)
        .map(|(_, v)| v.clone().unwrap_or_default());
    if in_place.is_some() && operands.is_empty() {
        ctx.error("no input files");
        return Ok(Exit(4));
    }
    let settings = SedSettings {
        quiet: parsed.has_option(SedFlag::Quiet) || script.quiet,
        separate: parsed.has_option(SedFlag::Separate),
        in_place,
        follow: parsed.has_option(SedFlag::FollowSymlinks),
        unbuffered: parsed.has_option(SedFlag::Unbuffered),
        null_data: parsed.has_option(SedFlag::NullData),
        posix,
        utf8,
        line_length,
        files: operands,
    };
    Ok(Exit(machine::SedMachine::new(ctx, script, settings).run()))
}

/// Returns the length at which `l` breaks lines (`-l`).
fn line_length(ctx: &mut Ctx<'_>, parsed: &ParsedOptions<SedFlag>) -> Result<usize, Exit> {
    let Some(text) = parsed.last_value(SedFlag::LineLength) else { return Ok(70) };
    std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).ok_or_else(|| {
        let shown = String::from_utf8_lossy(text).into_owned();
        ctx.error(format_args!("invalid line length: {shown}"));
        Exit::FAILURE
    })
}

/// Joins the script's pieces, in order, by newlines.
fn join_script(
    ctx: &mut Ctx<'_>,
    parsed: &ParsedOptions<SedFlag>,
    operands: &mut Vec<Vec<u8>>,
) -> Result<(Vec<u8>, Vec<ScriptPiece>), Exit> {
    let mut text = Vec::new();
    let mut pieces = Vec::new();
    let mut expressions = 0;
    let mut add = |piece: &[u8], file: Option<Vec<u8>>| {
        if !pieces.is_empty() {
            text.push(b'\n');
        }
        expressions += usize::from(file.is_none());
        pieces.push(ScriptPiece { offset: text.len(), file, expression: expressions });
        text.extend_from_slice(piece);
    };
    let mut given = false;
    for (id, value) in &parsed.options {
        let Some(value) = value else { continue };
        match id {
            SedFlag::Expression => {
                given = true;
                add(value, None);
            }
            SedFlag::File => {
                given = true;
                let name: &[u8] = if value == b"/dev/stdin" { b"-" } else { value };
                let mut body = ctx.read(name).map_err(|e| {
                    let (shown, why) = (String::from_utf8_lossy(value), error_text(&e));
                    ctx.error(format_args!("couldn't open file {shown}: {why}"));
                    Exit(4)
                })?;
                if body.last() == Some(&b'\n') {
                    body.pop();
                }
                add(&body, Some(value.clone()));
            }
            _ => {}
        }
    }
    if !given {
        if operands.is_empty() {
            let usage = SPEC.help_text(&ctx.name);
            let _ = ctx.stderr.write_all(usage.as_bytes());
            return Err(Exit::FAILURE);
        }
        let first = operands.remove(0);
        add(&first, None);
    }
    Ok((text, pieces))
}

/// Prints the place and the reason for which the script does not compile, as GNU sed does.
fn report_script_error(ctx: &mut Ctx<'_>, text: &[u8], pieces: &[ScriptPiece], e: &ScriptError) {
    let Some(offset) = e.offset else { return ctx.error(&e.message) };
    let offset = offset.min(text.len());
    // An error at the start is in the first piece, one at the end in the last.
    let piece = pieces.iter().rev().find(|p| p.offset <= offset).or(pieces.first());
    let Some(piece) = piece else { return ctx.error(&e.message) };
    match &piece.file {
        Some(name) => {
            let shown = String::from_utf8_lossy(name).into_owned();
            let before = &text[piece.offset..offset.max(piece.offset)];
            let line = before.iter().filter(|c| **c == b'\n').count() + 1;
            ctx.error(format_args!("file {shown} line {line}: {}", e.message));
        }
        None => {
            let (n, at) = (piece.expression, offset - piece.offset);
            ctx.error(format_args!("-e expression #{n}, char {at}: {}", e.message));
        }
    }
}
