//! `cut` (POSIX XCU cut; GNU `--complement --output-delimiter -s -z`). As in GNU, `-c` counts
//! bytes.

use std::io::BufRead;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream};

use crate::common::input::{self, CopyStop, write_output};
use crate::common::{number, quote};

/// An option of `cut`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CutFlag {
    Bytes,
    Characters,
    Complement,
    Delimiter,
    Fields,
    Ignored,
    OnlyDelimited,
    OutputDelimiter,
    ZeroTerminated,
}

const SPEC: Spec<CutFlag> = Spec::new(
    "OPTION... [FILE]...",
    "Print parts of each line: bytes, characters or fields.",
    &[
        Opt::new(CutFlag::Bytes, 'b', "bytes")
            .with_argument("LIST", "Take the bytes of these numbers"),
        Opt::new(CutFlag::Characters, 'c', "characters")
            .with_argument("LIST", "Take the characters of these numbers"),
        Opt::new(CutFlag::Delimiter, 'd', "delimiter")
            .with_argument("DELIM", "Split fields at DELIM instead of tabs"),
        Opt::new(CutFlag::Fields, 'f', "fields").with_argument(
            "LIST",
            "Take the fields of these numbers; a line without DELIM is printed whole",
        ),
        Opt::new(CutFlag::Ignored, 'n', "").with_help(words::IGNORED),
        Opt::long(CutFlag::Complement, "complement").with_help("Take everything else instead"),
        Opt::new(CutFlag::OnlyDelimited, 's', "only-delimited")
            .with_help("With -f: leave out lines without DELIM"),
        Opt::long(CutFlag::OutputDelimiter, "output-delimiter")
            .with_argument("STRING", "Join the parts with STRING (default: DELIM)"),
        Opt::new(CutFlag::ZeroTerminated, 'z', "zero-terminated").with_help(words::NUL_LINES),
    ],
)
.with_examples(&[
    ("cut -d, -f1,3 FILE", "First and third field of a CSV file"),
    ("cut -c1-10 FILE", "First ten characters of each line"),
    ("cut -d: -f2- FILE", "All but the first field"),
])
.with_footer(
    "LIST counts from 1: N, N-M, N- (to the end), -M (from the start), joined by commas. \
        Parts keep their order in the line.",
)
.reads_standard_input();

/// A range of positions from 1, both ends included.
type Range = (usize, usize);

struct CutPlan {
    /// The ranges, sorted and disjoint.
    ranges: Vec<Range>,
    fields: bool,
    delimiter: u8,
    output: Option<Vec<u8>>,
    only_delimited: bool,
    end: u8,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let plan = match parse_plan(&p) {
        Ok(plan) => plan,
        Err(message) => return Ok(input::usage_error(ctx, &[&message])),
    };
    Ok(input::for_each_file(ctx, &input::or_stdin(p.operands), |reader, out| {
        if plan.fields { cut_fields(reader, &plan, out) } else { cut_bytes(reader, &plan, out) }
    }))
}

fn parse_plan(p: &ParsedOptions<CutFlag>) -> Result<CutPlan, Vec<u8>> {
    let is_list =
        |flag: &CutFlag| matches!(flag, CutFlag::Bytes | CutFlag::Characters | CutFlag::Fields);
    let mut lists = p.options.iter().filter(|(flag, _)| is_list(flag));
    let (fields, list) = match (lists.next(), lists.next()) {
        (None, _) => {
            return Err(b"you must specify a list of bytes, characters, or fields".to_vec());
        }
        (Some((flag, list)), None) => {
            (*flag == CutFlag::Fields, list.as_deref().unwrap_or_default())
        }
        (Some(_), Some(_)) => return Err(b"only one list may be specified".to_vec()),
    };
    let delimiter = match p.last_value(CutFlag::Delimiter) {
        None => b'\t',
        Some(_) if !fields => {
            return Err(
                b"an input delimiter may be specified only when operating on fields".to_vec()
            );
        }
        Some([]) => 0,
        Some([one]) => *one,
        Some(_) => return Err(b"the delimiter must be a single character".to_vec()),
    };
    if p.has_option(CutFlag::OnlyDelimited) && !fields {
        return Err(
            b"suppressing non-delimited lines makes sense\n\tonly when operating on fields"
                .to_vec(),
        );
    }
    let mut ranges = parse_list(list, fields)?;
    if p.has_option(CutFlag::Complement) {
        ranges = complement_ranges(&ranges);
    }
    Ok(CutPlan {
        ranges,
        fields,
        delimiter,
        output: p.last_value(CutFlag::OutputDelimiter).map(<[u8]>::to_vec),
        only_delimited: p.has_option(CutFlag::OnlyDelimited),
        end: if p.has_option(CutFlag::ZeroTerminated) { 0 } else { b'\n' },
    })
}

