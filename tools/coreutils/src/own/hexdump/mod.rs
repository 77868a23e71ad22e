//! `hexdump` and `hd` (util-linux, BSD): dumps by format strings.
//!
//! | file | contents |
//! |---|---|
//! | `format` | parsing of format strings (`-e`) to units |

mod format;

use std::io::Read;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::number::{BlockSizeError, parse_block_size};
use box_text::printf;

use crate::common::input::{self, CopyStop, write_output};
use crate::common::quote;
use crate::own::od;
use format::{ConversionKind, HexdumpFormat, HexdumpPart, HexdumpUnit};

/// An option of `hexdump`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HexdumpFlag {
    Canonical,
    Color,
    Format,
    FormatFile,
    Length,
    NoSqueezing,
    OneByteChar,
    OneByteHex,
    OneByteOctal,
    Skip,
    TwoBytesDecimal,
    TwoBytesHex,
    TwoBytesOctal,
}

const SPEC: Spec<HexdumpFlag> = Spec::new(
    "[OPTION]... FILE...",
    "Print the bytes of files as numbers or by a format.",
    &[
        Opt::new(HexdumpFlag::OneByteOctal, 'b', "one-byte-octal")
            .with_help("Single bytes in octal"),
        Opt::new(HexdumpFlag::OneByteChar, 'c', "one-byte-char")
            .with_help("Single bytes as characters"),
        Opt::new(HexdumpFlag::Canonical, 'C', "canonical")
            .with_help("Single bytes in hexadecimal, with text beside them"),
        Opt::new(HexdumpFlag::TwoBytesDecimal, 'd', "two-bytes-decimal")
            .with_help("Two bytes together in decimal"),
        Opt::new(HexdumpFlag::TwoBytesOctal, 'o', "two-bytes-octal")
            .with_help("Two bytes together in octal"),
        Opt::new(HexdumpFlag::TwoBytesHex, 'x', "two-bytes-hex")
            .with_help("Two bytes together in hexadecimal"),
        Opt::new(HexdumpFlag::OneByteHex, 'X', "one-byte-hex")
            .with_help("Single bytes in hexadecimal"),
        Opt::new(HexdumpFlag::Color, 'L', "color").may_take("MODE", words::IGNORED),
        Opt::new(HexdumpFlag::Format, 'e', "format")
            .with_argument("FORMAT", "Print by FORMAT: '8/1 \"%02x \" \"\\n\"'"),
        Opt::new(HexdumpFlag::FormatFile, 'f', "format-file")
            .with_argument("FILE", "Print by the formats in FILE"),
        Opt::new(HexdumpFlag::Length, 'n', "length")
            .with_argument("LENGTH", "Stop after LENGTH bytes"),
        Opt::new(HexdumpFlag::Skip, 's', "skip")
            .with_argument("OFFSET", "Start after OFFSET bytes"),
        Opt::new(HexdumpFlag::NoSqueezing, 'v', "no-squeezing")
            .with_help("Print lines that repeat, not *"),
    ],
)
.with_examples(&[("hexdump -C FILE", "Offsets, hexadecimal bytes and text")]);

/// Returns the formats for a letter option, in the syntax of `-e`.
fn letter_formats(flag: HexdumpFlag) -> &'static [&'static [u8]] {
    match flag {
        HexdumpFlag::OneByteOctal => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 16/1 \"%03o \" \"\\n\""],
        HexdumpFlag::OneByteChar => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 16/1 \"%3_c \" \"\\n\""],
        HexdumpFlag::Canonical => &[
            b"\"%08.8_Ax\n\"",
            b"\"%08.8_ax  \" 8/1 \"%02x \" \"  \" 8/1 \"%02x \" \"  |\"",
            b"16/1 \"%_p\" \"|\\n\"",
        ],
        HexdumpFlag::TwoBytesDecimal => {
            &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \"  %05u \" \"\\n\""]
        }
        HexdumpFlag::TwoBytesOctal => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \" %06o \" \"\\n\""],
        HexdumpFlag::TwoBytesHex => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \"   %04x \" \"\\n\""],
        HexdumpFlag::OneByteHex => &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 16/1 \" %02x \" \"\\n\""],
        _ => &[],
    }
}

/// The formats that are used if no option selects others.
const PLAIN: &[&[u8]] = &[b"\"%07.7_Ax\n\"", b"\"%07.7_ax \" 8/2 \"%04x \" \"\\n\""];

