//! `cmp` (POSIX XCU cmp; GNU diffutils 3.8).

use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::number::parse_block_size;

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CmpFlag {
    PrintBytes,
    IgnoreInitial,
    Verbose,
    Bytes,
    Quiet,
}

const SPEC: Spec<CmpFlag> = Spec::new(
    "[OPTION]... FILE1 FILE2 [SKIP1 [SKIP2]]\n[OPTION]... FILE",
    "Compare two files, and print the first place where they differ.",
    &[
        Opt::new(CmpFlag::PrintBytes, 'b', "print-bytes")
            .with_help("Print the bytes that differ, too"),
        Opt::new(CmpFlag::IgnoreInitial, 'i', "ignore-initial")
            .with_argument("SKIP", "Skip the first SKIP bytes of both files"),
        Opt::new(CmpFlag::Verbose, 'l', "verbose")
            .with_help("Print all places that differ, with both bytes in octal"),
        Opt::new(CmpFlag::Bytes, 'n', "bytes")
            .with_argument("LIMIT", "Compare no more than LIMIT bytes"),
        Opt::new(CmpFlag::Quiet, 's', "quiet").with_help("Print nothing; only end with a status"),
        Opt::long(CmpFlag::Quiet, "silent").with_help(words::SAME),
    ],
)
.with_examples(&[("cmp -s A B && echo same", "Compare in a script")])
.with_footer(
    "Standard input is read for a FILE named -, and if FILE2 is missing. Exit status: 0 \
        if the files are equal, 1 if they differ, 2 after an error.",
);

/// Runs `cmp`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let mut operands = parsed.operands.clone();
    if operands.is_empty() {
        ctx.error("missing operand after 'cmp'");
        let _ = ctx.stderr.write_all(b"cmp: Try 'cmp --help' for more information.\n");
        return Ok(Exit::USAGE);
    }
    if parsed.has_option(CmpFlag::Verbose) && parsed.has_option(CmpFlag::Quiet) {
        ctx.error("options -l and -s are incompatible");
        let _ = ctx.stderr.write_all(b"cmp: Try 'cmp --help' for more information.\n");
        return Ok(Exit::USAGE);
    }
    if operands.len() == 1 {
        operands.push(b"-".to_vec());
    }
    let (skip, limit) = match compared_part(&parsed, &operands) {
        Ok(part) => part,
        Err(CmpNumberError { option, text }) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            ctx.error(format_args!("invalid --{option} value '{text}'"));
            let _ = ctx.stderr.write_all(b"cmp: Try 'cmp --help' for more information.\n");
            return Ok(Exit::USAGE);
        }
    };
    let mut data = Vec::new();
    for name in &operands[..2] {
        match ctx.read(name) {
            Ok(d) => data.push(d),
            Err(e) => {
                if !parsed.has_option(CmpFlag::Quiet) {
                    ctx.io_error(name, &e);
                }
                return Ok(Exit::USAGE);
            }
        }
    }
    let cut = |data: &[u8], skip: usize| -> Vec<u8> {
        let rest = data.get(skip..).unwrap_or_default();
        rest[..rest.len().min(limit)].to_vec()
    };
    let (a, b) = (cut(&data[0], skip[0]), cut(&data[1], skip[1]));
    let mode = CmpMode {
        silent: parsed.has_option(CmpFlag::Quiet),
        all: parsed.has_option(CmpFlag::Verbose),
        bytes: parsed.has_option(CmpFlag::PrintBytes),
    };
    Ok(match compare_bytes(ctx, &operands, &a, &b, mode) {
        Ok(exit) => exit,
        Err(_) => Exit::USAGE,
    })
}

/// A number that is invalid, or beyond the size of any file.
struct CmpNumberError {
    /// The option that takes such a number, even if it was given as an operand.
    option: &'static str,
    text: Vec<u8>,
}

