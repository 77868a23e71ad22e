//! Options and keys of `sort`.

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};

use super::key::{LineKey, Ordering as KeyOrdering, SortKind};
use crate::common::choice::choice;
use crate::common::number::{self as numbers, CountError};
use crate::common::quote;

/// An option of `sort`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SortFlag {
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

pub(super) const SPEC: Spec<SortFlag> = Spec::new(
    "[OPTION]... [FILE]...\n[OPTION]... --files0-from=F",
    "Print all lines of the FILEs in order.",
    &[
        Opt::new(SortFlag::IgnoreLeadingBlanks, 'b', "ignore-leading-blanks")
            .with_help("Skip blanks at the start of a key"),
        Opt::new(SortFlag::DictionaryOrder, 'd', "dictionary-order")
            .with_help("Compare only blanks, letters and digits"),
        Opt::new(SortFlag::IgnoreCase, 'f', "ignore-case")
            .with_help("Take upper and lower case as equal"),
        Opt::new(SortFlag::GeneralNumericSort, 'g', "general-numeric-sort")
            .with_help("Compare as floating-point numbers: 1e3, inf"),
        Opt::new(SortFlag::IgnoreNonprinting, 'i', "ignore-nonprinting")
            .with_help("Skip unprintable characters"),
        Opt::new(SortFlag::MonthSort, 'M', "month-sort")
            .with_help("Compare names of months: JAN, FEB, ..."),
        Opt::new(SortFlag::HumanNumericSort, 'h', "human-numeric-sort")
            .with_help("Compare numbers with units: 2K before 1G"),
        Opt::new(SortFlag::NumericSort, 'n', "numeric-sort")
            .with_help("Compare numbers by value: 9 before 10"),
        Opt::new(SortFlag::RandomSort, 'R', "random-sort")
            .with_help("Order at random; equal keys stay together"),
        Opt::long(SortFlag::RandomSource, "random-source")
            .with_argument("FILE", "Take randomness from FILE"),
        Opt::new(SortFlag::Reverse, 'r', "reverse").with_help("Sort the other way round"),
        Opt::long(SortFlag::Sort, "sort").with_argument(
            "WORD",
            "Sort in the way WORD says: general-numeric, human-numeric, month, numeric, random, \
        version",
        ),
        Opt::new(SortFlag::VersionSort, 'V', "version-sort")
            .with_help("Compare versions: v9 before v10"),
        Opt::long(SortFlag::BatchSize, "batch-size").with_argument("NMERGE", words::IGNORED),
        Opt::new(SortFlag::PlainCheck, 'c', "").with_help(
            "Only check whether the input is sorted, and report the first line that is not",
        ),
        Opt::long(SortFlag::Check, "check")
            .may_take("HOW", "Like -c; with quiet or silent like -C"),
        Opt::new(SortFlag::CheckSilently, 'C', "").with_help("Only check, without a message"),
        Opt::long(SortFlag::CompressProgram, "compress-program")
            .with_argument("PROG", words::IGNORED),
        Opt::long(SortFlag::Debug, "debug")
            .with_help("Underline what is compared, and warn about doubtful options"),
        Opt::long(SortFlag::Files0From, "files0-from").with_argument("F", words::FILES0),
        Opt::new(SortFlag::Key, 'k', "key").with_argument(
            "KEYDEF",
            "Compare by the key KEYDEF; further keys decide between equal lines",
        ),
        Opt::new(SortFlag::Merge, 'm', "merge").with_help("Merge files that are sorted already"),
        Opt::new(SortFlag::Output, 'o', "output")
            .with_argument("FILE", "Write to FILE, which may be one of the inputs"),
        Opt::new(SortFlag::Stable, 's', "stable")
            .with_help("Keep the order of lines whose keys are equal"),
        Opt::new(SortFlag::BufferSize, 'S', "buffer-size").with_argument("SIZE", words::IGNORED),
        Opt::new(SortFlag::FieldSeparator, 't', "field-separator")
            .with_argument("SEP", "Split fields at SEP instead of blanks"),
        Opt::new(SortFlag::TemporaryDirectory, 'T', "temporary-directory")
            .with_argument("DIR", words::IGNORED),
        Opt::long(SortFlag::Parallel, "parallel").with_argument("N", words::IGNORED),
        Opt::new(SortFlag::Unique, 'u', "unique").with_help("Print one of several equal lines"),
        Opt::new(SortFlag::Ignored, 'y', "").may_take("N", words::IGNORED),
        Opt::new(SortFlag::ZeroTerminated, 'z', "zero-terminated").with_help(words::NUL_LINES),
    ],
)
.with_examples(&[
    ("sort -k2,2n FILE", "By the second field, as a number"),
    ("sort -t, -k3,3nr FILE", "A CSV file by its third field, largest first"),
    ("sort FILE | uniq -c | sort -rn", "Count equal lines"),
])
.with_footer(
    "KEYDEF is FIELD[.CHAR][OPTS][,FIELD[.CHAR][OPTS]]: from the start of the first to \
        the end of the second, or of the line. Fields and characters count from 1. OPTS are \
        letters of bdfgiMhnRrV for this key alone.",
)
.reads_standard_input();

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Loud,
    Quiet,
}

