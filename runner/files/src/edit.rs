//! The requests `edit`, which replaces text, and `patch_lines`, which replaces lines by their
//! numbers.
//!
//! The text is searched for exactly as given. If it is not found, it is searched for with the
//! file's line ends (CR LF), and, if it ends with a line feed that the last line of the file lacks,
//! without that line feed. Nothing else is guessed: the error shows the most similar lines of the
//! file instead.

use crate::nearest::find_nearest;
use crate::place::FileCtx;
use crate::text::{EditableText, LineIndex, is_crlf, line_without_end, number_lines, to_crlf};
use memchr::memmem;
use std::borrow::Cow;
use wasibox_protocol::files::{EditOf, EditReplacement, FileAnswer, FilesError, PatchLines};

/// Limits of an answer that shows the edits: places, bytes, lines around a place, bytes of a line.
const PLACES: usize = 5;
const SHOWN: usize = 8 << 10;
const AROUND: usize = 3;
const WIDTH: usize = 300;
/// The maximum number of places that an error lists.
const NAMED: usize = 10;

/// Applies the replacements of an `edit` request to a file.
pub fn edit_file(ctx: &FileCtx<'_>, e: &EditOf) -> Result<FileAnswer, FilesError> {
    if e.edits.is_empty() {
        return Err(FilesError::Invalid("there are no edits".to_owned()));
    }
    let (file, stat) = ctx.read_whole(&e.path)?;
    let mut place = ctx.find_place(&e.path, false)?;
    place.stat = Some(stat);
    let mut text = EditableText::from_file(file, e.encoding, &place.shown)?;
    let mut places = Vec::new();
    let mut replacements = 0;
    for (i, one) in e.edits.iter().enumerate() {
        ctx.check_time("editing")?;
        let found = find_text(&text.bytes, one, i as u64 + 1, &place.shown)?;
        replacements += found.at.len() as u64;
        let grown = text.bytes.len() as u64
            + (found.new.len() as u64).saturating_sub(found.len as u64) * found.at.len() as u64;
        if grown > ctx.limits.edited {
            let limit = ctx.limits.edited;
            return Err(FilesError::TooLarge { path: place.shown, size: grown, limit });
        }
        text.bytes = replace_matches(&text.bytes, &found, &mut places);
    }
    ctx.replace(&place, &text.encode_text()?, None)?;
    let shown = show_places(&text.bytes, &places);
    Ok(FileAnswer::Edited { path: place.shown, replacements, shown })
}

/// The offsets at which a text was found, its length, and its replacement.
struct EditMatch<'a> {
    at: Vec<usize>,
    len: usize,
    new: Cow<'a, [u8]>,
}

fn find_text<'a>(
    text: &[u8],
    one: &'a EditReplacement,
    edit: u64,
    path: &str,
) -> Result<EditMatch<'a>, FilesError> {
    let (old, new) = (one.old.as_bytes(), one.new.as_bytes());
    if old.is_empty() {
        return Err(FilesError::EmptyOld { edit });
    }
    if old == new {
        return Err(FilesError::Same { edit });
    }
    let crlf = is_crlf(text);
    let places = |old: &[u8]| -> Vec<usize> { memmem::find_iter(text, old).collect() };
    let new = |crlf| if crlf { Cow::Owned(to_crlf(new)) } else { Cow::Borrowed(new) };
    let mut found = EditMatch { at: places(old), len: old.len(), new: new(crlf) };
    if found.at.is_empty() && old.contains(&b'\n') {
        let wide = to_crlf(old);
        found = EditMatch { at: places(&wide), len: wide.len(), new: new(true) };
    }
    if found.at.is_empty()
        && let Some(cut) = old.strip_suffix(b"\n")
        && !cut.is_empty()
    {
        let cut = if crlf { Cow::Owned(to_crlf(cut)) } else { Cow::Borrowed(cut) };
        if text.ends_with(&cut) {
            let new = new(crlf).into_owned();
            let shorter = new.strip_suffix(b"\n").map(|n| n.strip_suffix(b"\r").unwrap_or(n));
            let new = Cow::Owned(shorter.map_or(new.clone(), <[u8]>::to_vec));
            found = EditMatch { at: vec![text.len() - cut.len()], len: cut.len(), new };
        }
    }
    if found.at.is_empty() {
        return Err(FilesError::NoMatch {
            path: path.to_owned(),
            edit,
            nearest: find_nearest(&LineIndex::new(text), old),
            hint: missing_text_hint(&one.old),
        });
    }
    if found.at.len() > 1 && !one.replace_all {
        let lines = LineIndex::new(text);
        return Err(FilesError::Ambiguous {
            path: path.to_owned(),
            edit,
            count: found.at.len() as u64,
            lines: found.at.iter().take(NAMED).map(|at| lines.at(*at) as u64 + 1).collect(),
        });
    }
    Ok(found)
}

/// Returns a hint about the likely mistake in a text that was not found.
fn missing_text_hint(old: &str) -> Option<String> {
    let numbered =
        |l: &str| l.trim_start().split_once('\t').is_some_and(|(n, _)| n.parse::<u64>().is_ok());
    if old.lines().any(|l| !l.is_empty()) && old.lines().filter(|l| !l.is_empty()).all(numbered) {
        return Some("the numbers that read puts before lines are no part of the file".to_owned());
    }
    let marked = |l: &str| l.starts_with(['+', '-', ' ']);
    if old.lines().count() > 1
        && old.lines().all(marked)
        && old.lines().any(|l| !l.starts_with(' '))
    {
        return Some("this looks like a diff: apply_patch takes those".to_owned());
    }
    None
}

