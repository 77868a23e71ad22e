//! `od` (POSIX XCU od; GNU `-a -f -i -l -s -S -w --endian --traditional`).
//!
//! | file | contents |
//! |---|---|
//! | `types` | types of `-t`, and the form of one number |
//! | `lines` | conversion of bytes to lines |

mod lines;
mod types;
pub(in crate::own) use types::{character_text, control_name};

use std::io::BufRead;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream};
use box_text::number::parse_integer;

use crate::common::input::{self, CopyStop, write_output};
use crate::common::{number, quote};
use lines::{OdAddress, OdDump, Radix};
use types::Type;

/// An option of `od`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OdFlag {
    AddressRadix,
    Endian,
    /// A letter that selects these types.
    Format(&'static str),
    Type,
    OutputDuplicates,
    ReadBytes,
    SkipBytes,
    Strings,
    Traditional,
    Width,
}

/// The maximum number of bytes of a line.
const MAX_WIDTH: usize = 1 << 24;

const SPEC: Spec<OdFlag> = Spec::new(
    "[OPTION]... [FILE]...\n[-abcdfilosx]... [FILE] [[+]OFFSET[.][b]]\n--traditional \
        [OPTION]... [FILE] [[+]OFFSET[.][b] [+][LABEL][.][b]]",
    "Print the bytes of FILEs as numbers, octal ones unless told otherwise.",
    &[
        Opt::new(OdFlag::AddressRadix, 'A', "address-radix")
            .with_argument("RADIX", "Show offsets in d(ecimal), o(ctal), x (hexadecimal) or n(ot)"),
        Opt::long(OdFlag::Endian, "endian")
            .with_argument("ORDER", "Order of the bytes of a number: big or little"),
        Opt::new(OdFlag::SkipBytes, 'j', "skip-bytes")
            .with_argument("BYTES", "Start after BYTES bytes"),
        Opt::new(OdFlag::ReadBytes, 'N', "read-bytes")
            .with_argument("BYTES", "Stop after BYTES bytes"),
        Opt::new(OdFlag::Strings, 'S', "")
            .with_argument("BYTES", "Print texts of at least BYTES printable characters"),
        Opt::long(OdFlag::Strings, "strings").may_take("BYTES", "Like -S; BYTES is 3 by default"),
        Opt::new(OdFlag::Type, 't', "format")
            .with_argument("TYPE", "Print by TYPE; may be given several times"),
        Opt::new(OdFlag::OutputDuplicates, 'v', "output-duplicates")
            .with_help("Print lines that repeat, not *"),
        Opt::new(OdFlag::Width, 'w', "width").may_take(
            "BYTES",
            "Print BYTES bytes in each line: 32 if BYTES is missing, 16 without this option",
        ),
        Opt::long(OdFlag::Traditional, "traditional")
            .with_help("Take offset and label as operands"),
        Opt::new(OdFlag::Format("a"), 'a', "").with_help("Named characters: -t a"),
        Opt::new(OdFlag::Format("o1"), 'b', "").with_help("Single bytes in octal: -t o1"),
        Opt::new(OdFlag::Format("c"), 'c', "").with_help("Characters and escapes: -t c"),
        Opt::new(OdFlag::Format("u2"), 'd', "")
            .with_help("Two bytes together in decimal, unsigned: -t u2"),
        Opt::new(OdFlag::Format("fF"), 'f', "").with_help("Floating-point numbers: -t fF"),
        Opt::new(OdFlag::Format("dI"), 'i', "").with_help("Integers (int): -t dI"),
        Opt::new(OdFlag::Format("dL"), 'l', "").with_help("Long integers: -t dL"),
        Opt::new(OdFlag::Format("o2"), 'o', "").with_help("Two bytes together in octal: -t o2"),
        Opt::new(OdFlag::Format("d2"), 's', "").with_help("Two bytes together in decimal: -t d2"),
        Opt::new(OdFlag::Format("x2"), 'x', "")
            .with_help("Two bytes together in hexadecimal: -t x2"),
        Opt::new(OdFlag::Format("o2"), 'B', ""),
        Opt::new(OdFlag::Format("u4"), 'D', ""),
        Opt::new(OdFlag::Format("fD"), 'e', ""),
        Opt::new(OdFlag::Format("fD"), 'F', ""),
        Opt::new(OdFlag::Format("x2"), 'h', ""),
        Opt::new(OdFlag::Format("x4"), 'H', ""),
        Opt::new(OdFlag::Format("dL"), 'I', ""),
        Opt::new(OdFlag::Format("dL"), 'L', ""),
        Opt::new(OdFlag::Format("o4"), 'O', ""),
        Opt::new(OdFlag::Format("x4"), 'X', ""),
    ],
)
.with_examples(&[
    ("od -An -tx1 FILE", "Only the bytes, in hexadecimal"),
    ("od -c FILE", "Characters and escapes"),
])
.with_footer(
    "TYPE is one or more of a (named character, without its high bit), c (character or \
        escape), d (signed decimal), f (floating point), o (octal), u (unsigned decimal) \
        and x (hexadecimal). A size may follow: a number of bytes, or C, S, I, L for char, \
        short, int, long, and F, D, L for float, double, long double. A z after it adds the \
        printable characters.",
)
.reads_standard_input();

