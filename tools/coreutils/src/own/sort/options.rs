//! Options and keys of `sort`.

use box_applet::opts::{Opt, Parsed, Spec};

use super::key::{Key, Ordering as KeyOrdering};
use crate::common::number as numbers;
use crate::common::quote;

/// Long-only options.
pub(super) const FILES0: char = '\u{1}';
const SORT: char = '\u{2}';
const BATCH: char = '\u{3}';
const COMPRESS: char = '\u{4}';
const PARALLEL: char = '\u{5}';
const DEBUG: char = '\u{6}';
const RANDOM_SOURCE: char = '\u{7}';
const CHECK: char = '\u{e}';

pub(super) const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...\n  or:  sort [OPTION]... --files0-from=F",
    about: "Write sorted concatenation of all FILE(s) to standard output.\n\nWith no FILE, or when FILE is -, read standard input.",
    options: &[
        Opt::flag('b', "ignore-leading-blanks", "ignore leading blanks"),
        Opt::flag('d', "dictionary-order", "consider only blanks and alphanumeric characters"),
        Opt::flag('f', "ignore-case", "fold lower case to upper case characters"),
        Opt::flag('g', "general-numeric-sort", "compare according to general numerical value"),
        Opt::flag('i', "ignore-nonprinting", "consider only printable characters"),
        Opt::flag('M', "month-sort", "compare (unknown) < 'JAN' < ... < 'DEC'"),
        Opt::flag('h', "human-numeric-sort", "compare human readable numbers (e.g., 2K 1G)"),
        Opt::flag('n', "numeric-sort", "compare according to string numerical value"),
        Opt::flag('R', "random-sort", "shuffle, but group identical keys"),
        Opt::value(RANDOM_SOURCE, "random-source", "FILE", "get random bytes from FILE").long_only(),
        Opt::flag('r', "reverse", "reverse the result of comparisons"),
        Opt::value(SORT, "sort", "WORD", "sort according to WORD: general-numeric -g,\nhuman-numeric -h, month -M, numeric -n, random -R, version -V").long_only(),
        Opt::flag('V', "version-sort", "natural sort of (version) numbers within text"),
        Opt::value(BATCH, "batch-size", "NMERGE", "merge at most NMERGE inputs at once (ignored)").long_only(),
        Opt::flag('c', "", "check for sorted input; do not sort"),
        Opt::optional(CHECK, "check", "HOW", "the same; 'quiet' or 'silent' as -C").long_only(),
        Opt::flag('C', "", "like -c, but do not report first bad line"),
        Opt::value(COMPRESS, "compress-program", "PROG", "compress temporaries with PROG (ignored)").long_only(),
        Opt::flag(DEBUG, "debug", "(ignored)").long_only(),
        Opt::value(FILES0, "files0-from", "F", "read input from the files specified by\nNUL-terminated names in file F").long_only(),
        Opt::value('k', "key", "KEYDEF", "sort via a key; KEYDEF gives location and type"),
        Opt::flag('m', "merge", "merge already sorted files; do not sort"),
        Opt::value('o', "output", "FILE", "write result to FILE instead of standard output"),
        Opt::flag('s', "stable", "stabilize sort by disabling last-resort comparison"),
        Opt::value('S', "buffer-size", "SIZE", "use SIZE for main memory buffer"),
        Opt::value('t', "field-separator", "SEP", "use SEP instead of non-blank to blank transition"),
        Opt::value('T', "temporary-directory", "DIR", "use DIR for temporaries"),
        Opt::value(PARALLEL, "parallel", "N", "(ignored)").long_only(),
        Opt::flag('u', "unique", "output only the first of lines that compare equal"),
        Opt::flag('y', "", "(ignored)"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    after: "KEYDEF is F[.C][OPTS][,F[.C][OPTS]] for start and stop position, where F is a\nfield number and C a character position in the field; both are origin 1, and\nthe stop position defaults to the line's end.  OPTS is one or more single-letter\nordering options [bdfgiMhnRrV], which override global ordering options for that key.",
    posix_order: false,
};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Check {
    Loud,
    Quiet,
}

/// How lines are compared and what is done with them.
pub(super) struct Options {
    pub keys: Vec<Key>,
    /// Whether keys are given; otherwise the one key is the whole line.
    pub keyed: bool,
    pub reverse: bool,
    pub stable: bool,
    pub unique: bool,
    pub delimiter: u8,
    pub merge: bool,
    pub check: Option<Check>,
    pub output: Option<Vec<u8>>,
    /// Bytes of lines held in memory before a part is written out.
    pub memory: usize,
}

/// Half of what a wasm32 guest can have at most; hosts usually allow less and say so by `-S`.
const DEFAULT_MEMORY: usize = 512 << 20;

impl Options {
    pub(super) fn new(p: &Parsed) -> Result<Options, Vec<u8>> {
        let mut global = KeyOrdering::default();
        for (id, value) in &p.options {
            if let Ok(letter) = u8::try_from(u32::from(*id))
                && b"bdfgiMhnRrV".contains(&letter)
            {
                global.add(letter, true, true);
            }
            if *id == SORT {
                let word = value.as_deref().unwrap_or_default();
                let letter = [
                    ("general-numeric", b'g'),
                    ("human-numeric", b'h'),
                    ("month", b'M'),
                    ("numeric", b'n'),
                    ("random", b'R'),
                    ("version", b'V'),
                ]
                .into_iter()
                .find(|(n, _)| !word.is_empty() && n.as_bytes().starts_with(word));
                match letter {
                    Some((_, l)) => global.add(l, true, true),
                    None => {
                        return Err([
                            b"invalid argument ",
                            quote::always(word).as_slice(),
                            b" for '--sort'",
                        ]
                        .concat());
                    }
                }
            }
        }
        let tab = separator(p)?;
        let mut keys = Vec::new();
        for text in p.all('k') {
            keys.push(parse_key(text)?);
        }
        let keyed = !keys.is_empty();
        for k in &mut keys {
            // A key without options of its own takes the global ones.
            if k.order.is_default() && !k.order.reverse {
                k.order = global.clone();
            }
        }
        if !keyed {
            keys.push(Key { order: global.clone(), ..Key::whole_line() });
        }
        for k in &mut keys {
            k.tab = tab;
            k.order.check()?;
        }
        let seed = seed();
        for k in &mut keys {
            k.order.seed = seed;
        }
        let mut check = None;
        for (id, value) in &p.options {
            check = match (*id, value.as_deref()) {
                ('c', _) | (CHECK, None | Some(b"diagnose-first")) => Some(Check::Loud),
                ('C', _) | (CHECK, Some(b"quiet" | b"silent")) => Some(Check::Quiet),
                (CHECK, Some(other)) => {
                    return Err([
                        b"invalid argument ",
                        quote::always(other).as_slice(),
                        b" for '--check'",
                    ]
                    .concat());
                }
                _ => check,
            };
        }
        if p.has('c') && p.has('C') {
            return Err(b"options '-cC' are incompatible".to_vec());
        }
        if check.is_some() && p.has('o') {
            let letter: &[u8] = if check == Some(Check::Quiet) { b"C" } else { b"c" };
            return Err([b"options '-", letter, b"o' are incompatible"].concat());
        }
        let memory = match p.last('S').map(|t| (t.to_vec(), memory(t))) {
            Some((text, None)) => {
                return Err([b"invalid -S argument ", quote::always(&text).as_slice()].concat());
            }
            Some((_, Some(n))) => n,
            None => DEFAULT_MEMORY,
        };
        for (id, name) in [(PARALLEL, "--parallel"), (BATCH, "--batch-size")] {
            if let Some(text) = p.last(id)
                && numbers::decimal(text).is_none()
            {
                return Err(
                    [b"invalid ", name.as_bytes(), b" argument ", &quote::always(text)].concat()
                );
            }
        }
        Ok(Options {
            keys,
            keyed,
            reverse: global.reverse,
            stable: p.has('s') || p.has('u'),
            unique: p.has('u'),
            delimiter: if p.has('z') { 0 } else { b'\n' },
            merge: p.has('m'),
            check,
            output: p.last('o').map(<[u8]>::to_vec),
            memory,
        })
    }
}

/// `-S`: a number counts in KiB, `b` in bytes, `%` of an unknown memory as the default.
fn memory(text: &[u8]) -> Option<usize> {
    const LEAST: usize = 64 << 10;
    if let Some(n) = text.strip_suffix(b"%") {
        return numbers::decimal(n).map(|_| DEFAULT_MEMORY);
    }
    let n = match text.strip_suffix(b"b") {
        Some(n) => numbers::decimal(n)?,
        None => match numbers::decimal(text) {
            Some(n) => n.saturating_mul(1024),
            None => numbers::size(text).unwrap_or(u64::MAX),
        },
    };
    if !text.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some(usize::try_from(n).unwrap_or(usize::MAX).max(LEAST))
}

fn separator(p: &Parsed) -> Result<Option<u8>, Vec<u8>> {
    let mut tab = None;
    for t in p.all('t') {
        let new = match t {
            [] => return Err(b"empty tab".to_vec()),
            [c] => *c,
            b"\\0" => 0,
            _ => return Err([b"multi-character tab ", quote::always(t).as_slice()].concat()),
        };
        if tab.is_some_and(|old| old != new) {
            return Err(b"incompatible tabs".to_vec());
        }
        tab = Some(new);
    }
    Ok(tab)
}

/// Seeds `-R` differently each time.
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// `+F.C -F.C`, positions from 0, as `-k`: only where `_POSIX2_VERSION` asks for the standard
/// of 1992 (GNU manual, "Standards conformance").
pub(super) fn obsolete(args: &[Vec<u8>], env: &box_applet::Env) -> Option<Vec<Vec<u8>>> {
    let version = numbers::decimal(env.get(b"_POSIX2_VERSION")?)?;
    if version >= 200_112 {
        return None;
    }
    // Field, character and options of a position.
    let split = |text: &[u8]| -> Option<(u64, u64, Vec<u8>)> {
        let n = text.iter().take_while(|c| c.is_ascii_digit()).count();
        let field = numbers::decimal(&text[..n])?;
        let rest = &text[n..];
        let (c, rest) = match rest.strip_prefix(b".") {
            Some(r) => {
                let n = r.iter().take_while(|c| c.is_ascii_digit()).count();
                (numbers::decimal(&r[..n])?, &r[n..])
            }
            None => (0, rest),
        };
        Some((field, c, rest.to_vec()))
    };
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut open = false;
    for a in args {
        if let Some((f, c, opts)) = a.strip_prefix(b"+").and_then(split) {
            let start = format!("-k{}.{}", f.saturating_add(1), c.saturating_add(1));
            out.push([start.as_bytes(), &opts].concat());
            open = true;
            continue;
        }
        if let (true, Some((f, c, opts))) = (open, a.strip_prefix(b"-").and_then(split)) {
            if let Some(key) = out.last_mut() {
                // `-B` ends before field B, that is at the end of the one before.
                let end =
                    if c == 0 { format!(",{f}") } else { format!(",{}.{c}", f.saturating_add(1)) };
                key.extend_from_slice(end.as_bytes());
                key.extend_from_slice(&opts);
            }
            open = false;
            continue;
        }
        open = false;
        out.push(a.clone());
    }
    Some(out)
}

/// `F[.C][OPTS][,F[.C][OPTS]]`
fn parse_key(text: &[u8]) -> Result<Key, Vec<u8>> {
    let bad = |why: &str| -> Vec<u8> {
        [why.as_bytes(), b": invalid field specification ", &quote::always(text)].concat()
    };
    let mut at = 0;
    let number = |at: &mut usize, what: &str| -> Result<usize, Vec<u8>> {
        let from = *at;
        let mut n = 0usize;
        while let Some(d) = text.get(*at).filter(|c| c.is_ascii_digit()) {
            n = n.saturating_mul(10).saturating_add(usize::from(d - b'0'));
            *at += 1;
        }
        if *at == from {
            let rest = quote::always(&text[from..]);
            return Err([what.as_bytes(), b": invalid count at start of ", &rest].concat());
        }
        Ok(n)
    };
    let mut key = Key::whole_line();
    let field = number(&mut at, "invalid number at field start")?;
    key.start_field = field.checked_sub(1).ok_or_else(|| bad("field number is zero"))?;
    if text.get(at) == Some(&b'.') {
        at += 1;
        let c = number(&mut at, "invalid number after '.'")?;
        key.start_char = c.checked_sub(1).ok_or_else(|| bad("character offset is zero"))?;
    }
    while let Some(c) = text.get(at).filter(|c| b"bdfgiMhnRrV".contains(c)) {
        key.order.add(*c, true, false);
        at += 1;
    }
    if text.get(at) == Some(&b',') {
        at += 1;
        let field = number(&mut at, "invalid number after ','")?;
        let end = field.checked_sub(1).ok_or_else(|| bad("field number is zero"))?;
        key.end_field = Some(end);
        if text.get(at) == Some(&b'.') {
            at += 1;
            key.end_char = number(&mut at, "invalid number after '.'")?;
        }
        while let Some(c) = text.get(at).filter(|c| b"bdfgiMhnRrV".contains(c)) {
            key.order.add(*c, false, true);
            at += 1;
        }
    }
    if at < text.len() {
        return Err(bad("stray character in field spec"));
    }
    Ok(key)
}
