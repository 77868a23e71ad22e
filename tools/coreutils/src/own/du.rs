//! `du` (POSIX XCU du; GNU). WASI does not report the space that a file uses, so it is the size
//! rounded up to whole 4 KiB blocks; `-b` and `--apparent-size` are exact.

use std::collections::HashSet;
use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::path::names_in;
use box_sys::{FileKind, Stat, meta};
use box_text::glob::{GlobOptions, GlobPattern};
use box_text::time::Zone;
use box_text::time::{civil, strftime};

use super::stat::block_count;
use crate::common::number::{self, CountError, SizeScale};
use crate::common::{files0, input, paths, quote};

/// An option of `du`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DuFlag {
    All,
    ApparentSize,
    BlockSize,
    Bytes,
    CountLinks,
    Dereference,
    DereferenceArgs,
    Exclude,
    ExcludeFrom,
    Files0From,
    HumanReadable,
    Inodes,
    Kibibytes,
    MaxDepth,
    Mebibytes,
    NoDereference,
    Null,
    OneFileSystem,
    SeparateDirs,
    Si,
    Summarize,
    Threshold,
    Time,
    TimeStyle,
    Total,
}

const SPEC: Spec<DuFlag> = Spec::new(
    "[OPTION]... [FILE]...\n[OPTION]... --files0-from=F",
    "Print the space that files take, with sums for directories.",
    &[
        Opt::new(DuFlag::Null, '0', "null").with_help(words::NUL_OUT),
        Opt::new(DuFlag::All, 'a', "all").with_help("List files, too, not only directories"),
        Opt::long(DuFlag::ApparentSize, "apparent-size")
            .with_help("Count lengths of files instead of blocks on disk"),
        Opt::new(DuFlag::BlockSize, 'B', "block-size").with_argument("SIZE", words::BLOCK_SIZE),
        Opt::new(DuFlag::Bytes, 'b', "bytes")
            .with_help("Count bytes of length: --apparent-size -B1"),
        Opt::new(DuFlag::Total, 'c', "total").with_help("Add a line with the sum of all"),
        Opt::new(DuFlag::DereferenceArgs, 'D', "dereference-args")
            .with_help("Follow symbolic links that are operands"),
        Opt::new(DuFlag::MaxDepth, 'd', "max-depth")
            .with_argument("N", "List only down to N levels below an operand"),
        Opt::long(DuFlag::Files0From, "files0-from").with_argument("F", words::FILES0),
        Opt::new(DuFlag::DereferenceArgs, 'H', "").with_help("Like -D"),
        Opt::new(DuFlag::HumanReadable, 'h', "human-readable").with_help(words::HUMAN),
        Opt::long(DuFlag::Inodes, "inodes").with_help("Count files instead of blocks"),
        Opt::new(DuFlag::Kibibytes, 'k', "").with_help(words::KIB),
        Opt::new(DuFlag::Dereference, 'L', "dereference").with_help("Follow all symbolic links"),
        Opt::new(DuFlag::CountLinks, 'l', "count-links")
            .with_help("Count a file once for each of its hard links"),
        Opt::new(DuFlag::Mebibytes, 'm', "").with_help(words::MIB),
        Opt::new(DuFlag::NoDereference, 'P', "no-dereference")
            .with_help("Follow no symbolic links (default)"),
        Opt::new(DuFlag::SeparateDirs, 'S', "separate-dirs")
            .with_help("Do not add subdirectories to their directory"),
        Opt::long(DuFlag::Si, "si").with_help(words::SI),
        Opt::new(DuFlag::Summarize, 's', "summarize").with_help("Print one sum for each operand"),
        Opt::new(DuFlag::Threshold, 't', "threshold")
            .with_argument("SIZE", "Leave out entries under SIZE, or over it if it is negative"),
        Opt::long(DuFlag::Time, "time")
            .may_take("WORD", "Add the time of the last change, or atime or ctime"),
        Opt::long(DuFlag::TimeStyle, "time-style")
            .with_argument("STYLE", "With --time: full-iso, long-iso, iso or +FORMAT"),
        Opt::new(DuFlag::ExcludeFrom, 'X', "exclude-from")
            .with_argument("FILE", "Leave out names that match a pattern in FILE"),
        Opt::long(DuFlag::Exclude, "exclude")
            .with_argument("PATTERN", "Leave out names that match PATTERN"),
        Opt::new(DuFlag::OneFileSystem, 'x', "one-file-system").with_help(words::ONE_FILE_SYSTEM),
    ],
)
.with_examples(&[
    ("du -sh DIR", "Size of a tree"),
    ("du -h -d1 . | sort -h", "Directories here, largest last"),
]);