struct OdPlan {
    types: Vec<Type>,
    address: OdAddress,
    big_endian: bool,
    abbreviate: bool,
    skip: u64,
    limit: Option<u64>,
    /// The minimum length of a string (`-S`).
    strings: Option<usize>,
    width: usize,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).and_then(|plan| dump_files(ctx, &plan))
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<OdPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let (operands, offset, label) = parse_operands(ctx, &p)?;
    let mut refuse = |text: Vec<u8>| input::report_failure(ctx, &[&text]);
    let radix = match p.last_value(OdFlag::AddressRadix).map(|word| word.first()) {
        None | Some(Some(b'o')) => Radix::Octal,
        Some(Some(b'd')) => Radix::Decimal,
        Some(Some(b'x')) => Radix::Hexadecimal,
        Some(Some(b'n')) => Radix::None,
        Some(letter) => {
            let start = &b"invalid output address radix '"[..];
            let end = b"'; it must be one character from [doxn]";
            let shown = letter.map_or(&[][..], std::slice::from_ref);
            return Err(refuse([start, shown, end].concat()));
        }
    };
    let types = parse_formats(&p).map_err(&mut refuse)?;
    let mut amount = |flag: OdFlag, name: &str| match p.last_value(flag) {
        Some(text) => parse_amount(text, name).map(Some).map_err(&mut refuse),
        None => Ok(None),
    };
    let skip = amount(OdFlag::SkipBytes, "-j")?;
    let limit = amount(OdFlag::ReadBytes, "-N")?;
    let strings = match amount(OdFlag::Strings, "-S")? {
        None => p.has_option(OdFlag::Strings).then_some(3),
        given => given,
    };
    if strings.is_some()
        && p.options.iter().any(|(f, _)| matches!(f, OdFlag::Format(_) | OdFlag::Type))
    {
        return Err(refuse(b"no type may be specified when dumping strings".to_vec()));
    }
    let wanted = match p.last_value(OdFlag::Width) {
        None => p.has_option(OdFlag::Width).then_some(32),
        // This number is decimal and has no unit.
        Some(text) => Some(number::count(text).map_err(|e| refuse(e.message("-w", text)))?),
    };
    let unit = types.iter().map(|t| t.size).max().unwrap_or(1);
    let wanted = wanted.unwrap_or(16);
    let fits = wanted > 0 && wanted.is_multiple_of(unit as u64);
    // A line is kept in memory while it is shown.
    let width = usize::try_from(wanted).unwrap_or(usize::MAX);
    if fits && width > MAX_WIDTH {
        return Err(refuse(b"memory exhausted".to_vec()));
    }
    if !fits {
        ctx.error(format_args!("warning: invalid width {wanted}; using {unit} instead"));
    }
    Ok(OdPlan {
        types,
        address: OdAddress { radix, label },
        big_endian: parse_endian(ctx, &p)?,
        abbreviate: !p.has_option(OdFlag::OutputDuplicates),
        skip: offset.or(skip).unwrap_or(0),
        limit,
        strings: strings.map(|n| usize::try_from(n).unwrap_or(usize::MAX)),
        width: if fits { width } else { unit },
        files: input::or_stdin(operands),
    })
}

/// Returns the requested types, in their order.
fn parse_formats(p: &ParsedOptions<OdFlag>) -> Result<Vec<Type>, Vec<u8>> {
    let mut all = Vec::new();
    for (flag, value) in &p.options {
        match flag {
            OdFlag::Format(text) => all.extend(types::parse(text.as_bytes())?),
            OdFlag::Type => all.extend(types::parse(value.as_deref().unwrap_or_default())?),
            _ => {}
        }
    }
    if all.is_empty() { types::parse(b"o2") } else { Ok(all) }
}

