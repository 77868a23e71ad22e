//! `uudecode`: decodes lines of text to files.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta;
use box_text::base64::DIGITS;

use super::BAD_OPERANDS;
use crate::common::{input, quote};

/// An option of `uudecode`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UudecodeFlag {
    Help,
    IgnoreMode,
    Output,
    Version,
}

const SPEC: Spec<UudecodeFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Decode the files that uuencode has written to each FILE; other lines are skipped.",
    &[
        Opt::new(UudecodeFlag::Output, 'o', "output-file").with_argument(
            "NAME",
            "Make the file NAME, whatever name is in FILE; - is standard output",
        ),
        Opt::new(UudecodeFlag::IgnoreMode, 'c', "ignore-chmod")
            .with_help("Do not fail if a file's mode cannot be set"),
        Opt::new(UudecodeFlag::Help, 'h', ""),
        Opt::new(UudecodeFlag::Version, 'v', ""),
    ],
)
.with_footer(
    "Without FILE, standard input is read. Exit status 2: FILE is not encoded, or is \
        incomplete; 4: it cannot be read; 8: a file cannot be made.",
);

/// The exit status if the input is not in the form that `uuencode` writes.
const BAD_INPUT: Exit = Exit(2);
/// The exit status if a file cannot be opened.
const NO_INPUT: Exit = Exit(4);
/// The exit status if a file cannot be created or written.
const NO_OUTPUT: Exit = Exit(8);

/// The reason why a file is not decoded.
enum DecodeStop {
    Read(io::Error),
    /// The input is malformed; the text is the message.
    Text(&'static str),
    /// The file with this name cannot be created or written.
    Output(Vec<u8>, io::Error),
    /// Standard output cannot be written. It reports its errors when the tool ends.
    Stdout,
}

impl From<io::Error> for DecodeStop {
    fn from(e: io::Error) -> DecodeStop {
        DecodeStop::Read(e)
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(UudecodeFlag::Help) {
        let text = SPEC.help_text(&ctx.name);
        return Ok(ctx.print(&text));
    }
    if p.has_option(UudecodeFlag::Version) {
        return Ok(ctx.print(&ctx.version()));
    }
    let mut outputs = p.all_values(UudecodeFlag::Output);
    let output = outputs.next();
    if outputs.next().is_some() {
        return Err(input::usage_error(ctx, &[b"only one output file may be given"]));
    }
    if let (Some(_), [_, extra, ..]) = (output, p.operands.as_slice()) {
        input::extra_operand(ctx, extra);
        return Err(BAD_OPERANDS);
    }
    let ignores_mode = p.has_option(UudecodeFlag::IgnoreMode);
    if p.operands.is_empty() {
        let mut stdin = ctx.stdin.detach_stream();
        return finish_file(
            decode(ctx, &mut stdin, (output, ignores_mode)),
            ctx,
            b"standard input",
        );
    }
    let mut exit = Exit::SUCCESS;
    for file in &p.operands {
        match File::open(ctx.path(file)) {
            Ok(opened) => {
                let mut reader = io::BufReader::with_capacity(input::BLOCK, opened);
                finish_file(decode(ctx, &mut reader, (output, ignores_mode)), ctx, file)?;
            }
            Err(e) => {
                input::file_error(ctx, file, &e);
                exit = NO_INPUT;
            }
        }
    }
    Ok(exit)
}

/// Reports why a file was not decoded. `Err` holds the exit status with which the tool ends.
fn finish_file(decoded: Result<(), DecodeStop>, ctx: &mut Ctx<'_>, file: &[u8]) -> Ended {
    match decoded {
        Ok(()) => Ok(Exit::SUCCESS),
        Err(DecodeStop::Stdout) => Err(Exit::FAILURE),
        Err(DecodeStop::Text(why)) => {
            let shown = quote::quote_with_colon(file);
            ctx.error_bytes(&[&shown, b": ", why.as_bytes()]);
            Err(BAD_INPUT)
        }
        Err(DecodeStop::Read(e)) => {
            input::file_error(ctx, file, &e);
            Err(BAD_INPUT)
        }
        Err(DecodeStop::Output(name, e)) => {
            input::file_error(ctx, &name, &e);
            Err(NO_OUTPUT)
        }
    }
}

/// The line before the encoded data.
#[derive(Debug, PartialEq, Eq)]
struct BeginLine {
    is_base64: bool,
    mode: u16,
    name: Vec<u8>,
}

/// Parses a line; returns `None` if it is not the line before encoded data.
///
/// # Errors
/// The line says that the name is in base64, but it is not.
fn parse_begin(line: &[u8]) -> Result<Option<BeginLine>, DecodeStop> {
    let Some(rest) = line.strip_prefix(b"begin") else { return Ok(None) };
    let (rest, is_base64) = match rest.strip_prefix(b"-base64") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (rest, is_encoded) = match rest.strip_prefix(b"-encoded") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let Some(rest) = rest.strip_prefix(b" ").map(<[u8]>::trim_ascii) else { return Ok(None) };
    let digits = rest.iter().take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    let (mode, name) = rest.split_at(digits);
    let name = match name {
        [b' ' | b'\t', name @ ..] => name.trim_ascii_start(),
        _ => return Ok(None),
    };
    if mode.is_empty() || mode.len() > 6 || name.is_empty() {
        return Ok(None);
    }
    let mode = mode.iter().fold(0u32, |mode, digit| mode << 3 | u32::from(digit - b'0'));
    let name = if is_encoded {
        let mut decoder = Base64Decoder::default();
        let mut decoded = Vec::new();
        let is_valid = decoder.decode(name, &mut decoded);
        decoder.finish(&mut decoded);
        if !is_valid || decoded.is_empty() {
            return Err(DecodeStop::Text("the name is not in base64"));
        }
        decoded
    } else {
        name.to_vec()
    };
    // Only the permission bits are used, because the input may come from someone else.
    Ok(Some(BeginLine { is_base64, mode: (mode & 0o777) as u16, name }))
}

/// Reads a line without its end; returns false at the end of input.
fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let n = reader.read_until(b'\n', line)?;
    while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        line.pop();
    }
    Ok(n > 0)
}

