//! `tr` (POSIX XCU tr; GNU `-c -C -d -s -t`). Bytes, not characters, as in GNU.

use std::io::BufRead;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use crate::common::input::{self, Stop, put};
use crate::common::quote;

const SPEC: Spec = Spec {
    usage: "[OPTION]... STRING1 [STRING2]",
    about: "Translate, squeeze, and/or delete characters from standard input,\nwriting to standard output.",
    options: &[
        Opt::flag('c', "complement", "use the complement of STRING1"),
        Opt::flag('C', "", "the same"),
        Opt::flag('d', "delete", "delete characters in STRING1, do not translate"),
        Opt::flag(
            's',
            "squeeze-repeats",
            "replace each sequence of a repeated character\nthat is listed in the last specified STRING,\nwith a single occurrence of that character",
        ),
        Opt::flag('t', "truncate-set1", "first truncate STRING1 to length of STRING2"),
    ],
    after: "STRINGs: \\NNN \\\\ \\a \\b \\f \\n \\r \\t \\v, CHAR1-CHAR2, [CHAR*], [CHAR*REPEAT],\n[:alnum:] [:alpha:] [:blank:] [:cntrl:] [:digit:] [:graph:] [:lower:]\n[:print:] [:punct:] [:space:] [:upper:] [:xdigit:], [=CHAR=]",
    posix_order: true,
};

/// A part of a set.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Bytes(Vec<u8>),
    Class(&'static str, Vec<u8>),
    /// `[=c=]`
    Equivalence(u8),
    /// `[c*n]`; `None`: as many as are needed.
    Repeat(u8, Option<usize>),
}

const CLASSES: [(&str, fn(u8) -> bool); 12] = [
    ("alnum", |c| c.is_ascii_alphanumeric()),
    ("alpha", |c| c.is_ascii_alphabetic()),
    ("blank", |c| c == b' ' || c == b'\t'),
    ("cntrl", |c| c.is_ascii_control()),
    ("digit", |c| c.is_ascii_digit()),
    ("graph", |c| c.is_ascii_graphic()),
    ("lower", |c| c.is_ascii_lowercase()),
    ("print", |c| c.is_ascii_graphic() || c == b' '),
    ("punct", |c| c.is_ascii_punctuation()),
    ("space", |c| matches!(c, b' ' | 9..=13)),
    ("upper", |c| c.is_ascii_uppercase()),
    ("xdigit", |c| c.is_ascii_hexdigit()),
];

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let complement = p.has('c') || p.has('C');
    let (delete, squeeze) = (p.has('d'), p.has('s'));
    let least = 1 + usize::from(delete == squeeze);
    let most = if delete && !squeeze { 1 } else { 2 };
    let ops = &p.operands;
    if ops.len() < least {
        if let Some(first) = ops.last() {
            ctx.error_bytes(&[b"missing operand after ", &quote::always(first)]);
            let why: &[u8] = if delete && squeeze {
                b"Two strings must be given when both deleting and squeezing repeats."
            } else {
                b"Two strings must be given when translating."
            };
            note(ctx, why);
        } else {
            ctx.error("missing operand");
        }
        input::usage_hint(ctx);
        return Exit::FAILURE;
    }
    if ops.len() > most {
        ctx.error_bytes(&[b"extra operand ", &quote::always(&ops[most])]);
        if ops.len() == 2 {
            note(ctx, b"Only one string may be given when deleting without squeezing repeats.");
        }
        input::usage_hint(ctx);
        return Exit::FAILURE;
    }
    let mut sets = Vec::new();
    for o in ops {
        match parse(ctx, o) {
            Ok(s) => sets.push(s),
            Err(m) => {
                ctx.error_bytes(&[&m]);
                return Exit::FAILURE;
            }
        }
    }
    let table = match Table::new(&sets, complement, delete, squeeze, p.has('t')) {
        Ok(t) => t,
        Err(m) => {
            ctx.error(m);
            return Exit::FAILURE;
        }
    };
    match table.run(ctx) {
        Ok(()) => Exit::SUCCESS,
        Err(Stop::Read(e)) => {
            ctx.error(format_args!("read error: {}", box_sys::strerror(&e)));
            Exit::FAILURE
        }
        Err(Stop::Write) => Exit::FAILURE,
    }
}

