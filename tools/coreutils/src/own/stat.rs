//! `stat` (GNU): prints the metadata of files and file systems.

use std::borrow::Cow;
use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{AccountNames, FileKind, Stat, meta};
use box_text::mode;
use box_text::printf;
use box_text::time::Zone;
use box_text::time::{civil, strftime};

use crate::common::{input, quote};

/// An option of `stat`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StatFlag {
    Cached,
    Dereference,
    FileSystem,
    Format,
    Printf,
    Terse,
}

const SPEC: Spec<StatFlag> = Spec::new(
    "[OPTION]... FILE...",
    "Print size, mode, owner and times of files, or the state of their file systems.",
    &[
        Opt::new(StatFlag::Dereference, 'L', "dereference").with_help("Follow symbolic links"),
        Opt::new(StatFlag::FileSystem, 'f', "file-system").with_help("Describe the file system"),
        Opt::long(StatFlag::Cached, "cached").with_argument("MODE", words::IGNORED),
        Opt::new(StatFlag::Format, 'c', "format")
            .with_argument("FORMAT", "Print by FORMAT, and a newline after each"),
        Opt::long(StatFlag::Printf, "printf")
            .with_argument("FORMAT", "Print by FORMAT with escapes such as \\n, and no newline"),
        Opt::new(StatFlag::Terse, 't', "terse").with_help("Print all in one line of numbers"),
    ],
)
.with_examples(&[("stat -c '%s %n' FILE", "Size and name"), ("stat -c %a FILE", "Mode in octal")])
.with_footer(
    "For files: %a octal mode, %A mode as letters, %b blocks, %B block size, %d %D \
        device, %f raw mode in hex, %F type, %g %G group, %h links, %i inode, %m mount \
        point, %n name, %N quoted name with target, %o I/O size, %s size, %t %T device \
        numbers, %u %U user, %w %W birth, %x %X access, %y %Y modification, %z %Z status \
        change (text, seconds).\n\nFor file systems (-f): %a %b %c %d %f %i %l %n %s %S %t \
        %T.",
);

const DEFAULT: &[u8] = b"  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i Links: %h\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n";
const DEFAULT_DEVICE: &[u8] = b"  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i Links: %-5h Device type: %Hr,%Lr\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n";
const TERSE: &[u8] = b"%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";
const FS_DEFAULT: &[u8] = b"  File: \"%n\"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\nBlocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n";
const FS_TERSE: &[u8] = b"%n %i %l %t %s %S %b %f %a %c %d\n";

/// The number of bytes per block and per transfer that we report.
const IO_BLOCK: u64 = 4096;

/// Returns the number of 512-byte blocks that a file takes. It is computed from the size, rounded
/// up to whole transfers, because WASI has no call for it.
pub(crate) fn block_count(s: &Stat) -> u64 {
    match s.kind {
        FileKind::File | FileKind::Dir => s.size.div_ceil(IO_BLOCK) * (IO_BLOCK / 512),
        _ => 0,
    }
}

/// Returns the type and mode of a file as text, for example `drwxr-xr-x`.
pub(crate) fn mode_string(s: &Stat) -> String {
    format!("{}{}", s.kind.letter(), mode::mode_letters(s.mode))
}

struct StatFile<'a> {
    name: &'a [u8],
    /// The name as `%N` prints it, for example `'link' -> 'target'`.
    quoted: Vec<u8>,
    stat: Stat,
    mount: Vec<u8>,
}

