//! `tr` (POSIX XCU tr; GNU `-c -C -d -s -t`). As in GNU, it works on bytes and not on characters.

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::escape::control_char;

use crate::common::input::{self, CopyStop, write_output};
use crate::common::quote;

/// An option of `tr`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrFlag {
    Complement,
    Delete,
    SqueezeRepeats,
    TruncateSet1,
}

const SPEC: Spec<TrFlag> = Spec::new(
    "[OPTION]... STRING1 [STRING2]",
    "Replace, squeeze or delete characters of standard input.",
    &[
        Opt::new(TrFlag::Complement, 'c', "complement")
            .with_help("Take all characters that are not in STRING1"),
        Opt::new(TrFlag::Complement, 'C', "").with_help(words::SAME),
        Opt::new(TrFlag::Delete, 'd', "delete").with_help("Delete the characters of STRING1"),
        Opt::new(TrFlag::SqueezeRepeats, 's', "squeeze-repeats")
            .with_help("Replace each run of a character in the last STRING by one"),
        Opt::new(TrFlag::TruncateSet1, 't', "truncate-set1")
            .with_help("Cut STRING1 to the length of STRING2"),
    ],
)
.with_examples(&[
    ("tr a-z A-Z < FILE", "To upper case"),
    ("tr -d '\\r' < FILE", "Remove carriage returns"),
    ("tr -s ' ' '\\n' < FILE", "One word in each line"),
])
.with_footer(
    "STRINGs: \\NNN \\\\ \\a \\b \\f \\n \\r \\t \\v, CHAR1-CHAR2, [CHAR*], \
        [CHAR*REPEAT],\n[:alnum:] [:alpha:] [:blank:] [:cntrl:] [:digit:] [:graph:] \
        [:lower:]\n[:print:] [:punct:] [:space:] [:upper:] [:xdigit:], [=CHAR=]",
)
.posix_order();

