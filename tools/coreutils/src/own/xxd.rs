//! `xxd`: hexadecimal dumps and back (the program of Vim).

use std::fs::OpenOptions;
use std::io::{BufRead, Read, Seek, SeekFrom, Write};

use box_applet::{Ctx, Exit};

use crate::common::input::{self, Stop, put};

const HELP: &str = "Usage:
       xxd [options] [infile [outfile]]
    or
       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]
Options:
    -a          toggle autoskip: A single '*' replaces nul-lines. Default off.
    -b          binary digit dump (incompatible with -ps,-i,-r). Default hex.
    -C          capitalize variable names in C include file style (-i).
    -c cols     format <cols> octets per line. Default 16 (-i: 12, -ps: 30).
    -E          show characters in EBCDIC. Default ASCII.
    -e          little-endian dump (incompatible with -ps,-i,-r).
    -g bytes    number of octets per group in normal output. Default 2 (-e: 4).
    -h          print this summary.
    -i          output in C include file style.
    -l len      stop after <len> octets.
    -n name     set the variable name used in C include output (-i).
    -o off      add <off> to the displayed file position.
    -ps         output in postscript plain hexdump style.
    -r          reverse operation: convert (or patch) hexdump into binary.
    -d          show offset in decimal instead of hex.
    -s [+][-]seek  start at <seek> bytes abs. (or +: rel.) infile offset.
    -u          use upper case hex letters.
    -v          show version: \"xxd (Wasibox)\".
";

#[derive(Default)]
struct Options {
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
    seek: Option<(i64, bool)>,
    upper: bool,
    decimal: bool,
}

