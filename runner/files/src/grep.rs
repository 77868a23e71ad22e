//! `grep` and `search`: find lines of files, and places to edit.
//!
//! A file is read through a window that always ends at a line end and keeps the lines that may be
//! needed as leading context, so memory is bounded by the window and the answer. A line of more
//! than a megabyte is searched in parts.

use crate::errno::errno_name;
use crate::matcher::LineMatcher;
use crate::pattern::PathPattern;
use crate::place::{FileCtx, PIECE, lossy_text};
use crate::text::{self, HEAD, LineIndex, TextDecoder, cut_text, line_without_end};
use crate::walk::{WalkStep, walk_tree};
use memchr::memmem;
use std::collections::VecDeque;
use wasibox_protocol::files::{
    FileAnswer, FilesError, GrepAnswer, GrepHit, GrepLine, GrepOf, GrepOutput, SearchAnswer,
    SearchOf, Snippet, TextEncoding,
};
use wasibox_vfs::{Errno, FileKind, Loc, VfsFile};

/// The number of matches, and of bytes of lines, by default and at most.
const MATCHES: u64 = 200;
const MOST_MATCHES: u64 = 100_000;
const BYTES: u64 = 64 << 10;
const MOST_BYTES: u64 = 4 << 20;
/// The maximum number of bytes of a line that are shown.
const WIDTH: usize = 500;
/// The maximum number of lines of context on one side.
const CONTEXT: u32 = 50;
/// The longest line that is searched in one part, in bytes.
const LINE: usize = 1 << 20;
/// The maximum number of unreadable paths that an answer lists.
const FAILED: usize = 20;
/// Limits of `search`: places by default and at most, lines of a place, and the longest file in
/// which places are compared.
const PLACES: u64 = 20;
const MOST_PLACES: u64 = 200;
const PLACE_LINES: usize = 12;
const COMPARED: u64 = 4 << 20;

/// The rules that select the files to search.
struct GrepFileRules {
    include: Vec<PathPattern>,
    exclude: Vec<PathPattern>,
    hidden: bool,
}

impl GrepFileRules {
    fn new(
        include: &[String],
        exclude: &[String],
        hidden: bool,
    ) -> Result<GrepFileRules, FilesError> {
        let rules = |list: &[String]| {
            list.iter().map(|r| PathPattern::from_rule(r)).collect::<Result<Vec<_>, _>>()
        };
        Ok(GrepFileRules { include: rules(include)?, exclude: rules(exclude)?, hidden })
    }

    fn takes_path(&self, path: &[u8]) -> bool {
        (self.include.is_empty() || self.include.iter().any(|r| r.fits(path, true)))
            && !self.exclude.iter().any(|r| r.fits(path, true))
    }
}

/// Calls `each` for every file to search, with its directory, its name and its full path. `each`
/// returns whether to continue.
fn each_file(
    ctx: &FileCtx<'_>,
    path: &str,
    rules: &GrepFileRules,
    failed: &mut Vec<String>,
    each: &mut dyn FnMut(&Loc, &[u8], String) -> Result<Result<bool, Errno>, FilesError>,
) -> Result<(), FilesError> {
    let stat = ctx.stat_path(path, true)?;
    let full = ctx.absolute_path(path);
    if stat.kind == FileKind::File {
        return match each(ctx.base_of(), path.as_bytes(), full)? {
            Ok(_) => Ok(()),
            Err(e) => Err(ctx.error_at("read", path, e)),
        };
    }
    let top = ctx.resolve_path(path)?;
    ctx.dir_names(&top).map_err(|e| ctx.error_at("search", path, e))?;
    let above = if full == "/" { String::new() } else { full };
    let list = std::cell::RefCell::new(failed);
    let note_failure = |path: &[u8], e: Errno| {
        let mut list = list.borrow_mut();
        if list.len() < FAILED {
            list.push(format!("{above}/{}: {} ({})", lossy_text(path), e.text(), errno_name(e)));
        }
    };
    walk_tree(ctx, top, "searching", &mut |path, e| note_failure(path, e), &mut |met| {
        if !rules.hidden && met.name.starts_with(b".") {
            return Ok(WalkStep::Past);
        }
        if met.kind == FileKind::Dir {
            let out = rules.exclude.iter().any(|r| r.fits(met.path, true));
            return Ok(if out { WalkStep::Past } else { WalkStep::Into });
        }
        if met.kind != FileKind::File || !rules.takes_path(met.path) {
            return Ok(WalkStep::Past);
        }
        match each(met.dir, met.name, format!("{above}/{}", lossy_text(met.path)))? {
            Ok(true) => Ok(WalkStep::Past),
            Ok(false) => Ok(WalkStep::Stop),
            Err(e) => {
                note_failure(met.path, e);
                Ok(WalkStep::Past)
            }
        }
    })
}

