//! `file`: what kind of data a file holds, by its first bytes; the kinds people ask about,
//! in the words of the original program.

use std::io::{Read, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, meta};

use crate::common::input;

const SPEC: Spec = Spec {
    usage: "[OPTION...] [FILE...]",
    about: "Determine type of FILEs.",
    options: &[
        Opt::flag('b', "brief", "do not prepend filenames to output lines"),
        Opt::flag('i', "mime", "output MIME type strings"),
        Opt::flag('\u{1}', "mime-type", "output the MIME type").long_only(),
        Opt::flag('\u{2}', "mime-encoding", "output the MIME encoding").long_only(),
        Opt::value('f', "files-from", "FILE", "read the filenames to be examined from FILE"),
        Opt::value('F', "separator", "STRING", "use string as separator instead of ':'"),
        Opt::flag('h', "no-dereference", "don't follow symlinks (default)"),
        Opt::flag('k', "keep-going", "(ignored)"),
        Opt::flag('L', "dereference", "follow symlinks"),
        Opt::flag('N', "no-pad", "do not pad output"),
        Opt::flag('0', "print0", "terminate filenames with NUL"),
        Opt::flag('n', "no-buffer", "(ignored)"),
        Opt::flag('r', "raw", "(ignored)"),
        Opt::flag('s', "special-files", "treat special files as ordinary ones"),
        Opt::flag('z', "uncompress", "(ignored)"),
    ],
    after: "",
    posix_order: false,
};

/// Text, MIME type, MIME encoding.
struct Answer {
    text: String,
    mime: &'static str,
    charset: &'static str,
}

fn answer(text: impl Into<String>, mime: &'static str, charset: &'static str) -> Answer {
    Answer { text: text.into(), mime, charset }
}

/// Bytes looked at.
const HEAD: u64 = 256 * 1024;

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut files = p.operands.clone();
    if let Some(list) = p.last('f') {
        let mut text = Vec::new();
        let read =
            input::open(&mut ctx.stdin, &ctx.cwd, list).and_then(|mut r| r.read_to_end(&mut text));
        if let Err(e) = read {
            input::cannot(ctx, "Cannot open", list, &e);
            return Exit::FAILURE;
        }
        files.extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    }
    if files.is_empty() {
        let line = format!(
            "Usage: {} [-bhLNnrsz0] [-f FILE] [-F STRING] [-i|--mime-type|--mime-encoding] FILE...\n",
            ctx.name
        );
        let _ = ctx.stderr.write_all(line.as_bytes());
        return Exit::FAILURE;
    }
    let separator = p.last('F').unwrap_or(b":").to_vec();
    let widest = files.iter().map(|f| f.len()).max().unwrap_or(0);
    for f in &files {
        let a = examine(ctx, f, p.has('L'), p.has('s'));
        let text = match (p.has('i'), p.has('\u{1}'), p.has('\u{2}')) {
            _ if a.mime == "cannot open" => a.text,
            (true, ..) if a.charset.is_empty() => a.mime.to_string(),
            (true, ..) | (_, true, true) => format!("{}; charset={}", a.mime, a.charset),
            (_, true, _) => a.mime.to_string(),
            (_, _, true) => a.charset.to_string(),
            _ => a.text,
        };
        let mut out = Vec::new();
        if !p.has('b') {
            let shown: &[u8] = if f == b"-" { b"/dev/stdin" } else { f };
            out.extend_from_slice(shown);
            if p.has('0') {
                out.push(0);
            } else {
                out.extend_from_slice(&separator);
                let fill = if p.has('N') { 0 } else { widest.saturating_sub(f.len()) };
                out.resize(out.len() + 1 + fill, b' ');
            }
        }
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
        if ctx.stdout.write_all(&out).is_err() {
            return Exit::FAILURE;
        }
    }
    Exit::SUCCESS
}

