//! `hexdump` and `hd` (util-linux, BSD): dumps by format strings.
//!
//! | file | what |
//! |---|---|
//! | `format` | format strings (`-e`) to units |

mod format;

use std::io::Read;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_text::printf;

use crate::common::input::{self, Stop, put};
use crate::common::{number, quote};
use format::{Format, Part, What};

const SPEC: Spec = Spec {
    usage: "[options] <file>...",
    about: "Display file contents in hexadecimal, decimal, octal, or ascii.",
    options: &[
        Opt::flag('b', "one-byte-octal", "one-byte octal display"),
        Opt::flag('c', "one-byte-char", "one-byte character display"),
        Opt::flag('C', "canonical", "canonical hex+ASCII display"),
        Opt::flag('d', "two-bytes-decimal", "two-byte decimal display"),
        Opt::flag('o', "two-bytes-octal", "two-byte octal display"),
        Opt::flag('x', "two-bytes-hex", "two-byte hexadecimal display"),
        Opt::flag('X', "one-byte-hex", "one-byte hexadecimal display"),
        Opt::optional('L', "color", "MODE", "(ignored)"),
        Opt::value('e', "format", "FORMAT", "format string to be used for displaying data"),
        Opt::value('f', "format-file", "FILE", "file that contains format strings"),
        Opt::value('n', "length", "LENGTH", "interpret only length bytes of input"),
        Opt::value('s', "skip", "OFFSET", "skip offset bytes from the beginning"),
        Opt::flag('v', "no-squeezing", "output identical lines"),
    ],
    after: "",
    posix_order: false,
};

/// A number as these options take it: decimal, octal, hexadecimal, with a unit.
fn count(text: &[u8]) -> Option<u64> {
    let n = box_text::number::strtoi(text, 0);
    let unit = match text.get(n.len..)? {
        b"" => 1,
        b"b" => 512,
        rest => number::size(&[b"1", rest].concat()).ok()?,
    };
    (n.len > 0 && !n.negative).then(|| n.magnitude.saturating_mul(unit))
}

/// The formats that the letter options stand for, in the language of `-e`.
fn letter_formats(letter: char) -> &'static [&'static [u8]] {
    match letter {
        'b' => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 16/1 \"%03o \" \"\\n\""],
        'c' => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 16/1 \"%3_c \" \"\\n\""],
        'C' => &[
            b"\"%08.8_Ax\n\"",
            b"\"%08.8_ax  \" 8/1 \"%02x \" \"  \" 8/1 \"%02x \" \"  |\"",
            b"16/1 \"%_p\" \"|\\n\"",
        ],
        'd' => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \"  %05u \" \"\\n\""],
        'o' => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \" %06o \" \"\\n\""],
        'x' => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \"   %04x \" \"\\n\""],
        'X' => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 16/1 \" %02x \" \"\\n\""],
        _ => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \"%04x \" \"\\n\""],
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for (id, value) in &p.options {
        match id {
            'b' | 'c' | 'C' | 'd' | 'o' | 'x' | 'X' => {
                texts.extend(letter_formats(*id).iter().map(|f| f.to_vec()))
            }
            'e' => texts.extend(value.clone()),
            'f' => {
                let name = value.as_deref().unwrap_or_default();
                match std::fs::read(ctx.path(name)) {
                    Ok(t) => texts.extend(
                        t.split(|c| *c == b'\n')
                            .filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#"))
                            .map(<[u8]>::to_vec),
                    ),
                    Err(e) => {
                        input::file_error(ctx, name, &e);
                        return Exit::FAILURE;
                    }
                }
            }
            _ => {}
        }
    }
    if texts.is_empty() {
        let default = if ctx.name == "hd" { 'C' } else { ' ' };
        texts.extend(letter_formats(default).iter().map(|f| f.to_vec()));
    }
    let mut formats = Vec::new();
    for t in &texts {
        match format::parse(t) {
            Ok(f) => formats.push(f),
            Err(m) => {
                ctx.error(m);
                return Exit::FAILURE;
            }
        }
    }
    let (mut length, mut skip) = (u64::MAX, 0);
    for (id, slot) in [('n', &mut length), ('s', &mut skip)] {
        if let Some(text) = p.last(id) {
            match count(text) {
                Some(n) => *slot = n,
                None => {
                    let what: &[u8] = if id == 'n' {
                        b"failed to parse length: "
                    } else {
                        b"failed to parse offset: "
                    };
                    ctx.error_bytes(&[what, &quote::always(text), b": Invalid argument"]);
                    return Exit::FAILURE;
                }
            }
        }
    }
    let mut exit = Exit::SUCCESS;
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    let mut data = Vec::new();
    let mut opened = 0;
    let most = length.saturating_add(skip);
    for f in files {
        let left = most.saturating_sub(data.len() as u64);
        let read = input::open(&mut ctx.stdin, &ctx.cwd, f)
            .and_then(|r| r.take(left).read_to_end(&mut data));
        match read {
            Ok(_) => opened += 1,
            Err(e) => {
                input::file_error(ctx, f, &e);
                exit = Exit::FAILURE;
            }
        }
    }
    if opened == 0 {
        ctx.error("all input file arguments failed");
        return Exit::FAILURE;
    }
    let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(data.len());
    let dump = Dump { data: &data, start: skip, formats: &formats, verbose: p.has('v') };
    match dump.write(&mut ctx.stdout) {
        Ok(()) => exit,
        Err(_) => Exit::FAILURE,
    }
}

