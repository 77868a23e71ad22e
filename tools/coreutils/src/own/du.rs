//! `du` (POSIX XCU du; GNU). Space used is the size in whole 4 KiB blocks, since WASI does not
//! tell; `-b` and `--apparent-size` are exact.

use std::collections::HashSet;
use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, Stat, meta};
use box_text::glob::{Options as GlobOptions, Pattern};

use super::stat::blocks;
use crate::common::number::{self, Scale};
use crate::common::{clock, files0, input, paths, quote, tree};
use box_text::time::Zone;
use box_text::time::{civil, strftime};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...\n  or:  du [OPTION]... --files0-from=F",
    about: "Summarize device usage of the set of FILEs, recursively for directories.",
    options: &[
        Opt::flag('0', "null", "end each output line with NUL, not newline"),
        Opt::flag('a', "all", "write counts for all files, not just directories"),
        Opt::flag('\u{1}', "apparent-size", "print apparent sizes rather than device usage")
            .long_only(),
        Opt::value('B', "block-size", "SIZE", "scale sizes by SIZE before printing them"),
        Opt::flag('b', "bytes", "equivalent to '--apparent-size --block-size=1'"),
        Opt::flag('c', "total", "produce a grand total"),
        Opt::flag(
            'D',
            "dereference-args",
            "dereference only symlinks that are listed on the\ncommand line",
        ),
        Opt::value(
            'd',
            "max-depth",
            "N",
            "print the total for a directory (or file, with --all)\nonly if it is N or fewer levels below the argument",
        ),
        Opt::value(
            '\u{2}',
            "files0-from",
            "F",
            "summarize the NUL-terminated file names in file F",
        )
        .long_only(),
        Opt::flag('H', "", "equivalent to --dereference-args (-D)"),
        Opt::flag('h', "human-readable", "print sizes in human readable format (e.g., 1K 234M 2G)"),
        Opt::flag('\u{3}', "inodes", "list inode usage information instead of block usage")
            .long_only(),
        Opt::flag('k', "", "like --block-size=1K"),
        Opt::flag('L', "dereference", "dereference all symbolic links"),
        Opt::flag('l', "count-links", "count sizes many times if hard linked"),
        Opt::flag('m', "", "like --block-size=1M"),
        Opt::flag('P', "no-dereference", "don't follow any symbolic links (this is the default)"),
        Opt::flag('S', "separate-dirs", "for directories do not include size of subdirectories"),
        Opt::flag('\u{4}', "si", "like -h, but use powers of 1000 not 1024").long_only(),
        Opt::flag('s', "summarize", "display only a total for each argument"),
        Opt::value(
            't',
            "threshold",
            "SIZE",
            "exclude entries smaller than SIZE if positive,\nor entries greater than SIZE if negative",
        ),
        Opt::optional('\u{5}', "time", "WORD", "show time of the last modification").long_only(),
        Opt::value('\u{6}', "time-style", "STYLE", "full-iso, long-iso, iso, or +FORMAT")
            .long_only(),
        Opt::value('X', "exclude-from", "FILE", "exclude files that match any pattern in FILE"),
        Opt::value('\u{7}', "exclude", "PATTERN", "exclude files that match PATTERN").long_only(),
        Opt::flag('x', "one-file-system", "skip directories on different file systems"),
    ],
    after: "",
    posix_order: false,
};

struct Options {
    all: bool,
    apparent: bool,
    inodes: bool,
    count_links: bool,
    separate: bool,
    one_file_system: bool,
    follow: bool,
    follow_operands: bool,
    depth: usize,
    scale: Scale,
    /// Smallest size shown, or largest if negative.
    threshold: i128,
    time: Option<(u8, Vec<u8>)>,
    exclude: Vec<Pattern>,
    end: u8,
    zone: Zone,
}

