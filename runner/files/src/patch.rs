//! `apply_patch`: applies a unified diff of any number of files, all or none.
//!
//! The new contents are computed in memory first. Then the files are replaced one after another,
//! and restored if one of them cannot be replaced. Context lines keep the text of the file; only
//! added lines come from the patch.

use crate::nearest::find_nearest;
use crate::place::FileCtx;
use crate::text::{LineIndex, is_crlf, line_without_end};
use crate::unified::{HunkMark, UnifiedFilePatch, UnifiedHunk, parse};
use std::collections::BTreeMap;
use wasibox_protocol::files::{FileAnswer, FilesError, PatchAnswer, PatchOf, PatchedFile};
use wasibox_vfs::{Errno, FileKind, Stat};

/// The maximum fuzz: as many lines of context as `diff` prints.
const FUZZ: u32 = 3;

/// The contents of a file before and after the patch.
struct PatchedFileState {
    before: Option<(Vec<u8>, Stat)>,
    after: Option<Vec<u8>>,
    mode: Option<u16>,
}

/// The state of the files so far, by path.
struct PatchRun<'a> {
    ctx: &'a FileCtx<'a>,
    files: BTreeMap<String, PatchedFileState>,
    bytes: u64,
    fuzz: usize,
    strip: Option<u32>,
}

/// Applies a patch.
pub fn apply_patch(ctx: &FileCtx<'_>, p: &PatchOf) -> Result<FileAnswer, FilesError> {
    let patches = parse(&p.patch)?;
    let fuzz = p.fuzz.unwrap_or(2).min(FUZZ) as usize;
    let strip = p.strip.or_else(|| patches.iter().all(is_git).then_some(1));
    let mut plan = PatchRun { ctx, files: BTreeMap::new(), bytes: 0, fuzz, strip };
    let mut files = Vec::new();
    for patch in &patches {
        files.push(plan.file(patch)?);
    }
    if !p.dry_run {
        plan.write_all()?;
    }
    Ok(FileAnswer::Patched(PatchAnswer { files, dry_run: p.dry_run }))
}

/// Returns whether the names have git's prefixes.
fn is_git(p: &UnifiedFilePatch) -> bool {
    let has =
        |name: &Option<String>, prefix: &str| name.as_ref().is_none_or(|n| n.starts_with(prefix));
    (p.old.is_some() || p.new.is_some()) && has(&p.old, "a/") && has(&p.new, "b/")
}