/// A further line of an error, without the name before it.
fn note(ctx: &mut Ctx<'_>, text: &[u8]) {
    let _ = std::io::Write::write_all(&mut ctx.stderr, &[text, b"\n"].concat());
}

/// One byte with escapes resolved: value, whether it was escaped, bytes used.
fn unescape(ctx: &mut Ctx<'_>, text: &[u8]) -> (u8, bool, usize) {
    let c = text[0];
    if c != b'\\' {
        return (c, false, 1);
    }
    let Some(&e) = text.get(1) else {
        ctx.error("warning: an unescaped backslash at end of string is not portable");
        return (b'\\', true, 1);
    };
    let plain = match e {
        b'\\' => b'\\',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'0'..=b'7' => {
            let (mut value, mut n) = (0u32, 0);
            while n < 3 {
                let Some(d) = text.get(1 + n).filter(|d| (b'0'..=b'7').contains(d)) else { break };
                let next = value * 8 + u32::from(d - b'0');
                // \400 and up: two digits and a plain third.
                if next > 255 {
                    break;
                }
                value = next;
                n += 1;
            }
            return (value as u8, true, 1 + n);
        }
        other => other,
    };
    (plain, true, 2)
}

fn parse(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<Vec<Part>, Vec<u8>> {
    // First the escapes: an escaped byte is never an operator.
    let mut bytes: Vec<(u8, bool)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (c, escaped, used) = unescape(ctx, &text[at..]);
        bytes.push((c, escaped));
        at += used;
    }
    let is = |i: usize, c: u8| bytes.get(i) == Some(&(c, false));
    let mut parts: Vec<Part> = Vec::new();
    let push = |parts: &mut Vec<Part>, c: u8| match parts.last_mut() {
        Some(Part::Bytes(b)) => b.push(c),
        _ => parts.push(Part::Bytes(vec![c])),
    };
    let mut i = 0;
    while i < bytes.len() {
        if is(i, b'[') {
            // [:class:] and [=c=]
            if is(i + 1, b':') || is(i + 1, b'=') {
                let kind = bytes[i + 1].0;
                let end = (i + 2..bytes.len()).find(|&j| {
                    is(j, kind) && is(j + 1, b']') && j > i + 2 - usize::from(kind == b':')
                });
                if let Some(end) = end.filter(|e| *e >= i + 2) {
                    let name: Vec<u8> = bytes[i + 2..end].iter().map(|b| b.0).collect();
                    if kind == b':' {
                        if let Some((n, f)) = CLASSES.iter().find(|(n, _)| n.as_bytes() == name) {
                            parts.push(Part::Class(n, (0..=255).filter(|c| f(*c)).collect()));
                            i = end + 2;
                            continue;
                        }
                        // `[:*` may be a repeat of a colon.
                        if repeat(&bytes, i).is_none() {
                            if name.is_empty() {
                                return Err(b"missing character class name '[::]'".to_vec());
                            }
                            return Err([
                                b"invalid character class ",
                                quote::always(&name).as_slice(),
                            ]
                            .concat());
                        }
                    } else if let [c] = name.as_slice() {
                        parts.push(Part::Equivalence(*c));
                        i = end + 2;
                        continue;
                    } else if repeat(&bytes, i).is_none() {
                        if name.is_empty() {
                            return Err(b"missing equivalence class character '[==]'".to_vec());
                        }
                        let m = b": equivalence class operand must be a single character";
                        return Err([&name, m.as_slice()].concat());
                    }
                }
            }
            match repeat(&bytes, i) {
                Some(Ok((c, n, next))) => {
                    parts.push(Part::Repeat(c, n));
                    i = next;
                    continue;
                }
                Some(Err(count)) => {
                    return Err([
                        b"invalid repeat count ",
                        quote::always(&count).as_slice(),
                        b" in [c*n] construct",
                    ]
                    .concat());
                }
                None => {}
            }
        }
        // a-z
        if is(i + 1, b'-') && i + 2 < bytes.len() {
            let (low, high) = (bytes[i].0, bytes[i + 2].0);
            if low > high {
                let show = |c: u8| {
                    if (0x20..0x7f).contains(&c) {
                        char::from(c).to_string()
                    } else {
                        format!("\\{c:03o}")
                    }
                };
                let m = format!(
                    "range-endpoints of '{}-{}' are in reverse collating sequence order",
                    show(low),
                    show(high)
                );
                return Err(m.into_bytes());
            }
            (low..=high).for_each(|c| push(&mut parts, c));
            i += 3;
            continue;
        }
        push(&mut parts, bytes[i].0);
        i += 1;
    }
    Ok(parts)
}

