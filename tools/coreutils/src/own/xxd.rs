//! `xxd` (the program of Vim): prints hexadecimal dumps, and converts them back to bytes.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Read, Seek, SeekFrom, Write};

use box_applet::help::{HelpPage, HelpSection, words};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input::{self, CopyStop, write_output};

const HELP: HelpPage = HelpPage::new(
    "[OPTION]... [FILE [OUTPUT]]\n-r [-s OFFSET] [-c COLUMNS] [-ps] [FILE [OUTPUT]]",
    "Print the bytes of a file in hexadecimal with their text, or turn that back \
        into bytes.",
    &[HelpSection::new(
        "Options",
        &[
            ("  -a", "Print * for lines of zeros"),
            ("  -b", "Print bits instead of hexadecimal digits"),
            ("  -C", "With -i: capital letters in the names of variables"),
            ("  -c COLUMNS", "Bytes in a line: 16, with -i 12, with -ps 30"),
            ("  -d", "Print offsets in decimal"),
            ("  -E", "Print the text as EBCDIC"),
            ("  -e", "Print groups of 4 bytes, the last byte first"),
            ("  -g BYTES", "Bytes in a group: 2, with -e 4"),
            ("  -i", "Print an array in C"),
            ("  -l BYTES", "Stop after BYTES bytes"),
            ("  -n NAME", "With -i: name of the array"),
            ("  -o OFFSET", "Add OFFSET to the offsets that are printed"),
            ("  -ps", "Print only hexadecimal digits"),
            ("  -r", "Turn a dump back into bytes"),
            ("  -s OFFSET", "Start at OFFSET; from the end if it is negative"),
            ("  -u", "Use capital letters in hexadecimal"),
            ("  -h, --help", words::HELP),
            ("  -v, --version", words::VERSION),
        ],
    )],
)
.with_examples(&[("xxd -l 32 FILE", "The first 32 bytes"), ("echo 6869 | xxd -r -p", "Prints hi")]);

/// The options of `xxd`.
#[derive(Default)]
struct XxdOptions {
    autoskip: bool,
    binary: bool,
    capital: bool,
    columns: Option<usize>,
    little: bool,
    group: Option<usize>,
    include: bool,
    length: Option<u64>,
    name: Option<Vec<u8>>,
    offset: i64,
    plain: bool,
    reverse: bool,
    /// The offset at which to start; a negative one counts from the end.
    seek: Option<i64>,
    upper: bool,
    decimal: bool,
}

/// Parses a number as `strtol` with base 0 does.
fn parse_number(text: &[u8]) -> Option<i64> {
    let n = box_text::number::parse_integer(text, 0);
    (n.len > 0).then(|| n.signed().0)
}

/// The options and the files.
struct XxdPlan {
    options: XxdOptions,
    input: Vec<u8>,
    output: Option<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let done = parse_plan(ctx, args).and_then(|plan| convert_input(ctx, &plan));
    Ok(done.err().unwrap_or(Exit::SUCCESS))
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<XxdPlan, Exit> {
    let mut options = XxdOptions::default();
    let mut rest = args.iter().peekable();
    while let Some(word) = rest.next_if(|a| a.len() > 1 && a.starts_with(b"-")) {
        let body = word[1..].strip_prefix(b"-").unwrap_or(&word[1..]);
        // As in Vim's `xxd`, the first letter of an option decides. For example, `-ps` is `-p`.
        let Some((letter, attached)) = body.split_first() else { break };
        match letter {
            b'h' => return Err(ctx.print(&HELP.text(&ctx.name))),
            b'v' => return Err(ctx.print(&ctx.version())),
            letter if options.set(*letter) => {}
            letter => {
                // The text attached to the letter is the value, unless it begins with a letter,
                // because then it continues the option's name (`-cols`).
                let is_value = attached.first().is_some_and(|c| !c.is_ascii_alphabetic());
                let mut value =
                    || if is_value { Some(attached) } else { rest.next().map(Vec::as_slice) };
                if !options.set_value(*letter, &mut value) {
                    let _ = ctx.stderr.write_all(HELP.text(&ctx.name).as_bytes());
                    return Err(Exit::FAILURE);
                }
            }
        }
    }
    let input = rest.next().cloned().unwrap_or_else(|| b"-".to_vec());
    let output = rest.next().filter(|t| *t != b"-").cloned();
    Ok(XxdPlan { options, input, output })
}

impl XxdOptions {
    /// Applies an option without a value; returns false if the letter is not such an option.
    fn set(&mut self, letter: u8) -> bool {
        match letter {
            b'a' => self.autoskip = !self.autoskip,
            b'b' => self.binary = true,
            b'C' => self.capital = true,
            b'd' => self.decimal = true,
            b'E' => {}
            b'e' => self.little = true,
            b'i' => self.include = true,
            b'p' => self.plain = true,
            b'r' => self.reverse = true,
            b'u' => self.upper = true,
            _ => return false,
        }
        true
    }

