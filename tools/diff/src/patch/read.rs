//! Reading patches: unified and normal diffs, with the headers of git.

use crate::diff::split_lines;

/// A hunk: old lines, and the new lines that replace them, at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk {
    /// The number of the first old line, from 1; 0 for an empty old file.
    pub start: usize,
    pub old: Vec<Vec<u8>>,
    pub new: Vec<Vec<u8>>,
    /// The number of context lines at either end.
    pub before: usize,
    pub after: usize,
    /// The text of the hunk, for a reject file.
    pub text: Vec<u8>,
}

/// The changes to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    pub old_name: Vec<u8>,
    pub new_name: Vec<u8>,
    /// The two header lines unchanged, for a reject file.
    pub headers: [Vec<u8>; 2],
    /// The permission bits before the patch, if a git patch gives them.
    pub old_mode: Option<u16>,
    pub new_mode: Option<u16>,
    pub hunks: Vec<PatchHunk>,
}

impl FilePatch {
    /// Turns the patch around, so that it changes the new file into the old one (`-R`).
    pub fn reverse(&mut self) {
        std::mem::swap(&mut self.old_name, &mut self.new_name);
        self.headers.reverse();
        std::mem::swap(&mut self.old_mode, &mut self.new_mode);
        for h in &mut self.hunks {
            std::mem::swap(&mut h.old, &mut h.new);
        }
    }
}

/// Reads all file patches of a text; lines between them are commentary.
pub fn parse(text: &[u8]) -> Result<Vec<FilePatch>, String> {
    let all = split_lines(text);
    let mut out: Vec<FilePatch> = Vec::new();
    let mut i = 0;
    let bare = |l: &[u8]| l.strip_suffix(b"\n").unwrap_or(l).to_vec();
    // Whether the last file so far has only a git header.
    let mut git = false;
    while i < all.len() {
        let line = all[i];
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            let (old_name, new_name) = git_names(&bare(names));
            out.push(FilePatch { old_name, new_name, ..FilePatch::default() });
            git = true;
            i += 1;
        } else if git && git_mode(line, out.last_mut()) {
            i += 1;
        } else if line.starts_with(b"--- ")
            && all.get(i + 1).is_some_and(|l| l.starts_with(b"+++ "))
        {
            let mut p = FilePatch::default();
            if std::mem::take(&mut git) {
                p = out.pop().unwrap_or_default();
            }
            p.old_name = file_name(&bare(line)[4..]);
            p.new_name = file_name(&bare(all[i + 1])[4..]);
            p.headers = [bare(line)[4..].to_vec(), bare(all[i + 1])[4..].to_vec()];
            out.push(p);
            i += 2;
        } else {
            let found = if line.starts_with(b"@@ -") {
                Some(unified_hunk(&all, i)?)
            } else {
                normal_hunk(&all, i)?
            };
            let Some((hunk, next)) = found else {
                i += 1;
                continue;
            };
            if out.is_empty() {
                out.push(FilePatch::default());
            }
            if let Some(last) = out.last_mut() {
                last.hunks.push(hunk);
            }
            i = next;
        }
    }
    out.retain(|p| !p.hunks.is_empty() || p.old_mode.is_some() && p.new_mode.is_some());
    Ok(out)
}

/// Returns both names of `diff --git a/x b/x`. Names with blanks must be the same name twice; a
/// name in quotes ends at its closing quote.
fn git_names(text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    if let Some((old, rest)) = quoted_name(text)
        && let Some(rest) = rest.strip_prefix(b" ")
    {
        return (old, quoted_name(rest).map_or_else(|| rest.to_vec(), |(new, _)| new));
    }
    let quote = (1..text.len()).find(|i| text[*i] == b'"' && text[*i - 1] == b' ');
    if let Some(at) = quote
        && let Some((new, b"")) = quoted_name(&text[at..])
    {
        return (text[..at - 1].to_vec(), new);
    }
    let halves = || (1..text.len()).filter(|i| text[*i] == b' ').map(|i| text.split_at(i));
    let tail = |t: &[u8]| t.splitn(2, |c| *c == b'/').nth(1).map(<[u8]>::to_vec);
    let twice = halves().find(|(a, b)| tail(a).is_some() && tail(a) == tail(b));
    let (old, new) = twice.or_else(|| halves().next()).unwrap_or((text, b" "));
    (old.to_vec(), new[1..].to_vec())
}