/// A window over a file that ends at a line end.
struct FileWindow<'a> {
    ctx: &'a FileCtx<'a>,
    file: &'a VfsFile,
    at: u64,
    /// Decodes UTF-16, which is searched as UTF-8.
    decoder: Option<TextDecoder>,
    data: Vec<u8>,
    /// The end of the complete lines.
    end: usize,
    over: bool,
}

impl FileWindow<'_> {
    /// Drops the window's bytes before `keep` and reads until at least one more line is complete;
    /// returns false at the end of the file.
    fn advance(&mut self, keep: usize) -> Result<Result<bool, Errno>, FilesError> {
        self.data.drain(..keep);
        self.end -= keep;
        loop {
            self.ctx.check_time("searching")?;
            if self.over {
                let more = self.data.len() > self.end;
                self.end = self.data.len();
                return Ok(Ok(more));
            }
            let from = self.data.len();
            let mut piece = vec![0; PIECE];
            let n = match self.file.read(self.at, &mut piece) {
                Ok(n) => n,
                Err(e) => return Ok(Err(e)),
            };
            self.at += n as u64;
            self.over = n == 0;
            match &mut self.decoder {
                None => self.data.extend_from_slice(&piece[..n]),
                Some(decoder) => {
                    let mut out = String::new();
                    decoder.add_part(&piece[..n], n == 0, &mut out);
                    self.data.extend_from_slice(out.as_bytes());
                }
            }
            if let Some(last) = memchr::memrchr(b'\n', &self.data[from..]) {
                self.end = from + last + 1;
                return Ok(Ok(true));
            }
            if self.data.len() - self.end > LINE {
                self.end = self.data.len();
                return Ok(Ok(true));
            }
        }
    }
}

/// A search through many files.
struct GrepRun<'a> {
    ctx: &'a FileCtx<'a>,
    matcher: LineMatcher,
    g: &'a GrepOf,
    out: GrepAnswer,
    limit: u64,
    bytes: usize,
    /// The number of matches (or files) so far, including those that were skipped.
    seen: u64,
}

/// Searches files for lines.
pub fn grep_files(ctx: &FileCtx<'_>, g: &GrepOf) -> Result<FileAnswer, FilesError> {
    let rules = GrepFileRules::new(&g.include, &g.exclude, g.hidden)?;
    let mut search = GrepRun {
        ctx,
        matcher: LineMatcher::new(&g.pattern, g.syntax, g.ignore_case, g.word)?,
        g,
        out: GrepAnswer::default(),
        limit: g.limit.unwrap_or(MATCHES).clamp(1, MOST_MATCHES),
        bytes: g.max_bytes.unwrap_or(BYTES).clamp(1, MOST_BYTES.min(ctx.limits.answer)) as usize,
        seen: 0,
    };
    let mut failed = Vec::new();
    let searched = each_file(ctx, &g.path, &rules, &mut failed, &mut |dir, name, path| {
        search.file(dir, name, path)
    });
    match searched {
        Ok(()) => {}
        // The matches found before the time was up are still useful.
        Err(FilesError::Time { .. }) if !search.out.files.is_empty() => {
            search.out.next_offset = Some(search.seen);
            search.out.note = Some("the time was up before all files were searched".to_owned());
        }
        Err(e) => return Err(e),
    }
    let gave_up = search.matcher.gave_up();
    let mut out = search.out;
    out.failed = failed;
    if gave_up > 0 {
        out.note = Some(format!(
            "in {gave_up} lines the pattern took too many steps: a simpler one finds more"
        ));
    }
    Ok(FileAnswer::Matches(out))
}

