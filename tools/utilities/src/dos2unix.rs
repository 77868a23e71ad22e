//! `dos2unix` and `unix2dos` (dos2unix 7.4.3): convert line ends.
//!
//! Deliberately absent: UTF-16 and the old character sets (`-iso`, `-437`, `-7`), for which `iconv`
//! is there.

use std::io::{Read, Write};
use std::path::Path;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, create_beside, inherit_metadata};
use box_sys::{FileKind, error_text, meta};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    AddBom,
    Ascii,
    Force,
    FollowLinks,
    Ignored,
    Info,
    KeepBom,
    KeepDate,
    Mac,
    Mode,
    NewFile,
    NewLine,
    OldFile,
    Quiet,
    RemoveBom,
    ReplaceLinks,
    Safe,
    SkipLinks,
    Verbose,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [FILE]...\n[OPTION]... -n IN OUT [IN OUT]...",
    "Convert the line ends of each FILE in place: dos2unix makes LF of CR LF, unix2dos the \
        reverse. Without FILE, convert standard input to standard output.",
    &[
        Opt::new(Flag::KeepBom, 'b', "keep-bom").with_help("Keep a byte order mark (unix2dos)"),
        Opt::new(Flag::RemoveBom, 'r', "remove-bom")
            .with_help("Remove a byte order mark (dos2unix)"),
        Opt::new(Flag::AddBom, 'm', "add-bom").with_help("Add a UTF-8 byte order mark"),
        Opt::new(Flag::Mode, 'c', "convmode")
            .with_argument("MODE", "Convert by MODE: ascii (the default), or mac for CR alone"),
        Opt::new(Flag::Force, 'f', "force").with_help("Convert binary files, too"),
        Opt::new(Flag::Safe, 's', "safe").with_help("Skip binary files (the default)"),
        Opt::new(Flag::Info, 'i', "info")
            .may_take("FLAGS", "Print the numbers of DOS, Unix and Mac line ends; c: names only"),
        Opt::new(Flag::KeepDate, 'k', "keepdate").with_help("Keep the time of the file"),
        Opt::new(Flag::NewLine, 'l', "newline").with_help("Add another line end to each"),
        Opt::new(Flag::NewFile, 'n', "newfile").with_help("Write to OUT instead of IN"),
        Opt::new(Flag::OldFile, 'o', "oldfile").with_help("Convert in place (the default)"),
        Opt::new(Flag::Quiet, 'q', "quiet").with_help("Print no messages"),
        Opt::new(Flag::FollowLinks, 'F', "follow-symlink")
            .with_help("Convert what symbolic links name"),
        Opt::new(Flag::ReplaceLinks, 'R', "replace-symlink")
            .with_help("Replace symbolic links by converted files"),
        Opt::new(Flag::SkipLinks, 'S', "skip-symlink").with_help("Skip links (the default)"),
        Opt::new(Flag::Verbose, 'v', "verbose").with_help("Print the numbers of line ends"),
        Opt::long(Flag::Mac, "mac"),
        Opt::long(Flag::Ascii, "ascii"),
        Opt::new(Flag::Ignored, 'u', "keep-utf16").with_help(words::IGNORED),
        Opt::long(Flag::Ignored, "allow-chown").with_help(words::SAME),
    ],
);

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The direction and the kind of a conversion.
struct Conversion {
    to_dos: bool,
    mac: bool,
    /// Each line end is followed by another one.
    doubled: bool,
    keep_bom: bool,
    add_bom: bool,
    force: bool,
}

/// The numbers of line ends in a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct LineEnds {
    dos: usize,
    unix: usize,
    mac: usize,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mac = match p.last_value(Flag::Mode) {
        Some(b"ascii") => false,
        Some(b"mac") => true,
        Some(other) => {
            ctx.error_bytes(&[b"invalid ", other, b" conversion mode specified"]);
            return Ok(Exit::FAILURE);
        }
        None => p.has_option(Flag::Mac),
    };
    let to_dos = ctx.applet == "unix2dos";
    let how = Conversion {
        to_dos,
        mac,
        doubled: p.has_option(Flag::NewLine),
        keep_bom: p
            .last_choice(&[(Flag::KeepBom, true), (Flag::RemoveBom, false)])
            .unwrap_or(to_dos),
        add_bom: p.has_option(Flag::AddBom),
        force: p.last_choice(&[(Flag::Force, true), (Flag::Safe, false)]).unwrap_or(false),
    };
    if p.has_option(Flag::Info) {
        return Ok(print_info(ctx, &p, &how));
    }
    if p.operands.is_empty() {
        return Ok(convert_stream(ctx, &how));
    }
    let mut status = Exit::SUCCESS;
    let pairs: Vec<(&[u8], Option<&[u8]>)> = if p.has_option(Flag::NewFile) {
        let mut pairs = Vec::new();
        for pair in p.operands.chunks(2) {
            let [from, to] = pair else {
                ctx.error_bytes(&[
                    b"target of file ",
                    &pair[0],
                    b" not specified in new-file mode",
                ]);
                return Ok(Exit::FAILURE);
            };
            pairs.push((from.as_slice(), Some(to.as_slice())));
        }
        pairs
    } else {
        p.operands.iter().map(|o| (o.as_slice(), None)).collect()
    };
    for (from, to) in pairs {
        if convert_file(ctx, &p, &how, from, to).is_err() && !p.has_option(Flag::Quiet) {
            status = Exit::USAGE;
        }
    }
    Ok(status)
}

