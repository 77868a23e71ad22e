//! Checks lists of sums (`-c`): compares each sum with that of the file it is listed for.

use std::io::{self, BufRead, Write};

use box_applet::{Ctx, Ended, Exit};

use super::algorithm::ShaAlgorithm;
use super::digest::{self, ReadMode};
use crate::common::input;

/// The settings of `-c`.
pub(super) struct CheckOptions {
    /// The function to use for a sum whose length fits two functions.
    pub algorithm: ShaAlgorithm,
    pub ignores_missing: bool,
    pub is_quiet: bool,
    pub is_silent: bool,
    pub is_strict: bool,
    pub warns: bool,
}

/// A line of a list.
#[derive(Debug, PartialEq, Eq)]
struct ListedSum {
    algorithm: ShaAlgorithm,
    mode: ReadMode,
    name: Vec<u8>,
    /// Hexadecimal digits in lower case.
    sum: Vec<u8>,
}

/// The number of lines of a list with each result.
#[derive(Default)]
struct CheckCounts {
    sums: u64,
    malformed: u64,
    unreadable: u64,
    mismatched: u64,
    matched: u64,
}

/// Checks all lists; returns the exit status. Stops at a list that cannot be read.
pub(super) fn check_lists(ctx: &mut Ctx<'_>, lists: &[Vec<u8>], options: &CheckOptions) -> Ended {
    let mut exit = Exit::SUCCESS;
    for list in lists {
        let lines = match read_lines(ctx, list) {
            Ok(lines) => lines,
            Err(e) => {
                ctx.io_error(list, &e);
                return Err(Exit::USAGE);
            }
        };
        if !check_lines(ctx, list, &lines, options)? {
            exit = Exit::FAILURE;
        }
    }
    Ok(exit)
}

fn read_lines(ctx: &mut Ctx<'_>, list: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let reader = input::open_operand(&mut ctx.stdin, &ctx.cwd, list)?;
    reader.split(b'\n').collect()
}

/// Checks the lines of a list; returns whether the check succeeded.
fn check_lines(
    ctx: &mut Ctx<'_>,
    list: &[u8],
    lines: &[Vec<u8>],
    options: &CheckOptions,
) -> Result<bool, Exit> {
    let mut counts = CheckCounts::default();
    let is_comment = |line: &[u8]| line.starts_with(b"#");
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !is_comment(line)) {
        let Some(listed) = parse_line(line, options.algorithm) else {
            counts.malformed += 1;
            if options.warns {
                let text = format!(": {}: improperly formatted SHA checksum line", at + 1);
                ctx.error_bytes(&[list, text.as_bytes()]);
            }
            continue;
        };
        counts.sums += 1;
        let verdict = match digest::file_sum(ctx, &listed.name, listed.algorithm, listed.mode) {
            Ok(sum) if sum.as_bytes() == listed.sum => {
                counts.matched += 1;
                "OK"
            }
            Ok(_) => {
                counts.mismatched += 1;
                "FAILED"
            }
            Err(e) if options.ignores_missing && e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => {
                ctx.io_error(&listed.name, &e);
                counts.unreadable += 1;
                "FAILED open or read"
            }
        };
        let is_hidden = options.is_silent || options.is_quiet && verdict == "OK";
        if !is_hidden {
            let line = [&listed.name[..], b": ", verdict.as_bytes(), b"\n"].concat();
            ctx.stdout.write_all(&line).map_err(|_| Exit::FAILURE)?;
        }
    }
    Ok(report_counts(ctx, list, &counts, options))
}

