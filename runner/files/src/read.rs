//! `read` and `download`: a file's lines with their numbers, or its bytes.
//!
//! A file is read in pieces, and a line is kept up to a width, so memory does not depend on the
//! file's size.

use crate::list;
use crate::mime;
use crate::place::{FileCtx, PIECE};
use crate::text::{self, HEAD, TextDecoder};
use wasibox_protocol::files::{
    Cut, FileAnswer, FileBytes, FileText, FilesError, ReadOf, TextEncoding,
};
use wasibox_vfs::{FileKind, VfsFile};

/// The default number of lines and of bytes of text, and the maximum number of bytes.
const LINES: u64 = 2000;
const BYTES: u64 = 128 << 10;
const MOST_BYTES: u64 = 4 << 20;
/// The maximum number of bytes of a line that are shown.
const WIDTH: usize = 2000;
/// Largest image that is returned without a request for data.
const IMAGE: u64 = 5 << 20;
/// The number of bytes that `download` returns by default.
const PART: u64 = 1 << 20;

/// Reads a file, or lists a directory.
pub fn read(ctx: &FileCtx<'_>, r: &ReadOf) -> Result<FileAnswer, FilesError> {
    let path = ctx.absolute_path(&r.path);
    if ctx.stat_path(&r.path, true)?.kind == FileKind::Dir {
        let skip = r.offset.and_then(|n| u64::try_from(n.saturating_sub(1)).ok()).unwrap_or(0);
        let (entries, next_offset) = list::list_entries(ctx, &r.path, 1, true, skip, r.limit)?;
        let next_offset = next_offset.map(|n| n + 1);
        return Ok(FileAnswer::Read {
            path,
            size: 0,
            content: FileText::Directory { entries, next_offset },
        });
    }
    let (file, stat) = ctx.open(&r.path)?;
    let fail = |e| ctx.error_at("read", &r.path, e);
    let mut head = vec![0; HEAD];
    let n = file.read(0, &mut head).map_err(fail)?;
    head.truncate(n);
    let size = stat.size;
    let encoding = r.encoding.or_else(|| text::guess_encoding(&head));
    let image = mime::image_type(&head).filter(|_| r.encoding.is_none());
    let content = match (image, encoding) {
        _ if r.as_data => {
            let limit = ctx.limits.answer;
            if size > limit {
                return Err(FilesError::Invalid(format!(
                    "{path} has {size} bytes; as data at most {limit} are given at once: use download"
                )));
            }
            let mime = mime::mime_type(&path, &head, encoding.is_some());
            FileText::Data { mime, data: FileBytes(read_bytes(ctx, &file, &r.path, 0, size)?) }
        }
        (Some(mime), _) if size <= IMAGE.min(ctx.limits.answer) => {
            let data = FileBytes(read_bytes(ctx, &file, &r.path, 0, size)?);
            FileText::Data { mime: mime.to_owned(), data }
        }
        (Some(mime), _) => FileText::Binary {
            mime: mime.to_owned(),
            note: format!(
                "an image of {size} bytes, too large to be shown; make it smaller with a command, or use download"
            ),
        },
        (None, None) => FileText::Binary {
            mime: mime::mime_type(&path, &head, false),
            note: format!(
                "{size} bytes that are no text; read with as_data or download gives them in base64, \
                 encoding latin-1 as text"
            ),
        },
        (None, Some(encoding)) => read_lines(ctx, &file, r, encoding, &head)?,
    };
    Ok(FileAnswer::Read { path, size, content })
}

/// Reads `len` bytes, or fewer at the end of the file.
fn read_bytes(
    ctx: &FileCtx<'_>,
    file: &VfsFile,
    path: &str,
    from: u64,
    len: u64,
) -> Result<Vec<u8>, FilesError> {
    let mut out = Vec::new();
    let mut piece = vec![0; PIECE];
    while (out.len() as u64) < len {
        ctx.check_time("reading")?;
        let want = (len - out.len() as u64).min(PIECE as u64) as usize;
        let at = from + out.len() as u64;
        match file.read(at, &mut piece[..want]).map_err(|e| ctx.error_at("read", path, e))? {
            0 => break,
            n => out.extend_from_slice(&piece[..n]),
        }
    }
    Ok(out)
}

/// Returns a part of a file's bytes.
pub fn download_part(
    ctx: &FileCtx<'_>,
    path: &str,
    offset: u64,
    limit: Option<u64>,
) -> Result<FileAnswer, FilesError> {
    let (file, stat) = ctx.open(path)?;
    let limit = limit.unwrap_or(PART).min(ctx.limits.answer);
    if offset > stat.size {
        return Err(FilesError::Invalid(format!(
            "{} has {} bytes, offset {offset} is beyond its end",
            ctx.absolute_path(path),
            stat.size
        )));
    }
    let head = read_bytes(ctx, &file, path, 0, HEAD as u64)?;
    let data = read_bytes(ctx, &file, path, offset, limit)?;
    let end = offset + data.len() as u64;
    let shown = ctx.absolute_path(path);
    let mime = mime::mime_type(&shown, &head, text::guess_encoding(&head).is_some());
    let next_offset = (end < stat.size && !data.is_empty()).then_some(end);
    Ok(FileAnswer::Data { path: shown, size: stat.size, mime, data: FileBytes(data), next_offset })
}

/// A line that is read in pieces: its first bytes, and facts about it.
struct ReadLine<'a> {
    number: u64,
    bytes: &'a [u8],
    len: u64,
    offset: u64,
    /// Whether the line ends with a line feed, and whether with CR before it.
    ended: bool,
    crlf: bool,
}