struct StatPlan {
    /// The format of `--format`.
    format: Option<Vec<u8>>,
    /// The format of `--printf`. Its escapes are resolved for each file, so a warning about one is
    /// repeated, too.
    printf: Option<Vec<u8>>,
    terse: bool,
    file_system: bool,
    follow: bool,
    quoting: quote::QuoteStyle,
    zone: Zone,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let names = AccountNames::load();
    let mut exit = Exit::SUCCESS;
    for name in &plan.files {
        let file = match examine_file(ctx, &plan, name) {
            Ok(file) => file,
            Err(failure) => {
                exit = failure;
                continue;
            }
        };
        let format = match &plan.printf {
            Some(text) => Cow::Owned(unescape_format(ctx, text)),
            None => Cow::Borrowed(plan.format_for(&file)),
        };
        let mut out = Vec::new();
        let shown = expand_format(&mut out, &format, &file, &plan, &names);
        if shown.is_ok() && plan.format.is_some() {
            out.push(b'\n');
        }
        if ctx.stdout.write_all(&out).is_err() {
            return Ok(Exit::FAILURE);
        }
        if let Err(directive) = &shown {
            let _ = ctx.stdout.flush();
            ctx.error_bytes(&[b"'", directive, b"': invalid directive"]);
            return Ok(Exit::FAILURE);
        }
    }
    Ok(exit)
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<StatPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let last = p.last_of(&[StatFlag::Format, StatFlag::Printf]);
    let given = |flag: StatFlag| p.last_value(flag).filter(|_| last == Some(flag));
    let file_system = p.has_option(StatFlag::FileSystem);
    Ok(StatPlan {
        format: given(StatFlag::Format).map(<[u8]>::to_vec),
        printf: given(StatFlag::Printf).map(<[u8]>::to_vec),
        terse: p.has_option(StatFlag::Terse),
        file_system,
        follow: p.has_option(StatFlag::Dereference) || file_system,
        quoting: quote_style(ctx),
        zone: ctx.zone(),
        files: p.operands,
    })
}

/// Collects the facts of a file.
fn examine_file<'f>(
    ctx: &mut Ctx<'_>,
    plan: &StatPlan,
    name: &'f [u8],
) -> Result<StatFile<'f>, Exit> {
    let path = ctx.path(name);
    let result = match name {
        b"-" => meta::stat(std::path::Path::new("/dev/stdin"), true),
        _ => meta::stat(&path, plan.follow),
    };
    let stat = result.map_err(|e| {
        let what = if plan.file_system {
            "cannot read file system information for"
        } else {
            "cannot statx"
        };
        input::report_cannot(ctx, what, name, &e)
    })?;
    // The default formats show names without quotes.
    let show = |name: &[u8]| {
        if plan.format.is_some() || plan.printf.is_some() {
            quote::quote_name(name, plan.quoting)
        } else {
            name.to_vec()
        }
    };
    let mut quoted = show(name);
    if stat.kind == FileKind::Symlink
        && let Ok(target) = std::fs::read_link(&path)
    {
        quoted.extend_from_slice(b" -> ");
        quoted.extend_from_slice(&show(box_sys::path::to_bytes(&target)));
    }
    Ok(StatFile { name, quoted, stat, mount: b"/".to_vec() })
}

impl StatPlan {
    fn format_for(&self, file: &StatFile<'_>) -> &[u8] {
        if let Some(format) = &self.format {
            return format;
        }
        match (self.file_system, self.terse) {
            (true, true) => FS_TERSE,
            (true, false) => FS_DEFAULT,
            (false, true) => TERSE,
            _ if matches!(file.stat.kind, FileKind::CharDevice | FileKind::BlockDevice) => {
                DEFAULT_DEVICE
            }
            _ => DEFAULT,
        }
    }
}

fn quote_style(ctx: &Ctx<'_>) -> quote::QuoteStyle {
    // `%N` uses QUOTING_STYLE as `ls` does. Its default style quotes every name.
    match ctx.env.get(b"QUOTING_STYLE").and_then(quote::QuoteStyle::parse) {
        Some(s) => s,
        None => quote::QuoteStyle::ShellEscapeAlways,
    }
}

/// Resolves the escapes of `--printf`. An unknown escape becomes its letter, and a warning is
/// printed.
fn unescape_format(ctx: &mut Ctx<'_>, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        at += 1;
        if c != b'\\' {
            out.push(c);
            continue;
        }
        let Some(&e) = text.get(at) else {
            ctx.error("warning: backslash at end of format");
            out.push(b'\\');
            break;
        };
        let digits = |from: usize, most: usize, radix: u32| {
            text[from..].iter().take(most).take_while(|d| char::from(**d).is_digit(radix)).count()
        };
        let number = |from: usize, n: usize, radix: u32| {
            text[from..from + n]
                .iter()
                .fold(0u32, |v, d| v * radix + char::from(*d).to_digit(radix).unwrap_or(0))
                as u8
        };
        match e {
            b'0'..=b'7' => {
                let n = digits(at, 3, 8);
                out.push(number(at, n, 8));
                at += n;
                continue;
            }
            b'x' if digits(at + 1, 2, 16) > 0 => {
                let n = digits(at + 1, 2, 16);
                out.push(number(at + 1, n, 16));
                at += 1 + n;
                continue;
            }
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' => out.push(0x1b),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(0x0b),
            b'"' | b'\\' => out.push(e),
            _ => {
                ctx.error_bytes(&[b"warning: unrecognized escape '\\", &[e], b"'"]);
                out.push(e);
            }
        }
        at += 1;
    }
    out
}