/// Replaces the matches and returns the new text. The positions of earlier replacements in `places`
/// are shifted, and the positions of the new ones are added.
fn replace_matches(
    text: &[u8],
    found: &EditMatch<'_>,
    places: &mut Vec<(usize, usize)>,
) -> Vec<u8> {
    let (old, new) = (found.len, found.new.len());
    for place in places.iter_mut() {
        let before = found.at.partition_point(|at| *at < place.0);
        place.0 = (place.0 + before * new).saturating_sub(before * old);
    }
    let mut out = Vec::with_capacity(text.len() + new);
    let mut from = 0;
    for (i, at) in found.at.iter().enumerate() {
        out.extend_from_slice(&text[from..*at]);
        if i < PLACES {
            places.push((out.len(), new));
        }
        out.extend_from_slice(&found.new);
        from = at + old;
    }
    out.extend_from_slice(&text[from..]);
    out
}

/// Shows places of a text, with some lines around them.
fn show_places(text: &[u8], places: &[(usize, usize)]) -> String {
    let lines = LineIndex::new(text);
    let mut ranges: Vec<(usize, usize)> = places
        .iter()
        .map(|(at, len)| {
            let at = (*at).min(text.len());
            let last = lines.at((at + len.saturating_sub(1)).min(text.len()));
            (lines.at(at).saturating_sub(AROUND), (last + AROUND + 1).min(lines.len()))
        })
        .collect();
    ranges.sort_unstable();
    let mut out = String::new();
    let (mut shown, mut end) = (0, 0);
    for (from, to) in ranges {
        let from = from.max(end);
        if from >= to {
            continue;
        }
        if shown == PLACES || out.len() > SHOWN {
            out.push_str("   ...\n");
            break;
        }
        if shown > 0 && from > end {
            out.push_str("   ...\n");
        }
        let few = to.min(from + 60);
        out.push_str(&number_lines(&lines.range(from, few), from as u64 + 1, WIDTH));
        if few < to {
            out.push_str("   ...\n");
        }
        (shown, end) = (shown + 1, to);
    }
    out
}

/// Replaces lines by their numbers.
pub fn patch_lines(ctx: &FileCtx<'_>, p: &PatchLines) -> Result<FileAnswer, FilesError> {
    let (file, stat) = ctx.read_whole(&p.path)?;
    let mut place = ctx.find_place(&p.path, false)?;
    place.stat = Some(stat);
    let mut text = EditableText::from_file(file, p.encoding, &place.shown)?;
    let lines = LineIndex::new(&text.bytes);
    let count = lines.len() as u64;
    let (first, last) = (p.first, p.last);
    // A range that begins one line beyond the end and is empty appends lines.
    if first == 0
        || last.checked_add(1).is_none_or(|l| l < first)
        || last > count
        || first > count + 1
    {
        let path = place.shown;
        return Err(FilesError::Lines { path, first, last, lines: count });
    }
    let (from, to) = (first as usize - 1, last as usize);
    if let Some(expect) = &p.expect {
        let now = lines.range(from, to);
        let wanted: Vec<&[u8]> = LineIndex::new(expect.as_bytes()).range(0, usize::MAX);
        let same = wanted.len() == now.len()
            && wanted.iter().zip(&now).all(|(a, b)| line_without_end(a) == line_without_end(b));
        if !same {
            return Err(FilesError::Unexpected {
                path: place.shown,
                first,
                last,
                found: number_lines(&now[..now.len().min(100)], first, WIDTH),
            });
        }
    }
    let crlf = is_crlf(&text.bytes);
    let end: &[u8] = if crlf { b"\r\n" } else { b"\n" };
    let mut new = if crlf { to_crlf(p.text.as_bytes()) } else { p.text.clone().into_bytes() };
    let old = &text.bytes[lines.start(from)..lines.start(to)];
    let at_end = to as u64 == count;
    // The last line stays without a line feed if it had none.
    let ended = !at_end || old.is_empty() || old.ends_with(b"\n");
    if !new.is_empty() {
        match (new.ends_with(b"\n"), ended) {
            (false, true) => new.extend_from_slice(end),
            (true, false) => {
                new.truncate(new.len() - 1);
                if new.ends_with(b"\r") {
                    new.pop();
                }
            }
            _ => {}
        }
    }
    let mut out = text.bytes[..lines.start(from)].to_vec();
    if !new.is_empty() && !out.is_empty() && !out.ends_with(b"\n") {
        out.extend_from_slice(end);
    }
    let at = out.len();
    out.extend_from_slice(&new);
    out.extend_from_slice(&text.bytes[lines.start(to)..]);
    let size = out.len() as u64;
    if size > ctx.limits.edited {
        let limit = ctx.limits.edited;
        return Err(FilesError::TooLarge { path: place.shown, size, limit });
    }
    text.bytes = out;
    ctx.replace(&place, &text.encode_text()?, None)?;
    let shown = show_places(&text.bytes, &[(at, new.len())]);
    Ok(FileAnswer::Edited { path: place.shown, replacements: 1, shown })
}
