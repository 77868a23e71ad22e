//! `wc` (POSIX XCU wc; GNU `-L --files0-from`): counts lines, words, characters and bytes.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, InputSource};
use box_sys::{FileKind, meta};

use crate::common::input::{self, CopyStop};
use crate::common::{files0, locale, quote};

/// An option of `wc`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WcFlag {
    Bytes,
    Chars,
    Files0From,
    Lines,
    MaxLineLength,
    Words,
}

const SPEC: Spec<WcFlag> = Spec::new(
    "[OPTION]... [FILE]...\n[OPTION]... --files0-from=F",
    "Count lines, words and bytes of each FILE, and all together.",
    &[
        Opt::new(WcFlag::Bytes, 'c', "bytes").with_help("Count bytes"),
        Opt::new(WcFlag::Chars, 'm', "chars").with_help("Count characters"),
        Opt::new(WcFlag::Lines, 'l', "lines").with_help("Count newlines"),
        Opt::long(WcFlag::Files0From, "files0-from").with_argument("F", words::FILES0),
        Opt::new(WcFlag::MaxLineLength, 'L', "max-line-length")
            .with_help("Print the width of the longest line"),
        Opt::new(WcFlag::Words, 'w', "words").with_help("Count words"),
    ],
)
.reads_standard_input()
.with_examples(&[("wc -l FILE", "Number of lines")]);

#[derive(Clone, Copy)]
struct WcShow {
    lines: bool,
    words: bool,
    chars: bool,
    bytes: bool,
    width: bool,
    utf8: bool,
}

#[derive(Clone, Copy, Default)]
struct WcCounts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
    width: u64,
}

/// The state that is carried from block to block.
#[derive(Default)]
struct WcState {
    in_word: bool,
    column: u64,
    /// The beginning of a character that the end of a block has cut.
    partial: Vec<u8>,
}

impl WcShow {
    fn from_options(p: &ParsedOptions<WcFlag>, utf8: bool) -> WcShow {
        let any =
            [WcFlag::Bytes, WcFlag::Chars, WcFlag::Lines, WcFlag::MaxLineLength, WcFlag::Words];
        let none = !any.iter().any(|flag| p.has_option(*flag));
        WcShow {
            lines: none || p.has_option(WcFlag::Lines),
            words: none || p.has_option(WcFlag::Words),
            chars: p.has_option(WcFlag::Chars),
            bytes: none || p.has_option(WcFlag::Bytes),
            width: p.has_option(WcFlag::MaxLineLength),
            utf8,
        }
    }

    fn column_count(self) -> usize {
        let shown = [self.lines, self.words, self.chars, self.bytes, self.width];
        shown.iter().filter(|c| **c).count()
    }
}

impl WcCounts {
    fn add(&mut self, other: &WcCounts) {
        self.lines += other.lines;
        self.words += other.words;
        self.chars += other.chars;
        self.bytes += other.bytes;
        self.width = self.width.max(other.width);
    }
}

struct WcPlan {
    show: WcShow,
    files: Vec<Vec<u8>>,
    /// Whether the lines of output have names.
    named: bool,
    /// The number of invalid names in the list of files.
    unusable: usize,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).and_then(|plan| count_all(ctx, &plan))
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<WcPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let show = WcShow::from_options(&p, ctx.env.is_utf8());
    if let Some(list) = p.last_value(WcFlag::Files0From) {
        let (files, unusable) = files0::read(ctx, list, &p.operands)?;
        return Ok(WcPlan { show, files, named: true, unusable });
    }
    let named = !p.operands.is_empty();
    Ok(WcPlan { show, files: input::or_stdin(p.operands), named, unusable: 0 })
}