/// The state of the search in one file.
struct GrepState {
    hit: GrepHit,
    /// Number of the line that begins at `counted` in the window.
    number: u64,
    counted: usize,
    /// End in the window of the last line that was added to the answer.
    taken: usize,
    after: u32,
}

impl GrepState {
    /// Returns the number of the line that begins at a position. Positions must not decrease from
    /// call to call.
    fn number_at(&mut self, text: &[u8], at: usize) -> u64 {
        if at >= self.counted {
            self.number += memchr::memchr_iter(b'\n', &text[self.counted..at]).count() as u64;
            self.counted = at;
            return self.number;
        }
        self.number - memchr::memchr_iter(b'\n', &text[at..self.counted]).count() as u64
    }
}

/// Returns the end of the line that begins at `from`, including its line feed.
fn line_end(text: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |i| from + i + 1)
}

impl GrepRun<'_> {
    /// Searches a file; returns whether to continue with the next file.
    fn file(
        &mut self,
        dir: &Loc,
        name: &[u8],
        path: String,
    ) -> Result<Result<bool, Errno>, FilesError> {
        let (file, _) = match self.ctx.open_at(dir, name) {
            Ok(open) => open,
            Err(e) => return Ok(Err(e)),
        };
        let mut head = vec![0; HEAD];
        match file.read(0, &mut head) {
            Ok(n) => head.truncate(n),
            Err(e) => return Ok(Err(e)),
        }
        let Some(encoding) = text::guess_encoding(&head) else {
            self.out.binary += 1;
            return Ok(Ok(true));
        };
        self.out.searched += 1;
        let wide = matches!(encoding, TextEncoding::Utf16Le | TextEncoding::Utf16Be);
        let mut window = FileWindow {
            ctx: self.ctx,
            file: &file,
            at: text::mark_len(&head, encoding) as u64,
            decoder: wide.then(|| TextDecoder::new(encoding)),
            data: Vec::new(),
            end: 0,
            over: false,
        };
        let hit = GrepHit { path, ..GrepHit::default() };
        let mut lens = GrepState { hit, number: 1, counted: 0, taken: 0, after: 0 };
        let (mut at, mut keep, mut stop) = (0, 0, false);
        while !stop {
            match window.advance(keep)? {
                Ok(true) => {}
                Ok(false) => break,
                Err(e) => return Ok(Err(e)),
            }
            at -= keep;
            let text = &window.data[..window.end];
            stop = self.lines(text, at, &mut lens)?;
            at = text.len();
            keep = self.keep_from(text);
            // Numbers and positions are relative to the window.
            lens.number_at(text, at);
            lens.number = lens.number_at(text, keep);
            (lens.counted, lens.taken) = (0, lens.taken.saturating_sub(keep));
        }
        let full = self.finish_file(lens);
        Ok(Ok(!full))
    }

    /// Returns the start of the part of the window that is kept as leading context.
    fn keep_from(&self, text: &[u8]) -> usize {
        let (mut from, want) = (text.len(), self.g.before.min(CONTEXT));
        for _ in 0..want {
            if from == 0 || text.len() - from > 64 << 10 {
                break;
            }
            from = memchr::memrchr(b'\n', &text[..from - 1]).map_or(0, |i| i + 1);
        }
        from
    }

    /// Searches the window's lines from `at` on; returns whether the search of this file is
    /// complete.
    fn lines(
        &mut self,
        text: &[u8],
        mut at: usize,
        lens: &mut GrepState,
    ) -> Result<bool, FilesError> {
        let mut looked = 0;
        while at < text.len() {
            looked += 1;
            if looked % 256 == 0 || self.matcher.is_slow() {
                self.ctx.check_time("searching")?;
            }
            let Some(candidate) = self.matcher.find_candidate(text, at) else { break };
            let candidate = candidate.min(text.len() - 1);
            let start = memchr::memrchr(b'\n', &text[at..candidate]).map_or(at, |i| at + i + 1);
            let end = line_end(text, start);
            at = end;
            let Some(found) = self.matcher.find_match(line_without_end(&text[start..end])) else {
                continue;
            };
            lens.hit.count += 1;
            match self.g.output {
                GrepOutput::Files => return Ok(true),
                GrepOutput::Count => continue,
                GrepOutput::Content => {}
            }
            self.take_after(text, start, lens);
            if self.out.next_offset.is_some() {
                return Ok(true);
            }
            self.seen += 1;
            if self.seen <= self.g.offset {
                lens.hit.count -= 1;
                continue;
            }
            if self.out.count + lens.hit.count > self.limit || self.bytes == 0 {
                lens.hit.count -= 1;
                self.out.next_offset = Some(self.seen - 1);
                return Ok(true);
            }
            self.take_before(text, start, lens);
            self.take_line(text, (start, end), Some(found), lens);
            lens.after = self.g.after.min(CONTEXT);
        }
        self.take_after(text, text.len(), lens);
        Ok(false)
    }

    /// Adds the context lines before a match that are not in the answer yet.
    fn take_before(&mut self, text: &[u8], start: usize, lens: &mut GrepState) {
        let mut from = start;
        for _ in 0..self.g.before.min(CONTEXT) {
            if from <= lens.taken {
                break;
            }
            from = memchr::memrchr(b'\n', &text[..from - 1]).map_or(0, |i| i + 1);
        }
        let mut at = from.max(lens.taken);
        while at < start {
            let end = line_end(text, at);
            self.take_line(text, (at, end), None, lens);
            at = end;
        }
    }

    /// Adds the context lines after the last match that are still due and lie before `upto`.
    fn take_after(&mut self, text: &[u8], upto: usize, lens: &mut GrepState) {
        while lens.after > 0 && lens.taken < upto {
            let end = line_end(text, lens.taken);
            self.take_line(text, (lens.taken, end), None, lens);
            lens.after -= 1;
        }
    }

    /// Adds a line to the answer.
    fn take_line(
        &mut self,
        text: &[u8],
        (start, end): (usize, usize),
        found: Option<(usize, usize)>,
        lens: &mut GrepState,
    ) {
        let number = lens.number_at(text, start);
        lens.taken = end;
        let line = line_without_end(&text[start..end]);
        let shown = clip_line(line, found.map_or(0, |f| f.0));
        self.bytes = self.bytes.saturating_sub(shown.len() + 16);
        lens.hit.lines.push(GrepLine { number, text: shown, matches: found.is_some() });
    }

    /// Adds a file to the answer; returns whether the answer is full.
    fn finish_file(&mut self, lens: GrepState) -> bool {
        if self.g.output == GrepOutput::Content {
            self.out.count += lens.hit.count;
            if !lens.hit.lines.is_empty() {
                self.out.files.push(lens.hit);
            }
            return self.out.next_offset.is_some();
        }
        if lens.hit.count == 0 {
            return false;
        }
        self.seen += 1;
        if self.seen <= self.g.offset {
            return false;
        }
        if self.out.count >= self.limit || self.bytes == 0 {
            self.out.next_offset = Some(self.seen - 1);
            return true;
        }
        self.out.count += 1;
        self.bytes = self.bytes.saturating_sub(lens.hit.path.len() + 16);
        self.out.files.push(lens.hit);
        false
    }
}