struct HexdumpPlan {
    formats: Vec<HexdumpFormat>,
    length: u64,
    skip: u64,
    verbose: bool,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let (data, exit) = read(ctx, &plan)?;
    let dump = HexdumpDump {
        data: &data,
        start: usize::try_from(plan.skip).unwrap_or(usize::MAX).min(data.len()),
        formats: &plan.formats,
        // A block has the size of the longest format; shorter formats repeat their last unit.
        block: plan.formats.iter().map(|f| f.size).max().unwrap_or(0),
        verbose: plan.verbose,
    };
    dump.write(&mut ctx.stdout).map_err(|_| Exit::FAILURE)?;
    Ok(exit)
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<HexdumpPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let texts = format_texts(ctx, &p)?;
    let formats = texts.iter().map(|text| format::parse(text)).collect::<Result<Vec<_>, _>>();
    let formats = formats.map_err(|message| {
        ctx.error(message);
        Exit::FAILURE
    })?;
    let mut amount = |flag: HexdumpFlag, what: &[u8]| match p.last_value(flag) {
        Some(text) => parse_offset(text).map(Some).map_err(|e| {
            let why: &[u8] = match e {
                BlockSizeError::Invalid | BlockSizeError::Suffix => b": Invalid argument",
                BlockSizeError::Overflow => b": Numerical result out of range",
            };
            input::report_failure(ctx, &[what, &quote::quote_in_sentence(text), why])
        }),
        None => Ok(None),
    };
    Ok(HexdumpPlan {
        formats,
        length: amount(HexdumpFlag::Length, b"failed to parse length: ")?.unwrap_or(u64::MAX),
        skip: amount(HexdumpFlag::Skip, b"failed to parse offset: ")?.unwrap_or(0),
        verbose: p.has_option(HexdumpFlag::NoSqueezing),
        files: input::or_stdin(p.operands),
    })
}

/// Parses a number of bytes; offsets in files have a sign.
fn parse_offset(text: &[u8]) -> Result<u64, BlockSizeError> {
    parse_block_size(text)
        .and_then(|n| i64::try_from(n).map(|_| n).map_err(|_| BlockSizeError::Overflow))
}

/// Returns the requested formats, in the syntax of `-e`.
fn format_texts(ctx: &mut Ctx<'_>, p: &ParsedOptions<HexdumpFlag>) -> Result<Vec<Vec<u8>>, Exit> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for (flag, value) in &p.options {
        match flag {
            HexdumpFlag::Format => texts.extend(value.clone()),
            HexdumpFlag::FormatFile => {
                let name = value.as_deref().unwrap_or_default();
                let text =
                    std::fs::read(ctx.path(name)).map_err(|e| input::file_error(ctx, name, &e))?;
                let is_format = |l: &&[u8]| !l.trim_ascii().is_empty() && !l.starts_with(b"#");
                let lines = text.split(|c| *c == b'\n').filter(is_format);
                texts.extend(lines.map(<[u8]>::to_vec));
            }
            HexdumpFlag::Color
            | HexdumpFlag::Length
            | HexdumpFlag::NoSqueezing
            | HexdumpFlag::Skip => {}
            letter => texts.extend(letter_formats(*letter).iter().map(|f| f.to_vec())),
        }
    }
    if ctx.name == "hd" {
        let canonical = letter_formats(HexdumpFlag::Canonical).iter().map(|f| f.to_vec());
        texts.splice(..0, canonical);
    } else if texts.is_empty() {
        texts.extend(PLAIN.iter().map(|f| f.to_vec()));
    }
    Ok(texts)
}

/// Reads the data to dump, with all files concatenated; returns it with the status so far.
fn read(ctx: &mut Ctx<'_>, plan: &HexdumpPlan) -> Result<(Vec<u8>, Exit), Exit> {
    let mut exit = Exit::SUCCESS;
    let mut data = Vec::new();
    let mut opened = 0;
    let most = plan.length.saturating_add(plan.skip);
    for file in &plan.files {
        let left = most.saturating_sub(data.len() as u64);
        let read = input::open_operand(&mut ctx.stdin, &ctx.cwd, file)
            .and_then(|r| r.take(left).read_to_end(&mut data));
        match read {
            Ok(_) => opened += 1,
            Err(e) => exit = input::file_error(ctx, file, &e),
        }
    }
    if opened == 0 {
        return Err(input::report_failure(ctx, &[b"all input file arguments failed"]));
    }
    Ok((data, exit))
}

struct HexdumpDump<'a> {
    data: &'a [u8],
    start: usize,
    formats: &'a [HexdumpFormat],
    /// The number of bytes in a line.
    block: usize,
    verbose: bool,
}