fn count_all(ctx: &mut Ctx<'_>, plan: &WcPlan) -> Ended {
    let show = plan.show;
    let mut exit = if plan.unusable > 0 { Exit::FAILURE } else { Exit::SUCCESS };
    let width = number_width(ctx, &plan.files, show.column_count());
    let mut total = WcCounts::default();
    for file in &plan.files {
        let mut counts = WcCounts::default();
        let result = match input::open_operand(&mut ctx.stdin, &ctx.cwd, file) {
            Ok(mut r) => count_input(&mut r, show, &mut counts),
            Err(e) => Err(CopyStop::Read(e)),
        };
        let mut opened = true;
        if let Err(CopyStop::Read(e)) = result {
            exit = input::file_error(ctx, file, &e);
            // Nothing is printed for a file that cannot be opened. A directory counts as empty.
            opened = e.raw_os_error() == Some(box_sys::errno::code::EISDIR);
        }
        if opened {
            let name = plan.named.then_some(file.as_slice());
            print_line(ctx, show, &counts, width, name).map_err(|_| Exit::FAILURE)?;
        }
        total.add(&counts);
    }
    if plan.files.len() + plan.unusable > 1 {
        print_line(ctx, show, &total, width, Some(b"total")).map_err(|_| Exit::FAILURE)?;
    }
    Ok(exit)
}

/// Returns the width of the columns. It is the width of the sum of the files' sizes, but at least 7
/// if one of them is not a regular file, and 1 if a single number is printed.
fn number_width(ctx: &Ctx<'_>, files: &[Vec<u8>], columns: usize) -> usize {
    if files.len() == 1 && columns == 1 {
        return 1;
    }
    let (mut total, mut least) = (0u64, 1);
    for f in files {
        let regular = if f == b"-" {
            match ctx.stdin.source() {
                InputSource::File(file) => file.metadata().ok().map(|m| (m.is_file(), m.len())),
                _ => Some((false, 0)),
            }
        } else {
            meta::stat(&ctx.path(f), true).ok().map(|s| (s.kind == FileKind::File, s.size))
        };
        match regular {
            Some((true, size)) => total = total.saturating_add(size),
            Some((false, _)) => least = 7,
            None => {}
        }
    }
    total.to_string().len().max(least)
}

fn print_line(
    ctx: &mut Ctx<'_>,
    show: WcShow,
    c: &WcCounts,
    width: usize,
    name: Option<&[u8]>,
) -> std::io::Result<()> {
    let mut out = Vec::with_capacity(64);
    for (shown, n) in [
        (show.lines, c.lines),
        (show.words, c.words),
        (show.chars, c.chars),
        (show.bytes, c.bytes),
        (show.width, c.width),
    ] {
        if shown {
            if !out.is_empty() {
                out.push(b' ');
            }
            out.extend_from_slice(format!("{n:width$}").as_bytes());
        }
    }
    if let Some(n) = name {
        out.push(b' ');
        // A newline in a name must not look like the end of a line of output.
        if n.contains(&b'\n') {
            out.extend_from_slice(&quote::quote_in_sentence(n))
        } else {
            out.extend_from_slice(n)
        }
    }
    out.push(b'\n');
    ctx.stdout.write_all(&out)
}

fn count_input(
    reader: &mut input::InputFile<'_>,
    show: WcShow,
    c: &mut WcCounts,
) -> Result<(), CopyStop> {
    if show.bytes
        && !(show.lines || show.words || show.chars || show.width)
        && let input::InputFile::File(f) = reader
    {
        // Only the size is wanted. If it is 0, the contents may be generated when the file is read.
        if let Ok(m) = f.get_ref().metadata()
            && m.is_file()
            && m.len() > 0
        {
            c.bytes = m.len();
            return Ok(());
        }
    }
    let mut state = WcState::default();
    let complex = show.width || show.utf8 && (show.chars || show.words);
    input::for_each_block(reader, |block| {
        c.bytes += block.len() as u64;
        let ascii = complex && !show.width && state.partial.is_empty() && block.is_ascii();
        if complex && !ascii {
            count_characters(block, show, c, &mut state);
        } else {
            count_bytes(block, show, c, &mut state);
            c.chars += block.len() as u64;
        }
        Ok((block.len(), true))
    })?;
    c.words += u64::from(state.in_word);
    c.width = c.width.max(state.column);
    Ok(())
}

/// The number of bytes that are counted together. It is small enough for their counts to fit in a
/// byte.
const GROUP: usize = 128;