/// Prints the warnings about a list as a whole; returns whether the check of the list succeeded.
fn report_counts(
    ctx: &mut Ctx<'_>,
    list: &[u8],
    counts: &CheckCounts,
    options: &CheckOptions,
) -> bool {
    if counts.sums == 0 {
        ctx.error_bytes(&[list, b": no properly formatted SHA checksum lines found"]);
        return false;
    }
    let verified = counts.matched + counts.mismatched;
    if !options.is_silent {
        let plural = |n: u64, one: &str, more: &str| {
            (n > 0).then(|| format!("WARNING: {n} {}", if n == 1 { one } else { more }))
        };
        let warnings = [
            plural(
                counts.malformed,
                "line is improperly formatted",
                "lines are improperly formatted",
            ),
            plural(
                counts.unreadable,
                "listed file could not be read",
                "listed files could not be read",
            ),
            plural(
                counts.mismatched,
                "computed checksum did NOT match",
                "computed checksums did NOT match",
            ),
        ];
        for warning in warnings.into_iter().flatten() {
            ctx.error(warning);
        }
        if options.ignores_missing && verified == 0 {
            ctx.error_bytes(&[list, b": no file was verified"]);
        }
    }
    counts.unreadable == 0
        && counts.mismatched == 0
        && !(options.ignores_missing && verified == 0)
        && !(options.is_strict && counts.malformed > 0)
}

/// Parses a line of a list: `SUM  NAME`, or with a tag `SHA256 (NAME) = SUM`. If the line begins
/// with a backslash, the name contains escapes.
fn parse_line(line: &[u8], asked: ShaAlgorithm) -> Option<ListedSum> {
    let line = line.trim_ascii_start();
    let (line, is_escaped) = match line.strip_prefix(b"\\") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let (algorithm, mode, name, sum) =
        if line.starts_with(b"SHA") { parse_tagged(line)? } else { parse_plain(line, asked)? };
    let is_sum = sum.len() == algorithm.digits() && sum.iter().all(u8::is_ascii_hexdigit);
    if !is_sum || name.is_empty() {
        return None;
    }
    let name = if is_escaped { unescape_name(name) } else { name.to_vec() };
    Some(ListedSum { algorithm, mode, name, sum: sum.to_ascii_lowercase() })
}

/// The parts of a line: function, mode, name and sum.
type LineParts<'l> = (ShaAlgorithm, ReadMode, &'l [u8], &'l [u8]);

fn parse_tagged(line: &[u8]) -> Option<LineParts<'_>> {
    let open = line.windows(2).position(|pair| pair == b" (")?;
    let close = line.windows(4).rposition(|four| four == b") = ")?;
    let algorithm = ShaAlgorithm::from_tag(&line[..open])?;
    Some((algorithm, ReadMode::Binary, line.get(open + 2..close)?, &line[close + 4..]))
}

fn parse_plain(line: &[u8], asked: ShaAlgorithm) -> Option<LineParts<'_>> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let algorithm = ShaAlgorithm::from_digits(digits, asked)?;
    let (sum, rest) = line.split_at(digits);
    let [b' ' | b'\t', letter, name @ ..] = rest else { return None };
    Some((algorithm, ReadMode::from_letter(*letter)?, name, sum))
}

/// Escapes the newlines and backslashes in a name with a backslash each.
pub(super) fn escape_name(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            other => out.push(*other),
        }
    }
    out
}

fn unescape_name(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after.first()) {
            (b'\\', Some(b'n')) => out.push(b'\n'),
            (b'\\', Some(b'\\')) => out.push(b'\\'),
            _ => {
                out.push(*byte);
                continue;
            }
        }
        rest = after.get(1..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{ReadMode, ShaAlgorithm, parse_line};

    #[test]
    fn lines() {
        let sum = "0123456789abcdefABCD0123456789abcdefABCD";
        let parse = |line: &str| {
            parse_line(line.replace("SUM", sum).as_bytes(), ShaAlgorithm::Sha1)
                .map(|l| (l.mode, String::from_utf8(l.name).unwrap()))
        };
        assert_eq!(parse("SUM  a b"), Some((ReadMode::Text, "a b".into())));
        assert_eq!(parse(" SUM *a"), Some((ReadMode::Binary, "a".into())));
        assert_eq!(parse("\\SUM ^a\\\\b\\nc"), Some((ReadMode::Bits, "a\\b\nc".into())));
        assert_eq!(parse("SHA1 (a) = b) = SUM"), Some((ReadMode::Binary, "a) = b".into())));
        for bad in
            ["SUM a", "SUM\ta", "0SUM  a", "SHA2 (a) = SUM", "SHA256 (a) = SUM", "x", "SUM  "]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
