//! `tree`: directory trees as drawings (the program by Steve Baker; options people use).

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, Stat, meta};
use box_text::glob::{Options as GlobOptions, Pattern};

use crate::common::clock;
use crate::common::{input, names::Names, number, paths, tree as walk};
use crate::own::sort::version;
use box_text::time::{Zone, civil, strftime};

const SPEC: Spec = Spec {
    usage: "[options] [directory...]",
    about: "List contents of directories in a tree-like format.",
    options: &[
        Opt::flag('a', "", "all files are listed"),
        Opt::flag('d', "", "list directories only"),
        Opt::flag('l', "", "follow symbolic links like directories"),
        Opt::flag('f', "", "print the full path prefix for each file"),
        Opt::flag('x', "", "stay on current filesystem only"),
        Opt::value('L', "", "level", "descend only level directories deep"),
        Opt::value('P', "", "pattern", "list only those files that match the pattern given"),
        Opt::value('I', "", "pattern", "do not list files that match the given pattern"),
        Opt::flag('\u{1}', "ignore-case", "ignore case when pattern matching").long_only(),
        Opt::flag('\u{2}', "matchdirs", "include directory names in -P pattern matching")
            .long_only(),
        Opt::flag('\u{3}', "noreport", "turn off file/directory count at end of tree listing")
            .long_only(),
        Opt::value('\u{4}', "filelimit", "N", "do not descend dirs with more than N files in them")
            .long_only(),
        Opt::flag('\u{5}', "dirsfirst", "list directories before files").long_only(),
        Opt::flag('\u{6}', "filesfirst", "list files before directories").long_only(),
        Opt::value('\u{7}', "sort", "TYPE", "select sort: name,version,size,mtime,ctime,none")
            .long_only(),
        Opt::flag('\u{e}', "prune", "prune empty directories from the output").long_only(),
        Opt::value('\u{f}', "charset", "X", "use charset X for drawing").long_only(),
        Opt::flag('\u{10}', "du", "(with -s) sizes of directories include contents").long_only(),
        Opt::value('o', "", "filename", "output to file instead of stdout"),
        Opt::flag('q', "", "print non-printable characters as '?'"),
        Opt::flag('N', "", "print non-printable characters as is"),
        Opt::flag('Q', "", "quote filenames with double quotes"),
        Opt::flag('p', "", "print the protections for each file"),
        Opt::flag('u', "", "displays file owner or UID number"),
        Opt::flag('g', "", "displays file group owner or GID number"),
        Opt::flag('s', "", "print the size in bytes of each file"),
        Opt::flag('h', "", "print the size in a more human readable way"),
        Opt::flag('D', "", "print the date of last modification"),
        Opt::flag('F', "", "appends '/', '=', '*', '@', '|' or '>' as per ls -F"),
        Opt::flag('v', "", "sort files alphanumerically by version"),
        Opt::flag('t', "", "sort files by last modification time"),
        Opt::flag('c', "", "sort files by last status change time"),
        Opt::flag('U', "", "leave files unsorted"),
        Opt::flag('r', "", "reverse the order of the sort"),
        Opt::flag('i', "", "don't print indentation lines"),
        Opt::flag('n', "", "turn colorization off always"),
        Opt::flag('C', "", "turn colorization on always (ignored)"),
        Opt::flag('A', "", "print ANSI lines graphic indentation lines (ignored)"),
        Opt::flag('S', "", "print with CP437 lines (ignored)"),
        Opt::flag('J', "", "prints out a JSON representation of the tree"),
    ],
    after: "",
    posix_order: false,
};

struct Options {
    p: box_applet::opts::Parsed,
    level: usize,
    limit: Option<usize>,
    only: Vec<Pattern>,
    ignore: Vec<Pattern>,
    unicode: bool,
    zone: Zone,
}

struct Totals {
    dirs: u64,
    files: u64,
}

/// A directory on the way down.
struct Open {
    path: Vec<u8>,
    entries: Vec<Item>,
    next: usize,
}

struct Item {
    name: Vec<u8>,
    stat: Stat,
    /// Of a link: its text and what it points to.
    target: Option<(Vec<u8>, Option<Stat>)>,
}