/// A directory being summed.
struct Open {
    name: Vec<u8>,
    entries: Vec<Vec<u8>>,
    own: u64,
    below: u64,
    newest: u64,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut scale = env_scale(ctx);
    let mut apparent = p.has('\u{1}');
    for (id, value) in &p.options {
        match id {
            'h' => scale = Scale::Human(1024),
            '\u{4}' => scale = Scale::Human(1000),
            'k' => scale = Scale::Units(1024, ""),
            'm' => scale = Scale::Units(1 << 20, ""),
            'b' => {
                apparent = true;
                scale = Scale::Units(1, "");
            }
            'B' => {
                let text = value.as_deref().unwrap_or_default();
                match Scale::parse(text) {
                    Some(s) => scale = s,
                    None => {
                        ctx.error_bytes(&[b"invalid --block-size argument ", &quote::always(text)]);
                        return Exit::FAILURE;
                    }
                }
            }
            _ => {}
        }
    }
    let mut depth = usize::MAX;
    if let Some(text) = p.last('d') {
        match number::decimal(text) {
            Some(n) => depth = usize::try_from(n).unwrap_or(usize::MAX),
            None => {
                input::usage_error(ctx, &[b"invalid maximum depth ", &quote::always(text)]);
                return Exit::FAILURE;
            }
        }
    }
    if p.has('s') {
        if p.has('a') {
            input::usage_error(ctx, &[b"cannot both summarize and show all entries"]);
            return Exit::FAILURE;
        }
        if p.has('d') && depth > 0 {
            ctx.error(format_args!("warning: summarizing conflicts with --max-depth={depth}"));
            input::usage_hint(ctx);
            return Exit::FAILURE;
        }
        depth = 0;
    }
    let threshold = match p.last('t').map(|t| (t.to_vec(), threshold(t))) {
        Some((text, None)) => {
            ctx.error_bytes(&[b"invalid --threshold argument ", &quote::always(&text)]);
            return Exit::FAILURE;
        }
        Some((_, Some(n))) => n,
        None => 0,
    };
    let time = match time_format(ctx, &p) {
        Ok(t) => t,
        Err(e) => return e,
    };
    let mut patterns: Vec<Vec<u8>> = p.all('\u{7}').map(<[u8]>::to_vec).collect();
    for file in p.all('X') {
        let mut text = Vec::new();
        let read = input::open(&mut ctx.stdin, &ctx.cwd, file)
            .and_then(|mut r| std::io::Read::read_to_end(&mut r, &mut text));
        if let Err(e) = read {
            input::file_error(ctx, file, &e);
            return Exit::FAILURE;
        }
        patterns.extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    }
    let o = Options {
        all: p.has('a'),
        apparent,
        inodes: p.has('\u{3}'),
        count_links: p.has('l') || p.has('L'),
        separate: p.has('S'),
        one_file_system: p.has('x'),
        follow: p.last_of(&['L', 'P', 'D', 'H']) == Some('L'),
        follow_operands: matches!(p.last_of(&['L', 'P', 'D', 'H']), Some('L' | 'D' | 'H')),
        depth,
        scale: if p.has('\u{3}') && !p.has('h') { Scale::Units(1, "") } else { scale },
        threshold,
        time,
        exclude: patterns.iter().map(|t| Pattern::new(t, GlobOptions::default())).collect(),
        end: if p.has('0') { 0 } else { b'\n' },
        zone: clock::zone(ctx.env.get(b"TZ")),
    };
    let mut exit = Exit::SUCCESS;
    let mut files = p.operands.clone();
    if let Some(list) = p.last('\u{2}') {
        let list = list.to_vec();
        if let Some(extra) = files.first() {
            let shown = quote::always(extra);
            ctx.error_bytes(&[b"extra operand ", &shown]);
            input::usage_error(ctx, &[b"file operands cannot be combined with --files0-from"]);
            return Exit::FAILURE;
        }
        match files0::read(ctx, &list) {
            Ok((names, bad)) => {
                files = names;
                if bad > 0 {
                    exit = Exit::FAILURE;
                }
            }
            Err(e) => return e,
        }
    } else if files.is_empty() {
        files.push(b".".to_vec());
    }
    let mut seen = HashSet::new();
    let (mut total, mut newest) = (0u64, 0u64);
    for file in &files {
        let mut ok = true;
        let (size, time) = operand(ctx, file, &o, &mut seen, &mut ok);
        total = total.saturating_add(size);
        newest = newest.max(time);
        if !ok {
            exit = Exit::FAILURE;
        }
    }
    if p.has('c') {
        line(ctx, b"total", total, newest, &o);
    }
    exit
}

fn env_scale(ctx: &Ctx<'_>) -> Scale {
    let value =
        [&b"DU_BLOCK_SIZE"[..], b"BLOCK_SIZE", b"BLOCKSIZE"].iter().find_map(|n| ctx.env.get(n));
    let default = if ctx.env.get(b"POSIXLY_CORRECT").is_some() { 512 } else { 1024 };
    value.and_then(Scale::parse).unwrap_or(Scale::Units(default, ""))
}

fn threshold(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(d) => (true, d),
        None => (false, text),
    };
    let n = i128::from(number::size(digits).ok()?);
    if negative { (n != 0).then_some(-n) } else { Some(n) }
}

fn time_format(
    ctx: &mut Ctx<'_>,
    p: &box_applet::opts::Parsed,
) -> Result<Option<(u8, Vec<u8>)>, Exit> {
    if !p.has('\u{5}') {
        return Ok(None);
    }
    let which = match p.last('\u{5}') {
        None => b'm',
        Some(b"ctime" | b"status") => b'c',
        Some(b"atime" | b"access" | b"use") => b'a',
        Some(other) => {
            input::usage_error(
                ctx,
                &[b"invalid argument ", &quote::always(other), b" for '--time'"],
            );
            return Err(Exit::FAILURE);
        }
    };
    let style =
        p.last('\u{6}').or_else(|| ctx.env.get(b"TIME_STYLE")).unwrap_or(b"long-iso").to_vec();
    let format = match style.strip_prefix(b"posix-").unwrap_or(&style) {
        b"full-iso" => b"%Y-%m-%d %H:%M:%S.%N %z".to_vec(),
        b"long-iso" => b"%Y-%m-%d %H:%M".to_vec(),
        b"iso" => b"%Y-%m-%d".to_vec(),
        [b'+', rest @ ..] => rest.to_vec(),
        other => {
            input::usage_error(
                ctx,
                &[b"invalid argument ", &quote::always(other), b" for 'time style'"],
            );
            return Err(Exit::FAILURE);
        }
    };
    Ok(Some((which, format)))
}

