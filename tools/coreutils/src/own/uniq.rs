//! `uniq` (POSIX XCU uniq; GNU `-c -d -D -u -i -f -s -w -z --group`): reports or drops repeated
//! lines.

use std::fs::File;
use std::io::{BufWriter, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input::{self, CopyStop, write_output};
use crate::common::number::{self, CountError};
use crate::common::quote;

/// An option of `uniq`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UniqFlag {
    AllRepeated,
    CheckChars,
    Count,
    Group,
    IgnoreCase,
    PlainAllRepeated,
    Repeated,
    SkipChars,
    SkipFields,
    Unique,
    ZeroTerminated,
}

const SPEC: Spec<UniqFlag> = Spec::new(
    "[OPTION]... [INPUT [OUTPUT]]",
    "Print a run of equal lines once. Equal lines elsewhere are not seen: sort first.",
    &[
        Opt::new(UniqFlag::Count, 'c', "count").with_help("Put the number of equal lines first"),
        Opt::new(UniqFlag::Repeated, 'd', "repeated")
            .with_help("Print only lines that occur several times, once each"),
        Opt::new(UniqFlag::PlainAllRepeated, 'D', "")
            .with_help("Print all of the lines that occur several times"),
        Opt::long(UniqFlag::AllRepeated, "all-repeated").may_take(
            "METHOD",
            "Like -D, with an empty line between groups: none (default), prepend, separate",
        ),
        Opt::new(UniqFlag::SkipFields, 'f', "skip-fields")
            .with_argument("N", "Skip N fields at the start"),
        Opt::long(UniqFlag::Group, "group").may_take(
            "METHOD",
            "Print all lines, with an empty line between groups: separate (default), prepend, \
        append, both",
        ),
        Opt::new(UniqFlag::IgnoreCase, 'i', "ignore-case")
            .with_help("Take upper and lower case as equal"),
        Opt::new(UniqFlag::SkipChars, 's', "skip-chars")
            .with_argument("N", "Skip N characters, after the fields"),
        Opt::new(UniqFlag::Unique, 'u', "unique").with_help("Print only lines that occur once"),
        Opt::new(UniqFlag::ZeroTerminated, 'z', "zero-terminated").with_help(words::NUL_LINES),
        Opt::new(UniqFlag::CheckChars, 'w', "check-chars")
            .with_argument("N", "Compare at most N characters"),
    ],
)
.with_examples(&[
    ("sort FILE | uniq -c", "Count equal lines"),
    ("sort FILE | uniq -d", "Lines that occur more than once"),
]);

#[derive(Clone, Copy, PartialEq)]
enum GroupSeparation {
    None,
    Prepend,
    Append,
    Between,
    Both,
}

struct UniqOptions {
    count: bool,
    /// Whether groups of one line are printed.
    unique: bool,
    /// Whether groups of several lines are printed.
    repeated: bool,
    /// The empty lines around groups if all lines of a group are printed, otherwise `None`.
    all: Option<GroupSeparation>,
    ignore_case: bool,
    skip_fields: u64,
    skip_chars: u64,
    check_chars: u64,
    delimiter: u8,
}

/// Converts the obsolete `-5` and `+5` to `-f 5` and `-s 5`.
fn modern_options(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut ended = false;
    let mut fields: Option<usize> = None;
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut args = args.iter();
    while let Some(a) = args.next() {
        if !ended && SPEC.takes_next(a) {
            out.push(a.clone());
            out.extend(args.next().cloned());
            continue;
        }
        let digits = |t: &[u8]| !t.is_empty() && t.iter().all(u8::is_ascii_digit);
        match a.as_slice() {
            b"--" => ended = true,
            [b'-', rest @ ..] if !ended && digits(rest) => {
                // The digits of separate arguments form one number: `-1 -2` is `-f 12`.
                match fields.and_then(|i| out.get_mut(i)) {
                    Some(f) => f.extend_from_slice(rest),
                    None => {
                        fields = Some(out.len());
                        out.push([b"-f", rest].concat());
                    }
                }
                continue;
            }
            [b'-', first, rest @ ..] if !ended && first.is_ascii_digit() => {
                let n = rest.iter().take_while(|c| c.is_ascii_digit()).count();
                out.push([b"-f", &a[1..2 + n]].concat());
                out.push([b"-", &rest[n..]].concat());
                continue;
            }
            [b'+', rest @ ..] if !ended && digits(rest) => {
                out.push([b"-s", rest].concat());
                continue;
            }
            _ => {}
        }
        out.push(a.clone());
    }
    out
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, &modern_options(args), Exit::FAILURE)?;
    let o = parse_options(ctx, &p)?;
    if let Some(extra) = p.operands.get(2) {
        return Err(input::extra_operand(ctx, extra));
    }
    let stdin = b"-".to_vec();
    let name = p.operands.first().unwrap_or(&stdin);
    let mut reader = match input::open_operand(&mut ctx.stdin, &ctx.cwd, name) {
        Ok(r) => r,
        Err(e) => {
            return Err(input::file_error(ctx, name, &e));
        }
    };
    let target = p.operands.get(1).filter(|t| *t != b"-");
    let result = match target {
        None => filter_lines(&mut reader, &mut ctx.stdout, &o),
        Some(t) => match File::create(box_sys::path::resolve_path(&ctx.cwd, t)) {
            Ok(f) => {
                let mut out = BufWriter::new(f);
                filter_lines(&mut reader, &mut out, &o)
                    .and_then(|()| out.flush().map_err(|_| CopyStop::Write))
            }
            Err(e) => {
                drop(reader);
                return Err(input::file_error(ctx, t, &e));
            }
        },
    };
    Ok(match result {
        Ok(()) => Exit::SUCCESS,
        Err(CopyStop::Read(e)) => {
            let shown = quote::quote_in_sentence(name);
            ctx.error_bytes(&[
                b"error reading ",
                &shown,
                b": ",
                box_sys::error_text(&e).as_bytes(),
            ]);
            Exit::FAILURE
        }
        Err(CopyStop::Write) => {
            if target.is_some() {
                ctx.error("write error");
            }
            Exit::FAILURE
        }
    })
}

