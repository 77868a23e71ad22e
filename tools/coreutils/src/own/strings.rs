//! `strings` (POSIX XCU strings; binutils): prints the printable runs in files.

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input::{self, CopyStop, write_output};

/// An option of `strings`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StringsFlag {
    All,
    Bytes,
    Data,
    Encoding,
    IncludeAllWhitespace,
    Octal,
    OutputSeparator,
    PrintFileName,
    Radix,
}

const SPEC: Spec<StringsFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print the readable texts in files of any kind.",
    &[
        Opt::new(StringsFlag::All, 'a', "all").with_help("Search the whole file (default)"),
        Opt::new(StringsFlag::Data, 'd', "data")
            .with_help("Search the whole file, which has no sections"),
        Opt::new(StringsFlag::PrintFileName, 'f', "print-file-name")
            .with_help("Put the name of the file first"),
        Opt::new(StringsFlag::Bytes, 'n', "bytes")
            .with_argument("NUMBER", "Print texts of at least NUMBER characters (4)"),
        Opt::new(StringsFlag::Radix, 't', "radix").with_argument(
            "RADIX",
            "Put the offset first: octal (o), decimal (d) or hexadecimal (x)",
        ),
        Opt::new(StringsFlag::Octal, 'o', "").with_help("Put the octal offset first: -t o"),
        Opt::new(StringsFlag::IncludeAllWhitespace, 'w', "include-all-whitespace")
            .with_help("Take all white space as readable"),
        Opt::new(StringsFlag::Encoding, 'e', "encoding")
            .with_argument("ENC", "Characters: s 7 bits, S 8 bits, b or l 16 bits, B or L 32 bits"),
        Opt::new(StringsFlag::OutputSeparator, 's', "output-separator")
            .with_argument("STRING", "Put STRING after each text instead of a newline"),
    ],
);

/// The encoding of characters (`-e`).
#[derive(Clone, Copy)]
struct StringsEncoding {
    /// The number of bytes of each character.
    unit: usize,
    big_endian: bool,
    /// Whether bytes from 0x80 up are printable.
    high: bool,
}

struct StringsPlan {
    /// The minimum number of characters of a run.
    least: usize,
    /// The base in which offsets are printed: `o`, `d` or `x`.
    radix: Option<u8>,
    encoding: StringsEncoding,
    all_space: bool,
    separator: Vec<u8>,
    names: bool,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let mut exit = Exit::SUCCESS;
    for file in &plan.files {
        let data = match ctx.read(file) {
            Ok(data) => data,
            Err(e) => {
                exit = if e.kind() == std::io::ErrorKind::NotFound {
                    input::report_failure(ctx, &[b"'", file, b"': No such file"])
                } else {
                    input::report_failure(ctx, &[file, b": ", box_sys::error_text(&e).as_bytes()])
                };
                continue;
            }
        };
        let name: &[u8] = if file == b"-" { b"{standard input}" } else { file };
        let mut emit = |at: usize, text: &[u8]| {
            write_output(&mut ctx.stdout, &plan.format_line(name, at, text))
        };
        if plan.find_runs(&data, &mut emit).is_err() {
            return Ok(Exit::FAILURE);
        }
    }
    Ok(exit)
}

/// Converts an obsolete option such as `-8` to `-n8`.
fn modern_option(arg: &[u8]) -> Vec<u8> {
    match arg.strip_prefix(b"-") {
        Some(d) if !d.is_empty() && d.iter().all(u8::is_ascii_digit) => [b"-n", d].concat(),
        _ => arg.to_vec(),
    }
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<StringsPlan, Exit> {
    let mut words = Vec::new();
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        words.push(modern_option(word));
        if SPEC.takes_next(word) {
            words.extend(rest.next().cloned());
        }
    }
    let p = SPEC.parse_or_exit(ctx, &words, Exit::FAILURE)?;
    let least = match p.last_value(StringsFlag::Bytes) {
        Some(text) => parse_least(text).map_err(|message| {
            ctx.error(message);
            Exit::FAILURE
        })?,
        None => 4,
    };
    let radix = match (
        p.last_of(&[StringsFlag::Radix, StringsFlag::Octal]),
        p.last_value(StringsFlag::Radix),
    ) {
        (None, _) => None,
        (Some(StringsFlag::Octal), _) => Some(b'o'),
        (Some(_), Some([letter @ (b'o' | b'd' | b'x')])) => Some(*letter),
        (Some(_), _) => return Err(input::usage_error(ctx, &[b"invalid radix"])),
    };
    let encoding = parse_encoding(p.last_value(StringsFlag::Encoding).unwrap_or(b"s"))
        .ok_or_else(|| input::usage_error(ctx, &[b"invalid encoding"]))?;
    Ok(StringsPlan {
        least,
        radix,
        encoding,
        all_space: p.has_option(StringsFlag::IncludeAllWhitespace),
        separator: p.last_value(StringsFlag::OutputSeparator).unwrap_or(b"\n").to_vec(),
        names: p.has_option(StringsFlag::PrintFileName),
        files: input::or_stdin(p.operands),
    })
}