fn examine(ctx: &mut Ctx<'_>, name: &[u8], follow: bool, special: bool) -> Answer {
    let path = ctx.path(name);
    if name != b"-" {
        let stat = match meta::stat(&path, follow) {
            Ok(s) => s,
            Err(e) => {
                let text = format!(
                    "cannot open `{}' ({})",
                    String::from_utf8_lossy(name),
                    box_sys::strerror(&e)
                );
                return answer(text, "cannot open", "binary");
            }
        };
        match stat.kind {
            Kind::Dir => return answer("directory", "inode/directory", "binary"),
            Kind::Symlink => {
                let target = std::fs::read_link(&path)
                    .map(|t| t.to_string_lossy().into_owned())
                    .unwrap_or_default();
                let broken = meta::stat(&path, true).is_err();
                let text = if broken {
                    format!("broken symbolic link to {target}")
                } else {
                    format!("symbolic link to {target}")
                };
                return answer(text, "inode/symlink", if broken { "" } else { "binary" });
            }
            Kind::Fifo => return answer("fifo (named pipe)", "inode/fifo", "binary"),
            Kind::Socket => return answer("socket", "inode/socket", "binary"),
            Kind::CharDevice if !special => {
                return answer("character special", "inode/chardevice", "binary");
            }
            Kind::BlockDevice if !special => {
                return answer("block special", "inode/blockdevice", "binary");
            }
            _ => {}
        }
    }
    let mut data = Vec::new();
    let read = input::open(&mut ctx.stdin, &ctx.cwd, name)
        .and_then(|r| r.take(HEAD).read_to_end(&mut data));
    if let Err(e) = read {
        let why = box_sys::strerror(&e);
        return answer(
            format!("regular file, no read permission ({why})"),
            "application/octet-stream",
            "binary",
        );
    }
    if data.is_empty() {
        return answer("empty", "inode/x-empty", "binary");
    }
    magic(&data).unwrap_or_else(|| text_or_data(&data))
}

fn be(d: &[u8], at: usize, n: usize) -> u64 {
    d.get(at..at + n).unwrap_or_default().iter().fold(0, |v, b| v << 8 | u64::from(*b))
}