fn parse_endian(ctx: &mut Ctx<'_>, p: &ParsedOptions<OdFlag>) -> Result<bool, Exit> {
    match p.last_value(OdFlag::Endian) {
        None => Ok(false),
        Some(word) if !word.is_empty() && b"little".starts_with(word) => Ok(false),
        Some(word) if !word.is_empty() && b"big".starts_with(word) => Ok(true),
        Some(word) => {
            let shown = quote::quote_in_sentence(word);
            let valid = b" for '--endian'\nValid arguments are:\n  - 'little'\n  - 'big'";
            Err(input::usage_error(ctx, &[b"invalid argument ", &shown, valid]))
        }
    }
}

/// Parses the number in an option's argument: decimal, octal or hexadecimal, with a unit (for example `0x10`
/// or `2k`). The error is a message.
fn parse_amount(text: &[u8], option: &str) -> Result<u64, Vec<u8>> {
    let option = option.as_bytes();
    match number::any_base(text) {
        Ok(n) => Ok(n),
        Err(number::NumberError::Overflow) => {
            Err([option, b" argument ", &quote::quote_in_sentence(text), b" too large"].concat())
        }
        Err(number::NumberError::Invalid) => {
            let what: &[u8] = match text.first() {
                Some(c) if c.is_ascii_digit() => b"invalid suffix in ",
                _ => b"invalid ",
            };
            Err([what, option, b" argument ", &quote::quote_in_sentence(text)].concat())
        }
    }
}

/// The operands: the files, the offset and the label.
type Operands = (Vec<Vec<u8>>, Option<u64>, Option<u64>);

/// Interprets the operands. With options that POSIX added in 1992, all operands are files.
fn parse_operands(ctx: &mut Ctx<'_>, p: &ParsedOptions<OdFlag>) -> Result<Operands, Exit> {
    let traditional = p.has_option(OdFlag::Traditional);
    let modern = [
        OdFlag::AddressRadix,
        OdFlag::ReadBytes,
        OdFlag::SkipBytes,
        OdFlag::Strings,
        OdFlag::Type,
        OdFlag::Width,
    ];
    let files = p.operands.clone();
    if modern.iter().any(|flag| p.has_option(*flag)) && !traditional {
        return Ok((files, None, None));
    }
    let plus = |word: &[u8]| traditional || word.starts_with(b"+");
    let digit = |word: &[u8]| word.first().is_some_and(u8::is_ascii_digit);
    match files.as_slice() {
        [only] if plus(only) => {
            if let Some(skip) = old_offset(only) {
                return Ok((Vec::new(), Some(skip), None));
            }
        }
        [first, second] if plus(second) || digit(second) => {
            if let Some(number) = old_offset(second) {
                return Ok(match old_offset(first).filter(|_| traditional) {
                    Some(skip) => (Vec::new(), Some(skip), Some(number)),
                    None => (vec![first.clone()], Some(number), None),
                });
            }
        }
        [file, skip, label] if traditional => {
            if let (Some(skip), Some(label)) = (old_offset(skip), old_offset(label)) {
                return Ok((vec![file.clone()], Some(skip), Some(label)));
            }
        }
        _ => {}
    }
    if traditional && files.len() > 1 {
        ctx.error_bytes(&[b"extra operand ", &quote::quote_in_sentence(&files[1])]);
        return Err(input::usage_error(ctx, &[b"compatibility mode supports at most one file"]));
    }
    Ok((files, None, None))
}

/// Parses `[+]NUMBER[.][b|B]`: octal, decimal before a point, hexadecimal after `0x`; `b` means 512 bytes,
/// `B` 1024. For example, `+20.b` is 10240.
fn old_offset(word: &[u8]) -> Option<u64> {
    let word = word.strip_prefix(b"+").unwrap_or(word);
    let hexadecimal = word.starts_with(b"0x") || word.starts_with(b"0X");
    let base = if hexadecimal {
        16
    } else if word.contains(&b'.') {
        10
    } else {
        8
    };
    let n = parse_integer(word, base);
    let rest = word.get(n.len..)?;
    let unit = match rest.strip_prefix(b".").unwrap_or(rest) {
        b"" => 1,
        b"b" => 512,
        b"B" => 1024,
        _ => return None,
    };
    if n.len == 0 || n.negative { None } else { n.magnitude.checked_mul(unit) }
}