/// Writes a message unless `-q` was given.
fn say(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>, parts: &[&[u8]]) {
    if !p.has_option(Flag::Quiet) {
        ctx.error_bytes(parts);
    }
}

/// Converts one file. `Err` is a failure that was reported; a skipped file is none.
fn convert_file(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<Flag>,
    how: &Conversion,
    from: &[u8],
    to: Option<&[u8]>,
) -> Result<(), ()> {
    let path = ctx.path(from);
    let source = match meta::stat(&path, false) {
        Ok(s) if s.kind == FileKind::Symlink && to.is_none() => {
            let links = [Flag::FollowLinks, Flag::ReplaceLinks, Flag::SkipLinks];
            if matches!(p.last_of(&links), None | Some(Flag::SkipLinks)) {
                say(ctx, p, &[b"Skipping symbolic link ", from, b"."]);
                return Ok(());
            }
            meta::stat(&path, true)
        }
        Ok(s) if s.kind == FileKind::Symlink => meta::stat(&path, true),
        other => other,
    };
    let old = match source {
        Ok(s) if s.kind == FileKind::File => s,
        Ok(_) => {
            say(ctx, p, &[b"Skipping ", from, b", not a regular file."]);
            return Ok(());
        }
        Err(e) => {
            say(ctx, p, &[from, b": ", error_text(&e).as_bytes()]);
            say(ctx, p, &[b"Skipping ", from, b", not a regular file."]);
            return Err(());
        }
    };
    let text = ctx.read_file(from).map_err(|e| ctx.io_error(from, &e))?;
    if !how.force
        && let Some((line, byte)) = find_binary(&text)
    {
        let symbol = format!("Binary symbol 0x{byte:02X} found at line {line}");
        say(ctx, p, &[symbol.as_bytes()]);
        say(ctx, p, &[b"Skipping binary file ", from]);
        return Ok(());
    }
    let (converted, count) = convert(&text, how);
    let target = ctx.path(to.unwrap_or(from));
    let replaces = to.is_none()
        && p.last_of(&[Flag::ReplaceLinks, Flag::FollowLinks]) == Some(Flag::ReplaceLinks);
    write_result(ctx, &target, &converted, to.is_none().then_some(&old), replaces)
        .map_err(|e| ctx.io_error(to.unwrap_or(from), &e))?;
    if p.has_option(Flag::KeepDate) {
        let _ = meta::set_times(&target, Some(old.atime), Some(old.mtime), true);
    }
    if p.has_option(Flag::Verbose) {
        let text = format!("Converted {} out of {} line breaks.", count.0, count.1);
        say(ctx, p, &[text.as_bytes()]);
    }
    let format: &[u8] = if how.to_dos { b"DOS" } else { b"Unix" };
    match to {
        Some(to) => say(
            ctx,
            p,
            &[b"converting file ", from, b" to file ", to, b" in ", format, b" format..."],
        ),
        None => say(ctx, p, &[b"converting file ", from, b" to ", format, b" format..."]),
    }
    Ok(())
}

/// Writes a result to a new file that then replaces the old one, so that a failure leaves the old
/// one whole. A link that is followed is written through.
fn write_result(
    ctx: &Ctx<'_>,
    target: &Path,
    text: &[u8],
    old: Option<&meta::Stat>,
    replaces_link: bool,
) -> std::io::Result<()> {
    let is_link = meta::stat(target, false).is_ok_and(|s| s.kind == FileKind::Symlink);
    if is_link && !replaces_link {
        return std::fs::write(target, text);
    }
    let (mut file, path) = create_beside(ctx, target, "d2utmp")?;
    let done = file.write_all(text).and_then(|()| {
        if let Some(old) = old {
            inherit_metadata(old, &path);
        }
        std::fs::rename(&path, target)
    });
    if done.is_err() {
        let _ = std::fs::remove_file(&path);
    }
    done
}

/// Returns the line and the value of the first byte that text does not have.
fn find_binary(text: &[u8]) -> Option<(usize, u8)> {
    let is_binary = |c: &u8| *c < 32 && !matches!(c, b'\n' | b'\r' | b'\t' | 0x0c);
    let at = text.iter().position(is_binary)?;
    Some((text[..at].iter().filter(|c| **c == b'\n').count() + 1, text[at]))
}