    /// Applies an option with a value; returns false if the letter is not such an option.
    fn set_value<'v>(&mut self, letter: u8, value: &mut dyn FnMut() -> Option<&'v [u8]>) -> bool {
        match letter {
            b'c' => {
                // A negative number counts as too large.
                self.columns = value()
                    .and_then(parse_number)
                    .map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            }
            b'g' => {
                self.group = value().and_then(parse_number).and_then(|n| usize::try_from(n).ok())
            }
            b'l' => {
                self.length = value().and_then(parse_number).and_then(|n| u64::try_from(n).ok())
            }
            b'n' => self.name = value().map(<[u8]>::to_vec),
            // An offset may be any value of C's `unsigned long`; from 2^63 on it wraps to negative.
            b'o' => {
                let n = value().map(|text| box_text::number::parse_integer(text, 0));
                self.offset = n.map_or(0, |n| n.unsigned().0 as i64);
            }
            b's' => {
                let text = value().unwrap_or_default();
                self.seek = parse_number(text.strip_prefix(b"+").unwrap_or(text));
            }
            _ => return false,
        }
        true
    }

    /// Returns the number of bytes in a row; 0 if a plain dump has only one row.
    fn row_len(&self) -> usize {
        let default = if self.include {
            12
        } else if self.plain {
            30
        } else if self.binary {
            6
        } else {
            16
        };
        self.columns.filter(|c| *c > 0 || self.plain).unwrap_or(default)
    }

    /// Returns the number of bytes in a group, between which there are no spaces.
    fn group_len(&self, row: usize) -> usize {
        let default = match (self.binary, self.little) {
            (true, _) => 1,
            (false, true) => 4,
            (false, false) => 2,
        };
        match self.group.unwrap_or(default) {
            0 => row.max(1),
            n if n > row && !self.little => row.max(1),
            n => n,
        }
    }

    fn digit_set(&self) -> &'static [u8; 16] {
        if self.upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" }
    }
}

fn convert_input(ctx: &mut Ctx<'_>, plan: &XxdPlan) -> Result<(), Exit> {
    let o = &plan.options;
    let mut file = None;
    if let Some(target) = &plan.output {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(!o.reverse);
        file = Some(options.open(ctx.path(target)).map_err(|e| {
            ctx.error_bytes(&[target, b": ", box_sys::error_text(&e).as_bytes()]);
            Exit(3)
        })?);
    }
    let mut reader = match input::open_operand(&mut ctx.stdin, &ctx.cwd, &plan.input) {
        Ok(reader) => reader,
        Err(e) => {
            ctx.error_bytes(&[&plan.input, b": ", box_sys::error_text(&e).as_bytes()]);
            return Err(Exit::USAGE);
        }
    };
    // The length of a row without text is limited only by C's `int`. Other rows are held in memory.
    let limit = if o.plain || o.include { i32::MAX as usize } else { 256 };
    if !o.reverse && o.columns.is_some_and(|c| c > limit) {
        return Err(input::report_failure(ctx, &[b"invalid number of columns (max. 256)."]));
    }
    let result = match (o.reverse, file) {
        (true, file) => reverse_dump(&mut reader, o, file, &mut ctx.stdout),
        (false, Some(mut file)) => dump_rows(&mut reader, &plan.input, o, &mut file),
        (false, None) => dump_rows(&mut reader, &plan.input, o, &mut ctx.stdout),
    };
    result.map_err(|stop| match stop {
        CopyStop::Read(e) => {
            ctx.error(box_sys::error_text(&e));
            Exit::USAGE
        }
        CopyStop::Write => Exit(3),
    })
}