fn le(d: &[u8], at: usize, n: usize) -> u64 {
    d.get(at..at + n).unwrap_or_default().iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

/// Formats known by their first bytes.
fn magic(d: &[u8]) -> Option<Answer> {
    let starts = |m: &[u8]| d.starts_with(m);
    let binary = |t: String, m: &'static str| Some(answer(t, m, "binary"));
    if starts(b"\x89PNG\r\n\x1a\n") {
        let (w, h, depth) = (be(d, 16, 4), be(d, 20, 4), be(d, 24, 1));
        let color = match d.get(25) {
            Some(0) => "grayscale",
            Some(2) => "/color RGB",
            Some(3) => "colormap",
            Some(4) => "gray+alpha",
            _ => "/color RGBA",
        };
        let color = if color.starts_with('/') {
            format!("{depth}-bit{color}")
        } else {
            format!("{depth}-bit {color}")
        };
        let laced = if d.get(28) == Some(&1) { "interlaced" } else { "non-interlaced" };
        return binary(format!("PNG image data, {w} x {h}, {color}, {laced}"), "image/png");
    }
    if starts(b"GIF87a") || starts(b"GIF89a") {
        let version = String::from_utf8_lossy(&d[3..6]).into_owned();
        return binary(
            format!("GIF image data, version {version}, {} x {}", le(d, 6, 2), le(d, 8, 2)),
            "image/gif",
        );
    }
    if starts(b"\xff\xd8\xff") {
        let jfif = if d.get(6..10) == Some(b"JFIF") {
            format!(", JFIF standard {}.{:02}", be(d, 11, 1), be(d, 12, 1))
        } else {
            String::new()
        };
        return binary(format!("JPEG image data{jfif}"), "image/jpeg");
    }
    if starts(b"RIFF") && d.get(8..12) == Some(b"WEBP") {
        return binary("RIFF (little-endian) data, Web/P image".into(), "image/webp");
    }
    if starts(b"RIFF") && d.get(8..12) == Some(b"WAVE") {
        return binary("RIFF (little-endian) data, WAVE audio".into(), "audio/x-wav");
    }
    if starts(b"BM") && d.len() > 26 && le(d, 6, 4) == 0 {
        return binary(
            format!(
                "PC bitmap, Windows 3.x format, {} x {} x {}",
                le(d, 18, 4),
                le(d, 22, 4),
                le(d, 28, 2)
            ),
            "image/bmp",
        );
    }
    if starts(b"%PDF-") {
        let version: String = d[5..]
            .iter()
            .take_while(|c| c.is_ascii_digit() || **c == b'.')
            .map(|c| char::from(*c))
            .collect();
        let charset = if d.is_ascii() { "us-ascii" } else { "binary" };
        return Some(answer(
            format!("PDF document, version {version}"),
            "application/pdf",
            charset,
        ));
    }
    if starts(b"\x1f\x8b") {
        return binary(gzip(d), "application/gzip");
    }
    if starts(b"BZh") && d.get(3).is_some_and(u8::is_ascii_digit) {
        return binary(
            format!("bzip2 compressed data, block size = {}00k", char::from(d[3])),
            "application/x-bzip2",
        );
    }
    if starts(b"\xfd7zXZ\0") {
        let check = match d.get(7).map(|b| b & 15) {
            Some(0) => "none",
            Some(1) => "CRC32",
            Some(4) => "CRC64",
            _ => "SHA-256",
        };
        return binary(format!("XZ compressed data, checksum {check}"), "application/x-xz");
    }
    if starts(b"\x28\xb5\x2f\xfd") {
        return binary(
            "Zstandard compressed data (v0.8+), Dictionary ID: None".into(),
            "application/zstd",
        );
    }
    if starts(b"7z\xbc\xaf\x27\x1c") {
        return binary(
            format!("7-zip archive data, version {}.{}", be(d, 6, 1), be(d, 7, 1)),
            "application/x-7z-compressed",
        );
    }
    if starts(b"PK\x03\x04") {
        let version = le(d, 4, 2);
        let method = match le(d, 8, 2) {
            0 => "store",
            8 => "deflate",
            12 => "bzip2",
            _ => "unknown",
        };
        let name_end = 30 + le(d, 26, 2) as usize;
        let name = d.get(30..name_end).unwrap_or_default();
        let holds = |part: &[u8]| memchr::memmem::find(d, part).is_some();
        if name == b"[Content_Types].xml" || name.starts_with(b"_rels/") {
            for (dir, text, mime) in [
                (
                    &b"word/"[..],
                    "Microsoft Word 2007+",
                    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                ),
                (
                    b"xl/",
                    "Microsoft Excel 2007+",
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                ),
                (
                    b"ppt/",
                    "Microsoft PowerPoint 2007+",
                    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                ),
            ] {
                if holds(dir) {
                    return binary(text.into(), mime);
                }
            }
        }
        if name.starts_with(b"META-INF/") {
            return binary("Java archive data (JAR)".into(), "application/java-archive");
        }
        return binary(
            format!(
                "Zip archive data, at least v{}.{} to extract, compression method={method}",
                version / 10,
                version % 10
            ),
            "application/zip",
        );
    }
    if starts(b"PK\x05\x06") {
        return binary("Zip archive data (empty)".into(), "application/zip");
    }
    if d.get(257..262) == Some(b"ustar") {
        let gnu = d.get(262..264) == Some(b" \0".as_slice()) || d.get(262) == Some(&b' ');
        return binary(
            if gnu { "POSIX tar archive (GNU)".into() } else { "POSIX tar archive".into() },
            "application/x-tar",
        );
    }
    if starts(b"\0asm") {
        return binary(
            format!("WebAssembly (wasm) binary module version {:#x} (MVP)", le(d, 4, 4)),
            "application/wasm",
        );
    }
    if starts(b"\x7fELF") {
        let class = if d.get(4) == Some(&2) { "64-bit" } else { "32-bit" };
        let order = if d.get(5) == Some(&2) { "MSB" } else { "LSB" };
        let kind = match le(d, 16, 2) {
            1 => "relocatable",
            2 => "executable",
            3 => "pie executable",
            _ => "core file",
        };
        let machine = match le(d, 18, 2) {
            3 => "Intel 80386",
            0x28 => "ARM",
            0x3e => "x86-64",
            0xb7 => "ARM aarch64",
            0xf3 => "UCB RISC-V",
            _ => "unknown arch",
        };
        return binary(
            format!("ELF {class} {order} {kind}, {machine}, version 1 (SYSV)"),
            "application/x-executable",
        );
    }
    if starts(b"MZ") {
        return binary("PE32 executable (console), for MS Windows".into(), "application/x-dosexec");
    }
    if starts(b"SQLite format 3\0") {
        return binary("SQLite 3.x database".into(), "application/vnd.sqlite3");
    }
    if starts(b"\xca\xfe\xba\xbe") {
        return binary(
            format!("compiled Java class data, version {}.{}", be(d, 6, 2), be(d, 4, 2)),
            "application/x-java-applet",
        );
    }
    if starts(b"ID3") {
        return binary(
            format!("Audio file with ID3 version 2.{}.{}", be(d, 3, 1), be(d, 4, 1)),
            "audio/mpeg",
        );
    }
    if starts(b"OggS") {
        return binary("Ogg data".into(), "audio/ogg");
    }
    if starts(b"fLaC") {
        return binary("FLAC audio bitstream data".into(), "audio/flac");
    }
    if d.get(4..8) == Some(b"ftyp") {
        return binary("ISO Media, MP4 Base Media v1 [ISO 14496-12:2003]".into(), "video/mp4");
    }
    if starts(b"!<arch>\n") {
        let deb = d.get(8..21) == Some(b"debian-binary");
        return if deb {
            binary(
                "Debian binary package (format 2.0)".into(),
                "application/vnd.debian.binary-package",
            )
        } else {
            binary("current ar archive".into(), "application/x-archive")
        };
    }
    None
}

fn gzip(d: &[u8]) -> String {
    let flags = d.get(3).copied().unwrap_or(0);
    let mut text = String::from("gzip compressed data");
    if flags & 8 != 0 {
        let from = if flags & 4 != 0 { 12 + le(d, 10, 2) as usize } else { 10 };
        let name = d.get(from..).unwrap_or_default();
        let name = &name[..name.iter().position(|c| *c == 0).unwrap_or(name.len())];
        text.push_str(&format!(", was \"{}\"", String::from_utf8_lossy(name)));
    }
    let time = le(d, 4, 4);
    if time != 0 {
        let mut out = Vec::new();
        let t = box_text::time::Zone::utc().broken(time as i64, 0);
        box_text::time::strftime::format(&mut out, b"%a %b %e %H:%M:%S %Y", &t);
        text.push_str(&format!(", last modified: {}", String::from_utf8_lossy(&out)));
    }
    match d.get(8) {
        Some(2) => text.push_str(", max compression"),
        Some(4) => text.push_str(", max speed"),
        _ => {}
    }
    match d.get(9) {
        Some(3) => text.push_str(", from Unix"),
        Some(0) => text.push_str(", from FAT filesystem (MS-DOS, OS/2, NT)"),
        _ => {}
    }
    // The size is at the end, which was read if the file is small.
    if (d.len() as u64) < HEAD && d.len() > 18 {
        text.push_str(&format!(", original size modulo 2^32 {}", le(d, d.len() - 4, 4)));
    }
    text
}

/// The name of the interpreter in a `#!` line, as part of a description.
fn script(d: &[u8]) -> Option<(String, &'static str)> {
    let line = d.strip_prefix(b"#!")?.split(|c| *c == b'\n').next()?.trim_ascii();
    let mut words = line.split(|c| matches!(c, b' ' | b'\t')).filter(|w| !w.is_empty());
    let mut program = words.next()?;
    let full = program;
    let mut by_env = false;
    if program.ends_with(b"/env") {
        program = words.find(|w| !w.starts_with(b"-")).unwrap_or(program);
        by_env = true;
    }
    let base = program.rsplit(|c| *c == b'/').next()?;
    Some(match base {
        b"sh" | b"dash" => ("POSIX shell script".into(), "text/x-shellscript"),
        b"bash" => ("Bourne-Again shell script".into(), "text/x-shellscript"),
        b"zsh" => ("Paul Falstad's zsh script".into(), "text/x-shellscript"),
        b"ksh" => ("Korn shell script".into(), "text/x-shellscript"),
        b if b.starts_with(b"python") => ("Python script".into(), "text/x-script.python"),
        b"perl" => ("Perl script".into(), "text/x-perl"),
        b"ruby" => ("Ruby script".into(), "text/x-ruby"),
        b"node" => ("Node.js script executable".into(), "application/javascript"),
        b"awk" | b"gawk" => ("awk script".into(), "text/x-awk"),
        _ if by_env => (format!("a {} script", String::from_utf8_lossy(line)), "text/plain"),
        _ => (format!("a {} script", String::from_utf8_lossy(full)), "text/plain"),
    })
}

fn text_or_data(d: &[u8]) -> Answer {
    let bom = d.starts_with(b"\xef\xbb\xbf");
    if d.starts_with(b"\xff\xfe") || d.starts_with(b"\xfe\xff") {
        let (text, set) = if d[0] == 0xff {
            ("Unicode text, UTF-16, little-endian text", "utf-16le")
        } else {
            ("Unicode text, UTF-16, big-endian text", "utf-16be")
        };
        return answer(text, "text/plain", set);
    }
    // Controls that text does not have.
    let control = |b: &u8| *b < 0x20 && !matches!(b, 7..=13 | 0x1b) || *b == 0x7f;
    if d.iter().any(control) {
        return answer("data", "application/octet-stream", "binary");
    }
    let valid = match std::str::from_utf8(d) {
        Ok(_) => true,
        // Only the cut at the end may be wrong.
        Err(e) => e.error_len().is_none() && d.len() as u64 == HEAD,
    };
    let (encoding, charset) = if d.is_ascii() {
        ("ASCII", "us-ascii")
    } else if valid && bom {
        ("Unicode text, UTF-8 (with BOM)", "utf-8")
    } else if valid {
        ("Unicode text, UTF-8", "utf-8")
    } else if d.iter().any(|b| (0x80..0xa0).contains(b)) {
        ("Non-ISO extended-ASCII", "unknown-8bit")
    } else {
        ("ISO-8859", "iso-8859-1")
    };
    let body = d.strip_prefix(b"\xef\xbb\xbf".as_slice()).unwrap_or(d);
    let trimmed = body.trim_ascii_start();
    let lower: Vec<u8> = trimmed.iter().take(64).map(u8::to_ascii_lowercase).collect();
    let (kind, mime): (String, &'static str) = if let Some((t, m)) = script(body) {
        (t, m)
    } else if lower.starts_with(b"<?xml") {
        let version = memchr::memmem::find(trimmed, b"version=")
            .and_then(|i| trimmed.get(i + 9..i + 12))
            .map(|v| String::from_utf8_lossy(v).into_owned())
            .unwrap_or_else(|| "1.0".into());
        if memchr::memmem::find(trimmed, b"<svg").is_some() {
            ("SVG Scalable Vector Graphics image".into(), "image/svg+xml")
        } else {
            (format!("XML {version} document"), "text/xml")
        }
    } else if lower.starts_with(b"<svg") {
        ("SVG Scalable Vector Graphics image".into(), "image/svg+xml")
    } else if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") {
        ("HTML document".into(), "text/html")
    } else if matches!(trimmed.first(), Some(b'{' | b'[')) && is_json(trimmed) {
        ("JSON text data".into(), "application/json")
    } else if is_csv(body) {
        ("CSV text".into(), "text/csv")
    } else if is_c(body) {
        ("C source".into(), "text/x-c")
    } else if is_python(body) {
        ("Python script".into(), "text/x-script.python")
    } else {
        (String::new(), "text/plain")
    };
    if kind == "JSON text data" || kind.starts_with("SVG") {
        return answer(kind, mime, charset);
    }
    let text = match (kind.is_empty(), encoding.starts_with("Unicode")) {
        (true, true) => format!("{encoding} text"),
        (true, false) => format!("{encoding} text"),
        (false, _) if kind == "CSV text" => kind.clone(),
        (false, _) => format!("{kind}, {encoding} text"),
    };
    let executable =
        if kind.contains("script") && (d.starts_with(b"#!") || kind.starts_with("Python")) {
            " executable"
        } else {
            ""
        };
    let text =
        if executable.is_empty() { text } else { format!("{kind}, {encoding} text{executable}") };
    if kind == "CSV text" {
        return answer(text, mime, charset);
    }
    answer(format!("{text}{}", line_notes(d)), mime, charset)
}