/// Parses the argument of `-n`, a number in C's notation that must fit in C's `unsigned`.
///
/// # Errors
/// The argument is not such a number, or it is 0. The error holds the message.
fn parse_least(text: &[u8]) -> Result<usize, String> {
    let shown = String::from_utf8_lossy(if text.is_empty() { b"0" } else { text });
    let n = box_text::number::parse_integer(text, 0);
    if n.len != text.len() {
        return Err(format!("invalid integer argument {shown}"));
    }
    u32::try_from(n.magnitude)
        .ok()
        .filter(|least| *least > 0 && !n.negative)
        .and_then(|least| usize::try_from(least).ok())
        .ok_or_else(|| format!("invalid minimum string length {shown}"))
}

/// Parses the argument of `-e`.
fn parse_encoding(letter: &[u8]) -> Option<StringsEncoding> {
    let (unit, big_endian, high) = match letter {
        b"s" => (1, false, false),
        b"S" => (1, false, true),
        b"b" => (2, true, false),
        b"l" => (2, false, false),
        b"B" => (4, true, false),
        b"L" => (4, false, false),
        _ => return None,
    };
    Some(StringsEncoding { unit, big_endian, high })
}

impl StringsPlan {
    fn is_printable(&self, c: u32) -> bool {
        c == 9
            || (0x20..0x7f).contains(&c)
            || self.encoding.high && (0x80..=0xff).contains(&c)
            || self.all_space && (10..=13).contains(&c)
    }

    /// Calls `emit` with the offset and text of each run that is long enough.
    fn find_runs(
        &self,
        data: &[u8],
        emit: &mut dyn FnMut(usize, &[u8]) -> Result<(), CopyStop>,
    ) -> Result<(), CopyStop> {
        if self.encoding.unit > 1 {
            return self.wide_runs(data, emit);
        }
        let mut at = 0;
        while at < data.len() {
            let printable = data[at..].iter().take_while(|c| self.is_printable(u32::from(**c)));
            let len = printable.count();
            if len >= self.least {
                emit(at, &data[at..at + len])?;
            }
            at += len + 1;
        }
        Ok(())
    }

    /// Does the same as [`StringsPlan::find_runs`] for characters of several bytes.
    fn wide_runs(
        &self,
        data: &[u8],
        emit: &mut dyn FnMut(usize, &[u8]) -> Result<(), CopyStop>,
    ) -> Result<(), CopyStop> {
        let StringsEncoding { unit, big_endian, .. } = self.encoding;
        let value = |bytes: &[u8]| {
            let shift = |i: usize| 8 * if big_endian { unit - 1 - i } else { i };
            bytes.iter().enumerate().fold(0u32, |v, (i, b)| v | u32::from(*b) << shift(i))
        };
        let mut at = 0;
        while at + unit <= data.len() {
            let characters = data[at..].chunks_exact(unit).map(value);
            let text: Vec<u8> =
                characters.take_while(|c| self.is_printable(*c)).map(|c| c as u8).collect();
            if text.len() >= self.least {
                emit(at, &text)?;
            }
            at += if text.is_empty() { 1 } else { text.len() * unit };
        }
        Ok(())
    }

    fn format_line(&self, name: &[u8], at: usize, text: &[u8]) -> Vec<u8> {
        let mut line = Vec::with_capacity(text.len() + 16);
        if self.names {
            line.extend_from_slice(&[name, b": "].concat());
        }
        match self.radix {
            Some(b'o') => line.extend_from_slice(format!("{at:7o} ").as_bytes()),
            Some(b'd') => line.extend_from_slice(format!("{at:7} ").as_bytes()),
            Some(_) => line.extend_from_slice(format!("{at:7x} ").as_bytes()),
            None => {}
        }
        line.extend_from_slice(text);
        line.extend_from_slice(&self.separator);
        line
    }
}