/// Handles a line of a git header that sets permission bits, and returns whether it was one.
fn git_mode(line: &[u8], patch: Option<&mut FilePatch>) -> bool {
    let Some(patch) = patch else { return false };
    let bits = |prefix: &[u8]| {
        let digits = std::str::from_utf8(line.strip_prefix(prefix)?).ok()?.trim_end();
        Some((u32::from_str_radix(digits, 8).ok()? & 0o777) as u16)
    };
    if let Some(mode) = bits(b"old mode ").or_else(|| bits(b"deleted file mode ")) {
        patch.old_mode = Some(mode);
        return true;
    }
    let mode = bits(b"new mode ").or_else(|| bits(b"new file mode "));
    patch.new_mode = mode.or(patch.new_mode);
    mode.is_some()
}

/// Returns the name in quotes that a text begins with, as git writes it (git-config(1),
/// `core.quotePath`), and the rest of the text; `None` if there is no such name, or the name has a
/// NUL.
fn quoted_name(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (c, after) = rest.split_first()?;
        rest = after;
        match c {
            b'"' => return (!name.contains(&0)).then_some((name, rest)),
            b'\\' => {
                let (escape, after) = rest.split_first()?;
                rest = after;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => *escape,
                    b'0'..=b'3' => {
                        let (more, after) = rest.split_at_checked(2)?;
                        rest = after;
                        more.iter().try_fold(escape - b'0', |value, digit| match digit {
                            b'0'..=b'7' => Some(value * 8 + (digit - b'0')),
                            _ => None,
                        })?
                    }
                    _ => return None,
                });
            }
            _ => name.push(*c),
        }
    }
}

/// Returns the name in a header line, without the time that follows a tab.
fn file_name(text: &[u8]) -> Vec<u8> {
    if let Some((name, b"" | [b'\t' | b' ' | b'\r', ..])) = quoted_name(text) {
        return name;
    }
    text.split(|&c| c == b'\t').next().unwrap_or_default().trim_ascii_end().to_vec()
}

/// Returns whether a header's time is the epoch, which `diff -N` writes for a file that does not
/// exist.
pub fn is_epoch(header: &[u8]) -> bool {
    let seconds = || -> Option<i64> {
        let (_, stamp) = std::str::from_utf8(header).ok()?.split_once('\t')?;
        let [date, time, zone] = stamp.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let day = match date {
            "1970-01-01" => 0,
            "1969-12-31" => -1,
            _ => return None,
        };
        let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
        let mut units = clock.split(':').map(|n| n.parse::<i64>().ok());
        let (h, m, s) = (units.next()??, units.next()??, units.next()??);
        let offset: i64 = zone.parse().ok()?;
        let offset = offset / 100 * 60 + offset % 100;
        let whole = fraction.bytes().all(|b| b == b'0');
        whole.then_some(day * 86_400 + h * 3600 + m * 60 + s - offset * 60)
    };
    seconds() == Some(0)
}

fn malformed_patch(line: usize, text: &[u8]) -> String {
    let shown = String::from_utf8_lossy(text.strip_suffix(b"\n").unwrap_or(text)).into_owned();
    format!("malformed patch at line {}: {shown}", line + 1)
}