/// A number as `strtol` with base 0 reads it.
fn number(text: &[u8]) -> Option<i64> {
    let n = box_text::number::strtoi(text, 0);
    (n.len > 0).then(|| n.signed().0)
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let mut o = Options::default();
    let mut at = 0;
    while let Some(a) = args.get(at) {
        let Some(body) = a.strip_prefix(b"-").filter(|b| !b.is_empty()) else { break };
        at += 1;
        if body == b"-" {
            break;
        }
        let body = body.strip_prefix(b"-").unwrap_or(body);
        // Options are known by their first letter; -ps is the plain style.
        let letter = body[0];
        let attached = &body[1..];
        let mut value = || -> Option<Vec<u8>> {
            let word = attached
                .iter()
                .position(|c| !c.is_ascii_alphabetic())
                .map_or(&[][..], |i| &attached[i..]);
            if !word.is_empty() && (attached.first().is_some_and(|c| !c.is_ascii_alphabetic())) {
                return Some(word.to_vec());
            }
            let v = args.get(at).cloned();
            at += 1;
            v
        };
        match letter {
            b'a' => o.autoskip = !o.autoskip,
            b'b' => o.binary = true,
            b'C' => o.capital = true,
            b'd' => o.decimal = true,
            b'E' => {}
            b'e' => o.little = true,
            b'i' => o.include = true,
            b'p' => o.plain = true,
            b'r' => o.reverse = true,
            b'u' => o.upper = true,
            b'h' => {
                let _ = ctx.stdout.write_all(HELP.as_bytes());
                return Exit::SUCCESS;
            }
            b'v' => {
                let _ = ctx
                    .stdout
                    .write_all(format!("xxd (Wasibox) {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
                return Exit::SUCCESS;
            }
            b'c' => {
                o.columns =
                    value().as_deref().and_then(number).and_then(|n| usize::try_from(n).ok())
            }
            b'g' => {
                o.group = value().as_deref().and_then(number).and_then(|n| usize::try_from(n).ok())
            }
            b'l' => {
                o.length = value().as_deref().and_then(number).and_then(|n| u64::try_from(n).ok())
            }
            b'n' => o.name = value(),
            b'o' => o.offset = value().as_deref().and_then(number).unwrap_or(0),
            b's' => {
                let v = value().unwrap_or_default();
                let relative = v.starts_with(b"+");
                o.seek = number(v.strip_prefix(b"+").unwrap_or(&v)).map(|n| (n, relative));
            }
            _ => {
                let _ = ctx.stderr.write_all(HELP.as_bytes());
                return Exit::FAILURE;
            }
        }
    }
    let operands = &args[at.min(args.len())..];
    let stdin = b"-".to_vec();
    let name = operands.first().unwrap_or(&stdin);
    let mut out_file = None;
    if let Some(target) = operands.get(1).filter(|t| *t != b"-") {
        match OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(!o.reverse)
            .open(ctx.path(target))
        {
            Ok(f) => out_file = Some(f),
            Err(e) => {
                ctx.error_bytes(&[target, b": ", box_sys::strerror(&e).as_bytes()]);
                return Exit(3);
            }
        }
    }
    let mut reader = match input::open(&mut ctx.stdin, &ctx.cwd, name) {
        Ok(r) => r,
        Err(e) => {
            ctx.error_bytes(&[name, b": ", box_sys::strerror(&e).as_bytes()]);
            return Exit::USAGE;
        }
    };
    let limit = if o.include || o.plain || o.binary { usize::MAX } else { 256 };
    if !o.reverse && o.columns.is_some_and(|c| c > limit) {
        ctx.error("invalid number of columns (max. 256).");
        return Exit::FAILURE;
    }
    let result = if o.reverse {
        reverse(&mut reader, &o, out_file.as_mut(), &mut ctx.stdout)
    } else {
        match out_file {
            Some(mut f) => dump(&mut reader, name, &o, &mut f),
            None => dump(&mut reader, name, &o, &mut ctx.stdout),
        }
    };
    match result {
        Ok(()) => Exit::SUCCESS,
        Err(Stop::Read(e)) => {
            ctx.error(box_sys::strerror(&e));
            Exit::USAGE
        }
        Err(Stop::Write) => Exit(3),
    }
}

fn skip(reader: &mut input::In<'_>, o: &Options) -> Result<u64, Stop> {
    let Some((n, _)) = o.seek else { return Ok(0) };
    if let input::In::File(f) = reader {
        let to = if n < 0 { SeekFrom::End(n) } else { SeekFrom::Start(n as u64) };
        return f.seek(to).map_err(Stop::Read);
    }
    let mut left = u64::try_from(n).unwrap_or(0);
    while left > 0 {
        let block = reader.fill_buf().map_err(Stop::Read)?;
        if block.is_empty() {
            break;
        }
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        reader.consume(take);
        left -= take as u64;
    }
    Ok(u64::try_from(n).unwrap_or(0))
}

fn dump(
    reader: &mut input::In<'_>,
    name: &[u8],
    o: &Options,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let start = skip(reader, o)?;
    let mut position = start.wrapping_add_signed(o.offset);
    let mut reader = reader.take(o.length.unwrap_or(u64::MAX));
    let cols = o.columns.filter(|c| *c > 0 || o.plain).unwrap_or(if o.include {
        12
    } else if o.plain {
        30
    } else if o.binary {
        6
    } else {
        16
    });
    let digits: &[u8; 16] = if o.upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    if o.include {
        return include(&mut reader, name, o, cols, out);
    }
    let group = match o.group {
        Some(g) => g,
        None if o.binary => 1,
        None if o.little => 4,
        None => 2,
    };
    let group = if group == 0 || group > cols && !o.little { cols.max(1) } else { group };
    let mut row = vec![0; if cols == 0 { 64 * 1024 } else { cols }];
    let mut zeros: u64 = 0;
    let mut line = Vec::new();
    let mut held: Vec<u8> = Vec::new();
    loop {
        let mut got = 0;
        while got < row.len() {
            match reader.read(&mut row[got..]) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Stop::Read(e)),
            }
        }
        if got == 0 {
            break;
        }
        let data = &row[..got];
        line.clear();
        if o.plain {
            for b in data {
                line.extend_from_slice(&[digits[usize::from(b >> 4)], digits[usize::from(b & 15)]]);
            }
            if cols > 0 {
                line.push(b'\n');
            }
            put(out, &line)?;
            continue;
        }
        if o.decimal {
            line.extend_from_slice(format!("{position:08}:").as_bytes());
        } else {
            line.extend_from_slice(format!("{position:08x}:").as_bytes());
        }
        hex_row(&mut line, data, cols, group, o, digits);
        line.extend_from_slice(b"  ");
        line.extend(data.iter().map(|b| if (0x20..0x7f).contains(b) { *b } else { b'.' }));
        line.push(b'\n');
        position = position.wrapping_add(got as u64);
        if o.autoskip && data.iter().all(|b| *b == 0) && got == cols {
            zeros += 1;
            // The first is shown; of the others a star, and the last at the end of all.
            if zeros == 1 {
                put(out, &line)?;
            } else {
                held = line.clone();
            }
            continue;
        }
        match zeros {
            0 | 1 => {}
            2 => put(out, &held)?,
            _ => put(out, b"*\n")?,
        }
        zeros = 0;
        put(out, &line)?;
    }
    match zeros {
        0 | 1 => {}
        2 => put(out, &held)?,
        _ => put(out, &[b"*\n", held.as_slice()].concat())?,
    }
    if o.plain && cols == 0 {
        put(out, b"\n")?;
    }
    Ok(())
}