/// `[c*]`, `[c*n]` at a position: byte, count, where it ends. `Some(Err)`: a bad count.
#[allow(clippy::type_complexity)]
fn repeat(bytes: &[(u8, bool)], at: usize) -> Option<Result<(u8, Option<usize>, usize), Vec<u8>>> {
    let c = bytes.get(at + 1)?.0;
    if bytes.get(at + 2) != Some(&(b'*', false)) {
        return None;
    }
    let end = (at + 3..bytes.len()).find(|&j| bytes[j] == (b']', false))?;
    if bytes[at + 3..end].iter().any(|b| b.1) {
        return None;
    }
    let count: Vec<u8> = bytes[at + 3..end].iter().map(|b| b.0).collect();
    if count.is_empty() {
        return Some(Ok((c, None, end + 1)));
    }
    let text = std::str::from_utf8(&count).unwrap_or("x");
    let parsed = if text.starts_with('0') { usize::from_str_radix(text, 8) } else { text.parse() };
    Some(match parsed {
        Ok(n) => Ok((c, Some(n).filter(|n| *n > 0), end + 1)),
        Err(_) => Err(count),
    })
}

/// The length of a set without its open-ended repeat, and how many of those there are.
fn size(parts: &[Part]) -> (usize, usize) {
    let mut n = 0usize;
    let mut open = 0;
    for p in parts {
        match p {
            Part::Bytes(b) | Part::Class(_, b) => n += b.len(),
            Part::Equivalence(_) => n += 1,
            Part::Repeat(_, Some(k)) => n = n.saturating_add(*k),
            Part::Repeat(_, None) => open += 1,
        }
    }
    (n, open)
}

/// No translation needs more: a longer set cannot change the table of 256.
const LIMIT: usize = 1 << 16;

fn expand(parts: &[Part], fill: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for p in parts {
        match p {
            Part::Bytes(b) | Part::Class(_, b) => out.extend_from_slice(b),
            Part::Equivalence(c) => out.push(*c),
            Part::Repeat(c, n) => {
                let n = n.unwrap_or(fill).min(LIMIT);
                out.resize(out.len() + n, *c);
            }
        }
    }
    out
}

struct Table {
    map: [u8; 256],
    delete: [bool; 256],
    squeeze: [bool; 256],
    translates: bool,
    deletes: bool,
    squeezes: bool,
}

