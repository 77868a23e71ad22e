//! Unified diffs: creates them, and parses the output of `diff -u`, of git, and of models.
//!
//! The counts in a hunk's header are used if the lines that follow agree with them. Otherwise the
//! hunk ends at the first line that cannot belong to it, because models count badly.

use imara_diff::{Algorithm, Diff, InternedInput, sources};
use wasibox_protocol::files::FilesError;

/// The maximum number of hunks and files in a patch.
const HUNKS: usize = 10_000;

/// The highest line number; higher ones are clamped to it.
const MOST_START: usize = usize::MAX >> 8;

/// A line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkMark {
    Keep,
    Remove,
    Add,
}

/// A hunk of a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnifiedHunk {
    /// The first of the old lines, from 1; `None` if the header has no numbers.
    pub start: Option<usize>,
    /// The lines without their line ends.
    pub lines: Vec<(HunkMark, Vec<u8>)>,
    /// Whether the last of the new lines has no line feed.
    pub unended: bool,
}

impl UnifiedHunk {
    /// Returns the number of context lines at the beginning and the end.
    pub fn context_len(&self) -> (usize, usize) {
        let keep = |(m, _): &&(HunkMark, Vec<u8>)| *m == HunkMark::Keep;
        let before = self.lines.iter().take_while(keep).count();
        if before == self.lines.len() {
            return (0, 0);
        }
        (before, self.lines.iter().rev().take_while(keep).count())
    }

    /// Returns the old lines, which the file must contain.
    pub fn old_lines(&self) -> Vec<&[u8]> {
        let old = self.lines.iter().filter(|(m, _)| *m != HunkMark::Add);
        old.map(|(_, l)| l.as_slice()).collect()
    }
}

/// The part of a patch about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnifiedFilePatch {
    /// The names as written; `None` stands for `/dev/null`.
    pub old: Option<String>,
    pub new: Option<String>,
    pub created: bool,
    pub deleted: bool,
    /// The names after `rename from` and `rename to`, or those of a copy.
    pub from: Option<String>,
    pub to: Option<String>,
    pub copied: bool,
    pub mode: Option<u16>,
    pub hunks: Vec<UnifiedHunk>,
}

impl UnifiedFilePatch {
    fn is_something(&self) -> bool {
        let whole = self.created || self.deleted || self.mode.is_some();
        whole || !self.hunks.is_empty() || self.from.is_some() && self.to.is_some()
    }
}

fn malformed_patch(line: usize, why: &str) -> FilesError {
    FilesError::Malformed { line: line as u64 + 1, why: why.to_owned() }
}

/// Parses a patch; text between its parts is ignored as commentary.
pub fn parse(text: &str) -> Result<Vec<UnifiedFilePatch>, FilesError> {
    let all: Vec<&str> = text.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).collect();
    let all = if all.last() == Some(&"") { &all[..all.len() - 1] } else { &all[..] };
    let mut out: Vec<UnifiedFilePatch> = Vec::new();
    // Whether the last file has only git's header so far.
    let mut git = false;
    let (mut i, mut hunks) = (0, 0);
    while i < all.len() {
        let line = all[i];
        if let Some(names) = line.strip_prefix("diff --git ") {
            let (old, new) = git_names(names);
            out.push(UnifiedFilePatch { old, new, ..UnifiedFilePatch::default() });
            (git, i) = (true, i + 1);
        } else if is_head(all, i) {
            if !std::mem::take(&mut git) {
                out.push(UnifiedFilePatch::default());
            }
            if let Some(p) = out.last_mut() {
                p.old = name(&line[4..]);
                p.new = name(&all[i + 1][4..]);
                p.created |= p.old.is_none();
                p.deleted |= p.new.is_none();
            }
            i += 2;
        } else if line.starts_with("@@") {
            let Some(p) = out.last_mut() else {
                return Err(malformed_patch(
                    i,
                    "a hunk without the lines --- and +++ that name its file",
                ));
            };
            (git, hunks) = (false, hunks + 1);
            if hunks > HUNKS {
                return Err(malformed_patch(i, "too many hunks"));
            }
            let (hunk, next) = parse_hunk(all, i)?;
            p.hunks.push(hunk);
            i = next;
        } else {
            if let Some(p) = out.last_mut().filter(|_| git) {
                git_line(line, p);
            } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err(malformed_patch(i, "binary files cannot be patched: use upload"));
            }
            i += 1;
        }
        if out.len() > HUNKS {
            return Err(malformed_patch(i, "too many files"));
        }
    }
    out.retain(UnifiedFilePatch::is_something);
    if out.is_empty() {
        return Err(malformed_patch(
            0,
            "no unified diff is in it; it has lines '--- a/FILE', '+++ b/FILE', '@@ -1,3 +1,3 @@'",
        ));
    }
    Ok(out)
}

/// Returns whether the two header lines of a file begin here.
fn is_head(all: &[&str], i: usize) -> bool {
    all[i].starts_with("--- ") && all.get(i + 1).is_some_and(|l| l.starts_with("+++ "))
}