impl Options {
    fn size(&self, s: &Stat) -> u64 {
        if self.inodes {
            1
        } else if self.apparent {
            // Directories have no contents of their own to count.
            if matches!(s.kind, Kind::File | Kind::Symlink | Kind::Dir) { s.size } else { 0 }
        } else {
            blocks(s) * 512
        }
    }

    fn time(&self, s: &Stat) -> u64 {
        match self.time {
            Some((b'a', _)) => s.atime,
            Some((b'c', _)) => s.ctime,
            _ => s.mtime,
        }
    }

    fn excluded(&self, name: &[u8]) -> bool {
        // A pattern may match the whole name or any of its tails after a slash.
        self.exclude.iter().any(|p| {
            p.is_match(name)
                || name.iter().enumerate().any(|(i, c)| *c == b'/' && p.is_match(&name[i + 1..]))
        })
    }
}

fn line(ctx: &mut Ctx<'_>, name: &[u8], size: u64, time: u64, o: &Options) {
    let shown = i128::from(size);
    if o.threshold > 0 && shown < o.threshold || o.threshold < 0 && shown > -o.threshold {
        return;
    }
    let mut out = o.scale.show(size).into_bytes();
    out.push(b'\t');
    if let Some((_, format)) = &o.time {
        let (s, n) = civil::split_nanos(time);
        strftime::format(&mut out, format, &o.zone.broken(s, n));
        out.push(b'\t');
    }
    out.extend_from_slice(name);
    out.push(o.end);
    let _ = ctx.stdout.write_all(&out);
}

/// Sums one operand, printing what the options ask for; its size and newest time.
fn operand(
    ctx: &mut Ctx<'_>,
    operand: &[u8],
    o: &Options,
    seen: &mut HashSet<(u64, u64)>,
    ok: &mut bool,
) -> (u64, u64) {
    let mut stack: Vec<Open> = Vec::new();
    let mut device = None;
    let mut result = (0, 0);
    if let Some((size, time)) = enter(ctx, operand.to_vec(), o, seen, &mut stack, &mut device, ok) {
        line(ctx, operand, size, time, o);
        result = (size, time);
    }
    while let Some(top) = stack.last_mut() {
        if let Some(entry) = top.entries.pop() {
            let name = paths::join(&top.name, &entry);
            let depth = stack.len();
            if let Some((size, time)) =
                enter(ctx, name.clone(), o, seen, &mut stack, &mut device, ok)
            {
                if o.all && depth <= o.depth {
                    line(ctx, &name, size, time, o);
                }
                if let Some(top) = stack.last_mut() {
                    top.own = top.own.saturating_add(size);
                    top.newest = top.newest.max(time);
                }
            }
            continue;
        }
        let Some(done) = stack.pop() else { break };
        let size = done.own.saturating_add(if o.separate { 0 } else { done.below });
        let all = done.own.saturating_add(done.below);
        if stack.len() <= o.depth {
            line(ctx, &done.name, size, done.newest, o);
        }
        match stack.last_mut() {
            Some(parent) => {
                parent.below = parent.below.saturating_add(all);
                parent.newest = parent.newest.max(done.newest);
            }
            None => result = (all, done.newest),
        }
    }
    result
}

/// A file's size, or a directory opened for summing.
fn enter(
    ctx: &mut Ctx<'_>,
    name: Vec<u8>,
    o: &Options,
    seen: &mut HashSet<(u64, u64)>,
    stack: &mut Vec<Open>,
    device: &mut Option<u64>,
    ok: &mut bool,
) -> Option<(u64, u64)> {
    if o.excluded(&name) {
        return None;
    }
    let follow = o.follow || o.follow_operands && stack.is_empty();
    let stat = match meta::stat(&ctx.path(&name), follow) {
        Ok(s) => s,
        Err(e) => {
            input::cannot(ctx, "cannot access", &name, &e);
            *ok = false;
            return None;
        }
    };
    let dev = *device.get_or_insert(stat.dev);
    if o.one_file_system && dev != stat.dev {
        return None;
    }
    // A file with several names counts once.
    let shared = stat.kind == Kind::Dir || stat.nlink > 1 && !o.count_links;
    if shared && stat.ino != 0 && !seen.insert((stat.dev, stat.ino)) {
        return None;
    }
    let (size, time) = (o.size(&stat), o.time(&stat));
    if stat.kind != Kind::Dir {
        return Some((size, time));
    }
    match tree::entries(ctx, &name) {
        Ok(mut entries) => {
            entries.reverse();
            stack.push(Open { name, entries, own: size, below: 0, newest: time });
            None
        }
        Err(e) => {
            input::cannot(ctx, "cannot read directory", &name, &e);
            *ok = false;
            Some((size, time))
        }
    }
}
