//! Draws trees.

use box_applet::{Ctx, clock};
use box_sys::{AccountNames, FileKind, Stat};
use box_text::time::{civil, strftime};

use super::list::{TreeItem, list_entries};
use super::{TreeFlag, TreeLevel, TreeOptions, TreeTotals, directory_stat};
use crate::common::paths;

/// The strings from which the lines before names are made.
struct TreeLines {
    bar: &'static str,
    blank: &'static str,
    branch: &'static str,
    last: &'static str,
}

impl TreeLines {
    fn from_options(o: &TreeOptions) -> TreeLines {
        if o.p.has_option(TreeFlag::NoIndent) {
            TreeLines { bar: "", blank: "", branch: "", last: "" }
        } else if o.unicode {
            // As in the original, two no-break spaces follow the bar.
            TreeLines {
                bar: "\u{2502}\u{a0}\u{a0} ",
                blank: "    ",
                branch: "\u{251c}\u{2500}\u{2500} ",
                last: "\u{2514}\u{2500}\u{2500} ",
            }
        } else {
            TreeLines { bar: "|   ", blank: "    ", branch: "|-- ", last: "`-- " }
        }
    }
}

struct Drawing<'o> {
    options: &'o TreeOptions,
    lines: TreeLines,
    names: AccountNames,
    totals: TreeTotals,
    /// The device of the root that is being drawn.
    device: u64,
    /// The directories that were entered, for the detection of loops through links.
    seen: Vec<(u64, u64)>,
    out: Vec<u8>,
}

/// Draws all roots and the report. Returns the text, and whether all roots exist.
pub(super) fn draw_trees(ctx: &Ctx<'_>, options: &TreeOptions) -> (Vec<u8>, bool) {
    let mut drawing = Drawing {
        options,
        lines: TreeLines::from_options(options),
        names: AccountNames::load(),
        totals: TreeTotals::default(),
        device: 0,
        seen: Vec::new(),
        out: Vec::new(),
    };
    let mut all_found = true;
    for root in &options.p.operands {
        match directory_stat(ctx, root) {
            Some(stat) => drawing.draw_root(ctx, root, &stat),
            None => {
                // It is not a failure if a root exists but is not a directory.
                all_found &= drawing.totals.add_root(ctx, root);
                drawing.out.extend_from_slice(root);
                drawing.out.extend_from_slice(b"  [error opening dir]\n");
            }
        }
    }
    if !options.p.has_option(TreeFlag::Noreport) {
        drawing.print_report();
    }
    (drawing.out, all_found)
}

impl Drawing<'_> {
    fn print_report(&mut self) {
        let TreeTotals { dirs, files } = self.totals;
        let noun = if dirs == 1 { "directory" } else { "directories" };
        let used = self.options.total().map(|total| {
            let whole = [TreeFlag::HumanSize, TreeFlag::ThousandSize];
            let unit = if whole.iter().any(|flag| self.options.p.has_option(*flag)) {
                ""
            } else {
                " bytes"
            };
            format!(" {}{unit} used in ", self.options.size(total))
        });
        let mut line = format!("\n{}{dirs} {noun}", used.unwrap_or_default());
        if !self.options.p.has_option(TreeFlag::Directories) {
            let noun = if files == 1 { "file" } else { "files" };
            line.push_str(&format!(", {files} {noun}"));
        }
        line.push('\n');
        self.out.extend_from_slice(line.as_bytes());
    }

    fn draw_root(&mut self, ctx: &Ctx<'_>, root: &[u8], stat: &Stat) {
        let o = self.options;
        let size = o.sums.get(root).copied().unwrap_or(stat.size);
        let details = entry_details(o, &self.names, &Stat { size, ..*stat });
        self.out.extend_from_slice(&details);
        self.out.extend_from_slice(&name_of(o, root));
        if o.p.has_option(TreeFlag::Classify) && !root.ends_with(b"/") {
            self.out.push(b'/');
        }
        let entries = list_entries(ctx, o, root).unwrap_or_default();
        if let Some(note) = too_many(o, &entries) {
            self.out.extend_from_slice(note.as_bytes());
            self.out.push(b'\n');
            self.totals.dirs += 1;
            return;
        }
        self.out.push(b'\n');
        // A root without entries is not counted.
        self.totals.dirs += u64::from(!entries.is_empty());
        (self.device, self.seen) = (stat.dev, vec![(stat.dev, stat.ino)]);
        self.draw_below(ctx, TreeLevel { path: root.to_vec(), entries, next: 0 });
    }

    fn draw_below(&mut self, ctx: &Ctx<'_>, first: TreeLevel) {
        let mut stack = vec![first];
        while let Some(depth) = stack.len().checked_sub(1) {
            let top = &mut stack[depth];
            if top.next == top.entries.len() {
                stack.pop();
                continue;
            }
            top.next += 1;
            let (top, above) = (&stack[depth], &stack[..depth]);
            let item = &top.entries[top.next - 1];
            let path = paths::join_path(&top.path, &item.name);
            let (children, note) = self.enter_dir(ctx, item, &path, depth);
            for open in above {
                let is_done = open.next == open.entries.len();
                let line = if is_done { self.lines.blank } else { self.lines.bar };
                self.out.extend_from_slice(line.as_bytes());
            }
            let is_last = top.next == top.entries.len();
            let line = if is_last { self.lines.last } else { self.lines.branch };
            self.out.extend_from_slice(line.as_bytes());
            self.draw_item(item, &path);
            self.out.extend_from_slice(note.as_bytes());
            self.out.push(b'\n');
            self.totals.add(item);
            if let Some(entries) = children {
                stack.push(TreeLevel { path, entries, next: 0 });
            }
        }
    }

    /// Returns the entries of a directory if it is entered, and the note to print after its name.
    fn enter_dir(
        &mut self,
        ctx: &Ctx<'_>,
        item: &TreeItem,
        path: &[u8],
        depth: usize,
    ) -> (Option<Vec<TreeItem>>, String) {
        let o = self.options;
        let nothing = (None, String::new());
        if !item.is_entered(o.p.has_option(TreeFlag::FollowLinks)) {
            return nothing;
        }
        let stat = item.target.as_ref().and_then(|t| t.1).unwrap_or(item.stat);
        let id = (stat.dev, stat.ino);
        if item.stat.kind == FileKind::Symlink && stat.ino != 0 && self.seen.contains(&id) {
            return (None, "  [recursive, not followed]".to_string());
        }
        let elsewhere = o.p.has_option(TreeFlag::OneFileSystem) && stat.dev != self.device;
        if depth + 1 >= o.level || elsewhere {
            return nothing;
        }
        let Ok(entries) = list_entries(ctx, o, path) else {
            return (None, "  [error opening dir]".to_string());
        };
        if let Some(note) = too_many(o, &entries) {
            return (None, note);
        }
        self.seen.push(id);
        (Some(entries), String::new())
    }

    /// Draws an entry: its details, its name, and the target of a link.
    fn draw_item(&mut self, item: &TreeItem, path: &[u8]) {
        let o = self.options;
        let details = entry_details(o, &self.names, &item.stat);
        self.out.extend_from_slice(&details);
        let shown = if o.p.has_option(TreeFlag::FullPath) { path } else { &item.name };
        self.out.extend_from_slice(&name_of(o, shown));
        match &item.target {
            Some((text, stat)) => {
                self.out.extend_from_slice(b" -> ");
                self.out.extend_from_slice(&name_of(o, text));
                self.out.extend_from_slice(stat.map_or(b"", |s| entry_mark(o, &s)));
            }
            None => self.out.extend_from_slice(entry_mark(o, &item.stat)),
        }
    }
}