/// A part of a set, as it is written.
#[derive(Clone, Debug, PartialEq)]
enum TrPart {
    Bytes(Vec<u8>),
    Class(&'static str, Vec<u8>),
    /// `[=c=]`
    Equivalence(u8),
    /// `[c*n]`; without a number, the byte is repeated as often as necessary.
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

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let table = parse_table(ctx, args)?;
    Ok(match table.run(ctx) {
        Ok(()) => Exit::SUCCESS,
        Err(CopyStop::Read(e)) => {
            ctx.error(format_args!("read error: {}", box_sys::error_text(&e)));
            Exit::FAILURE
        }
        Err(CopyStop::Write) => Exit::FAILURE,
    })
}

fn parse_table(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TrTable, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let what = TrPlan {
        complement: p.has_option(TrFlag::Complement),
        delete: p.has_option(TrFlag::Delete),
        squeeze: p.has_option(TrFlag::SqueezeRepeats),
        truncate: p.has_option(TrFlag::TruncateSet1),
    };
    check_operands(ctx, &p.operands, &what)?;
    let mut sets = Vec::new();
    for o in &p.operands {
        sets.push(ByteSet::parse(ctx, o).map_err(|m| input::report_failure(ctx, &[&m]))?);
    }
    TrTable::new(&sets, &what).map_err(|m| input::report_failure(ctx, &[m.as_bytes()]))
}

/// The operation to do.
struct TrPlan {
    complement: bool,
    delete: bool,
    squeeze: bool,
    truncate: bool,
}

/// Checks the number of operands.
fn check_operands(ctx: &mut Ctx<'_>, ops: &[Vec<u8>], what: &TrPlan) -> Result<(), Exit> {
    let least = 1 + usize::from(what.delete == what.squeeze);
    let most = if what.delete && !what.squeeze { 1 } else { 2 };
    if ops.len() < least {
        if let Some(first) = ops.last() {
            ctx.error_bytes(&[b"missing operand after ", &quote::quote_in_sentence(first)]);
            let why: &[u8] = if what.delete && what.squeeze {
                b"Two strings must be given when both deleting and squeezing repeats."
            } else {
                b"Two strings must be given when translating."
            };
            print_note(ctx, why);
        } else {
            ctx.error("missing operand");
        }
        return Err(input::usage_hint(ctx));
    }
    if ops.len() > most {
        ctx.error_bytes(&[b"extra operand ", &quote::quote_in_sentence(&ops[most])]);
        if ops.len() == 2 {
            print_note(
                ctx,
                b"Only one string may be given when deleting without squeezing repeats.",
            );
        }
        return Err(input::usage_hint(ctx));
    }
    Ok(())
}

/// Prints a further line of an error message, without the tool's name before it.
fn print_note(ctx: &mut Ctx<'_>, text: &[u8]) {
    let _ = std::io::Write::write_all(&mut ctx.stderr, &[text, b"\n"].concat());
}

/// Parses a byte or an escape at the start of a text; returns the byte's value, whether it was
/// escaped, and the number of bytes read.
fn unescape_byte(ctx: &mut Ctx<'_>, text: &[u8]) -> (u8, bool, usize) {
    let c = text[0];
    if c != b'\\' {
        return (c, false, 1);
    }
    let Some(&e) = text.get(1) else {
        ctx.error("warning: an unescaped backslash at end of string is not portable");
        return (b'\\', true, 1);
    };
    let plain = match e {
        b'0'..=b'7' => {
            let (mut value, mut n) = (0u32, 0);
            while n < 3 {
                let Some(d) = text.get(1 + n).filter(|d| (b'0'..=b'7').contains(d)) else { break };
                let next = value * 8 + u32::from(d - b'0');
                // From \400 on, the third digit is not part of the escape.
                if next > 255 {
                    break;
                }
                value = next;
                n += 1;
            }
            return (value as u8, true, 1 + n);
        }
        other => control_char(other).unwrap_or(other),
    };
    (plain, true, 2)
}

/// The bytes of a set, each with a flag that says whether it was escaped. An escaped byte is never
/// an operator.
struct ByteSet {
    bytes: Vec<(u8, bool)>,
}

impl ByteSet {
    fn parse(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<Vec<TrPart>, Vec<u8>> {
        let mut bytes: Vec<(u8, bool)> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let (c, escaped, used) = unescape_byte(ctx, &text[at..]);
            bytes.push((c, escaped));
            at += used;
        }
        ByteSet { bytes }.parse_parts()
    }

    /// Returns whether the operator `c` is at index `i`.
    fn is_operator(&self, i: usize, c: u8) -> bool {
        self.bytes.get(i) == Some(&(c, false))
    }

    fn parse_parts(&self) -> Result<Vec<TrPart>, Vec<u8>> {
        let mut parts: Vec<TrPart> = Vec::new();
        let push = |parts: &mut Vec<TrPart>, c: u8| match parts.last_mut() {
            Some(TrPart::Bytes(b)) => b.push(c),
            _ => parts.push(TrPart::Bytes(vec![c])),
        };
        let mut i = 0;
        while let Some(&(c, _)) = self.bytes.get(i) {
            if self.is_operator(i, b'[')
                && let Some((part, next)) = self.parse_bracket(i)?
            {
                parts.push(part);
                i = next;
            } else if let (true, Some(&(high, _))) =
                (self.is_operator(i + 1, b'-'), self.bytes.get(i + 2))
            {
                if c > high {
                    return Err(reversed_range_error(c, high));
                }
                (c..=high).for_each(|c| push(&mut parts, c));
                i += 3;
            } else {
                push(&mut parts, c);
                i += 1;
            }
        }
        Ok(parts)
    }