fn dump_files(ctx: &mut Ctx<'_>, plan: &OdPlan) -> Ended {
    let mut window =
        OdWindow { skip: plan.skip, left: plan.limit.unwrap_or(u64::MAX), opened: false };
    let mut exit = Exit::SUCCESS;
    let shown = match plan.strings {
        Some(least) => {
            let mut strings = Strings { least, plan, at: plan.skip, text: Vec::new() };
            window
                .for_each_part(ctx, &plan.files, &mut exit, |b, out| strings.feed_bytes(b, out))?;
            let whole = window.left > 0;
            if whole { Ok(()) } else { strings.end_string(&mut ctx.stdout) }
        }
        None => {
            let dump = OdDump::new(&plan.types, plan.width, plan.address, plan.skip);
            let mut dump = dump.with_order(plan.big_endian, plan.abbreviate);
            window.for_each_part(ctx, &plan.files, &mut exit, |b, out| dump.feed_bytes(b, out))?;
            if window.opened && window.skip == 0 { dump.finish(&mut ctx.stdout) } else { Ok(()) }
        }
    };
    shown.map_err(|_| Exit::FAILURE)?;
    if window.opened && window.skip > 0 {
        exit = input::report_failure(ctx, &[b"cannot skip past end of combined input"]);
    }
    Ok(exit)
}

/// The part of all files, taken together, that is dumped.
struct OdWindow {
    /// The number of bytes that are still to be skipped.
    skip: u64,
    /// The number of bytes that are still to be dumped.
    left: u64,
    /// Whether any file was opened.
    opened: bool,
}

impl OdWindow {
    /// Calls `f` with each part of the files that is to be dumped.
    fn for_each_part(
        &mut self,
        ctx: &mut Ctx<'_>,
        files: &[Vec<u8>],
        exit: &mut Exit,
        mut f: impl FnMut(&[u8], &mut OutStream) -> Result<(), CopyStop>,
    ) -> Result<(), Exit> {
        for file in files {
            if self.left == 0 && self.skip == 0 && self.opened {
                break;
            }
            let read = input::for_each_file(ctx, std::slice::from_ref(file), |reader, out| {
                self.opened = true;
                self.read_file(reader, |bytes| f(bytes, out))
            });
            if read != Exit::SUCCESS {
                *exit = read;
            }
        }
        Ok(())
    }

    fn read_file(
        &mut self,
        reader: &mut impl BufRead,
        mut f: impl FnMut(&[u8]) -> Result<(), CopyStop>,
    ) -> Result<(), CopyStop> {
        let part =
            |n: u64, bytes: &[u8]| usize::try_from(n).map_or(bytes.len(), |n| n.min(bytes.len()));
        if self.skip == 0 && self.left == 0 {
            return Ok(());
        }
        input::for_each_block(reader, |block| {
            let skipped = part(self.skip, block);
            self.skip -= skipped as u64;
            let rest = &block[skipped..];
            let wanted = part(self.left, rest);
            self.left -= wanted as u64;
            f(&rest[..wanted])?;
            Ok((skipped + wanted, self.skip > 0 || self.left > 0))
        })
    }
}

/// The strings of `-S`: runs of printable characters that end with a NUL.
struct Strings<'a> {
    least: usize,
    plan: &'a OdPlan,
    at: u64,
    text: Vec<u8>,
}

impl Strings<'_> {
    fn feed_bytes(&mut self, bytes: &[u8], out: &mut OutStream) -> Result<(), CopyStop> {
        for byte in bytes {
            match byte {
                0x20..0x7f => self.text.push(*byte),
                0 => self.end_string(out)?,
                _ => self.text.clear(),
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Prints the text before the current position if it is long enough.
    fn end_string(&mut self, out: &mut OutStream) -> Result<(), CopyStop> {
        if self.text.len() >= self.least {
            let mut line = Vec::new();
            let start = self.at - self.text.len() as u64;
            self.plan.address.write(start, self.plan.skip, &mut line);
            if !line.is_empty() {
                line.push(b' ');
            }
            write_output(out, &[&line, &*self.text, b"\n"].concat())?;
        }
        self.text.clear();
        Ok(())
    }
}