/// Returns both names of `diff --git a/x b/x`. Names with blanks are found because they are the
/// same name twice.
fn git_names(text: &str) -> (Option<String>, Option<String>) {
    if text.starts_with('"') {
        return (None, None);
    }
    let tail = |t: &str| t.split_once('/').map(|(_, t)| t.to_owned());
    let halves: Vec<_> =
        text.match_indices(' ').map(|(i, _)| (&text[..i], &text[i + 1..])).collect();
    let twice = halves.iter().find(|(a, b)| tail(a).is_some() && tail(a) == tail(b));
    match twice.or(halves.first()) {
        Some((a, b)) => (Some((*a).to_owned()), Some((*b).to_owned())),
        None => (None, None),
    }
}

/// Parses a line of git's header.
fn git_line(line: &str, p: &mut UnifiedFilePatch) {
    let mode = |t: &str| u16::from_str_radix(t.trim().get(2..)?, 8).ok().map(|m| m & 0o777);
    for (start, copied) in [("rename ", false), ("copy ", true)] {
        if let Some((which, name)) = line.strip_prefix(start).and_then(|t| t.split_once(' ')) {
            let name = Some(unquote_name(name));
            match which {
                "from" => p.from = name,
                "to" => p.to = name,
                _ => return,
            }
            p.copied = copied;
        }
    }
    if let Some(m) = line.strip_prefix("new file mode ") {
        (p.created, p.mode) = (true, mode(m));
    } else if line.starts_with("deleted file mode ") {
        p.deleted = true;
    } else if let Some(m) = line.strip_prefix("new mode ") {
        p.mode = mode(m);
    }
}

/// Returns the name in a line `---` or `+++`, without the time that follows a tab.
fn name(text: &str) -> Option<String> {
    let name = if text.starts_with('"') {
        unquote_name(text)
    } else {
        text.split('\t').next().unwrap_or_default().trim_end().to_owned()
    };
    (name != "/dev/null").then_some(name)
}