    /// Parses `[:class:]`, `[=c=]` or `[c*n]` at a bracket; returns the part with the index of its
    /// end, or `None` if the bracket has no special meaning.
    fn parse_bracket(&self, i: usize) -> Result<Option<(TrPart, usize)>, Vec<u8>> {
        for kind in [b':', b'='] {
            if !self.is_operator(i + 1, kind) {
                continue;
            }
            let least = i + 2 + usize::from(kind == b'=');
            let ends = |j: &usize| self.is_operator(*j, kind) && self.is_operator(j + 1, b']');
            let Some(end) = (least..self.bytes.len()).find(ends) else { continue };
            let name: Vec<u8> = self.bytes[i + 2..end].iter().map(|b| b.0).collect();
            let named = if kind == b':' { parse_class(&name) } else { parse_equivalence(&name) };
            match named {
                Ok(part) => return Ok(Some((part, end + 2))),
                // `[:*` may be a repeat of a colon.
                Err(message) if parse_repeat(&self.bytes, i).is_none() => return Err(message),
                Err(_) => {}
            }
        }
        match parse_repeat(&self.bytes, i) {
            Some(Ok((c, n, next))) => Ok(Some((TrPart::Repeat(c, n), next))),
            Some(Err(count)) => {
                let shown = quote::quote_in_sentence(&count);
                Err([b"invalid repeat count ", &*shown, b" in [c*n] construct"].concat())
            }
            None => Ok(None),
        }
    }
}

/// Returns the class with the name in `[:name:]`.
fn parse_class(name: &[u8]) -> Result<TrPart, Vec<u8>> {
    match CLASSES.iter().find(|(n, _)| n.as_bytes() == name) {
        Some((n, holds)) => Ok(TrPart::Class(n, (0..=255).filter(|c| holds(*c)).collect())),
        None if name.is_empty() => Err(b"missing character class name '[::]'".to_vec()),
        None => Err([b"invalid character class ", &*quote::quote_in_sentence(name)].concat()),
    }
}

/// Returns the equivalence class of the character in `[=c=]`.
fn parse_equivalence(name: &[u8]) -> Result<TrPart, Vec<u8>> {
    match name {
        [c] => Ok(TrPart::Equivalence(*c)),
        [] => Err(b"missing equivalence class character '[==]'".to_vec()),
        _ => Err([name, b": equivalence class operand must be a single character"].concat()),
    }
}

/// Returns GNU's message about a range in reverse order.
fn reversed_range_error(low: u8, high: u8) -> Vec<u8> {
    let show = |c: u8| match c {
        0x20..0x7f => char::from(c).to_string(),
        _ => format!("\\{c:03o}"),
    };
    let range = format!("{}-{}", show(low), show(high));
    format!("range-endpoints of '{range}' are in reverse collating sequence order").into_bytes()
}

/// Parses `[c*]` or `[c*n]` at an index; returns the byte, the count, and the index of the end.
/// Returns `None` if the text has no such form, and `Some(Err)` with the count if it is invalid.
#[allow(clippy::type_complexity)]
fn parse_repeat(
    bytes: &[(u8, bool)],
    at: usize,
) -> Option<Result<(u8, Option<usize>, usize), Vec<u8>>> {
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

/// Returns the length of a set without its open-ended repeats, and the number of those.
fn set_size(parts: &[TrPart]) -> (usize, usize) {
    let mut n = 0usize;
    let mut open = 0;
    for p in parts {
        match p {
            TrPart::Bytes(b) | TrPart::Class(_, b) => n += b.len(),
            TrPart::Equivalence(_) => n += 1,
            TrPart::Repeat(_, Some(k)) => n = n.saturating_add(*k),
            TrPart::Repeat(_, None) => open += 1,
        }
    }
    (n, open)
}

/// The maximum number of bytes that a repeat adds to a set. More bytes could not change a table of
/// 256 entries.
const LIMIT: usize = 1 << 16;

fn expand_set(parts: &[TrPart], fill: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for p in parts {
        match p {
            TrPart::Bytes(b) | TrPart::Class(_, b) => out.extend_from_slice(b),
            TrPart::Equivalence(c) => out.push(*c),
            TrPart::Repeat(c, n) => {
                let n = n.unwrap_or(fill).min(LIMIT);
                out.resize(out.len() + n, *c);
            }
        }
    }
    out
}

struct TrTable {
    map: [u8; 256],
    delete: [bool; 256],
    squeeze: [bool; 256],
    translates: bool,
    deletes: bool,
    squeezes: bool,
}

impl TrTable {
    fn new(sets: &[Vec<TrPart>], what: &TrPlan) -> Result<TrTable, &'static str> {
        let first = sets.first().map(Vec::as_slice).unwrap_or_default();
        if set_size(first).1 > 0 {
            return Err("the [c*] repeat construct may not appear in string1");
        }
        let mut one = expand_set(first, 0);
        if what.complement {
            let has = set_members(&one);
            one = (0..=255u8).filter(|c| !has[usize::from(*c)]).collect();
        }
        let mut table = TrTable {
            map: std::array::from_fn(|i| i as u8),
            delete: [false; 256],
            squeeze: [false; 256],
            translates: false,
            deletes: what.delete,
            squeezes: what.squeeze,
        };
        if what.delete {
            table.delete = set_members(&one);
        }
        let Some(second) = sets.get(1) else {
            if what.squeeze {
                table.squeeze = set_members(&one);
            }
            return Ok(table);
        };
        check_second(second, what)?;
        let two = expand_set(second, one.len().saturating_sub(set_size(second).0));
        if !what.delete {
            check_translation(first, second, what, (&one, &two))?;
            table.translates = true;
            table.map_sets(&one, &two, what.truncate);
        }
        if what.squeeze {
            table.squeeze = set_members(&two);
        }
        Ok(table)
    }

    /// Maps the bytes of one set to those of the other. Unless `truncate` is set, the last byte of
    /// `two` is repeated as often as necessary.
    fn map_sets(&mut self, one: &[u8], two: &[u8], truncate: bool) {
        let last = two.last().copied().filter(|_| !truncate);
        let more = last.into_iter().flat_map(std::iter::repeat);
        for (from, to) in one.iter().zip(two.iter().copied().chain(more)) {
            self.map[usize::from(*from)] = to;
        }
    }

    fn run(&self, ctx: &mut Ctx<'_>) -> Result<(), CopyStop> {
        let fates = self.byte_fates();
        let mut last: Option<u8> = None;
        let mut out: Vec<u8> = Vec::new();
        input::for_each_block(&mut ctx.stdin, |block| {
            out.clear();
            if self.deletes || self.squeezes {
                out.resize(block.len(), 0);
                let kept = select_bytes(&fates, block, &mut out, &mut last);
                out.truncate(kept);
            } else if self.translates {
                translate_block(&self.map, block, &mut out);
            } else {
                out.extend_from_slice(block);
            }
            write_output(&mut ctx.stdout, &out)?;
            Ok((block.len(), true))
        })
    }

    /// Returns the fate of each byte: the byte that replaces it, a bit that says whether runs of
    /// the replacement are squeezed ([`SQUEEZED`]), and a bit that says whether the byte is deleted
    /// ([`DELETED`]).
    fn byte_fates(&self) -> [u16; 256] {
        std::array::from_fn(|b| {
            let c = self.map[b];
            let squeezed = if self.squeeze[usize::from(c)] { SQUEEZED } else { 0 };
            let deleted = if self.deletes && self.delete[b] { DELETED } else { 0 };
            u16::from(c) | squeezed | deleted
        })
    }
}

/// The bits of a byte's fate.
const SQUEEZED: u16 = 1 << 8;
const DELETED: u16 = 1 << 9;

/// Appends the translation of a block to `out`. The table is an argument, because a field of a
/// struct that a closure borrows was loaded again for each byte, which took a tenth longer in Wasm.
fn translate_block(map: &[u8; 256], block: &[u8], out: &mut Vec<u8>) {
    out.extend(block.iter().map(|b| map[usize::from(*b)]));
}

/// Writes the bytes that are neither deleted nor squeezed to the beginning of `out`, which is as
/// long as the block; returns their number.
///
/// Every byte is written, and the next one overwrites it if it is not kept. With a branch for each
/// byte it took twice as long, because the branches are often mispredicted.
fn select_bytes(fates: &[u16; 256], block: &[u8], out: &mut [u8], last: &mut Option<u8>) -> usize {
    let mut kept = 0;
    // No byte equals this value, so the first byte never counts as repeated.
    let mut before = last.map_or(u16::MAX, u16::from);
    for &b in block {
        let fate = fates[usize::from(b)];
        let c = fate & 0xff;
        out[kept] = c as u8;
        let deleted = fate & DELETED != 0;
        let repeated = (c == before) & (fate & SQUEEZED != 0);
        before = if deleted { before } else { c };
        kept += usize::from(!(deleted | repeated));
    }
    *last = u8::try_from(before).ok();
    kept
}

fn set_members(set: &[u8]) -> [bool; 256] {
    let mut has = [false; 256];
    set.iter().for_each(|c| has[usize::from(*c)] = true);
    has
}

/// Checks the contents of set 2.
fn check_second(second: &[TrPart], what: &TrPlan) -> Result<(), &'static str> {
    let open = set_size(second).1;
    if open > 1 {
        return Err("only one [c*] repeat construct may appear in string2");
    }
    if what.delete {
        return match open {
            0 => Ok(()),
            _ => Err("the [c*] construct may appear in string2 only when translating"),
        };
    }
    if second.iter().any(|p| matches!(p, TrPart::Equivalence(_))) {
        return Err("[=c=] expressions may not appear in string2 when translating");
    }
    let other = |p: &TrPart| matches!(p, TrPart::Class(n, _) if *n != "upper" && *n != "lower");
    if second.iter().any(other) {
        return Err(
            "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'",
        );
    }
    Ok(())
}

