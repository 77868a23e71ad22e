//! Options and keys of `sort`.

use box_applet::opts::{Opt, Parsed, Spec};

use super::key::{Key, Ordering as KeyOrdering};
use crate::common::number as numbers;
use crate::common::quote;

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    BatchSize,
    BufferSize,
    Check,
    CheckSilently,
    CompressProgram,
    Debug,
    DictionaryOrder,
    FieldSeparator,
    Files0From,
    GeneralNumericSort,
    HumanNumericSort,
    IgnoreCase,
    IgnoreLeadingBlanks,
    IgnoreNonprinting,
    Ignored,
    Key,
    Merge,
    MonthSort,
    NumericSort,
    Output,
    Parallel,
    PlainCheck,
    RandomSort,
    RandomSource,
    Reverse,
    Sort,
    Stable,
    TemporaryDirectory,
    Unique,
    VersionSort,
    ZeroTerminated,
}

pub(super) const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [FILE]...\n  or:  sort [OPTION]... --files0-from=F",
    "Write sorted concatenation of all FILE(s) to standard output.\n\nWith no FILE, or when FILE is -, read standard input.",
    &[
        Opt::new(Flag::IgnoreLeadingBlanks, 'b', "ignore-leading-blanks").says("ignore leading blanks"),
        Opt::new(Flag::DictionaryOrder, 'd', "dictionary-order").says("consider only blanks and alphanumeric characters"),
        Opt::new(Flag::IgnoreCase, 'f', "ignore-case").says("fold lower case to upper case characters"),
        Opt::new(Flag::GeneralNumericSort, 'g', "general-numeric-sort").says("compare according to general numerical value"),
        Opt::new(Flag::IgnoreNonprinting, 'i', "ignore-nonprinting").says("consider only printable characters"),
        Opt::new(Flag::MonthSort, 'M', "month-sort").says("compare (unknown) < 'JAN' < ... < 'DEC'"),
        Opt::new(Flag::HumanNumericSort, 'h', "human-numeric-sort").says("compare human readable numbers (e.g., 2K 1G)"),
        Opt::new(Flag::NumericSort, 'n', "numeric-sort").says("compare according to string numerical value"),
        Opt::new(Flag::RandomSort, 'R', "random-sort").says("shuffle, but group identical keys"),
        Opt::long(Flag::RandomSource, "random-source").takes("FILE", "get random bytes from FILE"),
        Opt::new(Flag::Reverse, 'r', "reverse").says("reverse the result of comparisons"),
        Opt::long(Flag::Sort, "sort").takes("WORD", "sort according to WORD: general-numeric -g,\nhuman-numeric -h, month -M, numeric -n, random -R, version -V"),
        Opt::new(Flag::VersionSort, 'V', "version-sort").says("natural sort of (version) numbers within text"),
        Opt::long(Flag::BatchSize, "batch-size").takes("NMERGE", "merge at most NMERGE inputs at once (ignored)"),
        Opt::new(Flag::PlainCheck, 'c', "").says("check for sorted input; do not sort"),
        Opt::long(Flag::Check, "check").may_take("HOW", "the same; 'quiet' or 'silent' as -C"),
        Opt::new(Flag::CheckSilently, 'C', "").says("like -c, but do not report first bad line"),
        Opt::long(Flag::CompressProgram, "compress-program").takes("PROG", "compress temporaries with PROG (ignored)"),
        Opt::long(Flag::Debug, "debug").says("(ignored)"),
        Opt::long(Flag::Files0From, "files0-from").takes("F", "read input from the files specified by\nNUL-terminated names in file F"),
        Opt::new(Flag::Key, 'k', "key").takes("KEYDEF", "sort via a key; KEYDEF gives location and type"),
        Opt::new(Flag::Merge, 'm', "merge").says("merge already sorted files; do not sort"),
        Opt::new(Flag::Output, 'o', "output").takes("FILE", "write result to FILE instead of standard output"),
        Opt::new(Flag::Stable, 's', "stable").says("stabilize sort by disabling last-resort comparison"),
        Opt::new(Flag::BufferSize, 'S', "buffer-size").takes("SIZE", "use SIZE for main memory buffer"),
        Opt::new(Flag::FieldSeparator, 't', "field-separator").takes("SEP", "use SEP instead of non-blank to blank transition"),
        Opt::new(Flag::TemporaryDirectory, 'T', "temporary-directory").takes("DIR", "use DIR for temporaries"),
        Opt::long(Flag::Parallel, "parallel").takes("N", "(ignored)"),
        Opt::new(Flag::Unique, 'u', "unique").says("output only the first of lines that compare equal"),
        Opt::new(Flag::Ignored, 'y', "").says("(ignored)"),
        Opt::new(Flag::ZeroTerminated, 'z', "zero-terminated").says("line delimiter is NUL, not newline"),
    ],
)
.after("KEYDEF is F[.C][OPTS][,F[.C][OPTS]] for start and stop position, where F is a\nfield number and C a character position in the field; both are origin 1, and\nthe stop position defaults to the line's end.  OPTS is one or more single-letter\nordering options [bdfgiMhnRrV], which override global ordering options for that key.");

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

/// What is wrong with the options, as a message.
pub(super) enum Wrong {
    /// A word that is none of those that an option takes.
    Word(Vec<u8>),
    Other(Vec<u8>),
}

