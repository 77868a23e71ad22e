//! The output forms (diffutils manual, "Output Formats").

use std::io::{self, Write};

use box_text::time::{Zone, civil, strftime};

use super::columns::SideColumns;
use super::compare::{LineChange, TextComparison};
use super::palette::Palette;
use super::{DiffFile, DiffForm, DiffOptions, merged};

const NO_NEWLINE: &[u8] = b"\n\\ No newline at end of file\n";

struct DiffPrinter<'a> {
    out: &'a mut dyn Write,
    options: &'a DiffOptions,
    palette: &'a Palette,
}

/// Prints the changes in the requested form.
pub fn print_changes(
    out: &mut dyn Write,
    options: &DiffOptions,
    a: &DiffFile,
    b: &DiffFile,
    lines: &TextComparison<'_>,
) -> io::Result<()> {
    let mut p = DiffPrinter { out, options, palette: &options.palette };
    match options.form {
        DiffForm::Normal => p.print_normal(lines),
        DiffForm::Unified(n) => p.print_unified(a, b, lines, n),
        DiffForm::Context(n) => p.print_context(a, b, lines, n),
        DiffForm::Ed => p.print_ed(lines),
        DiffForm::ForwardEd => p.forward_ed(lines),
        DiffForm::Rcs => p.rcs(lines),
        DiffForm::Merged => merged::print(p.out, &options.formats, lines, &|text: &[u8]| {
            if options.expand_tabs { tabs_to_spaces(text, options.tab) } else { text.to_vec() }
        }),
        DiffForm::SideBySide => p.side_by_side(lines),
        DiffForm::Brief => Ok(()),
    }
}

/// Returns `3` or `3,5` for lines counted from 0; for an empty range the line before it.
fn range_text(r: &std::ops::Range<usize>) -> String {
    match r.len() {
        0 => r.start.to_string(),
        1 => (r.start + 1).to_string(),
        _ => format!("{},{}", r.start + 1, r.end),
    }
}

/// Changes that share context, with the context's extent in both texts.
struct DiffHunk<'a> {
    changes: &'a [LineChange],
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

/// Groups changes that are at most `2 * n` lines apart.
fn group_hunks<'a>(lines: &'a TextComparison<'_>, n: usize) -> Vec<DiffHunk<'a>> {
    let mut out = Vec::new();
    let mut from = 0;
    for i in 0..lines.changes.len() {
        let next = lines.changes.get(i + 1);
        let gap = next.map(|c| c.old.start - lines.changes[i].old.end);
        // Ignored changes have no context of their own, so that they are shown only near a real
        // change.
        if gap.is_some_and(|g| g <= n.saturating_mul(2)) {
            continue;
        }
        let changes = &lines.changes[from..=i];
        from = i + 1;
        if changes.iter().all(|c| c.ignored) {
            continue;
        }
        let (first, last) = (&changes[0], &changes[changes.len() - 1]);
        let before = n.min(first.old.start).min(first.new.start);
        let after = n.min(lines.old.len() - last.old.end).min(lines.new.len() - last.new.end);
        out.push(DiffHunk {
            changes,
            old: first.old.start - before..last.old.end + after,
            new: first.new.start - before..last.new.end + after,
        });
    }
    out
}