struct Dump<'a> {
    data: &'a [u8],
    start: usize,
    formats: &'a [Format],
    verbose: bool,
}

impl Dump<'_> {
    fn write(&self, out: &mut box_applet::Output) -> Result<(), Stop> {
        // The block is what the longest format takes; shorter ones repeat their last unit.
        let block = self.formats.iter().map(|f| f.size).max().unwrap_or(0);
        if block == 0 {
            // Text alone takes no data, so it is never its turn.
            return self.end(out);
        }
        let mut previous: Option<&[u8]> = None;
        let mut starred = false;
        let mut at = self.start;
        while at < self.data.len() {
            let chunk = &self.data[at..(at + block).min(self.data.len())];
            if !self.verbose && chunk.len() == block && previous == Some(chunk) {
                if !starred {
                    put(out, b"*\n")?;
                    starred = true;
                }
                at += block;
                continue;
            }
            starred = false;
            previous = Some(chunk);
            let mut line = Vec::new();
            for f in self.formats {
                self.line(f, at, chunk, block, &mut line);
            }
            put(out, &line)?;
            at += block;
        }
        self.end(out)
    }

    /// What is printed once, after all: `%_A`.
    fn end(&self, out: &mut box_applet::Output) -> Result<(), Stop> {
        if self.data.len() == self.start {
            return Ok(());
        }
        let mut line = Vec::new();
        for f in self.formats {
            for p in f.units.iter().flat_map(|u| &u.parts) {
                if let Part::Convert { what: What::EndAddress(radix), spec, .. } = p {
                    address(&mut line, spec, *radix, self.data.len());
                    // The text of the unit follows its address.
                    let tail = f.units.iter().find(|u| u.parts.contains(p)).map(|u| &u.parts);
                    for t in tail.into_iter().flatten() {
                        if let Part::Text(t) = t {
                            line.extend_from_slice(t);
                        }
                    }
                }
            }
        }
        put(out, &line)
    }

    fn line(&self, f: &Format, start: usize, chunk: &[u8], block: usize, out: &mut Vec<u8>) {
        if f.units.iter().any(|u| {
            u.parts.iter().any(|p| matches!(p, Part::Convert { what: What::EndAddress(_), .. }))
        }) {
            return;
        }
        let mut at = 0;
        let last_data_unit = f.units.iter().rposition(|u| u.size() > 0);
        for (i, unit) in f.units.iter().enumerate() {
            let mut times = unit.repeat;
            // The last unit without a count of its own fills the block.
            if Some(i) == last_data_unit && !unit.counted && unit.size() > 0 && block > at {
                let after: usize = f.units[i + 1..].iter().map(|u| u.size() * u.repeat).sum();
                times = (block - at).saturating_sub(after) / unit.size();
            }
            for n in 0..times {
                let last = n + 1 == times;
                for (k, part) in unit.parts.iter().enumerate() {
                    let trailing = last && times > 1 && k + 1 == unit.parts.len();
                    match part {
                        Part::Text(t) => {
                            // White space after the last of several conversions is left out.
                            let t: &[u8] =
                                if trailing && unit.size() > 0 { t.trim_ascii_end() } else { t };
                            out.extend_from_slice(t);
                        }
                        Part::Convert { what, spec, size } => {
                            if *size == 0 {
                                if let What::Address(radix) = what {
                                    address(out, spec, *radix, start + at)
                                }
                                continue;
                            }
                            let mut bytes: Vec<u8> = chunk
                                .get(at.min(chunk.len())..(at + size).min(chunk.len()))
                                .unwrap_or_default()
                                .to_vec();
                            at += size;
                            if bytes.is_empty() {
                                // `|` columns end with the data.
                                if !matches!(what, What::Printable) {
                                    out.resize(
                                        out.len() + spec.width.max(width_of(what, spec)),
                                        b' ',
                                    );
                                }
                                continue;
                            }
                            bytes.resize(*size, 0);
                            convert(out, what, spec, &bytes);
                        }
                    }
                }
            }
        }
    }
}