impl HexdumpDump<'_> {
    fn write(&self, out: &mut box_applet::OutStream) -> Result<(), CopyStop> {
        let block = self.block;
        if block == 0 {
            // Formats that only consist of text take no data, so only the end is printed.
            return self.print_end(out);
        }
        let mut previous: Option<&[u8]> = None;
        let mut starred = false;
        let mut at = self.start;
        while at < self.data.len() {
            let chunk = &self.data[at..(at + block).min(self.data.len())];
            if !self.verbose && chunk.len() == block && previous == Some(chunk) {
                if !starred {
                    write_output(out, b"*\n")?;
                    starred = true;
                }
                at += block;
                continue;
            }
            starred = false;
            previous = Some(chunk);
            let mut line = Vec::new();
            for f in self.formats {
                self.format_line(f, at, chunk, &mut line);
            }
            write_output(out, &line)?;
            at += block;
        }
        self.print_end(out)
    }

    /// Prints the final offset (`%_A`) once, after all data.
    fn print_end(&self, out: &mut box_applet::OutStream) -> Result<(), CopyStop> {
        if self.data.is_empty() {
            return Ok(());
        }
        // If there are several, the last one counts.
        let units = self.formats.iter().flat_map(|f| &f.units);
        let Some(unit) = units.rev().find(|unit| is_end_address(unit)) else { return Ok(()) };
        let mut line = Vec::new();
        for part in &unit.parts {
            match part {
                HexdumpPart::Convert { what: ConversionKind::EndAddress(radix), spec, .. } => {
                    put_address(&mut line, spec, *radix, self.data.len());
                }
                HexdumpPart::Text(text) => line.extend_from_slice(text),
                HexdumpPart::Convert { .. } => {}
            }
        }
        write_output(out, &line)
    }

    fn format_line(&self, f: &HexdumpFormat, start: usize, chunk: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        let last_data_unit = f.units.iter().rposition(|u| u.size() > 0);
        for (i, unit) in f.units.iter().enumerate().filter(|(_, unit)| !is_end_address(unit)) {
            let mut times = unit.repeat;
            // The last unit fills the block, unless it has a count of its own.
            if Some(i) == last_data_unit && !unit.counted && unit.size() > 0 && self.block > at {
                let after: usize = f.units[i + 1..].iter().map(|u| u.size() * u.repeat).sum();
                times = (self.block - at).saturating_sub(after) / unit.size();
            }
            for n in 0..times {
                let last = n + 1 == times;
                for (k, part) in unit.parts.iter().enumerate() {
                    let trailing = last && times > 1 && k + 1 == unit.parts.len();
                    match part {
                        HexdumpPart::Text(t) => {
                            // White space after the last of several repetitions is left out.
                            let t: &[u8] =
                                if trailing && unit.size() > 0 { t.trim_ascii_end() } else { t };
                            out.extend_from_slice(t);
                        }
                        HexdumpPart::Convert { what, spec, size } => {
                            if *size == 0 {
                                if let ConversionKind::Address(radix) = what {
                                    put_address(out, spec, *radix, start + at)
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
                                if !matches!(what, ConversionKind::Printable) {
                                    out.resize(
                                        out.len() + spec.width.max(width_of(what, spec)),
                                        b' ',
                                    );
                                }
                                continue;
                            }
                            bytes.resize(*size, 0);
                            convert_bytes(out, what, spec, &bytes);
                        }
                    }
                }
            }
        }
    }
}

/// Returns the number of columns of a conversion, to fill them where data is missing.
fn width_of(what: &ConversionKind, spec: &printf::ConversionSpec) -> usize {
    match what {
        ConversionKind::Printable | ConversionKind::Char => 1,
        _ => spec.precision.unwrap_or(0),
    }
}

/// Returns whether a unit prints only the offset after all data (`%_A`).
fn is_end_address(unit: &HexdumpUnit) -> bool {
    let is_end = |part: &HexdumpPart| {
        matches!(part, HexdumpPart::Convert { what: ConversionKind::EndAddress(_), .. })
    };
    unit.parts.iter().any(is_end)
}

fn put_address(out: &mut Vec<u8>, spec: &printf::ConversionSpec, radix: u8, value: usize) {
    printf::put_unsigned(out, spec, if radix == b'd' { b'u' } else { radix }, value as u64);
}

fn convert_bytes(
    out: &mut Vec<u8>,
    what: &ConversionKind,
    spec: &printf::ConversionSpec,
    bytes: &[u8],
) {
    let value = bytes.iter().rev().take(8).fold(0u64, |v, b| v << 8 | u64::from(*b));
    let bits = bytes.len().min(8) * 8;
    match what {
        ConversionKind::Signed => {
            let shift = 64 - bits as u32;
            printf::put_signed(out, spec, ((value << shift) as i64) >> shift);
        }
        ConversionKind::Unsigned(c) => printf::put_unsigned(out, spec, *c, value),
        ConversionKind::Float(c) => {
            let v = match bytes.len() {
                4 => f64::from(f32::from_bits(value as u32)),
                _ => f64::from_bits(value),
            };
            printf::put_float(out, spec, *c, v);
        }
        ConversionKind::Byte => printf::put_character(out, spec, &bytes[..1]),
        ConversionKind::Text => {
            let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            printf::put_string(out, spec, &bytes[..end]);
        }
        ConversionKind::Printable => {
            let c = if (0x20..0x7f).contains(&bytes[0]) { bytes[0] } else { b'.' };
            printf::put_string(out, spec, &[c]);
        }
        ConversionKind::Char => {
            printf::put_string(out, spec, od::character_text(bytes[0]).as_bytes())
        }
        ConversionKind::Named => {
            let text = match bytes[0] {
                b'\n' => "lf".to_string(),
                b if b < 0x80 => od::control_name(b),
                b => format!("{b:02x}"),
            };
            printf::put_string(out, spec, text.as_bytes());
        }
        ConversionKind::Address(_) | ConversionKind::EndAddress(_) => {}
    }
}