/// Converts a whole text; returns it with the numbers of converted and of all line ends.
fn convert(text: &[u8], how: &Conversion) -> (Vec<u8>, (usize, usize)) {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let mut out = Vec::with_capacity(body.len() + body.len() / 16);
    if how.add_bom || (how.keep_bom && body.len() < text.len()) {
        out.extend_from_slice(BOM);
    }
    let (mut converted, mut all) = (0, 0);
    let mut at = 0;
    while let Some(&c) = body.get(at) {
        let pair = c == b'\r' && body.get(at + 1) == Some(&b'\n');
        let end: &[u8] = match (c, how.to_dos, how.mac) {
            (b'\r', false, false) if pair => b"\n",
            (b'\r', false, true) if !pair => b"\n",
            (b'\n', true, false) => b"\r\n",
            (b'\n', true, true) => b"\r",
            (b'\r', true, _) if pair => {
                out.extend_from_slice(if how.doubled { b"\r\n\r\n" } else { b"\r\n" });
                all += 1;
                at += 2;
                continue;
            }
            _ => {
                all += usize::from(c == b'\n');
                out.push(c);
                at += 1;
                continue;
            }
        };
        converted += 1;
        all += 1;
        out.extend_from_slice(end);
        if how.doubled {
            out.extend_from_slice(end);
        }
        at += if pair && !how.to_dos { 2 } else { 1 };
    }
    (out, (converted, all))
}

fn convert_stream(ctx: &mut Ctx<'_>, how: &Conversion) -> Exit {
    let mut text = Vec::new();
    if let Err(e) = ctx.stdin.read_to_end(&mut text) {
        ctx.io_error(b"stdin", &e);
        return Exit::FAILURE;
    }
    let (converted, _) = convert(&text, how);
    let _ = ctx.stdout.write_all(&converted);
    Exit::SUCCESS
}

fn count_ends(text: &[u8]) -> LineEnds {
    let mut ends = LineEnds::default();
    for (at, c) in text.iter().enumerate() {
        match c {
            b'\n' if at > 0 && text[at - 1] == b'\r' => ends.dos += 1,
            b'\n' => ends.unix += 1,
            b'\r' if text.get(at + 1) != Some(&b'\n') => ends.mac += 1,
            _ => {}
        }
    }
    ends
}

/// Prints a line for each file (`-i`), or with `c` the names of files that would be converted.
fn print_info(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>, how: &Conversion) -> Exit {
    let only_names = p.last_value(Flag::Info).is_some_and(|f| f.contains(&b'c'));
    let mut status = Exit::SUCCESS;
    let names: Vec<Vec<u8>> =
        if p.operands.is_empty() { vec![b"-".to_vec()] } else { p.operands.clone() };
    for name in names {
        let text = match ctx.read(&name) {
            Ok(text) => text,
            Err(e) => {
                ctx.io_error(&name, &e);
                status = Exit::USAGE;
                continue;
            }
        };
        let ends = count_ends(&text);
        let (gap, shown): (&[u8], &[u8]) =
            if p.operands.is_empty() { (b"", b"") } else { (b"  ", &name) };
        if only_names {
            let wanted = match (how.to_dos, how.mac) {
                (true, _) => ends.unix,
                (false, false) => ends.dos,
                (false, true) => ends.mac,
            };
            if wanted > 0 && find_binary(&text).is_none() {
                let _ = ctx.stdout.write_all(&[shown, b"\n"].concat());
            }
            continue;
        }
        let bom = if text.starts_with(BOM) { "UTF-8   " } else { "no_bom  " };
        let kind = if find_binary(&text).is_some() { "binary" } else { "text  " };
        let line = format!("  {:6}  {:6}  {:6}  {bom}  {kind}", ends.dos, ends.unix, ends.mac);
        let _ = ctx.stdout.write_all(&[line.as_bytes(), gap, shown, b"\n"].concat());
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversion(to_dos: bool, mac: bool) -> Conversion {
        Conversion { to_dos, mac, doubled: false, keep_bom: to_dos, add_bom: false, force: false }
    }

    /// The expected values are those of dos2unix 7.4.3.
    #[test]
    fn line_ends() {
        let text = |to_dos, mac, text: &[u8]| convert(text, &conversion(to_dos, mac)).0;
        assert_eq!(text(false, false, b"a\r\nb\rc\n"), b"a\nb\rc\n");
        assert_eq!(text(true, false, b"a\r\nb\nc\r"), b"a\r\nb\r\nc\r");
        assert_eq!(text(false, true, b"a\rb\r\n"), b"a\nb\r\n");
        assert_eq!(text(false, false, b"\xef\xbb\xbfx\r\n"), b"x\n");
        assert_eq!(text(true, false, b"\xef\xbb\xbfx\n"), b"\xef\xbb\xbfx\r\n");
        assert_eq!(convert(b"a\r\nb\n", &conversion(false, false)).1, (1, 2));
        assert_eq!(count_ends(b"\r\n\n\r"), LineEnds { dos: 1, unix: 1, mac: 1 });
        assert_eq!(find_binary(b"a\n\0"), Some((2, 0)));
    }
}