fn hex_row(
    line: &mut Vec<u8>,
    data: &[u8],
    cols: usize,
    group: usize,
    o: &Options,
    digits: &[u8; 16],
) {
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
        let len = group.min(cols - g);
        let members = 0..if o.little { group } else { len };
        let indexes: Vec<usize> = if o.little {
            members.rev().map(|i| g + i).collect()
        } else {
            members.map(|i| g + i).collect()
        };
        for i in indexes {
            match data.get(i) {
                Some(b) => push(line, *b),
                None => line.resize(line.len() + width, b' '),
            }
        }
    }
}

fn include(
    reader: &mut impl Read,
    name: &[u8],
    o: &Options,
    cols: usize,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let mut data = Vec::new();
    reader.read_to_end(&mut data).map_err(Stop::Read)?;
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
    put(out, &text)
}

/// `-r`: hexadecimal text back to bytes.
fn reverse(
    reader: &mut input::In<'_>,
    o: &Options,
    file: Option<&mut std::fs::File>,
    stdout: &mut box_applet::Output,
) -> Result<(), Stop> {
    let mut bytes: Vec<u8> = Vec::new();
    let hex = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
    let cols = o.columns.unwrap_or(16);
    let mut file = file;
    let mut written = 0u64;
    // Gaps are filled with zeros in a stream and skipped in a file.
    let mut emit = |position: u64, data: &[u8]| -> Result<(), Stop> {
        match &mut file {
            Some(f) => {
                f.seek(SeekFrom::Start(position)).map_err(Stop::Read)?;
                f.write_all(data).map_err(|_| Stop::Write)
            }
            None => {
                const MOST: u64 = 1 << 30;
                let gap = position.saturating_sub(written);
                if gap > MOST {
                    return Err(Stop::Read(std::io::ErrorKind::InvalidInput.into()));
                }
                let zeros = vec![0; gap as usize];
                put(stdout, &zeros)?;
                put(stdout, data)?;
                written += gap + data.len() as u64;
                Ok(())
            }
        }
    };
    if o.plain {
        let mut high = None;
        let mut text = Vec::new();
        reader.read_to_end(&mut text).map_err(Stop::Read)?;
        for &c in &text {
            match hex(c) {
                Some(d) => match high.take() {
                    Some(h) => bytes.push(h << 4 | d),
                    None => high = Some(d),
                },
                None if c.is_ascii_whitespace() => {}
                None => high = None,
            }
        }
        return emit(0, &bytes);
    }
    let base = o.seek.map_or(0, |s| s.0);
    input::for_each_line(reader, b'\n', |line, _| {
        let Some(colon) = line.iter().position(|c| *c == b':') else { return Ok(true) };
        let text: String = String::from_utf8_lossy(&line[..colon]).trim().to_string();
        let Ok(position) =
            (if o.decimal { text.parse::<u64>() } else { u64::from_str_radix(&text, 16) })
        else {
            return Ok(true);
        };
        bytes.clear();
        let mut at = colon + 1;
        // Pairs of digits until two spaces in a row, or the columns are full.
        while at < line.len() && bytes.len() < cols {
            if line[at] == b' ' {
                if line.get(at + 1) == Some(&b' ') {
                    break;
                }
                at += 1;
                continue;
            }
            if o.binary {
                let Some(group) = line.get(at..at + 8) else { break };
                if !group.iter().all(|c| matches!(c, b'0' | b'1')) {
                    break;
                }
                bytes.push(group.iter().fold(0, |v, c| v << 1 | (c - b'0')));
                at += 8;
                continue;
            }
            match (hex(line[at]), line.get(at + 1).and_then(|c| hex(*c))) {
                (Some(h), Some(l)) => bytes.push(h << 4 | l),
                _ => break,
            }
            at += 2;
        }
        emit(position.saturating_add_signed(base), &bytes)?;
        Ok(true)
    })
}