/// Decodes the first encoded file in the input.
fn decode(
    ctx: &mut Ctx<'_>,
    reader: &mut dyn BufRead,
    (output, ignores_mode): (Option<&[u8]>, bool),
) -> Result<(), DecodeStop> {
    let mut line = Vec::new();
    let begin = loop {
        if !read_line(reader, &mut line)? {
            return Err(DecodeStop::Text("there is no valid 'begin' line"));
        }
        if let Some(begin) = parse_begin(&line)? {
            break begin;
        }
    };
    let name = match output {
        Some(name) => name.to_vec(),
        None => expand_home(ctx, &begin.name),
    };
    let decode = if begin.is_base64 { decode_base64 } else { decode_lines };
    if name == b"-" || name == b"/dev/stdout" {
        return decode(reader, &mut |data| {
            ctx.stdout.write_all(data).map_err(|_| DecodeStop::Stdout)
        });
    }
    let path = ctx.path(&name);
    let failed = |e| DecodeStop::Output(name.clone(), e);
    let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
    let mode_set = meta::chmod(&path, begin.mode);
    if !ignores_mode {
        mode_set.map_err(failed)?;
    }
    let decoded = decode(reader, &mut |data| file.write_all(data).map_err(failed));
    file.flush().map_err(failed)?;
    decoded
}

/// Returns a name in which the home directory replaces `~/`.
fn expand_home(ctx: &Ctx<'_>, name: &[u8]) -> Vec<u8> {
    match (name.strip_prefix(b"~/"), ctx.env.get(b"HOME")) {
        (Some(rest), Some(home)) => [home, b"/", rest].concat(),
        _ => name.to_vec(),
    }
}

/// A function that receives decoded data.
type DataSink<'s> = dyn FnMut(&[u8]) -> Result<(), DecodeStop> + 's;