/// The way all lines of a group are shown (`-D`, `--all-repeated`, `--group`).
#[derive(Default)]
struct Groups {
    all: Option<GroupSeparation>,
    group: Option<GroupSeparation>,
}

impl Groups {
    fn from_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<UniqFlag>) -> Result<Groups, Exit> {
        const ALL: [(&str, GroupSeparation); 3] = [
            ("none", GroupSeparation::None),
            ("prepend", GroupSeparation::Prepend),
            ("separate", GroupSeparation::Between),
        ];
        const GROUP: [(&str, GroupSeparation); 4] = [
            ("separate", GroupSeparation::Between),
            ("prepend", GroupSeparation::Prepend),
            ("append", GroupSeparation::Append),
            ("both", GroupSeparation::Both),
        ];
        let mut groups = Groups::default();
        for (flag, value) in &p.options {
            let mut word = |words: &[(&str, GroupSeparation)], option: &[u8], default| {
                let Some(v) = value else { return Ok(default) };
                let fits = |name: &str| !v.is_empty() && name.as_bytes().starts_with(v);
                let found = words.iter().find(|(name, _)| fits(name));
                found.map(|(_, meaning)| *meaning).ok_or_else(|| {
                    let shown = quote::quote_in_sentence(v);
                    input::usage_error(
                        ctx,
                        &[b"invalid argument ", &shown, b" for '", option, b"'"],
                    )
                })
            };
            match flag {
                UniqFlag::PlainAllRepeated => groups.all = Some(GroupSeparation::None),
                UniqFlag::AllRepeated => {
                    groups.all = Some(word(&ALL, b"--all-repeated", GroupSeparation::None)?);
                }
                UniqFlag::Group => {
                    groups.group = Some(word(&GROUP, b"--group", GroupSeparation::Between)?)
                }
                _ => {}
            }
        }
        Ok(groups)
    }
}

fn parse_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<UniqFlag>) -> Result<UniqOptions, Exit> {
    let Groups { all, group } = Groups::from_options(ctx, p)?;
    let others = [UniqFlag::Count, UniqFlag::Repeated, UniqFlag::Unique];
    if group.is_some() && (all.is_some() || others.iter().any(|flag| p.has_option(*flag))) {
        let text = b"--group is mutually exclusive with -c/-d/-D/-u";
        return Err(input::usage_error(ctx, &[text]));
    }
    if all.is_some() && p.has_option(UniqFlag::Count) {
        let text = b"printing all duplicated lines and repeat counts is meaningless";
        return Err(input::usage_error(ctx, &[text]));
    }
    let mut count = |flag: UniqFlag, what: &str, default: u64| match p.last_value(flag) {
        None => Ok(default),
        // A number that is too large has the same effect as the largest one.
        Some(text) => number::count(text)
            .or_else(|e| match e {
                CountError::Overflow => Ok(u64::MAX),
                e => Err(e),
            })
            .map_err(|_| {
                let shown = quote::quote_with_colon(text);
                input::report_failure(ctx, &[&shown, b": invalid ", what.as_bytes()])
            }),
    };
    let skip_fields = count(UniqFlag::SkipFields, "number of fields to skip", 0)?;
    let skip_chars = count(UniqFlag::SkipChars, "number of bytes to skip", 0)?;
    let check_chars = count(UniqFlag::CheckChars, "number of bytes to compare", u64::MAX)?;
    let repeated = p.has_option(UniqFlag::Repeated) || all.is_some();
    Ok(UniqOptions {
        count: p.has_option(UniqFlag::Count),
        unique: !repeated || group.is_some(),
        repeated: !p.has_option(UniqFlag::Unique) || group.is_some(),
        all: all.or(group),
        ignore_case: p.has_option(UniqFlag::IgnoreCase),
        skip_fields,
        skip_chars,
        check_chars,
        delimiter: if p.has_option(UniqFlag::ZeroTerminated) { 0 } else { b'\n' },
    })
}