fn unified_hunk(all: &[&[u8]], at: usize) -> Result<(PatchHunk, usize), String> {
    let header = all[at];
    let bad = || malformed_patch(at, header);
    let text = std::str::from_utf8(header).map_err(|_| bad())?;
    let ranges = text.strip_prefix("@@ -").and_then(|t| t.split(" @@").next()).ok_or_else(bad)?;
    let (old, new) = ranges.split_once(" +").ok_or_else(bad)?;
    let range = |t: &str| -> Option<(usize, usize)> {
        match t.split_once(',') {
            Some((a, b)) => Some((a.parse().ok()?, b.parse().ok()?)),
            None => Some((t.parse().ok()?, 1)),
        }
    };
    let ((start, mut left), (_, mut right)) =
        (range(old).ok_or_else(bad)?, range(new).ok_or_else(bad)?);
    let mut hunk = PatchHunk { start, text: header.to_vec(), ..PatchHunk::default() };
    // If the hunk is an insertion after line N, its first line is N + 1.
    if left == 0 {
        hunk.start += 1;
    }
    let mut i = at + 1;
    let mut changed = false;
    while left > 0 || right > 0 {
        let line = *all
            .get(i)
            .ok_or_else(|| format!("unexpected end of file in patch at line {}", i + 1))?;
        hunk.text.extend_from_slice(line);
        let (mark, rest) = line.split_first().unwrap_or((&b' ', b""));
        let mut rest = rest.to_vec();
        if all.get(i + 1).is_some_and(|l| l.starts_with(b"\\")) {
            rest = rest.strip_suffix(b"\n").unwrap_or(&rest).to_vec();
            hunk.text.extend_from_slice(all[i + 1]);
            i += 1;
        }
        match mark {
            b' ' | b'\n' | b'\t' => {
                // Mailers strip the blank of empty context lines.
                let rest = if *mark == b'\n' { b"\n".to_vec() } else { rest };
                if left == 0 || right == 0 {
                    return Err(malformed_patch(i, line));
                }
                hunk.old.push(rest.clone());
                hunk.new.push(rest);
                (left, right) = (left - 1, right - 1);
                if changed {
                    hunk.after += 1;
                } else {
                    hunk.before += 1;
                }
            }
            b'-' if left > 0 => {
                hunk.old.push(rest);
                left -= 1;
                changed = true;
                hunk.after = 0;
            }
            b'+' if right > 0 => {
                hunk.new.push(rest);
                right -= 1;
                changed = true;
                hunk.after = 0;
            }
            _ => return Err(malformed_patch(i, line)),
        }
        i += 1;
    }
    Ok((hunk, i))
}

/// Parses a hunk of normal output, such as `3,4c5`; `None` if the line is no such command.
fn normal_hunk(all: &[&[u8]], at: usize) -> Result<Option<(PatchHunk, usize)>, String> {
    let line = all[at].strip_suffix(b"\n").unwrap_or(all[at]);
    let Some(letter_at) = line.iter().position(|c| matches!(c, b'a' | b'c' | b'd')) else {
        return Ok(None);
    };
    let range = |t: &[u8]| -> Option<(usize, usize)> {
        let t = std::str::from_utf8(t).ok()?;
        match t.split_once(',') {
            Some((a, b)) => Some((a.parse().ok()?, b.parse().ok()?)),
            None => t.parse().ok().map(|n| (n, n)),
        }
    };
    let (Some((from, to)), Some((nfrom, nto))) =
        (range(&line[..letter_at]), range(&line[letter_at + 1..]))
    else {
        return Ok(None);
    };
    let letter = line[letter_at];
    let count = |a: usize, b: usize| {
        b.checked_sub(a).map(|n| n + 1).ok_or_else(|| malformed_patch(at, all[at]))
    };
    let old = if letter == b'a' { 0 } else { count(from, to)? };
    let new = if letter == b'd' { 0 } else { count(nfrom, nto)? };
    let mut hunk = PatchHunk {
        start: if letter == b'a' { from + 1 } else { from },
        text: all[at].to_vec(),
        ..PatchHunk::default()
    };
    let mut i = at + 1;
    let mut take = |n: usize,
                    mark: &[u8],
                    into: &mut Vec<Vec<u8>>,
                    text: &mut Vec<u8>|
     -> Result<(), String> {
        for _ in 0..n {
            let line = *all
                .get(i)
                .ok_or_else(|| format!("unexpected end of file in patch at line {}", i + 1))?;
            let mut rest =
                line.strip_prefix(mark).ok_or_else(|| malformed_patch(i, line))?.to_vec();
            text.extend_from_slice(line);
            i += 1;
            if all.get(i).is_some_and(|l| l.starts_with(b"\\")) {
                rest = rest.strip_suffix(b"\n").unwrap_or(&rest).to_vec();
                i += 1;
            }
            into.push(rest);
        }
        if mark == b"< " && letter == b'c' && all.get(i).is_some_and(|l| l.starts_with(b"---")) {
            i += 1;
        }
        Ok(())
    };
    take(old, b"< ", &mut hunk.old, &mut hunk.text)?;
    take(new, b"> ", &mut hunk.new, &mut hunk.text)?;
    Ok(Some((hunk, i)))
}
