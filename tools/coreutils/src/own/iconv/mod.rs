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
use std::io::{self, Read, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use self::charset::{Charset, Decoded};

const SPEC: Spec = Spec {
    usage: "[OPTION...] [FILE...]",
    about: "Convert encoding of given files from one encoding to another.",
    options: &[
        Opt::value('f', "from-code", "NAME", "encoding of original text"),
        Opt::value('t', "to-code", "NAME", "encoding for output"),
        Opt::flag('l', "list", "list all known coded character sets"),
        Opt::flag('c', "", "omit invalid characters from output"),
        Opt::value('o', "output", "FILE", "output file"),
        Opt::flag('s', "silent", "suppress warnings"),
        Opt::flag('\u{1}', "verbose", "accepted and ignored").long_only(),
    ],
    after: "",
    posix_order: false,
};

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

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit(64)) {
        Ok(p) => p,
        Err(e) => return e,
    };
    if p.has('l') {
        for names in charset::NAMES {
            let line: String = names.iter().map(|n| format!("{n}// ")).collect();
            let _ = writeln!(ctx.stdout, "{}", line.trim_end());
        }
        return Exit::SUCCESS;
    }
    let name = |id| p.last(id).map(|n| String::from_utf8_lossy(n).into_owned()).unwrap_or_default();
    let (from_name, to_name) = (name('f'), name('t'));
    let mut missing = Missing { drop: p.has('c'), ..Missing::default() };
    for suffix in to_name.split('/').skip(1) {
        match suffix.to_ascii_uppercase().as_str() {
            "TRANSLIT" => missing.translit = true,
            "IGNORE" => missing.ignore = true,
            _ => {}
        }
    }
    let (from, to) = (charset::find(&from_name), charset::find(&to_name));
    let (from, to) = match (from, to) {
        (Some(from), Some(to)) => (from, to),
        (None, Some(_)) => return unsupported(ctx, &format!("conversion from `{from_name}' is")),
        (Some(_), None) => return unsupported(ctx, &format!("conversion to `{to_name}' is")),
        (None, None) => {
            let text = format!("conversions from `{from_name}' and to `{to_name}' are");
            return unsupported(ctx, &text);
        }
    };
    let mut exit = Exit::SUCCESS;
    let mut out = Vec::new();
    let operands = if p.operands.is_empty() { vec![b"-".to_vec()] } else { p.operands.clone() };
    let mut first = true;
    for operand in &operands {
        let mut data = Vec::new();
        let read = if operand == b"-" {
            ctx.stdin.read_to_end(&mut data)
        } else {
            crate::common::input::open_file(&ctx.path(operand))
                .and_then(|mut f| f.read_to_end(&mut data))
        };
        if let Err(e) = read {
            let shown = String::from_utf8_lossy(operand).into_owned();
            ctx.error(format_args!("cannot open input file `{shown}': {}", box_sys::strerror(&e)));
            exit = Exit::FAILURE;
            continue;
        }
        let ended = convert(&data, from, to, missing, std::mem::take(&mut first), &mut out);
        if !p.has('o') {
            let _ = ctx.stdout.write_all(&out);
            out.clear();
        }
        match ended {
            Ok(true) => {}
            Ok(false) => {
                let at = data.len();
                ctx.error(format_args!("illegal input sequence at position {at}"));
                exit = Exit::FAILURE;
            }
            Err(Stop::Invalid(at)) => {
                ctx.error(format_args!("illegal input sequence at position {at}"));
                exit = Exit::FAILURE;
                break;
            }
            Err(Stop::Incomplete) => {
                ctx.error("incomplete character or shift sequence at end of buffer");
                exit = Exit::FAILURE;
                break;
            }
        }
    }
    if let Some(name) = p.last('o').map(<[u8]>::to_vec)
        && let Err(e) = write(ctx, &name, &out)
    {
        let shown = String::from_utf8_lossy(&name).into_owned();
        ctx.error(format_args!("unable to open output file `{shown}': {}", box_sys::strerror(&e)));
        return Exit::FAILURE;
    }
    exit
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
fn convert(
    data: &[u8],
    from: Charset,
    to: Charset,
    missing: Missing,
    first: bool,
    out: &mut Vec<u8>,
) -> Result<bool, Stop> {
    let mut clean = true;
    let mut decoder = from.decoder(data);
    let mut encoder = to.encoder(first, out);
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