/// `, with CRLF line terminators` and the like.
fn line_notes(d: &[u8]) -> String {
    let mut notes = String::new();
    let longest = d.split(|c| *c == b'\n').map(<[u8]>::len).max().unwrap_or(0);
    if longest > 300 {
        notes.push_str(&format!(", with very long lines ({longest})"));
    }
    let feeds = memchr::memchr_iter(b'\n', d).count();
    let pairs = memchr::memmem::find_iter(d, b"\r\n").count();
    let returns = memchr::memchr_iter(b'\r', d).count();
    let kinds: Vec<&str> =
        [(pairs > 0, "CRLF"), (returns > pairs, "CR"), (feeds > pairs && returns > 0, "LF")]
            .iter()
            .filter(|k| k.0)
            .map(|k| k.1)
            .collect();
    if feeds == 0 && returns == 0 {
        notes.push_str(", with no line terminators");
    } else if !kinds.is_empty() {
        notes.push_str(&format!(", with {} line terminators", kinds.join(", ")));
    }
    if d.contains(&0x1b) {
        notes.push_str(", with escape sequences");
    }
    if d.contains(&8) {
        notes.push_str(", with overstriking");
    }
    notes
}

/// Whether brackets and strings of the text fit together, as those of JSON do.
fn is_json(d: &[u8]) -> bool {
    let mut stack = Vec::new();
    let mut at = 0;
    let mut ended = false;
    while at < d.len() {
        match d[at] {
            _ if ended && !d[at].is_ascii_whitespace() => return false,
            b'{' | b'[' => stack.push(d[at]),
            b'}' | b']' => {
                let open = if d[at] == b'}' { b'{' } else { b'[' };
                if stack.pop() != Some(open) {
                    return false;
                }
                ended = stack.is_empty();
            }
            b'"' => {
                at += 1;
                while at < d.len() && d[at] != b'"' {
                    at += if d[at] == b'\\' { 2 } else { 1 };
                }
            }
            c if c.is_ascii_whitespace() || c.is_ascii_digit() => {}
            b',' | b':' | b'-' | b'+' | b'.' | b'e' | b'E' | b't' | b'r' | b'u' | b'f' | b'a'
            | b'l' | b's' | b'n' => {}
            _ => return false,
        }
        at += 1;
    }
    ended
}

/// At least two lines with the same number of commas, and more than one field.
fn is_csv(d: &[u8]) -> bool {
    let lines: Vec<&[u8]> = d.split(|c| *c == b'\n').filter(|l| !l.is_empty()).take(10).collect();
    let fields = |l: &[u8]| {
        let mut quoted = false;
        l.iter()
            .filter(|c| {
                if **c == b'"' {
                    quoted = !quoted;
                }
                **c == b',' && !quoted
            })
            .count()
    };
    let Some(first) = lines.first().map(|l| fields(l)) else { return false };
    lines.len() >= 2 && first >= 1 && lines.iter().all(|l| fields(l) == first)
}

fn is_c(d: &[u8]) -> bool {
    d.split(|c| *c == b'\n')
        .take(200)
        .any(|l| l.starts_with(b"#include <") || l.starts_with(b"#include \""))
}

fn is_python(d: &[u8]) -> bool {
    d.split(|c| *c == b'\n').take(200).any(|l| {
        l.starts_with(b"def ") && l.trim_ascii_end().ends_with(b":") && l.contains(&b'(')
            || l.starts_with(b"from ") && memchr::memmem::find(l, b" import ").is_some()
    })
}
