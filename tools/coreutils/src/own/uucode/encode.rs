//! `uuencode`: encodes a file as lines of text.

use std::io::{self, BufRead, Read, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta;
use box_text::base64::encode_base64;

use super::BAD_OPERANDS;
use crate::common::input;

/// An option of `uuencode`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UuencodeFlag {
    Base64,
    EncodeName,
    Help,
    Version,
}

const SPEC: Spec<UuencodeFlag> = Spec::new(
    "[OPTION]... [FILE] NAME",
    "Write FILE, or standard input, as lines of printable characters, from which \
        uudecode makes the file NAME.",
    &[
        Opt::new(UuencodeFlag::Base64, 'm', "base64").with_help("Use the digits of base64"),
        Opt::new(UuencodeFlag::EncodeName, 'e', "encode-file-name")
            .with_help("Write NAME in base64, too"),
        Opt::new(UuencodeFlag::Help, 'h', ""),
        Opt::new(UuencodeFlag::Version, 'v', ""),
    ],
);

/// The number of bytes that every line encodes, except for the last one.
const LINE: usize = 45;

/// Returns the mode to write for standard input, which is that of a new file.
fn stdin_mode() -> u16 {
    0o666 & !meta::umask()
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(UuencodeFlag::Help) {
        let text = SPEC.help_text(&ctx.name);
        return Ok(ctx.print(&text));
    }
    if p.has_option(UuencodeFlag::Version) {
        return Ok(ctx.print(&ctx.version()));
    }
    let (file, name) = match p.operands.as_slice() {
        [name] => (None, name),
        [file, name] => (Some(file), name),
        [] => {
            input::missing_operand(ctx, None);
            return Err(BAD_OPERANDS);
        }
        [_, _, extra, ..] => {
            input::extra_operand(ctx, extra);
            return Err(BAD_OPERANDS);
        }
    };
    let is_base64 = p.has_option(UuencodeFlag::Base64);
    let is_name_encoded = p.has_option(UuencodeFlag::EncodeName);
    let header = match (is_base64, is_name_encoded) {
        (false, false) => "begin",
        (false, true) => "begin-encoded",
        (true, false) => "begin-base64",
        (true, true) => "begin-base64-encoded",
    };
    let name = if is_name_encoded { encode_base64(name).into_bytes() } else { name.clone() };
    let encoded = match file {
        None => {
            let header = format!("{header} {:o} ", stdin_mode());
            write_encoded(&mut ctx.stdin, &mut ctx.stdout, (header.as_bytes(), &name), is_base64)
        }
        Some(file) => input::open_file(&ctx.path(file)).and_then(|opened| {
            // The mode is looked up by name, because WASI's descriptors have no modes.
            let stat = meta::stat(&ctx.path(file), true);
            let mode = stat.map_or_else(|_| stdin_mode(), |stat| stat.mode & 0o777);
            let header = format!("{header} {mode:o} ");
            let mut reader = io::BufReader::with_capacity(input::BLOCK, opened);
            write_encoded(&mut reader, &mut ctx.stdout, (header.as_bytes(), &name), is_base64)
        }),
    };
    match encoded {
        Ok(()) => Ok(Exit::SUCCESS),
        Err(e) => {
            let shown = file.map_or(&b"standard input"[..], Vec::as_slice);
            Err(input::file_error(ctx, shown, &e))
        }
    }
}

/// Writes the header, the encoded data and the end.
///
/// # Errors
/// The input cannot be read. The output remembers its own errors.
fn write_encoded(
    reader: &mut impl BufRead,
    out: &mut impl Write,
    (header, name): (&[u8], &[u8]),
    is_base64: bool,
) -> io::Result<()> {
    // A failed write only ends the loop, because the output reports it when the tool ends.
    let mut is_open = out.write_all(&[header, name, b"\n"].concat()).is_ok();
    let mut line = Vec::with_capacity(LINE);
    while is_open {
        line.clear();
        reader.by_ref().take(LINE as u64).read_to_end(&mut line)?;
        if line.is_empty() {
            break;
        }
        let text = if is_base64 { encode_base64(&line).into_bytes() } else { encode_line(&line) };
        is_open = out.write_all(&[&text[..], b"\n"].concat()).is_ok();
    }
    let end: &[u8] = if is_base64 { b"====\n" } else { b"`\nend\n" };
    let _ = out.write_all(end);
    Ok(())
}

/// Encodes a line: the number of bytes, and then four characters for each three bytes.
fn encode_line(line: &[u8]) -> Vec<u8> {
    let digit = |bits: usize| if bits & 63 == 0 { b'`' } else { b' ' + (bits & 63) as u8 };
    let mut out = vec![digit(line.len())];
    for three in line.chunks(3) {
        let byte = |at: usize| usize::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        out.extend([18, 12, 6, 0].map(|shift| digit(bits >> shift)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encode_line;

    // Expected values: uuencode of sharutils 4.15.2.
    #[test]
    fn encoded_lines() {
        assert_eq!(encode_line(b"abc"), b"#86)C");
        assert_eq!(encode_line(b"\n38\n39\n"), b"'\"C,X\"C,Y\"@``".as_slice());
    }
}