/// The maximum width and precision of a directive. Larger ones are refused, because they would take
/// that much memory.
const MAX_WIDTH: usize = 1 << 20;

/// A value of a directive.
enum StatValue {
    Text(Vec<u8>),
    Number(u64),
    /// A number that may have a plus sign.
    Signed(i64),
    Octal(u64),
    Hex(u64),
    /// Seconds and nanoseconds. A precision asks for a fraction.
    Time(i64, u32),
}

fn expand_format(
    out: &mut Vec<u8>,
    format: &[u8],
    f: &StatFile<'_>,
    plan: &StatPlan,
    names: &AccountNames,
) -> Result<(), Vec<u8>> {
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if rest.first() == Some(&b'%') {
            out.push(b'%');
            rest = &rest[1..];
            continue;
        }
        // A directive has flags, a width and a precision, then perhaps H or L, and then the letter.
        let n = rest.iter().take_while(|c| b"'-+ #0123456789.I".contains(c)).count();
        let mut end = n;
        let part = match rest.get(end) {
            Some(c @ (b'H' | b'L')) if rest.get(end + 1).is_some_and(|d| b"dr".contains(d)) => {
                end += 1;
                Some(*c)
            }
            _ => None,
        };
        let Some(&letter) = rest.get(end) else {
            if !rest.is_empty() {
                return Err([b"%", rest].concat());
            }
            out.push(b'%');
            return Ok(());
        };
        if letter == b'%' {
            return Err([b"%", &rest[..=end]].concat());
        }
        // `I` asks for the locale's own digits, but this locale has none.
        let mut flags: Vec<u8> = rest[..n].iter().copied().filter(|c| *c != b'I').collect();
        flags.push(b's');
        let Some(d) = printf::parse(&flags) else { break };
        if d.spec.width.max(d.spec.precision.unwrap_or(0)) > MAX_WIDTH {
            return Err([b"%", &rest[..=end]].concat());
        }
        let value = if plan.file_system {
            fs_value(letter, f)
        } else {
            directive_value(letter, part, f, &plan.zone, names)
        };
        match value {
            // A point without digits after it asks for all digits of a time's fraction.
            Some(StatValue::Time(seconds, nanos)) if flags.ends_with(b".s") => {
                let spec = printf::ConversionSpec { precision: Some(9), ..d.spec };
                put_value(out, &spec, StatValue::Time(seconds, nanos));
            }
            Some(v) => put_value(out, &d.spec, v),
            None => out.push(b'?'),
        }
        rest = &rest[end + 1..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

fn put_value(out: &mut Vec<u8>, spec: &printf::ConversionSpec, value: StatValue) {
    match value {
        StatValue::Text(t) => printf::put_string(out, spec, &t),
        StatValue::Number(n) => printf::put_unsigned(out, spec, b'u', n),
        StatValue::Signed(n) => printf::put_signed(out, spec, n),
        StatValue::Octal(n) => printf::put_unsigned(out, spec, b'o', n),
        StatValue::Hex(n) => printf::put_unsigned(out, spec, b'x', n),
        StatValue::Time(s, nanos) => match spec.precision {
            None | Some(0) => {
                let spec = printf::ConversionSpec { precision: None, ..*spec };
                printf::put_signed(out, &spec, s);
            }
            Some(p) => {
                let digits: String =
                    format!("{nanos:09}").chars().chain(std::iter::repeat('0')).take(p).collect();
                let text = format!("{s}.{digits}");
                printf::put_string(
                    out,
                    &printf::ConversionSpec { precision: None, ..*spec },
                    text.as_bytes(),
                );
            }
        },
    }
}

fn major_number(dev: u64) -> u64 {
    (dev >> 8) & 0xfff | (dev >> 32) & !0xfff
}

fn minor_number(dev: u64) -> u64 {
    dev & 0xff | (dev >> 12) & !0xff
}

fn time_text(t: u64, zone: &Zone) -> Vec<u8> {
    let (s, n) = civil::split_nanos(t);
    let mut out = Vec::new();
    strftime::format_date(&mut out, b"%Y-%m-%d %H:%M:%S.%N %z", &zone.to_civil(s, n));
    out
}

fn directive_value(
    letter: u8,
    part: Option<u8>,
    f: &StatFile<'_>,
    zone: &Zone,
    names: &AccountNames,
) -> Option<StatValue> {
    let s = &f.stat;
    let seconds = |t: u64| {
        let (s, n) = civil::split_nanos(t);
        StatValue::Time(s, n)
    };
    Some(match letter {
        b'a' => StatValue::Octal(u64::from(s.mode)),
        b'A' => StatValue::Text(mode_string(s).into_bytes()),
        b'b' => StatValue::Number(block_count(s)),
        b'B' => StatValue::Number(512),
        b'C' => StatValue::Text(b"?".to_vec()),
        b'd' => match part {
            Some(b'H') => StatValue::Number(major_number(s.dev)),
            Some(_) => StatValue::Number(minor_number(s.dev)),
            None => StatValue::Number(s.dev),
        },
        b'D' => StatValue::Hex(s.dev),
        b'f' => StatValue::Hex(u64::from(s.kind as u8) << 12 | u64::from(s.mode)),
        b'F' => StatValue::Text(s.kind_name().as_bytes().to_vec()),
        b'g' => StatValue::Number(u64::from(s.gid)),
        b'G' => StatValue::Text(names.group(s.gid).unwrap_or("UNKNOWN").as_bytes().to_vec()),
        b'h' => StatValue::Number(u64::from(s.nlink)),
        b'i' => StatValue::Number(s.ino),
        b'm' => StatValue::Text(f.mount.clone()),
        b'n' => StatValue::Text(f.name.to_vec()),
        b'N' => StatValue::Text(f.quoted.clone()),
        b'o' => StatValue::Number(IO_BLOCK),
        b'r' => StatValue::Number(0),
        b'R' | b't' | b'T' => StatValue::Hex(0),
        b's' => StatValue::Signed(i64::try_from(s.size).unwrap_or(i64::MAX)),
        b'u' => StatValue::Number(u64::from(s.uid)),
        b'U' => StatValue::Text(names.user(s.uid).unwrap_or("UNKNOWN").as_bytes().to_vec()),
        // WASI reports no birth time. GNU prints `-` and 0 for an unknown one.
        b'w' => StatValue::Text(b"-".to_vec()),
        b'W' => StatValue::Number(0),
        b'x' => StatValue::Text(time_text(s.atime, zone)),
        b'X' => seconds(s.atime),
        b'y' => StatValue::Text(time_text(s.mtime, zone)),
        b'Y' => seconds(s.mtime),
        b'z' => StatValue::Text(time_text(s.ctime, zone)),
        b'Z' => seconds(s.ctime),
        _ => return None,
    })
}

/// Returns a value of the file system. The session's tree has no fixed size, so the values are
/// those of its quota, as in `df`.
fn fs_value(letter: u8, f: &StatFile<'_>) -> Option<StatValue> {
    let space = super::df::disk_space();
    let blocks = |bytes: u64| StatValue::Number(bytes / IO_BLOCK);
    Some(match letter {
        b'a' | b'f' => blocks(space.available),
        b'b' => blocks(space.total),
        b'c' => StatValue::Number(space.inodes),
        b'd' => StatValue::Number(space.inodes_free),
        b'i' => StatValue::Hex(f.stat.dev),
        b'l' => StatValue::Number(255),
        b'n' => StatValue::Text(f.name.to_vec()),
        b's' | b'S' => StatValue::Number(IO_BLOCK),
        b't' => StatValue::Hex(0x0102_1994),
        b'T' => StatValue::Text(b"tmpfs".to_vec()),
        _ => return None,
    })
}
