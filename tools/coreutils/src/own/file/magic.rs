//! Formats that are recognised by their first bytes.

use super::{FileDescription, HEAD, file_answer};

fn read_be(d: &[u8], at: usize, n: usize) -> u64 {
    d.get(at..at + n).unwrap_or_default().iter().fold(0, |v, b| v << 8 | u64::from(*b))
}

fn read_le(d: &[u8], at: usize, n: usize) -> u64 {
    d.get(at..at + n).unwrap_or_default().iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

fn binary_answer(text: String, mime: &'static str) -> Option<FileDescription> {
    Some(file_answer(text, mime, "binary"))
}

/// Returns the format of a file that begins with these bytes, if it is a known one.
pub(super) fn detect_magic(d: &[u8]) -> Option<FileDescription> {
    detect_image(d)
        .or_else(|| detect_document(d))
        .or_else(|| detect_compressed(d))
        .or_else(|| detect_zip(d))
        .or_else(|| detect_archive(d))
        .or_else(|| detect_program(d))
        .or_else(|| audio_or_video(d))
}

fn detect_image(d: &[u8]) -> Option<FileDescription> {
    let starts = |m: &[u8]| d.starts_with(m);
    if starts(b"\x89PNG\r\n\x1a\n") {
        return detect_png(d);
    }
    if starts(b"GIF87a") || starts(b"GIF89a") {
        let version = String::from_utf8_lossy(&d[3..6]).into_owned();
        return binary_answer(
            format!(
                "GIF image data, version {version}, {} x {}",
                read_le(d, 6, 2),
                read_le(d, 8, 2)
            ),
            "image/gif",
        );
    }
    if starts(b"\xff\xd8\xff") {
        let jfif = if d.get(6..10) == Some(b"JFIF") {
            format!(", JFIF standard {}.{:02}", read_be(d, 11, 1), read_be(d, 12, 1))
        } else {
            String::new()
        };
        return binary_answer(format!("JPEG image data{jfif}"), "image/jpeg");
    }
    if starts(b"RIFF") && d.get(8..12) == Some(b"WEBP") {
        return binary_answer("RIFF (little-endian) data, Web/P image".into(), "image/webp");
    }
    if starts(b"BM") && d.len() > 26 && read_le(d, 6, 4) == 0 {
        return binary_answer(
            format!(
                "PC bitmap, Windows 3.x format, {} x {} x {}",
                read_le(d, 18, 4),
                read_le(d, 22, 4),
                read_le(d, 28, 2)
            ),
            "image/bmp",
        );
    }
    None
}

fn detect_png(d: &[u8]) -> Option<FileDescription> {
    let (w, h, depth) = (read_be(d, 16, 4), read_be(d, 20, 4), read_be(d, 24, 1));
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
    binary_answer(format!("PNG image data, {w} x {h}, {color}, {laced}"), "image/png")
}

fn detect_document(d: &[u8]) -> Option<FileDescription> {
    let starts = |m: &[u8]| d.starts_with(m);
    if starts(b"%PDF-") {
        let version: String = d[5..]
            .iter()
            .take_while(|c| c.is_ascii_digit() || **c == b'.')
            .map(|c| char::from(*c))
            .collect();
        let charset = if d.is_ascii() { "us-ascii" } else { "binary" };
        return Some(file_answer(
            format!("PDF document, version {version}"),
            "application/pdf",
            charset,
        ));
    }
    if starts(b"SQLite format 3\0") {
        return binary_answer("SQLite 3.x database".into(), "application/vnd.sqlite3");
    }
    None
}

fn detect_compressed(d: &[u8]) -> Option<FileDescription> {
    let starts = |m: &[u8]| d.starts_with(m);
    if starts(b"\x1f\x8b") {
        return binary_answer(describe_gzip(d), "application/gzip");
    }
    if starts(b"BZh") && d.get(3).is_some_and(u8::is_ascii_digit) {
        return binary_answer(
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
        return binary_answer(format!("XZ compressed data, checksum {check}"), "application/x-xz");
    }
    if starts(b"\x28\xb5\x2f\xfd") {
        return binary_answer(
            "Zstandard compressed data (v0.8+), Dictionary ID: None".into(),
            "application/zstd",
        );
    }
    if starts(b"7z\xbc\xaf\x27\x1c") {
        return binary_answer(
            format!("7-zip archive data, version {}.{}", read_be(d, 6, 1), read_be(d, 7, 1)),
            "application/x-7z-compressed",
        );
    }
    None
}

/// Describes a zip file, which may be an office document or a Java archive.
fn detect_zip(d: &[u8]) -> Option<FileDescription> {
    if d.starts_with(b"PK\x05\x06") {
        return binary_answer("Zip archive data (empty)".into(), "application/zip");
    }
    if !d.starts_with(b"PK\x03\x04") {
        return None;
    }
    let version = read_le(d, 4, 2);
    let method = match read_le(d, 8, 2) {
        0 => "store",
        8 => "deflate",
        12 => "bzip2",
        _ => "unknown",
    };
    let name_end = 30 + read_le(d, 26, 2) as usize;
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
                return binary_answer(text.into(), mime);
            }
        }
    }
    if name.starts_with(b"META-INF/") {
        return binary_answer("Java archive data (JAR)".into(), "application/java-archive");
    }
    binary_answer(
        format!(
            "Zip archive data, at least v{}.{} to extract, compression method={method}",
            version / 10,
            version % 10
        ),
        "application/zip",
    )
}