fn count_bytes(block: &[u8], show: WcShow, c: &mut WcCounts, state: &mut WcState) {
    if !show.words {
        if show.lines {
            c.lines += memchr::memchr_iter(b'\n', block).count() as u64;
        }
        return;
    }
    let Some((first, _)) = block.split_first() else { return };
    by_bytes(std::slice::from_ref(first), c, state);
    // Each byte is compared with the one before it. In a group without neutral bytes, a word ends
    // at each separator that follows a byte that is not a separator.
    let pairs = block.chunks(GROUP).zip(block[1..].chunks(GROUP));
    for (before, bytes) in pairs {
        let (mut ends, mut lines, mut neutral) = (0u8, 0u8, 0u8);
        for (before, byte) in before.iter().zip(bytes) {
            ends += u8::from(is_separator(*byte) & !is_separator(*before));
            lines += u8::from(*byte == b'\n');
            neutral |= u8::from(is_neutral(*before) | is_neutral(*byte));
        }
        if neutral != 0 {
            by_bytes(bytes, c, state);
            continue;
        }
        c.words += u64::from(ends);
        c.lines += u64::from(lines);
        state.in_word = bytes.last().is_some_and(|last| !is_separator(*last));
    }
}

fn is_separator(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(b'\t') < 5)
}

/// Returns whether a byte neither begins nor ends a word, because it is not printable.
fn is_neutral(byte: u8) -> bool {
    !is_separator(byte) & (byte.wrapping_sub(0x21) >= 0x5e)
}

fn by_bytes(bytes: &[u8], c: &mut WcCounts, state: &mut WcState) {
    for byte in bytes {
        if is_separator(*byte) {
            c.words += u64::from(state.in_word);
            c.lines += u64::from(*byte == b'\n');
            state.in_word = false;
        } else if !is_neutral(*byte) {
            state.in_word = true;
        }
    }
}

/// Counts a block by characters, for UTF-8 and for the display width.
fn count_characters(block: &[u8], show: WcShow, c: &mut WcCounts, state: &mut WcState) {
    let joined;
    let mut text = block;
    if !state.partial.is_empty() {
        joined = [state.partial.as_slice(), block].concat();
        state.partial.clear();
        text = &joined;
    }
    if !show.utf8 {
        for &b in text {
            count_character(char::from(b), b >= 0x80, c, state);
        }
        c.chars += text.len() as u64;
        return;
    }
    let mut rest = text;
    loop {
        let (valid, error) = match std::str::from_utf8(rest) {
            Ok(s) => (s, None),
            Err(e) => {
                let (good, _) = rest.split_at(e.valid_up_to());
                (std::str::from_utf8(good).unwrap_or_default(), Some(e))
            }
        };
        for ch in valid.chars() {
            count_character(ch, false, c, state);
        }
        c.chars += valid.chars().count() as u64;
        match error.map(|e| (e.valid_up_to(), e.error_len())) {
            None => return,
            // The block ends within a character, whose rest is in the next block.
            Some((at, None)) => {
                state.partial = rest[at..].to_vec();
                return;
            }
            // Invalid bytes are not characters, and they neither begin nor end a word.
            Some((at, Some(_))) => rest = &rest[at + 1..],
        }
    }
}

/// Counts one character. `opaque` says that it is a byte above 127 in a locale whose characters are
/// bytes.
fn count_character(ch: char, opaque: bool, c: &mut WcCounts, state: &mut WcState) {
    match ch {
        '\n' | '\r' | '\x0c' => {
            c.lines += u64::from(ch == '\n');
            c.width = c.width.max(state.column);
            state.column = 0;
        }
        '\t' => state.column += 8 - state.column % 8,
        _ => {}
    }
    if opaque {
        return;
    }
    let space = ch.is_whitespace() && ch != '\u{85}' || matches!(ch, '\u{2060}');
    if space {
        c.words += u64::from(state.in_word);
        state.in_word = false;
        state.column += u64::from(ch == ' ');
    } else if !ch.is_control() {
        state.in_word = true;
        state.column += locale::char_width(ch) as u64;
    }
}
