//! `iconv` (glibc): text from one character set to another.
//!
//! | file | what |
//! |---|---|
//! | `charset` | names, and what each set is: Unicode forms here, all others by `encoding_rs` |
//! | `translit` | what stands for characters that a set lacks (`//TRANSLIT`) |
//!
//! Deliberately absent: EBCDIC and others that the web does not know.

mod charset;
mod translit;

use std::fs::File;
use std::io::{self, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input;

use self::charset::{Charset, Decoded};

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    FromCode,
    List,
    Omit,
    Output,
    Silent,
    ToCode,
    Verbose,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION...] [FILE...]",
    "Convert encoding of given files from one encoding to another.",
    &[
        Opt::new(Flag::FromCode, 'f', "from-code").takes("NAME", "encoding of original text"),
        Opt::new(Flag::ToCode, 't', "to-code").takes("NAME", "encoding for output"),
        Opt::new(Flag::List, 'l', "list").says("list all known coded character sets"),
        Opt::new(Flag::Omit, 'c', "").says("omit invalid characters from output"),
        Opt::new(Flag::Output, 'o', "output").takes("FILE", "output file"),
        Opt::new(Flag::Silent, 's', "silent").says("suppress warnings"),
        Opt::long(Flag::Verbose, "verbose").says("accepted and ignored"),
    ],
);

const HINT: &str = "Try `iconv --help' or `iconv --usage' for more information.\n";

/// What happens to characters that the output lacks.
#[derive(Clone, Copy, Default)]
struct Missing {
    /// `-c`: both invalid and missing ones are dropped.
    drop: bool,
    /// `//IGNORE`: the same, but the status tells.
    ignore: bool,
    translit: bool,
}

struct Plan {
    from: Charset,
    to: Charset,
    missing: Missing,
    output: Option<Vec<u8>>,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = plan(ctx, args)?;
    let mut exit = Exit::SUCCESS;
    let mut out = Vec::new();
    let mut is_first = true;
    for file in &plan.files {
        let data = match ctx.read(file) {
            Ok(data) => data,
            Err(e) => {
                let (shown, why) = (String::from_utf8_lossy(file), box_sys::strerror(&e));
                ctx.error(format_args!("cannot open input file `{shown}': {why}"));
                exit = Exit::FAILURE;
                continue;
            }
        };
        let converted = convert(&data, &plan, std::mem::take(&mut is_first), &mut out);
        if plan.output.is_none() {
            let _ = ctx.stdout.write_all(&out);
            out.clear();
        }
        let text = match &converted {
            Ok(true) => continue,
            Ok(false) => format!("illegal input sequence at position {}", data.len()),
            Err(Stop::Invalid(at)) => format!("illegal input sequence at position {at}"),
            Err(Stop::Incomplete) => {
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
        ctx.error(format_args!("unable to open output file `{shown}': {}", box_sys::strerror(&e)));
        return Ok(Exit::FAILURE);
    }
    Ok(exit)
}

fn plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Plan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit(64))?;
    if p.has(Flag::List) {
        for names in charset::NAMES {
            let line: String = names.iter().map(|n| format!("{n}// ")).collect();
            let _ = writeln!(ctx.stdout, "{}", line.trim_end());
        }
        return Err(Exit::SUCCESS);
    }
    let name = |flag: Flag| String::from_utf8_lossy(p.last(flag).unwrap_or_default()).into_owned();
    let (from_name, to_name) = (name(Flag::FromCode), name(Flag::ToCode));
    let mut missing = Missing { drop: p.has(Flag::Omit), ..Missing::default() };
    for suffix in to_name.split('/').skip(1) {
        match suffix.to_ascii_uppercase().as_str() {
            "TRANSLIT" => missing.translit = true,
            "IGNORE" => missing.ignore = true,
            _ => {}
        }
    }
    let (from, to) = match (charset::find(&from_name), charset::find(&to_name)) {
        (Some(from), Some(to)) => (from, to),
        (from, to) => {
            let text = match (from, to) {
                (None, Some(_)) => format!("conversion from `{from_name}' is"),
                (Some(_), _) => format!("conversion to `{to_name}' is"),
                (None, None) => {
                    format!("conversions from `{from_name}' and to `{to_name}' are")
                }
            };
            return Err(unsupported(ctx, &text));
        }
    };
    let output = p.last(Flag::Output).map(<[u8]>::to_vec);
    Ok(Plan { from, to, missing, output, files: input::or_stdin(p.operands) })
}

fn write(ctx: &Ctx<'_>, name: &[u8], data: &[u8]) -> io::Result<()> {
    File::create(ctx.path(name))?.write_all(data)
}

fn unsupported(ctx: &mut Ctx<'_>, what: &str) -> Exit {
    ctx.error(format_args!("{what} not supported"));
    let _ = ctx.stderr.write_all(HINT.as_bytes());
    Exit::FAILURE
}

enum Stop {
    /// At this offset of the input.
    Invalid(usize),
    Incomplete,
}

/// Converts all of `data`; whether nothing was ignored.
fn convert(data: &[u8], plan: &Plan, first: bool, out: &mut Vec<u8>) -> Result<bool, Stop> {
    let missing = plan.missing;
    let mut clean = true;
    let mut decoder = plan.from.decoder(data);
    let mut encoder = plan.to.encoder(first, out);
    loop {
        let at = decoder.at();
        match decoder.next() {
            Decoded::End => {
                encoder.end(out);
                return Ok(clean);
            }
            Decoded::Char(c) => {
                if encoder.put(c, out) {
                    continue;
                }
                if missing.translit {
                    let text = translit::of(c);
                    let fits = text.is_some_and(|t| t.chars().all(|c| encoder.put(c, out)));
                    if fits || encoder.put('?', out) {
                        continue;
                    }
                }
                if !missing.drop && !missing.ignore {
                    encoder.end(out);
                    return Err(Stop::Invalid(at));
                }
                clean &= missing.drop;
            }
            Decoded::Invalid if missing.drop => {}
            Decoded::Invalid if missing.ignore => clean = false,
            Decoded::Invalid => {
                encoder.end(out);
                return Err(Stop::Invalid(at));
            }
            Decoded::Incomplete if missing.drop => return Ok(clean),
            Decoded::Incomplete => {
                encoder.end(out);
                return Err(Stop::Incomplete);
            }
        }
    }
}