fn parse_list(list: &[u8], fields: bool) -> Result<Vec<Range>, Vec<u8>> {
    let zero = || {
        if fields {
            b"fields are numbered from 1".to_vec()
        } else {
            b"byte/character positions are numbered from 1".to_vec()
        }
    };
    // Parses the number between two positions of the list. A message shows the list from its first
    // wrong character on.
    let number = |from: usize, to: usize| -> Result<usize, Vec<u8>> {
        let text = &list[from..to];
        let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
        let value = number::count(&text[..digits]).ok().and_then(|n| usize::try_from(n).ok());
        if digits > 0 && value.is_none_or(|n| n == usize::MAX) {
            let what: &[u8] = if fields { b"field number " } else { b"byte/character offset " };
            let shown = quote::quote_in_sentence(&text[..digits]);
            return Err([what, &shown, b" is too large"].concat());
        }
        if digits < text.len() {
            let what: &[u8] =
                if fields { b"invalid field value " } else { b"invalid byte/character position " };
            return Err([what, &quote::quote_in_sentence(&list[from + digits..])].concat());
        }
        value.filter(|n| *n > 0).ok_or_else(zero)
    };
    let mut ranges: Vec<Range> = Vec::new();
    let mut next = 0;
    for part in list.split(|c| matches!(c, b',' | b' ' | b'\t')) {
        let (start, end) = (next, next + part.len());
        next = end + 1;
        if part.is_empty() {
            return Err(zero());
        }
        let range = match part.iter().position(|c| *c == b'-') {
            None => number(start, end).map(|n| (n, n))?,
            Some(at) => {
                let (from, to) = (&part[..at], &part[at + 1..]);
                if to.contains(&b'-') {
                    let mut message = b"invalid ".to_vec();
                    message.extend_from_slice(if fields {
                        b"field range"
                    } else {
                        b"byte or character range"
                    });
                    return Err(message);
                }
                if from.is_empty() && to.is_empty() {
                    return Err(b"invalid range with no endpoint: -".to_vec());
                }
                let low = if from.is_empty() { 1 } else { number(start, start + at)? };
                let high = if to.is_empty() { usize::MAX } else { number(start + at + 1, end)? };
                if high < low {
                    return Err(b"invalid decreasing range".to_vec());
                }
                (low, high)
            }
        };
        ranges.push(range);
    }
    ranges.sort_unstable();
    Ok(merge_ranges(ranges))
}

/// Joins overlapping ranges. Adjacent ones stay apart, because an output delimiter goes between
/// them.
fn merge_ranges(ranges: Vec<Range>) -> Vec<Range> {
    let mut out: Vec<Range> = Vec::new();
    for (low, high) in ranges {
        match out.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => out.push((low, high)),
        }
    }
    out
}

fn complement_ranges(ranges: &[Range]) -> Vec<Range> {
    let mut out = Vec::new();
    let mut next = 1;
    for (low, high) in ranges {
        if *low > next {
            out.push((next, low - 1));
        }
        next = high.saturating_add(1);
        if *high == usize::MAX {
            return out;
        }
    }
    out.push((next, usize::MAX));
    out
}

