//! Recognises the languages and formats of text.

use super::{FileDescription, HEAD, file_answer};

/// Describes a script by the name of the interpreter in its `#!` line.
fn describe_script(d: &[u8]) -> Option<(String, &'static str)> {
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

/// Describes a file whose first bytes belong to no known format.
pub(super) fn text_or_data(d: &[u8]) -> FileDescription {
    match d {
        [0xff, 0xfe, ..] => {
            return file_answer(
                "Unicode text, UTF-16, little-endian text",
                "text/plain",
                "utf-16le",
            );
        }
        [0xfe, 0xff, ..] => {
            return file_answer("Unicode text, UTF-16, big-endian text", "text/plain", "utf-16be");
        }
        _ => {}
    }
    // Control characters that do not occur in text.
    let control = |b: &u8| *b < 0x20 && !matches!(b, 7..=13 | 0x1b) || *b == 0x7f;
    if d.iter().any(control) {
        return file_answer("data", "application/octet-stream", "binary");
    }
    let (encoding, charset) = detect_encoding(d);
    let body = d.strip_prefix(BOM).unwrap_or(d);
    let Some((kind, mime)) = detect_text_kind(body) else {
        return file_answer(format!("{encoding} text{}", line_notes(d)), "text/plain", charset);
    };
    if matches!(kind.as_str(), JSON | SVG | CSV) {
        return file_answer(kind, mime, charset);
    }
    let is_script = kind.contains("script") && (d.starts_with(b"#!") || kind.starts_with("Python"));
    let executable = if is_script { " executable" } else { "" };
    file_answer(format!("{kind}, {encoding} text{executable}{}", line_notes(d)), mime, charset)
}

const BOM: &[u8] = b"\xef\xbb\xbf";
const JSON: &str = "JSON text data";
const SVG: &str = "SVG Scalable Vector Graphics image";
const CSV: &str = "CSV text";

/// Returns the encoding of a text, in words and as a MIME name.
fn detect_encoding(d: &[u8]) -> (&'static str, &'static str) {
    let valid = match std::str::from_utf8(d) {
        Ok(_) => true,
        // Only a character that is cut off at the end may be invalid.
        Err(e) => e.error_len().is_none() && d.len() as u64 == HEAD,
    };
    if d.is_ascii() {
        ("ASCII", "us-ascii")
    } else if valid && d.starts_with(BOM) {
        ("Unicode text, UTF-8 (with BOM)", "utf-8")
    } else if valid {
        ("Unicode text, UTF-8", "utf-8")
    } else if d.iter().any(|b| (0x80..0xa0).contains(b)) {
        ("Non-ISO extended-ASCII", "unknown-8bit")
    } else {
        ("ISO-8859", "iso-8859-1")
    }
}

/// Returns the kind of text, if one is recognised, and its MIME type.
fn detect_text_kind(body: &[u8]) -> Option<(String, &'static str)> {
    let trimmed = body.trim_ascii_start();
    let lower: Vec<u8> = trimmed.iter().take(64).map(u8::to_ascii_lowercase).collect();
    if let Some(script) = describe_script(body) {
        return Some(script);
    }
    let is_xml = lower.starts_with(b"<?xml");
    let has_svg = is_xml && memchr::memmem::find(trimmed, b"<svg").is_some();
    let (kind, mime) = if has_svg || lower.starts_with(b"<svg") {
        (SVG, "image/svg+xml")
    } else if is_xml {
        let version = memchr::memmem::find(trimmed, b"version=")
            .and_then(|i| trimmed.get(i + 9..i + 12))
            .map_or("1.0".into(), String::from_utf8_lossy);
        return Some((format!("XML {version} document"), "text/xml"));
    } else if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") {
        ("HTML document", "text/html")
    } else if matches!(trimmed.first(), Some(b'{' | b'[')) && is_json(trimmed) {
        (JSON, "application/json")
    } else if is_csv(body) {
        (CSV, "text/csv")
    } else if is_c(body) {
        ("C source", "text/x-c")
    } else if is_python(body) {
        ("Python script", "text/x-script.python")
    } else {
        return None;
    };
    Some((kind.to_string(), mime))
}

/// Returns notes about lines, such as `, with CRLF line terminators`.
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

/// Returns whether the brackets and strings of the text are balanced, as in JSON.
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

/// Returns whether at least two lines have the same number of commas, and more than one field.
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