fn skip_input(reader: &mut input::InputFile<'_>, o: &XxdOptions) -> Result<u64, CopyStop> {
    let Some(n) = o.seek else { return Ok(0) };
    if let input::InputFile::File(f) = reader {
        let to = if n < 0 { SeekFrom::End(n) } else { SeekFrom::Start(n as u64) };
        return f.seek(to).map_err(CopyStop::Read);
    }
    let mut left = u64::try_from(n).unwrap_or(0);
    while left > 0 {
        let block = reader.fill_buf().map_err(CopyStop::Read)?;
        if block.is_empty() {
            break;
        }
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        reader.consume(take);
        left -= take as u64;
    }
    Ok(u64::try_from(n).unwrap_or(0))
}

fn dump_rows(
    reader: &mut input::InputFile<'_>,
    name: &[u8],
    o: &XxdOptions,
    out: &mut impl Write,
) -> Result<(), CopyStop> {
    let start = skip_input(reader, o)?;
    let mut reader = reader.take(o.length.unwrap_or(u64::MAX));
    if o.include {
        return dump_include(&mut reader, name, o, out);
    }
    if o.plain {
        return dump_plain(&mut reader, o, out);
    }
    let columns = o.row_len();
    let mut position = start.wrapping_add_signed(o.offset);
    let mut row = vec![0; columns];
    let mut zeros = Zeros::default();
    let mut line = Vec::new();
    loop {
        let got = fill_row(&mut reader, &mut row)?;
        if got == 0 {
            return zeros.end(out);
        }
        let data = &row[..got];
        line.clear();
        let _ = if o.decimal {
            write!(line, "{position:08}:")
        } else {
            write!(line, "{position:08x}:")
        };
        hex_row(&mut line, data, columns, o);
        line.extend_from_slice(b"  ");
        line.extend(data.iter().map(|b| if (0x20..0x7f).contains(b) { *b } else { b'.' }));
        line.push(b'\n');
        position = position.wrapping_add(got as u64);
        if o.autoskip && got == columns && data.iter().all(|b| *b == 0) {
            zeros.put_line(&line, out)?;
        } else {
            zeros.interrupt(out)?;
            write_output(out, &line)?;
        }
    }
}