struct DuOptions {
    all: bool,
    apparent: bool,
    inodes: bool,
    count_links: bool,
    separate: bool,
    one_file_system: bool,
    follow: bool,
    follow_operands: bool,
    depth: usize,
    scale: SizeScale,
    /// The smallest size that is shown, or the largest if it is negative.
    threshold: i128,
    time: Option<(u8, Vec<u8>)>,
    exclude: Vec<GlobPattern>,
    end: u8,
    zone: Zone,
}

/// A directory whose entries are being added up.
struct SummedDir {
    name: Vec<u8>,
    entries: Vec<Vec<u8>>,
    own: u64,
    below: u64,
    newest: u64,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let o = parse_options(ctx, &p)?;
    let (files, mut exit) = list_operands(ctx, &p)?;
    let mut walk = DuWalk {
        options: &o,
        may_repeat: files.len() > 1,
        seen: HashSet::new(),
        stack: Vec::new(),
        device: None,
        ok: true,
    };
    let (mut total, mut newest) = (0u64, 0u64);
    for file in &files {
        let (size, time) = walk.sum_operand(ctx, file);
        total = total.saturating_add(size);
        newest = newest.max(time);
    }
    if !walk.ok {
        exit = Exit::FAILURE;
    }
    if p.has_option(DuFlag::Total) {
        print_line(ctx, b"total", total, newest, &o);
    }
    Ok(exit)
}

fn parse_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<DuFlag>) -> Result<DuOptions, Exit> {
    let (scale, apparent) = parse_scale(ctx, p)?;
    let depth = parse_depth(ctx, p)?;
    let threshold = match p.last_value(DuFlag::Threshold) {
        Some(text) => parse_threshold(text)
            .map_err(|e| input::report_failure(ctx, &[&e.message("--threshold", text)]))?,
        None => 0,
    };
    let time = time_format(ctx, p)?;
    let exclude = exclude_patterns(ctx, p)?;
    let links = [DuFlag::Dereference, DuFlag::NoDereference, DuFlag::DereferenceArgs];
    let links = p.last_of(&links);
    let counts_inodes = p.has_option(DuFlag::Inodes);
    Ok(DuOptions {
        all: p.has_option(DuFlag::All),
        apparent,
        inodes: counts_inodes,
        count_links: p.has_option(DuFlag::CountLinks),
        separate: p.has_option(DuFlag::SeparateDirs),
        one_file_system: p.has_option(DuFlag::OneFileSystem),
        follow: links == Some(DuFlag::Dereference),
        follow_operands: matches!(links, Some(DuFlag::Dereference | DuFlag::DereferenceArgs)),
        depth,
        scale: if counts_inodes && !p.has_option(DuFlag::HumanReadable) {
            SizeScale::Units(1, "")
        } else {
            scale
        },
        threshold,
        time,
        exclude,
        end: if p.has_option(DuFlag::Null) { 0 } else { b'\n' },
        zone: ctx.zone(),
    })
}

/// Returns the scale of sizes, and whether apparent sizes are shown.
fn parse_scale(ctx: &mut Ctx<'_>, p: &ParsedOptions<DuFlag>) -> Result<(SizeScale, bool), Exit> {
    let mut scale = env_scale(ctx);
    for (flag, value) in &p.options {
        scale = match flag {
            DuFlag::HumanReadable => SizeScale::Human(1024),
            DuFlag::Si => SizeScale::Human(1000),
            DuFlag::Kibibytes => SizeScale::Units(1024, ""),
            DuFlag::Mebibytes => SizeScale::Units(1 << 20, ""),
            DuFlag::Bytes => SizeScale::Units(1, ""),
            DuFlag::BlockSize => {
                let text = value.as_deref().unwrap_or_default();
                SizeScale::parse(text)
                    .map_err(|e| input::report_failure(ctx, &[&e.message("--block-size", text)]))?
            }
            _ => scale,
        };
    }
    Ok((scale, p.has_option(DuFlag::ApparentSize) || p.has_option(DuFlag::Bytes)))
}

/// Returns the maximum depth below operands of the directories that are shown.
fn parse_depth(ctx: &mut Ctx<'_>, p: &ParsedOptions<DuFlag>) -> Result<usize, Exit> {
    let given = match p.last_value(DuFlag::MaxDepth) {
        Some(text) => Some(number::count(text).map_err(|_| {
            input::usage_error(ctx, &[b"invalid maximum depth ", &quote::quote_in_sentence(text)])
        })?),
        None => None,
    };
    if !p.has_option(DuFlag::Summarize) {
        return Ok(given.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)));
    }
    if p.has_option(DuFlag::All) {
        return Err(input::usage_error(ctx, &[b"cannot both summarize and show all entries"]));
    }
    match given.filter(|n| *n > 0) {
        None => Ok(0),
        Some(n) => {
            let text = format!("warning: summarizing conflicts with --max-depth={n}");
            Err(input::usage_error(ctx, &[text.as_bytes()]))
        }
    }
}

