//! Operands in their order: files, changes of directory, and the names in lists.

use box_applet::opts::{OptArg, ParsedOptions, UsageError};
use box_applet::{Ctx, Exit};
use std::io::Write;

use super::super::{FAILED, USAGE};
use super::table::{SPEC, TarFlag};
use super::{HINT, TarItem, usage_error};

/// The options of a command line, and its operands with their settings.
type ItemList = (ParsedOptions<TarFlag>, Vec<TarItem>);

/// Parses a command line. The order of operands, `-C` and `--no-recursion` matters, so options are
/// parsed up to each operand.
pub(super) fn parse_items(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<ItemList, Exit> {
    let args = modern_options(ctx, args)?;
    let (before, after) = match args.iter().position(|a| a == b"--") {
        Some(i) => (&args[..i], &args[i + 1..]),
        None => (&args[..], &args[..0]),
    };
    let mut given = ParsedOptions::default();
    let mut items = Vec::new();
    let mut rest = before.to_vec();
    loop {
        let parsed = match SPEC.parse(&rest) {
            Ok(p) => p,
            Err(UsageError::Message(m)) => {
                ctx.error(&m);
                let _ = ctx.stderr.write_all(HINT);
                return Err(Exit(USAGE));
            }
            Err(_) => {
                let error = SPEC.parse_or_exit(ctx, &rest, Exit(FAILED)).err();
                return Err(error.unwrap_or(Exit::SUCCESS));
            }
        };
        for (flag, value) in parsed.options {
            add_option(ctx, flag, value, &mut given, &mut items)?;
        }
        let mut operands = parsed.operands.into_iter();
        match operands.next() {
            Some(first) => items.push(TarItem::File(first)),
            None => break,
        }
        rest = operands.collect();
    }
    items.extend(after.iter().map(|a| TarItem::File(a.clone())));
    Ok((given, items))
}

/// Adds an option to `given`, or to `items` if its position among the operands matters.
fn add_option(
    ctx: &mut Ctx<'_>,
    flag: TarFlag,
    value: Option<Vec<u8>>,
    given: &mut ParsedOptions<TarFlag>,
    items: &mut Vec<TarItem>,
) -> Result<(), Exit> {
    match (flag, value) {
        (TarFlag::Directory, Some(dir)) => items.push(TarItem::Directory(dir)),
        (TarFlag::AddFile, Some(file)) => items.push(TarItem::File(file)),
        (TarFlag::NoRecursion, _) => items.push(TarItem::Recursion(false)),
        (TarFlag::Recursion, _) => items.push(TarItem::Recursion(true)),
        (TarFlag::FilesFrom, Some(file)) => {
            given.options.push((flag, None));
            items.extend(read_names(ctx, &file, given)?);
        }
        (flag, value) => given.options.push((flag, value)),
    }
    Ok(())
}

/// Converts option letters in the old style: `tar cfz x.tgz dir` becomes `tar -c -f x.tgz -z dir`.
fn modern_options(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Exit> {
    let Some((first, rest)) = args.split_first() else { return Ok(Vec::new()) };
    if first.first().is_none_or(|c| *c == b'-') || first.contains(&b'/') {
        return Ok(args.to_vec());
    }
    let mut rest = rest.iter();
    let mut out = Vec::new();
    for &c in first {
        out.push(vec![b'-', c]);
        if let Some(OptArg::Required(_)) = SPEC.argument_of(c) {
            let Some(value) = rest.next() else {
                let letter = char::from(c);
                let message = format!("Old option '{letter}' requires an argument.");
                return Err(usage_error(ctx, &message));
            };
            out.push(value.clone());
        }
    }
    out.extend(rest.cloned());
    Ok(out)
}

/// Reads the names in a list. A line may be `-C DIR` unless names are verbatim.
fn read_names(
    ctx: &mut Ctx<'_>,
    file: &[u8],
    given: &ParsedOptions<TarFlag>,
) -> Result<Vec<TarItem>, Exit> {
    let has_nul =
        given.last_choice(&[(TarFlag::Null, true), (TarFlag::NoNull, false)]).unwrap_or(false);
    let is_verbatim = given
        .last_choice(&[
            (TarFlag::VerbatimFilesFrom, true),
            (TarFlag::Null, true),
            (TarFlag::NoVerbatimFilesFrom, false),
            (TarFlag::NoNull, false),
        ])
        .unwrap_or(false);
    let text = read_list(ctx, file, "Cannot stat")?;
    let end = if has_nul { 0 } else { b'\n' };
    let mut items = Vec::new();
    let mut takes_directory = false;
    for line in text.split(|&c| c == end).filter(|l| !l.is_empty()) {
        if takes_directory {
            takes_directory = false;
            items.push(TarItem::Directory(line.to_vec()));
            continue;
        }
        let directory = [&b"--directory="[..], b"--directory ", b"-C"]
            .into_iter()
            .find_map(|option| line.strip_prefix(option))
            .filter(|_| !is_verbatim);
        match directory.map(<[u8]>::trim_ascii_start) {
            Some([]) => takes_directory = true,
            Some(dir) => items.push(TarItem::Directory(dir.to_vec())),
            None if is_verbatim => items.push(TarItem::File(line.to_vec())),
            None => items.push(TarItem::File(unquote_name(line))),
        }
    }
    Ok(items)
}

/// Reads a list; returns its text. `failure` is the message if it cannot be read.
pub(super) fn read_list(ctx: &mut Ctx<'_>, file: &[u8], failure: &str) -> Result<Vec<u8>, Exit> {
    ctx.read(file).map_err(|e| {
        let why = format!(": {failure}: {}", box_sys::error_text(&e));
        ctx.error_bytes(&[file, why.as_bytes()]);
        ctx.error("Error is not recoverable: exiting now");
        Exit(FAILED)
    })
}

/// Resolves the escapes in a name that `tar -t` prints: `\n`, `\t`, `\\`, `\NNN` and others.
fn unquote_name(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some((&c, tail)) = rest.split_first() {
        rest = tail;
        if c != b'\\' {
            out.push(c);
            continue;
        }
        let Some((&next, tail)) = rest.split_first() else {
            out.push(c);
            break;
        };
        let digits = rest.iter().take(3).take_while(|d| (b'0'..=b'7').contains(d)).count();
        if digits > 0 {
            let value = rest[..digits].iter().fold(0_u32, |n, d| n * 8 + u32::from(d - b'0'));
            out.push((value & 0xff) as u8);
            rest = &rest[digits..];
            continue;
        }
        rest = tail;
        match next {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'\\' => out.push(b'\\'),
            other => out.extend_from_slice(&[b'\\', other]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_names() {
        assert_eq!(unquote_name(b"a\\nb\\\\c\\0101\\q\\"), b"a\nb\\c\x081\\q\\");
    }
}