/// Returns the part of a line that is shown, which contains the match.
fn clip_line(line: &[u8], found: usize) -> String {
    if line.len() <= WIDTH {
        return lossy_text(line);
    }
    let from = if found + 100 < WIDTH { 0 } else { found - 100 };
    // Moves to the start of a character.
    let from = (from..line.len().min(from + 4)).find(|i| line[*i] & 0xC0 != 0x80).unwrap_or(from);
    let text = lossy_text(&line[from..line.len().min(from + WIDTH + 4)]);
    let (part, more) = cut_text(&text, WIDTH);
    let dots = |yes| if yes { "…" } else { "" };
    format!("{}{part}{}", dots(from > 0), dots(more || from + WIDTH + 4 < line.len()))
}

/// Finds places to edit.
pub fn search_files(ctx: &FileCtx<'_>, s: &SearchOf) -> Result<FileAnswer, FilesError> {
    let rules = GrepFileRules::new(&s.include, &[], s.hidden)?;
    let matcher = LineMatcher::new(&s.pattern, s.syntax, s.ignore_case, false)?;
    let limit = s.limit.unwrap_or(PLACES).clamp(1, MOST_PLACES);
    let (mut out, mut seen, mut large, mut failed) = (SearchAnswer::default(), 0, 0, Vec::new());
    let (mut bytes, most) = (0, ctx.limits.answer.min(1 << 20) as usize);
    each_file(ctx, &s.path, &rules, &mut failed, &mut |dir, name, path| {
        let (file, stat) = match ctx.open_at(dir, name) {
            Ok(open) => open,
            Err(e) => return Ok(Err(e)),
        };
        if stat.size > COMPARED {
            large += 1;
            return Ok(Ok(true));
        }
        let bytes_of = match load_file(ctx, &file)? {
            Ok(bytes) => bytes,
            Err(e) => return Ok(Err(e)),
        };
        let Ok(text) = text::EditableText::from_file(bytes_of, None, &path) else {
            return Ok(Ok(true));
        };
        let lines = LineIndex::new(&text.bytes);
        let (mut at, mut past) = (0, 0);
        while at < text.bytes.len() {
            ctx.check_time("searching")?;
            let Some(candidate) = matcher.find_candidate(&text.bytes, at) else { break };
            let line = lines.at(candidate.min(text.bytes.len() - 1)).max(lines.at(at));
            at = lines.start(line + 1);
            if line < past || matcher.find_match(line_without_end(lines.get(line))).is_none() {
                continue;
            }
            seen += 1;
            if seen <= s.offset {
                continue;
            }
            if out.places.len() as u64 >= limit || bytes >= most {
                out.next_offset = Some(seen - 1);
                return Ok(Ok(false));
            }
            let place = unique_snippet(&text.bytes, &lines, line, &path);
            bytes += place.text.len() + path.len();
            past = place.last as usize;
            out.places.push(place);
        }
        Ok(Ok(true))
    })?;
    let mut notes = Vec::new();
    if large > 0 {
        notes.push(format!("{large} files are larger than {COMPARED} bytes: grep searches them"));
    }
    if matcher.gave_up() > 0 {
        notes.push("in some lines the pattern took too many steps".to_owned());
    }
    notes.extend(failed);
    out.note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(FileAnswer::Found(out))
}