impl DiffPrinter<'_> {
    /// Writes one line with its prefix, and a note if its newline is missing.
    fn print_line(&mut self, prefix: &str, line: &[u8], color: &str) -> io::Result<()> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        self.out.write_all(color.as_bytes())?;
        let is_bare = self.options.suppress_blank_empty && line == b"\n";
        let prefix = match prefix {
            _ if is_bare => prefix.trim_end(),
            // The tab takes the place of a blank.
            _ if self.options.initial_tab => prefix.strip_suffix(' ').unwrap_or(prefix),
            _ => prefix,
        };
        self.out.write_all(prefix.as_bytes())?;
        if self.options.initial_tab && !is_bare {
            self.out.write_all(b"\t")?;
        }
        if self.options.expand_tabs {
            self.out.write_all(&tabs_to_spaces(text, self.options.tab))?;
        } else {
            self.out.write_all(text)?;
        }
        if !color.is_empty() {
            self.out.write_all(self.palette.reset.as_bytes())?;
        }
        self.out.write_all(if line.ends_with(b"\n") { b"\n" } else { NO_NEWLINE })
    }

    fn print_colored(&mut self, color: &str, text: &str) -> io::Result<()> {
        let reset = if color.is_empty() { "" } else { self.palette.reset.as_str() };
        writeln!(self.out, "{color}{text}{reset}")
    }

    fn print_normal(&mut self, lines: &TextComparison<'_>) -> io::Result<()> {
        for c in lines.changes.iter().filter(|c| !c.ignored) {
            let letter = c.letter();
            self.print_colored(
                &self.palette.hunk,
                &format!("{}{letter}{}", range_text(&c.old), range_text(&c.new)),
            )?;
            for l in &lines.old[c.old.clone()] {
                self.print_line("< ", l, &self.palette.delete)?;
            }
            if letter == 'c' {
                self.out.write_all(b"---\n")?;
            }
            for l in &lines.new[c.new.clone()] {
                self.print_line("> ", l, &self.palette.add)?;
            }
        }
        Ok(())
    }

    /// Returns the file name and time, or the label.
    fn heading_text(&self, side: &DiffFile, index: usize) -> Vec<u8> {
        if let Some(label) = self.options.labels.get(index) {
            return label.clone();
        }
        let nanos = side.stat.map_or(0, |s| s.mtime);
        [&side.name[..], b"\t", &time_text(nanos, &self.options.zone)].concat()
    }

    fn print_headings(&mut self, marks: [&str; 2], a: &DiffFile, b: &DiffFile) -> io::Result<()> {
        for (i, (mark, side)) in marks.into_iter().zip([a, b]).enumerate() {
            let heading = self.heading_text(side, i);
            self.out.write_all(self.palette.header.as_bytes())?;
            self.out.write_all(mark.as_bytes())?;
            self.out.write_all(b" ")?;
            self.out.write_all(&heading)?;
            self.out.write_all(self.palette.reset.as_bytes())?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Returns the nearest line before `at` that the function expression matches, cut to 40 bytes.
    fn function_line(&self, lines: &TextComparison<'_>, at: usize) -> Vec<u8> {
        let Some(regex) = &self.options.function else { return Vec::new() };
        let found = lines.old[..at].iter().rev().find_map(|l| {
            let text = l.strip_suffix(b"\n").unwrap_or(l);
            regex.is_match(text).then_some(text)
        });
        found.map_or_else(Vec::new, |t| [b" ", t[..t.len().min(40)].trim_ascii_end()].concat())
    }

    fn print_unified(
        &mut self,
        a: &DiffFile,
        b: &DiffFile,
        lines: &TextComparison<'_>,
        n: usize,
    ) -> io::Result<()> {
        self.print_headings(["---", "+++"], a, b)?;
        let span = |r: &std::ops::Range<usize>| match r.len() {
            1 => (r.start + 1).to_string(),
            0 => format!("{},0", r.start),
            len => format!("{},{len}", r.start + 1),
        };
        for hunk in group_hunks(lines, n) {
            let function =
                String::from_utf8_lossy(&self.function_line(lines, hunk.old.start)).into_owned();
            let hunk_color = &self.palette.hunk;
            let reset = &self.palette.reset;
            writeln!(
                self.out,
                "{hunk_color}@@ -{} +{} @@{reset}{function}",
                span(&hunk.old),
                span(&hunk.new)
            )?;
            let mut at = hunk.old.start;
            for c in hunk.changes {
                for l in &lines.old[at..c.old.start] {
                    self.print_line(" ", l, "")?;
                }
                for l in &lines.old[c.old.clone()] {
                    self.print_line("-", l, &self.palette.delete)?;
                }
                for l in &lines.new[c.new.clone()] {
                    self.print_line("+", l, &self.palette.add)?;
                }
                at = c.old.end;
            }
            for l in &lines.old[at..hunk.old.end] {
                self.print_line(" ", l, "")?;
            }
        }
        Ok(())
    }

    fn print_context(
        &mut self,
        a: &DiffFile,
        b: &DiffFile,
        lines: &TextComparison<'_>,
        n: usize,
    ) -> io::Result<()> {
        self.print_headings(["***", "---"], a, b)?;
        for hunk in group_hunks(lines, n) {
            let function =
                String::from_utf8_lossy(&self.function_line(lines, hunk.old.start)).into_owned();
            writeln!(self.out, "***************{function}")?;
            self.print_colored(&self.palette.hunk, &format!("*** {} ****", range_text(&hunk.old)))?;
            if hunk.changes.iter().any(|c| !c.old.is_empty()) {
                let mut at = hunk.old.start;
                for c in hunk.changes {
                    for l in &lines.old[at..c.old.start] {
                        self.print_line("  ", l, &self.palette.delete)?;
                    }
                    let mark = if c.new.is_empty() { "- " } else { "! " };
                    for l in &lines.old[c.old.clone()] {
                        self.print_line(mark, l, &self.palette.delete)?;
                    }
                    at = c.old.end;
                }
                for l in &lines.old[at..hunk.old.end] {
                    self.print_line("  ", l, &self.palette.delete)?;
                }
            }
            self.print_colored(&self.palette.hunk, &format!("--- {} ----", range_text(&hunk.new)))?;
            if hunk.changes.iter().any(|c| !c.new.is_empty()) {
                let mut at = hunk.new.start;
                for c in hunk.changes {
                    for l in &lines.new[at..c.new.start] {
                        self.print_line("  ", l, &self.palette.add)?;
                    }
                    let mark = if c.old.is_empty() { "+ " } else { "! " };
                    for l in &lines.new[c.new.clone()] {
                        self.print_line(mark, l, &self.palette.add)?;
                    }
                    at = c.new.end;
                }
                for l in &lines.new[at..hunk.new.end] {
                    self.print_line("  ", l, &self.palette.add)?;
                }
            }
        }
        Ok(())
    }

    /// Writes an ed script, last change first, so that line numbers stay valid.
    fn print_ed(&mut self, lines: &TextComparison<'_>) -> io::Result<()> {
        for c in lines.changes.iter().rev().filter(|c| !c.ignored) {
            writeln!(self.out, "{}{}", range_text(&c.old), c.letter())?;
            if c.new.is_empty() {
                continue;
            }
            let mut open = true;
            for l in &lines.new[c.new.clone()] {
                if !open {
                    writeln!(self.out, "a")?;
                    open = true;
                }
                let text = l.strip_suffix(b"\n").unwrap_or(l);
                // A lone dot would end the text, so two are written and one is removed afterwards.
                if text == b"." {
                    self.out.write_all(b"..\n.\ns/.//\n")?;
                    open = false;
                } else {
                    self.out.write_all(text)?;
                    self.out.write_all(b"\n")?;
                }
            }
            if open {
                self.out.write_all(b".\n")?;
            }
        }
        Ok(())
    }

    /// Writes an ed script in forward order: the letter before the line numbers, which are those of
    /// the first file.
    fn forward_ed(&mut self, lines: &TextComparison<'_>) -> io::Result<()> {
        for c in lines.changes.iter().filter(|c| !c.ignored) {
            writeln!(self.out, "{}{}", c.letter(), range_text(&c.old).replace(',', " "))?;
            if !c.new.is_empty() {
                self.raw(&lines.new[c.new.clone()])?;
                self.out.write_all(b".\n")?;
            }
        }
        Ok(())
    }

    /// Writes deleted and added lines, counted in the first file (rcsfile(5)).
    fn rcs(&mut self, lines: &TextComparison<'_>) -> io::Result<()> {
        for c in lines.changes.iter().filter(|c| !c.ignored) {
            if !c.old.is_empty() {
                writeln!(self.out, "d{} {}", c.old.start + 1, c.old.len())?;
            }
            if !c.new.is_empty() {
                writeln!(self.out, "a{} {}", c.old.end, c.new.len())?;
                self.raw(&lines.new[c.new.clone()])?;
            }
        }
        Ok(())
    }

    /// Writes lines unchanged.
    fn raw(&mut self, lines: &[&[u8]]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.out.write_all(line))
    }

    fn side_by_side(&mut self, lines: &TextComparison<'_>) -> io::Result<()> {
        let o = self.options;
        let columns = SideColumns::new(o.width, o.tab, o.expand_tabs);
        let (mut i, mut j) = (0, 0);
        let mut changes = lines.changes.iter();
        loop {
            let next = changes.next();
            let stop = next.map_or(lines.old.len(), |c| c.old.start);
            while i < stop {
                if !self.options.no_common {
                    let left = Some(lines.old[i]);
                    let (mark, right) = if self.options.left_column {
                        (b'(', None)
                    } else {
                        (b' ', lines.new.get(j).copied())
                    };
                    columns.write_row(self.out, left, mark, right)?;
                }
                i += 1;
                j += 1;
            }
            let Some(c) = next else { return Ok(()) };
            let both = c.old.len().min(c.new.len());
            for k in 0..both {
                columns.write_row(
                    self.out,
                    Some(lines.old[c.old.start + k]),
                    b'|',
                    Some(lines.new[c.new.start + k]),
                )?;
            }
            // The newline is coloured, too, as in GNU diff.
            let Palette { add, delete, reset, .. } = self.palette;
            for l in &lines.old[c.old.start + both..c.old.end] {
                self.out.write_all(delete.as_bytes())?;
                columns.write_row(self.out, Some(l), b'<', None)?;
                self.out.write_all(reset.as_bytes())?;
            }
            for l in &lines.new[c.new.start + both..c.new.end] {
                self.out.write_all(add.as_bytes())?;
                columns.write_row(self.out, None, b'>', Some(l))?;
                self.out.write_all(reset.as_bytes())?;
            }
            (i, j) = (c.old.end, c.new.end);
        }
    }
}

fn tabs_to_spaces(text: &[u8], tab: usize) -> Vec<u8> {
    if !text.contains(&b'\t') {
        return text.to_vec();
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for &c in text {
        if c == b'\t' {
            let fill = tab - out.len() % tab;
            out.extend(std::iter::repeat_n(b' ', fill));
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns nanoseconds since the epoch as `2026-01-31 12:00:00.123456789 +0000`.
fn time_text(nanos: u64, zone: &Zone) -> Vec<u8> {
    let (seconds, nanos) = civil::split_nanos(nanos);
    let mut out = Vec::new();
    strftime::format_date(&mut out, b"%Y-%m-%d %H:%M:%S.%N %z", &zone.to_civil(seconds, nanos));
    out
}