impl UniqOptions {
    /// Returns the part of a line that is compared.
    fn line_key<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let mut at = 0;
        let blank = |c: &u8| matches!(c, b' ' | b'\t' | b'\n');
        for _ in 0..self.skip_fields {
            if at >= line.len() {
                break;
            }
            at += line[at..].iter().take_while(|c| blank(c)).count();
            at += line[at..].iter().take_while(|c| !blank(c)).count();
        }
        let chars = usize::try_from(self.skip_chars).unwrap_or(usize::MAX);
        let rest = &line[at.saturating_add(chars).min(line.len())..];
        &rest[..usize::try_from(self.check_chars).unwrap_or(usize::MAX).min(rest.len())]
    }

    fn is_same_key(&self, a: &[u8], b: &[u8]) -> bool {
        let (a, b) = (self.line_key(a), self.line_key(b));
        if self.ignore_case { a.eq_ignore_ascii_case(b) } else { a == b }
    }
}

fn filter_lines(
    reader: &mut input::InputFile<'_>,
    out: &mut impl Write,
    o: &UniqOptions,
) -> Result<(), CopyStop> {
    if let Some(separate) = o.all {
        return print_groups(reader, out, o, separate);
    }
    let mut previous: Vec<u8> = Vec::new();
    let mut count = 0u64;
    input::for_each_line(reader, o.delimiter, |line, _| {
        if count > 0 && o.is_same_key(&previous, line) {
            count += 1;
            return Ok(true);
        }
        group_end(out, &previous, count, o)?;
        previous.clear();
        previous.extend_from_slice(line);
        count = 1;
        Ok(true)
    })?;
    group_end(out, &previous, count, o)
}

fn group_end(
    out: &mut impl Write,
    line: &[u8],
    count: u64,
    o: &UniqOptions,
) -> Result<(), CopyStop> {
    if count == 0 || !(if count == 1 { o.unique } else { o.repeated }) {
        return Ok(());
    }
    if o.count {
        write_output(out, format!("{count:7} ").as_bytes())?;
    }
    write_output(out, line)?;
    write_output(out, &[o.delimiter])
}

/// Prints all lines, with empty lines around the groups (`-D` and `--group`).
fn print_groups(
    reader: &mut input::InputFile<'_>,
    out: &mut impl Write,
    o: &UniqOptions,
    separate: GroupSeparation,
) -> Result<(), CopyStop> {
    let mut previous: Vec<u8> = Vec::new();
    let mut count = 0u64;
    let mut printed = false;
    let gap = [o.delimiter];
    // The first line of a group is held until it is clear whether the group is shown.
    input::for_each_line(reader, o.delimiter, |line, _| {
        let same = count > 0 && o.is_same_key(&previous, line);
        if !same {
            if count == 1 && o.unique && o.repeated {
                begin_group(out, separate, &mut printed, &previous, &gap)?;
            }
            previous.clear();
            previous.extend_from_slice(line);
            count = 1;
            return Ok(true);
        }
        count += 1;
        if count == 2 && o.repeated {
            begin_group(out, separate, &mut printed, &previous, &gap)?;
        }
        if o.repeated {
            write_output(out, line)?;
            write_output(out, &gap)?;
        }
        // Lines with equal keys may differ. Each is shown as it is, and the next line is compared
        // with it.
        previous.clear();
        previous.extend_from_slice(line);
        Ok(true)
    })?;
    if count == 1 && o.unique && o.repeated {
        begin_group(out, separate, &mut printed, &previous, &gap)?;
    }
    if printed && matches!(separate, GroupSeparation::Append | GroupSeparation::Both) {
        write_output(out, &gap)?;
    }
    Ok(())
}

/// Writes the first line of a group, after an empty line if the kind of separation asks for one.
fn begin_group(
    out: &mut impl Write,
    separate: GroupSeparation,
    printed: &mut bool,
    line: &[u8],
    gap: &[u8],
) -> Result<(), CopyStop> {
    let before = match separate {
        GroupSeparation::None => false,
        GroupSeparation::Prepend | GroupSeparation::Both => true,
        GroupSeparation::Append | GroupSeparation::Between => *printed,
    };
    *printed = true;
    write_output(out, if before { gap } else { &[] })?;
    write_output(out, line)?;
    write_output(out, gap)
}
