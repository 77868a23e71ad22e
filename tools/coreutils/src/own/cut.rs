//! `cut` (POSIX XCU cut; GNU `--complement --output-delimiter -s -z`). As in GNU, `-c` counts bytes.

use std::io::BufRead;

use box_applet::opts::{Opt, Parsed, Spec};
use box_applet::{Ctx, Exit, Output};

use crate::common::input::{self, Stop, put};
use crate::common::quote;

const SPEC: Spec = Spec {
    usage: "OPTION... [FILE]...",
    about: "Print selected parts of lines from each FILE to standard output.\n\nWith no FILE, or when FILE is -, read standard input.",
    options: &[
        Opt::value('b', "bytes", "LIST", "select only these bytes"),
        Opt::value('c', "characters", "LIST", "select only these characters"),
        Opt::value('d', "delimiter", "DELIM", "use DELIM instead of TAB for field delimiter"),
        Opt::value(
            'f',
            "fields",
            "LIST",
            "select only these fields; also print any line\nthat contains no delimiter character, unless\nthe -s option is specified",
        ),
        Opt::flag('n', "", "(ignored)"),
        Opt::flag(
            '\u{1}',
            "complement",
            "complement the set of selected bytes, characters or fields",
        )
        .long_only(),
        Opt::flag('s', "only-delimited", "do not print lines not containing delimiters"),
        Opt::value(
            '\u{2}',
            "output-delimiter",
            "STRING",
            "use STRING as the output delimiter\nthe default is to use the input delimiter",
        )
        .long_only(),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    after: "Use one, and only one of -b, -c or -f.  Each LIST is made up of one\nrange, or many ranges separated by commas.  Selected input is written\nin the same order that it is read, and is written exactly once.\nEach range is one of:  N  N-  N-M  -M",
    posix_order: false,
};

/// A range of positions from 1, both ends included.
type Range = (usize, usize);

struct Plan {
    /// Sorted, disjoint.
    ranges: Vec<Range>,
    fields: bool,
    delimiter: u8,
    output: Option<Vec<u8>>,
    only_delimited: bool,
    end: u8,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let plan = match plan(&p) {
        Ok(p) => p,
        Err(message) => {
            input::usage_error(ctx, &[&message]);
            return Exit::FAILURE;
        }
    };
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    let mut exit = Exit::SUCCESS;
    for file in files {
        let result = match input::open(&mut ctx.stdin, &ctx.cwd, file) {
            Ok(mut r) if plan.fields => fields(&mut r, &plan, &mut ctx.stdout),
            Ok(mut r) => bytes(&mut r, &plan, &mut ctx.stdout),
            Err(e) => Err(Stop::Read(e)),
        };
        match result {
            Ok(()) => {}
            Err(Stop::Read(e)) => {
                input::file_error(ctx, file, &e);
                exit = Exit::FAILURE;
            }
            Err(Stop::Write) => return Exit::FAILURE,
        }
    }
    exit
}

fn plan(p: &Parsed) -> Result<Plan, Vec<u8>> {
    let lists: Vec<(char, &[u8])> = p
        .options
        .iter()
        .filter(|(id, _)| matches!(id, 'b' | 'c' | 'f'))
        .map(|(id, v)| (*id, v.as_deref().unwrap_or_default()))
        .collect();
    let (kind, list) = match lists.as_slice() {
        [] => return Err(b"you must specify a list of bytes, characters, or fields".to_vec()),
        [one] => *one,
        _ => return Err(b"only one list may be specified".to_vec()),
    };
    let fields = kind == 'f';
    let delimiter = match p.last('d') {
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
    if p.has('s') && !fields {
        return Err(
            b"suppressing non-delimited lines makes sense\n\tonly when operating on fields"
                .to_vec(),
        );
    }
    let mut ranges = parse_list(list, fields)?;
    if p.has('\u{1}') {
        ranges = complement(&ranges);
    }
    let output =
        p.last('\u{2}').map(|o| if o.is_empty() && fields { Vec::new() } else { o.to_vec() });
    Ok(Plan {
        ranges,
        fields,
        delimiter,
        output,
        only_delimited: p.has('s'),
        end: if p.has('z') { 0 } else { b'\n' },
    })
}

fn parse_list(list: &[u8], fields: bool) -> Result<Vec<Range>, Vec<u8>> {
    let unit: &[u8] = if fields { b"field" } else { b"byte/character position" };
    let zero = || {
        if fields {
            b"fields are numbered from 1".to_vec()
        } else {
            b"byte/character positions are numbered from 1".to_vec()
        }
    };
    let number = |text: &[u8]| -> Result<usize, Vec<u8>> {
        if !text.iter().all(u8::is_ascii_digit) {
            let what: &[u8] =
                if fields { b"invalid field value " } else { b"invalid byte/character position " };
            return Err([what, &quote::always(text)].concat());
        }
        let text_value = std::str::from_utf8(text).ok().and_then(|t| t.parse::<usize>().ok());
        match text_value.filter(|n| *n < usize::MAX) {
            Some(0) => Err(zero()),
            Some(n) => Ok(n),
            None => {
                let what: &[u8] = if fields { b"field number " } else { b"byte/character offset " };
                Err([what, &quote::always(text), b" is too large"].concat())
            }
        }
    };
    let mut ranges: Vec<Range> = Vec::new();
    for part in list.split(|c| matches!(c, b',' | b' ' | b'\t')) {
        if part.is_empty() {
            return Err(zero());
        }
        let range = match part.iter().position(|c| *c == b'-') {
            None => number(part).map(|n| (n, n))?,
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
                let low = if from.is_empty() { 1 } else { number(from)? };
                let high = if to.is_empty() { usize::MAX } else { number(to)? };
                if high < low {
                    return Err(b"invalid decreasing range".to_vec());
                }
                (low, high)
            }
        };
        ranges.push(range);
    }
    let _ = unit;
    ranges.sort_unstable();
    Ok(merge(ranges))
}

/// Overlapping ranges joined. Adjacent ones stay apart: an output delimiter goes between them.
fn merge(ranges: Vec<Range>) -> Vec<Range> {
    let mut out: Vec<Range> = Vec::new();
    for (low, high) in ranges {
        match out.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => out.push((low, high)),
        }
    }
    out
}