impl Item {
    fn enters(&self, follow: bool) -> bool {
        self.stat.kind == Kind::Dir || follow && self.to_dir()
    }

    fn to_dir(&self) -> bool {
        self.target.as_ref().is_some_and(|t| t.1.is_some_and(|s| s.kind == Kind::Dir))
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let level = match p.last('L').map(number::decimal) {
        Some(None | Some(0)) => {
            ctx.error("Invalid level, must be greater than 0.");
            return Exit::FAILURE;
        }
        Some(Some(n)) => usize::try_from(n).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    let glob = GlobOptions { ignore_case: p.has('\u{1}'), ..GlobOptions::default() };
    // `|` separates alternatives.
    let patterns = |id: char| -> Vec<Pattern> {
        p.all(id)
            .flat_map(|t| t.split(|c| *c == b'|'))
            .map(|t| Pattern::new(t.strip_suffix(b"/").unwrap_or(t), glob))
            .collect()
    };
    let o = Options {
        level,
        limit: p.last('\u{4}').and_then(number::decimal).and_then(|n| usize::try_from(n).ok()),
        only: patterns('P'),
        ignore: patterns('I'),
        unicode: p.last('\u{f}').is_none_or(|c| c.to_ascii_lowercase().starts_with(b"utf"))
            && crate::common::locale::utf8(&ctx.env),
        zone: clock::zone(ctx.env.get(b"TZ")),
        p,
    };
    let mut names = Names::load();
    let mut totals = Totals { dirs: 0, files: 0 };
    let roots = if o.p.operands.is_empty() { vec![b".".to_vec()] } else { o.p.operands.clone() };
    let mut out = Vec::new();
    let mut failed = false;
    let json = o.p.has('J');
    if json {
        out.extend_from_slice(b"[\n");
    }
    for (i, root) in roots.iter().enumerate() {
        match meta::stat(&ctx.path(root), true) {
            Ok(s) if s.kind == Kind::Dir => {
                if json {
                    if i > 0 {
                        out.extend_from_slice(b",\n");
                    }
                    json_tree(ctx, &o, root, 1, &mut totals, &mut out);
                } else {
                    drawing(ctx, &o, &mut names, root, &s, &mut totals, &mut out);
                }
            }
            found => {
                // A file is counted as one, and that it is no directory is no failure.
                totals.files += u64::from(found.is_ok());
                failed |= found.is_err();
                if json {
                    out.extend_from_slice(
                        format!(
                            "  {{\"type\":\"directory\",\"name\":{},\"error\":\"opening dir\"}}",
                            json_string(root)
                        )
                        .as_bytes(),
                    );
                } else {
                    out.extend_from_slice(root);
                    out.extend_from_slice(b"  [error opening dir]\n");
                }
            }
        }
    }
    if !o.p.has('\u{3}') {
        if json {
            out.extend_from_slice(
                format!(
                    "\n,\n  {{\"type\":\"report\",\"directories\":{},\"files\":{}}}\n",
                    totals.dirs, totals.files
                )
                .as_bytes(),
            );
        } else {
            let noun =
                |n: u64, one: &'static str, many: &'static str| if n == 1 { one } else { many };
            let mut line =
                format!("\n{} {}", totals.dirs, noun(totals.dirs, "directory", "directories"));
            if !o.p.has('d') {
                line.push_str(&format!(
                    ", {} {}",
                    totals.files,
                    noun(totals.files, "file", "files")
                ));
            }
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
    }
    if json {
        out.extend_from_slice(b"]\n");
    }
    match o.p.last('o') {
        Some(name) => {
            if let Err(e) = std::fs::write(ctx.path(name), &out) {
                input::file_error(ctx, name, &e);
                return Exit::FAILURE;
            }
        }
        None => {
            let _ = ctx.stdout.write_all(&out);
        }
    }
    if failed { Exit::USAGE } else { Exit::SUCCESS }
}

/// The entries of a directory that are shown, sorted.
fn list(ctx: &Ctx<'_>, o: &Options, dir: &[u8]) -> std::io::Result<Vec<Item>> {
    let mut items = Vec::new();
    for name in walk::entries(ctx, dir)? {
        if name.starts_with(b".") && !o.p.has('a') {
            continue;
        }
        let path = ctx.path(&paths::join(dir, &name));
        let Ok(stat) = meta::stat(&path, false) else { continue };
        let mut target = None;
        if stat.kind == Kind::Symlink {
            let text = std::fs::read_link(&path)
                .map(|t| box_sys::path::to_bytes(&t).to_vec())
                .unwrap_or_default();
            target = Some((text, meta::stat(&path, true).ok()));
        }
        let item = Item { name, stat, target };
        let dir_like = item.stat.kind == Kind::Dir || item.to_dir();
        if o.p.has('d') && !dir_like {
            continue;
        }
        if o.ignore.iter().any(|p| p.is_match(&item.name)) {
            continue;
        }
        let filtered = !o.only.is_empty() && (item.stat.kind != Kind::Dir || o.p.has('\u{2}'));
        if filtered && !o.only.iter().any(|p| p.is_match(&item.name)) {
            continue;
        }
        items.push(item);
    }
    let how = o.p.last('\u{7}');
    if o.p.has('t') || how == Some(b"mtime") {
        items.sort_by_key(|i| i.stat.mtime);
    } else if o.p.has('c') || how == Some(b"ctime") {
        items.sort_by_key(|i| i.stat.ctime);
    } else if o.p.has('v') || how == Some(b"version") {
        items.sort_by(|a, b| version(&a.name, &b.name));
    } else if how == Some(b"size") {
        items.sort_by_key(|i| std::cmp::Reverse(i.stat.size));
    }
    if o.p.has('\u{e}') {
        items.retain(|i| {
            i.stat.kind != Kind::Dir || holds_files(ctx, o, &paths::join(dir, &i.name))
        });
    }
    if o.p.has('r') {
        items.reverse();
    }
    if o.p.has('\u{5}') {
        items.sort_by_key(|i| i.stat.kind != Kind::Dir && !i.to_dir());
    } else if o.p.has('\u{6}') {
        items.sort_by_key(|i| i.stat.kind == Kind::Dir || i.to_dir());
    }
    Ok(items)
}

/// Whether anything but directories is shown somewhere below (`--prune`).
fn holds_files(ctx: &Ctx<'_>, o: &Options, dir: &[u8]) -> bool {
    let mut todo = vec![dir.to_vec()];
    while let Some(d) = todo.pop() {
        for name in walk::entries(ctx, &d).unwrap_or_default() {
            if name.starts_with(b".") && !o.p.has('a') || o.ignore.iter().any(|p| p.is_match(&name))
            {
                continue;
            }
            let path = paths::join(&d, &name);
            match meta::stat(&ctx.path(&path), false) {
                Ok(s) if s.kind == Kind::Dir => todo.push(path),
                Ok(_) if o.only.is_empty() || o.only.iter().any(|p| p.is_match(&name)) => {
                    return true;
                }
                _ => {}
            }
        }
    }
    false
}

/// `[drwxr-xr-x user 4.0K]` and the like.
fn details(o: &Options, names: &mut Names, s: &Stat) -> Vec<u8> {
    let mut parts: Vec<String> = Vec::new();
    if o.p.has('p') {
        parts.push(super::stat::mode_string(s));
    }
    if o.p.has('u') {
        parts.push(format!("{:<8}", names.show_user(s.uid)));
    }
    if o.p.has('g') {
        parts.push(format!("{:<8}", names.show_group(s.gid)));
    }
    if o.p.has('h') {
        parts.push(format!("{:>4}", box_text::number::human(s.size, 1024)));
    } else if o.p.has('s') {
        parts.push(format!("{:>11}", s.size));
    }
    if o.p.has('D') {
        let (t, n) = civil::split_nanos(s.mtime);
        let recent = clock::now().0 - t < 31_556_952 / 2;
        let mut text = Vec::new();
        strftime::format(
            &mut text,
            if recent { b"%b %e %H:%M" } else { b"%b %e  %Y" },
            &o.zone.broken(t, n),
        );
        parts.push(String::from_utf8_lossy(&text).into_owned());
    }
    if parts.is_empty() { Vec::new() } else { format!("[{}]  ", parts.join(" ")).into_bytes() }
}

/// A name as it is shown: characters that do not print become escapes or question marks; in a locale that has ASCII
/// only, spaces, backslashes and all bytes beyond, too.
fn name_of(o: &Options, name: &[u8]) -> Vec<u8> {
    let quoted = o.p.has('Q');
    let mut out = Vec::new();
    if quoted {
        out.push(b'"');
    }
    for &b in name {
        match b {
            b if o.p.has('N') => out.push(b),
            b'"' if quoted => out.extend_from_slice(b"\\\""),
            b' ' if !o.unicode && !quoted => out.extend_from_slice(b"\\ "),
            b'\\' if !o.unicode => out.extend_from_slice(b"\\\\"),
            0x07..=0x0d if !o.unicode => {
                out.extend_from_slice(&[b'\\', b"abtnvfr"[usize::from(b - 0x07)]]);
            }
            0..=0x1f | 0x7f if o.p.has('q') => out.push(b'?'),
            0x80.. if !o.unicode && o.p.has('q') => out.push(b'?'),
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

fn mark(o: &Options, s: &Stat) -> &'static [u8] {
    if !o.p.has('F') {
        return b"";
    }
    match s.kind {
        Kind::Dir => b"/",
        Kind::Fifo => b"|",
        Kind::Socket => b"=",
        Kind::File if s.mode & 0o111 != 0 => b"*",
        _ => b"",
    }
}

fn drawing(
    ctx: &mut Ctx<'_>,
    o: &Options,
    names: &mut Names,
    root: &[u8],
    stat: &Stat,
    totals: &mut Totals,
    out: &mut Vec<u8>,
) {
    let (bar, blank, branch, last): (&str, &str, &str, &str) = if o.p.has('i') {
        ("", "", "", "")
    } else if o.unicode {
        // The bar is followed by two no-break spaces, as the original draws it.
        ("\u{2502}\u{a0}\u{a0} ", "    ", "\u{251c}\u{2500}\u{2500} ", "\u{2514}\u{2500}\u{2500} ")
    } else {
        ("|   ", "    ", "|-- ", "`-- ")
    };
    out.extend_from_slice(&details(o, names, stat));
    out.extend_from_slice(&name_of(o, root));
    if o.p.has('F') && !root.ends_with(b"/") {
        out.push(b'/');
    }
    let first = list(ctx, o, root).unwrap_or_default();
    if o.limit.is_some_and(|n| first.len() > n) {
        out.extend_from_slice(
            format!("  [{} entries exceeds filelimit, not opening dir]\n", first.len()).as_bytes(),
        );
        totals.dirs += 1;
        return;
    }
    out.push(b'\n');
    // A root without entries does not count.
    totals.dirs += u64::from(!first.is_empty());
    let mut seen: Vec<(u64, u64)> = vec![(stat.dev, stat.ino)];
    let mut stack = vec![Open { path: root.to_vec(), entries: first, next: 0 }];
    while let Some(depth) = stack.len().checked_sub(1) {
        let prefix: String = stack[..depth]
            .iter()
            .map(|d| if d.next < d.entries.len() { bar } else { blank })
            .collect();
        let top = &mut stack[depth];
        let Some(item) = top.entries.get(top.next) else {
            stack.pop();
            continue;
        };
        top.next += 1;
        let is_last = top.next == top.entries.len();
        let path = paths::join(&top.path, &item.name);
        let mut children = None;
        let mut note = String::new();
        if item.enters(o.p.has('l')) {
            let id = item.target.as_ref().and_then(|t| t.1).unwrap_or(item.stat);
            let repeated =
                item.stat.kind == Kind::Symlink && id.ino != 0 && seen.contains(&(id.dev, id.ino));
            let other = o.p.has('x') && id.dev != stat.dev;
            if repeated {
                note = "  [recursive, not followed]".to_string();
            } else if depth + 1 < o.level && !other {
                match list(ctx, o, &path) {
                    Ok(c) if o.limit.is_some_and(|n| c.len() > n) => {
                        note =
                            format!("  [{} entries exceeds filelimit, not opening dir]", c.len());
                    }
                    Ok(c) => {
                        seen.push((id.dev, id.ino));
                        children = Some(c);
                    }
                    Err(_) => note = "  [error opening dir]".to_string(),
                }
            }
        }
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(if is_last { last } else { branch }.as_bytes());
        out.extend_from_slice(&details(o, names, &item.stat));
        out.extend_from_slice(&name_of(o, if o.p.has('f') { &path } else { &item.name }));
        match &item.target {
            Some((text, t)) => {
                out.extend_from_slice(b" -> ");
                out.extend_from_slice(&name_of(o, text));
                if let Some(s) = t {
                    out.extend_from_slice(mark(o, s));
                }
            }
            None => out.extend_from_slice(mark(o, &item.stat)),
        }
        out.extend_from_slice(note.as_bytes());
        out.push(b'\n');
        if item.stat.kind == Kind::Dir || item.to_dir() {
            totals.dirs += 1
        } else {
            totals.files += 1
        }
        if let Some(entries) = children {
            stack.push(Open { path, entries, next: 0 });
        }
    }
}

fn json_string(text: &[u8]) -> String {
    let mut s = String::from("\"");
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '"' => s.push_str("\\\""),
            '\\' => s.push_str("\\\\"),
            '\n' => s.push_str("\\n"),
            '\t' => s.push_str("\\t"),
            c if (c as u32) < 0x20 => s.push_str(&format!("\\u{:04x}", c as u32)),
            c => s.push(c),
        }
    }
    s.push('"');
    s
}

/// `-J`: one object per entry, directories with their contents. Closing brackets are kept on a stack.
fn json_tree(
    ctx: &mut Ctx<'_>,
    o: &Options,
    root: &[u8],
    indent: usize,
    totals: &mut Totals,
    out: &mut Vec<u8>,
) {
    let pad = |n: usize| "  ".repeat(n);
    out.extend_from_slice(
        format!(
            "{}{{\"type\":\"directory\",\"name\":{},\"contents\":[",
            pad(indent),
            json_string(root)
        )
        .as_bytes(),
    );
    totals.dirs += 1;
    let mut stack = vec![Open {
        path: root.to_vec(),
        entries: list(ctx, o, root).unwrap_or_default(),
        next: 0,
    }];
    while let Some(depth) = stack.len().checked_sub(1) {
        let top = &mut stack[depth];
        let Some(item) = top.entries.get(top.next) else {
            if !top.entries.is_empty() {
                out.extend_from_slice(format!("\n{}", pad(indent + depth)).as_bytes());
            }
            out.extend_from_slice(b"]}");
            stack.pop();
            continue;
        };
        out.extend_from_slice(if top.next > 0 { b",\n" } else { b"\n" });
        top.next += 1;
        let path = paths::join(&top.path, &item.name);
        let kind = match item.stat.kind {
            Kind::Dir => "directory",
            Kind::Symlink => "link",
            Kind::File => "file",
            Kind::Fifo => "fifo",
            Kind::Socket => "socket",
            Kind::CharDevice => "char",
            Kind::BlockDevice => "block",
        };
        let shown = json_string(if o.p.has('f') { &path } else { &item.name });
        out.extend_from_slice(
            format!("{}{{\"type\":\"{kind}\",\"name\":{shown}", pad(indent + depth + 1)).as_bytes(),
        );
        if let Some((text, _)) = &item.target {
            out.extend_from_slice(format!(",\"target\":{}", json_string(text)).as_bytes());
        }
        if o.p.has('s') || o.p.has('h') {
            out.extend_from_slice(format!(",\"size\":{}", item.stat.size).as_bytes());
        }
        if item.stat.kind == Kind::Dir || item.to_dir() {
            totals.dirs += 1
        } else {
            totals.files += 1
        }
        if item.stat.kind == Kind::Dir && depth + 1 < o.level {
            let entries = list(ctx, o, &path).unwrap_or_default();
            if entries.is_empty() {
                out.push(b'}');
                continue;
            }
            out.extend_from_slice(b",\"contents\":[");
            stack.push(Open { path, entries, next: 0 });
        } else {
            out.push(b'}');
        }
    }
}