/// The settings of a sort.
pub(super) struct SortOptions {
    pub keys: Vec<LineKey>,
    /// Whether keys are given; otherwise the only key is the whole line.
    pub keyed: bool,
    /// The ordering options that are not part of a key.
    pub global: KeyOrdering,
    /// Whether the keys are underlined in the output.
    pub debug: bool,
    pub reverse: bool,
    pub stable: bool,
    pub unique: bool,
    pub delimiter: u8,
    pub merge: bool,
    pub check: Option<Check>,
    pub output: Option<Vec<u8>>,
    /// The number of bytes of lines that are held in memory before they are written to a temporary
    /// file.
    pub memory: usize,
}

/// The default memory bound in bytes, an eighth of what a wasm32 guest can address. `-S` sets
/// another bound.
const DEFAULT_MEMORY: usize = 512 << 20;

/// An error in the options, as a message.
pub(super) enum SortUsageError {
    /// An option's argument is not one of its words.
    Word(Vec<u8>),
    Other(Vec<u8>),
}

impl From<Vec<u8>> for SortUsageError {
    fn from(text: Vec<u8>) -> SortUsageError {
        SortUsageError::Other(text)
    }
}

impl SortOptions {
    /// Resolves the options to settings.
    pub(super) fn new(p: &ParsedOptions<SortFlag>) -> Result<SortOptions, SortUsageError> {
        let global = global_order(p)?;
        let keys = parse_keys(p, &global)?;
        let check = parse_check(p)?;
        let sizes = p
            .all_values(SortFlag::BufferSize)
            .map(parse_memory)
            .collect::<Result<Vec<usize>, _>>()?;
        check_counts(p)?;
        for (flag, objects) in SINGLES {
            let mut values = p.all_values(*flag);
            let first = values.next();
            if values.any(|value| Some(value) != first) {
                return Err([b"multiple ", objects.as_bytes(), b" specified"].concat().into());
            }
        }
        Ok(SortOptions {
            keys,
            keyed: p.has_option(SortFlag::Key),
            reverse: global.reverse,
            debug: p.has_option(SortFlag::Debug),
            global,
            stable: p.has_option(SortFlag::Stable) || p.has_option(SortFlag::Unique),
            unique: p.has_option(SortFlag::Unique),
            delimiter: if p.has_option(SortFlag::ZeroTerminated) { 0 } else { b'\n' },
            merge: p.has_option(SortFlag::Merge),
            check,
            output: p.last_value(SortFlag::Output).map(<[u8]>::to_vec),
            memory: sizes.into_iter().max().unwrap_or(DEFAULT_MEMORY),
        })
    }
}

/// The options that may be repeated only with the same value, and the names of the values in
/// messages.
const SINGLES: &[(SortFlag, &str)] = &[
    (SortFlag::Output, "output files"),
    (SortFlag::CompressProgram, "compress programs"),
    (SortFlag::RandomSource, "random sources"),
];

/// The maximum number of files that can be merged at once: the number of files that a process may
/// have open (`ulimit -n`), minus the three standard streams.
const MOST_OPEN: u64 = 1024 - 3;