/// Calls `each` for a file's lines until it returns false. Lines of UTF-16 are passed as UTF-8.
fn each_line(
    ctx: &FileCtx<'_>,
    file: &VfsFile,
    path: &str,
    encoding: TextEncoding,
    skip: usize,
    each: &mut dyn FnMut(ReadLine<'_>) -> bool,
) -> Result<(), FilesError> {
    let wide = matches!(encoding, TextEncoding::Utf16Le | TextEncoding::Utf16Be);
    let mut decoder = TextDecoder::new(encoding);
    let (mut piece, mut decoded) = (vec![0; PIECE], String::new());
    let mut at = skip as u64;
    let (mut number, mut len, mut offset) = (1, 0u64, at);
    let mut start: Vec<u8> = Vec::new();
    let mut before_end = 0;
    loop {
        ctx.check_time("reading")?;
        let n = file.read(at, &mut piece).map_err(|e| ctx.error_at("read", path, e))?;
        at += n as u64;
        let mut rest = &piece[..n];
        if wide {
            decoded.clear();
            decoder.add_part(rest, n == 0, &mut decoded);
            rest = decoded.as_bytes();
        }
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let part = &rest[..end.unwrap_or(rest.len())];
            let room = (WIDTH + 8).saturating_sub(start.len()).min(part.len());
            start.extend_from_slice(&part[..room]);
            len += part.len() as u64;
            before_end = part.last().copied().unwrap_or(before_end);
            let Some(end) = end else { break };
            let crlf = len > 0 && before_end == b'\r';
            if crlf && start.len() as u64 == len {
                start.pop();
            }
            let shown = len - u64::from(crlf);
            if !each(ReadLine { number, bytes: &start, len: shown, offset, ended: true, crlf }) {
                return Ok(());
            }
            offset += len + 1;
            (number, len, before_end) = (number + 1, 0, 0);
            start.clear();
            rest = &rest[end + 1..];
        }
        if n == 0 {
            break;
        }
    }
    if len > 0 {
        each(ReadLine { number, bytes: &start, len, offset, ended: false, crlf: false });
    }
    Ok(())
}

/// Reads the requested lines.
fn read_lines(
    ctx: &FileCtx<'_>,
    file: &VfsFile,
    r: &ReadOf,
    encoding: TextEncoding,
    head: &[u8],
) -> Result<FileText, FilesError> {
    let skip = text::mark_len(head, encoding);
    let most = r.max_bytes.unwrap_or(BYTES).clamp(1, MOST_BYTES.min(ctx.limits.answer)) as usize;
    let limit = r.limit.unwrap_or(LINES).max(1);
    let from = match r.offset {
        None | Some(0) => 1,
        Some(n @ 1..) => n as u64,
        Some(n) => {
            let mut count = 0;
            each_line(ctx, file, &r.path, encoding, skip, &mut |_| {
                count += 1;
                true
            })?;
            (count + 1u64).saturating_sub(n.unsigned_abs()).max(1)
        }
    };
    let wide = matches!(encoding, TextEncoding::Utf16Le | TextEncoding::Utf16Be);
    let (mut out, mut cut) = (String::new(), Vec::new());
    let (mut first, mut last, mut count, mut next) = (0, 0, 0, None);
    let (mut ends, mut crs, mut unended, mut invalid) = (0u64, 0u64, false, 0);
    each_line(ctx, file, &r.path, encoding, skip, &mut |line| {
        count = line.number;
        ends += u64::from(line.ended);
        crs += u64::from(line.crlf);
        unended = !line.ended;
        if line.number < from || next.is_some() {
            return true;
        }
        if line.number - from >= limit {
            next = Some(line.number);
            return true;
        }
        let mut decoder = TextDecoder::new(if wide { TextEncoding::Utf8 } else { encoding });
        let mut shown = String::new();
        let whole = line.bytes.len() as u64 == line.len && line.bytes.len() <= WIDTH;
        let bytes = &line.bytes[..line.bytes.len().min(WIDTH)];
        decoder.add_part(bytes, whole, &mut shown);
        let width = shown.len() + 16;
        if first != 0 && out.len() + width > most {
            next = Some(line.number);
            return true;
        }
        invalid += decoder.invalid;
        if first == 0 {
            first = line.number;
        }
        last = line.number;
        if r.numbers {
            out.push_str(&format!("{:>6}\t", line.number));
        }
        out.push_str(&shown);
        if !whole {
            out.push('…');
            let offset = (!wide).then_some(line.offset);
            cut.push(Cut { line: line.number, offset, bytes: line.len });
        }
        if line.ended || r.numbers {
            out.push('\n');
        }
        true
    })?;
    if first == 0 && (count > 0 || from > 1) {
        return Err(FilesError::Invalid(format!(
            "{} has {count} lines, offset {from} is beyond its end",
            ctx.absolute_path(&r.path)
        )));
    }
    let mut notes = Vec::new();
    if count == 0 {
        notes.push("the file is empty".to_owned());
    }
    if let Some(next) = next {
        notes.push(format!("lines {first} to {last} of {count}; continue with offset {next}"));
    }
    if !cut.is_empty() {
        notes.push("lines that end with … are longer: download gives their bytes".to_owned());
    }
    if invalid > 0 {
        notes.push(format!(
            "{invalid} bytes are no {}, shown as U+FFFD; if the file is latin-1, give that encoding",
            encoding.name()
        ));
    }
    if crs > 0 && crs < ends {
        notes.push(format!("{crs} of {ends} lines end with CR LF, the others with LF"));
    }
    Ok(FileText::Text {
        text: out,
        encoding,
        first,
        last,
        lines: Some(count),
        next_offset: next,
        crlf: crs > 0 && crs == ends,
        no_final_newline: unended,
        invalid,
        cut,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    })
}