/// Removes git's quoting from a name: double quotes and C's escapes.
fn unquote_name(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|t| t.split_once('"').map(|(t, _)| t)) else {
        return text.to_owned();
    };
    let (mut out, mut bytes) = (Vec::new(), inner.bytes().peekable());
    while let Some(b) = bytes.next() {
        if b != b'\\' {
            out.push(b);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(d @ b'0'..=b'7') => {
                let mut code = u32::from(d - b'0');
                for _ in 0..2 {
                    if let Some(d) = bytes.next_if(|b| (b'0'..=b'7').contains(b)) {
                        code = code * 8 + u32::from(d - b'0');
                    }
                }
                out.push(code as u8);
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Parses the numbers of a hunk's header: the first old line and the counts.
fn parse_numbers(head: &str) -> Option<(usize, usize, usize)> {
    let ranges = head.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |t: &str| -> Option<(usize, usize)> {
        match t.trim().split_once(',') {
            Some((a, b)) => Some((a.parse().ok()?, b.parse().ok()?)),
            None => Some((t.trim().parse().ok()?, 1)),
        }
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    // An insertion after line N begins at the line after it.
    let start = start.min(MOST_START);
    Some((if old == 0 { start + 1 } else { start }, old, new))
}

/// Parses a hunk and returns the index of the line after it.
fn parse_hunk(all: &[&str], at: usize) -> Result<(UnifiedHunk, usize), FilesError> {
    let known = parse_numbers(all[at]);
    let counted = known.and_then(|(start, old, new)| {
        let (hunk, next) = parse_body(all, at + 1, Some((old, new)))?;
        let more = all.get(next).is_some_and(|l| l.starts_with(['+', '-', ' ']));
        (!more || is_head(all, next)).then_some((UnifiedHunk { start: Some(start), ..hunk }, next))
    });
    let found = counted.or_else(|| {
        let (hunk, next) = parse_body(all, at + 1, None)?;
        Some((UnifiedHunk { start: known.map(|k| k.0), ..hunk }, next))
    });
    let (hunk, next) = found.ok_or_else(|| malformed_patch(at, "the hunk has no lines"))?;
    if hunk.lines.iter().all(|(m, _)| *m == HunkMark::Keep) {
        return Err(malformed_patch(at, "the hunk has no line that begins with + or -"));
    }
    Ok((hunk, next))
}

/// Parses a hunk's lines: the counted number, or all up to a line that cannot belong to it.
fn parse_body(
    all: &[&str],
    from: usize,
    counts: Option<(usize, usize)>,
) -> Option<(UnifiedHunk, usize)> {
    let mut hunk = UnifiedHunk::default();
    let (mut old, mut new) = counts.unwrap_or((usize::MAX, usize::MAX));
    let mut i = from;
    while old > 0 || new > 0 {
        let Some(line) = all.get(i) else {
            if counts.is_some() {
                return None;
            }
            break;
        };
        let ends = is_head(all, i) || line.starts_with("diff --git ");
        let mark = match line.as_bytes().first() {
            _ if counts.is_none() && ends => break,
            Some(b'+') => HunkMark::Add,
            Some(b'-') => HunkMark::Remove,
            Some(b' ') => HunkMark::Keep,
            // The blank of an empty line is missing, as in many patches by models.
            None if counts.is_some()
                || all.get(i + 1).is_some_and(|l| l.starts_with(['+', '-', ' '])) =>
            {
                HunkMark::Keep
            }
            Some(b'\\') => {
                i += 1;
                continue;
            }
            _ if counts.is_some() => return None,
            _ => break,
        };
        let content = line.get(1..).unwrap_or_default().as_bytes().to_vec();
        if mark != HunkMark::Add {
            old = old.checked_sub(1)?;
        }
        if mark != HunkMark::Remove {
            new = new.checked_sub(1)?;
        }
        i += 1;
        let unended = all.get(i).is_some_and(|l| l.starts_with('\\'));
        if mark != HunkMark::Remove {
            hunk.unended = unended;
        }
        i += usize::from(unended);
        hunk.lines.push((mark, content));
    }
    (!hunk.lines.is_empty()).then_some((hunk, i))
}

/// Returns the unified diff of two texts with `context` lines around each change; it is empty if
/// they are equal.
pub fn unified_diff(old: &[u8], new: &[u8], names: (&str, &str), context: usize) -> Vec<u8> {
    let input = InternedInput::new(sources::byte_lines(old), sources::byte_lines(new));
    let mut found = Diff::compute(Algorithm::Histogram, &input);
    found.postprocess_lines(&input);
    let mut out = Vec::new();
    let mut hunks = found.hunks().peekable();
    let line = |side: &[imara_diff::Token], i: usize| input.interner[side[i]];
    let push = |out: &mut Vec<u8>, mark: u8, line: &[u8]| {
        out.push(mark);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    };
    while let Some(first) = hunks.next() {
        if out.is_empty() {
            out.extend_from_slice(format!("--- {}\n+++ {}\n", names.0, names.1).as_bytes());
        }
        // Changes that are near each other form one hunk.
        let mut group = vec![first];
        while let Some(next) = hunks.peek() {
            let end = group.last().map_or(0, |h| h.before.end);
            if (next.before.start - end) as usize > 2 * context {
                break;
            }
            group.extend(hunks.next());
        }
        let (Some(head), Some(tail)) = (group.first(), group.last()) else { break };
        let lead = context.min(head.before.start as usize);
        let trail = context.min(input.before.len() - tail.before.end as usize);
        let (a, b) = (head.before.start as usize - lead, tail.before.end as usize + trail);
        let (c, d) = (head.after.start as usize - lead, tail.after.end as usize + trail);
        let range = |from: usize, to: usize| match to - from {
            0 => format!("{from},0"),
            1 => format!("{}", from + 1),
            n => format!("{},{n}", from + 1),
        };
        out.extend_from_slice(format!("@@ -{} +{} @@\n", range(a, b), range(c, d)).as_bytes());
        let mut at = a;
        for h in &group {
            let (from, to) = (h.before.start as usize, h.before.end as usize);
            (at..from).for_each(|i| push(&mut out, b' ', line(&input.before, i)));
            (from..to).for_each(|i| push(&mut out, b'-', line(&input.before, i)));
            let after = h.after.start as usize..h.after.end as usize;
            after.for_each(|i| push(&mut out, b'+', line(&input.after, i)));
            at = to;
        }
        (at..b).for_each(|i| push(&mut out, b' ', line(&input.before, i)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_believed_by_their_lines() {
        for head in ["@@ -1,2 +1,2 @@", "@@ -1,9 +1,9 @@ fn x", "@@ -1,1 +1,1 @@", "@@ @@", "@@"] {
            let text = format!(
                "--- a/f\n+++ b/f\n{head}\n a\n-b\n+c\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n"
            );
            let found = parse(&text).unwrap();
            assert_eq!(found.len(), 2, "{head}");
            assert_eq!(found[0].hunks[0].lines.len(), 3, "{head}");
            assert_eq!(found[0].hunks[0].context_len(), (1, 0));
        }
    }

    #[test]
    fn heads_of_git() {
        let text = "diff --git a/x y b/x y\nsimilarity index 90%\nrename from x y\nrename to z\n\
                    diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+hi\n\\ No newline at end of file\n\
                    diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";
        let found = parse(text).unwrap();
        assert_eq!((found[0].from.as_deref(), found[0].to.as_deref()), (Some("x y"), Some("z")));
        assert!(found[1].created && found[1].mode == Some(0o755) && found[1].hunks[0].unended);
        assert!(found[2].deleted && found[2].new.is_none());
    }

    #[test]
    fn garbage_is_refused() {
        for text in [
            "",
            "hello\n",
            "@@ -1 +1 @@\n-a\n+b\n",
            "--- a\n+++ b\n@@ -1 +1 @@\n",
            "--- a\n+++ b\n@@ -1 +1 @@\n x\n",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