/// Checks the numbers of `--parallel` and `--batch-size`. They have no effect, because there is one
/// thread and all files are merged at once.
fn check_counts(p: &ParsedOptions<SortFlag>) -> Result<(), Vec<u8>> {
    for text in p.all_values(SortFlag::Parallel) {
        match numbers::count(text) {
            Ok(0) => return Err(b"number in parallel must be nonzero".to_vec()),
            Ok(_) | Err(CountError::Overflow) => {}
            Err(e) => return Err(e.message("--parallel", text)),
        }
    }
    for text in p.all_values(SortFlag::BatchSize) {
        match numbers::count(text) {
            Ok(0 | 1) => {
                let wrong = CountError::Invalid.message("--batch-size", text);
                return Err([&wrong, &b"\nsort: minimum --batch-size argument is '2'"[..]].concat());
            }
            Ok(n) if n <= MOST_OPEN => {}
            Ok(_) | Err(CountError::Overflow) => {
                let wrong = CountError::Overflow.message("--batch-size", text);
                let most = format!(
                    "\nsort: maximum --batch-size argument with current rlimit is {MOST_OPEN}"
                );
                return Err([&wrong, most.as_bytes()].concat());
            }
            Err(e) => return Err(e.message("--batch-size", text)),
        }
    }
    Ok(())
}

impl SortOptions {
    /// Returns whether a key is sorted in random order.
    pub(super) fn is_random(&self) -> bool {
        self.keys.iter().any(|key| key.order.kind == SortKind::Random)
    }

    /// Sets the seed of the random order.
    pub(super) fn set_seed(&mut self, seed: u64) {
        self.keys.iter_mut().for_each(|key| key.order.seed = seed);
    }
}

/// Returns a seed that depends on all of `bytes` and on nothing else.
pub(super) fn mix(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns the letter that an ordering option has in a key, or `None` if it is another option.
fn order_letter(flag: SortFlag) -> Option<u8> {
    Some(match flag {
        SortFlag::IgnoreLeadingBlanks => b'b',
        SortFlag::DictionaryOrder => b'd',
        SortFlag::IgnoreCase => b'f',
        SortFlag::GeneralNumericSort => b'g',
        SortFlag::IgnoreNonprinting => b'i',
        SortFlag::MonthSort => b'M',
        SortFlag::HumanNumericSort => b'h',
        SortFlag::NumericSort => b'n',
        SortFlag::RandomSort => b'R',
        SortFlag::Reverse => b'r',
        SortFlag::VersionSort => b'V',
        _ => return None,
    })
}

/// Returns the order of keys that have no options of their own.
fn global_order(p: &ParsedOptions<SortFlag>) -> Result<KeyOrdering, SortUsageError> {
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
            global.add_letter(letter, true, true);
        }
        if *flag == SortFlag::Sort {
            let word = value.as_deref().unwrap_or_default();
            global.add_letter(
                choice(&WORDS, word, "--sort").map_err(SortUsageError::Word)?,
                true,
                true,
            );
        }
    }
    Ok(global)
}

/// Returns the keys; if none is given, a single key that is the whole line.
fn parse_keys(p: &ParsedOptions<SortFlag>, global: &KeyOrdering) -> Result<Vec<LineKey>, Vec<u8>> {
    let tab = parse_separator(p)?;
    let mut keys =
        p.all_values(SortFlag::Key).map(parse_key).collect::<Result<Vec<LineKey>, _>>()?;
    for key in &mut keys {
        // A key without ordering options takes the global ones.
        if key.order.is_default() && !key.order.reverse {
            key.order = global.clone();
        }
    }
    if keys.is_empty() {
        keys.push(LineKey { order: global.clone(), ..LineKey::whole_line() });
    }
    let seed = random_seed();
    for key in &mut keys {
        key.tab = tab;
        key.order.check_letters()?;
        key.order.seed = seed;
    }
    Ok(keys)
}