/// Checks that the first set can be translated to the second. `one` and `two` are the expanded
/// sets.
fn check_translation(
    first: &[TrPart],
    second: &[TrPart],
    what: &TrPlan,
    (one, two): (&[u8], &[u8]),
) -> Result<(), &'static str> {
    if what.complement && second.iter().any(|p| matches!(p, TrPart::Class(..))) {
        let used = &two[..two.len().min(one.len())];
        if used.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(
                "when translating with complemented character classes,\nstring2 must map all characters in the domain to one",
            );
        }
    }
    if two.is_empty() && !one.is_empty() && !what.truncate {
        return Err("when not truncating set1, string2 must be non-empty");
    }
    check_case(first, second, what.complement)
}

/// Checks that each `[:upper:]` or `[:lower:]` in set 2 has one of these classes at the same
/// position in set 1.
fn check_case(first: &[TrPart], second: &[TrPart], complement: bool) -> Result<(), &'static str> {
    if complement {
        return Ok(());
    }
    let case = |p: &TrPart| matches!(p, TrPart::Class("upper" | "lower", _));
    let position = |parts: &[TrPart]| -> Vec<usize> {
        let mut at = 0usize;
        let mut out = Vec::new();
        for p in parts {
            if case(p) {
                out.push(at);
            }
            at = at.saturating_add(match p {
                TrPart::Bytes(b) | TrPart::Class(_, b) => b.len(),
                TrPart::Equivalence(_) => 1,
                TrPart::Repeat(_, n) => n.unwrap_or(0),
            });
        }
        out
    };
    let open = set_size(second).1 > 0;
    let (a, b) = (position(first), position(second));
    if !open && b.iter().any(|at| !a.contains(at)) {
        return Err("misaligned [:upper:] and/or [:lower:] construct");
    }
    let (one, two) = (set_size(first).0, set_size(second).0);
    if !open && two < one && second.last().is_some_and(case) && b.last() != a.last() {
        return Err(
            "when translating with string1 longer than string2,\nthe latter string must not end with a character class",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_squeezed_across_blocks() {
        let mut fates: [u16; 256] = std::array::from_fn(|i| i as u16);
        fates[usize::from(b'a')] |= SQUEEZED;
        fates[usize::from(b'-')] |= DELETED;
        let (mut last, mut all) = (None, Vec::new());
        for block in [&b"aab"[..], b"ba-", b"a", b"", b"-acc"] {
            let mut out = vec![0; block.len()];
            let kept = select_bytes(&fates, block, &mut out, &mut last);
            all.extend_from_slice(&out[..kept]);
        }
        assert_eq!(all, b"abbacc");
    }
}