/// Returns the patterns of the names to leave out.
fn exclude_patterns(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<DuFlag>,
) -> Result<Vec<GlobPattern>, Exit> {
    let mut texts: Vec<Vec<u8>> = p.all_values(DuFlag::Exclude).map(<[u8]>::to_vec).collect();
    for file in p.all_values(DuFlag::ExcludeFrom) {
        let text = ctx.read(file).map_err(|e| input::file_error(ctx, file, &e))?;
        texts.extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    }
    Ok(texts.iter().map(|t| GlobPattern::new(t, GlobOptions::default())).collect())
}

/// Returns the operands, and the status so far.
fn list_operands(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<DuFlag>,
) -> Result<(Vec<Vec<u8>>, Exit), Exit> {
    let Some(list) = p.last_value(DuFlag::Files0From) else {
        let default = || vec![b".".to_vec()];
        let files = Some(p.operands.clone()).filter(|files| !files.is_empty());
        return Ok((files.unwrap_or_else(default), Exit::SUCCESS));
    };
    let (names, bad) = files0::read(ctx, list, &p.operands)?;
    Ok((names, if bad > 0 { Exit::FAILURE } else { Exit::SUCCESS }))
}

fn env_scale(ctx: &Ctx<'_>) -> SizeScale {
    let value =
        [&b"DU_BLOCK_SIZE"[..], b"BLOCK_SIZE", b"BLOCKSIZE"].iter().find_map(|n| ctx.env.get(n));
    let default = if ctx.env.get(b"POSIXLY_CORRECT").is_some() { 512 } else { 1024 };
    value.and_then(|v| SizeScale::parse(v).ok()).unwrap_or(SizeScale::Units(default, ""))
}

fn parse_threshold(text: &[u8]) -> Result<i128, CountError> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(d) => (true, d),
        None => (false, text),
    };
    let n = box_text::number::parse_block_size(digits)?;
    let n = i128::from(i64::try_from(n).map_err(|_| CountError::Overflow)?);
    match (negative, n) {
        (true, 0) => Err(CountError::Invalid),
        (true, n) => Ok(-n),
        (false, n) => Ok(n),
    }
}

fn time_format(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<DuFlag>,
) -> Result<Option<(u8, Vec<u8>)>, Exit> {
    if !p.has_option(DuFlag::Time) {
        return Ok(None);
    }
    let which = match p.last_value(DuFlag::Time) {
        None => b'm',
        Some(b"ctime" | b"status") => b'c',
        Some(b"atime" | b"access" | b"use") => b'a',
        Some(other) => {
            return Err(input::usage_error(
                ctx,
                &[b"invalid argument ", &quote::quote_in_sentence(other), b" for '--time'"],
            ));
        }
    };
    let style = p
        .last_value(DuFlag::TimeStyle)
        .or_else(|| ctx.env.get(b"TIME_STYLE"))
        .unwrap_or(b"long-iso")
        .to_vec();
    let format = match style.strip_prefix(b"posix-").unwrap_or(&style) {
        b"full-iso" => b"%Y-%m-%d %H:%M:%S.%N %z".to_vec(),
        b"long-iso" => b"%Y-%m-%d %H:%M".to_vec(),
        b"iso" => b"%Y-%m-%d".to_vec(),
        [b'+', rest @ ..] => rest.to_vec(),
        other => {
            return Err(input::usage_error(
                ctx,
                &[b"invalid argument ", &quote::quote_in_sentence(other), b" for 'time style'"],
            ));
        }
    };
    Ok(Some((which, format)))
}

impl DuOptions {
    fn size_of(&self, s: &Stat) -> u64 {
        if self.inodes {
            1
        } else if self.apparent {
            // Pipes and devices have no contents to count.
            if matches!(s.kind, FileKind::File | FileKind::Symlink | FileKind::Dir) {
                s.size
            } else {
                0
            }
        } else {
            block_count(s) * 512
        }
    }

    fn time_of(&self, s: &Stat) -> u64 {
        match self.time {
            Some((b'a', _)) => s.atime,
            Some((b'c', _)) => s.ctime,
            _ => s.mtime,
        }
    }

    fn is_excluded(&self, name: &[u8]) -> bool {
        // A pattern may match the whole name or any part of it after a slash.
        self.exclude.iter().any(|p| {
            p.is_match(name)
                || name.iter().enumerate().any(|(i, c)| *c == b'/' && p.is_match(&name[i + 1..]))
        })
    }
}