/// Returns the kind of check that `-c`, `-C` or `--check` asks for, or `None` for a sort.
fn parse_check(p: &ParsedOptions<SortFlag>) -> Result<Option<Check>, SortUsageError> {
    const WORDS: [(&str, Check); 3] =
        [("quiet", Check::Quiet), ("silent", Check::Quiet), ("diagnose-first", Check::Loud)];
    let (mut check, mut loud, mut quiet) = (None, false, false);
    for (flag, value) in &p.options {
        check = match (flag, value.as_deref()) {
            (SortFlag::PlainCheck, _) | (SortFlag::Check, None) => Some(Check::Loud),
            (SortFlag::CheckSilently, _) => Some(Check::Quiet),
            (SortFlag::Check, Some(word)) => {
                Some(choice(&WORDS, word, "--check").map_err(SortUsageError::Word)?)
            }
            _ => check,
        };
        loud |= check == Some(Check::Loud);
        quiet |= check == Some(Check::Quiet);
    }
    if loud && quiet {
        return Err(b"options '-cC' are incompatible".to_vec().into());
    }
    match check {
        Some(Check::Quiet) if p.has_option(SortFlag::Output) => {
            Err(b"options '-Co' are incompatible".to_vec().into())
        }
        Some(Check::Loud) if p.has_option(SortFlag::Output) => {
            Err(b"options '-co' are incompatible".to_vec().into())
        }
        check => Ok(check),
    }
}

/// Parses the argument of `-S`; returns a number of bytes. A plain number counts KiB, and one with
/// `b` counts bytes. `%` means the default, because the size of the memory is unknown.
fn parse_memory(text: &[u8]) -> Result<usize, Vec<u8>> {
    const LEAST: usize = 64 << 10;
    let fault = |e: CountError| e.message("-S", text);
    let (number, suffix) = match numbers::leading(text) {
        Some((number, suffix)) => (number.map_err(fault)?, suffix),
        // A letter alone means one unit.
        None if matches!(text, [letter] if !b"b%".contains(letter)) => (1, text),
        None => return Err(fault(CountError::Invalid)),
    };
    let bytes = match suffix {
        b"" => number.checked_mul(1024),
        b"b" => Some(number),
        b"%" => return Ok(DEFAULT_MEMORY),
        [letter] if b"EgGkKmMPtTYZ".contains(letter) => {
            let unit = numbers::parse_size(&[*letter]).ok();
            unit.and_then(|unit| number.checked_mul(unit))
        }
        _ if suffix.len() == text.len() => return Err(fault(CountError::Invalid)),
        _ => return Err(fault(CountError::Suffix)),
    };
    let bytes = bytes.ok_or_else(|| fault(CountError::Overflow))?;
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX).max(LEAST))
}

fn parse_separator(p: &ParsedOptions<SortFlag>) -> Result<Option<u8>, Vec<u8>> {
    let mut tab = None;
    for t in p.all_values(SortFlag::FieldSeparator) {
        let new = match t {
            [] => return Err(b"empty tab".to_vec()),
            [c] => *c,
            b"\\0" => 0,
            _ => {
                return Err(
                    [b"multi-character tab ", quote::quote_in_sentence(t).as_slice()].concat()
                );
            }
        };
        if tab.is_some_and(|old| old != new) {
            return Err(b"incompatible tabs".to_vec());
        }
        tab = Some(new);
    }
    Ok(tab)
}

/// Returns a seed for `-R`, a different one each time.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// Rewrites the obsolete keys `+F.C -F.C`, whose positions count from 0, as `-k` (GNU manual, "sort
/// invocation"). If `_POSIX2_VERSION` asks for the standard of 2001, a `+F` without an end is a
/// file.
pub(super) fn modern_keys(
    args: &[Vec<u8>],
    env: &box_applet::Env,
) -> Result<Vec<Vec<u8>>, SortUsageError> {
    let number = |name: &[u8]| env.get(name).and_then(numbers::parse_decimal);
    let is_posix = env.get(b"POSIXLY_CORRECT").is_some();
    let alone = !number(b"_POSIX2_VERSION").is_some_and(|v| (200_112..200_809).contains(&v));
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut rest = args.iter().peekable();
    while let Some(word) = rest.next() {
        let is_option = word.len() > 1 && word[0] == b'-';
        if word == b"--" || is_posix && !is_option && !word.starts_with(b"+") {
            words.push(word.clone());
            break;
        }
        if is_option {
            words.push(word.clone());
            // `-y` may have a number, as on Solaris.
            let is_number = |next: &&Vec<u8>| next.iter().all(u8::is_ascii_digit);
            if word != b"-y" || rest.next_if(is_number).is_none() {
                words.extend(rest.next_if(|_| SPEC.takes_next(word)).cloned());
            }
            continue;
        }
        let end = rest.peek().is_some_and(|next| matches!(next[..], [b'-', b'0'..=b'9', ..]));
        let start = word.strip_prefix(b"+").filter(|_| alone || end && !is_posix);
        let Some((field, char, letters)) = start.and_then(position).filter(|(_, _, l)| is_order(l))
        else {
            words.push(word.clone());
            continue;
        };
        let key = format!("-k{}.{}", field.saturating_add(1), char.saturating_add(1));
        let mut key = [key.as_bytes(), letters].concat();
        if let Some(next) = rest.next_if(|_| end) {
            let (field, char, letters) = position(&next[1..]).ok_or_else(|| bad_count(next))?;
            if !is_order(letters) {
                return Err(bad_key(next, "stray character in field spec").into());
            }
            // Without a character the key ends with the field before this one.
            let end = match char {
                0 => format!(",{}", field.max(1)),
                char => format!(",{}.{char}", field.saturating_add(1)),
            };
            key = [&key, end.as_bytes(), letters].concat();
        }
        words.push(key);
    }
    words.extend(rest.cloned());
    Ok(words)
}