fn complement(ranges: &[Range]) -> Vec<Range> {
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

fn bytes(reader: &mut impl BufRead, plan: &Plan, out: &mut Output) -> Result<(), Stop> {
    let between = plan.output.as_deref().unwrap_or_default();
    input::for_each_line(reader, plan.end, |line, _| {
        let mut first = true;
        for (low, high) in &plan.ranges {
            if *low > line.len() {
                break;
            }
            if !first {
                put(out, between)?;
            }
            first = false;
            put(out, &line[low - 1..(*high).min(line.len())])?;
        }
        put(out, &[plan.end])?;
        Ok(true)
    })
}

fn fields(reader: &mut impl BufRead, plan: &Plan, out: &mut Output) -> Result<(), Stop> {
    if plan.delimiter == plan.end {
        return line_fields(reader, plan, out);
    }
    let default = [plan.delimiter];
    let between = plan.output.as_deref().unwrap_or(&default);
    // With the input's own delimiter, neighbouring fields are copied in one piece.
    let whole_runs = between == default;
    input::for_each_line(reader, plan.end, |line, _| {
        let mut delimiters = memchr::memchr_iter(plan.delimiter, line);
        let Some(mut end) = delimiters.next() else {
            if !plan.only_delimited {
                put(out, line)?;
                put(out, &[plan.end])?;
            }
            return Ok(true);
        };
        let (mut start, mut field, mut first, mut last) = (0, 1usize, true, false);
        'ranges: for (low, high) in &plan.ranges {
            while field < *low {
                if last {
                    break 'ranges;
                }
                start = end + 1;
                field += 1;
                match delimiters.next() {
                    Some(at) => end = at,
                    None => (end, last) = (line.len(), true),
                }
            }
            if whole_runs {
                let from = start;
                if *high == usize::MAX {
                    (end, last) = (line.len(), true);
                }
                while field < *high && !last {
                    field += 1;
                    match delimiters.next() {
                        Some(at) => end = at,
                        None => (end, last) = (line.len(), true),
                    }
                }
                if !first {
                    put(out, between)?;
                }
                first = false;
                put(out, &line[from..end])?;
            } else {
                loop {
                    if !first {
                        put(out, between)?;
                    }
                    first = false;
                    put(out, &line[start..end])?;
                    if last || field >= *high {
                        break;
                    }
                    start = end + 1;
                    field += 1;
                    match delimiters.next() {
                        Some(at) => end = at,
                        None => (end, last) = (line.len(), true),
                    }
                }
            }
            if last {
                break;
            }
            start = end + 1;
            field += 1;
            match delimiters.next() {
                Some(at) => end = at,
                None => (end, last) = (line.len(), true),
            }
        }
        put(out, &[plan.end])?;
        Ok(true)
    })
}

/// `-d $'\n'`: each line is a field of the whole input.
fn line_fields(reader: &mut impl BufRead, plan: &Plan, out: &mut Output) -> Result<(), Stop> {
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
                put(out, between)?;
            }
            first = false;
            put(out, line)?;
        }
        Ok(true)
    })?;
    if field == 1 && first && !plan.only_delimited {
        put(out, &held)?;
        first = false;
    }
    if any && !(first && plan.only_delimited) { put(out, &[plan.end]) } else { Ok(()) }
}
