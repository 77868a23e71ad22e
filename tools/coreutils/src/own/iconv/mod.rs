//! `iconv` (glibc): converts text from one character set to another.
//!
//! | file | contents |
//! |---|---|
//! | `charset` | names and encodings of sets: Unicode's by own code, all others by `encoding_rs` |
//! | `translit` | substitutes for characters that a set lacks (`//TRANSLIT`) |
//!
//! Deliberately absent: EBCDIC and other sets that the web does not use.

mod charset;
mod translit;

use std::fs::File;
use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input;

use self::charset::{Charset, DecodedChar};

/// An option of `iconv`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IconvFlag {
    FromCode,
    List,
    Omit,
    Output,
    Silent,
    ToCode,
    Verbose,
}

const SPEC: Spec<IconvFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Convert text from one character set to another.",
    &[
        Opt::new(IconvFlag::FromCode, 'f', "from-code")
            .with_argument("NAME", "Character set of the input (UTF-8)"),
        Opt::new(IconvFlag::ToCode, 't', "to-code").with_argument(
            "NAME",
            "Character set of the output (UTF-8); NAME//TRANSLIT replaces what it lacks",
        ),
        Opt::new(IconvFlag::List, 'l', "list").with_help("List the character sets"),
        Opt::new(IconvFlag::Omit, 'c', "").with_help("Leave out what cannot be converted"),
        Opt::new(IconvFlag::Output, 'o', "output").with_argument("FILE", "Write to FILE"),
        Opt::new(IconvFlag::Silent, 's', "silent").with_help("Print no warnings"),
        Opt::long(IconvFlag::Verbose, "verbose").with_help(words::IGNORED),
    ],
)
.with_examples(&[("iconv -f latin1 -t utf-8 FILE", "Convert to UTF-8")]);

const HINT: &str = "Try `iconv --help' or `iconv --usage' for more information.\n";

/// The treatment of characters that the output set lacks.
#[derive(Clone, Copy, Default)]
struct IconvMissing {
    /// `-c`: both invalid input and missing characters are dropped.
    drop: bool,
    /// `//IGNORE`: like `-c`, but the exit status shows that characters were dropped.
    ignore: bool,
    translit: bool,
}

struct IconvPlan {
    from: Charset,
    to: Charset,
    missing: IconvMissing,
    output: Option<Vec<u8>>,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let mut exit = Exit::SUCCESS;
    let mut out = Vec::new();
    let mut is_first = true;
    for file in &plan.files {
        let data = match ctx.read(file) {
            Ok(data) => data,
            Err(e) => {
                let (shown, why) = (String::from_utf8_lossy(file), box_sys::error_text(&e));
                ctx.error(format_args!("cannot open input file `{shown}': {why}"));
                exit = Exit::FAILURE;
                continue;
            }
        };
        let converted = convert_data(&data, &plan, std::mem::take(&mut is_first), &mut out);
        if plan.output.is_none() {
            let _ = ctx.stdout.write_all(&out);
            out.clear();
        }
        let text = match &converted {
            Ok(true) => continue,
            Ok(false) => format!("illegal input sequence at position {}", data.len()),
            Err(IconvStop::Invalid(at)) => format!("illegal input sequence at position {at}"),
            Err(IconvStop::Incomplete) => {
                "incomplete character or shift sequence at end of buffer".to_string()
            }
        };
        ctx.error(text);
        exit = Exit::FAILURE;
        if converted.is_err() {
            break;
        }
    }
    if let Some(name) = &plan.output
        && let Err(e) = write(ctx, name, &out)
    {
        let shown = String::from_utf8_lossy(name);
        ctx.error(format_args!(
            "unable to open output file `{shown}': {}",
            box_sys::error_text(&e)
        ));
        return Ok(Exit::FAILURE);
    }
    Ok(exit)
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<IconvPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit(64))?;
    if p.has_option(IconvFlag::List) {
        for names in charset::NAMES {
            let line: String = names.iter().map(|n| format!("{n}// ")).collect();
            let _ = writeln!(ctx.stdout, "{}", line.trim_end());
        }
        return Err(Exit::SUCCESS);
    }
    let name = |flag: IconvFlag| {
        String::from_utf8_lossy(p.last_value(flag).unwrap_or_default()).into_owned()
    };
    let (from_name, to_name) = (name(IconvFlag::FromCode), name(IconvFlag::ToCode));
    let mut missing =
        IconvMissing { drop: p.has_option(IconvFlag::Omit), ..IconvMissing::default() };
    for suffix in to_name.split('/').skip(1) {
        match suffix.to_ascii_uppercase().as_str() {
            "TRANSLIT" => missing.translit = true,
            "IGNORE" => missing.ignore = true,
            _ => {}
        }
    }
    let (from, to) = match (charset::find_charset(&from_name), charset::find_charset(&to_name)) {
        (Some(from), Some(to)) => (from, to),
        (from, to) => {
            let text = match (from, to) {
                (None, Some(_)) => format!("conversion from `{from_name}' is"),
                (Some(_), _) => format!("conversion to `{to_name}' is"),
                (None, None) => {
                    format!("conversions from `{from_name}' and to `{to_name}' are")
                }
            };
            return Err(report_unsupported(ctx, &text));
        }
    };
    let output = p.last_value(IconvFlag::Output).map(<[u8]>::to_vec);
    Ok(IconvPlan { from, to, missing, output, files: input::or_stdin(p.operands) })
}

fn write(ctx: &Ctx<'_>, name: &[u8], data: &[u8]) -> io::Result<()> {
    File::create(ctx.path(name))?.write_all(data)
}

fn report_unsupported(ctx: &mut Ctx<'_>, what: &str) -> Exit {
    ctx.error(format_args!("{what} not supported"));
    let _ = ctx.stderr.write_all(HINT.as_bytes());
    Exit::FAILURE
}

enum IconvStop {
    /// The input is invalid at this offset.
    Invalid(usize),
    Incomplete,
}

/// Converts all of `data`; returns whether nothing was dropped.
fn convert_data(
    data: &[u8],
    plan: &IconvPlan,
    first: bool,
    out: &mut Vec<u8>,
) -> Result<bool, IconvStop> {
    let missing = plan.missing;
    let mut clean = true;
    let mut decoder = plan.from.decoder(data);
    let mut encoder = plan.to.encoder(first, out);
    loop {
        let at = decoder.current_offset();
        match decoder.next() {
            DecodedChar::End => {
                encoder.end_encoding(out);
                return Ok(clean);
            }
            DecodedChar::Char(c) => {
                if encoder.put(c, out) {
                    continue;
                }
                if missing.translit {
                    let text = translit::ascii_substitute(c);
                    let fits = text.is_some_and(|t| t.chars().all(|c| encoder.put(c, out)));
                    if fits || encoder.put('?', out) {
                        continue;
                    }
                }
                if !missing.drop && !missing.ignore {
                    encoder.end_encoding(out);
                    return Err(IconvStop::Invalid(at));
                }
                clean &= missing.drop;
            }
            DecodedChar::Invalid if missing.drop => {}
            DecodedChar::Invalid if missing.ignore => clean = false,
            DecodedChar::Invalid => {
                encoder.end_encoding(out);
                return Err(IconvStop::Invalid(at));
            }
            DecodedChar::Incomplete if missing.drop => return Ok(clean),
            DecodedChar::Incomplete => {
                encoder.end_encoding(out);
                return Err(IconvStop::Incomplete);
            }
        }
    }
}