/// Parses the field and the character of an obsolete position; returns them with the rest of the
/// text, or `None` if a number is missing.
fn position(text: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (field, rest) = count(text)?;
    match rest.strip_prefix(b".") {
        Some(rest) => count(rest).map(|(char, rest)| (field, char, rest)),
        None => Some((field, 0, rest)),
    }
}

/// Parses a number that counts fields or characters; returns it with the rest of the text. A number
/// that is too large becomes the largest one.
fn count(text: &[u8]) -> Option<(usize, &[u8])> {
    let (value, rest) = numbers::leading(text)?;
    let value = value.ok().and_then(|n| usize::try_from(n).ok());
    Some((value.unwrap_or(usize::MAX), rest))
}

/// Returns the message about an obsolete end of a key that has no number after its point, such as
/// `-F.`.
fn bad_count(end: &[u8]) -> Vec<u8> {
    let point = end.iter().position(|c| *c == b'.').map_or(end.len(), |at| at + 1);
    let rest = quote::quote_in_sentence(&end[point..]);
    [b"invalid number after '.': invalid count at start of ", &*rest].concat()
}

const ORDER_LETTERS: &[u8] = b"bdfgiMhnRrV";

fn is_order(letters: &[u8]) -> bool {
    letters.iter().all(|c| ORDER_LETTERS.contains(c))
}

fn bad_key(text: &[u8], why: &str) -> Vec<u8> {
    [why.as_bytes(), b": invalid field specification ", &quote::quote_in_sentence(text)].concat()
}

/// Parses a key `F[.C][OPTS][,F[.C][OPTS]]`, for example `2.3n,4`.
fn parse_key(text: &[u8]) -> Result<LineKey, Vec<u8>> {
    let bad = |why: &str| bad_key(text, why);
    let mut at = 0;
    let number = |at: &mut usize, place: &str| match count(&text[*at..]) {
        Some((n, rest)) => {
            *at = text.len() - rest.len();
            Ok(n)
        }
        None => {
            let rest = quote::quote_in_sentence(&text[*at..]);
            Err([place.as_bytes(), b": invalid count at start of ", &rest].concat())
        }
    };
    let mut key = LineKey::whole_line();
    let field = number(&mut at, "invalid number at field start")?;
    key.start_field = field.checked_sub(1).ok_or_else(|| bad("field number is zero"))?;
    if text.get(at) == Some(&b'.') {
        at += 1;
        let c = number(&mut at, "invalid number after '.'")?;
        key.start_char = c.checked_sub(1).ok_or_else(|| bad("character offset is zero"))?;
    }
    while let Some(c) = text.get(at).filter(|c| ORDER_LETTERS.contains(c)) {
        key.order.add_letter(*c, true, false);
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
        while let Some(c) = text.get(at).filter(|c| ORDER_LETTERS.contains(c)) {
            key.order.add_letter(*c, false, true);
            at += 1;
        }
    }
    if at < text.len() {
        return Err(bad("stray character in field spec"));
    }
    Ok(key)
}