/// Parses the number of bytes to skip at the start of each file, and the number to compare.
fn compared_part(
    parsed: &ParsedOptions<CmpFlag>,
    operands: &[Vec<u8>],
) -> Result<([usize; 2], usize), CmpNumberError> {
    let number = |text: &[u8]| {
        let n = parse_block_size(text).ok().filter(|n| i64::try_from(*n).is_ok())?;
        Some(usize::try_from(n).unwrap_or(usize::MAX))
    };
    let fault = |option, text: &[u8]| CmpNumberError { option, text: text.to_vec() };
    let skip = match parsed.last_value(CmpFlag::IgnoreInitial) {
        Some(text) => {
            let mut parts = text.splitn(2, |c| *c == b':');
            let first = parts.next().and_then(number);
            let second = parts.next().map_or(first, number);
            match (first, second) {
                (Some(first), Some(second)) => [first, second],
                _ => return Err(fault("ignore-initial", text)),
            }
        }
        None => {
            let operand = |at: usize| match operands.get(at) {
                Some(text) => number(text).ok_or_else(|| fault("ignore-initial", text)),
                None => Ok(0),
            };
            [operand(2)?, operand(3)?]
        }
    };
    let limit = match parsed.last_value(CmpFlag::Bytes) {
        Some(text) => number(text).ok_or_else(|| fault("bytes", text))?,
        None => usize::MAX,
    };
    Ok((skip, limit))
}

#[derive(Clone, Copy)]
struct CmpMode {
    silent: bool,
    all: bool,
    bytes: bool,
}

fn compare_bytes(
    ctx: &mut Ctx<'_>,
    names: &[Vec<u8>],
    a: &[u8],
    b: &[u8],
    mode: CmpMode,
) -> io::Result<Exit> {
    let mut differ = false;
    let mut line = 1;
    let width = a.len().min(b.len()).to_string().len();
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        if x != y {
            differ = true;
            if mode.silent {
                return Ok(Exit::FAILURE);
            }
            if mode.all {
                write!(ctx.stdout, "{:>width$} {x:3o}", i + 1)?;
                if mode.bytes {
                    write!(ctx.stdout, " {:<4}", visible_byte(*x))?;
                }
                write!(ctx.stdout, " {y:3o}")?;
                if mode.bytes {
                    write!(ctx.stdout, " {}", visible_byte(*y))?;
                }
                writeln!(ctx.stdout)?;
                continue;
            }
            ctx.stdout.write_all(&[&names[0], b" ".as_slice(), &names[1]].concat())?;
            let what = "byte";
            write!(ctx.stdout, " differ: {what} {}, line {line}", i + 1)?;
            if mode.bytes {
                write!(ctx.stdout, " is {x:3o} {} {y:3o} {}", visible_byte(*x), visible_byte(*y))?;
            }
            writeln!(ctx.stdout)?;
            return Ok(Exit::FAILURE);
        }
        line += usize::from(*x == b'\n');
    }
    if a.len() == b.len() {
        return Ok(if differ { Exit::FAILURE } else { Exit::SUCCESS });
    }
    if !mode.silent {
        let (name, short) = if a.len() < b.len() { (&names[0], a) } else { (&names[1], b) };
        let text = if short.is_empty() {
            " which is empty".to_string()
        } else if mode.all {
            format!(" after byte {}", short.len())
        } else if short.ends_with(b"\n") {
            format!(" after byte {}, line {}", short.len(), line - 1)
        } else {
            format!(" after byte {}, in line {line}", short.len())
        };
        ctx.error_bytes(&[b"EOF on ", name, text.as_bytes()]);
    }
    Ok(Exit::FAILURE)
}

/// Returns a byte as `cat -v` shows it, for example `^A`.
fn visible_byte(c: u8) -> String {
    let (meta, c) = if c >= 128 { ("M-", c - 128) } else { ("", c) };
    match c {
        0..=31 => format!("{meta}^{}", char::from(c + 64)),
        127 => format!("{meta}^?"),
        _ => format!("{meta}{}", char::from(c)),
    }
}