fn cut_bytes(
    reader: &mut impl BufRead,
    plan: &CutPlan,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    let between = plan.output.as_deref().unwrap_or_default();
    input::for_each_line(reader, plan.end, |line, _| {
        let mut first = true;
        for (low, high) in &plan.ranges {
            if *low > line.len() {
                break;
            }
            if !first {
                write_output(out, between)?;
            }
            first = false;
            write_output(out, &line[low - 1..(*high).min(line.len())])?;
        }
        write_output(out, &[plan.end])?;
        Ok(true)
    })
}

fn cut_fields(
    reader: &mut impl BufRead,
    plan: &CutPlan,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    if plan.delimiter == plan.end {
        return line_fields(reader, plan, out);
    }
    let default = [plan.delimiter];
    let between = plan.output.as_deref().unwrap_or(&default);
    // If the output delimiter is the input's, adjacent fields are copied in one piece.
    let whole_runs = between == default;
    input::for_each_line(reader, plan.end, |line, _| {
        let Some(mut field) = LineField::first(line, plan.delimiter) else {
            if !plan.only_delimited {
                write_output(out, line)?;
                write_output(out, &[plan.end])?;
            }
            return Ok(true);
        };
        let mut first = true;
        for (low, high) in &plan.ranges {
            if !field.reach(*low) {
                break;
            }
            loop {
                if !first {
                    write_output(out, between)?;
                }
                first = false;
                write_output(out, if whole_runs { field.run_to(*high) } else { field.text() })?;
                if field.is_last || field.number >= *high {
                    break;
                }
                field.advance();
            }
            if field.is_last {
                break;
            }
            field.advance();
        }
        write_output(out, &[plan.end])?;
        Ok(true)
    })
}

/// The current field while a line is traversed.
struct LineField<'l> {
    line: &'l [u8],
    delimiters: memchr::Memchr<'l>,
    /// The field's number, from 1.
    number: usize,
    start: usize,
    end: usize,
    is_last: bool,
}

impl<'l> LineField<'l> {
    /// Returns the first field of a line; `None` if the line has only one.
    #[inline]
    fn first(line: &'l [u8], delimiter: u8) -> Option<LineField<'l>> {
        let mut delimiters = memchr::memchr_iter(delimiter, line);
        let end = delimiters.next()?;
        Some(LineField { line, delimiters, number: 1, start: 0, end, is_last: false })
    }

    #[inline]
    fn advance(&mut self) {
        self.start = self.end + 1;
        self.number += 1;
        match self.delimiters.next() {
            Some(at) => self.end = at,
            None => (self.end, self.is_last) = (self.line.len(), true),
        }
    }

    /// Advances to a field; returns whether there is one.
    #[inline]
    fn reach(&mut self, number: usize) -> bool {
        while self.number < number {
            if self.is_last {
                return false;
            }
            self.advance();
        }
        true
    }

    #[inline]
    fn text(&self) -> &'l [u8] {
        &self.line[self.start..self.end]
    }

    /// Returns this field up to field `high`, with the delimiters between them.
    #[inline]
    fn run_to(&mut self, high: usize) -> &'l [u8] {
        let from = self.start;
        if high == usize::MAX {
            (self.end, self.is_last) = (self.line.len(), true);
        }
        while self.number < high && !self.is_last {
            self.advance();
        }
        &self.line[from..self.end]
    }
}

/// Cuts by `-d $'\n'`: the input is one line, and each of its lines is a field.
fn line_fields(
    reader: &mut impl BufRead,
    plan: &CutPlan,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    let default = [plan.delimiter];
    let between = plan.output.as_deref().unwrap_or(&default);
    let (mut field, mut first, mut any) = (0usize, true, false);
    let mut held: Vec<u8> = Vec::new();
    input::for_each_line(reader, plan.end, |line, _| {
        field += 1;
        if field == 1 {
            held = line.to_vec();
        }
        any = true;
        if plan.ranges.iter().any(|(low, high)| (*low..=*high).contains(&field)) {
            if !first {
                write_output(out, between)?;
            }
            first = false;
            write_output(out, line)?;
        }
        Ok(true)
    })?;
    if field == 1 && first && !plan.only_delimited {
        write_output(out, &held)?;
        first = false;
    }
    if any && !(first && plan.only_delimited) { write_output(out, &[plan.end]) } else { Ok(()) }
}