fn detect_archive(d: &[u8]) -> Option<FileDescription> {
    let starts = |m: &[u8]| d.starts_with(m);
    if d.get(257..262) == Some(b"ustar") {
        let gnu = d.get(262..264) == Some(b" \0".as_slice()) || d.get(262) == Some(&b' ');
        return binary_answer(
            if gnu { "POSIX tar archive (GNU)".into() } else { "POSIX tar archive".into() },
            "application/x-tar",
        );
    }
    if starts(b"!<arch>\n") {
        let deb = d.get(8..21) == Some(b"debian-binary");
        return if deb {
            binary_answer(
                "Debian binary package (format 2.0)".into(),
                "application/vnd.debian.binary-package",
            )
        } else {
            binary_answer("current ar archive".into(), "application/x-archive")
        };
    }
    None
}

fn detect_program(d: &[u8]) -> Option<FileDescription> {
    let starts = |m: &[u8]| d.starts_with(m);
    if starts(b"\0asm") {
        return binary_answer(
            format!("WebAssembly (wasm) binary module version {:#x} (MVP)", read_le(d, 4, 4)),
            "application/wasm",
        );
    }
    if starts(b"\x7fELF") {
        return detect_elf(d);
    }
    if starts(b"MZ") {
        return binary_answer(
            "PE32 executable (console), for MS Windows".into(),
            "application/x-dosexec",
        );
    }
    if starts(b"\xca\xfe\xba\xbe") {
        return binary_answer(
            format!("compiled Java class data, version {}.{}", read_be(d, 6, 2), read_be(d, 4, 2)),
            "application/x-java-applet",
        );
    }
    None
}

fn detect_elf(d: &[u8]) -> Option<FileDescription> {
    let class = if d.get(4) == Some(&2) { "64-bit" } else { "32-bit" };
    let order = if d.get(5) == Some(&2) { "MSB" } else { "LSB" };
    let kind = match read_le(d, 16, 2) {
        1 => "relocatable",
        2 => "executable",
        3 => "pie executable",
        _ => "core file",
    };
    let machine = match read_le(d, 18, 2) {
        3 => "Intel 80386",
        0x28 => "ARM",
        0x3e => "x86-64",
        0xb7 => "ARM aarch64",
        0xf3 => "UCB RISC-V",
        _ => "unknown arch",
    };
    binary_answer(
        format!("ELF {class} {order} {kind}, {machine}, version 1 (SYSV)"),
        "application/x-executable",
    )
}

fn audio_or_video(d: &[u8]) -> Option<FileDescription> {
    let starts = |m: &[u8]| d.starts_with(m);
    if starts(b"RIFF") && d.get(8..12) == Some(b"WAVE") {
        return binary_answer("RIFF (little-endian) data, WAVE audio".into(), "audio/x-wav");
    }
    if starts(b"ID3") {
        return binary_answer(
            format!("Audio file with ID3 version 2.{}.{}", read_be(d, 3, 1), read_be(d, 4, 1)),
            "audio/mpeg",
        );
    }
    if starts(b"OggS") {
        return binary_answer("Ogg data".into(), "audio/ogg");
    }
    if starts(b"fLaC") {
        return binary_answer("FLAC audio bitstream data".into(), "audio/flac");
    }
    if d.get(4..8) == Some(b"ftyp") {
        return binary_answer(
            "ISO Media, MP4 Base Media v1 [ISO 14496-12:2003]".into(),
            "video/mp4",
        );
    }
    None
}

fn describe_gzip(d: &[u8]) -> String {
    let flags = d.get(3).copied().unwrap_or(0);
    let mut text = String::from("gzip compressed data");
    if flags & 8 != 0 {
        let from = if flags & 4 != 0 { 12 + read_le(d, 10, 2) as usize } else { 10 };
        let name = d.get(from..).unwrap_or_default();
        let name = &name[..name.iter().position(|c| *c == 0).unwrap_or(name.len())];
        text.push_str(&format!(", was \"{}\"", String::from_utf8_lossy(name)));
    }
    let time = read_le(d, 4, 4);
    if time != 0 {
        let mut out = Vec::new();
        let t = box_text::time::Zone::utc().to_civil(time as i64, 0);
        box_text::time::strftime::format_date(&mut out, b"%a %b %e %H:%M:%S %Y", &t);
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
        text.push_str(&format!(", original size modulo 2^32 {}", read_le(d, d.len() - 4, 4)));
    }
    text
}