fn print_line(ctx: &mut Ctx<'_>, name: &[u8], size: u64, time: u64, o: &DuOptions) {
    let shown = i128::from(size);
    if o.threshold > 0 && shown < o.threshold || o.threshold < 0 && shown > -o.threshold {
        return;
    }
    let mut out = o.scale.show(size).into_bytes();
    out.push(b'\t');
    if let Some((_, format)) = &o.time {
        let (s, n) = civil::split_nanos(time);
        strftime::format_date(&mut out, format, &o.zone.to_civil(s, n));
        out.push(b'\t');
    }
    out.extend_from_slice(name);
    out.push(o.end);
    let _ = ctx.stdout.write_all(&out);
}

/// A walk through the operands.
struct DuWalk<'o> {
    options: &'o DuOptions,
    /// Whether a file may occur again under the same name, because there are several operands.
    may_repeat: bool,
    /// The files that were already counted, by identity.
    seen: HashSet<(u64, u64)>,
    /// The directories from the operand down to the current one.
    stack: Vec<SummedDir>,
    /// The file system that the operand is on.
    device: Option<u64>,
    ok: bool,
}

impl DuWalk<'_> {
    /// Prints an operand and the entries below it; returns its size and newest time.
    fn sum_operand(&mut self, ctx: &mut Ctx<'_>, operand: &[u8]) -> (u64, u64) {
        let o = self.options;
        self.device = None;
        if let Some((size, time)) = self.enter_dir(ctx, operand) {
            print_line(ctx, operand, size, time, o);
            return (size, time);
        }
        let mut result = (0, 0);
        while let Some(top) = self.stack.last_mut() {
            if let Some(entry) = top.entries.pop() {
                let name = paths::join_path(&top.name, &entry);
                self.add_entry(ctx, &name);
                continue;
            }
            let Some(done) = self.stack.pop() else { break };
            let size = done.own.saturating_add(if o.separate { 0 } else { done.below });
            let all = done.own.saturating_add(done.below);
            if self.stack.len() <= o.depth {
                print_line(ctx, &done.name, size, done.newest, o);
            }
            match self.stack.last_mut() {
                Some(parent) => {
                    parent.below = parent.below.saturating_add(all);
                    parent.newest = parent.newest.max(done.newest);
                }
                None => result = (all, done.newest),
            }
        }
        result
    }

    /// Adds an entry to the innermost directory; enters the entry if it is a directory.
    fn add_entry(&mut self, ctx: &mut Ctx<'_>, name: &[u8]) {
        let depth = self.stack.len();
        let Some((size, time)) = self.enter_dir(ctx, name) else { return };
        if self.options.all && depth <= self.options.depth {
            print_line(ctx, name, size, time, self.options);
        }
        if let Some(top) = self.stack.last_mut() {
            top.own = top.own.saturating_add(size);
            top.newest = top.newest.max(time);
        }
    }

    /// Returns a file's size and time; pushes a directory onto the stack instead.
    fn enter_dir(&mut self, ctx: &mut Ctx<'_>, name: &[u8]) -> Option<(u64, u64)> {
        let o = self.options;
        if o.is_excluded(name) {
            return None;
        }
        let follow = o.follow || o.follow_operands && self.stack.is_empty();
        let stat = match meta::stat(&ctx.path(name), follow) {
            Ok(s) => s,
            Err(e) => {
                input::report_cannot(ctx, "cannot access", name, &e);
                self.ok = false;
                return None;
            }
        };
        let device = *self.device.get_or_insert(stat.dev);
        if o.one_file_system && device != stat.dev {
            return None;
        }
        // A file that is reached several times counts once; with -l only what links could lead into for ever.
        let is_dir = stat.kind == FileKind::Dir;
        let shared = if o.count_links {
            is_dir && o.follow
        } else {
            is_dir || stat.nlink > 1 || self.may_repeat || o.follow
        };
        if shared && stat.ino != 0 && !self.seen.insert((stat.dev, stat.ino)) {
            return None;
        }
        let (size, time) = (o.size_of(&stat), o.time_of(&stat));
        if stat.kind != FileKind::Dir {
            return Some((size, time));
        }
        match names_in(&ctx.path(name)) {
            Ok(mut entries) => {
                entries.reverse();
                let name = name.to_vec();
                self.stack.push(SummedDir { name, entries, own: size, below: 0, newest: time });
                None
            }
            Err(e) => {
                input::report_cannot(ctx, "cannot read directory", name, &e);
                self.ok = false;
                Some((size, time))
            }
        }
    }
}