impl Table {
    fn new(
        sets: &[Vec<Part>],
        complement: bool,
        delete: bool,
        squeeze: bool,
        truncate: bool,
    ) -> Result<Table, &'static str> {
        let first = sets.first().map(Vec::as_slice).unwrap_or_default();
        let second = sets.get(1).map(Vec::as_slice);
        if size(first).1 > 0 {
            return Err("the [c*] repeat construct may not appear in string1");
        }
        let mut one = expand(first, 0);
        if complement {
            let mut has = [false; 256];
            one.iter().for_each(|c| has[usize::from(*c)] = true);
            one = (0..=255u8).filter(|c| !has[usize::from(*c)]).collect();
        }
        let mut t = Table {
            map: std::array::from_fn(|i| i as u8),
            delete: [false; 256],
            squeeze: [false; 256],
            translates: false,
            deletes: delete,
            squeezes: squeeze,
        };
        if delete {
            one.iter().for_each(|c| t.delete[usize::from(*c)] = true);
        }
        let Some(second) = second else {
            if squeeze {
                one.iter().for_each(|c| t.squeeze[usize::from(*c)] = true);
            }
            return Ok(t);
        };
        let (len, open) = size(second);
        if open > 1 {
            return Err("only one [c*] repeat construct may appear in string2");
        }
        let translate = !delete;
        let has_eq = second.iter().any(|p| matches!(p, Part::Equivalence(_)));
        if translate {
            if has_eq {
                return Err("[=c=] expressions may not appear in string2 when translating");
            }
            let bad = |p: &Part| matches!(p, Part::Class(n, _) if *n != "upper" && *n != "lower");
            if second.iter().any(bad) {
                return Err(
                    "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'",
                );
            }
        } else if open > 0 {
            return Err("the [c*] construct may appear in string2 only when translating");
        }
        let two = expand(second, one.len().saturating_sub(len));
        if translate {
            t.translates = true;
            if complement && second.iter().any(|p| matches!(p, Part::Class(..))) && {
                // All of the complement must go to one character.
                let mut d = two.clone();
                d.truncate(one.len());
                d.dedup();
                d.len() > 1
            } {
                return Err(
                    "when translating with complemented character classes,\nstring2 must map all characters in the domain to one",
                );
            }
            if two.is_empty() && !one.is_empty() && !truncate {
                return Err("when not truncating set1, string2 must be non-empty");
            }
            check_case(first, second, complement)?;
            t.fill(first, second, &one, &two, complement, truncate);
        }
        if squeeze {
            two.iter().for_each(|c| t.squeeze[usize::from(*c)] = true);
        }
        Ok(t)
    }

    fn fill(
        &mut self,
        first: &[Part],
        second: &[Part],
        one: &[u8],
        two: &[u8],
        complement: bool,
        truncate: bool,
    ) {
        let mut two = two.to_vec();
        if !truncate {
            // A class at the end of a shorter set 2 cannot be extended; GNU refuses that case.
            if let Some(last) = two.last().copied() {
                two.resize(two.len().max(one.len()), last);
            }
        }
        for (a, b) in one.iter().zip(&two) {
            self.map[usize::from(*a)] = *b;
        }
        // Case classes at the same place translate letter by letter in the order of the
        // alphabet, which the expansion above gives already in the C locale.
        let _ = (first, second, complement);
    }

    fn run(&self, ctx: &mut Ctx<'_>) -> Result<(), Stop> {
        let mut last: Option<u8> = None;
        let mut buf: Vec<u8> = Vec::new();
        loop {
            let block = match ctx.stdin.fill_buf() {
                Ok(b) => b,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Stop::Read(e)),
            };
            if block.is_empty() {
                return Ok(());
            }
            buf.clear();
            if self.deletes || self.squeezes {
                buf.reserve(block.len());
                for &b in block {
                    if self.deletes && self.delete[usize::from(b)] {
                        continue;
                    }
                    let c = self.map[usize::from(b)];
                    if self.squeezes && last == Some(c) && self.squeeze[usize::from(c)] {
                        continue;
                    }
                    last = Some(c);
                    buf.push(c);
                }
            } else if self.translates {
                buf.extend(block.iter().map(|b| self.map[usize::from(*b)]));
            } else {
                buf.extend_from_slice(block);
            }
            let n = block.len();
            ctx.stdin.consume(n);
            put(&mut ctx.stdout, &buf)?;
        }
    }
}

/// `[:upper:]` or `[:lower:]` in set 2 needs a case class at the same place in set 1.
fn check_case(first: &[Part], second: &[Part], complement: bool) -> Result<(), &'static str> {
    if complement {
        return Ok(());
    }
    let case = |p: &Part| matches!(p, Part::Class("upper" | "lower", _));
    let position = |parts: &[Part]| -> Vec<usize> {
        let mut at = 0usize;
        let mut out = Vec::new();
        for p in parts {
            if case(p) {
                out.push(at);
            }
            at = at.saturating_add(match p {
                Part::Bytes(b) | Part::Class(_, b) => b.len(),
                Part::Equivalence(_) => 1,
                Part::Repeat(_, n) => n.unwrap_or(0),
            });
        }
        out
    };
    let open = size(second).1 > 0;
    let (a, b) = (position(first), position(second));
    if !open && b.iter().any(|at| !a.contains(at)) {
        return Err("misaligned [:upper:] and/or [:lower:] construct");
    }
    let (one, two) = (size(first).0, size(second).0);
    if !open && two < one && second.last().is_some_and(case) && b.last() != a.last() {
        return Err(
            "when translating with string1 longer than string2,\nthe latter string must not end with a character class",
        );
    }
    Ok(())
}