impl PatchRun<'_> {
    fn patch_error(&self, path: &str, why: impl Into<String>) -> FilesError {
        FilesError::Patch { path: path.to_owned(), why: why.into() }
    }

    /// Converts a name of the patch to a path.
    fn name(&self, name: &str) -> Result<String, FilesError> {
        if name.is_empty() || name.split('/').any(|p| p == "..") {
            return Err(self.patch_error(name, "names of a patch must not have '..'"));
        }
        let mut rest = name;
        for _ in 0..self.strip.unwrap_or(0) {
            // A name with fewer components is used as it is.
            let Some((_, tail)) = rest.split_once('/') else { break };
            rest = tail.trim_start_matches('/');
        }
        let there = |name: &str| {
            let path = self.ctx.absolute_path(name);
            self.files.get(&path).map_or_else(
                || self.ctx.stat_path(name, true).is_ok_and(|s| s.kind == FileKind::File),
                |s| s.after.is_some(),
            )
        };
        let one_less = || name.split_once('/').map(|(_, tail)| tail);
        Ok(match (there(rest), one_less()) {
            (true, _) => rest,
            (false, _) if rest != name && there(name) => name,
            (false, Some(tail)) if self.strip.is_none() && there(tail) => tail,
            _ => rest,
        }
        .to_owned())
    }

    /// Loads a file if needed, and returns its key.
    fn load_file(&mut self, name: &str) -> Result<String, FilesError> {
        let key = self.ctx.absolute_path(name);
        if self.files.contains_key(&key) {
            return Ok(key);
        }
        let before = match self.ctx.read_whole(name) {
            Ok(found) => Some(found),
            Err(FilesError::NotFound { .. }) => None,
            Err(e) => return Err(e),
        };
        self.bytes += before.as_ref().map_or(0, |(b, _)| b.len() as u64);
        let limit = self.ctx.limits.edited;
        if self.bytes > limit {
            return Err(FilesError::TooLarge { path: key, size: self.bytes, limit });
        }
        let after = before.as_ref().map(|(b, _)| b.clone());
        self.files.insert(key.clone(), PatchedFileState { before, after, mode: None });
        Ok(key)
    }

    fn file_content(&self, key: &str) -> Option<&Vec<u8>> {
        self.files.get(key).and_then(|s| s.after.as_ref())
    }

    fn put_content(&mut self, key: &str, content: Option<Vec<u8>>) {
        if let Some(state) = self.files.get_mut(key) {
            state.after = content;
        }
    }

    /// Computes the new contents of a file.
    fn file(&mut self, p: &UnifiedFilePatch) -> Result<PatchedFile, FilesError> {
        self.ctx.check_time("the patch")?;
        let renamed = p.from.is_some() && p.to.is_some();
        let (from, to) = match (&p.from, &p.to, &p.old, &p.new) {
            // These names have no prefixes.
            (Some(from), Some(to), ..) => (from.clone(), to.clone()),
            (_, _, Some(old), Some(new)) => {
                let (a, b) = (self.name(old)?, self.name(new)?);
                // Without git's header lines, the two names stand for one file, namely the one that
                // exists.
                let there = |name: &str| {
                    let key = self.ctx.absolute_path(name);
                    self.files.contains_key(&key) || self.ctx.stat_path(name, true).is_ok()
                };
                let one = if there(&b) || !there(&a) { b } else { a };
                (one.clone(), one)
            }
            (_, _, Some(one), None) | (_, _, None, Some(one)) => {
                let one = self.name(one)?;
                (one.clone(), one)
            }
            (_, _, None, None) => {
                return Err(self.patch_error("/dev/null", "both names are /dev/null"));
            }
        };
        if from.split('/').chain(to.split('/')).any(|part| part == "..") {
            return Err(self.patch_error(&from, "names of a patch must not have '..'"));
        }
        let source = self.load_file(&from)?;
        let target = self.load_file(&to)?;
        let old = match (self.file_content(&source), p.created) {
            (Some(old), true) if !old.is_empty() => {
                return Err(
                    self.patch_error(&source, "the patch makes this file, but it exists already")
                );
            }
            (Some(old), _) => old.clone(),
            (None, true) => Vec::new(),
            (None, false) => {
                return Err(self.ctx.error_at("patch", &from, Errno::NOENT));
            }
        };
        if renamed && source != target && self.file_content(&target).is_some() {
            return Err(self
                .patch_error(&target, "the patch gives a file this name, but it exists already"));
        }
        let mut shown = PatchedFile {
            path: target.clone(),
            from: (source != target).then(|| source.clone()),
            created: p.created,
            deleted: p.deleted,
            hunks: p.hunks.len() as u64,
            moved: 0,
            fuzzy: 0,
        };
        let new = self.apply_hunks(&source, &old, &p.hunks, &mut shown)?;
        if p.deleted {
            if !new.is_empty() {
                return Err(self.patch_error(
                    &source,
                    "the patch deletes this file, but it has more than the patch says",
                ));
            }
            self.put_content(&source, None);
            return Ok(shown);
        }
        self.bytes += new.len() as u64;
        let limit = self.ctx.limits.edited;
        if self.bytes > 2 * limit {
            return Err(FilesError::TooLarge { path: target, size: self.bytes, limit });
        }
        if source != target {
            let bits = self.files.get(&source).and_then(|s| {
                s.mode.or_else(|| s.before.as_ref().map(|(_, stat)| stat.mode & 0o777))
            });
            if let Some(state) = self.files.get_mut(&target) {
                state.mode = bits;
            }
            if !p.copied {
                self.put_content(&source, None);
            }
        }
        if let (Some(mode), Some(state)) = (p.mode, self.files.get_mut(&target)) {
            state.mode = Some(mode);
        }
        self.put_content(&target, Some(new));
        Ok(shown)
    }

    /// Returns the text with the hunks applied.
    fn apply_hunks(
        &self,
        path: &str,
        old: &[u8],
        hunks: &[UnifiedHunk],
        patched: &mut PatchedFile,
    ) -> Result<Vec<u8>, FilesError> {
        let lines = LineIndex::new(old);
        let end: &[u8] = if is_crlf(old) { b"\r\n" } else { b"\n" };
        let mut out = Vec::with_capacity(old.len());
        // The lines copied so far, and the offset of the last hunk from its expected position.
        let (mut at, mut offset) = (0, 0isize);
        let push = |out: &mut Vec<u8>, line: &[u8], ended: bool| {
            if !out.is_empty() && !out.ends_with(b"\n") {
                out.extend_from_slice(end);
            }
            out.extend_from_slice(line);
            if ended {
                out.extend_from_slice(end);
            }
        };
        for (i, hunk) in hunks.iter().enumerate() {
            let expected =
                hunk.start.map(|s| (s.saturating_sub(1) as isize).saturating_add(offset));
            let found = self.find_place(path, &lines, hunk, at, expected)?;
            let Some(HunkFit { at: start, cut, fuzz }) = found else {
                let wanted = hunk.old_lines().join(&b'\n');
                return Err(FilesError::Hunk {
                    path: path.to_owned(),
                    hunk: i as u64 + 1,
                    line: hunk.start.unwrap_or(0) as u64,
                    nearest: find_nearest(&lines, &wanted),
                });
            };
            patched.fuzzy += u64::from(fuzz > 0);
            if let Some(first) = hunk.start {
                let drift = start as isize - (first.saturating_sub(1) + cut.0) as isize;
                patched.moved += u64::from(drift != 0);
                offset = drift;
            }
            out.extend_from_slice(&old[lines.start(at)..lines.start(start)]);
            at = start;
            let body = &hunk.lines[cut.0..hunk.lines.len() - cut.1];
            let last = body.iter().rposition(|(m, _)| *m != HunkMark::Remove);
            for (n, (mark, text)) in body.iter().enumerate() {
                match mark {
                    HunkMark::Keep => {
                        push(&mut out, lines.get(at), false);
                        at += 1;
                    }
                    HunkMark::Remove => at += 1,
                    HunkMark::Add => {
                        push(&mut out, text, !(hunk.unended && cut.1 == 0 && last == Some(n)))
                    }
                }
            }
        }
        if at < lines.len() {
            push(&mut out, &old[lines.start(at)..], false);
        }
        Ok(out)
    }

    /// Finds the place nearest to the expected one where a hunk fits, at line `least` or later.
    /// Fuzz works as in GNU patch: context lines are dropped from the longer end first.
    fn find_place(
        &self,
        path: &str,
        lines: &LineIndex<'_>,
        hunk: &UnifiedHunk,
        least: usize,
        expected: Option<isize>,
    ) -> Result<Option<HunkFit>, FilesError> {
        let old = hunk.old_lines();
        let (before, after) = hunk.context_len();
        let context = before.max(after);
        for fuzz in 0..=self.fuzz.min(context) {
            let cut =
                ((fuzz + before).saturating_sub(context), (fuzz + after).saturating_sub(context));
            let want = &old[cut.0..old.len() - cut.1];
            let Some(last) = lines.len().checked_sub(want.len()) else { continue };
            let fits = |at: usize| {
                (0..want.len())
                    .all(|i| line_without_end(lines.get(at + i)) == line_without_end(want[i]))
            };
            let guess = match expected {
                Some(e) => (e.saturating_add(cut.0 as isize).max(0) as usize).min(last),
                // A hunk without numbers must fit in one place only.
                None => {
                    let mut places = Vec::new();
                    for at in least..=last {
                        if at.is_multiple_of(1024) {
                            self.ctx.check_time("the patch")?;
                        }
                        if fits(at) {
                            places.push(at);
                        }
                        if places.len() > 1 {
                            let why = "a hunk without line numbers fits several places";
                            return Err(self.patch_error(path, why));
                        }
                    }
                    match places.first() {
                        Some(at) => return Ok(Some(HunkFit { at: *at, cut, fuzz })),
                        None => continue,
                    }
                }
            };
            for d in 0..=lines.len() {
                if d.is_multiple_of(1024) {
                    self.ctx.check_time("the patch")?;
                }
                let up = guess.checked_add(d).filter(|at| *at >= least && *at <= last);
                let down = guess.checked_sub(d).filter(|at| d > 0 && *at >= least && *at <= last);
                if let Some(at) = up.filter(|at| fits(*at)).or_else(|| down.filter(|at| fits(*at)))
                {
                    return Ok(Some(HunkFit { at, cut, fuzz }));
                }
            }
        }
        Ok(None)
    }

    /// Writes all files, or restores those already written.
    fn write_all(&self) -> Result<(), FilesError> {
        let mut done: Vec<(&String, &PatchedFileState)> = Vec::new();
        for (path, state) in &self.files {
            let result = self.write(path, state);
            if let Err(e) = result {
                for (path, state) in done.into_iter().rev() {
                    self.put_back(path, state);
                }
                return Err(e);
            }
            done.push((path, state));
        }
        Ok(())
    }

    fn write(&self, path: &str, state: &PatchedFileState) -> Result<(), FilesError> {
        let Some(after) = &state.after else {
            let remove = || self.ctx.vfs.remove(self.ctx.base_of(), path.as_bytes(), false);
            return match state.before {
                Some(_) => remove().map_err(|e| self.ctx.error_at("delete", path, e)),
                None => Ok(()),
            };
        };
        if state.mode.is_none() && state.before.as_ref().is_some_and(|(b, _)| b == after) {
            return Ok(());
        }
        let mut place = self.ctx.find_place(path, true)?;
        match (&state.before, &place.stat) {
            (Some((_, stat)), Some(_)) => place.stat = Some(*stat),
            (None, None) => {}
            _ => return Err(FilesError::Changed { path: path.to_owned() }),
        }
        self.ctx.replace(&place, after, state.mode)
    }

    fn put_back(&self, path: &str, state: &PatchedFileState) {
        // A failure to restore is ignored, because the first error is the one that is reported.
        let _ = match &state.before {
            Some((bytes, stat)) => self
                .ctx
                .find_place(path, true)
                .and_then(|place| self.ctx.replace(&place, bytes, Some(stat.mode & 0o777))),
            None => self
                .ctx
                .vfs
                .remove(self.ctx.base_of(), path.as_bytes(), false)
                .map_err(|e| self.ctx.error_at("delete", path, e)),
        };
    }
}

/// A place where a hunk fits, with the number of context lines ignored at both ends.
struct HunkFit {
    at: usize,
    cut: (usize, usize),
    fuzz: usize,
}