/// Columns a conversion takes, for data that is missing.
fn width_of(what: &What, spec: &printf::Spec) -> usize {
    match what {
        What::Printable | What::Char => 1,
        _ => spec.precision.unwrap_or(0),
    }
}

fn address(out: &mut Vec<u8>, spec: &printf::Spec, radix: u8, value: usize) {
    printf::unsigned(out, spec, if radix == b'd' { b'u' } else { radix }, value as u64);
}

fn convert(out: &mut Vec<u8>, what: &What, spec: &printf::Spec, bytes: &[u8]) {
    let value = bytes.iter().rev().take(8).fold(0u64, |v, b| v << 8 | u64::from(*b));
    let bits = bytes.len().min(8) * 8;
    match what {
        What::Signed => {
            let shift = 64 - bits as u32;
            printf::signed(out, spec, ((value << shift) as i64) >> shift);
        }
        What::Unsigned(c) => printf::unsigned(out, spec, *c, value),
        What::Float(c) => {
            let v = match bytes.len() {
                4 => f64::from(f32::from_bits(value as u32)),
                _ => f64::from_bits(value),
            };
            printf::float(out, spec, *c, v);
        }
        What::Byte => printf::character(out, spec, &bytes[..1]),
        What::Text => {
            let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            printf::string(out, spec, &bytes[..end]);
        }
        What::Printable => {
            let c = if (0x20..0x7f).contains(&bytes[0]) { bytes[0] } else { b'.' };
            printf::string(out, spec, &[c]);
        }
        What::Char | What::Named => {
            const NAMES: [&str; 33] = [
                "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "lf", "vt",
                "ff", "cr", "so", "si", "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb",
                "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp",
            ];
            let b = bytes[0];
            let text = match (b, matches!(what, What::Named)) {
                (0x7f, true) => "del".to_string(),
                (b, true) if b < 0x20 => NAMES[usize::from(b)].to_string(),
                (b, true) if b >= 0x80 => format!("{b:02x}"),
                (0, _) => "\\0".to_string(),
                (7, _) => "\\a".to_string(),
                (8, _) => "\\b".to_string(),
                (9, _) => "\\t".to_string(),
                (10, _) => "\\n".to_string(),
                (11, _) => "\\v".to_string(),
                (12, _) => "\\f".to_string(),
                (13, _) => "\\r".to_string(),
                (b, _) if (0x20..0x7f).contains(&b) => char::from(b).to_string(),
                (b, _) => format!("{b:03o}"),
            };
            printf::string(out, spec, text.as_bytes());
        }
        What::Address(_) | What::EndAddress(_) => {}
    }
}