/// Decodes lines that consist of a length and groups of four characters. The data ends with a line
/// of length 0 and the line `end`. Characters that are missing at the end of a line count as zeros,
/// because they may have been blanks that were cut off.
fn decode_lines(reader: &mut dyn BufRead, put: &mut DataSink<'_>) -> Result<(), DecodeStop> {
    let mut line = Vec::new();
    let value = |byte: u8| byte.wrapping_sub(b' ') & 63;
    loop {
        if !read_line(reader, &mut line)? || line.first().is_some_and(|first| *first < b' ') {
            return Err(DecodeStop::Text("the file is cut short"));
        }
        let Some((length, digits)) = line.split_first() else {
            return Err(DecodeStop::Text("the file is cut short"));
        };
        if line == b"end" {
            return Err(DecodeStop::Text("the file is cut short"));
        }
        let length = usize::from(value(*length));
        if length == 0 {
            break;
        }
        let mut data = Vec::with_capacity(length + 2);
        for group in 0..length.div_ceil(3) {
            let digit = |at: usize| digits.get(4 * group + at).map_or(0, |byte| value(*byte));
            let bits = (0..4).fold(0u32, |bits, at| bits << 6 | u32::from(digit(at)));
            data.extend_from_slice(&bits.to_be_bytes()[1..]);
        }
        data.truncate(length);
        put(&data)?;
    }
    if read_line(reader, &mut line)? && line == b"end" {
        Ok(())
    } else {
        Err(DecodeStop::Text("there is no 'end' line"))
    }
}

/// Decodes lines of base64 up to the line `====`.
fn decode_base64(reader: &mut dyn BufRead, put: &mut DataSink<'_>) -> Result<(), DecodeStop> {
    let mut decoder = Base64Decoder::default();
    let (mut line, mut data) = (Vec::new(), Vec::new());
    loop {
        if !read_line(reader, &mut line)? {
            return Err(DecodeStop::Text("the file is cut short"));
        }
        let is_end = line.starts_with(b"====");
        data.clear();
        if is_end {
            decoder.finish(&mut data);
        } else if !decoder.decode(&line, &mut data) {
            return Err(DecodeStop::Text("the input is not base64"));
        }
        put(&data)?;
        if is_end {
            return Ok(());
        }
    }
}

/// A decoder of base64. It holds the digits that do not form a whole group yet.
#[derive(Default)]
struct Base64Decoder {
    bits: u32,
    count: u32,
}

impl Base64Decoder {
    /// Decodes digits; `=` ends a group. Returns false if there is any other character.
    fn decode(&mut self, digits: &[u8], out: &mut Vec<u8>) -> bool {
        for byte in digits {
            if *byte == b'=' {
                self.finish(out);
                continue;
            }
            let Some(value) = DIGITS.iter().position(|digit| digit == byte) else { return false };
            self.bits = self.bits << 6 | value as u32;
            self.count += 1;
            if self.count == 4 {
                out.extend_from_slice(&self.bits.to_be_bytes()[1..]);
                (self.bits, self.count) = (0, 0);
            }
        }
        true
    }

    /// Decodes a last group of fewer than four digits.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.count > 1 {
            let bits = self.bits << (6 * (4 - self.count));
            out.extend_from_slice(&bits.to_be_bytes()[1..self.count as usize]);
        }
        (self.bits, self.count) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Base64Decoder, BeginLine, parse_begin};

    #[test]
    fn begin_lines() {
        let parse = |line: &str| parse_begin(line.as_bytes()).ok().flatten();
        let begin = |is_base64, mode, name: &str| {
            Some(BeginLine { is_base64, mode, name: name.as_bytes().to_vec() })
        };
        assert_eq!(parse("begin 644 a b"), begin(false, 0o644, "a b"));
        assert_eq!(parse("begin-base64 4755 a"), begin(true, 0o755, "a"));
        assert_eq!(parse("begin-encoded 640 biBt"), begin(false, 0o640, "n m"));
        for bad in ["begin 999 a", "begin 644", "begin 644 ", "xbegin 644 a", "begin-encoded 1 *"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn groups_across_lines() {
        let (mut decoder, mut out) = (Base64Decoder::default(), Vec::new());
        assert!(decoder.decode(b"aGVsb", &mut out) && decoder.decode(b"G8=", &mut out));
        assert_eq!(out, b"hello");
        assert!(!decoder.decode(b"a b", &mut out));
    }
}