/// Returns the note about a directory if it has more entries than `--filelimit` allows.
fn too_many(o: &TreeOptions, entries: &[TreeItem]) -> Option<String> {
    let n = entries.len();
    let exceeds = o.limit.is_some_and(|limit| n > limit);
    exceeds.then(|| format!("  [{n} entries exceeds filelimit, not opening dir]"))
}

/// Returns the details of an entry, such as `[drwxr-xr-x user 4.0K]`.
fn entry_details(o: &TreeOptions, names: &AccountNames, s: &Stat) -> Vec<u8> {
    let mut parts: Vec<String> = Vec::new();
    if o.p.has_option(TreeFlag::Protections) {
        parts.push(crate::own::stat::mode_string(s));
    }
    if o.p.has_option(TreeFlag::Owner) {
        parts.push(format!("{:<8}", names.show_user(s.uid)));
    }
    if o.p.has_option(TreeFlag::Group) {
        parts.push(format!("{:<8}", names.show_group(s.gid)));
    }
    if o.shows_sizes() {
        parts.push(o.size(s.size));
    }
    let format = o.p.last_value(TreeFlag::Timefmt);
    if format.is_some() || o.p.has_option(TreeFlag::Date) {
        let (t, n) = civil::split_nanos(s.mtime);
        let recent = clock::current_time().0 - t < 31_556_952 / 2;
        let mut text = Vec::new();
        strftime::format_date(
            &mut text,
            format.unwrap_or(if recent { b"%b %e %H:%M" } else { b"%b %e  %Y" }),
            &o.zone.to_civil(t, n),
        );
        parts.push(String::from_utf8_lossy(&text).into_owned());
    }
    if parts.is_empty() { Vec::new() } else { format!("[{}]  ", parts.join(" ")).into_bytes() }
}

/// Returns a name as it is shown. Characters that are not printable become escapes or question
/// marks. In a drawing without UTF-8, this also applies to spaces, backslashes and all bytes above
/// 127.
fn name_of(o: &TreeOptions, name: &[u8]) -> Vec<u8> {
    let quoted = o.p.has_option(TreeFlag::Quoted);
    let mut out = Vec::new();
    if quoted {
        out.push(b'"');
    }
    for &b in name {
        match b {
            b if o.p.has_option(TreeFlag::Literal) => out.push(b),
            b'"' if quoted => out.extend_from_slice(b"\\\""),
            b' ' if !o.unicode && !quoted => out.extend_from_slice(b"\\ "),
            b'\\' if !o.unicode => out.extend_from_slice(b"\\\\"),
            0x07..=0x0d if !o.unicode => {
                out.extend_from_slice(&[b'\\', b"abtnvfr"[usize::from(b - 0x07)]]);
            }
            0..=0x1f | 0x7f if o.p.has_option(TreeFlag::QuestionMarks) => out.push(b'?'),
            0x80.. if !o.unicode && o.p.has_option(TreeFlag::QuestionMarks) => out.push(b'?'),
            0..=0x1f | 0x7f => out.extend_from_slice(format!("\\{b:03o}").as_bytes()),
            0x80.. if !o.unicode => out.extend_from_slice(format!("\\{b:03o}").as_bytes()),
            b => out.push(b),
        }
    }
    if quoted {
        out.push(b'"');
    }
    out
}

fn entry_mark(o: &TreeOptions, s: &Stat) -> &'static [u8] {
    if !o.p.has_option(TreeFlag::Classify) {
        return b"";
    }
    match s.kind {
        FileKind::Dir => b"/",
        FileKind::Fifo => b"|",
        FileKind::Socket => b"=",
        FileKind::File if s.mode & 0o111 != 0 => b"*",
        _ => b"",
    }
}