fn load_file(ctx: &FileCtx<'_>, file: &VfsFile) -> Result<Result<Vec<u8>, Errno>, FilesError> {
    let (mut out, mut piece) = (Vec::new(), vec![0; PIECE]);
    while (out.len() as u64) <= COMPARED {
        ctx.check_time("searching")?;
        match file.read(out.len() as u64, &mut piece) {
            Ok(0) => break,
            Ok(n) => out.extend_from_slice(&piece[..n]),
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(out))
}

/// Returns the smallest range of lines around a line whose text occurs only once.
fn unique_snippet(text: &[u8], lines: &LineIndex<'_>, line: usize, path: &str) -> Snippet {
    let part = |from: usize, to: usize| line_without_end(&text[lines.start(from)..lines.start(to)]);
    let once = |from, to| memmem::find_iter(text, part(from, to)).take(2).count() == 1;
    let (mut from, mut to) = (line, line + 1);
    let mut grow: VecDeque<bool> = VecDeque::from([true, false]);
    let mut unique = once(from, to);
    while !unique && to - from < PLACE_LINES {
        let Some(up) = grow.pop_front() else { break };
        if up && from > 0 {
            from -= 1;
        } else if !up && to < lines.len() {
            to += 1;
        } else {
            // The snippet cannot grow on this side, because there are no more lines.
            continue;
        }
        grow.push_back(up);
        unique = once(from, to);
    }
    if !unique {
        (from, to) = (line.saturating_sub(2), (line + 3).min(lines.len()));
    }
    // The snippet has LF at its line ends. `edit` finds it nevertheless, because it also tries the
    // file's own line ends.
    let found = lossy_text(part(from, to)).replace("\r\n", "\n");
    Snippet { path: path.to_owned(), first: from as u64 + 1, last: to as u64, text: found, unique }
}