impl From<Vec<u8>> for Wrong {
    fn from(text: Vec<u8>) -> Wrong {
        Wrong::Other(text)
    }
}

impl Options {
    /// What the options mean together.
    pub(super) fn new(p: &Parsed<Flag>) -> Result<Options, Wrong> {
        let global = global_order(p)?;
        let keys = keys(p, &global)?;
        let check = check(p)?;
        let memory = match p.last(Flag::BufferSize) {
            Some(text) => memory(text)
                .ok_or_else(|| [b"invalid -S argument ", &*quote::always(text)].concat())?,
            None => DEFAULT_MEMORY,
        };
        for (flag, name) in [(Flag::Parallel, "--parallel"), (Flag::BatchSize, "--batch-size")] {
            if let Some(text) = p.last(flag).filter(|text| numbers::decimal(text).is_none()) {
                let shown = quote::always(text);
                let text = [b"invalid ", name.as_bytes(), b" argument ", &shown].concat();
                return Err(text.into());
            }
        }
        Ok(Options {
            keys,
            keyed: p.has(Flag::Key),
            reverse: global.reverse,
            stable: p.has(Flag::Stable) || p.has(Flag::Unique),
            unique: p.has(Flag::Unique),
            delimiter: if p.has(Flag::ZeroTerminated) { 0 } else { b'\n' },
            merge: p.has(Flag::Merge),
            check,
            output: p.last(Flag::Output).map(<[u8]>::to_vec),
            memory,
        })
    }
}

/// The letter of an ordering option, as it may also stand in a key.
fn order_letter(flag: Flag) -> Option<u8> {
    Some(match flag {
        Flag::IgnoreLeadingBlanks => b'b',
        Flag::DictionaryOrder => b'd',
        Flag::IgnoreCase => b'f',
        Flag::GeneralNumericSort => b'g',
        Flag::IgnoreNonprinting => b'i',
        Flag::MonthSort => b'M',
        Flag::HumanNumericSort => b'h',
        Flag::NumericSort => b'n',
        Flag::RandomSort => b'R',
        Flag::Reverse => b'r',
        Flag::VersionSort => b'V',
        _ => return None,
    })
}

/// The order of keys that have no options of their own.
fn global_order(p: &Parsed<Flag>) -> Result<KeyOrdering, Wrong> {
    const WORDS: [(&str, u8); 6] = [
        ("general-numeric", b'g'),
        ("human-numeric", b'h'),
        ("month", b'M'),
        ("numeric", b'n'),
        ("random", b'R'),
        ("version", b'V'),
    ];
    let mut global = KeyOrdering::default();
    for (flag, value) in &p.options {
        if let Some(letter) = order_letter(*flag) {
            global.add(letter, true, true);
        }
        if *flag == Flag::Sort {
            let word = value.as_deref().unwrap_or_default();
            let fits = |name: &str| !word.is_empty() && name.as_bytes().starts_with(word);
            match WORDS.iter().find(|(name, _)| fits(name)) {
                Some((_, letter)) => global.add(*letter, true, true),
                None => return Err(invalid_argument(word, "--sort")),
            }
        }
    }
    Ok(global)
}

fn invalid_argument(word: &[u8], option: &str) -> Wrong {
    let shown = quote::always(word);
    Wrong::Word([b"invalid argument ", &*shown, b" for '", option.as_bytes(), b"'"].concat())
}

/// The keys, or one that is the whole line.
fn keys(p: &Parsed<Flag>, global: &KeyOrdering) -> Result<Vec<Key>, Vec<u8>> {
    let tab = separator(p)?;
    let mut keys = p.all(Flag::Key).map(parse_key).collect::<Result<Vec<Key>, _>>()?;
    for key in &mut keys {
        // A key without options of its own takes the global ones.
        if key.order.is_default() && !key.order.reverse {
            key.order = global.clone();
        }
    }
    if keys.is_empty() {
        keys.push(Key { order: global.clone(), ..Key::whole_line() });
    }
    let seed = seed();
    for key in &mut keys {
        key.tab = tab;
        key.order.check()?;
        key.order.seed = seed;
    }
    Ok(keys)
}

/// `-c`, `-C` and `--check`: whether the input is only checked.
fn check(p: &Parsed<Flag>) -> Result<Option<Check>, Wrong> {
    let mut check = None;
    for (flag, value) in &p.options {
        check = match (flag, value.as_deref()) {
            (Flag::PlainCheck, _) | (Flag::Check, None | Some(b"diagnose-first")) => {
                Some(Check::Loud)
            }
            (Flag::CheckSilently, _) | (Flag::Check, Some(b"quiet" | b"silent")) => {
                Some(Check::Quiet)
            }
            (Flag::Check, Some(other)) => return Err(invalid_argument(other, "--check")),
            _ => check,
        };
    }
    if p.has(Flag::PlainCheck) && p.has(Flag::CheckSilently) {
        return Err(b"options '-cC' are incompatible".to_vec().into());
    }
    match check {
        Some(Check::Quiet) if p.has(Flag::Output) => {
            Err(b"options '-Co' are incompatible".to_vec().into())
        }
        Some(Check::Loud) if p.has(Flag::Output) => {
            Err(b"options '-co' are incompatible".to_vec().into())
        }
        check => Ok(check),
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

fn separator(p: &Parsed<Flag>) -> Result<Option<u8>, Vec<u8>> {
    let mut tab = None;
    for t in p.all(Flag::FieldSeparator) {
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