/// Fills a row with bytes; returns their number, which is less than the row at the end of input.
fn fill_row(reader: &mut impl Read, row: &mut [u8]) -> Result<usize, CopyStop> {
    let mut got = 0;
    while got < row.len() {
        match reader.read(&mut row[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(CopyStop::Read(e)),
        }
    }
    Ok(got)
}

/// The lines of zeros in a run (`-a`). The first one is shown, and a star replaces the others. At
/// the end of the dump, the last line is shown, too.
#[derive(Default)]
struct Zeros {
    lines: u64,
    last: Vec<u8>,
}

impl Zeros {
    fn put_line(&mut self, line: &[u8], out: &mut impl Write) -> Result<(), CopyStop> {
        self.lines += 1;
        if self.lines == 1 {
            return write_output(out, line);
        }
        self.last.clear();
        self.last.extend_from_slice(line);
        Ok(())
    }

    /// Ends a run of lines of zeros, because a different line follows.
    fn interrupt(&mut self, out: &mut impl Write) -> Result<(), CopyStop> {
        match std::mem::take(&mut self.lines) {
            0 | 1 => Ok(()),
            2 => write_output(out, &self.last),
            _ => write_output(out, b"*\n"),
        }
    }

    fn end(&self, out: &mut impl Write) -> Result<(), CopyStop> {
        match self.lines {
            0 | 1 => Ok(()),
            2 => write_output(out, &self.last),
            _ => write_output(out, &[b"*\n", self.last.as_slice()].concat()),
        }
    }
}

/// Prints a dump of digits only (`-ps`).
fn dump_plain(
    reader: &mut impl Read,
    o: &XxdOptions,
    out: &mut impl Write,
) -> Result<(), CopyStop> {
    let (columns, digits) = (o.row_len(), o.digit_set());
    let most = 64 * 1024;
    let mut row = vec![0; if columns == 0 { most } else { columns.min(most) }];
    let mut line = Vec::new();
    // The number of bytes that the current row still takes.
    let mut left = columns;
    loop {
        let part = if columns == 0 { row.len() } else { left.min(row.len()) };
        let got = fill_row(reader, &mut row[..part])?;
        if got == 0 {
            break;
        }
        left = left.saturating_sub(got);
        line.clear();
        for b in &row[..got] {
            line.extend_from_slice(&[digits[usize::from(b >> 4)], digits[usize::from(b & 15)]]);
        }
        if columns > 0 && (left == 0 || got < part) {
            line.push(b'\n');
            left = columns;
        }
        write_output(out, &line)?;
    }
    // The input ended within a row, at the end of a part.
    if left != columns || columns == 0 { write_output(out, b"\n") } else { Ok(()) }
}

fn hex_row(line: &mut Vec<u8>, data: &[u8], cols: usize, o: &XxdOptions) {
    let (group, digits) = (o.group_len(cols), o.digit_set());
    let width = if o.binary { 8 } else { 2 };
    let push = |line: &mut Vec<u8>, b: u8| {
        if o.binary {
            line.extend((0..8).rev().map(|i| b'0' + (b >> i & 1)));
        } else {
            line.extend_from_slice(&[digits[usize::from(b >> 4)], digits[usize::from(b & 15)]]);
        }
    };
    for g in (0..cols).step_by(group) {
        line.push(b' ');
        let len = if o.little { group } else { group.min(cols - g) };
        for k in 0..len {
            let i = g + if o.little { len - 1 - k } else { k };
            match data.get(i) {
                Some(b) => push(line, *b),
                None => line.resize(line.len() + width, b' '),
            }
        }
    }
}

fn dump_include(
    reader: &mut impl Read,
    name: &[u8],
    o: &XxdOptions,
    out: &mut impl Write,
) -> Result<(), CopyStop> {
    let mut data = Vec::new();
    reader.read_to_end(&mut data).map_err(CopyStop::Read)?;
    let cols = o.row_len();
    let named = o.name.as_deref().or((name != b"-").then_some(name));
    let ident: Option<Vec<u8>> = named.map(|n| {
        let mut id: Vec<u8> =
            n.iter().map(|c| if c.is_ascii_alphanumeric() { *c } else { b'_' }).collect();
        if id.first().is_some_and(u8::is_ascii_digit) {
            id.splice(0..0, *b"__");
        }
        if o.capital { id.to_ascii_uppercase() } else { id }
    });
    let mut text = Vec::new();
    if let Some(id) = &ident {
        text.extend_from_slice(&[b"unsigned char ", id.as_slice(), b"[] = {\n"].concat());
    }
    for (i, b) in data.iter().enumerate() {
        if i % cols == 0 {
            text.extend_from_slice(if i == 0 { b"  " } else { b",\n  " });
        } else {
            text.extend_from_slice(b", ");
        }
        let hex = if o.upper { format!("0X{b:02X}") } else { format!("0x{b:02x}") };
        text.extend_from_slice(hex.as_bytes());
    }
    if !data.is_empty() {
        text.push(b'\n');
    }
    if let Some(id) = &ident {
        let len: &[u8] = if o.capital { b"_LEN" } else { b"_len" };
        text.extend_from_slice(
            &[b"};\nunsigned int ", id.as_slice(), len, format!(" = {};\n", data.len()).as_bytes()]
                .concat(),
        );
    }
    write_output(out, &text)
}

/// Converts hexadecimal text back to bytes (`-r`).
fn reverse_dump(
    reader: &mut input::InputFile<'_>,
    o: &XxdOptions,
    file: Option<File>,
    stdout: &mut box_applet::OutStream,
) -> Result<(), CopyStop> {
    let mut patch = Patch { file, stdout, written: 0 };
    if o.plain {
        let mut text = Vec::new();
        reader.read_to_end(&mut text).map_err(CopyStop::Read)?;
        return patch.put_at(0, &digit_pairs(&text));
    }
    let base = o.seek.unwrap_or(0);
    let columns = o.columns.unwrap_or(16);
    input::for_each_line(reader, b'\n', |line, _| {
        if let Some((position, row)) = split_offset(line, o.decimal) {
            let bytes = row_bytes(row, columns, o.binary);
            patch.put_at(position.saturating_add_signed(base), &bytes)?;
        }
        Ok(true)
    })
}

/// Splits the offset off a row, with the colon after it, if there is one.
fn split_offset(line: &[u8], is_decimal: bool) -> Option<(u64, &[u8])> {
    let line = line.trim_ascii_start();
    let radix = if is_decimal { 10 } else { 16 };
    let digits = line.iter().take_while(|c| char::from(**c).is_digit(radix)).count();
    let (digits, rest) = line.split_at(digits);
    let position = u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    match rest {
        [b':', row @ ..] => Some((position, row)),
        [b' ' | b'\t', ..] => Some((position, rest.trim_ascii_start())),
        _ => None,
    }
}

fn hex_value(c: u8) -> Option<u8> {
    char::from(c).to_digit(16).map(|d| d as u8)
}

/// Converts pairs of hexadecimal digits to bytes. White space is skipped. Any other byte ends an
/// incomplete pair, and after several such bytes the rest of the line is skipped.
fn digit_pairs(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut high = None;
    // The number of further bytes that may be neither digits nor white space.
    let mut allowed = 2;
    let mut text = text.iter();
    while let Some(&c) = text.next() {
        match (hex_value(c), high) {
            (Some(d), Some(h)) => {
                bytes.push(h << 4 | d);
                (high, allowed) = (None, 1);
            }
            (Some(d), None) => (high, allowed) = (Some(d), 2),
            (None, _) if c.is_ascii_whitespace() => {}
            (None, _) if allowed == 0 => {
                text.by_ref().find(|c| **c == b'\n');
                (high, allowed) = (None, 3);
            }
            (None, _) => (high, allowed) = (None, allowed - 1),
        }
    }
    bytes
}

/// Parses the bytes of a row. The digits end at two spaces in a row or when all columns are full.
fn row_bytes(row: &[u8], columns: usize, binary: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < row.len() && bytes.len() < columns {
        if row[at] == b' ' {
            if row.get(at + 1) == Some(&b' ') {
                break;
            }
            at += 1;
            continue;
        }
        let len = if binary { 8 } else { 2 };
        let Some(byte) = row.get(at..at + len).and_then(|text| row_byte(text, binary)) else {
            break;
        };
        bytes.push(byte);
        at += len;
    }
    bytes
}

/// Parses two hexadecimal digits, or eight binary ones.
fn row_byte(text: &[u8], binary: bool) -> Option<u8> {
    match text {
        [high, low] if !binary => Some(hex_value(*high)? << 4 | hex_value(*low)?),
        bits if bits.iter().all(|c| matches!(c, b'0' | b'1')) => {
            Some(bits.iter().fold(0, |v, c| v << 1 | (c - b'0')))
        }
        _ => None,
    }
}

/// The destination of the converted bytes. A gap is filled with zeros in a stream and skipped in a
/// file.
struct Patch<'o> {
    file: Option<File>,
    stdout: &'o mut box_applet::OutStream,
    written: u64,
}

impl Patch<'_> {
    fn put_at(&mut self, position: u64, data: &[u8]) -> Result<(), CopyStop> {
        if let Some(file) = &mut self.file {
            file.seek(SeekFrom::Start(position)).map_err(CopyStop::Read)?;
            return file.write_all(data).map_err(|_| CopyStop::Write);
        }
        const MOST: u64 = 1 << 30;
        let gap = position.saturating_sub(self.written);
        if gap > MOST {
            return Err(CopyStop::Read(std::io::ErrorKind::InvalidInput.into()));
        }
        write_output(self.stdout, &vec![0; gap as usize])?;
        write_output(self.stdout, data)?;
        self.written += gap + data.len() as u64;
        Ok(())
    }
}
